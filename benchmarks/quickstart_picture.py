"""Draw the README's picture of what one quickstart run learned.

    python benchmarks/quickstart_picture.py runs/quickstart docs/images/quickstart.svg

The left panel shows the share of right answers at each training step. The right panel shows pass@1 on held-out items
before and after RL, overall and by domain. Intervals are 95 %, over prompts or items.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pictures import Panel, write_picture

from prorl_cli.quickstart.screen import training_groups
from prorl_evaluation import EvalResult, bounded_columns, compare, load_result

BEFORE, AFTER = 0, 1
"""The series of the picture."""


def curve(run: Path) -> Panel:
    """Return the training panel."""
    rows = []
    for step, shares in training_groups(run):
        interval = bounded_columns([[share] for share in shares])[0]
        rows.append((float(step), interval.low, interval.value, interval.high))
    last = rows[-1][0]
    ticks = [(step, f"{step:g}") for step, *_ in rows[:: max(1, len(rows) // 6)]]
    panel = Panel(1.0, last, ticks, "RL step", "right answers in training")
    panel.band([(step, low, high) for step, low, _, high in rows], AFTER)
    panel.line([(step, value) for step, _, value, _ in rows], AFTER)
    return panel


def domains(before: EvalResult, after: EvalResult) -> Panel:
    """Return the panel of pass@1 on held-out items."""
    ticks = [(float(i), group.name) for i, group in enumerate(before.groups)]
    panel = Panel(-0.5, len(ticks) - 0.5, ticks, "domain", "pass@1 on held-out items")
    for series, result, shift in ((BEFORE, before, -0.12), (AFTER, after, 0.12)):
        for i, group in enumerate(result.groups):
            found = group.pass_at_k[1]
            panel.interval(i + shift, found.low, found.value, found.high, series)
    return panel


def main(run: Path, out: Path) -> None:
    """Draw the picture of ``run``."""
    before, after = (load_result(folder) for folder in sorted((run / "eval").glob("step_*")))
    title = f"prorl quickstart: {compare(before, after).headline(before.settings.k)}"
    key = ("before RL", "after RL, and while training")
    write_picture(out, title, key, [curve(run), domains(before, after)])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
