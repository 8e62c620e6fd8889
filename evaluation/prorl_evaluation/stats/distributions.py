"""Computes distributions, exact tests and multiple-test corrections, mostly with scipy (extra ``eval``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from types import ModuleType

from prorl_common import MissingExtraError

_LEAST_TAIL = 1e-9


def _scipy(name: str) -> ModuleType:
    import importlib

    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError as error:
        raise MissingExtraError("eval", "scipy") from error


def require_scipy() -> None:
    """Raise MissingExtraError if scipy is not installed."""
    _scipy("special")


def t_tail(t: float, df: float) -> float:
    """Return P(T > t) for Student's t with ``df`` > 0 degrees of freedom."""
    return float(_scipy("special").stdtr(df, -t))


@lru_cache(maxsize=1024)
def t_quantile(tail: float, df: float) -> float:
    """Return the t with P(T > t) = ``tail``, for ``tail`` in (0, 0.5]."""
    return -float(_scipy("special").stdtrit(df, tail))


def expanded_tail(tail: float, values: int, strata: int = 1) -> float:
    """Return the tail probability that makes a bootstrap interval as wide as Student's t interval.

    With n ``values`` and s ``strata``, it is Phi(-sqrt(n / (n - s)) t) for the quantile t of ``tail``. The case s = 1
    is from Hesterberg 2015, "What Teachers Should Know about the Bootstrap", section 5.3. If n <= s, it is ``tail``.
    """
    df = values - strata
    if df < 1:
        return tail
    return max(_LEAST_TAIL, NormalDist().cdf(-math.sqrt(values / df) * t_quantile(tail, df)))


def unexpanded_tail(share: float, values: int, strata: int = 1) -> float:
    """Return the tail for which ``expanded_tail`` returns ``share``, a number in (0, 1)."""
    df = values - strata
    if df < 1:
        return share
    return t_tail(-NormalDist().inv_cdf(share) / math.sqrt(values / df), df)


def normal_quantile(tail: float) -> float:
    """Return the z with P(Z > z) = ``tail``."""
    return NormalDist().inv_cdf(1.0 - tail)


def beta_interval(a: float, b: float, level: float = 0.95) -> tuple[float, float]:
    """Return the central interval of Beta(a, b)."""
    tail, inverse = (1 - level) / 2, _scipy("special").betaincinv
    return float(inverse(a, b, tail)), float(inverse(a, b, 1 - tail))


@lru_cache(maxsize=65536)
def jeffreys(c: int, n: int) -> tuple[float, float]:
    """Return Jeffreys' 95% interval Beta(c + 1/2, n - c + 1/2) of a rate with ``c`` successes in ``n`` >= 1 trials.

    It includes 0 if c is 0, and 1 if c is n (Brown, Cai and DasGupta 2001).
    """
    low, high = beta_interval(c + 0.5, n - c + 0.5)
    return 0.0 if c == 0 else low, 1.0 if c == n else high


@lru_cache(maxsize=65536)
def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p-value of Fisher's exact test for the table ((a, b), (c, d)) (Fisher 1934)."""
    return float(_scipy("stats").fisher_exact([[a, b], [c, d]])[1])


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for the family-wise error rate, under any dependence (Holm 1979).

    NaN values are not counted as tests.
    """
    order = sorted((p, i) for i, p in enumerate(values) if not math.isnan(p))
    corrected, worst = [math.nan] * len(values), 0.0
    for place, (p, i) in enumerate(order):
        worst = max(worst, min(1.0, p * (len(order) - place)))
        corrected[i] = worst
    return corrected


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for the false discovery rate (Benjamini and Hochberg 1995)."""
    if not values:
        return []
    return [float(p) for p in _scipy("stats").false_discovery_control(list(values))]
