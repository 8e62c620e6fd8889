"""The learning rate of each gradient update, as a function of the update's number."""

from __future__ import annotations

import math
from typing import assert_never

from prorl_training.config import OptimizerConfig, TrainConfig


def planned_updates(config: TrainConfig) -> int:
    """Return the run's planned gradient updates. A phase that ends at a stall counts with its maximum length."""
    if not config.phases:
        return config.steps * config.loss.mini_batches
    total, remaining = 0, config.steps
    for number, phase in enumerate(config.phases):
        last = number == len(config.phases) - 1
        steps = remaining if last else min(phase.steps, remaining)
        total += steps * config.in_phase(number).loss.mini_batches
        remaining -= steps
    return total


def lr_at(config: OptimizerConfig, update: int, total_updates: int, scale: float = 1.0) -> float:
    """Return the learning rate of gradient update ``update`` (from 1).

    It rises linearly to ``config.lr`` over ``warmup_updates``, then decays to ``min_ratio`` x lr over ``decay_updates``
    (0: the rest of ``total_updates``). Raises ValueError if ``update`` is less than 1.
    """
    if update < 1:
        raise ValueError(f"updates are counted from 1, got {update}")
    peak = config.lr * scale
    if update <= config.warmup_updates:
        return peak * update / config.warmup_updates
    span = config.decay_updates or max(total_updates - config.warmup_updates, 1)
    progress = min((update - config.warmup_updates) / span, 1.0)
    match config.schedule:
        case "constant":
            return peak
        case "linear":
            share = 1 - progress
        case "cosine":
            share = 0.5 * (1 + math.cos(math.pi * progress))
        case _:
            assert_never(config.schedule)
    return peak * (config.min_ratio + (1 - config.min_ratio) * share)
