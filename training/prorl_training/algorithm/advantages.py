"""Advantage estimators, chosen by ``advantage.estimator``. All sums are taken in float64."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import Any

import torch
from torch import Tensor

from prorl_common import PluginError
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import ADVANTAGES, AdvantageSpec, check_vector, with_defaults
from prorl_training.types import Group, Trajectory


def advantages_of(groups: Sequence[Group], config: AdvantageConfig) -> Tensor:
    """Return the advantages (B,) of all scored responses, in the order of ``groups``."""
    scored = [(number, t) for number, group in enumerate(groups) for t in group.scored]
    if not scored:
        return torch.zeros(0)
    rewards: list[Any] = [t.shaped for _, t in scored]
    if ADVANTAGES.get(config.estimator).several:
        rewards = [[_reward(t, name) for name in config.reward_weights] for _, t in scored]
    return compute_advantages(
        torch.tensor(rewards),
        torch.tensor([number for number, _ in scored]),
        torch.tensor([t.completion.sampled_tokens for _, t in scored]),
        config,
    )


def _reward(trajectory: Trajectory, name: str) -> float:
    if name == "raw":
        return trajectory.reward
    if name == "shaping":
        return trajectory.shaped - trajectory.reward
    value = trajectory.verdict.metrics.get(name, 0.0)
    return value if isinstance(value, float | int) else 0.0


def compute_advantages(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return the advantage (B,) of each trajectory.

    ``rewards`` are (B,) float, or (B, R) if the estimator takes R rewards. ``groups`` (B,) are prompt indices,
    ``lengths`` (B,) numbers of tokens. Raises ValueError for unequal shapes or a reward that is not finite, PluginError
    if an advantage is not finite.
    """
    estimator = ADVANTAGES.get(config.estimator)
    several = (len(config.reward_weights),) if estimator.several else ()
    if (
        groups.dim() != 1
        or lengths.shape != groups.shape
        or rewards.shape != groups.shape + several
    ):
        raise ValueError(
            f"rewards {tuple(rewards.shape)}, groups {tuple(groups.shape)} and lengths "
            f"{tuple(lengths.shape)} must have the same length"
        )
    if not torch.isfinite(rewards).all():
        raise ValueError(
            "a reward is NaN or infinite: trajectories without a reward must be removed first"
        )
    index = torch.unique(groups, return_inverse=True)[1]
    completed = config.model_copy(update={"options": with_defaults(estimator, config.options)})
    value = estimator.advantages(rewards.double(), index, lengths, completed)
    check_vector(f"the advantage {config.estimator!r}", value, groups, "trajectory")
    if not torch.isfinite(value).all():
        raise PluginError(
            f"the advantage {config.estimator!r} ({ADVANTAGES.origin(config.estimator).source}) of the rewards "
            f"{rewards.tolist()!r:.200} is NaN or infinite: look for a division by 0"
        )
    return value.to(rewards.dtype)


def reinforce_baseline(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return REINFORCE++-baseline's advantages (B,) (arXiv 2501.03262, ProRL v2 post).

    They are (R~ - mu) / (sigma + eps) with R~ = R - mean_group(R), where mu and sigma are the mean and standard
    deviation of R~ over the batch. With ``normalise: token`` mu and sigma weight each trajectory by its length.
    """
    return _whitened(group_centred(rewards, groups), lengths, config)


def _whitened(values: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    by_token = config.normalise == "token"
    weights = lengths.to(values.dtype) if by_token else torch.ones_like(values)
    count = weights.sum().clamp(min=1)
    mean = (weights * values).sum() / count
    squares = (weights * (values - mean) ** 2).sum()
    variance = squares / ((count - 1).clamp(min=1) if config.std == "sample" else count)
    return (values - mean) / divisor(variance, config)


REINFORCE_BASELINE = AdvantageSpec(
    name="reinforce_baseline",
    advantages=reinforce_baseline,
    keys=("advantage.normalise", "advantage.std", "advantage.eps", "advantage.eps_in"),
)


def grpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return GRPO's advantages (B,), (R - mean_group(R)) / (std_group(R) + eps) (arXiv 2402.03300, section 4.1)."""
    del lengths
    centred = group_centred(rewards, groups)
    return centred / divisor(group_variance(centred, groups, config.std), config)


GRPO = AdvantageSpec(
    name="grpo", advantages=grpo, keys=("advantage.std", "advantage.eps", "advantage.eps_in")
)


def gdpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return GDPO's advantages (B,) of ``rewards`` (B, R) (arXiv 2601.05242, section 3).

    Each of the R rewards is normalised within its group as in ``grpo``. The weighted sum of the results is normalised
    over the batch as in ``reinforce_baseline``. Reference: TRL, grpo_trainer.py, normalize_then_sum.
    """
    columns = zip(rewards.unbind(1), config.reward_weights.values(), strict=True)
    total = torch.zeros_like(rewards[:, 0])
    for reward, weight in columns:
        total += weight * grpo(reward, groups, lengths, config)
    return _whitened(total, lengths, config)


GDPO = AdvantageSpec(
    name="gdpo",
    advantages=gdpo,
    keys=("advantage.rewards", *REINFORCE_BASELINE.keys),
    several=True,
)


def batch_std(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return (R - mean_group(R)) / (std_batch(R) + eps) (B,), as TRL 1.16.0 does for scale_rewards="batch"."""
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
    """Return Dr. GRPO's advantages (B,), R - mean_group(R) (arXiv 2503.20783, section 3.2)."""
    del lengths, config
    return group_centred(rewards, groups)


DR_GRPO = AdvantageSpec(name="dr_grpo", advantages=dr_grpo)


def maxrl(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return MaxRL's advantages (B,) (arXiv 2602.02710).

    They are (R - mean_group(R)) / mean_group(R), or 0 in groups whose mean is not positive. The expected gradient
    approximates that of log pass@1.
    """
    del lengths, config
    mean = group_mean(rewards, groups)[groups]
    above = mean > 0
    scale = torch.where(above, mean, torch.ones_like(mean))
    return torch.where(above, group_centred(rewards, groups) / scale, torch.zeros_like(mean))


MAXRL = AdvantageSpec(name="maxrl", advantages=maxrl)


def pass_at_k(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return Pass@k training's advantages (B,), by the analytic form of arXiv 2508.10751.

    The value of a subset of k responses is its best reward. A response's advantage is the mean value of the subsets
    that contain it minus the mean over all subsets, divided by the standard deviation over all subsets (0 if all values
    are equal). With k = 1 this is GRPO.
    """
    del lengths
    advantages = torch.zeros_like(rewards)
    for group in range(int(groups.max()) + 1 if groups.numel() else 0):
        rows = (groups == group).nonzero().flatten()
        if len(rows) > config.k:
            advantages[rows] = _best_of_k(rewards[rows], config)
    return advantages


def _best_of_k(rewards: Tensor, config: AdvantageConfig) -> Tensor:
    n, k = len(rewards), config.k
    best, alone, above = (rewards.new_tensor(w) for w in _subset_weights(n, k))
    values, order = rewards.sort(stable=True)
    values = values - values[-1]  # shifted so that equal subsets have a variance of exactly 0
    mean = (best * values).sum()
    variance = (best * (values - mean) ** 2).sum()
    if variance == 0:
        return torch.zeros_like(rewards)
    better = (above * values).flip(0).cumsum(0).flip(0)  # at j: sum over ranks j and above
    including = alone * values + better - above * values
    return torch.empty_like(rewards).scatter_(
        0, order, (including - mean) / divisor(variance, config)
    )


@lru_cache(maxsize=64)
def _subset_weights(n: int, k: int) -> tuple[list[float], list[float], list[float]]:
    """Return three lists of fractions of the k-subsets of n elements, with an entry for each rank j (ascending).

    - best: of all subsets, those whose best element is j.
    - alone: of the subsets that contain j, those whose best element is j.
    - above: of the subsets that contain a given lower element, those whose best element is j.
    """
    every, with_one = comb(n, k), comb(n - 1, k - 1)
    best = [comb(j, k - 1) / every for j in range(n)]
    alone = [comb(j, k - 1) / with_one for j in range(n)]
    above = [comb(j - 1, k - 2) / with_one if j and k > 1 else 0.0 for j in range(n)]
    return best, alone, above


PASS_AT_K = AdvantageSpec(
    name="pass_at_k",
    advantages=pass_at_k,
    keys=("advantage.k", "advantage.eps", "advantage.eps_in"),
)


def group_centred(rewards: Tensor, index: Tensor) -> Tensor:
    """Return R - mean_group(R) (B,), exactly 0 in groups of equal rewards. ``index`` (B,) numbers groups from 0."""
    mean = group_mean(rewards, index)[index]
    size = int(index.max()) + 1 if index.numel() else 0
    empty = rewards.new_zeros(size)
    high = empty.scatter_reduce(0, index, rewards, "amax", include_self=False)
    low = empty.scatter_reduce(0, index, rewards, "amin", include_self=False)
    return torch.where((high == low)[index], torch.zeros_like(rewards), rewards - mean)


def group_variance(centred: Tensor, index: Tensor, std: str) -> Tensor:
    variance = group_mean(centred**2, index)
    if std == "sample":
        count = torch.bincount(index).to(centred.dtype)
        variance = variance * count / (count - 1).clamp(min=1)
    return variance[index]


def divisor(variance: Tensor, config: AdvantageConfig) -> Tensor:
    if config.eps_in == "variance":
        return (variance + config.eps).sqrt()
    return variance.sqrt() + config.eps


def group_mean(values: Tensor, index: Tensor) -> Tensor:
    count = torch.bincount(index).to(values.dtype)
    return torch.zeros_like(count).index_add_(0, index, values) / count
