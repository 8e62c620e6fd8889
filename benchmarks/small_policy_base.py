"""The small policy before RL (a byte-level Llama with 177,000 parameters, trained on demonstrations) and its data."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from small_policy_tasks import FAMILIES, Family, Item, as_sample, boxed, items, take

from prorl_common import UserError, atomic_directory, atomic_write_text, derive_seed, sha256_file
from prorl_datasets import Sample, Split

WEIGHTS = (
    Path(__file__).resolve().parents[1] / "docs/evidence/data/three-thousand-steps/base.safetensors"
)
"""The base of docs/evidence/three-thousand-steps.md, in half precision."""
MARK = "\\boxed{"
HIDDEN, LAYERS, HEADS, CONTEXT = 64, 3, 4, 96
START_SEED, START_STEPS, START_BATCH, START_LR = 2024, 800, 64, 3.0e-3
SHARES = {"sum": 2.5, "twice": 0.8, "backward": 0.6, "cipher": 1.8, "speed": 1.6, "neutrons": 1.6}
"""Relative number of demonstrations of each task."""
LADDER_SHARE = 0.2
"""Share of a task's demonstrations that come from its ladder, without the hardest level."""
DATA_SEED, TRAIN_ITEMS, VALIDATION_ITEMS = 11, 1000, 16
TEST_SEED, TEST_ITEMS, LADDER_ITEMS = 12, 32, 16
"""Seed of the held-out items, and their number for each task and for each level of a ladder."""


def prepare(work: Path, weights: Path = WEIGHTS) -> tuple[Path, Path]:
    """Return the folders of the base model and the dataset in ``work``, creating missing ones.

    Without the file ``weights``, the base is trained, which takes some minutes.
    """
    model, data = work / "base", work / "data"
    if not (model / "config.json").is_file():
        _write_model(model, weights)
    if not (data / "manifest.json").is_file():
        samples = [*training_samples(), *held_out_samples()]
        write_dataset(data, sorted(samples, key=lambda s: s.id))
    return model, data


def make_tokenizer() -> Any:
    r"""Return the byte tokenizer with ``\boxed{`` as one extra token."""
    from prorl_inference.testing import byte_tokenizer

    tokenizer: Any = byte_tokenizer()
    tokenizer.add_tokens([MARK], special_tokens=False)
    return tokenizer


def make_model(seed: int, vocabulary: int, hidden: int = HIDDEN, layers: int = LAYERS) -> Any:
    """Return a random Llama in float32 with tied embeddings; torch's global random state is kept."""
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


def _write_model(folder: Path, weights: Path) -> None:
    import torch
    from safetensors.torch import load_file

    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    model = make_model(START_SEED, len(tokenizer))
    if weights.is_file():
        stored = load_file(str(weights))
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name not in stored:
                    raise UserError(f"{weights} is no base of the small policy: it lacks {name}")
                parameter.copy_(stored[name].float())
    else:
        for _ in supervised_start(model, tokenizer):
            pass
    with atomic_directory(folder) as part:
        model.save_pretrained(part)
        tokenizer.save_pretrained(part)


def supervised_start(model: Any, tokenizer: Any, steps: int = START_STEPS) -> Iterator[float]:
    """Train on demonstrations of all tasks; yield each step's loss in nats."""
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=START_LR, betas=(0.9, 0.95), weight_decay=0.0
    )
    for step in range(steps):
        rng = random.Random(derive_seed(START_SEED, "supervised", step))
        ids, labels = _rows(tokenizer, _demonstrations(rng))
        for group in optimizer.param_groups:
            group["lr"] = START_LR * min(1.0, (step + 1) / 50)
        loss = model(input_ids=ids, attention_mask=(ids != 256).long(), labels=labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield float(loss.detach())


def _demonstrations(rng: random.Random) -> list[tuple[str, str]]:
    """Return a batch of (prompt, response), with the work repeated 0 to 2 times before the boxed answer.

    Held-out problems are excluded.
    """
    names = rng.choices(list(SHARES), weights=list(SHARES.values()), k=START_BATCH)
    made = [FAMILIES[name].make(rng, _sizes(FAMILIES[name], rng)) for name in names]
    return [
        (item.prompt, " ".join([item.work] * rng.randint(0, 2)) + boxed(item.answer))
        for item in made
        if item.key not in _held_out_keys()
    ]


def _sizes(family: Family, rng: random.Random) -> tuple[int, ...]:
    if family.ladder and rng.random() < LADDER_SHARE:
        return rng.choice(family.ladder[:-1])
    return rng.choice(family.levels)


def _rows(tokenizer: Any, demonstrations: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """Return token ids and labels, each [demonstrations, longest]; labels are -100 at prompts and padding."""
    import torch

    from prorl_inference.tokens import encode_prompt

    rows = []
    for prompt, response in demonstrations:
        ids = encode_prompt(tokenizer, ({"role": "user", "content": prompt},))
        answer = [*tokenizer.encode(response, add_special_tokens=False), tokenizer.eos_token_id]
        rows.append(([*ids, *answer], [*[-100] * len(ids), *answer]))
    width = max(len(ids) for ids, _ in rows)
    return (
        torch.tensor([ids + [256] * (width - len(ids)) for ids, _ in rows]),
        torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in rows]),
    )


def held_out_samples() -> list[Sample]:
    """Return the split ``test``: items of trained levels, and ladder items with ``ladder`` in their ids."""
    samples = []
    for name, group in _held_out().items():
        for number, item in enumerate(group):
            sample = as_sample(item, number, "test", FAMILIES[item.task].domain)
            place = f"test-{item.task}-ladder{item.level}" if "/" in name else f"test-{item.task}"
            labels = {"family": item.task, "level": item.level}
            samples.append(
                replace(sample, id=f"{place}-{number:05d}", metadata={**sample.metadata, **labels})
            )
    return samples


def training_samples(train: int = TRAIN_ITEMS, validation: int = VALIDATION_ITEMS) -> list[Sample]:
    """Return the splits ``train`` and ``validation`` with this many items per task, without held-out problems."""
    samples = []
    for family in FAMILIES.values():
        made = take(family, train + validation, "training", DATA_SEED, _held_out_keys())
        parts: tuple[tuple[Split, list[Item]], ...] = (
            ("train", made[:train]),
            ("validation", made[train:]),
        )
        for split, part in parts:
            samples += [as_sample(item, i, split, family.domain) for i, item in enumerate(part)]
    return samples


@cache
def _held_out() -> dict[str, list[Item]]:
    """Return the held-out items by task, and by ``task/level`` of the ladders."""
    groups = {
        name: take(family, TEST_ITEMS, "evaluation", TEST_SEED, set())
        for name, family in FAMILIES.items()
    }
    for name, family in FAMILIES.items():
        for sizes in family.ladder:
            stream = items(family, sizes, "ladder", TEST_SEED)
            level = [next(stream) for _ in range(LADDER_ITEMS)]
            groups[f"{name}/{level[0].level}"] = level
    return groups


@cache
def _held_out_keys() -> set[tuple[str, str]]:
    return {item.key for group in _held_out().values() for item in group}


def write_dataset(path: Path, samples: Sequence[Sample]) -> None:
    """Write a dataset folder that ``prorl_datasets.load`` reads: a Parquet file for each split, and a manifest."""
    from prorl_datasets.storage import MANIFEST, write_split

    with atomic_directory(path) as folder:
        files: dict[str, Any] = {}
        for split in sorted({sample.split for sample in samples}):
            file = folder / f"{split}.parquet"
            count = write_split(file, (_row(s) for s in samples if s.split == split))
            files[file.name] = {"rows": count, "sha256": sha256_file(file)}
        atomic_write_text(folder / MANIFEST, json.dumps({"files": files}, indent=2) + "\n")


def _row(sample: Sample) -> dict[str, Any]:
    from prorl_datasets.storage import canonical_json

    return {
        "id": sample.id,
        "domain": sample.domain,
        "split": sample.split,
        "prompt": [dict(message) for message in sample.prompt],
        "verifier": sample.task.verifier,
        "reference": sample.task.reference_json(),
        "source": sample.source,
        "licence": sample.licence,
        "gold_check": sample.gold_check,
        "metadata": canonical_json(dict(sample.metadata)),
    }
