"""Draw the README's picture of what one quickstart run learned.

    python scripts/quickstart_picture.py runs/quickstart docs/images/quickstart.svg

The left panel shows the share of right answers at each training step. The right panel shows pass@1 on held-out items
before and after RL, overall and by domain. Intervals are 95 %, over prompts or items.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path

from prorl_cli.quickstart.screen import training_groups
from prorl_evaluation import EvalResult, bounded_columns, compare, load_result

BEFORE, AFTER = "before", "after"
STYLE = """
text { fill: #5d6877; font-size: 11px; }
.title, .head { fill: #1b2330; font-weight: 600; }
.title { font-size: 14px; }
.grid { stroke: #d9dee5; stroke-width: .7; }
.before { color: #6a7380; }
.after { color: #0b62a8; }
.line { stroke: currentColor; stroke-width: 1.8; fill: none; }
.band { fill: currentColor; opacity: .15; }
.whisker { stroke: currentColor; stroke-width: 2; opacity: .6; }
.mark { fill: currentColor; }
.before.mark { fill: #fff; stroke: currentColor; }
"""
WIDTH, HEIGHT = 410.0, 250.0
LEFT, RIGHT, TOP, BASE = 38.0, 400.0, 22.0, 216.0


class Panel:
    """Shapes over an x axis from ``low`` to ``high`` and a y axis from 0 to 1."""

    def __init__(
        self, low: float, high: float, ticks: Sequence[tuple[float, str]], x: str, y: str
    ) -> None:
        self._low, self._span = low, high - low
        self.shapes = [text(LEFT, 12, y, "head"), text((LEFT + RIGHT) / 2, HEIGHT - 4, x)]
        for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            _, down = self._at(low, value)
            self._path(f"M{LEFT} {down:.1f}H{RIGHT}", "grid")
            self.shapes.append(text(LEFT - 14, down + 4, f"{value:g}"))
        self.shapes += [text(self._at(at, 0.0)[0], BASE + 15, word) for at, word in ticks]

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - self._low) / self._span * (RIGHT - LEFT), BASE - y * (BASE - TOP)

    def _path(self, d: str, kind: str) -> None:
        self.shapes.append(f"<path class='{kind}' d='{d}'/>")

    def _joined(self, points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (self._at(*p) for p in points))

    def band(self, rows: Sequence[tuple[float, float, float]], series: str) -> None:
        """Fill the area of ``rows`` of (x, low, high)."""
        up, down = [(x, high) for x, _, high in rows], [(x, low) for x, low, _ in reversed(rows)]
        self._path(f"{self._joined([*up, *down])}Z", f"band {series}")

    def line(self, points: Sequence[tuple[float, float]], series: str) -> None:
        self._path(self._joined(points), f"line {series}")

    def interval(self, x: float, low: float, value: float, high: float, series: str) -> None:
        self._path(self._joined([(x, low), (x, high)]), f"whisker {series}")
        across, down = self._at(x, value)
        self.shapes.append(
            f"<circle class='mark {series}' cx='{across:.1f}' cy='{down:.1f}' r='3'/>"
        )


def text(x: float, y: float, words: str, kind: str = "") -> str:
    anchor = "" if kind else " text-anchor='middle'"
    return f"<text class='{kind}' x='{x:.1f}' y='{y:.1f}'{anchor}>{escape(words)}</text>"


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
    lines = textwrap.wrap(title, 92)
    parts = [text(8, 20 + 18 * i, line, "title") for i, line in enumerate(lines)]
    down = 20 + 18 * len(lines)
    for x, series, words in (
        (14, BEFORE, "before RL"),
        (114, AFTER, "after RL, and while training"),
    ):
        parts.append(f"<circle class='mark {series}' cx='{x}' cy='{down - 4}' r='3'/>")
        parts.append(text(x + 10, down, words, "key"))
    for left, panel in ((0.0, curve(run)), (WIDTH, domains(before, after))):
        parts.append(f"<g transform='translate({left:g} {down + 10})'>{''.join(panel.shapes)}</g>")
    size = f"width='{2 * WIDTH:g}' height='{down + 10 + HEIGHT:g}'"
    out.write_text(
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family='system-ui, sans-serif'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f"<rect width='100%' height='100%' fill='#fff'/>{''.join(parts)}</svg>\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
