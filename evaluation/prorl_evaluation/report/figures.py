"""The report's figures of results: pass@k curves, success rates, gain against base, ladders.

Each returns inline SVG panels. Leaves out: the text around them (``report_sections``) and training curves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prorl_evaluation.boundary.types import GainAgainstBase, Ladder
from prorl_evaluation.report.svg import Axis, Panel, linear_ticks
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.types import ProblemResult

_SHARES = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))
BINS = ("0", *(f"{i / 10:g}–{(i + 1) / 10:g}" for i in range(10)), "1")
"""Of the success rate c/n: never, ten open steps of a tenth, always."""


@dataclass(frozen=True, slots=True)
class Line:
    """pass@k of one result: its place among the page's results, its label, an interval for each k."""

    place: int
    label: str
    points: Mapping[int, Interval]


def curves_panel(name: str, lines: Sequence[Line], fewest: int) -> str:
    """Return pass@k against log2 k with interval bands; shaded from k = ``fewest``/2, the least n's half."""
    largest = max([1, *(k for line in lines for k, i in line.points.items() if i.count)])
    powers = [1 << i for i in range(largest.bit_length())]
    step = 1 + (len(powers) - 1) // 9
    x = Axis(0.93, max(largest * 1.08, 1.2), tuple((k, str(k)) for k in powers[::step]), "k", True)
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
    return panel.render(f"pass@k of {name}", "; ".join(said) or "nothing could be estimated")


def rate_counts(problems: Sequence[ProblemResult]) -> list[int]:
    """Return how many judged problems fall in each of BINS by c/n."""
    counts = [0] * len(BINS)
    for p in problems:
        if p.n:
            inner = 1 + min(9, 10 * p.c // p.n)
            counts[0 if p.c == 0 else len(BINS) - 1 if p.c == p.n else inner] += 1
    return counts


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
                panel.bar(left, left + width * 0.92, share, place)
    said = "; ".join(
        f"{label}: {row[0]} of {sum(row)} problems never solved, {row[-1]} always"
        for _, label, row in counts
    )
    return panel.render(f"success rates of {name}", said)


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
        panel.point(p.base, p.gain, place, tip)
    said = "; ".join(f"{p.group}: base {p.base:.3f}, gain {p.gain:+.3f}" for p in points[:40])
    return panel.render(f"gain of {name} against base pass@{gain.k}", said)


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
    return panel.render(f"{ladder.metric} of {ladder.task} by {ladder.key}", "; ".join(said))
