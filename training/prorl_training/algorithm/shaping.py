"""What is made of a raw reward before advantages: stop-properly, overlong, cosine length reward.

Sources: the ProRL v2 post (printed cosine); Yeo et al. 2025, arXiv 2502.03373, and TRL's
get_cosine_scaled_reward (correctness-aware form); DAPO (2503.14476, eq. 13) for overlong; OpenRLHF
0.11.2 length_penalty.py and DLER (2510.15110) for stop-properly. Leaves out: the on/off schedule
(``controller``); filtering and pass@k, which use the raw reward. No torch.
"""

from __future__ import annotations

import math

from prorl_training.config import (
    LengthPenaltyConfig,
    OverlongConfig,
    StopProperlyConfig,
    TrainConfig,
)


def cosine_between(at_zero: float, at_limit: float, tokens: int, limit: int) -> float:
    """Return at_limit + (at_zero - at_limit)/2 * (1 + cos(pi t/T)), with t/T held at 1 beyond the limit.

    ``tokens`` t >= 0 output tokens, ``limit`` T >= 1. The clamp matters: cosine is periodic.
    """
    progress = min(tokens / limit, 1.0)
    return at_limit + 0.5 * (at_zero - at_limit) * (1 + math.cos(math.pi * progress))


def length_reward(config: LengthPenaltyConfig, correct: bool, tokens: int, limit: int) -> float:
    """Return eta_len(t) of the configured form for one response.

    ``printed`` ignores correctness: eta_max at 0 tokens, eta_min at the limit.
    ``correctness_aware``: correct answers fall from correct_short to correct_long, wrong ones rise
    from wrong_short to wrong_long, and a response that reaches the limit gets ``exceed``.
    """
    if config.form == "printed":
        return cosine_between(config.eta_max, config.eta_min, tokens, limit)
    if tokens >= limit:
        return config.exceed
    if correct:
        return cosine_between(config.correct_short, config.correct_long, tokens, limit)
    return cosine_between(config.wrong_short, config.wrong_long, tokens, limit)


def overlong_penalty(config: OverlongConfig, tokens: int, limit: int) -> float:
    """Return -factor * min(max(t - (T - buffer), 0), buffer) / buffer; 0 where it is off."""
    if not config.buffer_tokens:
        return 0.0
    excess = min(tokens - (limit - config.buffer_tokens), config.buffer_tokens)
    return -config.factor * max(excess, 0) / config.buffer_tokens


def stop_properly(config: StopProperlyConfig, reward: float, truncated: bool) -> float:
    """Return the reward of a response that the token limit cut; others keep theirs.

    ``scale``: reward x value, ``fixed``: value, ``off`` and ``mask``: unchanged.
    """
    if not truncated or config.mode in ("off", "mask"):
        return reward
    return reward * config.value if config.mode == "scale" else config.value


def shaped_reward(
    config: TrainConfig, raw: float, tokens: int, truncated: bool, penalty_active: bool
) -> float:
    """Return the reward that advantages are made of.

    In this order: stop-properly, then overlong added, then, while ``penalty_active``, lambda_len *
    eta_len(t) added. ``tokens`` counts the response, its end token included; full marks of the raw
    reward count as correct, whatever stop-properly made of them.
    """
    limit = config.rollout.max_tokens
    reward = stop_properly(config.stop_properly, raw, truncated)
    reward += overlong_penalty(config.overlong, tokens, limit)
    if penalty_active and config.length_penalty.weight:
        correct = raw >= 1 - 1e-9
        eta = length_reward(config.length_penalty, correct, tokens, limit)
        reward += config.length_penalty.weight * eta
    return reward


def in_loss(config: TrainConfig, truncated: bool) -> bool:
    """Return whether a response takes part in the loss; ``stop_properly: mask`` leaves cut ones out."""
    return not (truncated and config.stop_properly.mode == "mask")
