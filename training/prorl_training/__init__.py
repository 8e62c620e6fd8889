"""ProRL itself: config and presets, the algorithm, controller, and two engines."""

from prorl_training.spec import (
    ADVANTAGES,
    KL_ESTIMATORS,
    PENALTIES,
    POLICY_LOSSES,
    AdvantageSpec,
    KLSpec,
    PenaltySpec,
    PolicyLoss,
    PolicyLossSpec,
    Response,
)

__all__ = [
    "ADVANTAGES",
    "KL_ESTIMATORS",
    "PENALTIES",
    "POLICY_LOSSES",
    "AdvantageSpec",
    "KLSpec",
    "PenaltySpec",
    "PolicyLoss",
    "PolicyLossSpec",
    "Response",
]
