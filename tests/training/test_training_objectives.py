"""Objectives against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from prorl_training.objectives import (
    group_centred,
    grpo_advantages,
    kl_estimate,
    ppo_clip_loss,
    reinforce_baseline_advantages,
    token_weights,
)


def test_group_mean_is_taken_within_the_group_only() -> None:
    rewards = torch.tensor([1.0, 0.0, 10.0, 20.0])
    # means 0.5 and 15
    assert group_centred(rewards, torch.tensor([0, 0, 1, 1])).tolist() == [0.5, -0.5, -5.0, 5.0]


def test_reinforce_baseline_divides_by_the_batch_std_of_centred_rewards() -> None:
    rewards = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    groups = torch.tensor([0, 0, 0, 0, 1, 1])
    # group 0: mean .25 -> .75 -.25 -.25 -.25; group 1: mean 1 -> 0 0
    # mean 0, variance (.5625 + 3*.0625)/6 = .125, std .3535534 -> .75/.3535534 = 2.1213203
    got = reinforce_baseline_advantages(rewards, groups).tolist()
    assert got == pytest.approx([2.1213203, -0.7071068, -0.7071068, -0.7071068, 0.0, 0.0], abs=1e-6)


def test_token_weighted_statistics_let_long_answers_count_more() -> None:
    rewards = torch.tensor([1.0, 0.0])
    groups = torch.tensor([0, 0])
    # centred .5 -.5 with weights 1 and 3: mean (.5 - 1.5)/4 = -.25,
    # variance (1*.5625 + 3*.0625)/4 = .1875, std .4330127 -> .75/.4330127 = 1.7320508, -.25/.433 = -.5773503
    got = reinforce_baseline_advantages(rewards, groups, torch.tensor([1, 3])).tolist()
    assert got == pytest.approx([1.7320508, -0.5773503], abs=1e-6)


def test_batch_without_spread_has_no_advantage() -> None:
    got = reinforce_baseline_advantages(torch.ones(4), torch.tensor([0, 0, 1, 1]))
    assert got.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_grpo_divides_by_the_group_std() -> None:
    rewards = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    groups = torch.tensor([0, 0, 0, 0, 1, 1])
    # group 0: std sqrt(.25*.75) = .4330127 -> .75/.4330127 = 1.7320508, -.25/.4330127 = -.5773503
    got = grpo_advantages(rewards, groups).tolist()
    assert got == pytest.approx([1.7320508, -0.5773503, -0.5773503, -0.5773503, 0, 0], abs=1e-6)


def test_clip_bounds_are_separate_above_and_below() -> None:
    ratios = torch.tensor([1.5, 1.1, 0.5, 1.5, 0.5])
    advantages = torch.tensor([1.0, 1.0, 1.0, -1.0, -1.0])
    got = ppo_clip_loss(ratios.log(), torch.zeros(5), advantages, (0.2, 0.28))
    # min(1.5, 1.28)=1.28; min(1.1, 1.1)=1.1; min(.5, .8)=.5; min(-1.5, -1.28)=-1.5; min(-.5, -.8)=-.8
    assert got.per_token.tolist() == pytest.approx([-1.28, -1.1, -0.5, 1.5, 0.8])
    # clipped: token 0 (too high, positive) and token 4 (too low, negative)
    assert float(got.clipped_fraction) == pytest.approx(2 / 5)


def test_clipped_token_has_no_gradient() -> None:
    logprobs = torch.tensor([math.log(1.5)], requires_grad=True)
    loss = ppo_clip_loss(logprobs, torch.zeros(1), torch.ones(1), (0.2, 0.28)).per_token.sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    assert float(logprobs.grad) == 0.0


@pytest.mark.parametrize(
    ("estimator", "expected"),
    # d = log pi - log ref = -0.5: k1 = -.5, k2 = .125, k3 = e^.5 - 1 - .5 = .1487213
    [("k1", -0.5), ("k2", 0.125), ("k3", 0.1487213)],
)
def test_kl_estimators_at_a_log_ratio_of_minus_one_half(estimator: str, expected: float) -> None:
    got = kl_estimate(torch.tensor([-1.5]), torch.tensor([-1.0]), estimator, "none")  # type: ignore[arg-type]
    assert float(got) == pytest.approx(expected, abs=1e-6)


def test_input_clamp_holds_the_log_ratio_at_ten() -> None:
    got = kl_estimate(torch.tensor([0.0]), torch.tensor([-40.0]), "k2", "input", 10.0)
    assert float(got) == 50.0  # 10^2 / 2


def test_output_clamp_kills_the_gradient_beyond_sqrt_20() -> None:
    for gap, expected in [(4.4, 4.4), (4.5, 0.0)]:  # sqrt(20) = 4.4721; d(k2)/dd = d below it
        logprobs = torch.tensor([gap], requires_grad=True)
        kl_estimate(logprobs, torch.zeros(1), "k2", "output", 10.0).sum().backward()  # type: ignore[no-untyped-call]
        assert logprobs.grad is not None
        assert float(logprobs.grad) == pytest.approx(expected)


def test_token_mean_and_sequence_mean_weigh_tokens_differently() -> None:
    lengths = torch.tensor([1, 3])
    assert token_weights(lengths, "token_mean").tolist() == [0.25] * 4
    # each of 2 sequences weighs 1/2; the second shares it among 3 tokens
    assert token_weights(lengths, "sequence_mean").tolist() == pytest.approx([0.5, *[1 / 6] * 3])
