"""Estimates of the KL divergence per token, with clamps.

Sources: Schulman (joschu.net/blog/kl-approx.html, 2020) for k1, k2 and k3; the ProRL v2 post, OpenRLHF 0.11.2
(models/utils.py) and NeMo-RL for the clamps.
"""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor

from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KL_ESTIMATORS, KLSpec, check_gradient, check_vector, with_defaults

EXP_LIMIT = 80.0
"""Maximum of -d in k3. If exp(-d) overflowed float32, the gradient of a clamped estimate would be NaN."""


def kl_penalty(logprobs: Tensor, ref_logprobs: Tensor, config: KLConfig) -> Tensor:
    """Return the estimate (N,) of KL(pi || pi_ref) at each token sampled from pi.

    ``config.clamp`` selects what is clamped: the log-ratio d = log pi - log pi_ref, the estimate, or both. A clamped
    token has no gradient.
    """
    d = logprobs - ref_logprobs
    spec = KL_ESTIMATORS.get(config.estimator)
    completed = config.model_copy(update={"options": with_defaults(spec, config.options)})

    def estimate(log_ratio: Tensor) -> Tensor:
        value = spec.estimate(log_ratio, completed)
        check_vector(f"the KL estimate {config.estimator!r}", value, d, "token")
        if config.coefficient:
            check_gradient(KL_ESTIMATORS, config.estimator, value, log_ratio)
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


def k1(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return the log-ratio d, an unbiased estimate that can be negative."""
    del config
    return log_ratio


K1 = KLSpec(name="k1", estimate=k1)


def k2(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return d^2 / 2, whose expected gradient under the policy equals the gradient of the KL divergence."""
    del config
    return 0.5 * log_ratio**2


K2 = KLSpec(name="k2", estimate=k2)


def k3(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return exp(-d) - 1 + d, an unbiased estimate that is never negative."""
    d = log_ratio if config.clamp == "none" else log_ratio.clamp(min=-EXP_LIMIT)
    return torch.exp(-d) - 1 + d


K3 = KLSpec(name="k3", estimate=k3)
