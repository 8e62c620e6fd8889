"""Computes intervals for fixed problems, of which only the sampled answers vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from prorl_evaluation.metrics import Counted, pass_at_k
from prorl_evaluation.stats.distributions import beta_interval, normal_quantile
from prorl_evaluation.stats.intervals import Interval


@lru_cache(maxsize=65536)
def sampling_variance(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of the variance of a problem's pass@k; NaN if 2k > n.

    It is u^2 - w, where u = C(n-c, k) / C(n, k) estimates q^k, w = C(n-c, 2k) / C(n, 2k) estimates q^2k, and q is the
    failure rate.
    """
    if 2 * k > n:
        return math.nan
    u, both = 1.0 - pass_at_k(n, c, k), 1.0 - pass_at_k(n, c, 2 * k)
    return max(0.0, u * u - both)


def fixed_interval(problems: Sequence[Counted], k: int, level: float = 0.95) -> Interval:
    """Return mean pass@k with its interval for fixed problems, which is conservative if 2k > n.

    It is Jeffreys' interval Beta(v m + 1/2, (1 - v) m + 1/2) for the mean v, where m is the number of Bernoulli trials
    with the same variance.
    """
    value, variance, size, count = _moments(problems, k)
    undefined = len(problems) - count
    if not count:
        return Interval(math.nan, math.nan, math.nan, 0, undefined)
    smoothed = (value * size + 0.5) / (size + 1.0)
    answers = smoothed * (1.0 - smoothed) / variance
    low, high = beta_interval(value * answers + 0.5, (1.0 - value) * answers + 0.5, level)
    return Interval(value, min(low, value), max(high, value), count, undefined)


def fixed_change(pairs: Sequence[tuple[Counted, Counted]], k: int, level: float = 0.95) -> Interval:
    """Return the mean change of pass@k with its normal interval for fixed problems."""
    used = [(a, b) for a, b in pairs if min(a.n, b.n) >= k]
    undefined = len(pairs) - len(used)
    if not used:
        return Interval(math.nan, math.nan, math.nan, 0, undefined)
    before, after = (_moments([pair[side] for pair in used], k) for side in (0, 1))
    value = after[0] - before[0]
    half = normal_quantile((1.0 - level) / 2.0) * math.sqrt(before[1] + after[1])
    return Interval(value, max(-1.0, value - half), min(1.0, value + half), len(used), undefined)


def _moments(problems: Sequence[Counted], k: int) -> tuple[float, float, float, int]:
    """Return mean pass@k, its variance, the effective number of sets of k answers, and the number of problems.

    For problems with n < 2k, the variance is bounded by v (1 - v), where v is their mean (Hoeffding 1956).
    """
    used = [p for p in problems if p.n >= k]
    if not used:
        return math.nan, math.nan, 0.0, 0
    count = len(used)
    size = count * count / sum(k / p.n for p in used)
    variances = [sampling_variance(p.n, p.c, k) for p in used]
    values = [pass_at_k(p.n, p.c, k) for p in used]
    bound = [v for v, variance in zip(values, variances, strict=True) if math.isnan(variance)]
    total = math.fsum(v for v in variances if not math.isnan(v))
    if bound:
        mean = math.fsum(bound) / len(bound)
        total += len(bound) * mean * (1.0 - mean)
    return math.fsum(values) / count, total / count**2 + 0.5 / size**2, size, count
