"""GRPO: group mean off, divided by the group's spread (arXiv 2402.03300, section 4.1)."""

from __future__ import annotations

from torch import Tensor

from prorl_training.algorithm.advantages import divisor, group_centred, group_variance
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def grpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return R~ / (sigma_group + eps), R~ = R - mean_group(R)."""
    del lengths
    centred = group_centred(rewards, groups)
    return centred / divisor(group_variance(centred, groups, config.std), config)


SPEC = AdvantageSpec(
    name="grpo",
    advantages=grpo,
    keys=("advantage.std", "advantage.eps", "advantage.eps_in"),
)
