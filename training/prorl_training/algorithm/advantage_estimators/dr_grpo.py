"""Dr. GRPO: the group mean off and nothing else (arXiv 2503.20783, section 3.2)."""

from __future__ import annotations

from torch import Tensor

from prorl_training.algorithm.advantages import group_centred
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def dr_grpo(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return R - mean_group(R)."""
    del lengths, config
    return group_centred(rewards, groups)


SPEC = AdvantageSpec(name="dr_grpo", advantages=dr_grpo)
