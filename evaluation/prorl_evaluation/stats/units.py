"""What is resampled: problems or clusters of them, within strata; and which columns can share draws.

Leaves out: drawing (``stats.bounded_mean``, ``bootstrap``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST = 3
"""Strata of fewer clusters are taken together: one cluster alone has no spread to be seen."""
_REST = object()


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn: ``clusters`` (None: each value by itself) within ``strata`` (None: one stratum)."""

    clusters: Sequence[Hashable] | None = None
    strata: Sequence[Hashable] | None = None

    def of(self, rows: Sequence[int]) -> Units:
        """Return the units of some of the values."""
        clusters, strata = (
            None if names is None else [names[i] for i in rows]
            for names in (self.clusters, self.strata)
        )
        return Units(clusters, strata)


def cluster_codes(
    n: int, clusters: Sequence[Hashable] | None, strata: Sequence[Hashable] | None
) -> tuple[Any, list[Hashable]]:
    """Return (cluster number of each value, stratum of each cluster).

    Strata of fewer than LEAST clusters become one, with the next smallest where that is still too small.
    Raises ValueError for lengths that differ, or a cluster in two strata.
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
            raise ValueError(f"cluster {name!r} lies in two strata")
        codes[i] = code
    sizes = Counter(stratum_of)
    small = {s for s, size in sizes.items() if size < LEAST}
    if small and len(sizes) > 1:
        large = [s for s in sizes if s not in small]
        rest: Hashable = _REST
        if large and sum(sizes[s] for s in small) < LEAST:
            rest = min(large, key=lambda s: sizes[s])
        stratum_of = [rest if s in small else s for s in stratum_of]
    return codes, stratum_of


def patterns(matrix: NDArray[np.float64]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (rows, columns) for each set of columns that are defined (not NaN) in the same rows."""
    import numpy as np

    defined = ~np.isnan(matrix)
    columns: dict[bytes, list[int]] = {}
    for j in range(matrix.shape[1]):
        columns.setdefault(defined[:, j].tobytes(), []).append(j)
    for own in columns.values():
        yield np.flatnonzero(defined[:, own[0]]).tolist(), own
