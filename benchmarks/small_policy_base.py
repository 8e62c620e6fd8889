"""The small policy before RL (a byte-level Llama with 177,000 parameters, trained on demonstrations) and its data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from small_policy_tasks import FAMILIES, Item, as_sample, items, take

from prorl_common import UserError, atomic_directory, atomic_write_text, sha256_file
from prorl_datasets import Sample, Split

WEIGHTS = (
    Path(__file__).resolve().parents[1] / "docs/evidence/data/three-thousand-steps/base.safetensors"
)
"""The base of docs/evidence/three-thousand-steps.md, in half precision. Commit 5ee0c841 has the script that trained it."""
MARK = "\\boxed{"
HIDDEN, LAYERS, HEADS, CONTEXT = 64, 3, 4, 96
DATA_SEED, TRAIN_ITEMS, VALIDATION_ITEMS = 11, 1000, 16
TEST_SEED, TEST_ITEMS, LADDER_ITEMS = 12, 32, 16
"""Seed of the held-out items, and their number for each task and for each level of a ladder."""


def prepare(work: Path, weights: Path = WEIGHTS) -> tuple[Path, Path]:
    """Return the folders of the base model and the dataset in ``work``, creating missing ones."""
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
    model = make_model(0, len(tokenizer))
    stored = load_file(str(weights))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in stored:
                raise UserError(f"{weights} is no base of the small policy: it lacks {name}")
            parameter.copy_(stored[name].float())
    with atomic_directory(folder) as part:
        model.save_pretrained(part)
        tokenizer.save_pretrained(part)


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
