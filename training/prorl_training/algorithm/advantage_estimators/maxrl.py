"""MaxRL: group mean off, divided by the group mean (Tajwar et al., arXiv 2602.02710; prime-rl's algo/max_rl.py).

With right-or-wrong rewards a prompt of pass rate p weighs about 1/p: the gradient of log p, the likelihood of a
right answer, instead of that of p. A group of n without a right answer gives nothing, so that in expectation the sum
over a group, divided by n, is exactly the gradient of the likelihood's expansion up to order n - 1, which is
pass@1 + pass@2 / 2 + ... + pass@(n - 1) / (n - 1) (a test counts it out over all outcomes).
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.algorithm.advantages import group_centred, group_mean
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def maxrl(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return (R - mean_group(R)) / mean_group(R); 0 in a group whose mean is not above 0."""
    del lengths, config
    mean = group_mean(rewards, groups)[groups]
    above = mean > 0
    divisor = torch.where(above, mean, torch.ones_like(mean))
    return torch.where(above, group_centred(rewards, groups) / divisor, torch.zeros_like(mean))


SPEC = AdvantageSpec(name="maxrl", advantages=maxrl)
