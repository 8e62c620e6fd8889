"""A column as the points of a line that a chart can draw: no more than the chart has pixels, and no peak lost.

Where a line has more points than fit, its steps are put into as many equal buckets as the chart is wide, and each
bucket gives its least and its greatest value, in the order in which they came. Means over several steps are given
beside that line, one a bucket.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

Points = list[list[float]]
"""[step, value]."""


class Line(NamedTuple):
    """A line, where means were asked for also that of single steps (``raw``)."""

    points: Points
    raw: Points


def thin(steps: Sequence[int], values: Sequence[float], width: int, mean: int = 1) -> Line:
    """Return the line of the finite ``values``, at most 2 ``width`` points; ``mean``: steps to a mean (1: none)."""
    known = [(s, v) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    single = _extremes(known, width)
    if mean <= 1:
        return Line(single, [])
    return Line(_means(known, width, mean), single)


def _extremes(known: Sequence[tuple[int, float]], width: int) -> Points:
    if len(known) <= 2 * width:
        return [[s, v] for s, v in known]
    points: Points = []
    for bucket in _buckets(known, width):
        low, high = min(bucket, key=_value), max(bucket, key=_value)
        points += [list(p) for p in dict.fromkeys(sorted((low, high)))]
    return points


def _means(known: Sequence[tuple[int, float]], width: int, mean: int) -> Points:
    """Return the means of ``mean`` values around the middle of each bucket; of fewer at the ends."""
    sums = [0.0, *accumulate(v for _, v in known)]
    points: Points = []
    place = 0
    for bucket in _buckets(known, width):
        middle = place + len(bucket) // 2
        start, stop = max(middle - mean // 2, 0), min(middle + (mean + 1) // 2, len(known))
        points.append([known[middle][0], (sums[stop] - sums[start]) / (stop - start)])
        place += len(bucket)
    return points


def _buckets(known: Sequence[tuple[int, float]], width: int) -> list[Sequence[tuple[int, float]]]:
    """Deal the points into at most ``width`` buckets of equally many."""
    size = max(math.ceil(len(known) / width), 1)
    return [known[i : i + size] for i in range(0, len(known), size)]


def _value(point: tuple[int, float]) -> float:
    return point[1]
