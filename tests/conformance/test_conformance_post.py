from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
import torch

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.config import (
    AdvantageConfig,
    KLConfig,
    LengthPenaltyConfig,
    LossConfig,
    TrainConfig,
)


def _post_advantages(rewards: list[list[Fraction]]) -> list[float]:
    """R~ = R - mean_group(R); A = (R~ - mu_batch) / sigma_batch, one value per trajectory."""
    centred = [r - sum(group) / len(group) for group in rewards for r in group]
    mu = sum(centred) / len(centred)
    variance = sum((x - mu) ** 2 for x in centred) / len(centred)
    return [float(x - mu) / math.sqrt(variance) for x in centred]


@pytest.mark.parametrize("seed", range(5))
def test_advantages_are_the_posts_and_do_not_see_lengths(near: Any, seed: int) -> None:
    rng = random.Random(seed)
    rewards = [
        [Fraction(rng.randint(-8, 8), 8) for _ in range(rng.randint(2, 6))] for _ in range(4)
    ]
    rewards[0][:2] = [Fraction(1), Fraction(0)]
    flat = [float(r) for group in rewards for r in group]
    groups = [number for number, group in enumerate(rewards) for _ in group]
    lengths = torch.tensor([rng.randint(1, 900) for _ in flat])
    ours = compute_advantages(
        torch.tensor(flat, dtype=torch.float64), torch.tensor(groups), lengths, AdvantageConfig()
    )
    near(ours, _post_advantages(rewards))


def test_the_posts_example_of_reward_patterns_is_told_apart() -> None:
    # {0, 1, -0.5} and {-1, 1, -0.5}: a right answer gets a larger advantage in the second group
    first, second = [0.0, 1.0, -0.5], [-1.0, 1.0, -0.5]
    rewards = torch.tensor(first + second, dtype=torch.float64)
    groups, lengths = torch.tensor([0, 0, 0, 1, 1, 1]), torch.ones(6, dtype=torch.int64)
    ours = compute_advantages(rewards, groups, lengths, AdvantageConfig()).tolist()
    exact = _post_advantages([[Fraction(x) for x in first], [Fraction(x) for x in second]])
    assert ours == pytest.approx(exact, abs=1e-6)
    assert ours[4] > ours[1]


def _ratio_cases() -> list[tuple[float, float]]:
    ratios = (0.1, 0.79, 0.81, 1.0, 1.27, 1.29, 3.0)
    return [(ratio, advantage) for ratio in ratios for advantage in (-2.0, -0.5, 0.0, 0.5, 2.0)]


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.4), (0.2, 0.28), (0.2, 0.27)])
def test_clipped_objective_is_the_posts_at_every_published_bound(
    near: Any, low: float, high: float
) -> None:
    cases = _ratio_cases()
    logprobs = torch.tensor([math.log(r) for r, _ in cases], dtype=torch.float64)
    advantages = torch.tensor([a for _, a in cases], dtype=torch.float64)
    config = LossConfig(clip_low=low, clip_high=high)
    loss = policy_loss(
        logprobs, torch.zeros_like(logprobs), advantages, torch.tensor([len(advantages)]), config
    ).per_token
    near(loss, [-min(r * a, min(max(r, 1 - low), 1 + high) * a) for r, a in cases])


def test_k2_is_half_the_squared_log_ratio_clamped_to_ten(near: Any) -> None:
    gaps = [-40.0, -10.5, -10.0, -4.5, -0.3, 0.0, 0.3, 4.5, 10.0, 10.5, 40.0]
    value = kl_penalty(
        torch.tensor(gaps, dtype=torch.float64),
        torch.zeros(len(gaps), dtype=torch.float64),
        KLConfig(),
    )
    # x = exp(clamp(log(pi_ref / pi), -10, 10)), 0.5 (-log x)^2
    near(value, [0.5 * (-math.log(math.exp(max(-10.0, min(10.0, -g))))) ** 2 for g in gaps])


@pytest.mark.parametrize("tokens", [0, 1, 33, 50, 99, 100])
def test_cosine_reward_is_the_printed_formula(near: Any, tokens: int) -> None:
    eta_min, eta_max, weight, limit = -0.75, 0.25, 0.5, 100
    penalty = LengthPenaltyConfig(form="printed", eta_min=eta_min, eta_max=eta_max, weight=weight)
    base = TrainConfig()
    config = base.model_copy(
        update={
            "length_penalty": penalty,
            "rollout": base.rollout.model_copy(update={"max_tokens": limit}),
        }
    )
    eta = eta_min + 0.5 * (eta_max - eta_min) * (1 + math.cos(math.pi * tokens / limit))
    near(shaped_reward(config, 0.5, tokens, False, True), 0.5 + weight * eta)
    near(shaped_reward(config, 0.5, tokens, False, False), 0.5)
