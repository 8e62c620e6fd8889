"""A column as the points of a line that a chart can draw: no more than the chart has pixels, and no peak lost.

Where a line has more points than fit, its steps are put into as many equal buckets as the chart is wide, and each
bucket gives its least and its greatest value, in the order in which they came. Smoothed, a bucket gives the mean of
the steps around its middle, and its least and greatest value as a band.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

Points = list[list[float]]
"""[step, value]."""
Band = list[list[float]]
"""[step, low, high]."""


class Line(NamedTuple):
    """A line; ``measured`` counts the values that it was made from."""

    points: Points
    band: Band
    measured: int


def thin(steps: Sequence[int], values: Sequence[float], width: int, mean: int = 1) -> Line:
    """Return the line of the finite ``values``, at most 2 ``width`` points; ``mean``: steps to a mean (1: none)."""
    known = [(s, v) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    if mean > 1:
        return _smooth(known, width, mean)
    if len(known) <= 2 * width:
        return Line([[s, v] for s, v in known], [], len(known))
    points: Points = []
    for bucket in _buckets(known, width):
        low, high = min(bucket, key=_value), max(bucket, key=_value)
        points += [list(p) for p in dict.fromkeys(sorted((low, high)))]
    return Line(points, [], len(known))


def _smooth(known: Sequence[tuple[int, float]], width: int, mean: int) -> Line:
    sums = [0.0, *accumulate(v for _, v in known)]
    points: Points = []
    band: Band = []
    place = 0
    for bucket in _buckets(known, width):
        middle = place + len(bucket) // 2
        start, stop = max(middle - mean // 2, 0), min(middle + (mean + 1) // 2, len(known))
        step = known[middle][0]
        points.append([step, (sums[stop] - sums[start]) / (stop - start)])
        around = [v for _, v in known[start:stop]] if len(bucket) == 1 else [v for _, v in bucket]
        band.append([step, min(around), max(around)])
        place += len(bucket)
    return Line(points, band, len(known))


def _buckets(known: Sequence[tuple[int, float]], width: int) -> list[Sequence[tuple[int, float]]]:
    """Deal the points into at most ``width`` buckets of equally many."""
    size = max(math.ceil(len(known) / width), 1)
    return [known[i : i + size] for i in range(0, len(known), size)]


def _value(point: tuple[int, float]) -> float:
    return point[1]
