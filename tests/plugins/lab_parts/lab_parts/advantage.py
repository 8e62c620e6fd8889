"""An advantage estimator: each reward minus the best of its group."""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training import AdvantageSpec
from prorl_training.config import AdvantageConfig


def below_best(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return R - max_group(R) (B,)."""
    best = torch.full((int(groups.max()) + 1,), -torch.inf, dtype=rewards.dtype)
    return rewards - best.scatter_reduce(0, groups, rewards, "amax")[groups]


SPEC = AdvantageSpec(name="below_best", advantages=below_best)
