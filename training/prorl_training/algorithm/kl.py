"""Per-token estimates of the KL divergence to the reference, with every clamp the sources use.

Sources: the ProRL v2 post for the clamp of the log-ratio; OpenRLHF 0.11.2 models/utils.py for the clamp
of the estimate; NeMo-RL for both. The coefficient multiplies the mean of this in the loss.
"""

from __future__ import annotations

from typing import assert_never

from torch import Tensor

from prorl_common import PluginError
from prorl_training.config.algorithm import KLConfig
from prorl_training.spec import KL_ESTIMATORS


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
    estimate = KL_ESTIMATORS.get(config.estimator).estimate
    match config.clamp:
        case "input":
            value = estimate(d.clamp(-config.clamp_value, config.clamp_value), config)
        case "output":
            value = estimate(d, config).clamp(-config.clamp_value, config.clamp_value)
        case "both":
            bounded = d.clamp(-config.input_clamp_value, config.input_clamp_value)
            value = estimate(bounded, config).clamp(-config.clamp_value, config.clamp_value)
        case "none":
            value = estimate(d, config)
        case _:
            assert_never(config.clamp)
    if value.shape != d.shape:
        raise PluginError(
            f"the KL estimate {config.estimator!r} must return one number a token, shape "
            f"{tuple(d.shape)}, and returned {tuple(value.shape)}"
        )
    return value
