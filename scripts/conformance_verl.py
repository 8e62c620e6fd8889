"""Golden vectors of verl: its own functions, called on random batches."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from conformance_batches import EXTREME_GAPS, Batch, case, draw, family, unpad, usual

Family = dict[str, Any]


def families() -> dict[str, Family]:
    """Return file name -> {function, batches, cases}."""
    return {
        "advantages": _advantages(),
        "kl": _kl(),
        "policy_loss": _policy_loss(),
        "objectives": _objectives(),
        "aggregate": _aggregate(),
        "rollout_correction": _rollout_correction(),
        "overlong": _overlong(),
    }


def _advantages() -> Family:
    from verl.trainer.ppo import core_algos

    batches = [draw(40, 2, 3), draw(41, 4, None), draw(42, 3, 2), draw(43, 5, 8), draw(44, 6, None)]
    calls = {
        "grpo": (core_algos.compute_grpo_outcome_advantage, {"norm_adv_by_std_in_grpo": True}),
        "dr_grpo": (core_algos.compute_grpo_outcome_advantage, {"norm_adv_by_std_in_grpo": False}),
        "grpo_vectorized": (
            core_algos.compute_grpo_vectorized_outcome_advantage,
            {"norm_adv_by_std_in_grpo": True},
        ),
        "reinforce_plus_plus_baseline": (
            core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage,
            {},
        ),
    }
    cases = []
    for (number, batch), (name, (function, options)) in itertools.product(
        enumerate(batches), calls.items()
    ):
        mask = batch.mask()
        rewards = torch.zeros_like(mask)
        rewards[torch.arange(len(mask)), torch.tensor(batch.lengths) - 1] = torch.tensor(
            batch.rewards, dtype=mask.dtype
        )
        advantages, _ = function(rewards, mask, np.array(batch.groups), **options)
        outputs = {"advantages": advantages[:, 0].tolist()}
        cases.append(case(number, {"estimator": name}, outputs))
    return family(
        "verl.trainer.ppo.core_algos.compute_*_outcome_advantage",
        cases,
        batches,
        "groups",
        "rewards",
    )


def _kl() -> Family:
    from verl.trainer.ppo.core_algos import kl_penalty

    gaps = [0.0, 1e-3, -1e-3, *EXTREME_GAPS, 2.6, -2.6, 10.0, -10.0]
    cases = []
    for estimator in ("k1", "k2", "k3"):
        logprobs = torch.tensor(gaps, dtype=torch.float64, requires_grad=True)
        value = kl_penalty(logprobs, torch.zeros_like(logprobs), estimator)
        value.sum().backward()
        outputs = {"kl": value.tolist()}
        gradient = logprobs.grad.tolist()
        options = {"kl_penalty": estimator}
        cases.append(case(0, options, outputs, gradient))
    batch = {"seed": None, "logprobs": gaps, "ref_logprobs": [0.0] * len(gaps)}
    return family("verl.trainer.ppo.core_algos.kl_penalty", cases, [batch])


def _policy_loss() -> Family:
    batches = usual()
    cases = [
        {"batch": number, **_clipped(batch, high, dual, mode)}
        for (number, batch), high, dual, mode in itertools.product(
            enumerate(batches), (0.28, 0.4), (3.0, 10.0), ("token-mean", "seq-mean-token-mean")
        )
    ]
    fields = ("logprobs", "old_logprobs", "advantages")
    return family(
        "verl.trainer.ppo.core_algos.compute_policy_loss_vanilla", cases, batches, *fields
    )


def _clipped(batch: Batch, high: float, dual: float, mode: str) -> dict[str, Any]:
    """Return one case of PPO's loss with its options, the clip fractions and the gradient."""
    clip = {"clip_ratio_low": 0.2, "clip_ratio_high": high, "clip_ratio_c": dual}
    result, metrics = _case(batch, "vanilla", clip, mode)
    result["outputs"] |= {
        "clip_fraction": metrics["actor/pg_clipfrac"],
        "dual_clip_fraction": metrics["actor/pg_clipfrac_lower"],
    }
    return result


def _case(
    batch: Batch, name: str, options: dict[str, float], mode: str, weights: Any = None
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the options, loss and gradient of the policy loss ``name``, and verl's metrics."""
    from verl.trainer.ppo.core_algos import get_policy_loss_fn
    from verl.workers.config import ActorConfig

    config = ActorConfig(strategy="fsdp", ppo_micro_batch_size_per_gpu=1, rollout_n=1, **options)
    logprobs = batch.padded("logprobs").requires_grad_()
    loss, metrics = get_policy_loss_fn(name)(
        batch.padded("old_logprobs"),
        logprobs,
        batch.padded("advantages"),
        batch.mask(),
        loss_agg_mode=mode,
        config=config,
        rollout_is_weights=weights,
    )
    loss.backward()
    result = {
        "options": options | {"loss_agg_mode": mode},
        "outputs": {"loss": loss.item()},
        "gradient": unpad(logprobs.grad, batch.lengths),
    }
    return result, metrics


OBJECTIVES = {
    "gspo": {"clip_ratio_low": 0.1, "clip_ratio_high": 0.15, "clip_ratio_c": 3.0},
    "cispo": {"clip_ratio_low": 0.9, "clip_ratio_high": 0.28},
    "dppo_tv": {"clip_ratio_low": 0.15, "clip_ratio_high": 0.1, "clip_ratio_c": 20.0},
    "dppo_kl": {"clip_ratio_low": 0.05, "clip_ratio_high": 0.03, "clip_ratio_c": 2.0},
    "sapo": {"tau_pos": 1.0, "tau_neg": 1.05},
    "decoupled": {"clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "clip_ratio_c": 3.0},
}


def _objectives() -> Family:
    """Return cases of the other policy losses. ``decoupled`` is PPO with truncated weights against the sampler."""
    from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights

    batches = [
        Batch(**(vars(b) | {"logprobs": [min(x, -1e-3) for x in b.logprobs]})) for b in usual()
    ]
    cases = []
    for (number, batch), (name, options) in itertools.product(
        enumerate(batches), OBJECTIVES.items()
    ):
        weights = None
        if name == "decoupled":
            gap = batch.padded("old_logprobs") - batch.padded("sampler_logprobs")
            weights, _ = compute_rollout_correction_weights(gap, batch.mask(), "token", 2.0)
        loss = "vanilla" if name == "decoupled" else name
        mode = "seq-mean-token-mean" if name in ("gspo", "sapo") else "token-mean"
        result, metrics = _case(batch, loss, options, mode, weights)
        result["options"]["name"] = name
        result["outputs"]["clip_fraction"] = metrics["actor/pg_clipfrac"]
        cases.append({"batch": number, **result})
    fields = ("logprobs", "old_logprobs", "sampler_logprobs", "advantages")
    return family("verl.trainer.ppo.core_algos.compute_policy_loss_*", cases, batches, *fields)


def _aggregate() -> Family:
    from verl.trainer.ppo.core_algos import agg_loss

    batches = [draw(50, 2, 3), draw(51, 4, None), draw(52, 1, 5)]
    cases = []
    for (number, batch), (mode, scale) in itertools.product(
        enumerate(batches),
        (
            ("token-mean", None),
            ("seq-mean-token-mean", None),
            ("seq-mean-token-sum-norm", 16),
            ("seq-mean-token-sum-norm", 1000),
        ),
    ):
        loss = agg_loss(batch.padded("advantages"), batch.mask(), mode, loss_scale_factor=scale)
        options = {"loss_agg_mode": mode, "loss_scale_factor": scale}
        cases.append(case(number, options, {"loss": loss.item()}))
    return family("verl.trainer.ppo.core_algos.agg_loss", cases, batches, "advantages")


def _rollout_correction() -> Family:
    from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_rejection_mask

    batches = usual()
    kinds: list[dict[str, Any]] = [
        {"rollout_is": "token", "rollout_is_threshold": 2.0},
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {"rollout_is": "sequence", "rollout_is_threshold": 2.0},
        {"rollout_is": "sequence", "rollout_is_threshold": "0.5_5.0"},
        {
            "rollout_is": "token",
            "rollout_is_threshold": 1e9,
            "rollout_rs": "seq_mean_k1",
            "rollout_rs_threshold": "0.9_1.1",
        },
        {
            "rollout_is": "token",
            "rollout_is_threshold": 1e9,
            "rollout_rs": "seq_mean_k1",
            "rollout_rs_threshold": "0.2_5.0",
        },
    ]
    cases = []
    for (number, batch), options in itertools.product(enumerate(batches), kinds):
        weights, mask, metrics = compute_rollout_correction_and_rejection_mask(
            batch.padded("old_logprobs"), batch.padded("sampler_logprobs"), batch.mask(), **options
        )
        outputs: dict[str, Any] = {
            "weights": unpad(weights.batch["rollout_is_weights"], batch.lengths),
            "kept": unpad(mask, batch.lengths),
        }
        if "rollout_rs" in options:
            outputs["masked_fraction"] = metrics["rollout_corr/rollout_rs_seq_masked_fraction"]
        cases.append(case(number, options, outputs))
    helper = "verl.trainer.ppo.rollout_corr_helper"
    return family(
        f"{helper}.compute_rollout_correction_and_rejection_mask",
        cases,
        batches,
        "old_logprobs",
        "sampler_logprobs",
    )


class _Decoder:
    """A tokenizer for the reward manager, whose scoring function ignores the text."""

    eos_token = "</s>"

    def decode(self, ids: Any, skip_special_tokens: bool) -> str:
        return ""


def _overlong() -> Family:
    batches = [draw(60, 2, 4), draw(61, 3, 3)]
    cases = []
    for (number, batch), (buffer, factor, limit) in itertools.product(
        enumerate(batches), ((4, 1.0, 8), (3, 0.5, 8), (8, 2.0, 8), (2, 1.0, 5))
    ):
        options = {"max_resp_len": limit, "len": buffer, "penalty_factor": factor}
        outputs = {"rewards": _managed_rewards(batch, limit, buffer, factor)}
        cases.append(case(number, options, outputs))
    return family(
        "verl.workers.reward_manager.dapo.DAPORewardManager.__call__",
        cases,
        batches,
        "rewards",
        dtype="float32",
    )


def _managed_rewards(batch: Batch, limit: int, buffer: int, factor: float) -> list[float]:
    """Return the rewards (B,) that the DAPO reward manager writes to the last tokens."""
    from verl import DataProto
    from verl.workers.reward_manager.dapo import DAPORewardManager

    cfg = SimpleNamespace(enable=True, len=buffer, penalty_factor=factor, log=False)
    manager = DAPORewardManager(
        _Decoder(),
        num_examine=0,
        compute_score=lambda data_source, solution_str, ground_truth, extra_info: ground_truth,
        max_resp_len=limit,
        overlong_buffer_cfg=cfg,
    )
    mask = batch.mask(torch.int64)
    data = DataProto.from_dict(
        tensors={
            "prompts": torch.ones(len(mask), 1, dtype=torch.int64),
            "responses": torch.ones_like(mask),
            "attention_mask": torch.cat([torch.ones(len(mask), 1, dtype=torch.int64), mask], dim=1),
        },
        non_tensors={
            "reward_model": np.array([{"ground_truth": r} for r in batch.rewards], dtype=object),
            "data_source": np.array(["conformance"] * len(mask), dtype=object),
            "extra_info": np.array([{} for _ in batch.rewards], dtype=object),
        },
    )
    return [float(x) for x in manager(data).sum(dim=-1)]
