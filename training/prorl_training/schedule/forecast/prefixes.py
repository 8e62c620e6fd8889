"""Which family of curves foretold this run best: each is fitted to the run's beginnings and judged by what came after."""

from __future__ import annotations

import math

import numpy as np

from prorl_training.schedule.forecast.series import Series
from prorl_training.schedule.forecast.setting import settle
from prorl_training.schedule.forecast.shapes import FAMILIES, Array

FEWEST = 8
"""Validations that anything is fitted to."""
NO_CHANGE = "no change"
"""The mean of the newest NEWEST validations, for ever: what a curve has to beat."""
NEWEST = 4
MOST_PREFIXES = 8


def foretold(series: Series, compute: Array) -> dict[str, Array]:
    """Return what each family (and NO_CHANGE) fitted to ``series`` says at each ``compute``."""
    setting = settle(series.compute, series.places, series.values, series.noise)
    said = {NO_CHANGE: np.full(compute.size, series.values[-NEWEST:].mean())}
    for number, family in enumerate(FAMILIES):
        found = setting.curve(number)
        if found is not None:
            shape, start, ceiling = found
            share = setting.shapes.share(compute)[shape]
            said[family] = start + (ceiling - start) * share
    return said


def prefix_errors(series: Series) -> dict[str, float]:
    """Return the root mean squared error of each family over prefixes of the run; none where it is too short.

    At most MOST_PREFIXES of them, from FEWEST validations on, evenly; each foretells all validations after it.
    """
    last = series.size - 1
    places = np.linspace(FEWEST, max(last, FEWEST), MOST_PREFIXES)
    counts = sorted({int(place) for place in places if place <= last})
    squares: dict[str, list[float]] = {}
    for count in counts:
        rest = slice(count, None)
        for family, said in foretold(series.until(count), series.compute[rest]).items():
            squares.setdefault(family, []).append(float(((said - series.values[rest]) ** 2).mean()))
    whole = [f for f, s in squares.items() if len(s) == len(counts)]
    return {f: math.sqrt(math.fsum(squares[f]) / len(counts)) for f in whole}
