"""What the verdicts on one problem's samples say: pass@k, G-pass@k, maj@k, posteriors, wrong accepts."""

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
    """Return 1 - C(n-c, k) / C(n, k): the unbiased estimate from ``c`` successes in ``n`` samples.

    Source: Chen et al. 2021, arXiv 2107.03374, equation 1, evaluated as a product of ratios so that no
    large integer or factorial appears. NaN when ``n < k``: fewer samples than k cannot say anything.

    Raises ValueError when a count is negative, ``c > n`` or ``k < 1``.
    """
    if n < 0 or c < 0 or k < 1:
        raise ValueError(f"counts must not be negative and k at least 1: c={c}, k={k}, n={n}")
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


def ks_up_to(n: int, wanted: Iterable[int] = ()) -> tuple[int, ...]:
    """Return every power of two up to ``n`` and the ``wanted`` values up to ``n``, ascending."""
    powers = {1 << i for i in range(n.bit_length()) if 1 << i <= n}
    return tuple(sorted(powers | {k for k in wanted if 1 <= k <= n}))


class Counted(Protocol):
    """Anything with ``n`` samples judged, ``c`` of them right."""

    @property
    def n(self) -> int:
        """Samples judged."""

    @property
    def c(self) -> int:
        """Samples with full marks."""


def pass_at_k_table(problems: Sequence[Counted], ks: Sequence[int]) -> Floats:
    """Return pass@k of each problem and k, shape [problems, ks]; NaN where n < k.

    Every problem keeps its row; see :func:`pass_at_k` for the estimate and what is raised.
    """
    import numpy as np

    known: dict[tuple[int, int], list[float]] = {}
    rows = []
    for p in problems:
        if (p.n, p.c) not in known:
            known[(p.n, p.c)] = [pass_at_k(p.n, p.c, k) for k in ks]
        rows.append(known[(p.n, p.c)])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ks))


def g_pass_at_k(n: int, c: int, k: int, tau: float) -> float:
    """Return the chance that at least ceil(tau k) of k samples are right, from ``c`` of ``n``.

    sum over j of C(c, j) C(n-c, k-j) / C(n, k) for j from ceil(tau k), at least 1: Liu et al. 2024,
    arXiv 2412.13147, definition of G-Pass@k. Exact integers. ``tau`` near 0 gives pass@k, 1 asks for all
    k. NaN when n < k. Raises ValueError as ``pass_at_k`` does, or for a tau outside [0, 1].
    """
    if not 0.0 <= tau <= 1.0:
        raise ValueError(f"tau must lie between 0 and 1: {tau}")
    if math.isnan(pass_at_k(n, c, k)):
        return math.nan
    least = max(1, math.ceil(tau * k - 1e-9))
    ways = sum(math.comb(c, j) * math.comb(n - c, k - j) for j in range(least, min(c, k) + 1))
    return ways / math.comb(n, k)


def near_n_warning(n: int, k: int) -> str | None:
    """Return a sentence when k > n/2, where pass@k is little more than "did any sample succeed?".

    With c successes the estimate is then at least 1 - 2^-c, whatever the true rate.
    """
    if k <= 1 or 2 * k <= n:
        return None
    return (
        f"pass@{k} from n = {n} samples is little more than whether any of them succeeded (one success "
        f"already gives {k / n:.2f}); sample n = {2 * k} or read a k of at most {max(1, n // 2)}"
    )


MAJORITY_DRAWS = 400
"""Random subsets a problem and k."""


def tally(answers: Iterable[tuple[str | None, bool]]) -> tuple[tuple[int, int], ...]:
    """Return (votes, right votes) of each distinct answer, most votes first; None casts no vote."""
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
    """Return for each k the chance that the plurality of k of ``n`` samples is right; NaN where n < k.

    ``answers`` is a :func:`tally`; samples without an answer cast no vote, and where none votes the
    outcome is wrong. A tie is broken at random among the tied. Exact where one answer has all votes or
    k = 1, else the mean over MAJORITY_DRAWS seeded random subsets without replacement: unbiased, with
    a standard error of at most 0.5 / sqrt(MAJORITY_DRAWS) a problem. Source of maj@k: Wang et al. 2022,
    arXiv 2203.11171 (self-consistency). Raises ValueError when there are more votes than samples.
    """
    voted = sum(count for count, _ in answers)
    if voted > n:
        raise ValueError(f"more votes than samples: {voted}, n={n}")
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
    found, start = {}, 0
    for k in sorted(ks):
        part = order[:, start:k].ravel()
        votes += np.bincount(part, minlength=votes.size).reshape(votes.shape)
        start = k
        cast = votes[:, :size]
        tied = (cast == cast.max(axis=1, keepdims=True)) & (cast > 0)
        number = np.maximum(tied.sum(axis=1), 1)
        found[k] = float(((tied * share).sum(axis=1) / number).mean())
    return found


PRIOR = 0.5
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class PosteriorPassAtK:
    """Mean pass@k and two intervals of it.

    ``fixed`` asks about these very problems: the only doubt is each problem's rate. ``resampled`` asks
    about problems like these: the problems are resampled too (Dirichlet weights, Rubin 1981).
    """

    k: int
    fixed: Interval
    resampled: Interval


def beta_posterior(
    problems: Sequence[Counted], ks: Sequence[int], how: Resampling | None = None
) -> list[PosteriorPassAtK]:
    """Return posterior mean and central credible intervals of mean pass@k for each of ``ks``.

    Problems without a judged sample are left out and counted in ``undefined``.
    """
    import numpy as np

    how = how or Resampling()
    judged = [p for p in problems if p.n > 0]
    undefined = len(problems) - len(judged)
    if not judged:
        nothing = Interval(math.nan, math.nan, math.nan, 0, undefined)
        return [PosteriorPassAtK(k, nothing, nothing) for k in ks]
    rng = np.random.default_rng(how.seed)
    right = np.array([p.c + PRIOR for p in judged])
    wrong = np.array([p.n - p.c + PRIOR for p in judged])
    fixed, resampled = (np.empty((how.draws, len(ks))) for _ in range(2))
    step = max(1, _BLOCK // len(judged))
    for start in range(0, how.draws, step):
        stop = min(start + step, how.draws)
        shape = (stop - start, len(judged))
        failing = np.log1p(-np.minimum(rng.beta(right, wrong, shape), 1.0 - 1e-15))
        weights = rng.standard_gamma(1.0, shape)
        weights /= weights.sum(axis=1, keepdims=True)
        for j, k in enumerate(ks):
            solved = -np.expm1(k * failing)
            fixed[start:stop, j] = solved.mean(axis=1)
            resampled[start:stop, j] = (weights * solved).sum(axis=1)
    tail = (1.0 - how.level) / 2.0
    found = []
    for j, k in enumerate(ks):
        mean = float(fixed[:, j].mean())
        ends = [np.quantile(draws[:, j], [tail, 1.0 - tail]) for draws in (fixed, resampled)]
        pair = [
            Interval(mean, float(low), float(high), len(judged), undefined) for low, high in ends
        ]
        found.append(PosteriorPassAtK(k, *pair))
    return found


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

    from prorl_evaluation.stats.intervals import bounded_columns

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
