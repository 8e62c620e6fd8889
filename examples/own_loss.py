"""A policy loss of your own: PPO's clip, but soft. Past the bound the ratio's pull fades instead of stopping.

    prorl train --plugin examples/own_loss.py --set loss.name=soft_clip --set loss.options='{sharpness: 5.0}' ...

The trainer calls it for each token of a batch; what it returns is weighted and averaged as the config says.
"""

import torch
from torch import Tensor

from prorl_training import PolicyLossSpec
from prorl_training.config.algorithm import LossConfig


def soft_clip(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> Tensor:
    """Return the loss of each token, (N,): -A r, with the ratio r bent to its bounds by tanh."""
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
