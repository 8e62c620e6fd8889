"""ProRL training: config, algorithm, controller and two engines."""

from typing import TYPE_CHECKING

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = load_on_use(__name__, __file__)

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
