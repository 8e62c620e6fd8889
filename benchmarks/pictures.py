"""Draw panels of curves and intervals as one SVG picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = """
text { fill: #5d6877; font-size: 11px; }
.title, .head { fill: #1b2330; font-weight: 600; }
.title { font-size: 14px; }
.grid { stroke: #d9dee5; stroke-width: .7; }
.s0 { color: #6a7380; }
.s1 { color: #0b62a8; }
.line { stroke: currentColor; stroke-width: 1.8; fill: none; }
.band { fill: currentColor; opacity: .15; }
.whisker { stroke: currentColor; stroke-width: 2; opacity: .6; }
.mark { fill: currentColor; }
.s0.mark { fill: #fff; stroke: currentColor; }
"""
WIDTH, HEIGHT = 410.0, 250.0
LEFT, RIGHT, TOP, BASE = 38.0, 400.0, 22.0, 216.0
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Ticks = Sequence[tuple[float, str]]


class Panel:
    """Shapes over an x axis from ``low`` to ``high`` and a y axis over the values of ``levels``.

    A shape's ``series`` is 0 or 1, its colour.
    """

    def __init__(
        self,
        low: float,
        high: float,
        ticks: Ticks,
        x: str,
        y: str,
        levels: Sequence[float] = SHARES,
    ) -> None:
        self._low, self._span = low, high - low
        self._bottom, self._rise = levels[0], levels[-1] - levels[0]
        self.shapes = [text(LEFT, 12, y, "head"), text((LEFT + RIGHT) / 2, HEIGHT - 4, x)]
        for value in levels:
            _, down = self._at(low, value)
            self._path(f"M{LEFT} {down:.1f}H{RIGHT}", "grid")
            self.shapes.append(text(LEFT - 14, down + 4, f"{value:g}"))
        self.shapes += [text(self._at(at, 0.0)[0], BASE + 15, word) for at, word in ticks]

    def _at(self, x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - self._low) / self._span * (RIGHT - LEFT)
        return across, BASE - (y - self._bottom) / self._rise * (BASE - TOP)

    def _path(self, d: str, kind: str) -> None:
        self.shapes.append(f"<path class='{kind}' d='{d}'/>")

    def _joined(self, points: Iterable[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (self._at(*p) for p in points))

    def band(self, rows: Sequence[tuple[float, float, float]], series: int) -> None:
        """Fill the area of ``rows`` of (x, low, high)."""
        up, down = [(x, high) for x, _, high in rows], [(x, low) for x, low, _ in reversed(rows)]
        self._path(f"{self._joined([*up, *down])}Z", f"band s{series}")

    def line(self, points: Iterable[tuple[float, float]], series: int) -> None:
        self._path(self._joined(points), f"line s{series}")

    def interval(self, x: float, low: float, value: float, high: float, series: int) -> None:
        self._path(self._joined([(x, low), (x, high)]), f"whisker s{series}")
        across, down = self._at(x, value)
        self.shapes.append(mark(across, down, series))


def text(x: float, y: float, words: str, kind: str = "") -> str:
    anchor = "" if kind else " text-anchor='middle'"
    return f"<text class='{kind}' x='{x:.1f}' y='{y:.1f}'{anchor}>{escape(words)}</text>"


def mark(x: float, y: float, series: int) -> str:
    return f"<circle class='mark s{series}' cx='{x:.1f}' cy='{y:.1f}' r='3'/>"


def write_picture(out: Path, title: str, key: Sequence[str], panels: Sequence[Panel]) -> None:
    """Write the panels side by side. ``key`` names the series."""
    lines = textwrap.wrap(title, 92)
    parts = [text(8, 20 + 18 * i, line, "title") for i, line in enumerate(lines)]
    down = 20 + 18 * len(lines)
    for series, words in enumerate(key):
        x = 14 + 100 * series
        parts += [mark(x, down - 4, series), text(x + 10, down, words, "key")]
    for number, panel in enumerate(panels):
        place = f"translate({number * WIDTH:g} {down + 10})"
        parts.append(f"<g transform='{place}'>{''.join(panel.shapes)}</g>")
    size = f"width='{len(panels) * WIDTH:g}' height='{down + 10 + HEIGHT:g}'"
    out.write_text(
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family='system-ui, sans-serif'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f"<rect width='100%' height='100%' fill='#fff'/>{''.join(parts)}</svg>\n",
        encoding="utf-8",
    )
