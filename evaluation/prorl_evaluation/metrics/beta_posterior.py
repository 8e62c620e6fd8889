"""pass@k from a posterior for each problem's success rate, instead of the unbiased estimate.

Each rate has the posterior Beta(c + 1/2, n - c + 1/2) (Jeffreys' prior); draws of it are pushed through
1 - (1 - p)^k. Compared with the unbiased estimate it needs no n >= k, and it never says 0 or 1; at k near or
above n the prior speaks loudly: a problem with no success in 128 samples reads 0.30 at k = 128. Leaves
out: priors learnt from the other problems (hierarchical models).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_evaluation.metrics.passk import Counted
from prorl_evaluation.stats.intervals import Interval, Resampling

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
