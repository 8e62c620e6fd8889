"""k2 = d^2 / 2: its gradient is that of the KL divergence when the samples are the policy's own."""

from __future__ import annotations

from torch import Tensor

from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KLSpec


def k2(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return d^2 / 2."""
    del config
    return 0.5 * log_ratio**2


SPEC = KLSpec(name="k2", estimate=k2)
