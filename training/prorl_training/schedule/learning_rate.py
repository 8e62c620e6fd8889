"""The learning rate of each gradient update: warm-up, then constant, linear or cosine fall.

A pure function of the update's number, so that there is no scheduler state to save.
"""

from __future__ import annotations

import math
from typing import assert_never

from prorl_training.config import OptimizerConfig, TrainConfig


def planned_updates(config: TrainConfig) -> int:
    """Return the gradient updates of the whole run as planned: mini-batches a step, phase by phase.

    A phase that ends on a stall counts with its longest duration; skipped updates and steps are counted too.
    """
    if not config.phases:
        return config.steps * config.loss.mini_batches
    total, left = 0, config.steps
    for number, phase in enumerate(config.phases):
        last = number == len(config.phases) - 1
        steps = left if last else min(phase.steps, left)
        total += steps * config.in_phase(number).loss.mini_batches
        left -= steps
    return total


def lr_at(config: OptimizerConfig, update: int, total_updates: int, scale: float = 1.0) -> float:
    """Return the learning rate of gradient update ``update`` (the first is 1).

    Rises linearly to ``config.lr`` over ``warmup_updates`` (update u of w takes u / w of it), then falls
    from lr to ``min_ratio`` x lr over ``decay_updates`` updates, warm-up not included; 0 takes what is
    left of ``total_updates``. Afterwards it stays there. ``scale`` multiplies the result.
    Raises ValueError when ``update`` is less than 1.
    """
    if update < 1:
        raise ValueError(f"updates are counted from 1, got {update}")
    peak = config.lr * scale
    if update <= config.warmup_updates:
        return peak * update / config.warmup_updates
    span = config.decay_updates or max(total_updates - config.warmup_updates, 1)
    done = min((update - config.warmup_updates) / span, 1.0)
    match config.schedule:
        case "constant":
            return peak
        case "linear":
            left = 1 - done
        case "cosine":
            left = 0.5 * (1 + math.cos(math.pi * done))
        case _:
            assert_never(config.schedule)
    return peak * (config.min_ratio + (1 - config.min_ratio) * left)
