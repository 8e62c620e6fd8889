"""Make docs/evidence/forecast.md from what ``forecast_coverage.py`` and ``forecast_errors.py`` recorded.

python benchmarks/forecast_document.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_training.schedule.forecast.prefixes import NO_CHANGE
from prorl_training.schedule.forecast.shapes import FAMILIES

DOCS = Path(__file__).resolve().parents[1] / "docs" / "evidence"
WHAT = ("ceiling", "value", "gain", "measured")
STAGES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
CHOSEN = "chosen"

HEAD = """# Does the forecast hold?

`prorl train forecast` ([what it does](../concepts/forecast.md)) on simulated runs whose truth is known, and on every prefix of
our own runs. This page is made by `python benchmarks/forecast_document.py` from the records of `benchmarks/forecast_coverage.py`
and `benchmarks/forecast_errors.py`; their heads are the protocols.
"""


def share(hits: int, of: int) -> str:
    """Return a share in per cent with its standard error."""
    if not of:
        return "-"
    p = hits / of
    return f"{100 * p:.1f} ± {100 * math.sqrt(max(p * (1 - p), 0.25 / of) / of):.1f}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table's lines."""
    yield "| " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    yield from ("| " + " | ".join(row) + " |" for row in rows)


def pooled(cells: Sequence[Mapping[str, Any]], what: str, key: str) -> int:
    """Return a count over cells."""
    return sum(int(c[what][key]) for c in cells)


def coverage_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the coverage section."""
    cells = record["cells"]
    rising = [c for name, c in cells.items() if not name.startswith("flat")]
    runs = sum(c["runs"] for c in rising)
    yield "## Do the intervals cover?\n"
    yield (
        f"{runs} simulated runs with a trend, {min(c['runs'] for c in rising)}-{max(c['runs'] for c in rising)} a cell, "
        f"seeds from {' and '.join(f'{s:,}' for s in record['seeds'])}; nominal 95 %, ± one standard error.\n"
    )
    rows = []
    for what in WHAT:
        sure, right = (pooled(rising, what, k) for k in ("identified", "covered_identified"))
        rows.append(
            (
                f"**{what}**",
                share(pooled(rising, what, "covered"), runs),
                f"{100 * sure / runs:.0f} %",
                share(right, sure),
            )
        )
    yield from table(
        ("interval of", "holds the truth, %", "identified", "holds it, of those, %"), rows
    )
    yield "\nBy what was varied (all runs, identified or not, %):\n"
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for place in range(3):
        for name, cell in cells.items():
            parts = name.split(" | ")
            if parts[0] != "flat":
                label = f"{parts[place]} validations" if place == 2 else parts[place]
                groups.setdefault(label, []).append(cell)
    yield from table(
        ("", *WHAT),
        [
            (
                label,
                *(
                    share(pooled(own, what, "covered"), sum(c["runs"] for c in own))
                    for what in WHAT
                ),
            )
            for label, own in groups.items()
        ],
    )
    yield "\nEvery cell, in % of its runs; width is the median of the interval:\n"
    rows = []
    for name, cell in cells.items():
        n = cell["runs"]
        rows.append(
            (
                name.replace(" | ", ", "),
                str(n),
                *(f"{100 * cell[what]['covered'] / n:.0f}" for what in WHAT),
                *(f"{cell[what]['median_width']:.3f}" for what in ("ceiling", "value")),
                f"{100 * cell['value']['identified'] / n:.0f}",
            )
        )
    yield from table(
        ("cell", "runs", *WHAT, "ceiling's width", "value's width", "value identified"), rows
    )
    flat = [c for name, c in cells.items() if name.startswith("flat")]
    seen, of = sum(c["moved"] for c in flat), sum(c["runs"] for c in flat)
    yield (
        f"\nFlat runs in which movement was seen (a constant refused at p 0.05): {seen} of {of}, {share(seen, of)} %. Runs "
        f"with a trend in which it was: {sum(c['moved'] for c in rising)} of {runs}."
    )


def error_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section on our own runs."""
    yield "\n## Our own runs\n"
    yield (
        f"{len(record['tokens'])} runs of [the 3,000-step study](three-thousand-steps.md), 96 problems a validation, 3,000-6,300 "
        "steps. Root mean squared error of a prefix's curve over all validations after it, mean over prefixes. A validation's own "
        "noise is about 0.02-0.03: nothing can be below it.\n"
    )
    names = [*FAMILIES, NO_CHANGE, CHOSEN]
    for unit, runs in record.items():
        yield f"Compute in {unit}:\n"
        rows = []
        for low, high in STAGES:
            own = [p for run in runs.values() for p in run if low <= p["seen"] < high]
            rows.append((f"{100 * low:.0f}-{100 * high:.0f} % seen", *_errors(own, names)))
        everything = [p for run in runs.values() for p in run]
        rows.append(("all prefixes", *_errors(everything, names)))
        yield from table(("", *names), rows)
        yield ""
    rows = []
    for low, high in STAGES:
        cells = []
        for runs in record.values():
            own = [
                p["interval"]
                for run in runs.values()
                for p in run
                if "interval" in p and low <= p["seen"] < high
            ]
            sure = [i for i in own if i["identified"]]
            cells += [
                f"{sum(i['holds'] for i in own)} of {len(own)}",
                f"{sum(i['holds'] for i in sure)} of {len(sure)}",
            ]
        rows.append((f"{100 * low:.0f}-{100 * high:.0f} % seen", *cells))
    yield "Did the interval of `measured` hold the run's last validation?\n"
    yield from table(
        (
            "",
            "tokens, all",
            "tokens, value identified",
            "steps, all",
            "steps, value identified",
        ),
        rows,
    )
    yield "\nBy run, all prefixes, compute in tokens:\n"
    rows = []
    for name, run in record["tokens"].items():
        told = [p["interval"] for p in run if "interval" in p]
        rows.append(
            (
                name,
                *_errors(run, names),
                f"{sum(i['holds'] for i in told)} of {len(told)}",
                str(sum(i["identified"] for i in told)),
            )
        )
    yield from table(("run", *names, "last one held", "value identified"), rows)


def _errors(prefixes: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    found = []
    for name in names:
        errors = [p["errors"][name] for p in prefixes if name in p["errors"]]
        found.append(f"{sum(errors) / len(errors):.3f}" if errors else "-")
    return found


def page() -> str:
    """Return the page that the records make."""
    records = [
        json.loads((DOCS / "data" / "forecast" / f"{name}.json").read_text())
        for name in ("coverage", "errors")
    ]
    lines = [HEAD, *coverage_lines(records[0]), *error_lines(records[1])]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    atomic_write_text(DOCS / "forecast.md", page())


if __name__ == "__main__":
    main()
