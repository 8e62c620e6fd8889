"""Computes pass@k, G-Pass@k, maj@k, and pass@k corrected for false positives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from prorl_evaluation.stats.intervals import Interval, Resampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from prorl_evaluation.stats.intervals import Units


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return 1 - C(n-c, k) / C(n, k), the unbiased estimate of pass@k from ``c`` correct of ``n`` samples.

    Chen et al. 2021, arXiv 2107.03374, equation 1. Returns NaN if ``n < k``. Raises ValueError for a negative count,
    ``c > n`` or ``k < 1``.
    """
    if n < 0 or c < 0 or k < 1:
        raise ValueError(f"n and c must be at least 0, and k at least 1: n={n}, c={c}, k={k}")
    if c > n:
        raise ValueError(f"more successes than samples: c={c}, n={n}")
    if n < k:
        return math.nan
    if n - c < k:
        return 1.0
    all_fail = 1.0
    for i in range(n - c + 1, n + 1):
        all_fail *= 1.0 - k / i
    return 1.0 - all_fail


def ks_up_to(n: int, more: Iterable[int] = ()) -> tuple[int, ...]:
    """Return the powers of two, and the values of ``more``, that are at most ``n``, in ascending order."""
    powers = {1 << i for i in range(n.bit_length()) if 1 << i <= n}
    return tuple(sorted(powers | {k for k in more if 1 <= k <= n}))


class Counted(Protocol):
    """Numbers of samples of one problem."""

    @property
    def n(self) -> int:
        """Number of samples with a verdict."""

    @property
    def c(self) -> int:
        """Number of samples with reward 1."""


def pass_at_k_table(problems: Sequence[Counted], ks: Sequence[int]) -> Floats:
    """Return pass@k, shape [problems, ks]; NaN if n < k. Raises the errors of ``pass_at_k``."""
    import numpy as np

    cache: dict[tuple[int, int], list[float]] = {}
    rows = []
    for p in problems:
        if (p.n, p.c) not in cache:
            cache[(p.n, p.c)] = [pass_at_k(p.n, p.c, k) for k in ks]
        rows.append(cache[(p.n, p.c)])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ks))


def g_pass_at_k(n: int, c: int, k: int, tau: float) -> float:
    """Return the probability that at least ceil(tau k) of k samples are correct, given ``c`` of ``n``.

    This is G-Pass@k (Liu et al. 2024, arXiv 2412.13147): the sum of C(c, j) C(n-c, k-j) / C(n, k) over j >= max(1,
    ceil(tau k)). Returns NaN if n < k. Raises ValueError like ``pass_at_k``, or for tau outside [0, 1].
    """
    if not 0.0 <= tau <= 1.0:
        raise ValueError(f"tau is {tau}: it must be between 0 and 1")
    if math.isnan(pass_at_k(n, c, k)):
        return math.nan
    least = max(1, math.ceil(tau * k - 1e-9))
    ways = sum(math.comb(c, j) * math.comb(n - c, k - j) for j in range(least, min(c, k) + 1))
    return ways / math.comb(n, k)


def near_n_warning(n: int, k: int) -> str | None:
    """Return a warning that pass@k is unreliable if k > n/2, else None."""
    if k <= 1 or 2 * k <= n:
        return None
    return (
        f"pass@{k} from n = {n} samples is little more than whether any of them succeeded (one success "
        f"already gives {k / n:.2f}); sample n = {2 * k} or read a k of at most {max(1, n // 2)}"
    )


MAJORITY_DRAWS = 400
"""Number of random subsets per problem for ``maj_at_k``."""


def tally(answers: Iterable[tuple[str | None, bool]]) -> tuple[tuple[int, int], ...]:
    """Return (votes, correct votes) of each distinct answer, most votes first."""
    votes: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for answer, correct in answers:
        if answer is not None:
            votes[answer] += 1
            right[answer] += correct
    return tuple((count, right[answer]) for answer, count in votes.most_common())


def maj_at_k(
    answers: Sequence[tuple[int, int]], n: int, ks: Sequence[int], seed: int
) -> list[float]:
    """Return, for each k, the probability that the most frequent answer among k of ``n`` samples is correct.

    ``answers`` is the result of ``tally``. Ties are broken at random, and subsets without a vote count as wrong. The
    value is NaN if n < k, exact for k = 1 or if at most one answer occurs, and otherwise estimated from MAJORITY_DRAWS
    random subsets. See Wang et al. 2022, arXiv 2203.11171. Raises ValueError if there are more votes than samples.
    """
    voted = sum(count for count, _ in answers)
    if voted > n:
        raise ValueError(f"more votes than samples: votes={voted}, n={n}")
    simple = [_exact(answers, n, k) for k in ks]
    if all(v is not None for v in simple):
        return [v for v in simple if v is not None]
    drawn = _drawn(answers, n, [k for k in ks if k <= n], seed)
    return [drawn[k] if v is None else v for k, v in zip(ks, simple, strict=True)]


def _exact(answers: Sequence[tuple[int, int]], n: int, k: int) -> float | None:
    if n < k:
        return math.nan
    if not any(right for _, right in answers):
        return 0.0
    if k == 1:
        return sum(right for _, right in answers) / n
    if len(answers) > 1:
        return None
    count, right = answers[0]
    return right / count * (1.0 - math.comb(n - count, k) / math.comb(n, k))


def _drawn(
    answers: Sequence[tuple[int, int]], n: int, ks: Sequence[int], seed: int
) -> dict[int, float]:
    import numpy as np

    rng = np.random.default_rng(seed)
    size = len(answers)
    codes = np.full(n, size)
    codes[: sum(count for count, _ in answers)] = np.repeat(
        np.arange(size), [count for count, _ in answers]
    )
    order = rng.permuted(np.tile(codes, (MAJORITY_DRAWS, 1)), axis=1)
    order += np.arange(MAJORITY_DRAWS)[:, None] * (size + 1)
    share = np.array([right / count for count, right in answers])
    votes = np.zeros((MAJORITY_DRAWS, size + 1))
    shares, start = {}, 0
    for k in sorted(ks):
        part = order[:, start:k].ravel()
        votes += np.bincount(part, minlength=votes.size).reshape(votes.shape)
        start = k
        cast = votes[:, :size]
        tied = (cast == cast.max(axis=1, keepdims=True)) & (cast > 0)
        number = np.maximum(tied.sum(axis=1), 1)
        shares[k] = float(((tied * share).sum(axis=1) / number).mean())
    return shares


@dataclass(frozen=True, slots=True)
class Suspicion:
    """pass@k if a fraction ``rate`` of wrong answers is accepted: as observed, and corrected (``adjusted``).

    ``unsolvable_reads`` is the pass@k that a problem seems to have, on average, if all its answers are wrong.
    """

    k: int
    rate: float
    observed: float
    unsolvable_reads: float
    adjusted: Interval


LEAST_SURVIVORS = 1e-3
"""Minimum probability of rejecting k wrong answers for which ``suspicion`` corrects pass@k."""


def false_positive_reading(rate: float, k: int) -> float:
    """Return 1 - (1 - f)^k, the expected pass@k if all answers are wrong and a fraction f = ``rate`` is accepted.

    See Brown et al. 2024, arXiv 2407.21787. Raises ValueError for a rate outside [0, 1) or k < 1.
    """
    if not 0.0 <= rate < 1.0 or k < 1:
        raise ValueError(f"rate must be in [0, 1), and k at least 1: rate={rate}, k={k}")
    return -math.expm1(k * math.log1p(-rate))


def suspicion(
    problems: Sequence[Counted],
    k: int,
    rate: float,
    units: Units | None = None,
    how: Resampling | None = None,
) -> Suspicion:
    """Correct pass@k for a verifier that accepts a fraction ``rate`` (f) of wrong answers.

    A sample is rejected with probability (1 - p)(1 - f), so C(n-c, k) / C(n, k) / (1 - f)^k is an unbiased estimate of
    (1 - p)^k. ``adjusted`` is clipped at 0, and NaN if (1 - f)^k < LEAST_SURVIVORS.
    """
    import numpy as np

    from prorl_evaluation.stats.intervals import bounded_columns

    reading = false_positive_reading(rate, k)
    observed = np.array([pass_at_k(p.n, p.c, k) for p in problems], dtype=np.float64)
    survivors = 1.0 - reading
    if survivors < LEAST_SURVIVORS:
        survivors = math.nan
    adjusted = 1.0 - (1.0 - observed) / survivors
    lowest = 0.0 if math.isnan(survivors) else min(0.0, 1.0 - 1.0 / survivors)
    interval = bounded_columns(adjusted[:, None], (lowest, 1.0), units, how)[0]
    if not interval.count:
        defined = observed[~np.isnan(observed)]
        return Suspicion(
            k, rate, float(defined.mean()) if len(defined) else math.nan, reading, interval
        )
    value, low, high = (max(0.0, v) for v in (interval.value, interval.low, interval.high))
    clipped = Interval(value, low, high, interval.count, interval.undefined)
    return Suspicion(k, rate, float(np.nanmean(observed)), reading, clipped)
