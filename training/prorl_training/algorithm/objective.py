"""The loss of one pass over trajectories: policy loss, mismatch weights, KL, and what a token weighs.

Both engines differentiate what ``pass_loss`` returns, so that the same batch has the same loss and gradient on
either. Mismatch weights are ``mismatch``'s. Sources: for KL the ProRL v2 post (clamp of the log-ratio), OpenRLHF 0.11.2 models/utils.py (of the
estimate) and NeMo-RL (both); DAPO (arXiv 2503.14476, eq. 12) for the token mean, GRPO (2402.03300, eq. 3) for
the sequence mean, Dr. GRPO (2503.20783, section 3.2) for the constant divisor.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

import torch
from torch import Tensor

from prorl_training.algorithm.mismatch import mismatch_weights
from prorl_training.config.algorithm import KLConfig, LossConfig
from prorl_training.spec import (
    KL_ESTIMATORS,
    POLICY_LOSSES,
    PolicyLoss,
    check_vector,
    with_defaults,
)


class Tokens(NamedTuple):
    """The N response tokens of a pass, those of its B trajectories laid end to end; all (N,) float but ``lengths``.

    ``logprobs`` are the policy's, with gradient; ``old`` its own before the update (or, where another policy
    sampled, the sampler's); ``sampled`` the sampler's; ``reference`` None without a reference. ``weights`` are
    ``token_weights`` of the whole mini-batch, so that the passes of one add up. ``lengths`` (B,) int.
    """

    logprobs: Tensor
    old: Tensor
    sampled: Tensor
    reference: Tensor | None
    advantages: Tensor
    weights: Tensor
    lengths: Tensor


class PassLoss(NamedTuple):
    """A pass's part of a mini-batch's loss; scalars but ``kl``, the estimate (N,) or None without a reference.

    ``loss`` is to be differentiated: ``policy_loss`` plus the KL coefficient times the weighted sum of ``kl``.
    """

    loss: Tensor
    policy_loss: Tensor
    kl: Tensor | None
    clipped_fraction: Tensor
    masked_fraction: Tensor


def pass_loss(tokens: Tokens, loss: LossConfig, kl: KLConfig) -> PassLoss:
    """Return the loss of ``tokens``. Raises UnknownNameError and PluginError as the named parts do."""
    policy = policy_loss(tokens.logprobs, tokens.old, tokens.advantages, tokens.lengths, loss)
    mismatch = mismatch_weights(tokens.old, tokens.sampled, tokens.lengths, loss.mismatch)
    surrogate = (policy.per_token * mismatch.weights * tokens.weights).sum()
    total, estimate = surrogate, None
    if tokens.reference is not None:
        estimate = kl_penalty(tokens.logprobs, tokens.reference, kl)
        if kl.coefficient:
            total = surrogate + kl.coefficient * (estimate * tokens.weights).sum()
    return PassLoss(total, surrogate, estimate, policy.clipped_fraction, mismatch.masked_fraction)


def policy_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return the loss of each token (N,) by the loss that ``config.name`` names.

    The first three are (N,) float, ``lengths`` (B,) int tokens of each trajectory. Raises
    UnknownNameError, and PluginError when the loss returns another shape.
    """
    spec = POLICY_LOSSES.get(config.name)
    told = config.model_copy(update={"options": with_defaults(spec, config.options)})
    found = spec.loss(logprobs, old_logprobs, advantages, lengths, told)
    loss = found if isinstance(found, PolicyLoss) else PolicyLoss(found, logprobs.new_zeros(()))
    check_vector(f"the policy loss {config.name!r}", loss.per_token, logprobs, "token")
    return loss


def kl_penalty(logprobs: Tensor, ref_logprobs: Tensor, config: KLConfig) -> Tensor:
    """Return the estimate (N,) of KL(pi || pi_ref) at each token sampled from pi.

    With d = log pi - log pi_ref:

    - clamp ``input``: d is held within +-clamp_value first (for 10, k2 is at most 50; the gradient
      dies at |d| = 10).
    - ``output``: the estimate is held within +-clamp_value (for 10, k2's gradient dies at
      |d| = sqrt(20)).
    - ``both``: d within +-input_clamp_value, then the estimate within +-clamp_value.
    - ``none``: neither; k3 can then be infinite.

    The printed formula of the post has pi_old in place of pi, which has no gradient; here it is pi.
    Raises UnknownNameError, and PluginError when the estimate has another shape.
    """
    d = logprobs - ref_logprobs
    spec = KL_ESTIMATORS.get(config.estimator)
    told = config.model_copy(update={"options": with_defaults(spec, config.options)})

    def estimate(log_ratio: Tensor) -> Tensor:
        value = spec.estimate(log_ratio, told)
        check_vector(f"the KL estimate {config.estimator!r}", value, d, "token")
        return value

    match config.clamp:
        case "input":
            return estimate(d.clamp(-config.clamp_value, config.clamp_value))
        case "output":
            return estimate(d).clamp(-config.clamp_value, config.clamp_value)
        case "both":
            bounded = d.clamp(-config.input_clamp_value, config.input_clamp_value)
            return estimate(bounded).clamp(-config.clamp_value, config.clamp_value)
        case "none":
            return estimate(d)
        case _:
            assert_never(config.clamp)


def token_weights(lengths: Tensor, aggregation: str, max_tokens: int) -> Tensor:
    """Return the weight (N,) float32 of each token; sum(weights * losses) is the batch loss.

    ``lengths`` (B,) int tokens of each trajectory. ``token_mean``: 1 / N. ``sequence_mean``: a
    trajectory with tokens weighs 1 / (number of such trajectories), shared among its tokens.
    ``constant``: 1 / (B max_tokens). Raises ValueError for another name.
    """
    total = int(lengths.sum())
    if aggregation == "token_mean":
        weight = 1.0 / max(total, 1)
    elif aggregation == "constant":
        weight = 1.0 / max(len(lengths) * max_tokens, 1)
    elif aggregation == "sequence_mean":
        count = (lengths > 0).sum().clamp(min=1)
        return (1.0 / (lengths.double().clamp(min=1) * count)).float().repeat_interleave(lengths)
    else:
        raise ValueError(f"aggregation {aggregation!r}: token_mean, sequence_mean or constant")
    return torch.full((total,), weight, dtype=torch.float32, device=lengths.device)
