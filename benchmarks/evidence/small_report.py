"""Write the results into docs/evidence/three-thousand-steps.md from the runs' data files, with plots.

    python benchmarks/evidence/small_report.py

Replaces what stands between the two result markers; the protocol above them is left alone. Works with
the seeds and arms that are there and says which are missing. Leaves out: the runs (``small_run``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from small_arms import ARMS, SEEDS, K
from small_figures import draw
from small_record import BEGIN, DOCUMENT, END, protocol_digest, result_path
from small_stats import Groups, arm_interval, compare_arms, holm, pooled_variance
from small_tasks import FAMILIES

from prorl_common import UserError, atomic_write_text

TASKS = tuple(FAMILIES)
CONTRASTS = (
    ("v2", "no-reset"),
    ("v2", "no-length"),
    ("v2", "justrl"),
    ("v2-kl", "no-reset-kl"),
)
"""The confirmatory comparisons of arms."""
Runs = Mapping[str, Sequence[Mapping[str, Any]]]


def main() -> int:
    """Write tables and plots; return 0. Raises UserError when there is nothing to report."""
    base, runs = read_results()
    if base is None or not any(runs.values()):
        raise UserError("no results yet: run benchmarks/evidence/small_run.py first")
    images = draw(base, runs, DOCUMENT.parent / "images")
    text = "\n\n".join(sections(base, runs, images))
    write_between(DOCUMENT, text)
    return 0


def read_results() -> tuple[Groups | None, dict[str, list[dict[str, Any]]]]:
    """Return the base's evaluation (None: missing) and each arm's finished runs, by seed."""
    path = result_path("base")
    base = json.loads(path.read_text())["groups"] if path.exists() else None
    runs: dict[str, list[dict[str, Any]]] = {}
    for arm in ARMS:
        files = [result_path(f"{arm}-seed{seed}") for seed in SEEDS]
        runs[arm] = [json.loads(file.read_text()) for file in files if file.exists()]
    return base, runs


def write_between(document: Path, text: str) -> None:
    """Put ``text`` between the document's markers. Raises UserError when they are not there."""
    old = document.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise UserError(f"{document} lacks the markers {BEGIN} and {END}")
    head, tail = old.split(BEGIN)[0], old.split(END)[1]
    atomic_write_text(document, f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}")


def sections(base: Groups, runs: Runs, images: Sequence[str]) -> list[str]:
    """Return the results as Markdown, a part each; no test while a run is missing."""
    ladders = [name for name in base if "/" in name]
    done, wanted = sum(len(found) for found in runs.values()), len(ARMS) * len(SEEDS)
    parts = [f"{done} of {wanted} runs are there. Differences are in percentage points."]
    parts += _remarks(runs)
    if done == wanted:
        for k, label in ((1, "pass@1"), (K, f"pass@{K}")):
            parts += [f"### {label}: arms, at equal tokens", arms_table(runs, TASKS, k)]
            parts += [f"### {label}: v2 against the base", base_table(base, runs, ladders, k)]
        for k, label in ((1, "pass@1"), (K, f"pass@{K}")):
            parts += [f"### Ladders: arms, {label} (secondary)", arms_table(runs, ladders, k)]
    else:
        parts.insert(0, partial_note(runs))
    for k, label in ((1, "pass@1"), (K, f"pass@{K}")):
        parts += [f"### Levels: {label}", levels_table(base, runs, ladders, k)]
    parts += accounts(runs)
    parts += [
        "Thick lines: the median over the seeds, then the running median of nine recorded points; faint lines: each run. KL to the reference has no curve for JustRL: it keeps no reference model."
    ]
    return [*parts, *(f"![{Path(name).stem}](images/{name})" for name in images)]


def partial_note(runs: Runs) -> str:
    """Return the warning that stands above a report in which runs are missing."""
    there = {(arm, run["seed"]) for arm, found in runs.items() for run in found}
    missing = [f"{arm} {seed}" for arm in ARMS for seed in SEEDS if (arm, seed) not in there]
    return (
        "**Partial.** These runs are missing: "
        + ", ".join(missing)
        + ". What follows is what is there; nothing is tested and nothing follows from it until all are."
    )


def _remarks(runs: Runs) -> list[str]:
    """Return a line for each run that stopped itself, and one when runs followed another protocol."""
    every = [run for found in runs.values() for run in found]
    stopped = [
        f"{run['arm']} {run['seed']} stopped itself after step {run['steps']}: {run['stopped']}."
        for run in every
        if run["stopped"] is not None
    ]
    other = [f"{run['arm']} {run['seed']}" for run in every if run["protocol"] != protocol_digest()]
    if other:
        stopped.append(f"Run under another text of the protocol: {', '.join(other)}.")
    return stopped


def of(runs: Iterable[Mapping[str, Any]], when: str = "budget") -> list[Groups]:
    """Return the evaluations of runs at the token budget or at the end."""
    return [run["evaluations"][when]["groups"] for run in runs]


def arms_table(runs: Runs, names: Sequence[str], k: int) -> str:
    """Return the confirmatory comparisons over the groups ``names`` as a table."""
    variance = pooled_variance([of(found) for found in runs.values()], names, k)
    degrees = sum(len(found) - 1 for found in runs.values())
    tests = [
        compare_arms(of(runs[a]), of(runs[b]), names, k, (variance, degrees)) for a, b in CONTRASTS
    ]
    rows = [
        (f"{a} - {b}", test, p)
        for (a, b), test, p in zip(CONTRASTS, tests, holm([t.p for t in tests]), strict=True)
    ]
    return _test_table("comparison", rows)


def base_table(base: Groups, runs: Runs, ladders: Sequence[str], k: int) -> str:
    """Return v2 against the base for each task and each ladder as a table."""
    of_ladder = {
        name.split("/")[0]: [n for n in ladders if n.startswith(name.split("/")[0])]
        for name in ladders
    }
    families = {task: [task] for task in TASKS} | {f"{t} ladder": n for t, n in of_ladder.items()}
    degrees = sum(len(found) - 1 for found in runs.values())
    tests = []
    for names in families.values():
        variance = pooled_variance([of(found) for found in runs.values()], names, k)
        tests.append(compare_arms(of(runs["v2"]), [base], names, k, (variance, degrees)))
    rows = list(zip(families, tests, holm([t.p for t in tests]), strict=True))
    return _test_table("task", rows)


def _test_table(head: str, rows: Iterable[tuple[str, Any, float]]) -> str:
    lines = [
        f"| {head} | difference | 95 % over items | t | p | p (Holm) |",
        "|---|---|---|---|---|---|",
    ]
    for name, test, p in rows:
        i, t = test.interval, test.difference / test.standard_error if test.standard_error else 0.0
        lines.append(
            f"| {name} | {100 * test.difference:+.1f} | {100 * i.low:+.1f} to {100 * i.high:+.1f} "
            f"| {t:+.2f} | {test.p:.3g} | {p:.3g} |"
        )
    return "\n".join(lines)


def levels_table(base: Groups, runs: Runs, ladders: Sequence[str], k: int) -> str:
    """Return pass@k of the base and of every arm, with its interval over items, for each group."""
    arms = [arm for arm, found in runs.items() if found]
    lines = [
        "In %, mean over seeds, at equal tokens; in brackets the 95 % interval over items.",
        "",
    ]
    lines += ["| | base | " + " | ".join(arms) + " |", "|---|---|" + "---|" * len(arms)]
    named = {"six tasks": list(TASKS), "ladders": list(ladders)}
    for label, names in (named | {name: [name] for name in [*TASKS, *ladders]}).items():
        cells = [_cell([base], names, k), *(_cell(of(runs[arm]), names, k) for arm in arms)]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(seeds: Sequence[Groups], names: Sequence[str], k: int) -> str:
    i = arm_interval(seeds, names, k)
    return f"{100 * i.value:.1f} ({100 * i.low:.1f}-{100 * i.high:.1f})"


def accounts(runs: Runs) -> list[str]:
    """Return the tables that say where each run was compared, and what it cost."""
    lines = [
        "| run | compared at step | tokens there | penalty on | last reset | KL share, median | range "
        + "| resets | steps | tokens in all | minutes |",
        "|---" * 11 + "|",
    ]
    for arm, found in runs.items():
        for run in found:
            at = run["evaluations"]["budget"]
            resets = sum(d["kind"] == "reference_reset" for d in run["decisions"])
            lines.append(
                f"| {arm} {run['seed']} | {at['step']} | {at['tokens']:,} "
                f"| {'yes' if at['length_penalty_active'] else 'no'} | {at['last_reset'] or 'none'} "
                f"| {_share(run)} | {resets} | {run['steps']} | {run['tokens']:,} "
                f"| {run['step_seconds'] / 60:.1f} |"
            )
    return ["### Accounts", "\n".join(lines)]


def _share(run: Mapping[str, Any]) -> str:
    """Return the two cells on KL's share of the gradient."""
    shares = [100 * share for _, share in run["curves"]["kl_gradient_share"]]
    if not shares:
        return "no KL | no KL"
    return f"{median(shares):.3g} % | {min(shares):.2g}-{max(shares):.2g} %"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
