"""Writes the chosen rows, the card and the manifest in one atomic step, in constant memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from prorl_common import Progress, atomic_directory, atomic_write_text, sha256_file
from prorl_datasets.building.choose import Choice, PassRates, Ref, row_id
from prorl_datasets.building.report import (
    MAX_UNTYPED,
    EntryResult,
    Facts,
    make_manifest,
    parts_in_use,
)
from prorl_datasets.candidate import STAGES, Candidate
from prorl_datasets.card import RecordedRates, write_card
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.parts import PartStore, dropped_line
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.storage import (
    DROPPED,
    MANIFEST,
    PAIRS,
    QUARANTINE,
    canonical_json,
    write_split,
)
from prorl_datasets.types import SPLITS, Split
from prorl_verifiers import VERIFIERS, Task, part_records
from prorl_verifiers.data_shape import UNTYPED


@dataclass(slots=True)
class Output:
    recipe: Recipe
    results: list[EntryResult]
    choice: Choice
    store: PartStore
    pairs: list[dict[str, Any]]
    rates: PassRates | None
    about: dict[str, Any]
    quarantined: list[str] = field(default_factory=list)
    """Names of part files with quarantined rows."""
    licences: Counter[str] = field(default_factory=Counter)
    parts: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Records of the plug-ins that only rows name, by (group, name)."""
    recorded: RecordedRates = field(default_factory=RecordedRates)


def write_dataset(work: Output, out: Path, progress: Progress) -> dict[str, Any]:
    """Write ``out`` atomically and return the manifest. Raises UserError for disk errors."""
    for result in work.results:  # record the chosen rows
        name = result.entry.name
        for split in SPLITS:
            refs = work.choice.kept.get((name, split), [])
            result.kept[split] = len(refs)
            result.answers.update(ref.answer for ref in refs if ref.answer is not None)
        for (stage, reason), count in work.choice.lost.get(name, {}).items():
            result.drops.setdefault(stage, Counter())[reason] += count
        result.surplus = work.choice.surplus[name]
    files: dict[str, dict[str, Any]] = {}
    progress.start("writing rows", sum(result.kept.total() for result in work.results))
    with atomic_directory(out, work.store.folder) as folder:
        for split in SPLITS:
            if any(result.kept[split] for result in work.results):
                path = folder / f"{split}.parquet"
                written = write_split(path, _rows(work, split, progress))
                files[path.name] = {"rows": written, "sha256": sha256_file(path)}
        if work.pairs:
            lines = sorted(canonical_json(pair) for pair in work.pairs)
            atomic_write_text(folder / PAIRS, "".join(f"{line}\n" for line in lines))
            files[PAIRS] = {"rows": len(lines), "sha256": sha256_file(folder / PAIRS)}
        if work.quarantined:
            rows = _write_quarantine(work, folder / QUARANTINE)
            files[QUARANTINE] = {"rows": rows, "sha256": sha256_file(folder / QUARANTINE)}
        if dropped := _dropped_lines(work):
            atomic_write_text(folder / DROPPED, "".join(f"{canonical_json(d)}\n" for d in dropped))
            files[DROPPED] = {"rows": len(dropped), "sha256": sha256_file(folder / DROPPED)}
        parts = parts_in_use(work.recipe)
        named = [work.parts[key] for key in sorted(work.parts)]
        parts += [part for part in named if part not in parts]
        facts = Facts(**work.about, files=files, licences=work.licences, parts=parts)
        manifest = make_manifest(work.recipe, work.results, facts)
        write_card(folder, manifest, work.recorded)
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        atomic_write_text(folder / MANIFEST, text)
    progress.finish()
    return manifest


def _write_quarantine(work: Output, path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for name in sorted(work.quarantined):
            if (part := work.store.get(name)) is None:
                raise work.store.vanished(name)
            with long_integers():
                lines = [json.dumps(row, sort_keys=True) for row in part.quarantine]
            file.writelines(f"{line}\n" for line in lines)
            count += len(lines)
    return count


def _dropped_lines(work: Output) -> list[dict[str, str]]:
    reader, records = _PartReader(work.store), []
    for result in work.results:
        lines = list(result.examples)
        for (name, _, _), examples in work.choice.examples.items():
            if name != result.entry.name:
                continue
            for one in examples:
                text = reader.row(one.ref).prompt
                lines.append(
                    dropped_line(one.item, one.stage, one.reason, text=text, like=one.like)
                )
        lines.sort(key=lambda line: (STAGES.index(line["stage"]), line["reason"], line["row"]))
        about = {"entry": result.entry.name, "domain": result.entry.domain}
        records += [{**about, **line} for line in lines]
    return records


def _rows(work: Output, split: Split, progress: Progress) -> Iterator[dict[str, Any]]:
    by_name: Mapping[str, EntryResult] = {r.entry.name: r for r in work.results}
    chosen: list[tuple[str, EntryResult, Ref]] = sorted(
        (
            (row_id(by_name[name].entry, split, ref.index), by_name[name], ref)
            for (name, of), refs in work.choice.kept.items()
            if of == split
            for ref in refs
        ),
        key=lambda item: item[0],
    )
    chance = {r.entry.name: r.commonest_answer_share() for r in work.results}
    reader = _PartReader(work.store)
    recorded: set[str] = set()
    for identity, result, ref in chosen:
        one = reader.row(ref)
        metadata = dict(one.metadata)
        if (share := chance[result.entry.name]) is not None:
            metadata.setdefault("chance", share)
        result.checks[one.gold_check] += 1
        result.tests_left_out.update(metadata.get("tests_left_out", {}))
        work.licences[one.licence] += 1
        spec = VERIFIERS.get(one.verifier)
        if spec.data.target_type is not None:
            reference = json.loads(one.reference)
            kind = spec.data.target_type(reference)
            result.golds[kind] += 1
            if kind == UNTYPED and len(result.untyped) < MAX_UNTYPED:
                result.untyped.append([identity, spec.data.topic_line(reference) or ""])
        rows_name_parts = spec.needs is not None or spec.compose is not None
        if rows_name_parts or one.verifier not in recorded:
            recorded.add(one.verifier)
            records = part_records([Task(one.verifier, json.loads(one.reference))])
            work.parts |= {(record["group"], record["name"]): record for record in records}
        row = {
            "id": identity,
            "domain": one.domain,
            "split": split,
            "prompt": [{"role": "user", "content": one.prompt}],
            "verifier": one.verifier,
            "reference": one.reference,
            "source": one.source,
            "licence": one.licence,
            "gold_check": one.gold_check,
            "metadata": canonical_json(metadata),
        }
        rate = None if work.rates is None else work.rates.of(identity, ref.prompt_key.hex())
        work.recorded.add(one.domain, rate)
        progress.advance(1, split=split)
        yield row


class _PartReader:
    """Reads rows from part files and caches the last four files."""

    def __init__(self, store: PartStore) -> None:
        self._store = store
        self._part = lru_cache(maxsize=4)(self._read)

    def row(self, ref: Ref) -> Candidate:
        return self._part(ref.part)[ref.place]

    def _read(self, name: str) -> list[Candidate]:
        part = self._store.get(name)
        if part is None:
            raise self._store.vanished(name)
        return part.rows
