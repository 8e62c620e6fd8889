"""Supervised training on gold-format answers, so that a small model's first rewards are not all 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from prorl_common import Progress, UserError, derive_seed
from prorl_datasets import Sample
from prorl_inference import encode_prompt
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup, build_packs
from prorl_training.policy.update import Policy
from prorl_training.types import Decision


def choose_examples(samples: Sequence[Sample], config: TrainConfig) -> list[Sample]:
    """Return samples with gold responses, alternating between domains. Raises UserError if there are none."""
    by_domain: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.metadata.get("gold_response"):
            by_domain.setdefault(sample.domain, []).append(sample)
    if not by_domain:
        raise UserError(
            "warm_start.examples is set but no training sample has a gold response: "
            "use --set warm_start.examples=0, or a recipe whose sources have gold responses"
        )
    for rows in by_domain.values():
        rows.sort(key=lambda s: derive_seed(config.seed, "warm_start", s.id))
    turns = [
        (i, domain, s) for domain, rows in sorted(by_domain.items()) for i, s in enumerate(rows)
    ]
    turns.sort(key=lambda t: (t[0], t[1]))
    return [s for _, _, s in turns[: config.warm_start.examples]]


def warm_start_if_configured(
    policy: Policy, samples: Sequence[Sample], tokenizer: Any, progress: Progress
) -> list[Decision]:
    config = policy.config
    if not config.warm_start.examples:
        return []
    examples = choose_examples(samples, config)
    progress.start("warm start", len(examples) * config.warm_start.epochs)
    decision = warm_start(
        policy,
        examples,
        lambda sample: gold_group(sample, tokenizer),
        lambda count, loss: progress.advance(count, loss=f"{loss:.3f}"),
    )
    progress.finish()
    return [decision]


def gold_group(sample: Sample, tokenizer: Any) -> PromptGroup:
    prompt = tuple(encode_prompt(tokenizer, sample.prompt))
    gold = tokenizer.encode(str(sample.metadata["gold_response"]), add_special_tokens=False)
    return PromptGroup(prompt, ((*gold, tokenizer.eos_token_id),), (0,))


def warm_start(
    policy: Policy,
    examples: Sequence[Sample],
    encode: Callable[[Sample], PromptGroup],
    on_done: Callable[[int, float], None],
) -> Decision:
    """Train for ``warm_start.epochs`` epochs on ``examples`` and return the decision that records it.

    ``on_done(count, loss)`` is called after each batch.
    """
    settings = policy.config.warm_start
    optimizer = torch.optim.AdamW(policy.trained, lr=settings.lr, weight_decay=0.0)
    losses: list[float] = []
    for start in range(0, len(examples) * settings.epochs, settings.batch):
        stop = min(start + settings.batch, len(examples) * settings.epochs)
        groups = [encode(examples[i % len(examples)]) for i in range(start, stop)]
        packs = build_packs(groups, policy.config.loss.pack_tokens)
        tokens = sum(len(p.targets) for p in packs)
        total = 0.0
        for pack in packs:
            loss = -policy.target_logprobs(pack)[0].sum() / tokens
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(policy.trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(total)
        on_done(len(groups), total)
    policy.model.zero_grad(set_to_none=True)
    evidence: dict[str, Any] = {
        "examples": len(examples),
        "epochs": settings.epochs,
        "first_batch_loss": losses[0],
        "last_batch_loss": losses[-1],
        "lr": settings.lr,
        "sample_ids": [s.id for s in examples],
    }
    reason = f"supervised on {len(examples)} gold-format answers before step 1"
    return Decision(0, "warm_start", reason, evidence)
