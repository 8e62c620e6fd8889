"""What is trained on and what is held out: the dataset folder and the evaluation's items.

No problem of one set is in another. Leaves out: the tasks themselves (``small_tasks``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from small_arms import (
    DATA_SEED,
    EVAL_ITEMS,
    EVAL_SEED,
    LADDER_ITEMS,
    TRAIN_ITEMS,
    VALIDATION_ITEMS,
)
from small_tasks import FAMILIES, Item, as_sample, items, take

from prorl_common import atomic_directory, atomic_write_text, sha256_file
from prorl_datasets import Sample

Keys = set[tuple[str, str]]


def evaluation_items(seed: int = EVAL_SEED) -> dict[str, list[Item]]:
    """Return the held-out items: a task's name -> its trained levels, ``task/level`` -> a ladder's level."""
    found = {task: take(task, EVAL_ITEMS, "evaluation", seed, set()) for task in FAMILIES}
    for task, family in FAMILIES.items():
        for sizes in family.ladder:
            stream = items(task, sizes, "ladder", seed)
            level = [next(stream) for _ in range(LADDER_ITEMS)]
            found[f"{task}/{level[0].level}"] = level
    return found


def training_samples(seed: int = DATA_SEED, held_out: Keys | None = None) -> list[Sample]:
    """Return the train and validation samples; nothing held out is among them."""
    if held_out is None:
        held_out = held_out_keys()
    samples = []
    for task in FAMILIES:
        made = take(task, TRAIN_ITEMS + VALIDATION_ITEMS, "training", seed, held_out)
        samples += [as_sample(item, i, "train") for i, item in enumerate(made[:TRAIN_ITEMS])]
        rest = made[TRAIN_ITEMS:]
        samples += [as_sample(item, i, "validation") for i, item in enumerate(rest)]
    return sorted(samples, key=lambda s: s.id)


def held_out_keys(seed: int = EVAL_SEED) -> Keys:
    """Return what makes the evaluation's problems; demonstrations and training leave them out."""
    return {item.key for group in evaluation_items(seed).values() for item in group}


def write_dataset(
    path: Path, samples: Sequence[Sample], splits: Sequence[str] = ("train", "validation")
) -> None:
    """Write a dataset folder that ``prorl_datasets.load`` reads: a Parquet file a split, and a manifest."""
    from prorl_datasets.storage import MANIFEST, write_split

    with atomic_directory(path) as folder:
        files: dict[str, Any] = {}
        for split in splits:
            file = folder / f"{split}.parquet"
            count = write_split(file, _rows(samples, split))
            files[file.name] = {"rows": count, "sha256": sha256_file(file)}
        atomic_write_text(folder / MANIFEST, json.dumps({"files": files}, indent=2) + "\n")


def _rows(samples: Sequence[Sample], split: str) -> Iterator[dict[str, Any]]:
    from prorl_datasets.storage import canonical_json

    for s in samples:
        if s.split == split:
            yield {
                "id": s.id,
                "domain": s.domain,
                "split": s.split,
                "prompt": [dict(m) for m in s.prompt],
                "verifier": s.task.verifier,
                "reference": s.task.reference_json(),
                "source": s.source,
                "licence": s.licence,
                "gold_check": s.gold_check,
                "metadata": canonical_json(dict(s.metadata)),
            }
