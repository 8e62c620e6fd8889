"""With matching options, values and gradients equal those of TRL 1.16.0 to 1e-6."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import mismatch_weights, token_weights
from prorl_training.algorithm.policy_loss import LOG_RATIO_LIMIT, policy_loss
from prorl_training.algorithm.shaping import length_reward, overlong_penalty
from prorl_training.config import (
    AdvantageConfig,
    KLConfig,
    LengthPenaltyConfig,
    LossConfig,
    MismatchConfig,
    OverlongConfig,
)

AGGREGATION = {
    "grpo": "sequence_mean",
    "bnpo": "token_mean",
    "dapo": "token_mean",
    "dr_grpo": "constant",
}
ADVANTAGES = {
    "group": AdvantageConfig(estimator="grpo", std="sample", eps=1e-4),
    "none": AdvantageConfig(estimator="dr_grpo"),
    "batch": AdvantageConfig(estimator="batch_std", std="sample", eps=1e-4),
}
CORRECTION: dict[str, Any] = {"truncate": "tis", "mask": "icepop"}


@pytest.mark.parametrize("scale", sorted(ADVANTAGES))
def test_advantages_equal_trls(golden: Any, near: Any, scale: str) -> None:
    cases = [c for c in golden("trl_advantages") if c.options["scale_rewards"] == scale]
    assert len(cases) >= 4
    for case in cases:
        groups = case.tensor("groups", torch.int64)
        ours = compute_advantages(case.tensor("rewards"), groups, case.lengths, ADVANTAGES[scale])
        near(ours, case.outputs["advantages"])


def test_gdpos_advantages_equal_trls(golden: Any, near: Any) -> None:
    for case in golden("trl_gdpo"):
        rewards = torch.stack([case.tensor("rewards"), -case.lengths.double() / 8], dim=1)
        weights = dict(zip(("raw", "shaping"), case.options["weights"], strict=True))
        config = AdvantageConfig(estimator="gdpo", std="sample", eps=1e-4, rewards=weights)
        groups = case.tensor("groups", torch.int64)
        ours = compute_advantages(rewards, groups, case.lengths, config)
        near(ours, case.outputs["advantages"])


def test_clipped_loss_and_its_gradient_equal_trls(golden: Any, near: Any) -> None:
    compared = 0
    for case in golden("trl_policy_loss"):
        logprobs, old = case.tensor("logprobs").requires_grad_(), case.tensor("old_logprobs")
        if float((logprobs - old).detach().abs().max()) > LOG_RATIO_LIMIT:
            continue  # TRL does not bound the log-ratio; see the test below
        compared += 1
        options = case.options
        config = LossConfig(
            clip_low=options["epsilon_low"],
            clip_high=options["epsilon_high"],
            dual_clip=options["delta"] or 0.0,
        )
        per_token, _ = policy_loss(logprobs, old, case.tensor("advantages"), case.lengths, config)
        mode = AGGREGATION[options["loss_type"]]
        weights = token_weights(case.lengths, mode, options["max_completion_length"])
        loss = (weights * per_token).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        near(loss, case.outputs["loss"])
        near(logprobs.grad, case.gradient)
    assert compared >= 16


def test_trls_unbounded_log_ratio_is_beyond_ours(golden: Any) -> None:
    worst = 0.0
    for case in golden("trl_policy_loss"):
        if case.options["delta"] is None:
            worst = max(worst, *(abs(g) for g in case.gradient))
    assert worst > 1e20  # exp(60) at one token; ours stops at exp(20) = 4.9e8


def test_k3_and_its_gradient_equal_trls(golden: Any, near: Any) -> None:
    for case in golden("trl_kl"):
        logprobs = case.tensor("logprobs").requires_grad_()
        config = KLConfig(estimator="k3", clamp="none")
        value = kl_penalty(logprobs, case.tensor("ref_logprobs"), config)
        mean = (token_weights(case.lengths, "token_mean", 0) * value).sum()
        mean.backward()  # type: ignore[no-untyped-call]
        near(mean, case.outputs["kl"])
        near(logprobs.grad, case.gradient)


def test_importance_weights_equal_trls(golden: Any, near: Any) -> None:
    for case in golden("trl_importance_sampling"):
        options = case.options
        level, kind = options["mode"].split("_")
        config = MismatchConfig(
            correction=CORRECTION[kind],
            level=level,
            low=options["clip_min"] or 0.0,
            high=options["clip_max"],
        )
        sampler = case.tensor("sampler_logprobs").float().double()  # TRL holds them in float32
        ours = mismatch_weights(case.tensor("old_logprobs"), sampler, case.lengths, config)
        near(ours.weights, case.outputs["weights"])


def test_cosine_reward_equals_trls_below_the_limit(golden: Any, near: Any) -> None:
    for case in golden("trl_cosine"):
        options = case.options
        config = LengthPenaltyConfig(
            form="correctness_aware",
            correct_short=options.get("max_value_correct", 1.0),
            correct_long=options.get("min_value_correct", 0.5),
            wrong_short=options.get("min_value_wrong", -1.0),
            wrong_long=options.get("max_value_wrong", -0.5),
        )
        limit = options["max_len"]
        for tokens, theirs in zip(case.batch["tokens"], case.outputs["rewards"], strict=True):
            ours = length_reward(config, options["correct"], tokens, limit)
            if tokens < limit:
                near(ours, theirs)
            else:  # Yeo et al. define the value for truncated responses; TRL stays at the long bound
                assert ours == config.exceed
                assert theirs == (config.correct_long if options["correct"] else config.wrong_long)


def test_overlong_equals_trls(golden: Any, near: Any) -> None:
    for case in golden("trl_overlong"):
        config = OverlongConfig(buffer_tokens=case.options["soft_punish_cache"], factor=1.0)
        limit = case.options["max_completion_len"]
        ours = [overlong_penalty(config, tokens, limit) for tokens in case.batch["tokens"]]
        near(ours, case.outputs["rewards"])
