"""Advantage estimators, chosen by ``advantage.estimator``, and the statistics over groups that they share.

All sums are taken in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

import torch
from torch import Tensor

from prorl_common import PluginError
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import ADVANTAGES, AdvantageSpec, check_vector, with_defaults
from prorl_training.types import Group


def advantages_of(groups: Sequence[Group], config: AdvantageConfig) -> Tensor:
    """Return the advantage (B,) of each scored response of the shaped groups, in order; empty without groups."""
    scored = [(number, t) for number, group in enumerate(groups) for t in group.scored]
    if not scored:
        return torch.zeros(0)
    return compute_advantages(
        torch.tensor([t.shaped for _, t in scored]),
        torch.tensor([number for number, _ in scored]),
        torch.tensor([len(t.completion.logprobs) for _, t in scored]),
        config,
    )


def compute_advantages(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return the advantage (B,) of each trajectory, in the dtype of ``rewards``.

    ``rewards`` (B,) float; ``groups`` (B,) int, any ids, equal for the responses to one prompt;
    ``lengths`` (B,) int tokens of each response. Raises ValueError when the shapes differ or a reward is not
    finite (a trajectory without a reward has no place here), UnknownNameError, and PluginError when the estimator
    returns another shape or what is not finite.
    """
    if not rewards.shape == groups.shape == lengths.shape or rewards.dim() != 1:
        raise ValueError(
            f"rewards {tuple(rewards.shape)}, groups {tuple(groups.shape)} and lengths "
            f"{tuple(lengths.shape)} must be three vectors of one length"
        )
    if not torch.isfinite(rewards).all():
        raise ValueError(
            "a reward is NaN or infinite: trajectories without a reward are left out before"
        )
    index = torch.unique(groups, return_inverse=True)[1]
    estimator = ADVANTAGES.get(config.estimator)
    told = config.model_copy(update={"options": with_defaults(estimator, config.options)})
    value = estimator.advantages(rewards.double(), index, lengths, told)
    check_vector(f"the advantage {config.estimator!r}", value, rewards, "trajectory")
    if not torch.isfinite(value).all():
        raise PluginError(
            f"the advantage {config.estimator!r} ({ADVANTAGES.origin(config.estimator).source}) of the rewards "
            f"{rewards.tolist()!r:.200} is NaN or infinite: a divisor may be 0"
        )
    return value.to(rewards.dtype)


def reinforce_baseline(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """REINFORCE++-baseline (arXiv 2501.03262, the ProRL v2 post): group mean off, then whitened over the batch.

    Returns (R~ - mu) / (sigma + eps), R~ = R - mean_group(R), mu and sigma of R~ over the batch.
    With ``normalise: token`` a trajectory counts as many times as it has tokens; ``std: sample``
    divides the squares by the count less one.
    """
    centred = group_centred(rewards, groups)
    by_token = config.normalise == "token"
    weights = lengths.to(centred.dtype) if by_token else torch.ones_like(centred)
    count = weights.sum().clamp(min=1)
    mean = (weights * centred).sum() / count
    squares = (weights * (centred - mean) ** 2).sum()
    variance = squares / ((count - 1).clamp(min=1) if config.std == "sample" else count)
    return (centred - mean) / divisor(variance, config)


REINFORCE_BASELINE = AdvantageSpec(
    name="reinforce_baseline",
    advantages=reinforce_baseline,
    keys=("advantage.normalise", "advantage.std", "advantage.eps", "advantage.eps_in"),
)


def grpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """GRPO (arXiv 2402.03300, section 4.1): return R~ / (sigma_group + eps), R~ = R - mean_group(R)."""
    del lengths
    centred = group_centred(rewards, groups)
    return centred / divisor(group_variance(centred, groups, config.std), config)


GRPO = AdvantageSpec(
    name="grpo",
    advantages=grpo,
    keys=("advantage.std", "advantage.eps", "advantage.eps_in"),
)


def batch_std(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """TRL 1.16.0, scale_rewards="batch": return R~ / (sigma_raw + eps), R~ = R - mean_group(R).

    sigma_raw is the spread of R itself over the batch.
    """
    del lengths
    whole = torch.zeros_like(groups)  # the batch as one group
    raw = group_centred(rewards, whole)
    return group_centred(rewards, groups) / divisor(group_variance(raw, whole, config.std), config)


BATCH_STD = AdvantageSpec(
    name="batch_std",
    advantages=batch_std,
    keys=("advantage.std", "advantage.eps", "advantage.eps_in"),
)


def dr_grpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Dr. GRPO (arXiv 2503.20783, section 3.2): return R - mean_group(R)."""
    del lengths, config
    return group_centred(rewards, groups)


DR_GRPO = AdvantageSpec(name="dr_grpo", advantages=dr_grpo)


def maxrl(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """MaxRL (Tajwar et al., arXiv 2602.02710): return (R - mean_group(R)) / mean_group(R).

    0 in a group whose mean is not above 0. With right-or-wrong rewards a prompt of pass rate p weighs about 1/p: the
    gradient of log p, the likelihood of a right answer, instead of that of p. Summed over a group and divided by n it
    is in expectation the gradient of pass@1 + pass@2 / 2 + ... + pass@(n - 1) / (n - 1), the likelihood's expansion
    up to order n - 1.
    """
    del lengths, config
    mean = group_mean(rewards, groups)[groups]
    above = mean > 0
    scale = torch.where(above, mean, torch.ones_like(mean))
    return torch.where(above, group_centred(rewards, groups) / scale, torch.zeros_like(mean))


MAXRL = AdvantageSpec(name="maxrl", advantages=maxrl)


def pass_at_k(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Pass@k training (Chen et al., arXiv 2508.10751, analytic form): what a response adds to the best of k.

    Returns (mean of the best over the k-subsets with this response - mean over all) / their std, where the paper
    deals a group's n responses into every subset of k and rewards each subset with its best response. The mean is
    taken from the order of the rewards alone, so that a length penalty or partial credit counts; on rewards of 0 and
    1 it equals the paper's closed form to rounding, and k = 1 is GRPO with the population's std.

    0 where all subsets are worth the same: with fewer than k wrong answers, and in a group of no more than k.
    """
    del lengths
    advantages = torch.zeros_like(rewards)
    for group in range(int(groups.max()) + 1 if groups.numel() else 0):
        rows = (groups == group).nonzero().flatten()
        if len(rows) > config.k:
            advantages[rows] = _best_of_k(rewards[rows], config)
    return advantages


def _best_of_k(rewards: Tensor, config: AdvantageConfig) -> Tensor:
    """Return the advantages (n,) of one group of n > k."""
    n, k = len(rewards), config.k
    best, alone, above = (rewards.new_tensor(w) for w in _subset_weights(n, k))
    values, order = rewards.sort(stable=True)
    values = values - values[-1]  # the best is 0: equal subsets have no spread to the last bit
    mean = (best * values).sum()
    variance = (best * (values - mean) ** 2).sum()
    if variance == 0:
        return torch.zeros_like(rewards)
    better = (above * values).flip(0).cumsum(0).flip(0)  # at j: of j and all above it
    including = alone * values + better - above * values
    return torch.empty_like(rewards).scatter_(
        0, order, (including - mean) / divisor(variance, config)
    )


@lru_cache(maxsize=64)
def _subset_weights(n: int, k: int) -> tuple[list[float], list[float], list[float]]:
    """Return for each place in rising order the share of k-subsets (n,) whose best it is: of all of them; of those
    that contain it; of those that contain a given lower place."""
    every, others = comb(n, k), comb(n - 1, k - 1)
    best = [comb(j, k - 1) / every for j in range(n)]
    alone = [comb(j, k - 1) / others for j in range(n)]
    above = [comb(j - 1, k - 2) / others if j and k > 1 else 0.0 for j in range(n)]
    return best, alone, above


PASS_AT_K = AdvantageSpec(
    name="pass_at_k",
    advantages=pass_at_k,
    keys=("advantage.k", "advantage.eps", "advantage.eps_in"),
)


def group_centred(rewards: Tensor, index: Tensor) -> Tensor:
    """Return R - mean of its group (B,); exactly 0 where all of a group are equal.

    ``index`` (B,) int numbers the groups from 0.
    """
    mean = group_mean(rewards, index)[index]
    size = int(index.max()) + 1 if index.numel() else 0
    empty = rewards.new_zeros(size)
    high = empty.scatter_reduce(0, index, rewards, "amax", include_self=False)
    low = empty.scatter_reduce(0, index, rewards, "amin", include_self=False)
    return torch.where((high == low)[index], torch.zeros_like(rewards), rewards - mean)


def group_variance(centred: Tensor, index: Tensor, std: str) -> Tensor:
    """Return the variance (B,) of each trajectory's group; 0 for a group of one."""
    variance = group_mean(centred**2, index)
    if std == "sample":
        count = torch.bincount(index).to(centred.dtype)
        variance = variance * count / (count - 1).clamp(min=1)
    return variance[index]


def divisor(variance: Tensor, config: AdvantageConfig) -> Tensor:
    """Return sqrt(variance) + eps, or with ``eps_in: variance`` sqrt(variance + eps)."""
    if config.eps_in == "variance":
        return (variance + config.eps).sqrt()
    return variance.sqrt() + config.eps


def group_mean(values: Tensor, index: Tensor) -> Tensor:
    """Return the mean (G,) of ``values`` (B,) over each group; ``index`` (B,) int numbers the groups from 0."""
    count = torch.bincount(index).to(values.dtype)
    return torch.zeros_like(count).index_add_(0, index, values) / count
