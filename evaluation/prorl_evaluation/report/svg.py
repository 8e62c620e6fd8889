"""Small SVG panels for the page: axes, lines with bands, markers, bars. Colours come from the page.

A panel is one ``<svg>`` of fixed inner size that the page scales. Each series has a class (``s0`` to
``s5``), which sets its colour and dash, and its own marker, so that colour is not the only difference.
Leaves out: what is drawn (``report.figures``, ``report.training``) and the colours (``report.style``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_evaluation.report.text import text

SERIES = 6
"""Looks there are; more results than that share them."""
WIDTH, HEIGHT = 320.0, 206.0
"""Inner size of a panel in its own units, which are pixels at its natural size."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 38.0, 10.0, 8.0, 34.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from ``low`` to ``high`` with labelled ticks; ``log2`` needs positive values."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    label: str = ""
    log2: bool = False

    def place(self, value: float) -> float:
        """Return where ``value`` lies: 0 at ``low``, 1 at ``high``."""
        low, high, v = (
            (math.log2(x) for x in (self.low, self.high, value))
            if self.log2
            else (self.low, self.high, value)
        )
        return (v - low) / (high - low)


def look(place: int) -> str:
    """Return the class of the series at ``place``."""
    return f"s{place % SERIES}"


class Panel:
    """One pair of axes that collects shapes; ``render`` returns the SVG."""

    def __init__(self, x: Axis, y: Axis) -> None:
        self.x, self.y = x, y
        self.back: list[str] = []
        self.front: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies in the panel's units."""
        across = _LEFT + self.x.place(x) * (WIDTH - _LEFT - _RIGHT)
        return across, HEIGHT - _BOTTOM - self.y.place(y) * (HEIGHT - _TOP - _BOTTOM)

    def span(self, start: float, stop: float, kind: str) -> None:
        """Shade the panel from ``start`` to ``stop`` in x, clipped to the axes."""
        left, top = self.at(max(start, self.x.low), self.y.high)
        right, bottom = self.at(min(stop, self.x.high), self.y.low)
        if right > left:
            box = f"x='{left:.1f}' y='{top:.1f}' width='{right - left:.1f}'"
            self.back.append(f"<rect class='{kind}' {box} height='{bottom - top:.1f}'/>")

    def segment(self, start: tuple[float, float], stop: tuple[float, float], kind: str) -> None:
        """Draw a straight line between two points."""
        (a, b), (c, d) = self.at(*start), self.at(*stop)
        self.back.append(f"<path class='{kind}' d='M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}'/>")

    def band(self, rows: Sequence[tuple[float, float, float]], series: int) -> None:
        """Fill between low and high; ``rows`` are (x, low, high)."""
        if len(rows) < 2:
            return
        up = [self.at(x, high) for x, _, high in rows]
        down = [self.at(x, low) for x, low, _ in reversed(rows)]
        self.back.append(f"<path class='band {look(series)}' d='{_path([*up, *down])}Z'/>")

    def whiskers(self, rows: Sequence[tuple[float, float, float]], series: int) -> None:
        """Draw a vertical line from low to high at each x; ``rows`` are (x, low, high)."""
        d = "".join(_path([self.at(x, low), self.at(x, high)]) for x, low, high in rows)
        self.back.append(f"<path class='whisker {look(series)}' d='{d}'/>")

    def line(
        self,
        points: Sequence[tuple[float, float]],
        series: int,
        markers: bool = True,
        kind: str = "",
    ) -> None:
        """Join ``points``, with the series' markers on them where ``markers``."""
        if not points:
            return
        placed = [self.at(x, y) for x, y in points]
        if len(placed) > 1:
            self.front.append(f"<path class='line {look(series)} {kind}' d='{_path(placed)}'/>")
        if markers or len(placed) == 1:
            d = "".join(marker(series, *p) for p in placed)
            self.front.append(f"<path class='mark {look(series)}' d='{d}'/>")

    def point(self, x: float, y: float, series: int, tip: str) -> None:
        """Draw one marker that says ``tip`` when pointed at."""
        d = marker(series, *self.at(x, y), 4.0)
        title = f"<title>{text(tip)}</title>"
        self.front.append(f"<path class='mark open {look(series)}' d='{d}'>{title}</path>")

    def bar(self, start: float, stop: float, value: float, series: int) -> None:
        """Draw a bar from 0 to ``value`` between ``start`` and ``stop`` in x."""
        (left, top), (right, bottom) = self.at(start, value), self.at(stop, self.y.low)
        box = f"x='{left:.1f}' y='{top:.1f}' width='{right - left:.1f}'"
        self.front.append(
            f"<rect class='bar {look(series)}' {box} height='{max(0.0, bottom - top):.1f}'/>"
        )

    def render(self, title: str, description: str) -> str:
        """Return the SVG; both texts are read out to those who cannot see it."""
        parts = [
            f"<svg class='panel' viewBox='0 0 {WIDTH:g} {HEIGHT:g}' role='img'>",
            f"<title>{text(title)}</title><desc>{text(description)}</desc>",
            *self.back,
            self._axes(),
            *self.front,
            "</svg>",
        ]
        return "".join(parts)

    def _axes(self) -> str:
        """Return grid lines, ticks and labels."""
        grid, labels = "", []
        base = HEIGHT - _BOTTOM
        for value, label in self.y.ticks:
            across, height = self.at(self.x.low, value)
            grid += f"M{across:.1f} {height:.1f}H{WIDTH - _RIGHT:.1f}"
            labels.append(
                f"<text class='y' x='{_LEFT - 6:g}' y='{height + 3.8:.1f}'>{text(label)}</text>"
            )
        marks = ""
        for value, label in self.x.ticks:
            across, _ = self.at(value, self.y.low)
            marks += f"M{across:.1f} {base:.1f}v4"
            labels.append(
                f"<text class='x' x='{across:.1f}' y='{base + 15:.1f}'>{text(label)}</text>"
            )
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        labels.append(
            f"<text class='x name' x='{middle:g}' y='{HEIGHT - 4:g}'>{text(self.x.label)}</text>"
        )
        return f"<path class='grid' d='{grid}'/><path class='tick' d='{marks}'/>{''.join(labels)}"


def marker(series: int, x: float, y: float, r: float = 2.8) -> str:
    """Return the path of a series' marker: circle, square, triangle, diamond, cross, down triangle."""
    kind = series % SERIES
    if kind == 0:
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"
    if kind == 1:
        s = 0.9 * r
        return f"M{x - s:.1f} {y - s:.1f}h{2 * s:.1f}v{2 * s:.1f}h{-2 * s:.1f}Z"
    if kind == 3:
        s = 1.3 * r
        return f"M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f} {-s:.1f} {s:.1f} {-s:.1f} {-s:.1f}Z"
    if kind == 4:
        return f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}"
    s = 1.25 * r if kind == 2 else -1.25 * r
    return f"M{x:.1f} {y - s:.1f}l{abs(s):.1f} {1.8 * s:.1f}h{-2 * abs(s):.1f}Z"


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def sample(series: int) -> str:
    """Return a short line with its marker, for a legend."""
    line = "<path class='line' d='M1 6H33'/>"
    dot = f"<path class='mark' d='{marker(series, 17.0, 6.0)}'/>"
    return (
        f"<svg class='key {look(series)}' viewBox='0 0 34 12' aria-hidden='true'>{line}{dot}</svg>"
    )


def strip(interval: tuple[float, float, float], ends: tuple[float, float]) -> str:
    """Return (low, value, high) on a line between ``ends`` with 0 marked, for a table row."""
    if not all(math.isfinite(v) for v in interval):
        return ""
    first, last = ends
    zero, a, b, c = (
        4.0 + 112.0 * (max(first, min(last, v)) - first) / (last - first) for v in (0.0, *interval)
    )
    kind = "sure" if interval[0] > 0 or interval[2] < 0 else "unsure"
    return (
        "<svg class='strip' viewBox='0 0 120 14' aria-hidden='true'>"
        f"<path class='zero' d='M{zero:.1f} 0V14'/><path class='{kind}' d='M{a:.1f} 7H{c:.1f}'/>"
        f"<circle class='{kind}' cx='{b:.1f}' cy='7' r='3'/></svg>"
    )


def linear_ticks(
    low: float, high: float, most: int = 5, whole: bool = False
) -> tuple[tuple[float, str], ...]:
    """Return round tick values within [low, high], at most about ``most``; integers where ``whole``."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return ((low, f"{low:g}"),)
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next((m for m in (1, 2, 2.5, 5, 10) if span / (step * m) <= most), 10)
    step = max(1.0, float(math.ceil(step))) if whole else step
    first = math.ceil(low / step - 1e-9)
    values = [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]
    return tuple((v, _tick(v)) for v in values)


def _tick(value: float) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k".replace("-", "−")
    return f"{round(value, 10):g}".replace("-", "−")
