"""A policy loss of your own: PPO's clipping made soft. Beyond the bound, the gradient fades instead of stopping.

    prorl train --plugin examples/own_loss.py --set loss.name=soft_clip --set loss.options='{sharpness: 5.0}' ...

The trainer calls the function for the tokens of a batch, and weights and averages its result as the config says.
"""

import torch
from torch import Tensor

from prorl_training import PolicyLossSpec
from prorl_training.config.algorithm import LossConfig


def soft_clip(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> Tensor:
    """Return the loss of each token, (N,): -A r, where tanh keeps the ratio r within its bounds."""
    ratio = (logprobs - old_logprobs).clamp(-20, 20).exp()
    width = torch.where(ratio > 1, config.clip_high, config.clip_low)
    sharpness = float(config.options["sharpness"])
    bent = 1 + width * torch.tanh(sharpness * (ratio - 1) / width) / sharpness
    return -bent * advantages


SPEC = PolicyLossSpec(
    name="soft_clip",
    loss=soft_clip,
    keys=("loss.clip_low", "loss.clip_high"),
    options={"sharpness": 1.0},
)
