"""Differences between the published formulas and the packages, one test per row of docs/reference/conformance.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import token_weights
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config import AdvantageConfig, KLConfig, LossConfig

POST = AdvantageConfig()


@pytest.fixture
def apart(record_property: Any) -> Iterator[list[float]]:
    """Collect absolute differences and record the largest."""
    seen: list[float] = []
    yield seen
    record_property("difference from the default", max(seen))


def gap(ours: Any, theirs: Any) -> float:
    left = torch.as_tensor(ours, dtype=torch.float64)
    return float((left - torch.as_tensor(theirs, dtype=torch.float64)).abs().max())


def advantages(case: Any, config: AdvantageConfig) -> Tensor:
    groups = case.tensor("groups", torch.int64)
    return compute_advantages(case.tensor("rewards"), groups, case.lengths, config)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("openrlhf_advantages", "estimator", "reinforce_baseline"),
        ("verl_advantages", "estimator", "reinforce_plus_plus_baseline"),
        ("trl_advantages", "scale_rewards", "batch"),
    ],
)
def test_batch_statistics_of_the_packages_are_not_the_posts(
    golden: Any, apart: list[float], name: str, option: str, value: str
) -> None:
    for case in golden(name):
        if case.options[option] == value:
            apart.append(gap(advantages(case, POST), case.outputs["advantages"]))
    assert max(apart) > 0.1


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("openrlhf_advantages", "estimator", "group_norm"),
        ("verl_advantages", "estimator", "grpo"),
        ("trl_advantages", "scale_rewards", "group"),
    ],
)
def test_population_and_sample_std_of_a_group_are_not_the_same(
    golden: Any, apart: list[float], name: str, option: str, value: str
) -> None:
    config = AdvantageConfig(estimator="grpo")
    for case in golden(name):
        if case.options[option] == value:
            apart.append(gap(advantages(case, config), case.outputs["advantages"]))
    assert max(apart) > 0.1


@pytest.mark.parametrize(
    ("name", "clamp"), [("openrlhf_kl", "output"), ("verl_kl", "none"), ("verl_kl", "both")]
)
def test_clamps_of_the_kl_estimate_are_apart_beyond_their_bounds(
    golden: Any, apart: list[float], name: str, clamp: Any
) -> None:
    estimator: Any = "k3" if clamp == "both" else "k2"
    for case in golden(name):
        if next(iter(case.options.values())) == estimator:
            value = kl_penalty(
                case.tensor("logprobs"), case.tensor("ref_logprobs"), KLConfig(estimator=estimator)
            )
            apart.append(gap(value, case.outputs["kl"]))
    assert max(apart) >= 40


def test_gradients_of_the_posts_k2_and_openrlhfs_are_apart_between_4_47_and_10(
    golden: Any, apart: list[float]
) -> None:
    (case,) = [c for c in golden("openrlhf_kl") if c.options["kl_estimator"] == "k2"]
    logprobs = case.tensor("logprobs").requires_grad_()
    value = kl_penalty(logprobs, torch.zeros_like(logprobs), KLConfig())
    (gradient,) = torch.autograd.grad(value.sum(), logprobs)
    inside = (
        logprobs.detach().abs() != 10
    )  # at the bound itself, torch 2.14 changed clamp's gradient
    apart.append(gap(gradient[inside], torch.tensor(case.gradient)[inside]))
    assert max(apart) == pytest.approx(9.9)


@pytest.mark.parametrize("name", ["verl_policy_loss", "trl_policy_loss"])
def test_dual_clip_and_a_higher_clip_bound_change_the_loss(
    golden: Any, apart: list[float], name: str
) -> None:
    for case in golden(name):
        old = case.tensor("old_logprobs")
        if not {"token-mean", "bnpo"} & set(case.options.values()):
            continue
        if float((case.tensor("logprobs") - old).abs().max()) > 1.5:
            continue  # ordinary ratios only
        loss = policy_loss(
            case.tensor("logprobs"), old, case.tensor("advantages"), case.lengths, LossConfig()
        )
        total = (token_weights(case.lengths, "token_mean", 0) * loss.per_token).sum()
        apart.append(gap(total, case.outputs["loss"]))
    assert max(apart) > 0.01
