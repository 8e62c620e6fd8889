"""Draw the README's picture of what one quickstart run learned.

    python scripts/quickstart_picture.py runs/quickstart docs/images/quickstart.svg

The left panel shows the share of right answers at each training step. The right panel shows pass@1 on held-out items
before and after RL, overall and by domain. Intervals are 95 %, over prompts or items.
"""

from __future__ import annotations

import sys
from pathlib import Path

from prorl_cli.quickstart.screen import training_groups
from prorl_common.svg import Axis, Panel, linear_ticks, picture, sample
from prorl_evaluation import EvalResult, bounded_columns, compare, load_result

BEFORE, AFTER = 0, 1
UNIT = Axis(0.0, 1.0, linear_ticks(0.0, 1.0))


def curve(run: Path) -> Panel:
    """Return the training panel."""
    steps = training_groups(run)
    rows = []
    for step, shares in steps:
        interval = bounded_columns([[share] for share in shares])[0]
        rows.append((float(step), interval.low, interval.value, interval.high))
    last = rows[-1][0]
    x = Axis(1.0, last, linear_ticks(1.0, last, whole=True), "RL step")
    y = Axis(0.0, 1.0, UNIT.ticks, "right answers in training")
    panel = Panel(x, y, (400.0, 250.0))
    panel.band([(step, low, high) for step, low, _, high in rows], AFTER)
    return panel.line([(step, value) for step, _, value, _ in rows], AFTER)


def domains(before: EvalResult, after: EvalResult) -> Panel:
    """Return the panel of pass@1 on held-out items."""
    names = [group.name for group in before.groups]
    ticks = tuple((float(i), name) for i, name in enumerate(names))
    x = Axis(-0.5, len(names) - 0.5, ticks, "domain")
    y = Axis(0.0, 1.0, UNIT.ticks, "pass@1 on held-out items")
    panel = Panel(x, y, (420.0, 250.0))
    for series, result, shift in ((BEFORE, before, -0.12), (AFTER, after, 0.12)):
        found = [group.pass_at_k[1] for group in result.groups]
        panel.whiskers([(i + shift, v.low, v.high) for i, v in enumerate(found)], series)
        panel.marks([(i + shift, v.value) for i, v in enumerate(found)], series)
    return panel


def main(run: Path, out: Path) -> None:
    """Draw the picture of ``run``."""
    before, after = (load_result(folder) for folder in sorted((run / "eval").glob("step_*")))
    title = f"prorl quickstart: {compare(before, after).headline(before.settings.k)}"
    panels = [
        ("share of right answers at each training step", curve(run)),
        ("pass@1 before and after RL, overall and in each domain", domains(before, after)),
    ]
    legend = [(sample(BEFORE), "before RL"), (sample(AFTER), "after RL, and while training")]
    out.write_text(picture(title, [panels], legend, 2), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
