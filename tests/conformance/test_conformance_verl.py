"""With matching options, values and gradients equal those of verl 0.9.1 to 1e-6."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import Tokens, mismatch_weights, pass_loss, token_weights
from prorl_training.algorithm.policy_loss import per_sequence, policy_loss
from prorl_training.algorithm.shaping import overlong_penalty
from prorl_training.config import (
    AdvantageConfig,
    KLConfig,
    LossConfig,
    MismatchConfig,
    OverlongConfig,
)

AGGREGATION = {
    "token-mean": "token_mean",
    "seq-mean-token-mean": "sequence_mean",
    "seq-mean-token-sum-norm": "constant",
}
ADVANTAGES = {
    "grpo": AdvantageConfig(estimator="grpo", std="sample", eps=1e-6),
    "grpo_vectorized": AdvantageConfig(estimator="grpo", std="sample", eps=1e-6),
    "dr_grpo": AdvantageConfig(estimator="dr_grpo"),
    "reinforce_plus_plus_baseline": AdvantageConfig(
        normalise="token", std="sample", eps=1e-8, eps_in="variance"
    ),
}
KL: dict[str, Any] = {"k1": "none", "k2": "none", "k3": "both"}


def _ours(case: Any, estimator: str) -> Any:
    groups = case.tensor("groups", torch.int64)
    return compute_advantages(case.tensor("rewards"), groups, case.lengths, ADVANTAGES[estimator])


def _cases(golden: Any, estimator: str) -> list[Any]:
    cases = [c for c in golden("verl_advantages") if c.options["estimator"] == estimator]
    assert len(cases) >= 4
    return cases


@pytest.mark.parametrize("estimator", ["grpo", "dr_grpo"])
def test_group_advantages_equal_verls(golden: Any, near: Any, estimator: str) -> None:
    for case in _cases(golden, estimator):
        near(_ours(case, estimator), case.outputs["advantages"])


def test_verls_vectorised_grpo_scales_up_rounding_where_a_group_has_no_spread(
    golden: Any, near: Any
) -> None:
    noise = 0.0
    for case in _cases(golden, "grpo_vectorized"):
        ours = _ours(case, "grpo_vectorized")
        for group in set(case.batch["groups"]):
            members = [i for i, g in enumerate(case.batch["groups"]) if g == group]
            rewards = [case.batch["rewards"][i] for i in members]
            theirs = [case.outputs["advantages"][i] for i in members]
            if max(rewards) - min(rewards) > 0.1:  # verl computes in float32
                near(ours[members], theirs)
            elif max(rewards) == min(rewards):
                assert ours[members].tolist() == [0.0] * len(members)
                noise = max(noise, *(abs(x) for x in theirs))
    assert noise > 1e-3  # 0.1 in float32: (0.1 - mean) / 1e-6


def test_batch_whitened_advantages_equal_verls(golden: Any, near: Any) -> None:
    for case in _cases(golden, "reinforce_plus_plus_baseline"):
        near(_ours(case, "reinforce_plus_plus_baseline"), case.outputs["advantages"])


def test_eps_added_to_the_root_is_not_verls_at_a_small_spread(golden: Any) -> None:
    worst = 0.0
    for case in _cases(golden, "reinforce_plus_plus_baseline"):
        groups = case.tensor("groups", torch.int64)
        config = AdvantageConfig(normalise="token", std="sample", eps=1e-8)
        ours = compute_advantages(case.tensor("rewards"), groups, case.lengths, config)
        theirs = torch.tensor(case.outputs["advantages"], dtype=torch.float64)
        worst = max(worst, float((ours - theirs).abs().max()))
    assert worst > 1e-5


@pytest.mark.parametrize("estimator", sorted(KL))
def test_kl_estimates_and_their_gradients_equal_verls(
    golden: Any, near: Any, estimator: str
) -> None:
    (case,) = [c for c in golden("verl_kl") if c.options["kl_penalty"] == estimator]
    config = KLConfig(estimator=estimator, clamp=KL[estimator])
    logprobs = case.tensor("logprobs").requires_grad_()
    value = kl_penalty(logprobs, case.tensor("ref_logprobs"), config)
    value.sum().backward()  # type: ignore[no-untyped-call]
    near(value, case.outputs["kl"])
    near(logprobs.grad, case.gradient)


def test_clipped_loss_and_its_gradient_equal_verls(golden: Any, near: Any) -> None:
    for case in golden("verl_policy_loss"):
        options = case.options
        config = LossConfig(
            clip_low=options["clip_ratio_low"],
            clip_high=options["clip_ratio_high"],
            dual_clip=options["clip_ratio_c"],
        )
        logprobs = case.tensor("logprobs").requires_grad_()
        per_token, clipped = policy_loss(
            logprobs, case.tensor("old_logprobs"), case.tensor("advantages"), case.lengths, config
        )
        weights = token_weights(case.lengths, AGGREGATION[options["loss_agg_mode"]], 0)
        loss = (weights * per_token).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        near(loss, case.outputs["loss"])
        near(logprobs.grad, case.gradient)
        near(clipped, case.outputs["clip_fraction"] + case.outputs["dual_clip_fraction"])


def _loss_config(name: str, options: Any) -> LossConfig:
    if name == "sapo":
        return LossConfig(
            name=name, options={"positive": options["tau_pos"], "negative": options["tau_neg"]}
        )
    low, high = options["clip_ratio_low"], options["clip_ratio_high"]
    if name.startswith("dppo"):
        bounds = {"low": low, "high": high, "max_ratio": options["clip_ratio_c"]}
        return LossConfig(name=name, options=bounds)
    if name == "decoupled":
        tis = MismatchConfig(correction="tis", low=0.0, high=2.0)
        dual = options["clip_ratio_c"]
        return LossConfig(clip_low=low, clip_high=high, dual_clip=dual, mismatch=tis)
    return LossConfig(name=name, clip_low=low, clip_high=high)


@pytest.mark.parametrize("name", ["gspo", "cispo", "dppo_tv", "dppo_kl", "sapo", "decoupled"])
def test_other_objectives_and_their_gradients_equal_verls(
    golden: Any, near: Any, name: str
) -> None:
    compared = 0
    for case in (c for c in golden("verl_objectives") if c.options["name"] == name):
        logprobs = case.tensor("logprobs").requires_grad_()
        old, lengths = case.tensor("old_logprobs"), case.lengths
        gap = per_sequence((logprobs - old).detach(), lengths, mean=True)
        if name == "gspo" and float(gap.abs().max()) > 10:
            continue  # verl bounds the sequence's log-ratio by 10 from above, we by 20
        compared += 1
        weights = token_weights(lengths, AGGREGATION[case.options["loss_agg_mode"]], 0)
        sampled, advantages = case.tensor("sampler_logprobs"), case.tensor("advantages")
        tokens = Tokens(logprobs, old, sampled, None, advantages, weights, lengths)
        result = pass_loss(tokens, _loss_config(name, case.options), KLConfig())
        result.loss.backward()  # type: ignore[no-untyped-call]
        near(result.loss, case.outputs["loss"])
        near(logprobs.grad, case.gradient)
        if name.startswith("dppo"):
            near(result.clipped_fraction, case.outputs["clip_fraction"])
    assert compared >= 3


def test_aggregation_equals_verls(golden: Any, near: Any) -> None:
    for case in golden("verl_aggregate"):
        scale = case.options["loss_scale_factor"] or 0
        weights = token_weights(case.lengths, AGGREGATION[case.options["loss_agg_mode"]], scale)
        near((weights * case.tensor("advantages")).sum(), case.outputs["loss"])


def test_rollout_corrections_equal_verls(golden: Any, near: Any) -> None:
    for case in golden("verl_rollout_correction"):
        options = case.options
        threshold = options["rollout_is_threshold"]
        if "rollout_rs" in options:
            # verl bounds minus the mean log-ratio, so the bounds of the ratio are the reciprocals
            low, high = (float(x) for x in options["rollout_rs_threshold"].split("_"))
            config = MismatchConfig(correction="sequence_mask", low=1 / high, high=1 / low)
        elif isinstance(threshold, str):
            low, high = (float(x) for x in threshold.split("_"))
            config = MismatchConfig(
                correction="icepop", level=options["rollout_is"], low=low, high=high
            )
        else:
            config = MismatchConfig(
                correction="tis", level=options["rollout_is"], low=0.0, high=threshold
            )
        ours = mismatch_weights(
            case.tensor("old_logprobs"), case.tensor("sampler_logprobs"), case.lengths, config
        )
        weights = torch.tensor(case.outputs["weights"], dtype=torch.float64)
        theirs = weights * torch.tensor(case.outputs["kept"], dtype=torch.float64)
        near(ours.weights, theirs)
        if "rollout_rs" in options:
            near(ours.masked_fraction, case.outputs["masked_fraction"])


def test_overlong_equals_verls_up_to_the_limit(golden: Any, near: Any) -> None:
    beyond = 0
    for case in golden("verl_overlong"):
        limit = case.options["max_resp_len"]
        config = OverlongConfig(
            buffer_tokens=case.options["len"], factor=case.options["penalty_factor"]
        )
        for raw, tokens, theirs in zip(
            case.batch["rewards"], case.batch["lengths"], case.outputs["rewards"], strict=True
        ):
            ours = raw + overlong_penalty(config, tokens, limit)
            if tokens <= limit:
                near(ours, theirs)
            else:  # verl's penalty keeps growing there; DAPO's eq. 13, TRL and OpenRLHF stop
                beyond += 1
                assert ours > theirs
    assert beyond
