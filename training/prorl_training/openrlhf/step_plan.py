"""How the policy's processes do one step's updates: loss, KL, learning rates, rows. Knows no torch.

A phase may change any of it, so it is sent with every step. Leaves out: carrying it out
(``stack.policy_actor``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prorl_training.config import KLConfig, TrainConfig
from prorl_training.learning_rate import lr_at

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
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    grad_clip: float


def step_plan(
    config: TrainConfig, rows: int, updates: int, done: int, planned: int, lr_scale: float
) -> StepPlan:
    """Return the plan of a step with ``updates`` mini-batches of ``rows`` after ``done`` updates.

    ``planned`` are the updates of the whole run; ``lr_scale`` multiplies each learning rate.
    """
    o = config.optimizer
    rates = tuple(lr_at(o, done + i + 1, planned, lr_scale) for i in range(updates))
    return StepPlan(
        learning_rates=rates,
        rows=rows,
        temperature=config.rollout.temperature,
        loss=loss_arguments(config),
        kl=config.kl,
        betas=(o.beta1, o.beta2),
        eps=o.eps,
        weight_decay=o.weight_decay,
        grad_clip=o.grad_clip,
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
