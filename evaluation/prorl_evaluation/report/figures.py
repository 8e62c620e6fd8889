"""The report's figures as inline SVG: pass@k, success rates, gain against base, ladders, training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from prorl_common.svg import Axis, Key, Panel, linear_ticks, sample, strip
from prorl_evaluation.boundary.types import GainAgainstBase, Ladder
from prorl_evaluation.report.data import Line
from prorl_evaluation.report.training import TrainingCurves
from prorl_evaluation.stats.intervals import Interval

_SHARES = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))


def curves_panel(name: str, lines: Sequence[Line], fewest: int) -> str:
    """Return pass@k against log2 k with interval bands; shaded from k = ``fewest``/2, the least n's half."""
    largest = max([1, *(k for line in lines for k, i in line.points.items() if i.count)])
    powers = [1 << i for i in range(largest.bit_length())]
    step = 1 + (len(powers) - 1) // 9
    ticks = tuple((k, str(k)) for k in powers[::step])
    x = Axis(0.93, max(largest * 1.08, 1.2), ticks, "k", log=True)
    panel = Panel(x, Axis(-0.02, 1.02, _SHARES))
    if largest > fewest / 2 >= 1:
        panel.span(fewest / 2, x.high, "near")
    said = []
    for line in lines:
        points = [(k, i) for k, i in sorted(line.points.items()) if i.count]
        panel.band([(k, i.low, i.high) for k, i in points], line.place)
        if len(points) == 1:
            panel.whiskers([(k, i.low, i.high) for k, i in points], line.place)
        panel.line([(k, i.value) for k, i in points], line.place)
        if points:
            ends = [f"pass@{k} {i.value:.3f}" for k, i in (points[0], points[-1])]
            said.append(f"{line.label}: {', '.join(dict.fromkeys(ends))}")
    return panel.svg(f"pass@k of {name}", "; ".join(said) or "nothing could be estimated")


def rates_panel(name: str, counts: Sequence[tuple[int, str, Sequence[int]]]) -> str:
    """Return bars of the share of problems by success rate; ``counts`` are (place, label, counts)."""
    shares = [[c / max(1, sum(row)) for c in row] for _, _, row in counts]
    high = max([0.05, *(s for row in shares for s in row)]) * 1.06
    edges = tuple((i + 0.5, f".{i}") for i in (1, 3, 5, 7, 9))
    y = Axis(0.0, high, tuple((v, f"{100 * v:g}%") for v, _ in linear_ticks(0.0, high, 4)))
    ticks = ((0.0, "never"), *edges, (11.0, "always"))
    panel = Panel(Axis(-0.6, 11.6, ticks, "success rate c/n"), y)
    width = 0.84 / max(1, len(counts))
    for j, ((place, _, _), row) in enumerate(zip(counts, shares, strict=True)):
        for i, share in enumerate(row):
            if share:
                left = i - 0.42 + j * width
                panel.box((left, 0.0), (left + width * 0.92, share), f"bar s{place}")
    said = "; ".join(
        f"{label}: {row[0]} of {sum(row)} problems never solved, {row[-1]} always"
        for _, label, row in counts
    )
    return panel.svg(f"success rates of {name}", said)


def gain_panel(gain: GainAgainstBase, place: int, name: str) -> str:
    """Return gain of pass@K against base pass@K, a point a group; dashed: the most that can be gained."""
    points = [p for p in gain.points if math.isfinite(p.base) and math.isfinite(p.gain)]
    low = min([-0.05, *(p.gain for p in points)]) - 0.03
    high = max([0.1, *(p.gain for p in points)]) + 0.04
    y = Axis(low, high, linear_ticks(low, high))
    panel = Panel(Axis(-0.02, 1.02, _SHARES, f"base pass@{gain.k}"), y)
    panel.segment((-0.02, 0.0), (1.02, 0.0), "zero")
    panel.segment((1.0 - min(high, 1.0), min(high, 1.0)), (1.0, 0.0), "ceiling")
    for p in points:
        tip = f"{p.group}: base {p.base:.3f}, gain {p.gain:+.3f}, {p.problems} problems"
        panel.marks([(p.base, p.gain)], place, 4.0, tip, is_open=True)
    said = "; ".join(f"{p.group}: base {p.base:.3f}, gain {p.gain:+.3f}" for p in points[:40])
    return panel.svg(f"gain of {name} against base pass@{gain.k}", said)


def ladder_panel(ladder: Ladder, lines: Sequence[tuple[int, str]]) -> str:
    """Return one metric over the rungs of a ladder; ``lines`` are (place, label) of its results."""
    rungs = ladder.rungs
    ticks = tuple((r.value, r.name[:9]) for r in rungs)
    span = rungs[-1].value - rungs[0].value or 1.0
    step = 1 + (len(ticks) - 1) // 7
    x = Axis(rungs[0].value - 0.06 * span, rungs[-1].value + 0.06 * span, ticks[::step], ladder.key)
    panel = Panel(x, Axis(-0.02, 1.02, _SHARES))
    said = []
    for j, (place, label) in enumerate(lines):
        points = [(r.value, r.values[j]) for r in rungs if r.values[j].count]
        panel.band([(v, i.low, i.high) for v, i in points], place)
        panel.line([(v, i.value) for v, i in points], place)
        said.append(f"{label}: {', '.join(f'{v:g}: {i.value:.3f}' for v, i in points)}")
    return panel.svg(f"{ladder.metric} of {ladder.task} by {ladder.key}", "; ".join(said))


def training_panel(curves: TrainingCurves) -> str:
    """Return one panel of training curves over its windows and resets."""
    shown = [*curves.lines.values(), curves.dots]
    steps = [x for points in shown for x, _ in points]
    values = [y for points in shown for _, y in points]
    low, high = min(values), max(values)
    if low >= 0 and low <= 0.5 * high:
        low = 0.0
    air = 0.06 * (high - low) or max(abs(high) * 0.1, 1e-6)
    low, high = low if low == 0 else low - air, high + air
    first, last = min(steps), max(steps)
    x = Axis(first, last + (last == first), linear_ticks(first, last, whole=True), "step")
    panel = Panel(x, Axis(low, high, linear_ticks(low, high)))
    for start, stop in curves.windows:
        panel.span(start - 0.5, stop + 0.5, "window")
    for step in curves.resets:
        if first <= step + 0.5 <= last:
            panel.segment((step + 0.5, low), (step + 0.5, high), "reset")
    for place, points in enumerate(curves.lines.values()):
        panel.line(points, 1, markers=False, kind="second" if place else "")
    for a, b in curves.dots:
        panel.marks([(a, b)], 2, 4.0, f"step {a:g}: validation reward {b:.3f}", is_open=True)
    said = [
        f"{key}: {ys[0][1]:.4g} at step {ys[0][0]:g}, {ys[-1][1]:.4g} at step {ys[-1][0]:g}"
        for key, ys in curves.lines.items()
        if ys
    ]
    return panel.svg(f"{curves.title} over training steps", "; ".join(said))


def training_legend() -> list[tuple[str, str]]:
    """Return (key, meaning) of everything that ``training_panel`` draws."""
    ends = [(1.0, 6.0), (33.0, 6.0)]
    entries = (
        (Key().line(ends, 1, markers=False), "mean reward, KL, entropy, length"),
        (Key().line(ends, 1, markers=False, kind="second"), "pass rate"),
        (Key().marks([(17.0, 6.0)], 2, 4.0, is_open=True), "validation reward"),
        (Key().box((4.0, 0.0), (30.0, 12.0), "window"), "length penalty on"),
        (Key().segment((1.0, 6.0), (33.0, 6.0), "reset"), "reference reset"),
    )
    return [(key.drawn(), meaning) for key, meaning in entries]


def series_key(place: int) -> str:
    """Return a result's line with its marker, for a legend."""
    return sample(place).drawn()


def interval_strip(interval: Interval, ends: tuple[float, float]) -> str:
    """Return a difference and its interval on a line between ``ends``, for a table row."""
    return strip((interval.low, interval.value, interval.high), ends)


def strip_ends(intervals: Iterable[Interval]) -> tuple[float, float]:
    """Return the scale that holds all ``intervals`` and 0."""
    known = [i for i in intervals if i.count]
    return min([-0.02, *(i.low for i in known)]), max([0.02, *(i.high for i in known)])
