"""Estimates the power of an evaluation to detect a gain in pass@1, by simulation.

Success rates follow a Beta distribution. Training redraws the rates of half of the problems, then reduces every rate's
distance to 1 by the same fraction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from prorl_evaluation.compare import MIN_PROBLEMS
from prorl_evaluation.stats.distributions import normal_quantile
from prorl_evaluation.stats.intervals import Resampling, paired_columns
from prorl_evaluation.types import EvaluationError, ProblemResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REDRAWN = 0.5
TRIALS = 2000
LEVEL, SEED = 0.95, 0
DRAWS = 1000
TARGET_POWER = 0.8
"""Minimum power for which there is no warning."""
GAIN_OF_INTEREST = 0.1
"""Gain in pass@1 for which the power is checked."""
MOST_PROBLEMS, MOST_SAMPLES = 100_000, 1024
"""Upper limits of ``needed_problems`` and ``needed_samples``."""
NORMAL_FROM = 1000
"""Number of problems from which a normal approximation replaces the simulation."""
_STEP, _GROWTH, _QUICK = 0.005, 1.05, 500


@dataclass(frozen=True, slots=True)
class Rates:
    """A Beta distribution of success rates before training; ``concentration`` is alpha + beta."""

    mean: float = 0.4
    concentration: float = 1.5

    def __post_init__(self) -> None:
        if not 0.0 < self.mean < 1.0:
            raise EvaluationError(f"the rate is {self.mean:g}: it must be between 0 and 1")
        if not self.concentration > 0.0:
            raise EvaluationError(
                f"the concentration is {self.concentration:g}: it must be above 0"
            )


def fit_rates(problems: Sequence[ProblemResult]) -> Rates:
    """Fit the distribution of success rates to the results, corrected for sampling noise.

    Raises EvaluationError for fewer than two problems with verdicts, or if all verdicts are equal.
    """
    rates = [p.c / p.n for p in problems if p.n]
    if len(rates) < 2:
        raise EvaluationError(
            "fewer than two problems have verdicts, so no rates can be fitted: give --rate"
        )
    mean = sum(rates) / len(rates)
    if not 0.0 < mean < 1.0:
        raise EvaluationError(
            f"every answer has the same verdict (pass@1 {mean:g}), so no rates can be fitted: give --rate"
        )
    spread = sum((r - mean) ** 2 for r in rates) / (len(rates) - 1)
    n = len(rates) / sum(1 / p.n for p in problems if p.n)
    # var(c / n) = p (1 - p) (rho + (1 - rho) / n) with rho = 1 / (1 + concentration)
    rho = (spread / (mean * (1 - mean)) - 1 / n) / (1 - 1 / n) if n > 1 else 0.4
    rho = min(max(rho, 0.01), 0.99)
    return Rates(mean, 1 / rho - 1)


def power(
    problems: int,
    n: int,
    gain: float,
    rates: Rates | None = None,
    *,
    trials: int = TRIALS,
) -> float:
    """Return the fraction of simulated evaluations that detect ``gain`` in pass@1 (0 below MIN_PROBLEMS problems).

    Raises EvaluationError for an impossible gain.
    """
    import numpy as np

    rates = rates or Rates()
    if problems < 2 or n < 1:
        raise EvaluationError("an evaluation needs at least 2 problems and 1 sample of each")
    _check_gain(gain, rates)
    if problems < MIN_PROBLEMS:
        return 0.0
    if problems >= NORMAL_FROM:
        z = gain * math.sqrt(problems) / _spread(n, gain, rates)
        return NormalDist().cdf(z - normal_quantile((1.0 - LEVEL) / 2.0))
    rng = np.random.default_rng(SEED)
    shape = (problems, trials)
    before = _draw(rng, rates, shape)
    after = np.where(rng.random(shape) < REDRAWN, _draw(rng, rates, shape), before)
    after = np.minimum(after + (1.0 - after) * gain / (1.0 - rates.mean), 1.0)
    differences = (rng.binomial(n, after) - rng.binomial(n, before)) / n
    intervals, _ = paired_columns(differences, how=Resampling(LEVEL, DRAWS, SEED))
    return sum(i.low > 0 for i in intervals) / trials


def smallest_gain(
    problems: int,
    n: int,
    rates: Rates | None = None,
    *,
    target: float = 0.9,
) -> float:
    """Return the smallest gain in pass@1, in steps of 0.005, detected with probability ``target``, or NaN.

    ``n`` is the number of samples per problem.
    """
    rates = rates or Rates()
    low, high = 0, int((1.0 - rates.mean) / _STEP)
    if power(problems, n, high * _STEP, rates) < target:
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        enough = power(problems, n, middle * _STEP, rates) >= target
        low, high = (low, middle) if enough else (middle, high)
    return high * _STEP


def needed_problems(
    n: int,
    gain: float,
    rates: Rates | None = None,
    *,
    target: float = TARGET_POWER,
    trials: int = TRIALS,
) -> int | None:
    """Return how many problems, to within 5%, detect a ``gain`` in pass@1 with probability ``target``.

    ``n`` is the number of samples per problem. Returns None above MOST_PROBLEMS.
    """
    rates = rates or Rates()
    _check_gain(gain, rates)
    start = math.inf
    if gain > 0.0:  # the size of a normal test: ((z of LEVEL + z of power) sigma / gain)^2
        z = normal_quantile((1.0 - LEVEL) / 2.0) + normal_quantile(1.0 - target)
        start = (z * _spread(n, gain, rates) / gain) ** 2
    if start > NORMAL_FROM:  # power() uses the same normal approximation there
        return None if start > MOST_PROBLEMS else math.ceil(start)

    def enough(count: int) -> bool:
        return power(count, n, gain, rates, trials=trials) >= target

    problems = max(MIN_PROBLEMS, math.ceil(start))
    if enough(problems):
        while problems > MIN_PROBLEMS and enough(
            less := min(problems - 1, int(problems / _GROWTH))
        ):
            problems = less
        return problems
    while not enough(problems):
        problems = max(problems + 1, int(problems * _GROWTH))
    return problems


def needed_samples(
    problems: int,
    gain: float,
    rates: Rates | None = None,
    *,
    target: float = TARGET_POWER,
) -> int | None:
    """Return the samples per problem (a power of two) needed for the power ``target``; None above MOST_SAMPLES."""
    n = 1
    while n <= MOST_SAMPLES:
        if power(problems, n, gain, rates) >= target:
            return n
        n *= 2
    return None


def poor_power(problems: int, n: int) -> str | None:
    """Return a warning if a gain in pass@1 of GAIN_OF_INTEREST would be missed too often, else None."""
    if problems < 2:
        return None if problems < 1 else "1 problem: no gain can be shown on it"
    if problems >= 500:  # one sample per problem is enough
        return None
    needed = _needed(n)
    chance = power(problems, n, GAIN_OF_INTEREST, trials=_QUICK)
    if problems >= needed or chance >= TARGET_POWER:
        return None
    return (
        f"{problems} problems with n = {n}: a true gain of {GAIN_OF_INTEREST:g} in pass@1 would be seen in "
        f"{int(100 * chance)}% of such comparisons, {100 * TARGET_POWER:.0f}% takes about {needed} problems (from pass@1 "
        f"{Rates().mean:g}; for your rates and gain: prorl eval plan)"
    )


@cache
def _needed(n: int) -> int:
    problems = needed_problems(n, GAIN_OF_INTEREST, trials=_QUICK)
    assert problems is not None
    return problems


def _spread(n: int, gain: float, rates: Rates) -> float:
    """Return the exact standard deviation of one problem's change of pass@1 in the simulation."""
    lacking = 1.0 - rates.mean
    remaining = 1.0 - gain / lacking  # share of the distance to 1 that remains
    variance = rates.mean * lacking / (1.0 + rates.concentration)
    change = (
        REDRAWN * (1.0 + remaining**2) * variance
        + (1.0 - REDRAWN) * (1.0 - remaining) ** 2 * variance
    )
    sampling = [part * lacking - part**2 * (lacking**2 + variance) for part in (1.0, remaining)]
    return math.sqrt(max(0.0, change + sum(sampling) / n))


def _check_gain(gain: float, rates: Rates) -> None:
    if not 0.0 <= gain <= 1.0 - rates.mean + 1e-9:
        raise EvaluationError(
            f"from {rates.mean:.3g} pass@1 can rise by at most {1 - rates.mean:.3g}, not by {gain:g}"
        )


def _draw(rng: np.random.Generator, rates: Rates, shape: tuple[int, int]) -> Floats:
    a = rates.mean * rates.concentration
    return rng.beta(a, rates.concentration - a, shape)
