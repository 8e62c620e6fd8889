"""Intervals for means of bounded values: a Bayesian bootstrap over problems with two pseudo-problems.

The plain percentile bootstrap sees no spread where no problem (or every problem) was solved and covers far
too rarely near 0 and 1. Here the problems get random weights (Rubin 1981, "The Bayesian Bootstrap") beside
half a problem at either bound; for 0/1 values that is Jeffreys' interval, Beta(c + 1/2, n - c + 1/2)
(Brown, Cai and DasGupta 2001). Coverage is measured in benchmarks/evaluation_coverage.py. Leaves out:
unbounded values (``bootstrap.expanded_columns``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_evaluation.stats.distributions import expanded_tail
from prorl_evaluation.stats.intervals import SAME, Interval, Resampling
from prorl_evaluation.stats.units import Units, cluster_codes, patterns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

PSEUDO = 0.5
"""Problems added at either bound."""
PRIOR = 0.5
"""Problems that changed fully, added before asking how large a change is (paired differences)."""
FEW, MANY, LEAST_REACH = 5.0, 10.0, 0.3
"""Up to FEW changed problems the pseudo-problems of paired differences lie at the size of a change around 0, from MANY
on at LEAST_REACH of it around the mean, in between on the way; chosen in benchmarks/paired_tests.py."""
__all__ = ["Drawn", "Units", "bounded_columns", "paired_columns"]

_BLOCK = 4_000_000
"""Draws times problems held in memory at once."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Means of each column, shape [M], and their draws, shape [draws, M]; values that entered, by column.

    ``clusters`` and ``strata``, by column, were drawn from: those of its defined values.
    """

    values: Floats
    draws: Floats
    counts: NDArray[np.int64]
    clusters: NDArray[np.int64]
    strata: NDArray[np.int64]

    def columns(self, own: slice) -> Drawn:
        """Return a part of the columns."""
        by_column = (self.counts[own], self.clusters[own], self.strata[own])
        return Drawn(self.values[own], self.draws[:, own], *by_column)


def bounded_columns(
    rows: ArrayLike,
    bounds: tuple[float, float] = (0.0, 1.0),
    units: Units | None = None,
    how: Resampling | None = None,
) -> list[Interval]:
    """Return one interval for each column of ``rows``, shape [N, M], whose values lie in ``bounds``.

    NaN values enter nothing and are counted in ``undefined``. A column that touches a bound with all of
    its values has that bound in its interval. Raises ValueError for a value outside the bounds, or as
    ``bootstrap_ci`` does for units.
    """
    import numpy as np

    how = how or Resampling()
    matrix = _matrix(rows, bounds)
    low, high = (np.full(matrix.shape[1], b) for b in bounds)
    drawn = _draw(matrix, (low, high), units or Units(), how)
    found = []
    for i in _read(matrix, drawn, how.level, expanded=False):
        at_low, at_high = i.value - bounds[0] < SAME, bounds[1] - i.value < SAME
        ends = bounds[0] if at_low else i.low, bounds[1] if at_high else i.high
        found.append(Interval(i.value, *ends, i.count, i.undefined))
    return found


def paired_columns(
    rows: ArrayLike, units: Units | None = None, how: Resampling | None = None
) -> tuple[list[Interval], Drawn]:
    """Return an interval for each column of paired differences in [-1, 1], shape [N, M], and the draws.

    The pseudo-problems lie at plus and minus the typical size of a change, sum(d^2) / sum(|d|) with PRIOR
    full changes added to both sums: near 1 where hardly any problem changed, near the observed size
    where many did. With more than FEW changed problems they move towards the mean. The tails are widened as by
    ``expanded_tail``.
    """
    import numpy as np

    how = how or Resampling()
    matrix = _matrix(rows, (-1.0, 1.0))
    size = (np.nansum(matrix**2, axis=0) + PRIOR) / (np.nansum(np.abs(matrix), axis=0) + PRIOR)
    units = units or Units()
    way = np.clip((_changed(matrix, units) - FEW) / (MANY - FEW), 0.0, 1.0)
    size *= 1.0 - way * (1.0 - LEAST_REACH)
    entered = np.maximum((~np.isnan(matrix)).sum(axis=0), 1)
    centre = way * np.nansum(matrix, axis=0) / entered
    ends = np.maximum(centre - size, -1.0), np.minimum(centre + size, 1.0)
    drawn = _draw(matrix, ends, units, how)
    return _read(matrix, drawn, how.level, expanded=True), drawn


def _changed(matrix: Floats, units: Units) -> Floats:
    """Return how many problems (or clusters) changed, by column: (sum of |d|)^2 / sum of d^2.

    m changes of one size give m; changes that are small beside others count little.
    """
    import numpy as np

    codes, names = cluster_codes(len(matrix), units.clusters, units.strata)
    sums = np.zeros((len(names), matrix.shape[1]))
    np.add.at(sums, codes, np.nan_to_num(matrix))
    squares = np.maximum((sums**2).sum(axis=0), SAME)
    return np.asarray(np.abs(sums).sum(axis=0) ** 2 / squares)


def _matrix(rows: ArrayLike, bounds: tuple[float, float]) -> Floats:
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"rows must have the shape [N, M], not {matrix.shape}")
    if np.any(matrix < bounds[0] - SAME) or np.any(matrix > bounds[1] + SAME):
        raise ValueError(f"a value lies outside [{bounds[0]:g}, {bounds[1]:g}]")
    return matrix


def _draw(matrix: Floats, pseudo: tuple[Floats, Floats], units: Units, how: Resampling) -> Drawn:
    """Draw the mean of each column over its defined values: within a stratum all clusters are weighted at
    random, and strata keep their share of the values. ``pseudo`` values weigh PSEUDO clusters each over
    all strata. Columns defined in the same rows share their weights."""
    import numpy as np

    cluster_codes(len(matrix), units.clusters, units.strata)  # raises what is wrong with them
    width = matrix.shape[1]
    values, draws = np.full(width, np.nan), np.full((how.draws, width), np.nan)
    counts, clusters, strata = (np.zeros(width, dtype=np.int64) for _ in range(3))
    for rows, own in patterns(matrix):
        if not rows:
            continue
        part, ends = matrix[np.ix_(rows, own)], (pseudo[0][own], pseudo[1][own])
        values[own], counts[own] = part.mean(axis=0), len(rows)
        draws[:, own], clusters[own], strata[own] = _draw_whole(part, ends, units.of(rows), how)
    return Drawn(values, draws, counts, clusters, strata)


def _draw_whole(
    matrix: Floats, pseudo: tuple[Floats, Floats], units: Units, how: Resampling
) -> tuple[Floats, int, int]:
    """Return draws, shape [draws, M], and the numbers of clusters and strata; nothing is undefined."""
    import numpy as np

    rng = np.random.default_rng(how.seed)
    codes, stratum_of = cluster_codes(len(matrix), units.clusters, units.strata)
    size = len(stratum_of)
    sums = np.zeros((size, matrix.shape[1]))
    np.add.at(sums, codes, matrix)
    counts = np.bincount(codes, minlength=size).astype(np.float64)
    draws = np.zeros((how.draws, matrix.shape[1]))
    names = list(dict.fromkeys(stratum_of))
    for name in names:
        own = [i for i, s in enumerate(stratum_of) if s == name]
        totals, sizes = sums[own], counts[own]
        share, cluster = sizes.sum() / len(matrix), sizes.mean()
        shape = max(len(own) - 2.0, 0.5) / len(own)  # (n - 2) / n: the spread of draws has no bias
        step = max(1, _BLOCK // len(own))
        for start in range(0, how.draws, step):
            stop = min(start + step, how.draws)
            weights = rng.standard_gamma(shape, (stop - start, len(own)))
            ends = rng.standard_gamma(PSEUDO * (len(own) / size), (stop - start, 2)) * cluster
            top = weights @ totals + ends[:, :1] * pseudo[0] + ends[:, 1:] * pseudo[1]
            mean = top / ((weights @ sizes) + ends.sum(axis=1))[:, None]
            draws[start:stop] += share * mean
    return draws, size, len(names)


def _read(matrix: Floats, drawn: Drawn, level: float, expanded: bool) -> list[Interval]:
    import numpy as np

    found = []
    tail = (1.0 - level) / 2.0
    for j, (value, count) in enumerate(zip(drawn.values, drawn.counts, strict=True)):
        undefined = len(matrix) - int(count)
        if count == 0:
            found.append(Interval(math.nan, math.nan, math.nan, 0, undefined))
            continue
        own = tail
        if expanded:
            own = expanded_tail(tail, int(drawn.clusters[j]), int(drawn.strata[j]))
        low, high = np.quantile(drawn.draws[:, j], [own, 1.0 - own])
        ends = float(min(low, value)), float(max(high, value))
        found.append(Interval(float(value), *ends, int(count), undefined))
    return found
