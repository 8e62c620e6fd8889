"""Write a dataset that is made of others: Parquet, card and a manifest that names parents and what was done.

The bytes depend on the rows and on the pyarrow version only. Leaves out: which rows (``filtering``, ``merging``).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import atomic_directory, atomic_write_text, sha256_file
from prorl_datasets.building.report import STAGES
from prorl_datasets.building.writing import PAIRS
from prorl_datasets.card.card import write_card
from prorl_datasets.card.facts import CardFacts
from prorl_datasets.rows.parts import package_versions
from prorl_datasets.storage import (
    MANIFEST,
    canonical_json,
    read_manifest,
    weight_of,
    write_split,
)
from prorl_datasets.types import SPLITS, DatasetError, Sample, Split
from prorl_verifiers import VERIFIERS


@dataclass(frozen=True, slots=True)
class Parent:
    """A dataset that another is made of."""

    path: Path
    manifest: Mapping[str, Any]
    manifest_sha256: str

    @classmethod
    def read(cls, path: Path) -> Parent:
        """Return the dataset folder ``path``. Raises DatasetError where it is none."""
        manifest = read_manifest(path)
        return cls(path, manifest, sha256_file(path / MANIFEST))

    def as_json(self) -> dict[str, Any]:
        """Return what the manifest of its child says of it: no path, which belongs to this machine."""
        rows = {name: about.get("rows") for name, about in self.manifest["files"].items()}
        return {
            "name": self.path.absolute().name,
            "recipe": self.manifest.get("recipe"),
            "seed": self.manifest.get("seed"),
            "manifest_sha256": self.manifest_sha256,
            "rows": {name: count for name, count in rows.items() if name.endswith(".parquet")},
            **({"derived": self.manifest["derived"]} if "derived" in self.manifest else {}),
        }


@dataclass(frozen=True, slots=True)
class Derived:
    """What came of it: where, rows by split, and the rows left out by reason."""

    path: Path
    rows: Mapping[str, int]
    left_out: Mapping[str, int]


@dataclass(slots=True)
class _Entry:
    """The rows of one entry of a parent, as the manifest counts them."""

    source: str
    licence: str
    weight: float
    domain: str
    kept: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    golds: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Tally:
    entries: dict[tuple[str, str, str, str], _Entry] = field(default_factory=dict)
    licences: Counter[str] = field(default_factory=Counter)
    facts: CardFacts = field(default_factory=CardFacts)

    def columns(self, sample: Sample) -> dict[str, Any]:
        """Return a sample's Parquet columns, counted."""
        columns = {
            "id": sample.id,
            "domain": sample.domain,
            "split": sample.split,
            "prompt": [dict(message) for message in sample.prompt],
            "verifier": sample.task.verifier,
            "reference": sample.task.reference_json(),
            "source": sample.source,
            "licence": sample.licence,
            "gold_check": sample.gold_check,
            "metadata": canonical_json(sample.metadata),
        }
        self.facts.add(columns)
        self.licences[sample.licence] += 1
        name = str(sample.metadata.get("entry", sample.source))
        key = (name, sample.domain, sample.source, sample.licence)
        entry = self.entries.setdefault(
            key, _Entry(sample.source, sample.licence, weight_of(sample), sample.domain)
        )
        entry.kept[sample.split] += 1
        entry.checks[sample.gold_check] += 1
        verifier = sample.task.verifier
        known = verifier in VERIFIERS.names()  # it may be one that is not installed here
        if known and (kind := VERIFIERS.get(verifier).target_type) is not None:
            entry.golds[kind(sample.task.reference)] += 1
        return columns


def write_derived(
    out: Path,
    what: Mapping[str, Any],
    parents: Sequence[Parent],
    splits: Callable[[Split], Iterable[Sample]],
    left_out: Mapping[str, Mapping[str, int]],
    after: Callable[[], None] = lambda: None,
) -> Derived:
    """Write the rows of ``splits``, each sorted by id, into the folder ``out``, which must not exist.

    ``what`` says what was done (``verb`` and its options), ``left_out`` gives rows by domain and reason; it is read
    when all rows were. ``after`` may still refuse. Raises DatasetError where no row is left, UserError (disk).
    """
    if out.exists():
        raise DatasetError(f"{out} is there already; give another folder with --out")
    tally = _Tally()
    files: dict[str, dict[str, Any]] = {}
    with atomic_directory(out.absolute()) as folder:
        for split in SPLITS:
            path = folder / f"{split}.parquet"
            rows = write_split(path, map(tally.columns, splits(split)))
            if rows:
                files[path.name] = {"rows": rows, "sha256": sha256_file(path)}
            else:
                path.unlink()
        after()
        if not files:
            raise DatasetError("no row is left, so nothing was written")
        if lines := sorted({line for parent in parents for line in _pairs(parent)}):
            atomic_write_text(folder / PAIRS, "".join(f"{line}\n" for line in lines))
            files[PAIRS] = {"rows": len(lines), "sha256": sha256_file(folder / PAIRS)}
        manifest = _manifest(out.absolute().name, what, parents, tally, files, left_out)
        write_card(folder, manifest, tally.facts)
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        atomic_write_text(folder / MANIFEST, text)
    counts = {name.removesuffix(".parquet"): about["rows"] for name, about in files.items()}
    return Derived(out, {s: counts[s] for s in SPLITS if s in counts}, dict(manifest["drops"]))


def _pairs(parent: Parent) -> Iterator[str]:
    path = parent.path / PAIRS
    if PAIRS in parent.manifest["files"] and path.is_file():
        yield from path.read_text(encoding="utf-8").splitlines()


def _manifest(
    name: str,
    what: Mapping[str, Any],
    parents: Sequence[Parent],
    tally: _Tally,
    files: Mapping[str, Any],
    left_out: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """Return the manifest: the fields of a built dataset's as far as they mean something here, and ``derived``."""
    counts = {s: _sums((e.domain, e.kept[s]) for e in tally.entries.values()) for s in SPLITS}
    stages = {}
    for domain in sorted({e.domain for e in tally.entries.values()} | {*left_out}):
        lost = left_out.get(domain, {})
        row = dict.fromkeys(("candidates", *STAGES, "surplus", "kept"), 0)
        row["kept"] = sum(count.get(domain, 0) for count in counts.values())
        row["where" if what["verb"] == "filter" else "duplicate"] = sum(lost.values())
        row["candidates"] = row["kept"] + sum(lost.values())
        stages[domain] = row
    drops: Counter[str] = sum((Counter(lost) for lost in left_out.values()), Counter())
    derived = {**what, "parents": [parent.as_json() for parent in parents]}
    digest = hashlib.sha256(canonical_json(derived).encode()).hexdigest()
    files_read = {k: v for p in parents for k, v in p.manifest.get("source_files", {}).items()}
    parts = {canonical_json(part): part for p in parents for part in p.manifest.get("parts", ())}
    return {
        "format": 2,
        "recipe": name,
        "description": _description(what, parents),
        "derived": derived,
        "seed": parents[0].manifest.get("seed"),
        "fingerprint": digest,
        "isolated": all(p.manifest.get("isolated", False) for p in parents),
        "isolation": sorted({i for p in parents for i in p.manifest.get("isolation", [])}),
        "left_out": {k: v for p in parents for k, v in p.manifest.get("left_out", {}).items()},
        "counts": counts,
        "targets": {split: {} for split in SPLITS},
        "sources": {
            s: _sums((e.source, e.kept[s]) for e in tally.entries.values()) for s in SPLITS
        },
        "licences": dict(sorted(tally.licences.items())),
        "gold_types": _joined(e.golds for e in tally.entries.values()),
        "untyped_golds": [],
        "gold_check": _joined(e.checks for e in tally.entries.values()),
        "stages": stages,
        "drops": dict(sorted(drops.items(), key=lambda item: (-item[1], item[0]))),
        "decontamination": _decontamination(parents),
        "short": {},
        "too_short": [],
        "skipped": [],
        "failed": [],
        "entries": [
            {
                "name": key[0],
                "domain": e.domain,
                "source": e.source,
                "licence": e.licence,
                "weight": e.weight,
                "splits": {s: {"target": e.kept[s], "kept": e.kept[s]} for s in SPLITS},
                "full_path_fraction": 1.0,
                "gold_check": dict(sorted(e.checks.items())),
                "gold_types": dict(e.golds.most_common()),
            }
            for key, e in sorted(tally.entries.items())
        ],
        "source_files": dict(sorted(files_read.items())),
        "files": dict(files),
        "versions": package_versions(),
        **({"parts": [parts[record] for record in sorted(parts)]} if parts else {}),
    }


def _description(what: Mapping[str, Any], parents: Sequence[Parent]) -> str:
    names = " and ".join(f"`{parent.path.absolute().name}`" for parent in parents)
    if what["verb"] == "filter":
        return f"The rows of {names} for which `{what['where']}` holds."
    return f"{names} in one; of equal rows the first stayed, in an evaluation split before train."


def _decontamination(parents: Sequence[Parent]) -> dict[str, Any]:
    """Return what every row was compared with: benchmarks that all parents checked; the others are not."""
    found = [p.manifest.get("decontamination", {}) for p in parents]
    checked = [dict(one.get("checked", {})) for one in found]
    common = {
        name: count for name, count in checked[0].items() if all(name in other for other in checked)
    }
    missing = {k: v for one in found for k, v in one.get("not_checked", {}).items()}
    some = {name for one in checked for name in one} - {*common}
    missing |= dict.fromkeys(sorted(some), "only some of the merged datasets were compared with it")
    like: Counter[str] = Counter()
    for one in found:
        like.update(one.get("rows_like_an_item", {}))
    return {
        "checked": common,
        "not_checked": missing,
        "rows_like_an_item": dict(sorted(like.items())),
    }


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, count in pairs:
        found[name] += count
    return {name: found[name] for name in sorted(found) if found[name]}


def _joined(counters: Iterable[Counter[str]]) -> dict[str, int]:
    return dict(sorted(sum(counters, Counter()).items()))
