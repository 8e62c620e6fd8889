from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from prorl_inference import Completion
from prorl_training.algorithm.advantages import advantages_of, compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import (
    mismatch_size,
    mismatch_sums,
    mismatch_weights,
    token_weights,
)
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config import AdvantageConfig, KLConfig, LossConfig, MismatchConfig
from prorl_training.testing import named_sample
from prorl_training.types import Group, Trajectory
from prorl_verifiers import Verdict


def advantages(
    rewards: list[float], groups: list[int], lengths: list[int] | None = None, **config: Any
) -> list[float]:
    sizes = torch.tensor(lengths or [1] * len(rewards))
    result = compute_advantages(
        torch.tensor(rewards), torch.tensor(groups), sizes, AdvantageConfig(**config)
    )
    return result.tolist()


def test_group_mean_is_taken_within_the_group_only() -> None:
    # means 0.5 and 15
    got = advantages([1.0, 0.0, 10.0, 20.0], [0, 0, 1, 1], estimator="dr_grpo")
    assert got == [0.5, -0.5, -5.0, 5.0]


def test_group_ids_need_be_neither_dense_nor_in_order() -> None:
    got = advantages([1.0, 10.0, 0.0, 20.0], [70, -3, 70, -3], estimator="dr_grpo")
    assert got == [0.5, -5.0, -0.5, 5.0]


def test_reinforce_baseline_divides_by_the_batch_std_of_centred_rewards() -> None:
    # group 0: mean .25 -> .75 -.25 -.25 -.25; group 1: mean 1 -> 0 0
    # mean 0, variance (.5625 + 3*.0625)/6 = .125, std .3535534 -> .75/.3535534 = 2.1213203
    got = advantages([1.0, 0.0, 0.0, 0.0, 1.0, 1.0], [0, 0, 0, 0, 1, 1])
    assert got == pytest.approx([2.1213203, -0.7071068, -0.7071068, -0.7071068, 0.0, 0.0], abs=1e-6)


def test_grpo_divides_by_the_group_std() -> None:
    # group 0: std sqrt(.25*.75) = .4330127 -> .75/.4330127 = 1.7320508, -.25/.4330127 = -.5773503
    got = advantages([1.0, 0.0, 0.0, 0.0, 1.0, 1.0], [0, 0, 0, 0, 1, 1], estimator="grpo")
    assert got == pytest.approx([1.7320508, -0.5773503, -0.5773503, -0.5773503, 0, 0], abs=1e-6)
    # sample std sqrt(.75/3) = .5 -> 1.5, -.5
    got = advantages([1.0, 0, 0, 0], [0, 0, 0, 0], estimator="grpo", std="sample")
    assert got == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-6)


@pytest.mark.parametrize("estimator", ["reinforce_baseline", "grpo", "batch_std", "dr_grpo"])
@pytest.mark.parametrize("std", ["population", "sample"])
def test_batch_without_spread_has_no_advantage_to_the_last_bit(estimator: str, std: str) -> None:
    # 0.1 three times: its mean in floating point need not be 0.1
    assert advantages([0.1] * 5, [0, 0, 0, 1, 1], estimator=estimator, std=std) == [0.0] * 5


@pytest.mark.parametrize("estimator", ["reinforce_baseline", "grpo", "batch_std", "dr_grpo"])
def test_a_lone_trajectory_has_no_advantage(estimator: str) -> None:
    assert advantages([0.7], [4], estimator=estimator, std="sample") == [0.0]


def test_batch_std_divides_by_the_spread_of_the_raw_rewards() -> None:
    # centred .5 -.5 .5 -.5; raw 1 0 3 2: mean 1.5, variance 1.25, std 1.118034 -> .4472136
    got = advantages([1.0, 0.0, 3.0, 2.0], [0, 0, 1, 1], estimator="batch_std")
    assert got == pytest.approx([0.4472136, -0.4472136, 0.4472136, -0.4472136], abs=1e-6)


def test_eps_in_the_variance_damps_a_small_spread_and_eps_in_the_std_hardly_does() -> None:
    # centred +-5e-5, variance 2.5e-9: 5e-5 / sqrt(2.5e-9 + 1e-8) = .4472136; 5e-5 / (5e-5 + 1e-8) = .9998
    for estimator in ("reinforce_baseline", "grpo", "batch_std"):
        small: Any = {"estimator": estimator, "eps": 1e-8}
        got = [
            compute_advantages(
                torch.tensor([1e-4, 0.0], dtype=torch.float64),
                torch.tensor([0, 0]),
                torch.tensor([1, 1]),
                AdvantageConfig(**small, eps_in=eps_in),
            ).tolist()[0]
            for eps_in in ("variance", "std")
        ]
        assert got == pytest.approx([0.4472136, 0.9998], abs=1e-6)


def test_empty_batch_gives_an_empty_answer() -> None:
    none = torch.zeros(0)
    ids = torch.zeros(0, dtype=torch.int64)
    assert compute_advantages(none, ids, ids, AdvantageConfig()).shape == (0,)


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="the same length"):
        compute_advantages(
            torch.zeros(2), torch.zeros(3, dtype=torch.int64), torch.ones(2), AdvantageConfig()
        )


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_refused(reward: float) -> None:
    ids = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(ValueError, match="NaN or infinite"):
        compute_advantages(torch.tensor([1.0, reward]), ids, ids + 1, AdvantageConfig())


@pytest.mark.parametrize(
    ("ratio", "sign", "dual"), [(1.5, 1.0, 0.0), (0.5, -1.0, 0.0), (4.0, -1.0, 3.0)]
)
def test_clipped_token_has_no_gradient(ratio: float, sign: float, dual: float) -> None:
    logprobs = torch.tensor([math.log(ratio)], requires_grad=True)
    config = LossConfig(dual_clip=dual)
    loss = policy_loss(logprobs, torch.zeros(1), torch.tensor([sign]), torch.tensor([1]), config)
    assert grad(loss.per_token, logprobs) == [0.0]


def grad(value: Tensor, logprobs: Tensor) -> list[float]:
    (gradient,) = torch.autograd.grad(value.sum(), logprobs)
    result: list[float] = gradient.tolist()
    return result


def test_forced_on_policy_ratio_is_one_with_the_gradient_of_the_log_prob() -> None:
    logprobs = torch.tensor([math.log(9.0), math.log(0.01)], requires_grad=True)
    signs = torch.tensor([2.0, -3.0])
    got = policy_loss(
        logprobs, torch.zeros(2), signs, torch.tensor([2]), LossConfig(on_policy_ratio=True)
    )
    assert got.per_token.tolist() == [-2.0, 3.0]
    assert float(got.clipped_fraction) == 0.0
    assert grad(got.per_token, logprobs) == [-2.0, 3.0]


def test_extreme_log_ratios_give_finite_losses_and_gradients() -> None:
    logprobs = torch.tensor([500.0, -500.0, 500.0, -500.0], requires_grad=True)
    signs = torch.tensor([1.0, 1.0, -1.0, -1.0])
    got = policy_loss(logprobs, torch.zeros(4), signs, torch.tensor([4]), LossConfig())
    assert torch.isfinite(got.per_token).all()
    assert grad(got.per_token, logprobs) == [0.0] * 4


def test_input_clamp_of_both_has_its_own_bound() -> None:
    config = KLConfig(estimator="k1", clamp="both", clamp_value=50.0, input_clamp_value=20.0)
    assert kl_penalty(torch.tensor([30.0]), torch.zeros(1), config).tolist() == [20.0]


def test_k3_that_the_output_clamp_cuts_has_gradient_zero_not_nan() -> None:
    logprobs = torch.tensor([-300.0, -50.0, 5.0], requires_grad=True)
    value = kl_penalty(logprobs, torch.zeros(3), KLConfig(estimator="k3", clamp="output"))
    assert value.tolist() == pytest.approx([10.0, 10.0, 4.0067379])
    assert grad(value, logprobs)[:2] == [0.0, 0.0]


def test_mismatch_corrections_treat_a_token_out_of_bounds_each_in_its_way() -> None:
    trainer = torch.tensor([0.1, 1.0, 8.0]).log()
    lengths = torch.tensor([3])
    expected = {"none": [1, 1, 1], "tis": [0.5, 1, 5], "icepop": [0, 1, 0]}
    for correction, weights in expected.items():
        config = MismatchConfig(correction=correction)  # type: ignore[arg-type]
        got = mismatch_weights(trainer, torch.zeros(3), lengths, config)
        assert got.weights.tolist() == pytest.approx(weights)
        assert float(got.masked_fraction) == pytest.approx(0.0 if correction == "none" else 2 / 3)


def test_gdpo_normalises_raw_reward_penalty_and_parts_each_in_its_group() -> None:
    def trajectory(raw: float, shaped: float, part: float | None) -> Trajectory:
        metrics: dict[str, float | str] = {} if part is None else {"part.form": part}
        verdict = Verdict(raw, "scored", "", metrics=metrics)
        return Trajectory(0, Completion("a", (1,), (0.0,), "stop"), verdict, shaped)

    rows = [(1.0, 0.9, 1.0), (0.0, -0.5, None), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)]
    group = Group(named_sample("a"), tuple(trajectory(*row) for row in rows))
    weights = {"raw": 1.0, "shaping": 0.5, "part.form": 2.0}
    got = advantages_of([group], AdvantageConfig(estimator="gdpo", rewards=weights))
    columns = np.array([[1, -0.1, 1], [0, -0.5, 0], [1, 0, 0], [0, 0, 0]])
    z = (columns - columns.mean(0)) / (columns.std(0) + 1e-8)
    total = z @ np.array([1.0, 0.5, 2.0])
    expected = (total - total.mean()) / (total.std() + 1e-8)
    assert got.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize("level", ["token", "sequence", "geometric"])
@pytest.mark.parametrize("correction", ["tis", "icepop"])
@pytest.mark.parametrize("veto", [0.0, 0.02])
def test_mismatch_weights_equal_a_transcription_in_numpy(
    level: Any, correction: Any, veto: float
) -> None:
    # the geometric mean and the veto are in no package that the conformance kit runs
    random = np.random.default_rng(7)
    lengths = [1, 4, 2, 6, 3]
    gaps = [random.normal(0, 1.5, n) for n in lengths]
    gaps[3][2] = -4.0  # rho is 0.018
    expected = []
    for gap in gaps:
        rho = np.exp(gap)
        mean = {"token": rho, "sequence": rho.prod(), "geometric": rho.prod() ** (1 / len(rho))}
        ratio = np.broadcast_to(mean[level], rho.shape)
        inside = (ratio >= 0.5) & (ratio <= 2.0)
        weights = np.clip(ratio, 0.5, 2.0) if correction == "tis" else np.where(inside, ratio, 0.0)
        expected += (weights * (rho.min() >= veto)).tolist()
    config = MismatchConfig(correction=correction, level=level, veto=veto, low=0.5, high=2.0)
    trainer = torch.from_numpy(np.concatenate(gaps))
    got = mismatch_weights(trainer, torch.zeros_like(trainer), torch.tensor(lengths), config)
    assert got.weights.tolist() == pytest.approx(expected, rel=1e-9)
    assert 0 < expected.count(0.0) < len(expected) or (correction, veto) == ("tis", 0.0)


def test_mismatch_weights_carry_no_gradient_and_stay_finite() -> None:
    trainer = torch.tensor([900.0, -900.0], requires_grad=True)
    for correction in ("tis", "icepop", "sequence_mask"):
        config = MismatchConfig(correction=correction)
        got = mismatch_weights(trainer, torch.zeros(2), torch.tensor([2]), config).weights
        assert not got.requires_grad
        assert torch.isfinite(got).all()


def test_mismatch_size_is_k3_and_kishs_share_over_counted_tokens_of_all_passes() -> None:
    ratios = torch.tensor([0.5, 1.0, 2.0, 9.0])
    counted = torch.tensor([True, True, True, False])  # the last one is stale
    one = mismatch_sums(ratios[:2].log(), torch.zeros(2), counted[:2])
    two = mismatch_sums(ratios[2:].log(), torch.zeros(2), counted[2:])
    size = mismatch_size((one + two).tolist())
    # k3 = rho - 1 - log rho: .19315 + 0 + .30685; (.5 + 1 + 2)^2 / (3 (.25 + 1 + 4))
    assert size is not None
    assert size.kl == pytest.approx(0.5 / 3)
    assert size.ess == pytest.approx(12.25 / 15.75)
    assert (
        mismatch_size(mismatch_sums(ratios.log(), torch.zeros(4), counted & False).tolist()) is None
    )


def test_a_sampler_that_agrees_has_no_kl_and_all_its_samples() -> None:
    logprobs = torch.linspace(-9, 0, 50)
    size = mismatch_size(
        mismatch_sums(logprobs, logprobs, torch.ones(50, dtype=torch.bool)).tolist()
    )
    assert size is not None
    assert size.kl == 0.0
    assert size.ess == pytest.approx(1.0)


def test_mismatch_kl_is_the_kl_of_sampler_against_trainer() -> None:
    # exact over a distribution: tokens occur in the sampler's proportions
    sampler, trainer = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([0.25, 0.25, 0.5])
    drawn = torch.tensor([0, 0, 1, 2])
    got = mismatch_size(
        mismatch_sums(
            trainer[drawn].log(), sampler[drawn].log(), torch.ones(4, dtype=torch.bool)
        ).tolist()
    )
    assert got is not None
    assert got.kl == pytest.approx(float((sampler * (sampler / trainer).log()).sum()), rel=1e-5)


def test_a_trajectory_without_tokens_takes_no_share_of_the_sequence_mean() -> None:
    lengths = torch.tensor([0, 2])
    assert token_weights(lengths, "sequence_mean", 8).tolist() == [0.5, 0.5]
    assert token_weights(torch.tensor([0]), "sequence_mean", 8).tolist() == []


def test_unknown_aggregation_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown aggregation"):
        token_weights(torch.tensor([1]), "median", 8)
