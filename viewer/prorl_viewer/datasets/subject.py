"""Shows a dataset; its rows are read on first use and after changes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_datasets import SPLITS, read_manifest
from prorl_datasets.storage import MANIFEST
from prorl_datasets.types import in_order
from prorl_viewer.checking import Checker
from prorl_viewer.datasets.counts import Drops, groups, histograms
from prorl_viewer.datasets.row import checked_gold, place, row_page
from prorl_viewer.datasets.table import (
    LABEL_NAMES,
    Rates,
    RowTable,
    choose,
    explained,
    ratings_file,
    window,
)
from prorl_viewer.subject import Json, Kind, Page, Private, Query, Subject, choice

EXCERPT = 160
"""Number of characters shown of a question in lists."""
EXPORTED_ROWS = 20
"""Number of rows per domain that an exported page contains in full."""


@dataclass(frozen=True, slots=True)
class _Opened:
    version: str
    table: RowTable
    rates: Rates
    drops: Drops


class DatasetSubject:
    kind: Kind = "dataset"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders = (path,)
        self.name = path.absolute().name
        self._lock = threading.Lock()
        self._held: _Opened | None = None
        self._checker = Checker()

    def version(self) -> str:
        files = (self.path / MANIFEST, ratings_file(self.path))
        return "-".join(
            str(f.stat().st_mtime_ns) if f is not None and f.exists() else "" for f in files
        )

    def pages(self) -> Mapping[str, Page]:
        return {
            "summary": self._summary,
            "groups": self._groups,
            "histograms": lambda _: histograms(self._open().table, self._open().rates),
            "rows": self._rows,
            "row": lambda query: row_page(*self._parts(), query),
            "drops": self._drops,
            "entries": self._entries,
        }

    def actions(self) -> Mapping[str, Page]:
        return {"check": self._check}

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        yield from (("summary", {}), ("histograms", {}), ("drops", {}), ("entries", {}))
        yield from (("groups", {"by": name}) for name in LABEL_NAMES)
        yield "rows", {}
        exported: dict[str, None] = {
            row["id"]: None for row in self._rows({})["rows"][:EXPORTED_ROWS]
        }
        for domain in self._open().table.labels["domain"].names:
            yield "rows", {"domain": domain}
            rows = self._rows({"domain": domain, "limit": str(EXPORTED_ROWS)})["rows"]
            exported |= {row["id"]: None for row in rows}
        for name in exported:
            yield "row", {"id": name}

    def close(self) -> None:
        self._checker.close()

    def _drops(self, query: Query) -> Json:
        with explained(self.path / MANIFEST):
            return Drops.read(self.path, read_manifest(self.path)).page(query)

    def _entries(self, query: Query) -> Json:
        with explained(self.path / MANIFEST):
            return Drops(read_manifest(self.path)).entries()

    def _summary(self, query: Query) -> Json:
        with explained(self.path / MANIFEST):
            return self._summary_of(read_manifest(self.path))

    def _summary_of(self, manifest: Mapping[str, Any]) -> Json:
        counts: Mapping[str, Mapping[str, int]] = manifest.get("counts", {})
        files: Mapping[str, Mapping[str, Any]] = manifest["files"]
        rows = {s: files[f"{s}.parquet"].get("rows", 0) for s in SPLITS if f"{s}.parquet" in files}
        domains = in_order(domain for split in counts.values() for domain in split)
        rated = ratings_file(self.path)
        return {
            "rows": sum(rows.values()),
            "domains": ", ".join(domains) or None,
            "recipe": manifest.get("recipe"),
            "description": manifest.get("description"),
            "seed": None if manifest.get("seed") is None else str(manifest["seed"]),
            "pass_rates": "none" if rated is None else str(rated.parent.name),
            "splits": rows,
            "counts": [
                {"domain": d, **{s: counts.get(s, {}).get(d, 0) for s in SPLITS}} for d in domains
            ],
            "gold_checks": dict(manifest.get("gold_check", {})),
            "gold_types": dict(manifest.get("gold_types", {})),
            "licences": dict(manifest.get("licences", {})),
            "isolation": list(manifest.get("isolation", ())),
            "short": {name: ", ".join(why) for name, why in manifest.get("short", {}).items()},
            "failed": list(manifest.get("failed", ())),
        }

    def _groups(self, query: Query) -> Json:
        by = choice(query, "by", LABEL_NAMES, "family")
        return {"by": by, "groups": groups(self._open().table, self._open().rates, by)}

    def _rows(self, query: Query) -> Json:
        table, rates, _ = self._parts()
        chosen = choose(table, rates, query)
        first, last = window(query, len(chosen.places))
        return {
            "all": len(table),
            "total": len(chosen.places),
            "offset": first,
            "rated": rates.rated,
            "counts": chosen.counts,
            "rows": [_listed(table, rates, at) for at in chosen.places[first:last].tolist()],
        }

    def _check(self, query: Query) -> Json:
        table = self._open().table
        row = table.row(place(table, query))
        reference, metadata = json.loads(row["reference"]), json.loads(row["metadata"])
        return checked_gold(self._checker, row, reference, metadata)

    def _parts(self) -> tuple[RowTable, Rates, Drops]:
        held = self._open()
        return held.table, held.rates, held.drops

    def _open(self) -> _Opened:
        with self._lock:
            version = self.version()
            held = self._held
            if held is None or held.version != version:
                self._held = None  # do not hold two versions at once
                table = RowTable.read(self.path)
                rates = Rates.read(ratings_file(self.path), table.ids)
                self._held = held = _Opened(
                    version, table, rates, Drops.read(self.path, read_manifest(self.path))
                )
            return held


def _listed(table: RowTable, rates: Rates, at: int) -> dict[str, Any]:
    labels = {name: table.labels[name].of(at) or None for name in LABEL_NAMES if name != "licence"}
    rated = rates.n[at] > 0
    return {
        "id": table.ids[at].as_py(),
        **labels,
        "rate": round(float(rates.value[at]), 4) if rated else None,
        "n": int(rates.n[at]) if rated else None,
        "characters": int(table.characters[at]),
        "prompt": Private(table.prompt(at)[:EXCERPT]),
    }


def looks_like(folder: Path) -> bool:
    file = folder / MANIFEST
    try:
        if not file.is_file():  # opening a pipe would block
            return False
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    return isinstance(files, dict) and any(str(name).endswith(".parquet") for name in files)


def open_subjects(folders: Sequence[Path]) -> list[Subject]:
    return [DatasetSubject(folder) for folder in folders]
