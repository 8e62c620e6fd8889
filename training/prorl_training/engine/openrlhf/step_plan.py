"""How the policy's processes do one step's updates, and what they say of it. Knows no torch.

A phase may change any of the plan, so it is sent with every step. Leaves out: carrying it out
(``stack.updates``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from prorl_training.config import KLConfig, TrainConfig

CORRECTIONS = {
    "none": ("off", "mask"),
    "tis": ("token", "clip"),
    "icepop": ("token", "mask"),
    "sequence_mask": ("seq", "mask"),
}
"""Our name -> OpenRLHF's level and mode of the sampler's mismatch correction."""


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step's updates: ``learning_rates`` holds one a gradient update.

    ``rows`` are the samples of one update over all ranks, padding included; ``loss`` the keyword arguments
    of OpenRLHF's ``PolicyLoss``.
    """

    learning_rates: tuple[float, ...]
    rows: int
    temperature: float
    loss: dict[str, Any]
    kl: KLConfig
    norm_limit: float = math.inf
    """The largest gradient norm, before clipping, that is applied."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """One mini-batch's update: means as aggregated for the gradient, the norm before clipping.

    ``grad_norm`` is nan where a gradient was not finite; ``applied`` says whether the weights changed.
    """

    policy_loss: float
    kl: float
    entropy: float
    grad_norm: float
    applied: bool


@dataclass(frozen=True, slots=True)
class StepReport:
    """What the policy's processes measured in one step; the fractions are of all response tokens."""

    updates: tuple[UpdateReport, ...]
    clipped_fraction: float
    masked_fraction: float


def step_plan(config: TrainConfig, rows: int, rates: tuple[float, ...], limit: float) -> StepPlan:
    """Return the plan of a step with an update of ``rows`` samples at each of the learning ``rates``."""
    return StepPlan(
        learning_rates=rates,
        rows=rows,
        temperature=config.rollout.temperature,
        loss=loss_arguments(config),
        kl=config.kl,
        norm_limit=limit,
    )


def loss_arguments(config: TrainConfig) -> dict[str, Any]:
    """Return the keyword arguments of OpenRLHF 0.11.2's ``PolicyLoss`` (models/loss.py) for a config."""
    loss = config.loss
    level, mode = CORRECTIONS[loss.mismatch.correction]
    return {
        "clip_eps_low": loss.clip_low,
        "clip_eps_high": loss.clip_high,
        "dual_clip": loss.dual_clip or None,
        "token_level_loss": loss.aggregation == "token_mean",
        "is_correction_level": level,
        "is_correction_mode": mode,
        "is_correction_threshold": (loss.mismatch.low, loss.mismatch.high),
    }
