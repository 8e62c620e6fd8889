"""From rewards to advantages, by name, and the statistics over groups that the estimators share.

All sums are taken in float64.
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import ADVANTAGES, check_vector, with_defaults


def compute_advantages(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return the advantage (B,) of each trajectory, in the dtype of ``rewards``.

    ``rewards`` (B,) float; ``groups`` (B,) int, any ids, equal for the responses to one prompt;
    ``lengths`` (B,) int tokens of each response. Raises ValueError when the shapes differ,
    UnknownNameError, and PluginError when the estimator returns another shape.
    """
    if not rewards.shape == groups.shape == lengths.shape or rewards.dim() != 1:
        raise ValueError(
            f"rewards {tuple(rewards.shape)}, groups {tuple(groups.shape)} and lengths "
            f"{tuple(lengths.shape)} must be three vectors of one length"
        )
    index = torch.unique(groups, return_inverse=True)[1]
    estimator = ADVANTAGES.get(config.estimator)
    told = config.model_copy(update={"options": with_defaults(estimator, config.options)})
    value = estimator.advantages(rewards.double(), index, lengths, told)
    check_vector(f"the advantage {config.estimator!r}", value, rewards, "trajectory")
    return value.to(rewards.dtype)


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
