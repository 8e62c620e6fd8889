from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import mismatch_weights, token_weights
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.algorithm.shaping import length_reward, overlong_penalty
from prorl_training.config import (
    AdvantageConfig,
    KLConfig,
    LengthPenaltyConfig,
    LossConfig,
    MismatchConfig,
    OverlongConfig,
)

FEW = settings(max_examples=40, deadline=None, derandomize=True)
ESTIMATORS = ["reinforce_baseline", "grpo", "batch_std", "dr_grpo", "pass_at_k"]


class Rewarded(NamedTuple):
    rewards: Tensor
    groups: Tensor
    lengths: Tensor


@st.composite
def rewarded(draw: st.DrawFn) -> Rewarded:
    """Draw a batch of 1 to 4 groups of 1 to 5 trajectories; rewards in eighths make ties common."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    total = sum(sizes)
    eighths = draw(st.lists(st.integers(-8, 8), min_size=total, max_size=total))
    lengths = draw(st.lists(st.integers(1, 9), min_size=total, max_size=total))
    groups = [number for number, size in enumerate(sizes) for _ in range(size)]
    rewards = torch.tensor(eighths, dtype=torch.float64) / 8
    return Rewarded(rewards, torch.tensor(groups), torch.tensor(lengths))


def log_ratios(limit: float = 40.0) -> Any:
    """Return a strategy for lists of 1 to 12 log-ratios."""
    return st.lists(st.floats(-limit, limit, width=32), min_size=1, max_size=12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@FEW
@given(batch=rewarded())
def test_advantages_sum_to_zero_in_every_group(estimator: Any, batch: Rewarded) -> None:
    got = compute_advantages(*batch, AdvantageConfig(estimator=estimator))
    for group in range(int(batch.groups.max()) + 1):
        assert abs(float(got[batch.groups == group].sum())) < 1e-9


@FEW
@given(batch=rewarded())
def test_token_weighted_advantages_sum_to_zero_over_all_tokens(batch: Rewarded) -> None:
    got = compute_advantages(*batch, AdvantageConfig(normalise="token"))
    assert abs(float((got * batch.lengths).sum())) < 1e-8


@pytest.mark.parametrize("estimator", ["reinforce_baseline", "grpo", "batch_std"])
@FEW
@given(batch=rewarded(), scale=st.floats(0.5, 50), shift=st.floats(-5, 5))
def test_advantages_do_not_depend_on_the_rewards_unit_or_origin(
    estimator: Any, batch: Rewarded, scale: float, shift: float
) -> None:
    config = AdvantageConfig(estimator=estimator, eps=1e-12)
    moved = batch._replace(rewards=batch.rewards * scale + shift)
    one, other = compute_advantages(*batch, config), compute_advantages(*moved, config)
    assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("normalise", ["trajectory", "token"])
@FEW
@given(batch=rewarded(), seed=st.integers(0, 1000))
def test_advantages_follow_their_trajectories_when_the_batch_is_shuffled(
    normalise: Any, batch: Rewarded, seed: int
) -> None:
    order = torch.randperm(len(batch.rewards), generator=torch.Generator().manual_seed(seed))
    config = AdvantageConfig(normalise=normalise)
    shuffled = Rewarded(*(column[order] for column in batch))
    left = compute_advantages(*batch, config)[order]
    assert torch.allclose(left, compute_advantages(*shuffled, config), atol=1e-9)


@FEW
@given(batch=rewarded())
def test_one_length_for_all_makes_token_and_trajectory_weights_the_same(batch: Rewarded) -> None:
    even = batch._replace(lengths=torch.full_like(batch.lengths, 7))
    by_token = compute_advantages(*even, AdvantageConfig(normalise="token"))
    assert torch.allclose(by_token, compute_advantages(*even, AdvantageConfig()), atol=1e-9)


@FEW
@given(batch=rewarded())
def test_a_group_added_without_spread_gets_nothing_under_grpo_and_changes_nobody(
    batch: Rewarded,
) -> None:
    more = Rewarded(
        torch.cat([batch.rewards, torch.full((3,), 0.1, dtype=torch.float64)]),
        torch.cat([batch.groups, torch.full((3,), 99)]),
        torch.cat([batch.lengths, torch.ones(3, dtype=torch.int64)]),
    )
    config = AdvantageConfig(estimator="grpo")
    got = compute_advantages(*more, config)
    assert got[-3:].tolist() == [0.0, 0.0, 0.0]
    assert torch.equal(got[:-3], compute_advantages(*batch, config))


@FEW
@given(gaps=log_ratios(), sign=st.sampled_from([-2.0, -0.5, 0.5, 2.0]), dual=st.floats(1.5, 9))
def test_the_clips_bound_what_a_token_can_earn_and_cost(
    gaps: list[float], sign: float, dual: float
) -> None:
    logprobs = torch.tensor(gaps, dtype=torch.float64)
    signs = torch.full_like(logprobs, sign)
    loss = policy_loss(
        logprobs,
        torch.zeros_like(logprobs),
        signs,
        torch.tensor([len(signs)]),
        LossConfig(dual_clip=dual),
    )
    assert float(loss.per_token.min()) >= -1.28 * max(sign, 0) - 1e-12
    assert float(loss.per_token.max()) <= dual * max(-sign, 0) + 1e-12


@FEW
@given(gaps=log_ratios(), sign=st.sampled_from([-1.0, 1.0]), dual=st.sampled_from([0.0, 3.0]))
def test_the_clipped_share_is_the_share_of_tokens_without_gradient(
    gaps: list[float], sign: float, dual: float
) -> None:
    inside = [g for g in gaps if abs(g) < 19.9] or [0.0]
    logprobs = torch.tensor(inside, dtype=torch.float64, requires_grad=True)
    signs = torch.full_like(logprobs, sign)
    got = policy_loss(
        logprobs,
        torch.zeros(len(inside), dtype=torch.float64),
        signs,
        torch.tensor([len(signs)]),
        LossConfig(dual_clip=dual),
    )
    (gradient,) = torch.autograd.grad(got.per_token.sum(), logprobs)
    dead = float((gradient == 0).double().mean())
    assert float(got.clipped_fraction) == pytest.approx(dead)


@FEW
@given(gaps=log_ratios(), clamp=st.sampled_from(["input", "output", "both", "none"]))
def test_k2_and_k3_are_never_negative_and_zero_only_without_a_gap(
    gaps: list[float], clamp: Any
) -> None:
    logprobs = torch.tensor(gaps, dtype=torch.float64)
    for estimator in ("k2", "k3"):
        config = KLConfig(estimator=estimator, clamp=clamp)
        value = kl_penalty(logprobs, torch.zeros_like(logprobs), config)
        assert float(value.min()) >= -1e-12
        assert torch.all(value[logprobs.abs() > 1e-3] > 0)


@FEW
@given(gaps=log_ratios(4.0))
def test_every_clamp_leaves_small_gaps_alone(gaps: list[float]) -> None:
    logprobs = torch.tensor(gaps, dtype=torch.float64)
    for estimator in ("k1", "k2"):
        values = [
            kl_penalty(
                logprobs, torch.zeros_like(logprobs), KLConfig(estimator=estimator, clamp=clamp)
            )
            for clamp in ("none", "input", "output", "both")
        ]
        assert all(torch.equal(values[0], value) for value in values)


@FEW
@given(gaps=log_ratios(), low=st.floats(0, 0.9), high=st.floats(1, 6))
def test_mismatch_weights_keep_to_their_bounds(gaps: list[float], low: float, high: float) -> None:
    trainer = torch.tensor(gaps, dtype=torch.float64)
    sampler, lengths = torch.zeros_like(trainer), torch.tensor([len(gaps)])

    def weights(correction: Any) -> Tensor:
        config = MismatchConfig(correction=correction, low=low, high=high)
        return mismatch_weights(trainer, sampler, lengths, config).weights

    tis, icepop, mask = weights("tis"), weights("icepop"), weights("sequence_mask")
    assert torch.all((tis >= low) & (tis <= high))
    assert torch.all((icepop == 0) | (icepop == tis))
    ratio = trainer.clamp(-20, 20).exp()
    assert torch.equal(mask, ratio) or not mask.any()


@FEW
@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_means_of_a_constant_loss_are_that_constant(lengths: list[int]) -> None:
    sizes = torch.tensor(lengths)
    expected = 1.0 if sum(lengths) else 0.0
    for mode in ("token_mean", "sequence_mean"):
        assert float(token_weights(sizes, mode, 9).sum()) == pytest.approx(expected, abs=1e-6)
    share = sum(lengths) / (9 * len(lengths))
    assert float(token_weights(sizes, "constant", 9).sum()) == pytest.approx(share, abs=1e-6)


@FEW
@given(tokens=st.integers(0, 300), limit=st.integers(1, 200), buffer=st.integers(1, 200))
def test_length_shaping_never_pays_for_more_tokens(tokens: int, limit: int, buffer: int) -> None:
    rule = OverlongConfig(buffer_tokens=min(buffer, limit))
    assert overlong_penalty(rule, tokens + 1, limit) <= overlong_penalty(rule, tokens, limit) <= 0
    printed = LengthPenaltyConfig()
    now, later = (length_reward(printed, True, t, limit) for t in (tokens, tokens + 1))
    assert later <= now + 1e-12
    assert printed.eta_min - 1e-12 <= now <= printed.eta_max + 1e-12


@pytest.mark.parametrize("hole", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_an_error_and_never_its_groups_advantage(hole: float) -> None:
    rewards, groups = torch.tensor([1.0, hole, 0.0]), torch.tensor([0, 0, 1])
    with pytest.raises(ValueError, match="must be removed first"):
        compute_advantages(rewards, groups, torch.tensor([3, 3, 3]), AdvantageConfig())
