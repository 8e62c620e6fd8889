"""Summarises a dataset, shows what it records about one row, and compares two datasets."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import prorl_command
from prorl_datasets.storage import (
    DROPPED,
    MANIFEST,
    PAIRS,
    QUARANTINE,
    canonical_json,
    read_manifest,
    stream,
)
from prorl_datasets.types import SPLITS, DatasetError, Sample, in_order
from prorl_verifiers import VERIFIERS

BINS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
"""Edges of the length histogram in characters."""
ANSWERS_SHOWN = 10
FROM_MANIFEST = ("left_out", "drops", "stages", "decontamination", "short")
_ITEM = re.compile(r"(.+)-0*(\d+)")
MAX_ANSWERS = 200_000
"""Maximum number of distinct answers counted in each domain; the summary says if it is reached."""


@dataclass(frozen=True, slots=True)
class DiffReport:
    """The ids of added, removed and changed rows."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not (self.added or self.removed or self.changed)


@dataclass(slots=True)
class _Domain:
    lengths: Counter[int] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, sample: Sample, most: int) -> None:
        """Count a row, and keep up to ``most`` rows as examples, from different entries if possible."""
        self.lengths[sum(len(m["content"]) for m in sample.prompt)] += 1
        answer, task = None, sample.task
        if task.verifier in VERIFIERS.names():  # its plug-in may not be installed here
            spec = VERIFIERS.get(task.verifier)
            data = spec.data
            answer = data.topic(task.reference) if data.topic else data.topic_line(task.reference)
        if answer is not None and (answer in self.answers or len(self.answers) < MAX_ANSWERS):
            self.answers[answer] += 1
        if len(self.examples) < most:
            self.examples.append(_example(sample))
            return
        entries = [example["entry"] for example in self.examples]
        again = [place for place, entry in enumerate(entries) if entry in entries[:place]]
        if again and sample.metadata.get("entry") not in entries:
            self.examples[again[0]] = _example(sample)

    def common_answers(self) -> dict[str, Any]:
        if not self.answers:
            return {}
        is_complete = len(self.answers) < MAX_ANSWERS
        return {
            "different": len(self.answers) if is_complete else f"{MAX_ANSWERS} or more",
            "commonest": dict(self.answers.most_common(ANSWERS_SHOWN)),
        }

    def prompt_lengths(self) -> dict[str, Any]:
        bars = dict.fromkeys((0, *BINS), 0)
        for length, count in self.lengths.items():
            bars[max(edge for edge in bars if edge <= length)] += count
        ordered = sorted(self.lengths.elements())
        used = [edge for edge, count in bars.items() if count]
        return {
            "median": ordered[len(ordered) // 2],
            "largest": ordered[-1],
            "histogram": {f"{edge}+": bars[edge] for edge in bars if used[0] <= edge <= used[-1]},
        }


def inspect(path: str | Path, examples: int = 3) -> dict[str, Any]:
    """Return a summary as JSON values, with up to ``examples`` rows of each domain. Raises DatasetError."""
    path = Path(path)
    manifest = read_manifest(path) if (path / MANIFEST).is_file() else {}
    domains: dict[str, _Domain] = {}
    counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    columns = {name: Counter[str]() for name in ("source", "licence", "gold_check")}
    for sample in stream(path):
        counts[sample.split][sample.domain] += 1
        for name, counter in columns.items():
            counter[getattr(sample, name)] += 1
        domains.setdefault(sample.domain, _Domain()).add(sample, examples)
    rows = sum(sum(counter.values()) for counter in counts.values())
    if not rows:
        raise DatasetError(f"{path} holds no samples; build the dataset again")
    present = in_order(domains)
    return {
        "path": str(path),
        "recipe": manifest.get("recipe"),
        "seed": manifest.get("seed"),
        "rows": rows,
        "counts": {
            s: {d: counts[s][d] for d in present if counts[s][d]} for s in SPLITS if counts[s]
        },
        "sources": dict(columns["source"].most_common()),
        "licences": dict(columns["licence"].most_common()),
        "gold_check": dict(columns["gold_check"].most_common()),
        "prompt_characters": {d: domains[d].prompt_lengths() for d in present},
        "answers": {d: common for d in present if (common := domains[d].common_answers())},
        **{name: manifest.get(name, {}) for name in FROM_MANIFEST},
        "examples": [example for d in present for example in domains[d].examples],
    }


def _example(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "domain": sample.domain,
        "entry": sample.metadata.get("entry"),
        "prompt": [dict(m) for m in sample.prompt],
        "gold_response": sample.metadata.get("gold_response"),
    }


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
            f"{path} has no row '{row}'{hint}, and no record that it was dropped; "
            f"to see ids, run {prorl_command('data', 'inspect', path)}"
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
    """Yield the records about a dropped row, whose id is ENTRY-INDEX or ENTRY-SPLIT-INDEX."""
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


def diff(before: str | Path, after: str | Path) -> DiffReport:
    """Compare the rows of two datasets by id. Raises DatasetError."""
    old, new = _contents(before), _contents(after)
    return DiffReport(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(i for i in old.keys() & new.keys() if old[i] != new[i])),
    )


def _contents(path: str | Path) -> dict[str, bytes]:
    digests = {}
    for s in stream(path):
        prompt, reference = [dict(m) for m in s.prompt], dict(s.task.reference)
        gold = s.metadata.get("gold_response")
        content = [prompt, s.domain, s.split, s.source, s.task.verifier, reference, gold]
        digests[s.id] = hashlib.blake2b(canonical_json(content).encode(), digest_size=16).digest()
    return digests
