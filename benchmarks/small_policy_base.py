"""Small policies before RL (byte-level Llamas trained on demonstrations) and their data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from small_policy_chains import CHAINS, RUNGS
from small_policy_tasks import CALCULATOR, FAMILIES, Family, Item, as_sample, items, take

from prorl_common import UserError, atomic_directory, atomic_write_text, sha256_file
from prorl_datasets import Sample, Split

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "evidence" / "data"
MARK = "\\boxed{"
CALL = ('<tool_call>{"name": "calculator", "arguments": {"expression": "', '"}}</tool_call>')
"""What stands before and after an expression in a call of the calculator."""
LAYERS, HEADS, CONTEXT = 3, 4, 2048


@dataclass(frozen=True, slots=True)
class Policy:
    """A small policy before RL, with its tasks, and the number of items of each task in each split.

    ``weights`` are in half precision. Commits 5ee0c841 and be970b71 have the scripts that trained them.
    """

    weights: Path
    hidden: int
    families: Mapping[str, Family]
    data_seed: int
    train: int
    validation: int
    test_seed: int
    test: int
    ladder: int = 0
    """Held-out items of each level of a ladder."""
    tokens: tuple[str, ...] = (MARK,)
    """Texts that are one token each, beside the bytes."""


TASKS = Policy(
    DATA / "three-thousand-steps" / "base.safetensors", 64, FAMILIES, 11, 1000, 16, 12, 32, 16
)
"""The base of docs/evidence/three-thousand-steps.md: 177,000 parameters, six tasks."""
CHAINS_BASE = Policy(
    DATA / "boundary-study" / "base.safetensors", 80, CHAINS, 21, 800, 32, 22, 16 * len(RUNGS)
)
"""The base of docs/evidence/boundary-study.md: 271,000 parameters, chains of one to eight operations."""
CHAINS_BASE_2 = replace(CHAINS_BASE, weights=DATA / "boundary-gate-2" / "base.safetensors")
"""As CHAINS_BASE, taught with seed 2025 instead of 2024."""
CALCULATOR_BASE = Policy(
    *(DATA / "environment" / "base.safetensors", 64, CALCULATOR, 11, 1000, 16, 12, 96, 16),
    tokens=(MARK, *CALL),
)
"""The base of docs/evidence/environment.md: 177,000 parameters, products with a calculator."""
POLICIES = {
    "tasks": TASKS,
    "chains": CHAINS_BASE,
    "chains-2": CHAINS_BASE_2,
    "calculator": CALCULATOR_BASE,
}


def prepare(work: Path, policy: Policy, only: str | None = None) -> tuple[Path, Path]:
    """Return the folders of the base model and the dataset in ``work``, creating missing ones.

    ``only`` is a JSON file, relative to the repository, with the ids to which their split is restricted.
    """
    model, data = work / "base", work / (f"data-{Path(only).stem}" if only else "data")
    if not (model / "config.json").is_file():
        _write_model(model, policy)
    if not (data / "manifest.json").is_file():
        samples = [*training_samples(policy), *held_out_samples(policy)]
        if only:
            ids = set(json.loads((ROOT / only).read_text(encoding="utf-8")))
            split = {s.split for s in samples if s.id in ids}
            samples = [s for s in samples if s.split not in split or s.id in ids]
        write_dataset(data, sorted(samples, key=lambda s: s.id))
    return model, data


def make_tokenizer(policy: Policy) -> Any:
    """Return the byte tokenizer with the policy's extra tokens."""
    from prorl_inference.testing import byte_tokenizer

    tokenizer: Any = byte_tokenizer()
    tokenizer.add_tokens(list(policy.tokens), special_tokens=False)
    return tokenizer


def make_model(seed: int, vocabulary: int, hidden: int) -> Any:
    """Return a random Llama in float32 with tied embeddings; torch's global random state is kept."""
    import torch
    import transformers

    hf: Any = transformers
    config = hf.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=LAYERS,
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


def _write_model(folder: Path, policy: Policy) -> None:
    import torch
    from safetensors.torch import load_file

    torch.set_num_threads(1)
    tokenizer = make_tokenizer(policy)
    model = make_model(0, len(tokenizer), policy.hidden)
    stored = load_file(str(policy.weights))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in stored:
                raise UserError(f"{policy.weights} is no base of a small policy: it lacks {name}")
            parameter.copy_(stored[name].float())
    with atomic_directory(folder) as part:
        model.save_pretrained(part)
        tokenizer.save_pretrained(part)


def held_out_samples(policy: Policy) -> list[Sample]:
    """Return the split ``test``: items of trained levels, and ladder items with ``ladder`` in their ids."""
    samples = []
    for name, group in _held_out(policy).items():
        for number, item in enumerate(group):
            sample = as_sample(item, number, "test", policy.families[item.task].domain)
            place = f"test-{item.task}-ladder{item.level}" if "/" in name else f"test-{item.task}"
            labels = {"family": item.task, "level": item.level}
            samples.append(
                replace(sample, id=f"{place}-{number:05d}", metadata={**sample.metadata, **labels})
            )
    return samples


def training_samples(policy: Policy) -> list[Sample]:
    """Return the splits ``train`` and ``validation``, without held-out problems."""
    held_out = {item.key for group in _held_out(policy).values() for item in group}
    samples = []
    for family in policy.families.values():
        count = policy.train + policy.validation
        made = take(family, count, "training", policy.data_seed, held_out)
        parts: tuple[tuple[Split, list[Item]], ...] = (
            ("train", made[: policy.train]),
            ("validation", made[policy.train :]),
        )
        for split, part in parts:
            samples += [as_sample(item, i, split, family.domain) for i, item in enumerate(part)]
    return samples


def _held_out(policy: Policy) -> dict[str, list[Item]]:
    """Return the held-out items by task, and by ``task/level`` of the ladders."""
    groups = {
        name: take(family, policy.test * family.tested, "evaluation", policy.test_seed, set())
        for name, family in policy.families.items()
    }
    for name, family in policy.families.items():
        for sizes in family.ladder:
            stream = items(family, sizes, "ladder", policy.test_seed)
            level = [next(stream) for _ in range(policy.ladder)]
            groups[f"{name}/{level[0].level}"] = level
    return groups


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
