"""With matching options, values and gradients equal those of OpenRLHF 0.11.2 to 1e-6."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import mismatch_weights, token_weights
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.algorithm.shaping import overlong_penalty, stop_properly
from prorl_training.config import (
    AdvantageConfig,
    KLConfig,
    LossConfig,
    MismatchConfig,
    OverlongConfig,
    StopProperlyConfig,
)

AGGREGATION = {True: "token_mean", False: "sequence_mean"}
CORRECTION: dict[tuple[str, str], Any] = {
    ("token", "clip"): "tis",
    ("token", "mask"): "icepop",
    ("seq", "mask"): "sequence_mask",
}
ADVANTAGES = {
    "reinforce_baseline": AdvantageConfig(normalise="token", eps=1e-12),
    "group_norm": AdvantageConfig(estimator="grpo", std="sample", eps=1e-9),
    "dr_grpo": AdvantageConfig(estimator="dr_grpo"),
}


def test_clipped_loss_and_its_gradient_equal_openrlhfs(golden: Any, near: Any) -> None:
    for case in golden("openrlhf_policy_loss"):
        config = LossConfig(
            clip_low=case.options["clip_eps_low"],
            clip_high=case.options["clip_eps_high"],
            dual_clip=case.options["dual_clip"] or 0.0,
        )
        logprobs = case.tensor("logprobs").requires_grad_()
        per_token, clipped = policy_loss(
            logprobs, case.tensor("old_logprobs"), case.tensor("advantages"), case.lengths, config
        )
        mode = AGGREGATION[case.options["token_level_loss"]]
        loss = (token_weights(case.lengths, mode, 0) * per_token).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        near(loss, case.outputs["loss"])
        near(logprobs.grad, case.gradient)
        if not config.dual_clip:  # OpenRLHF's fraction excludes the dual clip, ours includes it
            near(clipped, case.outputs["clip_ratio"])


def test_mismatch_corrections_equal_openrlhfs(golden: Any, near: Any) -> None:
    for case in golden("openrlhf_is_correction"):
        options = case.options
        low, high = options["is_correction_threshold"]
        kind = CORRECTION[options["is_correction_level"], options["is_correction_mode"]]
        weights, masked = mismatch_weights(
            case.tensor("old_logprobs"),
            case.tensor("sampler_logprobs"),
            case.lengths,
            MismatchConfig(correction=kind, low=low, high=high),
        )
        logprobs = case.tensor("logprobs").requires_grad_()
        config = LossConfig(clip_low=0.2, clip_high=0.27)
        per_token, _ = policy_loss(
            logprobs, case.tensor("old_logprobs"), case.tensor("advantages"), case.lengths, config
        )
        loss = (token_weights(case.lengths, "token_mean", 0) * weights * per_token).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        near(loss, case.outputs["loss"])
        near(logprobs.grad, case.gradient)
        near(masked, case.outputs["filter_ratio"])


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_kl_estimates_and_their_gradients_equal_openrlhfs(
    golden: Any, near: Any, estimator: str
) -> None:
    (case,) = [c for c in golden("openrlhf_kl") if c.options["kl_estimator"] == estimator]
    config = KLConfig(estimator=estimator, clamp="output")
    logprobs = case.tensor("logprobs", torch.float32).requires_grad_()
    value = kl_penalty(logprobs, case.tensor("ref_logprobs", torch.float32), config)
    value.sum().backward()  # type: ignore[no-untyped-call]
    near(value, case.outputs["kl"])
    inside = value.detach().abs() != 10  # at the bound itself, torch 2.14 changed clamp's gradient
    assert logprobs.grad is not None
    near(logprobs.grad[inside], torch.tensor(case.gradient)[inside])


def test_openrlhfs_k2_gradient_dies_at_the_root_of_twenty_and_the_posts_at_ten(golden: Any) -> None:
    (case,) = [c for c in golden("openrlhf_kl") if c.options["kl_estimator"] == "k2"]
    gaps = case.batch["logprobs"]
    theirs = dict(zip(gaps, case.gradient, strict=True))
    logprobs = case.tensor("logprobs").requires_grad_()
    kl_penalty(logprobs, torch.zeros_like(logprobs), KLConfig(clamp="input")).sum().backward()  # type: ignore[no-untyped-call]
    assert logprobs.grad is not None
    posts = dict(zip(gaps, logprobs.grad.tolist(), strict=True))
    # sqrt(20) = 4.472136
    assert theirs[4.4721] == pytest.approx(4.4721, abs=1e-6)
    assert theirs[4.4722] == 0.0
    assert posts[4.4722] == pytest.approx(4.4722)
    assert posts[9.9] == pytest.approx(9.9)
    assert posts[10.1] == theirs[9.9] == 0.0


def test_aggregation_equals_openrlhfs(golden: Any, near: Any) -> None:
    for case in golden("openrlhf_aggregate"):
        mode = AGGREGATION[case.options["token_level_loss"]]
        loss = (token_weights(case.lengths, mode, 0) * case.tensor("advantages")).sum()
        near(loss, case.outputs["loss"])


@pytest.mark.parametrize("estimator", sorted(ADVANTAGES))
def test_advantages_equal_openrlhfs(golden: Any, near: Any, estimator: str) -> None:
    cases = [c for c in golden("openrlhf_advantages") if c.options["estimator"] == estimator]
    assert len(cases) >= 4
    for case in cases:
        ours = compute_advantages(
            case.tensor("rewards"),
            case.tensor("groups", torch.int64),
            case.lengths,
            ADVANTAGES[estimator],
        )
        near(ours, case.outputs["advantages"])


def test_overlong_and_stop_properly_equal_openrlhfs(golden: Any, near: Any) -> None:
    for case in golden("openrlhf_length_penalties"):
        options = case.options
        if "overlong_buffer_len" in options:
            config = OverlongConfig(
                buffer_tokens=options["overlong_buffer_len"],
                factor=options["overlong_penalty_factor"],
            )
            limit = options["max_new_tokens"]
            ours = [
                reward + overlong_penalty(config, tokens, limit)
                for reward, tokens in zip(case.batch["rewards"], case.batch["lengths"], strict=True)
            ]
        else:
            value = options["stop_properly_penalty_coef"]
            rule = StopProperlyConfig(mode="fixed" if value < 0 else "scale", value=value)
            ours = [
                stop_properly(rule, reward, cut)
                for reward, cut in zip(case.batch["rewards"], case.batch["truncated"], strict=True)
            ]
        near(ours, case.outputs["rewards"])
