"""Percentile bootstrap over problems: intervals for means and for paired differences of means.

The problem is the unit that is resampled, because the samples of one problem are not independent of
each other. Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile)
and 8 (other data structures). With few problems, or means near a bound, the plain percentile interval is
too narrow: lengths use the expanded one, rates ``stats.bounded_mean``. Leaves out: corrections for many
comparisons, and bias-corrected intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from prorl_evaluation.stats.distributions import expanded_tail
from prorl_evaluation.stats.intervals import SAME, Interval, Resampling
from prorl_evaluation.stats.units import Units, cluster_codes, patterns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["Interval", "bootstrap_ci", "bootstrap_columns", "cluster_codes", "expanded_columns"]

_BLOCK = 4_000_000
"""Draws times clusters held in memory at once."""


def bootstrap_ci(
    values: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return mean and percentile interval of ``values`` (shape [N]), drawing whole clusters again.

    ``clusters`` names each value's problem (None: each value is its own); ``strata`` names its benchmark
    or domain, and every stratum keeps its number of clusters in each draw (small ones are taken together,
    see ``units.cluster_codes``). NaN values enter nothing and are counted in ``undefined``. A paired
    difference is this on ``b - a``.

    Raises ValueError for a level outside (0, 1), lengths that differ, or a cluster in two strata.
    """
    import numpy as np

    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return bootstrap_columns(column, clusters, strata, level, draws, seed)[0]


def bootstrap_columns(
    values: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> list[Interval]:
    """Return one :class:`Interval` for each column of ``values`` (shape [N, M]). Columns defined for the same
    values share their draws."""
    how = Resampling(level, draws, seed)
    return _columns(values, Units(clusters, strata), how, lambda tail, clusters, strata: tail)


def expanded_columns(
    values: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    how: Resampling | None = None,
) -> list[Interval]:
    """Return :func:`bootstrap_columns` read at the wider tails of ``distributions.expanded_tail``.

    For unbounded values such as lengths; see there for the source.
    """
    return _columns(values, Units(clusters, strata), how or Resampling(), expanded_tail)


def _columns(
    values: ArrayLike, units: Units, how: Resampling, read: Callable[[float, int, int], float]
) -> list[Interval]:
    """Return the columns' intervals; ``read`` is (tail, clusters, strata) -> tail of the draws."""
    import numpy as np

    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"values must have the shape [N, M], not {matrix.shape}")
    cluster_codes(len(matrix), units.clusters, units.strata)  # raises what is wrong with them
    found = [Interval(math.nan, math.nan, math.nan, 0, len(matrix))] * matrix.shape[1]
    for rows, columns in patterns(matrix):
        if not rows:
            continue
        own = units.of(rows)
        codes, stratum_of = cluster_codes(len(rows), own.clusters, own.strata)
        shape = (len(stratum_of), len(columns))
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, codes, matrix[np.ix_(rows, columns)])
        np.add.at(counts, codes, 1.0)
        means = _resampled_means(sums, counts, stratum_of, how.draws, how.seed)
        tail = read((1.0 - how.level) / 2.0, len(stratum_of), len(set(stratum_of)))
        for place, j in enumerate(columns):
            defined = matrix[rows, j]
            value = low = high = float(defined.mean())
            if float(np.ptp(defined)) >= SAME:
                low, high = map(float, np.quantile(means[:, place], [tail, 1.0 - tail]))
            found[j] = Interval(value, low, high, len(rows), len(matrix) - len(rows))
    return found


def _resampled_means(
    sums: Floats, counts: Floats, stratum_of: list[Hashable], draws: int, seed: int
) -> Floats:
    """Return the mean of each column in each draw, shape [draws, M]."""
    import numpy as np

    rng = np.random.default_rng(seed)
    total, number = np.zeros((draws, sums.shape[1])), np.zeros((draws, sums.shape[1]))
    for stratum in dict.fromkeys(stratum_of):
        rows = [i for i, s in enumerate(stratum_of) if s == stratum]
        size = len(rows)
        step = max(1, _BLOCK // size)
        for start in range(0, draws, step):
            stop = min(start + step, draws)
            picks = rng.integers(0, size, size=(stop - start, size))
            picks += np.arange(stop - start)[:, None] * size
            flat = np.bincount(picks.ravel(), minlength=(stop - start) * size)
            weights = flat.reshape(stop - start, size).astype(np.float64)
            total[start:stop] += weights @ sums[rows]
            number[start:stop] += weights @ counts[rows]
    return np.asarray(total / number)
