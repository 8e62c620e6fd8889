"""From rewards to advantages: REINFORCE++-baseline, GRPO with either spread, and Dr. GRPO.

Sources: the ProRL v2 post (2025-08-11) and REINFORCE++ (arXiv 2501.03262) for the baseline with batch
statistics; GRPO (2402.03300, section 4.1); Dr. GRPO (2503.20783, section 3.2);
the spread over the batch of TRL 1.16.0 (scale_rewards="batch"). All sums are taken in
float64. Leaves out: the rewards themselves and which groups are kept.
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config import AdvantageConfig


def compute_advantages(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return the advantage (B,) of each trajectory, in the dtype of ``rewards``.

    ``rewards`` (B,) float; ``groups`` (B,) int, any ids, equal for the responses to one prompt;
    ``lengths`` (B,) int tokens of each response, used with ``normalise: token`` only. With
    R~ = R - mean_group(R):

    - ``reinforce_baseline``: (R~ - mu) / (sigma + eps), mu and sigma of R~ over the batch, where a
      trajectory counts once or as many times as it has tokens.
    - ``grpo``: R~ / (sigma_group + eps).
    - ``batch_std``: R~ / (sigma_raw + eps), sigma_raw of R itself over the batch.
    - ``dr_grpo``: R~.

    ``eps_in: variance`` divides by sqrt(sigma^2 + eps) instead. ``std: sample`` divides the squares by the count less one. A group of equal rewards has R~ = 0
    exactly, whatever rounding does to its mean. Raises ValueError when the shapes differ.
    """
    if not rewards.shape == groups.shape == lengths.shape or rewards.dim() != 1:
        raise ValueError(
            f"rewards {tuple(rewards.shape)}, groups {tuple(groups.shape)} and lengths "
            f"{tuple(lengths.shape)} must be three vectors of one length"
        )
    index = torch.unique(groups, return_inverse=True)[1]
    centred = _group_centred(rewards.double(), index)
    if config.estimator == "reinforce_baseline":
        value = _whitened(centred, lengths, config)
    elif config.estimator == "grpo":
        value = centred / _divisor(_group_variance(centred, index, config.std), config)
    elif config.estimator == "batch_std":
        whole = torch.zeros_like(index)  # the batch as one group
        raw = _group_centred(rewards.double(), whole)
        value = centred / _divisor(_group_variance(raw, whole, config.std), config)
    else:
        value = centred
    return (config.sign * value).to(rewards.dtype)


def _group_centred(rewards: Tensor, index: Tensor) -> Tensor:
    """Return R - mean of its group (B,); exactly 0 where all of a group are equal."""
    mean = _group_mean(rewards, index)[index]
    size = int(index.max()) + 1 if index.numel() else 0
    empty = rewards.new_zeros(size)
    high = empty.scatter_reduce(0, index, rewards, "amax", include_self=False)
    low = empty.scatter_reduce(0, index, rewards, "amin", include_self=False)
    return torch.where((high == low)[index], torch.zeros_like(rewards), rewards - mean)


def _group_mean(values: Tensor, index: Tensor) -> Tensor:
    """Return the mean (G,) of ``values`` (B,) over each group."""
    count = torch.bincount(index).to(values.dtype)
    return torch.zeros_like(count).index_add_(0, index, values) / count


def _divisor(variance: Tensor, config: AdvantageConfig) -> Tensor:
    """Return sqrt(variance) + eps, or sqrt(variance + eps)."""
    if config.eps_in == "variance":
        return (variance + config.eps).sqrt()
    return variance.sqrt() + config.eps


def _group_variance(centred: Tensor, index: Tensor, std: str) -> Tensor:
    """Return the variance (B,) of each trajectory's group; 0 for a group of one."""
    count = torch.bincount(index).to(centred.dtype)
    variance = _group_mean(centred**2, index)
    if std == "sample":
        variance = variance * count / (count - 1).clamp(min=1)
    return variance[index]


def _whitened(centred: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return (R~ - mu) / (sigma + eps), with weights and eps as configured."""
    by_token = config.normalise == "token"
    weights = lengths.to(centred.dtype) if by_token else torch.ones_like(centred)
    count = weights.sum().clamp(min=1)
    mean = (weights * centred).sum() / count
    squares = (weights * (centred - mean) ** 2).sum()
    variance = squares / ((count - 1).clamp(min=1) if config.std == "sample" else count)
    return (centred - mean) / _divisor(variance, config)
