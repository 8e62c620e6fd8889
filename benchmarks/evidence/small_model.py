"""The small policy: a byte-level Llama of about a third of a million parameters, and its supervised start.

Leaves out: the tasks (``small_tasks``), training by reward (prorl's own engine) and evaluation.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from small_tasks import FAMILIES, Family, Item, boxed

from prorl_common import derive_seed

MARK = "\\boxed{"
HIDDEN, LAYERS, HEADS, CONTEXT = 64, 3, 4, 96


def make_tokenizer() -> Any:
    """Return the byte tokenizer; ``\\boxed{`` alone is one token of its own, after the four special ones."""
    from prorl_inference.testing import byte_tokenizer

    tokenizer: Any = byte_tokenizer()
    tokenizer.add_tokens([MARK], special_tokens=False)
    return tokenizer


def make_model(seed: int, vocabulary: int, hidden: int = HIDDEN, layers: int = LAYERS) -> Any:
    """Return a random Llama in float32 with tied embeddings; Torch's global random state is kept."""
    import torch
    import transformers

    hf: Any = transformers
    config = hf.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=CONTEXT,
        initializer_range=0.05,
        tie_word_embeddings=True,
        pad_token_id=256,
        bos_token_id=None,
        eos_token_id=257,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return hf.LlamaForCausalLM(config).eval()


def demonstration(item: Item, rng: random.Random) -> str:
    """Return a gold response: the box alone, the work once, or the work twice, a third each."""
    work = " ".join([item.work] * rng.randint(0, 2))
    return work + boxed(item.answer)


@dataclass(frozen=True, slots=True)
class StartPlan:
    """How long the supervised start is: steps of ``batch`` demonstrations at learning rate ``lr``."""

    steps: int
    batch: int
    lr: float
    seed: int
    ladder_share: float
    """Share of a task's demonstrations that come from its ladder, its hardest level left out."""


def supervised_start(
    model: Any,
    tokenizer: Any,
    shares: Mapping[str, float],
    held_out: AbstractSet[tuple[str, str]],
    plan: StartPlan,
) -> list[float]:
    """Train on fresh demonstrations drawn with the tasks' ``shares``; return each step's loss in nats.

    No problem of ``held_out`` is shown.
    """
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=plan.lr, betas=(0.9, 0.95), weight_decay=0.0
    )
    losses: list[float] = []
    for step in range(plan.steps):
        rng = random.Random(derive_seed(plan.seed, "supervised", step))
        names = rng.choices(list(shares), weights=list(shares.values()), k=plan.batch)
        made = [FAMILIES[n].make(rng, _sizes(FAMILIES[n], plan, rng)) for n in names]
        made = [item for item in made if item.key not in held_out]
        ids, labels = _rows(tokenizer, made, rng)
        for group in optimizer.param_groups:
            group["lr"] = plan.lr * min(1.0, (step + 1) / 50)
        loss = model(input_ids=ids, attention_mask=(ids != 256).long(), labels=labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def _sizes(family: Family, plan: StartPlan, rng: random.Random) -> tuple[int, ...]:
    if family.ladder and rng.random() < plan.ladder_share:
        return rng.choice(family.ladder[:-1])
    return rng.choice(family.levels)


def _rows(tokenizer: Any, made: Sequence[Item], rng: random.Random) -> tuple[Any, Any]:
    import torch

    from prorl_inference.tokens import encode_prompt

    rows = []
    for item in made:
        prompt = encode_prompt(tokenizer, ({"role": "user", "content": item.prompt},))
        answer = tokenizer.encode(demonstration(item, rng), add_special_tokens=False)
        rows.append((prompt, [*answer, tokenizer.eos_token_id]))
    width = max(len(p) + len(a) for p, a in rows)
    ids = torch.full((len(rows), width), 256)
    labels = torch.full((len(rows), width), -100)
    for i, (prompt, answer) in enumerate(rows):
        ids[i, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
        labels[i, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
    return ids, labels


def save(model: Any, tokenizer: Any, path: Path) -> None:
    """Write a model folder that prorl loads."""
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
