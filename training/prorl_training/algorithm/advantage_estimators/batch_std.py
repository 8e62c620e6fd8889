"""Group mean off, divided by the raw rewards' spread over the batch (TRL 1.16.0, scale_rewards="batch")."""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.algorithm.advantages import divisor, group_centred, group_variance
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def batch_std(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return R~ / (sigma_raw + eps), R~ = R - mean_group(R), sigma_raw of R itself over the batch."""
    del lengths
    whole = torch.zeros_like(groups)  # the batch as one group
    raw = group_centred(rewards, whole)
    return group_centred(rewards, groups) / divisor(group_variance(raw, whole, config.std), config)


SPEC = AdvantageSpec(
    name="batch_std",
    advantages=batch_std,
    keys=("advantage.std", "advantage.eps", "advantage.eps_in"),
)
