"""The cosine length reward, in both published forms, and what it does to a reward.

Sources: ProRL v2 post (printed form); Yeo et al. 2025, arXiv 2502.03373, and TRL's
get_cosine_scaled_reward (correctness-aware form). Leaves out: the on/off schedule (``controller``).
"""

from __future__ import annotations

import math

from prorl_training.config import LengthPenaltyConfig


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


def shaped_reward(config: LengthPenaltyConfig, raw: float, tokens: int, limit: int) -> float:
    """Return R' = R + lambda_len * eta_len(t); full marks count as correct."""
    correct = raw >= 1 - 1e-9
    return raw + config.weight * length_reward(config, correct, tokens, limit)
