"""Policy losses, chosen by ``loss.name``."""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config.algorithm import LossConfig
from prorl_training.spec import (
    POLICY_LOSSES,
    PolicyLoss,
    PolicyLossSpec,
    check_gradient,
    check_vector,
    with_defaults,
)

LOG_RATIO_LIMIT = 20.0
"""Bound of a log-ratio, so that exp cannot overflow (20 in OpenRLHF, and in verl as SAFETY_BOUND)."""


def policy_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return the loss (N,) of each token under the policy loss ``config.name``.

    The first three arguments are (N,) float, ``lengths`` (B,) int. Raises PluginError if the loss has a wrong shape or
    no gradient.
    """
    spec = POLICY_LOSSES.get(config.name)
    completed = config.model_copy(update={"options": with_defaults(spec, config.options)})
    value = spec.loss(logprobs, old_logprobs, advantages, lengths, completed)
    loss = value if isinstance(value, PolicyLoss) else PolicyLoss(value, logprobs.new_zeros(()))
    check_vector(f"the policy loss {config.name!r}", loss.per_token, logprobs, "token")
    check_gradient(POLICY_LOSSES, config.name, loss.per_token, logprobs)
    return loss


def clip(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return PPO's clipped loss of each token, -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A).

    Here r = exp(logprobs - old_logprobs). With ``on_policy_ratio``, r is 1 with the gradient of ``logprobs`` (NeMo-RL).
    Sources: PPO (arXiv 1707.06347, eq. 7), DAPO's Clip-Higher (2503.14476, eq. 8), dual clip (1912.09729, eq. 5).
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


CLIP = PolicyLossSpec(
    name="clip",
    loss=clip,
    keys=("loss.clip_low", "loss.clip_high", "loss.dual_clip", "loss.on_policy_ratio"),
)
