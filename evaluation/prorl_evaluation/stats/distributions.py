"""Student's t, Fisher's exact test, and corrections for many tests; the standard library only.

Leaves out: anything scipy does better for many values at once. The tests compare with scipy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300
_CLOSE = 1e-15
_MOST_TERMS = 500
_LEAST_TAIL = 1e-9
_SLACK = 1.0 + 1e-7
"""Tables as likely as the observed one up to rounding count as at least as extreme."""


def regularised_beta(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), the distribution function of Beta(a, b) at ``x`` in [0, 1].

    Continued fraction 26.5.8 of Abramowitz and Stegun 1964 by Lentz's method.
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - regularised_beta(1.0 - x, b, a)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log1p(-x)) / a
    f, c, d = 1.0, 1.0, 0.0
    for i in range(_MOST_TERMS):
        m = i // 2
        if i == 0:
            term = 1.0
        elif i % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / (1.0 + term * d or _TINY)
        c = 1.0 + term / c or _TINY
        f *= c * d
        if abs(1.0 - c * d) < _CLOSE:
            break
    return front * (f - 1.0)


def t_tail(t: float, df: float) -> float:
    """Return P(T > t) for Student's t with ``df`` > 0 degrees of freedom."""
    half = 0.5 * regularised_beta(df / (df + t * t), df / 2.0, 0.5)
    return half if t >= 0 else 1.0 - half


@lru_cache(maxsize=1024)
def t_quantile(tail: float, df: float) -> float:
    """Return the t with P(T > t) = ``tail``, for ``tail`` in (0, 0.5]; by bisection."""
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        high *= 2.0
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2.0


def expanded_tail(tail: float, values: int, strata: int = 1) -> float:
    """Return the tail at which to read a bootstrap distribution so that its interval is as wide as t's.

    Phi(-sqrt(n / (n - s)) t) of Hesterberg 2015, "What Teachers Should Know about the Bootstrap",
    section 5.3, with s = 1; ``tail`` itself when n <= s.
    """
    df = values - strata
    if df < 1:
        return tail
    return max(_LEAST_TAIL, NormalDist().cdf(-math.sqrt(values / df) * t_quantile(tail, df)))


def unexpanded_tail(share: float, values: int, strata: int = 1) -> float:
    """Return the tail whose :func:`expanded_tail` is ``share``, in (0, 1): the p-value at which an interval
    read at expanded tails ends where ``share`` of the draws lie beyond; ``share`` itself when n <= s."""
    df = values - strata
    if df < 1:
        return share
    return t_tail(-NormalDist().inv_cdf(share) / math.sqrt(values / df), df)


def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p-value of the 2 x 2 table ((a, b), (c, d)): Fisher 1934, exact integers.

    The probability of all tables with these margins that are at most as likely as this one.
    """
    row, other, column = a + b, c + d, a + c
    lowest, highest = max(0, column - other), min(row, column)
    ways = [math.comb(row, x) * math.comb(other, column - x) for x in range(lowest, highest + 1)]
    limit = ways[a - lowest] * _SLACK
    return min(1.0, sum(w for w in ways if w <= limit) / math.comb(row + other, column))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected so that the chance of any false claim is bounded (Holm 1979).

    NaN stays NaN and does not count as a test. Holds under any dependence.
    """
    order = sorted((p, i) for i, p in enumerate(values) if not math.isnan(p))
    found, worst = [math.nan] * len(values), 0.0
    for place, (p, i) in enumerate(order):
        worst = max(worst, min(1.0, p * (len(order) - place)))
        found[i] = worst
    return found


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for the false discovery rate (Benjamini and Hochberg 1995)."""
    order = sorted(range(len(values)), key=lambda i: values[i], reverse=True)
    found, least = [1.0] * len(values), 1.0
    for place, i in enumerate(order):
        least = min(least, values[i] * len(values) / (len(values) - place))
        found[i] = least
    return found
