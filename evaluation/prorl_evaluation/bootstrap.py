"""Percentile bootstrap over problems: intervals for means and for paired differences of means.

The problem is the unit that is drawn again, because the samples of one problem are not independent of
each other. Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile)
and 8 (other data structures). With few problems, or means near a bound, the plain percentile interval is
too narrow: lengths use the expanded one, rates ``bounded_mean``. Leaves out: corrections for many
comparisons, and bias-corrected intervals.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from prorl_evaluation.distributions import expanded_tail
from prorl_evaluation.intervals import SAME, Interval, Resampling

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
    or domain, and every stratum keeps its number of clusters in each draw. NaN values enter neither sums
    nor counts and are reported in ``undefined``. A paired difference is this on ``b - a``.

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
    """Return one :class:`Interval` for each column of ``values`` (shape [N, M]) over the same draws."""
    import numpy as np

    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"values must have the shape [N, M], not {matrix.shape}")
    if not 0.0 < level < 1.0 or draws < 1:
        raise ValueError(f"level must lie between 0 and 1 and draws be positive: {level}, {draws}")
    n = matrix.shape[0]
    of_cluster, stratum_of = cluster_codes(n, clusters, strata)
    defined = ~np.isnan(matrix)
    shape = (len(stratum_of), matrix.shape[1])
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, of_cluster, np.where(defined, matrix, 0.0))
    np.add.at(counts, of_cluster, defined.astype(np.float64))
    means = _resampled_means(sums, counts, stratum_of, draws, seed)
    return [_interval(matrix[:, j], means[:, j], level) for j in range(matrix.shape[1])]


def expanded_columns(
    values: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    how: Resampling | None = None,
) -> list[Interval]:
    """Return :func:`bootstrap_columns` read at the wider tails of ``distributions.expanded_tail``.

    For unbounded values such as lengths; see there for the source.
    """
    import numpy as np

    how = how or Resampling()
    _, stratum_of = cluster_codes(len(np.asarray(values)), clusters, strata)
    tail = expanded_tail((1.0 - how.level) / 2.0, len(stratum_of), len(set(stratum_of)))
    return bootstrap_columns(values, clusters, strata, 1.0 - 2.0 * tail, how.draws, how.seed)


def _interval(values: Any, means: Any, level: float) -> Interval:
    import numpy as np

    defined = values[~np.isnan(values)]
    count, undefined = len(defined), len(values) - len(defined)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0, undefined)
    value = float(defined.mean())
    if float(np.ptp(defined)) < SAME:
        return Interval(value, value, value, count, undefined)
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(means, [tail, 1.0 - tail])
    return Interval(value, float(low), float(high), count, undefined)


def cluster_codes(
    n: int, clusters: Sequence[Hashable] | None, strata: Sequence[Hashable] | None
) -> tuple[Any, list[Hashable]]:
    """Return (cluster number of each value, stratum of each cluster)."""
    import numpy as np

    names: Sequence[Hashable] = clusters if clusters is not None else range(n)
    groups: Sequence[Hashable] = strata if strata is not None else [None] * n
    if len(names) != n or len(groups) != n:
        raise ValueError("clusters and strata need one entry for each value")
    number: dict[Hashable, int] = {}
    stratum_of: list[Hashable] = []
    codes = np.empty(n, dtype=np.intp)
    for i, (name, group) in enumerate(zip(names, groups, strict=True)):
        code = number.setdefault(name, len(number))
        if code == len(stratum_of):
            stratum_of.append(group)
        elif stratum_of[code] != group:
            raise ValueError(f"cluster {name!r} lies in two strata")
        codes[i] = code
    return codes, stratum_of


def _resampled_means(
    sums: Floats, counts: Floats, stratum_of: list[Hashable], draws: int, seed: int
) -> Floats:
    """Return the mean of each column in each draw, shape [draws, M]; NaN where nothing was defined."""
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
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / number
