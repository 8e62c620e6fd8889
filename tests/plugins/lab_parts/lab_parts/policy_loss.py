"""A policy loss: the importance-weighted objective with a lower bound."""

from __future__ import annotations

from torch import Tensor

from prorl_training import PolicyLossSpec
from prorl_training.config import LossConfig


def plain(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, lengths: Tensor, config: LossConfig
) -> Tensor:
    """Return -max(r A, floor) for each token (N,), where r is the ratio to the old policy."""
    ratio = (logprobs - old_logprobs).exp()
    return -(ratio * advantages).clamp(min=config.options.get("floor", -10.0))


SPEC = PolicyLossSpec(name="plain", loss=plain, options={"floor": -10.0})
