"""Estimates of KL(policy || reference) at each token, chosen by ``kl.estimator``, and the clamp around them.

Sources: Schulman's k1, k2 and k3 (joschu.net/blog/kl-approx.html, 2020); the ProRL v2 post for the clamp of the
log-ratio, OpenRLHF 0.11.2 models/utils.py for that of the estimate, NeMo-RL for both.
"""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor

from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KL_ESTIMATORS, KLSpec, check_gradient, check_vector, with_defaults

EXP_LIMIT = 80.0
"""exp(80) is finite in float32, so an estimate that the output clamp cuts has gradient 0, not 0 x inf."""


def kl_penalty(logprobs: Tensor, ref_logprobs: Tensor, config: KLConfig) -> Tensor:
    """Return the estimate (N,) of KL(pi || pi_ref) at each token sampled from pi.

    With d = log pi - log pi_ref:

    - clamp ``input``: d is held within +-clamp_value first (for 10, k2 is at most 50; the gradient
      dies at |d| = 10).
    - ``output``: the estimate is held within +-clamp_value (for 10, k2's gradient dies at
      |d| = sqrt(20)).
    - ``both``: d within +-input_clamp_value, then the estimate within +-clamp_value.
    - ``none``: neither; k3 can then be infinite.

    The printed formula of the post has pi_old in place of pi, which has no gradient; here it is pi.
    Raises UnknownNameError, and PluginError when the estimate has another shape.
    """
    d = logprobs - ref_logprobs
    spec = KL_ESTIMATORS.get(config.estimator)
    told = config.model_copy(update={"options": with_defaults(spec, config.options)})

    def estimate(log_ratio: Tensor) -> Tensor:
        value = spec.estimate(log_ratio, told)
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
    """Return d, which is unbiased and of either sign."""
    del config
    return log_ratio


K1 = KLSpec(name="k1", estimate=k1)


def k2(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return d^2 / 2, whose gradient is that of the KL divergence on the policy's own samples."""
    del config
    return 0.5 * log_ratio**2


K2 = KLSpec(name="k2", estimate=k2)


def k3(log_ratio: Tensor, config: KLConfig) -> Tensor:
    """Return exp(-d) - 1 + d, unbiased and never below 0; d is held at -80 from below unless ``clamp`` is ``none``."""
    d = log_ratio if config.clamp == "none" else log_ratio.clamp(min=-EXP_LIMIT)
    return torch.exp(-d) - 1 + d


K3 = KLSpec(name="k3", estimate=k3)
