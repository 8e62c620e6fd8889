"""Turn raw rewards into the shaped rewards from which advantages are computed, without torch.

Filters and pass@k use the raw rewards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never

from prorl_common import PluginError
from prorl_training.config.sampling import LengthPenaltyConfig, OverlongConfig, StopProperlyConfig
from prorl_training.config.tree import TrainConfig
from prorl_training.spec import PENALTIES, PenaltySpec, Response, with_defaults
from prorl_training.types import Group


def shape_rewards(groups: Sequence[Group], config: TrainConfig, penalty_is_on: bool) -> list[Group]:
    """Return the groups with shaped rewards, and ``trains=False`` for responses that are left out of the loss."""
    return [
        replace(
            group,
            trajectories=tuple(
                replace(
                    t,
                    shaped=shaped_reward(
                        config, t.reward, t.completion.sampled_tokens, t.truncated, penalty_is_on
                    ),
                    trains=in_loss(config, t.truncated),
                )
                for t in group.trajectories
            ),
        )
        for group in groups
    ]


def shaped_reward(
    config: TrainConfig, raw: float, tokens: int, truncated: bool, penalty_is_on: bool
) -> float:
    """Return the raw reward after stop-properly, overlong, plug-in and (if it is on) length penalties.

    ``tokens`` is the number of sampled tokens. The raw reward decides whether a response is correct.
    Raises PluginError for a penalty that is not finite.
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
    if penalty_is_on and config.length_penalty.weight:
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
    """Return the length reward of one response. ``raw`` is by default 1 if ``correct``, else 0."""
    raw = float(correct) if raw is None else raw
    spec = PENALTIES.get(config.form)
    theirs = {"options", *spec.options} - {key.removeprefix("length_penalty.") for key in spec.keys}
    ours = {key: value for key, value in config if key not in theirs}
    response = Response(raw, tokens, limit, truncated, correct)
    return _value(config.form, response, ours | config.options)


def overlong_penalty(config: OverlongConfig, tokens: int, limit: int) -> float:
    return _value("overlong", Response(0.0, tokens, limit, False, False), dict(config))


def stop_properly(config: StopProperlyConfig, reward: float, truncated: bool) -> float:
    """Return ``reward``, changed according to ``config.mode`` if the response is truncated.

    Sources: OpenRLHF 0.11.2 length_penalty.py; DLER, arXiv 2510.15110.
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
    """Return whether a response is in the loss. With ``stop_properly.mode=mask`` truncated responses are not."""
    return not (truncated and config.stop_properly.mode == "mask")


def _value(name: str, response: Response, options: Mapping[str, Any]) -> float:
    spec = PENALTIES.get(name)
    value = spec.penalty(response, {**spec.options, **options})
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PluginError(
            f"the penalty {name!r} must return a finite number, but returned {value!r}"
        )
    return value


def cosine_between(at_zero: float, at_limit: float, tokens: int, limit: int) -> float:
    """Interpolate along half a cosine period: ``at_zero`` at 0 tokens, ``at_limit`` from ``limit`` tokens on."""
    progress = min(tokens / limit, 1.0)
    return at_limit + 0.5 * (at_zero - at_limit) * (1 + math.cos(math.pi * progress))


def printed(response: Response, options: Mapping[str, Any]) -> float:
    """Return the length reward of the ProRL v2 post, a cosine from ``eta_max`` to ``eta_min``.

    Correct and wrong responses of the same length get the same reward.
    """
    return cosine_between(options["eta_max"], options["eta_min"], response.tokens, response.limit)


PRINTED = PenaltySpec(
    name="printed",
    penalty=printed,
    keys=("length_penalty.eta_max", "length_penalty.eta_min"),
    options={"eta_max": 0.0, "eta_min": -0.5},
)


def proportional(response: Response, options: Mapping[str, Any]) -> float:
    """Return the raw reward times eta, a cosine from ``eta_max`` to ``eta_min`` over the length (ProRL v2 post).

    The shaped reward is then raw x (1 + weight x eta), which is never negative.
    """
    eta = cosine_between(options["eta_max"], options["eta_min"], response.tokens, response.limit)
    return response.raw * eta


PROPORTIONAL = PenaltySpec(
    name="proportional",
    penalty=proportional,
    keys=("length_penalty.eta_max", "length_penalty.eta_min"),
    options={"eta_max": 0.0, "eta_min": -0.5},
)


COSINE_DEFAULTS = {
    "correct_short": 1.0,
    "correct_long": 0.5,
    "wrong_short": -1.0,
    "wrong_long": -0.5,
    "exceed": -1.0,
}


def correctness_aware(response: Response, options: Mapping[str, Any]) -> float:
    """Return the cosine length reward of Yeo et al. 2025 (arXiv 2502.03373).

    The reward falls with the length of correct answers and rises with the length of wrong answers.
    """
    if response.tokens >= response.limit:
        return float(options["exceed"])
    kind = "correct" if response.correct else "wrong"
    return cosine_between(
        options[f"{kind}_short"], options[f"{kind}_long"], response.tokens, response.limit
    )


CORRECTNESS_AWARE = PenaltySpec(
    name="correctness_aware",
    penalty=correctness_aware,
    keys=tuple(f"length_penalty.{key}" for key in COSINE_DEFAULTS),
    options=COSINE_DEFAULTS,
)


def overlong(response: Response, options: Mapping[str, Any]) -> float:
    buffer = options["buffer_tokens"]
    if not buffer:
        return 0.0
    excess = min(response.tokens - (response.limit - buffer), buffer)
    return float(-options["factor"] * max(excess, 0) / buffer)


OVERLONG = PenaltySpec(
    name="overlong",
    penalty=overlong,
    keys=("overlong.buffer_tokens", "overlong.factor"),
    options={"buffer_tokens": 0, "factor": 1.0},
)
