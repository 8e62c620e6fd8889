"""How the policy's processes do one step's updates, and what they say of it. Knows no torch.

A phase may change any of the plan, so it is sent with every step. ``actors.updates`` carries it out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from prorl_training.config import KLConfig, LossConfig, TrainConfig


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step's updates: ``learning_rates`` holds one a gradient update.

    ``rows`` are the samples of one update over all ranks, padding included; ``loss`` and ``kl`` the sections of
    the config that hold in this phase.
    """

    learning_rates: tuple[float, ...]
    rows: int
    temperature: float
    loss: LossConfig
    kl: KLConfig
    norm_limit: float = math.inf
    """The largest gradient norm, before clipping, that is applied."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """One mini-batch's update: the losses as differentiated, the norm before clipping.

    ``grad_norm`` is nan where a gradient was not finite; ``applied`` says whether the weights changed.
    """

    loss: float
    policy_loss: float
    grad_norm: float
    applied: bool


@dataclass(frozen=True, slots=True)
class StepReport:
    """What the policy's processes measured in one step: means and shares are of all response tokens.

    ``kl`` is None without a reference.
    """

    updates: tuple[UpdateReport, ...]
    kl: float | None
    entropy: float
    clipped_fraction: float
    masked_fraction: float


def step_plan(config: TrainConfig, rows: int, rates: tuple[float, ...], limit: float) -> StepPlan:
    """Return the plan of a step with an update of ``rows`` samples at each of the learning ``rates``."""
    return StepPlan(rates, rows, config.rollout.temperature, config.loss, config.kl, limit)
