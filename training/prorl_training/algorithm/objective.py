"""The loss of one pass over trajectories, put together: policy loss, mismatch weights, KL, token weights.

Both engines differentiate what this returns, so that the same batch has the same loss and gradient on either.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.mismatch import mismatch_weights
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config.algorithm import KLConfig, LossConfig


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
