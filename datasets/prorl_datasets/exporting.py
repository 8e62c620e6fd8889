"""Export a dataset in the shapes that trainers read: OpenRLHF, verl, TRL.

The reward functions that read them are in docs/guides/trainer-adapters.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

from prorl_common import atomic_directory, nearest
from prorl_datasets.storage import READ_BATCH, canonical_json, read_manifest, stream
from prorl_datasets.types import SPLITS, DatasetError, Sample

Format = Literal["openrlhf", "verl", "trl"]
FORMATS: tuple[str, ...] = get_args(Format)
Record = dict[str, Any]


def export(source: str | Path, out: Path, fmt: str) -> dict[str, int]:
    """Write each split of the dataset ``source`` into the folder ``out``; return rows by file name.

    ``openrlhf`` gives JSONL (``input``: chat messages, ``task``: the label column, ``datasource``:
    the domain); ``verl`` Parquet with verl's five columns; ``trl`` Parquet with ``prompt``,
    ``verifier`` and ``reference``. Raises DatasetError (unknown format, ``out`` there already, or
    as ``load`` does), UserError (disk).
    """
    if fmt not in FORMATS:
        raise DatasetError(
            f"unknown format '{fmt}'{nearest(fmt, FORMATS)}; known: {', '.join(FORMATS)}"
        )
    if out.exists():
        raise DatasetError(f"{out} is there already; give another folder with --out")
    shapes: Mapping[str, Callable[[Sample], Record]] = {
        "openrlhf": openrlhf_record,
        "verl": verl_record,
        "trl": trl_record,
    }
    listed = read_manifest(Path(source))["files"] if Path(source).is_dir() else None
    suffix, written = ("jsonl" if fmt == "openrlhf" else "parquet"), {}
    with atomic_directory(out) as folder:
        for split in SPLITS:
            name = f"{split}.{suffix}"
            if listed is not None and f"{split}.parquet" not in listed:
                continue
            rows = map(shapes[fmt], stream(source, split))
            if count := _write(folder / name, rows):
                written[name] = count
    return written


def openrlhf_record(sample: Sample) -> Record:
    """Return a row for ``--data.input_key input --data.label_key task`` with a chat template."""
    task = {"verifier": sample.task.verifier, "reference": sample.task.reference}
    return {
        "input": [dict(message) for message in sample.prompt],
        "task": canonical_json(task),
        "datasource": sample.domain,
        "id": sample.id,
    }


def verl_record(sample: Sample) -> Record:
    """Return verl's five columns; ``data_source`` is ``prorl/VERIFIER``, the ground truth the
    reference as JSON.
    """
    return {
        "data_source": f"prorl/{sample.task.verifier}",
        "prompt": [dict(message) for message in sample.prompt],
        "ability": sample.domain,
        "reward_model": {"style": "rule", "ground_truth": sample.task.reference_json()},
        "extra_info": {"index": sample.id, "split": sample.split, "verifier": sample.task.verifier},
    }


def trl_record(sample: Sample) -> Record:
    """Return a row for TRL's conversational format and prorl's reward function."""
    return {
        "prompt": [dict(message) for message in sample.prompt],
        "verifier": sample.task.verifier,
        "reference": sample.task.reference_json(),
        "domain": sample.domain,
        "id": sample.id,
    }


def _write(path: Path, rows: Iterator[Record]) -> int:
    """Write rows as JSONL or Parquet by the name's ending; no rows, no file. Return their number."""
    first = next(rows, None)
    if first is None:
        return 0
    if path.suffix == ".jsonl":
        count = 0
        with path.open("w", encoding="utf-8") as file:
            for row in chain([first], rows):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        return count
    return _write_parquet(path, chain([first], rows))


def _write_parquet(path: Path, rows: Iterator[Record]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    count, schema, writer = 0, None, None
    try:
        while batch := list(islice(rows, READ_BATCH)):
            table = pa.Table.from_pylist(batch, schema=schema)
            if writer is None:
                schema = table.schema
                writer = parquet.ParquetWriter(path, schema, compression="zstd")
            writer.write_table(table)
            count += len(batch)
    finally:
        if writer is not None:
            writer.close()
    return count
