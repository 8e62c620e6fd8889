"""Draws plots as SVG files. The same data always gives the same bytes."""

from __future__ import annotations

import colorsys
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from prorl_common.markup import escape

COLOURS = {
    "paper": "#ffffff",
    "ink": "#1b2330",
    "muted": "#5d6877",
    "grid": "#d9dee5",
    "soft": "#cfe3f7",
    "window": "#f2c879",
    "reset": "#b4234a",
}
"""Colours of everything that is not a series."""
SERIES = ("#6a7380", "#0b62a8", "#c04f0d", "#1f7a56", "#7a3fb0", "#a8336b")
"""Colours of the first series; series 0 is the grey of a baseline."""
DASHES = ("5 3", "none", "9 2", "2 2", "8 2 2 2", "5 2 1 2 1 2")

SHAPES = """
svg text { fill: var(--muted); font-size: 11px; font-family: inherit; }
svg text.y { text-anchor: end; }
svg text.x { text-anchor: middle; }
svg text.head, svg text.title { fill: var(--ink); font-weight: 600; }
svg text.title { font-size: 14px; }
svg .grid { stroke: var(--grid); stroke-width: .7; fill: none; }
svg .tick { stroke: var(--muted); stroke-width: .8; fill: none; }
svg .near { fill: var(--muted); opacity: .13; }
svg .window { fill: var(--window); opacity: .35; }
svg .cut { stroke: var(--ink); stroke-width: 1.4; }
svg .on { fill: var(--window); }
svg .soft { fill: var(--soft); }
svg .reset { stroke: var(--reset); stroke-width: 1.3; stroke-dasharray: 4 2; }
svg .line { stroke: currentColor; stroke-width: 1.8; fill: none; stroke-linejoin: round; }
svg .mark { fill: currentColor; stroke: currentColor; stroke-width: 1; stroke-dasharray: none; }
svg .mark.s0 { fill: var(--paper); }
svg .band { fill: currentColor; opacity: .15; }
svg .whisker { stroke: currentColor; stroke-width: 2; stroke-dasharray: none; fill: none; opacity: .6; }
svg .bar { fill: currentColor; stroke-dasharray: none; }
svg .bar.s0 { fill-opacity: .3; stroke: currentColor; stroke-width: .7; }
"""


def style_sheet(series: int) -> str:
    colours = dict(COLOURS)
    for place in range(series):
        colours[f"series{place}"] = series_colour(place)
    looks = "".join(
        f".s{i} {{ color: var(--series{i}); stroke-dasharray: {DASHES[i % len(DASHES)]}; }}\n"
        for i in range(series)
    )
    return re.sub(r"var\(--(\w+)\)", lambda m: colours[m.group(1)], looks + SHAPES)


def series_colour(place: int) -> str:
    """Return the colour of a series; beyond SERIES, hues are spaced by the golden ratio."""
    if place < len(SERIES):
        return SERIES[place]
    rgb = colorsys.hls_to_rgb((0.09 + place * 0.6180339887) % 1.0, 0.35, 0.62)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from ``low`` to ``high`` (or backwards) with labelled ticks."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    label: str = ""
    log: bool = False

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)


class Panel:
    """A pair of axes with shapes; ``size`` is in pixels. Drawing methods return the panel."""

    def __init__(
        self,
        x: Axis,
        y: Axis,
        size: tuple[float, float] = (320.0, 206.0),
        left: float = 38.0,
        right: float = 10.0,
    ) -> None:
        self.x, self.y, self.size = x, y, size
        self.left, self.right = left, size[0] - right
        self.top = 22.0 if y.label else 8.0
        self.base = size[1] - (34.0 if x.label else 20.0 if x.ticks else 6.0)
        self.back: list[str] = []
        self.front: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = self.left + self.x.place(x) * (self.right - self.left)
        return across, self.base - self.y.place(y) * (self.base - self.top)

    def span(self, start: float, stop: float, kind: str) -> Self:
        """Shade from ``start`` to ``stop`` in x, clipped to the axes."""
        start, stop = max(start, self.x.low), min(stop, self.x.high)
        if stop > start:
            self.back.append(self._box((start, self.y.low), (stop, self.y.high), kind))
        return self

    def segment(self, start: tuple[float, float], stop: tuple[float, float], kind: str) -> Self:
        self.back.append(f"<path class='{kind}' d='{_path([self.at(*start), self.at(*stop)])}'/>")
        return self

    def band(self, rows: Sequence[tuple[float, float, float]], series: int) -> Self:
        """Fill the area between low and high; ``rows`` are (x, low, high)."""
        if len(rows) > 1:
            up = [self.at(x, high) for x, _, high in rows]
            down = [self.at(x, low) for x, low, _ in reversed(rows)]
            self.back.append(f"<path class='band s{series}' d='{_path([*up, *down])}Z'/>")
        return self

    def whiskers(self, rows: Sequence[tuple[float, float, float]], series: int) -> Self:
        """Draw a vertical line from low to high at each x; ``rows`` are (x, low, high)."""
        if rows:
            d = "".join(_path([self.at(x, low), self.at(x, high)]) for x, low, high in rows)
            self.back.append(f"<path class='whisker s{series}' d='{d}'/>")
        return self

    def line(
        self, points: Sequence[tuple[float, float]], series: int, markers: bool = True
    ) -> Self:
        """Connect ``points`` by lines, with ``markers`` at the points. A single point always gets a marker."""
        if len(points) > 1:
            d = _path([self.at(x, y) for x, y in points])
            self.front.append(f"<path class='line s{series}' d='{d}'/>")
        return self.marks(points, series) if markers or len(points) == 1 else self

    def marks(
        self, points: Sequence[tuple[float, float]], series: int, radius: float = 2.8
    ) -> Self:
        if points:
            d = "".join(marker(series, *self.at(x, y), radius) for x, y in points)
            self.front.append(f"<path class='mark s{series}' d='{d}'/>")
        return self

    def box(
        self, corner: tuple[float, float], other: tuple[float, float], kind: str, words: str = ""
    ) -> Self:
        """Fill the box between two corners, with ``words`` inside if they fit."""
        self.front.append(self._box(corner, other, kind))
        (left, low), (right, high) = self.at(*corner), self.at(*other)
        if words and abs(right - left) > _width(words):
            place = f"x='{(left + right) / 2:.1f}' y='{(low + high) / 2 + 3.8:.1f}'"
            self.front.append(f"<text class='x' {place}>{escape(words)}</text>")
        return self

    def _box(self, corner: tuple[float, float], other: tuple[float, float], kind: str) -> str:
        (a, b), (c, d) = self.at(*corner), self.at(*other)
        place = f"x='{min(a, c):.1f}' y='{min(b, d):.1f}'"
        return f"<rect class='{kind}' {place} width='{abs(c - a):.1f}' height='{abs(d - b):.1f}'/>"

    def svg(self, title: str, description: str, place: tuple[float, float] = (0.0, 0.0)) -> str:
        """Return the panel as SVG at ``place``; ``title`` and ``description`` are for screen readers."""
        width, height = self.size
        inside = f"x='{place[0]:g}' y='{place[1]:g}' width='{width:g}' height='{height:g}'"
        return "".join(
            [
                f"<svg {inside} viewBox='0 0 {width:g} {height:g}' role='img'>",
                f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
                *self.back,
                self._axes(),
                *self.front,
                "</svg>",
            ]
        )

    def _axes(self) -> str:
        grid, ticks, labels = "", "", []
        for value, label in self.y.ticks:
            _, height = self.at(self.x.low, value)
            grid += f"M{self.left:.1f} {height:.1f}H{self.right:g}"
            place = f"x='{self.left - 6:g}' y='{height + 3.8:.1f}'"
            labels.append(f"<text class='y' {place}>{escape(label)}</text>")
        for value, label in self.x.ticks:
            across, _ = self.at(value, self.y.low)
            ticks += f"M{across:.1f} {self.base:.1f}v4"
            place = f"x='{across:.1f}' y='{self.base + 15:.1f}'"
            labels.append(f"<text class='x' {place}>{escape(label)}</text>")
        if self.x.label:
            place = f"x='{(self.left + self.right) / 2:g}' y='{self.size[1] - 4:g}'"
            labels.append(f"<text class='x name' {place}>{escape(self.x.label)}</text>")
        if self.y.label:
            labels.append(
                f"<text class='head' x='{self.left:g}' y='12'>{escape(self.y.label)}</text>"
            )
        return f"<path class='grid' d='{grid}'/><path class='tick' d='{ticks}'/>{''.join(labels)}"


class Key(Panel):
    """A legend's symbol of 34 by 12 pixels, without axes."""

    def __init__(self) -> None:
        super().__init__(Axis(0.0, 34.0), Axis(0.0, 12.0), (34.0, 12.0), 0.0, 0.0)
        self.top, self.base = 0.0, 12.0

    def drawn(self) -> str:
        size = "width='34' height='12' viewBox='0 0 34 12'"
        shapes = "".join([*self.back, *self.front])
        return f"<svg class='key' {size} aria-hidden='true'>{shapes}</svg>"


def sample(series: int) -> Key:
    return Key().line([(1.0, 6.0), (33.0, 6.0)], series, markers=False).marks([(17.0, 6.0)], series)


def picture(
    title: str,
    rows: Sequence[Sequence[tuple[str, Panel]]],
    legend: Sequence[tuple[Key, str]],
    series: int,
) -> str:
    """Return an SVG file: title, legend, then rows of (description, panel), for ``series`` series."""
    width = max([320.0, *(sum(p.size[0] for _, p in row) for row in rows)])
    lines = textwrap.wrap(title, int(width / 9)) or [""]
    parts = [
        f"<text class='title' x='8' y='{20 + 18 * i}'>{escape(line)}</text>"
        for i, line in enumerate(lines)
    ]
    across, down = 8.0, 12.0 + 18.0 * len(lines)
    for key, label in legend:
        if across > 8.0 and across + 42.0 + _width(label) > width:
            across, down = 8.0, down + 18.0
        parts.append(f"<g transform='translate({across:g} {down:g})'>{key.drawn()}")
        parts.append(f"<text x='40' y='10'>{escape(label)}</text></g>")
        across += 42.0 + _width(label) + 14.0
    down += 24.0 if legend else 4.0
    for row in rows:
        across = 0.0
        for description, panel in row:
            parts.append(panel.svg(panel.y.label or title, description, (across, down)))
            across += panel.size[0]
        down += max([0.0, *(p.size[1] for _, p in row)]) + 4.0
    head = f"xmlns='http://www.w3.org/2000/svg' width='{width:g}' height='{down:g}'"
    return (
        f"<svg {head} viewBox='0 0 {width:g} {down:g}' font-family='system-ui, Helvetica, sans-serif'>"
        f"<title>{escape(title)}</title><style>{style_sheet(series)}</style>"
        f"<rect width='100%' height='100%' fill='{COLOURS['paper']}'/>{''.join(parts)}</svg>\n"
    )


def _width(words: str) -> float:
    return 6.2 * len(words)


def marker(series: int, x: float, y: float, r: float = 2.8) -> str:
    kind = series % 6
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


def linear_ticks(
    low: float, high: float, most: int = 5, whole: bool = False
) -> tuple[tuple[float, str], ...]:
    """Return about ``most`` round ticks within [low, high]; integers if ``whole``."""
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
        return f"{value / 1000:g}k"
    return f"{round(value, 10):g}"


def log_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return ticks of a logarithmic axis: powers of ten, and some of their multiples if there are few powers."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        values = [m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high]
        if len(values) > 2:
            break
    every = 1 + (len(values) - 1) // 6
    return tuple((v, f"{v:.6g}") for v in values[::every])
