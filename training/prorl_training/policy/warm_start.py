"""Supervised training on reference responses, so that a small model's first rewards are not all 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
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
    """Return samples with a reference response, alternating between domains. Raises UserError if there are none."""
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
    policy: Policy,
    samples: Sequence[Sample],
    tokenizer: Any,
    progress: Progress,
    other_ranks: Callable[[list[PromptGroup]], AbstractContextManager[Any]] = nullcontext,
) -> list[Decision]:
    """Train on reference responses inside ``other_ranks(groups)``, if ``warm_start.examples`` is set."""
    config = policy.config
    if not config.warm_start.examples:
        return []
    examples = choose_examples(samples, config)
    progress.start("warm start", len(examples) * config.warm_start.epochs)
    groups = {s.id: gold_group(s, tokenizer) for s in examples}
    with other_ranks(list(groups.values())):
        decision = warm_start(
            policy,
            examples,
            lambda sample: groups[sample.id],
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
    """Train on ``examples`` for ``warm_start.epochs`` epochs; return the decision that records it.

    ``on_done(count, loss)`` is called after each batch.
    """
    settings = policy.config.warm_start
    losses = train_on(policy, [encode(example) for example in examples], on_done)
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


def train_on(
    policy: Policy, examples: Sequence[PromptGroup], on_done: Callable[[int, float], None]
) -> list[float]:
    """Train for ``warm_start.epochs`` epochs; return each batch's loss. All ranks must get the same examples."""
    settings = policy.config.warm_start
    optimizer = torch.optim.AdamW(policy.trained, lr=settings.lr, weight_decay=0.0)
    losses: list[float] = []
    for start in range(0, len(examples) * settings.epochs, settings.batch):
        stop = min(start + settings.batch, len(examples) * settings.epochs)
        groups = [examples[i % len(examples)] for i in range(start, stop)]
        packs = build_packs(groups, policy.config.loss.pack_tokens)
        tokens = sum(len(p.targets) for p in packs)
        total = torch.zeros((), dtype=torch.float64, device=policy.device)
        for number, weight in policy.ranks.deal(packs):
            loss = -policy.target_logprobs(packs[number])[0].sum() / tokens * weight
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        policy.ranks.sum_gradients(policy.trained)
        torch.nn.utils.clip_grad_norm_(policy.trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(policy.ranks.sum(total)))
        on_done(len(groups), losses[-1])
    policy.model.zero_grad(set_to_none=True)
    return losses
