"""What is made of a raw reward before advantages: stop-properly, penalties, the scheduled length reward.

Filtering and pass@k use the raw reward (decision 4 of the design). Sources: OpenRLHF 0.11.2
length_penalty.py and DLER (2510.15110) for stop-properly; the penalties name their own. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, assert_never

from prorl_common import PluginError
from prorl_training.config.sampling import LengthPenaltyConfig, OverlongConfig, StopProperlyConfig
from prorl_training.config.tree import TrainConfig
from prorl_training.spec import PENALTIES, Response, with_defaults


def shaped_reward(
    config: TrainConfig, raw: float, tokens: int, truncated: bool, penalty_active: bool
) -> float:
    """Return the reward that advantages are made of.

    In this order: stop-properly, then overlong and every one of ``penalties`` added, then, while
    ``penalty_active``, ``length_penalty.weight`` times the length reward. ``tokens`` counts the response,
    its end token included; full marks of the raw reward count as correct, whatever stop-properly made of
    them. Raises UnknownNameError, and PluginError when a penalty is no finite number.
    """
    limit = config.rollout.max_tokens
    reward = stop_properly(config.stop_properly, raw, truncated)
    if config.overlong.buffer_tokens:
        reward += overlong_penalty(config.overlong, tokens, limit)
    correct = raw >= 1 - 1e-9
    for name, options in config.penalties.items():
        spec = PENALTIES.get(name)
        response = Response(raw, tokens, limit, truncated, correct)
        reward += _value(name, response, with_defaults(spec, options))
    if penalty_active and config.length_penalty.weight:
        eta = length_reward(config.length_penalty, correct, tokens, limit, raw, truncated)
        reward += config.length_penalty.weight * eta
    return reward


def length_reward(
    config: LengthPenaltyConfig,
    correct: bool,
    tokens: int,
    limit: int,
    raw: float | None = None,
    truncated: bool = False,
) -> float:
    """Return eta_len(t) of the configured form for one response; without ``raw``, 1 or 0 by ``correct``."""
    raw = float(correct) if raw is None else raw
    spec = PENALTIES.get(config.form)
    theirs = {"options", *spec.options} - {key.removeprefix("length_penalty.") for key in spec.keys}
    ours = {key: value for key, value in config if key not in theirs}
    response = Response(raw, tokens, limit, truncated, correct)
    return _value(config.form, response, ours | config.options)


def overlong_penalty(config: OverlongConfig, tokens: int, limit: int) -> float:
    """Return DAPO's overlong penalty of one response; 0 where it is off."""
    return _value("overlong", Response(0.0, tokens, limit, False, False), dict(config))


def stop_properly(config: StopProperlyConfig, reward: float, truncated: bool) -> float:
    """Return the reward of a response that the token limit cut; others keep theirs.

    ``scale``: reward x value, ``fixed``: value, ``off`` and ``mask``: unchanged.
    """
    if not truncated:
        return reward
    match config.mode:
        case "off" | "mask":
            return reward
        case "scale":
            return reward * config.value
        case "fixed":
            return config.value
        case _:
            assert_never(config.mode)


def in_loss(config: TrainConfig, truncated: bool) -> bool:
    """Return whether a response takes part in the loss; ``stop_properly: mask`` leaves cut ones out."""
    return not (truncated and config.stop_properly.mode == "mask")


def cosine_between(at_zero: float, at_limit: float, tokens: int, limit: int) -> float:
    """Return at_limit + (at_zero - at_limit)/2 * (1 + cos(pi t/T)), with t/T held at 1 beyond the limit.

    Half a cosine is the shape of the length rewards. ``tokens`` t >= 0 output tokens, ``limit`` T >= 1. The
    clamp matters: cosine is periodic.
    """
    progress = min(tokens / limit, 1.0)
    return at_limit + 0.5 * (at_zero - at_limit) * (1 + math.cos(math.pi * progress))


def _value(name: str, response: Response, options: Mapping[str, Any]) -> float:
    """Return a penalty's value for one response."""
    spec = PENALTIES.get(name)
    value = spec.penalty(response, {**spec.options, **options})
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PluginError(
            f"the penalty {name!r} must return a finite number, and returned {value!r}"
        )
    return value
