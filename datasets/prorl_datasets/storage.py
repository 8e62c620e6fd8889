"""Writes and reads datasets as Parquet with a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from prorl_common import nearest, sha256_file
from prorl_common.files import lfs_problem
from prorl_datasets.types import DOMAINS, SPLITS, DatasetError, Sample, Split
from prorl_verifiers import Task

COLUMNS = {
    "id": "`<entry>-<split>-<index>`; rows are sorted by it. Same recipe and seed, same ids",
    "domain": "of the entry",
    "split": "train, validation, test",
    "prompt": "list of {role, content}: chat messages",
    "verifier": "name of what scores it",
    "reference": "JSON: what it checks against",
    "source": "`reasoning_gym/<task>`, `procedural/<family>`, `file/<name>` or the repository",
    "licence": "of the row, else of the entry",
    "gold_check": "`verified`, `self-consistent` or `none`",
    "metadata": "JSON: `entry`, `index`, `weight`; if known `gold_response`, `verified_by` (what agreed with the "
    "gold), `chance` (the mean reward of a constant answer), `family`, `level`, `config`; what the adapter keeps; "
    "`extra`: the source's further columns",
}
"""The meaning of each column, in file order; all columns are strings except ``prompt``."""
MANIFEST = "manifest.json"
PAIRS, QUARANTINE, DROPPED = "decontamination.jsonl", "quarantine.jsonl", "dropped.jsonl"
"""Files of rows that are not in the dataset."""
ROW_GROUP, GROUP_BYTES = 4096, 32 * 2**20
"""Number of rows in a row group, and its approximate limit in bytes, since a row group is held in memory."""
READ_BATCH = 512


def _schema() -> Any:
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    kinds = {"prompt": pa.list_(message)}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])


def write_split(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows with the keys COLUMNS to a zstd Parquet file, and return their number.

    The bytes depend only on the rows and the pyarrow version.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema, count, size, batch = _schema(), 0, 0, []
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for row in rows:
            batch.append({name: row[name] for name in COLUMNS})
            size += len(row["reference"]) + len(row["metadata"])
            if len(batch) == ROW_GROUP or size >= GROUP_BYTES:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                count, size, batch = count + len(batch), 0, []
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return count + len(batch)


def canonical_json(value: Any) -> str:
    """Return JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a dataset folder. Raises DatasetError."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise DatasetError(f"no such dataset folder: {folder}; build one with: prorl data build")
    if not path.is_file():
        raise DatasetError(
            f"{folder} is not a dataset: it has no {MANIFEST}; build one with: prorl data build"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise DatasetError(f"{path} is corrupt ({error}); build the dataset again") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise DatasetError(f"{path} is corrupt (no list of files); build the dataset again")
    return manifest


def load(path: str | Path, split: str | None = None) -> list[Sample]:
    """Return the samples of a dataset folder or a Parquet file, sorted by id.

    ``split`` selects train, validation or test. Raises DatasetError for missing, corrupt or empty data, missing
    columns, or a hash that differs from the manifest.
    """
    samples = list(stream(path, split))
    if not samples:
        raise no_samples(path, split)
    return samples


def no_samples(path: str | Path, split: str | None = None) -> DatasetError:
    kind = f"{split} samples" if split else "samples"
    return DatasetError(f"{path} holds no {kind}; build the dataset again or pick another split")


def stream(path: str | Path, split: str | None = None) -> Iterator[Sample]:
    """Yield the samples one by one. Raises DatasetError like ``load``, except for empty data."""
    path = Path(path)
    if split is not None and split not in SPLITS:
        raise DatasetError(
            f"unknown split '{split}'{nearest(split, SPLITS)}; known: {', '.join(SPLITS)}"
        )
    if path.is_dir():
        listed = read_manifest(path)["files"]
        split_files = [f"{name}.parquet" for name in SPLITS if split in (None, name)]
        files = [path / name for name in split_files if name in listed]
        if not files:
            raise DatasetError(f"{path} holds no {split or 'train, validation or test'} split")
        for file in files:
            _check_hash(file, listed[file.name].get("sha256"))
    elif path.is_file():
        files = [path]
        if (path.parent / MANIFEST).is_file():  # the manifest beside it may list this file
            listed = read_manifest(path.parent)["files"].get(path.name, {})
            _check_hash(path, listed.get("sha256"))
    else:
        raise DatasetError(f"no such dataset: {path}; build one with: prorl data build")
    import pyarrow
    from pyarrow import parquet

    for file in files:
        try:
            with parquet.ParquetFile(file) as rows:
                names = rows.schema_arrow.names
                missing = [f"'{n}'{nearest(n, names)}" for n in COLUMNS if n not in names]
                if missing:
                    raise DatasetError(
                        f"{file}: missing column {', '.join(missing)}; to use a file of your own, build a "
                        "dataset from it, with a recipe that has a file source"
                    )
                for batch in rows.iter_batches(READ_BATCH, columns=list(COLUMNS)):
                    samples = (_sample(file, row) for row in batch.to_pylist())
                    yield from (s for s in samples if split is None or s.split == split)
        except (pyarrow.ArrowException, OSError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DatasetError(f"{file} is not a readable Parquet file ({first})") from error


def weight_of(sample: Sample) -> float:
    """Return the sampling weight of a row, 1 by default."""
    weight = sample.metadata.get("weight", 1.0)
    return float(weight) if isinstance(weight, int | float) else 1.0


def _check_hash(path: Path, expected: str | None) -> None:
    if not path.is_file():
        raise DatasetError(
            f"{path} is missing though the manifest lists it; build the dataset again"
        )
    if (problem := lfs_problem(path)) is not None:
        raise DatasetError(problem)
    if expected is not None and sha256_file(path) != expected:
        raise DatasetError(
            f"{path} is not the file in the manifest (its hash differs); build the dataset again"
        )


def _sample(path: Path, row: Mapping[str, Any]) -> Sample:
    try:
        reference, metadata = json.loads(row["reference"]), json.loads(row["metadata"])
        domains = (*DOMAINS, row["verifier"])
        if row["domain"] not in domains or row["split"] not in SPLITS or not row["prompt"]:
            raise ValueError("unknown domain or split, or no prompt")
        if not isinstance(reference, dict) or not isinstance(metadata, dict):
            raise TypeError("reference and metadata must be JSON objects")
        if not all(m and m["role"] and isinstance(m["content"], str) for m in row["prompt"]):
            raise ValueError("a message of its prompt lacks role or content")
    except (ValueError, TypeError, KeyError) as error:
        raise DatasetError(f"{path}: row '{row['id']}' is malformed ({error})") from error
    return Sample(
        id=row["id"],
        domain=row["domain"],
        prompt=tuple(row["prompt"]),
        task=Task(row["verifier"], reference),
        source=row["source"],
        licence=row["licence"],
        split=cast(Split, row["split"]),
        gold_check=row["gold_check"],
        metadata=metadata,
    )


def newest_dataset(root: Path) -> Path | None:
    """Return the folder under ``root`` with the newest manifest, or None."""
    if not root.is_dir():
        return None
    manifests = [m for m in root.glob(f"*/{MANIFEST}") if not m.parent.name.startswith(".")]
    return max(manifests, key=lambda m: m.stat().st_mtime_ns).parent if manifests else None
