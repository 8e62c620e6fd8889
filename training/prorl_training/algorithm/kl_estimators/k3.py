"""k3 = exp(-d) - 1 + d: unbiased and never below 0."""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KLSpec

_EXP_LIMIT = 80.0
"""exp(80) is finite in float32, so an estimate that the output clamp cuts has gradient 0, not 0 x inf."""


def k3(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return exp(-d) - 1 + d, d held at -80 from below unless ``clamp`` is ``none``."""
    d = log_ratio if config.clamp == "none" else log_ratio.clamp(min=-_EXP_LIMIT)
    return torch.exp(-d) - 1 + d


SPEC = KLSpec(name="k3", estimate=k3)
