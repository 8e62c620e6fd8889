"""k1 = d, unbiased, of either sign."""

from __future__ import annotations

from torch import Tensor

from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KLSpec


def k1(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return d."""
    del config
    return log_ratio


SPEC = KLSpec(name="k1", estimate=k1)
