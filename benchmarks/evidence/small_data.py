"""The dataset folder of a study: training and validation items, none of which is held out.

Leaves out: the tasks themselves (``small_tasks``, ``chain_tasks``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from small_study import Groups
from small_tasks import Family, Item, as_sample, take

from prorl_common import atomic_directory, atomic_write_text, sha256_file
from prorl_datasets import Sample, Split

Keys = set[tuple[str, str]]


def training_samples(
    families: Mapping[str, Family], counts: tuple[int, int], seed: int, without: Keys
) -> list[Sample]:
    """Return the samples of the splits ``train`` and ``validation``, ``counts`` of each family; no problem of
    ``without`` is among them."""
    train, validation = counts
    samples = []
    for family in families.values():
        made = take(family, train + validation, "training", seed, without)
        parts: tuple[tuple[Split, list[Item]], ...] = (
            ("train", made[:train]),
            ("validation", made[train:]),
        )
        for split, part in parts:
            samples += [as_sample(item, i, split, family.domain) for i, item in enumerate(part)]
    return sorted(samples, key=lambda s: s.id)


def keys(groups: Groups) -> Keys:
    """Return what makes the problems of ``groups``; demonstrations and training leave them out."""
    return {item.key for group in groups.values() for item in group}


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
