"""PPO's clip with separate bounds, dual clip, and the forced on-policy ratio.

Sources: PPO (arXiv 1707.06347, eq. 7), Clip-Higher of DAPO (2503.14476, eq. 8), dual clip (Ye et al.,
1912.09729, eq. 5), force_on_policy_ratio of NeMo-RL.
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config.algorithm import LossConfig
from prorl_training.spec import PolicyLoss, PolicyLossSpec

LOG_RATIO_LIMIT = 20.0
"""Bound of the log-ratio, so that exp cannot overflow (OpenRLHF and verl hold it at the same 20)."""


def clip(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A) for each token.

    r = exp(clamp(logprobs - old_logprobs, +-20)). ``dual_clip`` c > 1 holds the loss of a negative
    advantage at c |A|. ``on_policy_ratio`` sets r to 1 with the gradient of ``logprobs``, so nothing is
    ever clipped and ``old_logprobs`` plays no part.
    """
    del lengths
    base = logprobs.detach() if config.on_policy_ratio else old_logprobs
    ratio = (logprobs - base).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
    low, high = 1 - config.clip_low, 1 + config.clip_high
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    negative = advantages < 0
    clipped = ((ratio > high) & (advantages > 0)) | ((ratio < low) & negative)
    if config.dual_clip:
        floor = config.dual_clip * advantages
        clipped = clipped | (negative & (objective < floor))
        objective = torch.where(negative, torch.maximum(objective, floor), objective)
    share = clipped.to(ratio.dtype).sum() / max(clipped.numel(), 1)
    return PolicyLoss(-objective, share)


SPEC = PolicyLossSpec(
    name="clip",
    loss=clip,
    keys=("loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.on_policy_ratio"),
)
