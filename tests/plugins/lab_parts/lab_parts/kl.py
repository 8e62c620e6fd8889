"""A KL estimate, |d|, which no large ratio dominates."""

from __future__ import annotations

from torch import Tensor

from prorl_training import KLSpec
from prorl_training.config import KLConfig


def absolute(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return |log pi - log pi_ref| for each token (N,)."""
    return log_ratio.abs()


SPEC = KLSpec(name="absolute", estimate=absolute)
