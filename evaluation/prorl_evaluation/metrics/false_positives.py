"""What a verifier that sometimes accepts a wrong answer does to pass@k.

Model: each wrong sample is accepted with probability f, independently, and no right one is refused. Where
one problem's wrong answers are accepted together (a wrong gold, a missing test), the bias is that
problem's whole score and no rate describes it. Leaves out: measuring f (``prorl verify audit``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_evaluation.metrics.passk import Counted, pass_at_k
from prorl_evaluation.stats.intervals import Interval, Resampling

if TYPE_CHECKING:
    from prorl_evaluation.stats.bounded_mean import Units


@dataclass(frozen=True, slots=True)
class Suspicion:
    """pass@k under a false-positive rate.

    ``unsolvable_reads`` is what a problem that no sample solves reads: 1 - (1 - f)^k. ``adjusted`` is
    pass@k with the false positives taken out.
    """

    k: int
    rate: float
    observed: float
    unsolvable_reads: float
    adjusted: Interval


LEAST_SURVIVORS = 1e-3
"""Where fewer unsolved problems than this would read as unsolved, nothing can be told apart."""


def false_positive_reading(rate: float, k: int) -> float:
    """Return 1 - (1 - f)^k: what pass@k reads where every answer is wrong; 0.005 gives 0.47 at k = 128.

    Brown et al. 2024, arXiv 2407.21787, discuss the effect. Raises ValueError for a rate outside [0, 1)
    or k < 1.
    """
    if not 0.0 <= rate < 1.0 or k < 1:
        raise ValueError(f"the rate must lie in [0, 1) and k be at least 1: {rate}, {k}")
    return -math.expm1(k * math.log1p(-rate))


def suspicion(
    problems: Sequence[Counted],
    k: int,
    rate: float,
    units: Units | None = None,
    how: Resampling | None = None,
) -> Suspicion:
    """Return observed and adjusted pass@k over problems; a mean or end below 0 is shown as 0, and nothing
    where the rate leaves no way to tell, (1 - f)^k below LEAST_SURVIVORS.

    A sample is judged wrong with probability (1 - p)(1 - f), so (1 - p)^k is estimated without bias by
    C(n-c, k) / C(n, k) / (1 - f)^k.

    The interval is for the given ``rate``; it says nothing of how well that is known.
    """
    import numpy as np

    from prorl_evaluation.stats.bounded_mean import bounded_columns

    reading = false_positive_reading(rate, k)
    observed = np.array([pass_at_k(p.n, p.c, k) for p in problems], dtype=np.float64)
    survivors = 1.0 - reading
    if survivors < LEAST_SURVIVORS:
        survivors = math.nan
    adjusted = 1.0 - (1.0 - observed) / survivors
    lowest = 0.0 if math.isnan(survivors) else min(0.0, 1.0 - 1.0 / survivors)
    found = bounded_columns(adjusted[:, None], (lowest, 1.0), units, how)[0]
    if not found.count:
        seen = observed[~np.isnan(observed)]
        return Suspicion(k, rate, float(seen.mean()) if len(seen) else math.nan, reading, found)
    value, low, high = (max(0.0, v) for v in (found.value, found.low, found.high))
    shown = Interval(value, low, high, found.count, found.undefined)
    return Suspicion(k, rate, float(np.nanmean(observed)), reading, shown)
