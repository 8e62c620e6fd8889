"""Computes bootstrap intervals that treat the problems as a random sample (``fixed_set``: as fixed)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prorl_evaluation.stats.distributions import expanded_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


SAME = 1e-12
"""Smaller differences are rounding errors."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate from ``count`` values with its interval; all NaN if there are none.

    ``undefined`` counts values that were NaN and ignored.
    """

    value: float
    low: float
    high: float
    count: int
    undefined: int = 0

    @property
    def part(self) -> str:
        """The text `` (12 of 40)`` if 28 of 40 values are undefined; "" if none are."""
        return f" ({self.count} of {self.count + self.undefined})" if self.undefined else ""

    @property
    def degenerate(self) -> bool:
        return self.high - self.low < SAME


@dataclass(frozen=True, slots=True)
class Resampling:
    """The confidence level, and the number and seed of bootstrap draws."""

    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0 or self.draws < 1:
            raise ValueError(
                f"level must be between 0 and 1, and draws at least 1: level={self.level}, draws={self.draws}"
            )


LEAST = 3
"""Minimum number of clusters in a stratum; smaller strata are merged."""
_MERGED = object()


@dataclass(frozen=True, slots=True)
class Units:
    """The bootstrap resamples whole ``clusters`` (None: single values) within each of ``strata`` (None: one)."""

    clusters: Sequence[Hashable] | None = None
    strata: Sequence[Hashable] | None = None

    def of(self, rows: Sequence[int]) -> Units:
        clusters, strata = (
            None if names is None else [names[i] for i in rows]
            for names in (self.clusters, self.strata)
        )
        return Units(clusters, strata)


def cluster_codes(
    n: int, clusters: Sequence[Hashable] | None, strata: Sequence[Hashable] | None
) -> tuple[Any, list[Hashable]]:
    """Return each value's cluster number, shape [n], and each cluster's stratum.

    Strata with few clusters are merged. Raises ValueError for lengths other than n, or a cluster in two strata.
    """
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
            raise ValueError(f"cluster {name!r} is in two strata")
        codes[i] = code
    sizes = Counter(stratum_of)
    small = {s for s, size in sizes.items() if size < LEAST}
    if small and len(sizes) > 1:
        large = [s for s in sizes if s not in small]
        merged: Hashable = _MERGED
        if large and sum(sizes[s] for s in small) < LEAST:
            merged = min(large, key=lambda s: sizes[s])
        stratum_of = [merged if s in small else s for s in stratum_of]
    return codes, stratum_of


def patterns(matrix: NDArray[np.float64]) -> Iterator[tuple[list[int], list[int]]]:
    """Group the columns that have NaN in the same rows; yield (rows without NaN, columns) for each group."""
    import numpy as np

    defined = ~np.isnan(matrix)
    columns: dict[bytes, list[int]] = {}
    for j in range(matrix.shape[1]):
        columns.setdefault(defined[:, j].tobytes(), []).append(j)
    for group in columns.values():
        yield np.flatnonzero(defined[:, group[0]]).tolist(), group


PSEUDO = 0.5
"""Weight of each pseudo-problem (a prior observation), in units of one problem."""
PRIOR = 0.5
"""Number of changes of size 1 that are added when the typical size of a change is estimated."""
FEW, MANY, LEAST_REACH = 5.0, 10.0, 0.3
"""Parameters of ``paired_columns``, chosen with benchmarks/paired_tests.py."""

_BLOCK = 4_000_000
"""Maximum number of draws times problems held in memory."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """M column means, bootstrap draws [draws, M], and the numbers of values, clusters and strata in each column."""

    values: Floats
    draws: Floats
    counts: NDArray[np.int64]
    clusters: NDArray[np.int64]
    strata: NDArray[np.int64]

    def columns(self, selection: slice) -> Drawn:
        by_column = (self.counts[selection], self.clusters[selection], self.strata[selection])
        return Drawn(self.values[selection], self.draws[:, selection], *by_column)


def bounded_columns(
    rows: ArrayLike,
    bounds: tuple[float, float] = (0.0, 1.0),
    units: Units | None = None,
    how: Resampling | None = None,
) -> list[Interval]:
    """Return the Bayesian bootstrap interval of each column mean of ``rows``, shape [N, M], values in ``bounds``.

    The prior is a pseudo-problem of weight PSEUDO at each bound. If all values equal a bound, the interval includes it.
    Raises ValueError for values outside the bounds, or invalid ``units``.
    """
    import numpy as np

    how = how or Resampling()
    matrix = _matrix(rows, bounds)
    low, high = (np.full(matrix.shape[1], b) for b in bounds)
    drawn = _draw(matrix, (low, high), units or Units(), how)
    intervals = []
    for i in _read(matrix, drawn, how.level, expanded=False):
        at_low, at_high = i.value - bounds[0] < SAME, bounds[1] - i.value < SAME
        ends = bounds[0] if at_low else i.low, bounds[1] if at_high else i.high
        intervals.append(Interval(i.value, *ends, i.count, i.undefined))
    return intervals


def paired_columns(
    rows: ArrayLike, units: Units | None = None, how: Resampling | None = None
) -> tuple[list[Interval], Drawn]:
    """Return the interval of each column mean of ``rows``, and bootstrap draws of the means.

    ``rows`` are paired differences in [-1, 1], shape [N, M]. The prior is two pseudo-problems. Up to FEW changed
    clusters, they lie one typical change, sum(d^2) / sum(|d|), above and below 0. With more changes they approach the
    mean; from MANY on, they lie LEAST_REACH typical changes above and below it. Tails are widened by ``expanded_tail``.
    """
    import numpy as np

    how = how or Resampling()
    matrix = _matrix(rows, (-1.0, 1.0))
    size = (np.nansum(matrix**2, axis=0) + PRIOR) / (np.nansum(np.abs(matrix), axis=0) + PRIOR)
    units = units or Units()
    codes, names = cluster_codes(len(matrix), units.clusters, units.strata)
    sums = np.zeros((len(names), matrix.shape[1]))
    np.add.at(sums, codes, np.nan_to_num(matrix))
    squares = np.maximum((sums**2).sum(axis=0), SAME)
    changed = np.abs(sums).sum(axis=0) ** 2 / squares  # the effective number of changed clusters
    way = np.clip((changed - FEW) / (MANY - FEW), 0.0, 1.0)
    size *= 1.0 - way * (1.0 - LEAST_REACH)
    entered = np.maximum((~np.isnan(matrix)).sum(axis=0), 1)
    centre = way * np.nansum(matrix, axis=0) / entered
    ends = np.maximum(centre - size, -1.0), np.minimum(centre + size, 1.0)
    drawn = _draw(matrix, ends, units, how)
    return _read(matrix, drawn, how.level, expanded=True), drawn


def _matrix(rows: ArrayLike, bounds: tuple[float, float]) -> Floats:
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"rows must have the shape [N, M], not {matrix.shape}")
    if np.any(matrix < bounds[0] - SAME) or np.any(matrix > bounds[1] + SAME):
        raise ValueError(f"a value is outside [{bounds[0]:g}, {bounds[1]:g}]")
    return matrix


def _draw(matrix: Floats, pseudo: tuple[Floats, Floats], units: Units, how: Resampling) -> Drawn:
    import numpy as np

    cluster_codes(len(matrix), units.clusters, units.strata)  # raises ValueError for invalid units
    width = matrix.shape[1]
    values, draws = np.full(width, np.nan), np.full((how.draws, width), np.nan)
    counts, clusters, strata = (np.zeros(width, dtype=np.int64) for _ in range(3))
    for rows, columns in patterns(matrix):
        if not rows:
            continue
        part, ends = matrix[np.ix_(rows, columns)], (pseudo[0][columns], pseudo[1][columns])
        values[columns], counts[columns] = part.mean(axis=0), len(rows)
        draws[:, columns], clusters[columns], strata[columns] = _draw_whole(
            part, ends, units.of(rows), how
        )
    return Drawn(values, draws, counts, clusters, strata)


def _draw_whole(
    matrix: Floats, pseudo: tuple[Floats, Floats], units: Units, how: Resampling
) -> tuple[Floats, int, int]:
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
        members = [i for i, s in enumerate(stratum_of) if s == name]
        totals, sizes = sums[members], counts[members]
        share, cluster = sizes.sum() / len(matrix), sizes.mean()
        shape = max(len(members) - 2.0, 0.5) / len(
            members
        )  # (n - 2) / n makes the spread of the draws unbiased
        step = max(1, _BLOCK // len(members))
        for start in range(0, how.draws, step):
            stop = min(start + step, how.draws)
            weights = rng.standard_gamma(shape, (stop - start, len(members)))
            ends = rng.standard_gamma(PSEUDO * (len(members) / size), (stop - start, 2)) * cluster
            top = weights @ totals + ends[:, :1] * pseudo[0] + ends[:, 1:] * pseudo[1]
            mean = top / ((weights @ sizes) + ends.sum(axis=1))[:, None]
            draws[start:stop] += share * mean
    return draws, size, len(names)


def _read(matrix: Floats, drawn: Drawn, level: float, expanded: bool) -> list[Interval]:
    import numpy as np

    intervals = []
    tail = (1.0 - level) / 2.0
    for j, (value, count) in enumerate(zip(drawn.values, drawn.counts, strict=True)):
        undefined = len(matrix) - int(count)
        if count == 0:
            intervals.append(Interval(math.nan, math.nan, math.nan, 0, undefined))
            continue
        end_tail = tail
        if expanded:
            end_tail = expanded_tail(tail, int(drawn.clusters[j]), int(drawn.strata[j]))
        low, high = np.quantile(drawn.draws[:, j], [end_tail, 1.0 - end_tail])
        ends = float(min(low, value)), float(max(high, value))
        intervals.append(Interval(float(value), *ends, int(count), undefined))
    return intervals


def expanded_columns(
    values: ArrayLike, units: Units | None = None, how: Resampling | None = None
) -> list[Interval]:
    """Return the mean and percentile bootstrap interval of each column of ``values``, shape [N, M].

    Tails are widened by ``expanded_tail``. Raises ValueError for invalid ``units``.
    """
    import numpy as np

    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"values must have the shape [N, M], not {matrix.shape}")
    units, how = units or Units(), how or Resampling()
    cluster_codes(len(matrix), units.clusters, units.strata)  # raises ValueError for invalid units
    intervals = [Interval(math.nan, math.nan, math.nan, 0, len(matrix))] * matrix.shape[1]
    for rows, columns in patterns(matrix):
        if not rows:
            continue
        row_units = units.of(rows)
        codes, stratum_of = cluster_codes(len(rows), row_units.clusters, row_units.strata)
        shape = (len(stratum_of), len(columns))
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, codes, matrix[np.ix_(rows, columns)])
        np.add.at(counts, codes, 1.0)
        means = _resampled_means(sums, counts, stratum_of, how.draws, how.seed)
        tail = expanded_tail((1.0 - how.level) / 2.0, len(stratum_of), len(set(stratum_of)))
        for place, j in enumerate(columns):
            defined = matrix[rows, j]
            value = low = high = float(defined.mean())
            if float(np.ptp(defined)) >= SAME:
                low, high = map(float, np.quantile(means[:, place], [tail, 1.0 - tail]))
            intervals[j] = Interval(value, low, high, len(rows), len(matrix) - len(rows))
    return intervals


def _resampled_means(
    sums: Floats, counts: Floats, stratum_of: list[Hashable], draws: int, seed: int
) -> Floats:
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
