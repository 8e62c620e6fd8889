"""The policy loss of a config, by name. Sampler mismatch and the mean over tokens come after it."""

from __future__ import annotations

from torch import Tensor

from prorl_common import PluginError
from prorl_training.config.algorithm import LossConfig
from prorl_training.spec import POLICY_LOSSES, PolicyLoss


def policy_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> PolicyLoss:
    """Return the loss of each token (N,) by the loss that ``config.name`` names.

    The first three are (N,) float, ``lengths`` (B,) int tokens of each trajectory. Raises
    UnknownNameError, and PluginError when the loss returns another shape.
    """
    found = POLICY_LOSSES.get(config.name).loss(logprobs, old_logprobs, advantages, lengths, config)
    loss = found if isinstance(found, PolicyLoss) else PolicyLoss(found, logprobs.new_zeros(()))
    if loss.per_token.shape != logprobs.shape:
        raise PluginError(
            f"the policy loss {config.name!r} must return one number a token, shape "
            f"{tuple(logprobs.shape)}, and returned {tuple(loss.per_token.shape)}"
        )
    return loss
