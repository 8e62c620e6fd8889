"""maj@k: is the most frequent answer of k samples right?

Answers are put to the vote text by text, as the verifier's ``vote`` writes them; two spellings of one number
may be two candidates. Votes are not weighed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

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
