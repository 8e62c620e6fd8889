"""The small policy: a byte-level Llama of about a third of a million parameters, and its supervised start.

Leaves out: the tasks (``small_tasks``), training by reward (prorl's own engine) and evaluation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from small_tasks import Item

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


Response = Sequence[tuple[str, bool]]
"""A demonstration's response in pieces: a text, and whether the policy is to learn it or only reads it."""


@dataclass(frozen=True, slots=True)
class StartPlan:
    """How long the supervised start is: steps of a batch at learning rate ``lr``."""

    steps: int
    lr: float
    seed: int


Shown = tuple[Item, Response]
"""A demonstration: a problem and the response shown to it."""


def supervised_start(
    model: Any,
    tokenizer: Any,
    draw: Callable[[random.Random], Sequence[Shown]],
    plan: StartPlan,
) -> Iterator[float]:
    """Train on the batches of demonstrations that ``draw`` draws; yield each step's loss in nats."""
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=plan.lr, betas=(0.9, 0.95), weight_decay=0.0
    )
    for step in range(plan.steps):
        rng = random.Random(derive_seed(plan.seed, "supervised", step))
        ids, labels = _rows(tokenizer, draw(rng))
        for group in optimizer.param_groups:
            group["lr"] = plan.lr * min(1.0, (step + 1) / 50)
        loss = model(input_ids=ids, attention_mask=(ids != 256).long(), labels=labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield float(loss.detach())


def _rows(tokenizer: Any, made: Sequence[Shown]) -> tuple[Any, Any]:
    """Return token ids and labels, each [demonstrations, longest]; labels are -100 where nothing is learnt."""
    import torch

    from prorl_inference.tokens import encode_prompt

    rows = []
    for item, response in made:
        ids = encode_prompt(tokenizer, ({"role": "user", "content": item.prompt},))
        labels = [-100] * len(ids)
        for text, learnt in response:
            piece = tokenizer.encode(text, add_special_tokens=False)
            ids, labels = [*ids, *piece], [*labels, *(piece if learnt else [-100] * len(piece))]
        end = tokenizer.eos_token_id
        rows.append(([*ids, end], [*labels, end]))
    width = max(len(ids) for ids, _ in rows)
    return (
        torch.tensor([ids + [256] * (width - len(ids)) for ids, _ in rows]),
        torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in rows]),
    )


def save(model: Any, tokenizer: Any, path: Path) -> None:
    """Write a model folder that prorl loads."""
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
