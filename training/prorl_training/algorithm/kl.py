"""Per-token estimates of the KL divergence to the reference, with every clamp the sources use.

Sources: Schulman's k1, k2, k3 (joschu.net/blog/kl-approx.html, 2020); the ProRL v2 post for the clamp of
the log-ratio; OpenRLHF 0.11.2 models/utils.py for the clamp of the estimate; NeMo-RL for both. Leaves
out: the coefficient, which multiplies the mean of this in the loss.
"""

from __future__ import annotations

import torch
from torch import Tensor

from prorl_training.config import KLConfig

_EXP_LIMIT = 80.0
"""exp(80) is finite in float32, so an estimate that the output clamp cuts has gradient 0, not 0 x inf."""


def kl_penalty(logprobs: Tensor, ref_logprobs: Tensor, config: KLConfig) -> Tensor:
    """Return the estimate (N,) of KL(pi || pi_ref) at each token sampled from pi.

    With d = log pi - log pi_ref: k1 = d, k2 = d^2 / 2, k3 = exp(-d) - 1 + d.

    - clamp ``input``: d is held within +-clamp_value first (for 10, k2 is at most 50; the gradient
      dies at |d| = 10).
    - ``output``: the estimate is held within +-clamp_value (for 10, k2's gradient dies at
      |d| = sqrt(20)).
    - ``both``: d within +-input_clamp_value, then the estimate within +-clamp_value.
    - ``none``: neither; k3 can then be infinite.

    The printed formula of the post has pi_old in place of pi, which has no gradient; here it is pi.
    """
    d = logprobs - ref_logprobs
    if config.clamp == "input":
        d = d.clamp(-config.clamp_value, config.clamp_value)
    elif config.clamp == "both":
        d = d.clamp(-config.input_clamp_value, config.input_clamp_value)
    if config.estimator == "k1":
        value = d
    elif config.estimator == "k2":
        value = 0.5 * d**2
    else:
        bounded = d if config.clamp == "none" else d.clamp(min=-_EXP_LIMIT)
        value = torch.exp(-bounded) - 1 + bounded
    if config.clamp in ("output", "both"):
        return value.clamp(-config.clamp_value, config.clamp_value)
    return value
