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
"""Log-ratios are clamped to +-20, as in OpenRLHF and verl (SAFETY_BOUND), so that exp cannot overflow."""


def policy_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return the loss (N,) of each token under the policy loss ``config.name``.

    The first three arguments are (N,) float, ``lengths`` (B,) int. With ``on_policy_ratio``, ``logprobs`` without
    gradient replace ``old_logprobs`` (NeMo-RL). Raises PluginError if the loss has a wrong shape or no gradient.
    """
    spec = POLICY_LOSSES.get(config.name)
    completed = config.model_copy(update={"options": with_defaults(spec, config.options)})
    base = logprobs.detach() if config.on_policy_ratio else old_logprobs
    value = spec.loss(logprobs, base, advantages, lengths, completed)
    loss = value if isinstance(value, PolicyLoss) else PolicyLoss(value, logprobs.new_zeros(()))
    check_vector(f"the policy loss {config.name!r}", loss.per_token, logprobs, "token")
    check_gradient(POLICY_LOSSES, config.name, loss.per_token, logprobs)
    return loss


def clip(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return PPO's clipped loss of each token, -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A).

    Here r = exp(logprobs - old_logprobs). Sources: PPO (arXiv 1707.06347, eq. 7), DAPO's Clip-Higher (2503.14476, eq.
    8), dual clip (1912.09729, eq. 5).
    """
    del lengths
    return _clipped(_ratio(logprobs, old_logprobs), advantages, config)


def _ratio(logprobs: Tensor, old_logprobs: Tensor) -> Tensor:
    return (logprobs - old_logprobs).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()


def _clipped(ratio: Tensor, advantages: Tensor, config: LossConfig) -> PolicyLoss:
    low, high = 1 - config.clip_low, 1 + config.clip_high
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    negative = advantages < 0
    clipped = ((ratio > high) & (advantages > 0)) | ((ratio < low) & negative)
    if config.dual_clip:
        floor = config.dual_clip * advantages
        clipped = clipped | (negative & (objective < floor))
        objective = torch.where(negative, torch.maximum(objective, floor), objective)
    return PolicyLoss(-objective, _share(clipped))


def _share(flags: Tensor) -> Tensor:
    return flags.to(torch.float32).sum() / max(flags.numel(), 1)


CLIPPED = ("loss.clip_low", "loss.clip_high", "loss.dual_clip")
CLIP = PolicyLossSpec(name="clip", loss=clip, keys=CLIPPED)


def gspo(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return GSPO's loss of each token: ``clip`` with the ratio of its sequence (arXiv 2507.18071, eq. 6 and 7).

    The sequence's ratio is the geometric mean of its token ratios, and its gradient goes through every token (eq. 14).
    The paper averages over sequences (``loss.aggregation: sequence_mean``). Reference: verl, core_algos.py,
    compute_policy_loss_gspo.
    """
    mean = per_sequence((logprobs - old_logprobs).detach(), lengths, mean=True)
    return _clipped(_ratio(logprobs, logprobs.detach() - mean), advantages, config)


def per_sequence(values: Tensor, lengths: Tensor, mean: bool) -> Tensor:
    """Return, for each token (N,), the sum or mean of ``values`` (N,) over its sequence. ``lengths`` are (B,)."""
    owner = torch.arange(len(lengths), device=values.device).repeat_interleave(
        lengths, output_size=len(values)
    )
    total = values.new_zeros(len(lengths)).index_add_(0, owner, values)
    return (total / lengths.to(values.dtype).clamp(min=1) if mean else total)[owner]


GSPO = PolicyLossSpec(name="gspo", loss=gspo, keys=CLIPPED)


def cispo(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return CISPO's loss of each token, -sg(clip(r, 1 - clip_low, 1 + clip_high)) A logprobs (arXiv 2506.13585).

    Clipped tokens keep their gradient. The paper clips r only from above (eq. 4 and 5), as with ``clip_low`` near 1.
    Reference: verl, core_algos.py, compute_policy_loss_cispo.
    """
    del lengths
    ratio = _ratio(logprobs, old_logprobs).detach()
    weight = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
    return PolicyLoss(-weight * advantages * logprobs, _share(weight != ratio))


CISPO = PolicyLossSpec(name="cispo", loss=cispo, keys=("loss.clip_low", "loss.clip_high"))


def dppo_tv(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return DPPO's loss of each token with the binary total-variation mask (arXiv 2602.04879).

    The loss is -sg(min(r, max_ratio)) A logprobs. It is 0 if the token's probability p has moved too far: p - p_old >
    ``high`` for A > 0, or p_old - p > ``low`` for A <= 0. In the paper p_old is the sampler's (``loss.old_logprobs:
    sampler``). Reference: verl, core_algos.py, compute_policy_loss_dppo_tv.
    """
    del lengths
    moved = logprobs.detach().exp() - old_logprobs.exp()
    return _masked(logprobs, old_logprobs, advantages, moved, moved.abs(), config)


def dppo_kl(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return DPPO's loss like ``dppo_tv``, but with KL(Bernoulli(p_old) || Bernoulli(p)) as the distance.

    As in verl, 1e-8 is added to 1 - p and 1 - p_old.
    """
    del lengths
    new = logprobs.detach()
    p, before = new.exp(), old_logprobs.exp()
    rest = torch.log((1 - before + 1e-8) / (1 - p + 1e-8))
    distance = before * (old_logprobs - new) + (1 - before) * rest
    return _masked(logprobs, old_logprobs, advantages, p - before, distance, config)


def _masked(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    moved: Tensor,
    distance: Tensor,
    config: LossConfig,
) -> PolicyLoss:
    options = config.options
    up = advantages > 0
    away = torch.where(up, moved > 0, moved < 0)
    far = torch.where(up, distance > options["high"], distance > options["low"])
    weight = _ratio(logprobs, old_logprobs).detach().clamp(max=options["max_ratio"])
    dropped = away & far
    loss = -weight * advantages * logprobs
    return PolicyLoss(torch.where(dropped, torch.zeros_like(loss), loss), _share(dropped))


DPPO_TV = PolicyLossSpec(
    name="dppo_tv", loss=dppo_tv, options={"low": 0.15, "high": 0.15, "max_ratio": 20.0}
)
DPPO_KL = PolicyLossSpec(
    name="dppo_kl", loss=dppo_kl, options={"low": 0.05, "high": 0.05, "max_ratio": 20.0}
)


def sapo(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return SAPO's loss of each token, -A (4 / tau) sigmoid(tau (r - 1)) (arXiv 2511.20347, eq. 5 to 7).

    tau is ``positive`` if A > 0, else ``negative``. The paper averages over sequences, ``loss.aggregation:
    sequence_mean``. Reference: verl, core_algos.py, compute_policy_loss_sapo.
    """
    del lengths
    ratio = _ratio(logprobs, old_logprobs)
    options = config.options
    tau = torch.where(advantages > 0, options["positive"], options["negative"]).to(ratio)
    return PolicyLoss(-advantages * torch.sigmoid(tau * (ratio - 1)) * 4 / tau, ratio.new_zeros(()))


SAPO = PolicyLossSpec(name="sapo", loss=sapo, options={"positive": 1.0, "negative": 1.05})
