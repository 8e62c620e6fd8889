"""Shows everything that a dataset records about one row."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import prorl_command
from prorl_datasets.building.writing import DROPPED, PAIRS, QUARANTINE
from prorl_datasets.storage import MANIFEST, read_manifest, stream
from prorl_datasets.types import SPLITS, DatasetError, Sample
from prorl_verifiers import VERIFIERS

_ITEM = re.compile(r"(.+)-0*(\d+)")


def show(path: str | Path, row: str) -> dict[str, Any]:
    """Return everything that a dataset (folder or Parquet file) records about the row with id ``row``, as JSON values.

    For a dropped row, ``kept`` is False and ``drops`` says why. Raises DatasetError for an unknown id or invalid data.
    """
    path = Path(path)
    manifest = read_manifest(path) if (path / MANIFEST).is_file() else {}
    near: list[str] = []
    for sample in stream(path):
        if sample.id == row:
            return _row_record(sample, manifest)
        if _numbered(sample.id) == _numbered(row) or sample.id.startswith(row.rstrip("0123456789")):
            near = [*near[-200:], sample.id]
    drops = [*_drop_records(path, manifest, row)]
    if not drops:
        hits = difflib.get_close_matches(row, near, n=3, cutoff=0.5)
        hint = f" (did you mean {' or '.join(map(repr, hits))}?)" if hits else ""
        raise DatasetError(
            f"{path} has no row '{row}'{hint}, and recorded no drop of it; "
            f"ids: {prorl_command('data', 'inspect', path)}"
        )
    return {"id": row, "kept": False, "drops": drops}


def _row_record(sample: Sample, manifest: Mapping[str, Any]) -> dict[str, Any]:
    is_installed = sample.task.verifier in VERIFIERS.names()
    spec = VERIFIERS.get(sample.task.verifier) if is_installed else None
    metadata = dict(sample.metadata)
    entries: list[dict[str, Any]] = manifest.get("entries", [])
    entry = next((e for e in entries if e.get("name") == metadata.get("entry")), {})
    checked = manifest.get("decontamination", {})
    return {
        "id": sample.id,
        "kept": True,
        "domain": sample.domain,
        "split": sample.split,
        "prompt": [dict(message) for message in sample.prompt],
        "verifier": sample.task.verifier,
        "answer": None if spec is None else spec.data.answer(sample.task.reference),
        "gold_response": metadata.pop("gold_response", None),
        "gold_check": sample.gold_check,
        "verified_by": metadata.pop("verified_by", None),
        "reference": sample.task.reference,
        "source": sample.source,
        "licence": sample.licence,
        "metadata": metadata,
        "dataset": {
            "recipe": manifest.get("recipe"),
            "seed": manifest.get("seed"),
            "entry_kept": {
                s: entry["splits"][s]["kept"] for s in SPLITS if s in entry.get("splits", {})
            },
            "entry_drops": entry.get("drops", {}),
            "unlike_the_items_of": sorted(checked.get("checked", {})),
            "not_compared_with": sorted(checked.get("not_checked", {})),
        },
    }


def _drop_records(path: Path, manifest: Mapping[str, Any], row: str) -> Iterator[dict[str, Any]]:
    """Yield what is recorded about a dropped row, whose id is ENTRY-INDEX or ENTRY-SPLIT-INDEX."""
    names = {_numbered(row)}
    for split in SPLITS:  # rows of files have no split until they are chosen
        entry, number = _numbered(row)
        if entry.endswith(f"-{split}"):
            names.add((entry.removesuffix(f"-{split}"), number))
    files = {PAIRS: "like a benchmark item", QUARANTINE: "bad row", DROPPED: "dropped"}
    for name, kind in files.items():
        if name in manifest.get("files", {}) and (path / name).is_file():
            with (path / name).open(encoding="utf-8") as lines:
                for line in lines:
                    record = json.loads(line)
                    if _numbered(record["row"]) in names:
                        yield {"kind": kind, **record}


def _numbered(name: str) -> tuple[str, str]:
    match = _ITEM.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")
