"""The ProRL algorithm as pure functions of tensors: advantages, policy loss, mismatch weights, KL.

Every place where the published formula and the official code differ is a value of the config
(``config/algorithm.py``); docs/reference/conformance.md says which value gives whose numbers.
Losses, advantages, KL estimates and penalties come through doors (``prorl_training.spec``).

Shapes: B trajectories, N tokens of all trajectories laid end to end, in the order of ``lengths``.
"""

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.mismatch import (
    Mismatch,
    MismatchSize,
    mismatch_size,
    mismatch_sums,
    mismatch_weights,
)
from prorl_training.algorithm.objective import (
    PassLoss,
    Tokens,
    kl_penalty,
    pass_loss,
    policy_loss,
    token_weights,
)
from prorl_training.spec import PolicyLoss

__all__ = [
    "Mismatch",
    "MismatchSize",
    "PassLoss",
    "PolicyLoss",
    "Tokens",
    "compute_advantages",
    "kl_penalty",
    "mismatch_size",
    "mismatch_sums",
    "mismatch_weights",
    "pass_loss",
    "policy_loss",
    "token_weights",
]
