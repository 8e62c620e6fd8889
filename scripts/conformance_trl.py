"""Golden vectors of TRL: GRPOTrainer's own methods and reward functions, called on random batches.

The trainer's constructor is skipped, and the batch's numbers replace the results of generation, forward pass and
scoring. Advantages, importance weights and the loss are TRL's code.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import torch
from conformance_batches import Batch, case, draw, family, unpad, usual
from torch import Tensor

Family = dict[str, Any]


def families() -> dict[str, Family]:
    """Return file name -> {function, batches, cases}."""
    return {
        "advantages": _advantages(),
        "gdpo": _gdpo(),
        "policy_loss": _policy_loss(),
        "kl": _kl(),
        "importance_sampling": _importance_sampling(),
        "cosine": _cosine(),
        "overlong": _overlong(),
    }


class _Model(torch.nn.Module):
    """A model without weights; TRL reads only its training and checkpointing flags."""

    is_gradient_checkpointing = False


class _Accelerator:
    """An accelerator with one process, which returns values unchanged."""

    device = torch.device("cpu")
    num_processes = 1
    process_index = 0

    def gather(self, value: Tensor) -> Tensor:
        return value

    def reduce(self, value: Tensor, reduction: str) -> Tensor:
        return value


def _trainer(batch: Batch, **settings: Any) -> Any:
    """Return a GRPOTrainer for ``batch``; ``settings`` become its attributes."""
    from trl import GRPOTrainer

    class Bare(GRPOTrainer):
        def __init__(self) -> None:
            pass

    arguments = SimpleNamespace(
        gradient_accumulation_steps=1,
        steps_per_generation=1,
        per_device_train_batch_size=len(batch.lengths),
        per_device_eval_batch_size=len(batch.lengths),
        gradient_checkpointing_kwargs=None,
        delta=settings.pop("delta", None),
        use_bias_correction_kl=False,
    )
    trainer = Bare()
    values = {"args": arguments} | _for_scoring(batch) | _for_the_loss() | settings
    for name, value in values.items():
        object.__setattr__(trainer, name, value)
    return trainer


def _for_scoring(batch: Batch) -> dict[str, Any]:
    """Return the attributes that ``_generate_and_score_completions`` reads, for text, one process and no tools."""
    return {
        "accelerator": _Accelerator(),
        "model": _Model(),
        "ref_model": None,
        "environment_factories": None,
        "environments": None,
        "tools": None,
        "_tokenizer": SimpleNamespace(pad_token_id=0),
        "pad_to_multiple_of": None,
        "mask_truncated_completions": False,
        "num_iterations": 1,
        "num_generations": batch.groups.count(0),
        "use_vllm": False,
        "vllm_importance_sampling_correction": False,
        "multi_objective_aggregation": "sum_then_normalize",
        "reward_weights": torch.ones(1, dtype=torch.float64),
        "reward_funcs": [None],
        "reward_func_names": ["reward"],
        "scale_rewards": "group",
        "_metrics": {"train": defaultdict(list), "eval": defaultdict(list)},
        "_logs": defaultdict(list) | {"rewards": defaultdict(list), "extra": defaultdict(list)},
        "_pending_extra_logs": defaultdict(list),
        "_pending_metrics": defaultdict(list),
        "log_multimodal": False,
    }


def _for_the_loss() -> dict[str, Any]:
    """Return the further attributes that ``_compute_loss`` reads, for the plain loss."""
    return {
        "beta": 0.0,
        "aux_loss_enabled": False,
        "top_entropy_quantile": 1.0,
        "off_policy_mask_threshold": None,
        "importance_sampling_level": "token",
        "current_gradient_accumulation_steps": 1,
        "_entropy_bonus_enabled": False,
        "epsilon_low": 0.2,
        "epsilon_high": 0.2,
        "loss_type": "bnpo",
        "max_completion_length": 16,
        "_step": 0,
        "state": SimpleNamespace(global_step=0, num_input_tokens_seen=0),
    }


def _scored(batch: Batch, **settings: Any) -> dict[str, Any]:
    """Return the result of ``_generate_and_score_completions`` for the batch."""
    trainer = _trainer(batch, **settings)
    ids = [[1] * length for length in batch.lengths]
    rows = iter(batch.sampler_logprobs)
    sampler = [[next(rows) for _ in row] for row in ids] if trainer.use_vllm else None
    # (prompt ids, completion ids, tool mask, texts, log-probs, extra fields, images, tool images)
    generated = ([[1]] * len(ids), ids, None, [""] * len(ids), sampler, {}, None, None)
    trainer._generate = lambda prompts: generated
    rewards = [batch.rewards]
    if len(trainer.reward_funcs) == 2:
        rewards.append([-length / 8 for length in batch.lengths])
    columns = torch.tensor(rewards, dtype=torch.float64).T.contiguous()
    trainer._calculate_rewards = lambda *_: columns
    old = batch.padded("old_logprobs", fill=0.0)
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (old, None, None)
    inputs: list[Any] = [{"prompt": str(group)} for group in batch.groups]
    result: dict[str, Any] = trainer._generate_and_score_completions(inputs)
    return result


def _advantages() -> Family:
    batches = [draw(70, 2, 3), draw(71, 4, 4), draw(72, 3, 2), draw(73, 5, 8)]
    cases = []
    for (number, batch), scale in itertools.product(enumerate(batches), ("group", "none", "batch")):
        advantages = _scored(batch, scale_rewards=scale)["advantages"].tolist()
        options = {"scale_rewards": scale}
        cases.append(case(number, options, {"advantages": advantages}))
    return family(
        "trl.GRPOTrainer._generate_and_score_completions", cases, batches, "groups", "rewards"
    )


def _gdpo() -> Family:
    """Return the advantages of two rewards, the drawn one and -length / 8."""
    batches = [draw(70, 2, 3), draw(71, 4, 4), draw(73, 5, 8)]
    cases = []
    for (number, batch), weights in itertools.product(enumerate(batches), ([1.0, 1.0], [1.0, 0.3])):
        advantages = _scored(
            batch,
            multi_objective_aggregation="normalize_then_sum",
            reward_weights=torch.tensor(weights, dtype=torch.float64),
            reward_funcs=[None, None],
            reward_func_names=["reward", "length"],
        )["advantages"].tolist()
        options = {"weights": weights}
        cases.append(case(number, options, {"advantages": advantages}))
    return family(
        "trl.GRPOTrainer._generate_and_score_completions", cases, batches, "groups", "rewards"
    )


def _importance_sampling() -> Family:
    batches = usual()
    kinds: list[dict[str, Any]] = [
        {"mode": "token_truncate", "clip_min": None, "clip_max": 2.0},
        {"mode": "token_truncate", "clip_min": 0.5, "clip_max": 5.0},
        {"mode": "token_mask", "clip_min": 0.5, "clip_max": 5.0},
        {"mode": "sequence_truncate", "clip_min": 0.5, "clip_max": 3.0},
        {"mode": "sequence_mask", "clip_min": None, "clip_max": 3.0},
    ]
    cases = []
    for (number, batch), kind in itertools.product(enumerate(batches), kinds):
        settings = {f"vllm_importance_sampling_{key}": value for key, value in kind.items()}
        output = _scored(batch, use_vllm=True, vllm_importance_sampling_correction=True, **settings)
        ratio = output["importance_sampling_ratio"]
        weights = unpad(ratio.double().expand(-1, max(batch.lengths)), batch.lengths)
        cases.append(case(number, kind, {"weights": weights}))
    return family(
        "trl.GRPOTrainer._generate_and_score_completions",
        cases,
        batches,
        "old_logprobs",
        "sampler_logprobs",
        dtype="float32 sampler log-probs",
    )


def _loss(batch: Batch, beta: float = 0.0, **settings: Any) -> tuple[float, list[float]]:
    """Return ``_compute_loss`` and its gradient (N,) with respect to the log-probs."""
    trainer = _trainer(batch, beta=beta, **settings)
    logprobs = batch.padded("logprobs", fill=0.0).requires_grad_()
    entropies = torch.zeros_like(logprobs)
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (logprobs, entropies, None)
    mask = batch.mask()
    ones = torch.ones(len(mask), 1, dtype=torch.int64)
    loss = trainer._compute_loss(
        trainer.model,
        {
            "prompt_ids": ones,
            "prompt_mask": ones,
            "completion_ids": torch.ones_like(mask, dtype=torch.int64),
            "completion_mask": mask,
            "advantages": batch.padded("advantages", fill=0.0),
            "old_per_token_logps": batch.padded("old_logprobs", fill=0.0),
            "ref_per_token_logps": batch.padded("ref_logprobs", fill=0.0),
            "num_items_in_batch": mask.sum(),
        },
    )
    loss.backward()
    return loss.item(), unpad(logprobs.grad, batch.lengths)


def _policy_loss() -> Family:
    batches = usual()
    cases = []
    for (number, batch), kind, (high, delta) in itertools.product(
        enumerate(batches), ("grpo", "bnpo", "dr_grpo", "dapo"), ((0.28, None), (0.4, 3.0))
    ):
        options = {
            "loss_type": kind,
            "epsilon_low": 0.2,
            "epsilon_high": high,
            "delta": delta,
            "max_completion_length": 16,
        }
        loss, gradient = _loss(batch, **options)
        outputs = {"loss": loss}
        cases.append(case(number, options, outputs, gradient))
    return family(
        "trl.GRPOTrainer._compute_loss", cases, batches, "logprobs", "old_logprobs", "advantages"
    )


def _kl() -> Family:
    """Return the loss for zero advantages and beta 1, which is the mean of TRL's KL estimate."""
    cases = []
    batches = usual()
    for number, batch in enumerate(batches):
        still = Batch(**(vars(batch) | {"advantages": [0.0] * len(batch.advantages)}))
        loss, gradient = _loss(still, beta=1.0)
        cases.append(case(number, {"beta": 1.0}, {"kl": loss}, gradient))
    return family("trl.GRPOTrainer._compute_loss", cases, batches, "logprobs", "ref_logprobs")


def _cosine() -> Family:
    from trl.rewards import get_cosine_scaled_reward

    tokens = [0, 1, 7, 20, 50, 99, 100, 101, 250]
    cases = []
    for options in (
        {},
        {
            "min_value_wrong": -2.0,
            "max_value_wrong": 0.0,
            "min_value_correct": 0.25,
            "max_value_correct": 3.0,
        },
    ):
        reward = get_cosine_scaled_reward(max_len=100, **options)
        for correct in (True, False):
            text = r"\boxed{4}" if correct else r"\boxed{5}"
            rewards = reward(
                [[{"content": text}]] * len(tokens),
                ["$4$"] * len(tokens),
                [[1] * t for t in tokens],
            )
            settings = {"max_len": 100, "correct": correct, **options}
            cases.append(case(0, settings, {"rewards": rewards}))
    return family("trl.rewards.get_cosine_scaled_reward", cases, [{"seed": None, "tokens": tokens}])


def _overlong() -> Family:
    from trl.rewards import get_soft_overlong_punishment

    tokens = [0, 1, 79, 80, 81, 90, 99, 100, 101, 250]
    cases = []
    for buffer in (20, 1, 100):
        punish = get_soft_overlong_punishment(max_completion_len=100, soft_punish_cache=buffer)
        options = {"max_completion_len": 100, "soft_punish_cache": buffer}
        outputs = {"rewards": punish([[1] * t for t in tokens])}
        cases.append(case(0, options, outputs))
    return family(
        "trl.rewards.get_soft_overlong_punishment", cases, [{"seed": None, "tokens": tokens}]
    )
