"""REINFORCE++-baseline: group mean off, then whitened over the batch.

Sources: the ProRL v2 post (2025-08-11), REINFORCE++ (arXiv 2501.03262).
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.algorithm.advantages import divisor, group_centred
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def reinforce_baseline(
    rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig
) -> Tensor:
    """Return (R~ - mu) / (sigma + eps), R~ = R - mean_group(R), mu and sigma of R~ over the batch.

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


SPEC = AdvantageSpec(
    name="reinforce_baseline",
    advantages=reinforce_baseline,
    keys=("advantage.normalise", "advantage.std", "advantage.eps", "advantage.eps_in"),
)
