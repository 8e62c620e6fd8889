"""Exports a dataset as training files for OpenRLHF, verl or TRL."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

from prorl_common import atomic_directory, nearest
from prorl_datasets.storage import READ_BATCH, canonical_json, read_manifest, stream, weight_of
from prorl_datasets.types import SPLITS, DatasetError, Sample

Format = Literal["openrlhf", "verl", "trl"]
FORMATS: tuple[str, ...] = get_args(Format)
Record = dict[str, Any]


@dataclass(slots=True)
class Exported:
    """Counts of the exported rows by file, and of the training rows by sampling weight."""

    rows: dict[str, int] = field(default_factory=dict)
    weights: Counter[float] = field(default_factory=Counter)

    @property
    def weighs(self) -> bool:
        return len(self.weights) > 1


def export(source: str | Path, out: Path, fmt: str) -> Exported:
    """Write each split of the dataset ``source`` into the folder ``out``.

    ``fmt`` is ``openrlhf`` (JSONL), ``verl`` or ``trl`` (Parquet). Sampling weights are written, but none of the three
    trainers uses them. Raises DatasetError for an unknown format, an existing ``out`` or an invalid dataset, and
    UserError for disk errors.
    """
    if fmt not in FORMATS:
        raise DatasetError(
            f"unknown format '{fmt}'{nearest(fmt, FORMATS)}; known: {', '.join(FORMATS)}"
        )
    if out.exists():
        raise DatasetError(f"{out} already exists; choose another folder with --out")
    shapes: Mapping[str, Callable[[Sample], Record]] = {
        "openrlhf": openrlhf_record,
        "verl": verl_record,
        "trl": trl_record,
    }
    listed = read_manifest(Path(source))["files"] if Path(source).is_dir() else None
    suffix, exported = ("jsonl" if fmt == "openrlhf" else "parquet"), Exported()

    def record(sample: Sample) -> Record:
        if sample.split == "train":
            exported.weights[weight_of(sample)] += 1
        return shapes[fmt](sample)

    with atomic_directory(out) as folder:
        for split in SPLITS:
            name = f"{split}.{suffix}"
            if listed is not None and f"{split}.parquet" not in listed:
                continue
            if count := _write(folder / name, map(record, stream(source, split))):
                exported.rows[name] = count
    return exported


def openrlhf_record(sample: Sample) -> Record:
    """Return a row for OpenRLHF's ``--data.input_key input --data.label_key task``."""
    task = {"verifier": sample.task.verifier, "reference": sample.task.reference}
    return {
        "input": [dict(message) for message in sample.prompt],
        "task": canonical_json(task),
        "datasource": sample.domain,
        "id": sample.id,
        "weight": weight_of(sample),
    }


def verl_record(sample: Sample) -> Record:
    """Return a row in verl's format."""
    return {
        "data_source": f"prorl/{sample.task.verifier}",
        "prompt": [dict(message) for message in sample.prompt],
        "ability": sample.domain,
        "reward_model": {"style": "rule", "ground_truth": sample.task.reference_json()},
        "extra_info": {
            "index": sample.id,
            "split": sample.split,
            "verifier": sample.task.verifier,
            "weight": weight_of(sample),
        },
    }


def trl_record(sample: Sample) -> Record:
    """Return a row in TRL's conversational format."""
    return {
        "prompt": [dict(message) for message in sample.prompt],
        "verifier": sample.task.verifier,
        "reference": sample.task.reference_json(),
        "domain": sample.domain,
        "id": sample.id,
        "weight": weight_of(sample),
    }


def _write(path: Path, rows: Iterator[Record]) -> int:
    """Write rows as JSONL or Parquet, but no empty file, and return their number."""
    batches = iter(lambda: list(islice(rows, READ_BATCH)), [])
    first = next(batches, None)
    if first is None:
        return 0
    count = 0
    if path.suffix == ".jsonl":
        with path.open("w", encoding="utf-8") as file:
            for batch in chain([first], batches):
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch)
                count += len(batch)
        return count
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.Table.from_pylist(first).schema
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in chain([first], batches):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count
