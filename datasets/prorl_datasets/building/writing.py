"""Write the chosen rows: Parquet by split, the offending pairs, the card, the manifest, at once.

Rows are read back from the part files one part at a time, so memory does not grow with the dataset.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import atomic_directory, atomic_write_text, sha256_file
from prorl_datasets.building.choose import Choice, Ref, row_id
from prorl_datasets.building.difficulty import PassRates
from prorl_datasets.building.report import (
    MAX_UNTYPED,
    STAGES,
    EntryResult,
    Facts,
    make_manifest,
    parts_in_use,
)
from prorl_datasets.card.card import write_card
from prorl_datasets.card.facts import CardFacts
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.parts import PartStore, dropped_line
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.storage import MANIFEST, canonical_json, write_split
from prorl_datasets.types import SPLITS, Split
from prorl_verifiers import VERIFIERS, Task, part_records
from prorl_verifiers.spec import UNTYPED, no_parts

PAIRS = "decontamination.jsonl"
QUARANTINE = "quarantine.jsonl"
DROPPED = "dropped.jsonl"


@dataclass(slots=True)
class Output:
    """What a build has to write. ``about`` lacks the files and licences, known when written."""

    recipe: Recipe
    results: list[EntryResult]
    choice: Choice
    store: PartStore
    pairs: list[dict[str, Any]]
    rates: PassRates | None
    about: dict[str, Any]
    quarantined: list[str] = field(default_factory=list)
    """Parts that hold bad rows to be written, in any order."""
    licences: Counter[str] = field(default_factory=Counter)
    parts: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """What rows name of others, a verifier and what it takes (``parts_for``): (group, name) -> record."""
    facts: CardFacts = field(default_factory=CardFacts)


def write_dataset(work: Output, out: Path) -> dict[str, Any]:
    """Write the folder ``out`` in one step and return the manifest. Raises UserError (disk)."""
    for result in work.results:  # what was chosen
        name = result.entry.name
        for split in SPLITS:
            refs = work.choice.kept.get((name, split), [])
            result.kept[split] = len(refs)
            result.answers.update(ref.answer for ref in refs if ref.answer is not None)
        for (stage, reason), count in work.choice.lost.get(name, {}).items():
            result.drops.setdefault(stage, Counter())[reason] += count
        result.surplus = work.choice.surplus[name]
    files: dict[str, dict[str, Any]] = {}
    with atomic_directory(out, work.store.folder) as folder:
        for split in SPLITS:
            if any(result.kept[split] for result in work.results):
                path = folder / f"{split}.parquet"
                written = write_split(path, _rows(work, split))
                files[path.name] = {"rows": written, "sha256": sha256_file(path)}
        if work.pairs:
            lines = sorted(canonical_json(pair) for pair in work.pairs)
            atomic_write_text(folder / PAIRS, "".join(f"{line}\n" for line in lines))
            files[PAIRS] = {"rows": len(lines), "sha256": sha256_file(folder / PAIRS)}
        if work.quarantined:
            rows = _write_quarantine(work, folder / QUARANTINE)
            files[QUARANTINE] = {"rows": rows, "sha256": sha256_file(folder / QUARANTINE)}
        if dropped := _dropped(work):
            atomic_write_text(folder / DROPPED, "".join(f"{canonical_json(d)}\n" for d in dropped))
            files[DROPPED] = {"rows": len(dropped), "sha256": sha256_file(folder / DROPPED)}
        parts = parts_in_use(work.recipe)
        named = [work.parts[key] for key in sorted(work.parts)]
        parts += [part for part in named if part not in parts]
        facts = Facts(**work.about, files=files, licences=work.licences, parts=parts)
        manifest = make_manifest(work.recipe, work.results, facts)
        write_card(folder, manifest, work.facts)
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        atomic_write_text(folder / MANIFEST, text)
    return manifest


def _write_quarantine(work: Output, path: Path) -> int:
    """Write the bad rows, a line each with place, reason and columns, by entry and place; return their number."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for name in sorted(work.quarantined):
            if (part := work.store.get(name)) is None:
                raise work.store.gone(name)
            with long_integers():
                lines = [json.dumps(row, sort_keys=True) for row in part.quarantine]
            file.writelines(f"{line}\n" for line in lines)
            count += len(lines)
    return count


def _dropped(work: Output) -> list[dict[str, str]]:
    """Return examples of what was dropped, by entry, stage and row: few of each reason (``EXAMPLES``)."""
    reader, found = _PartReader(work.store), []
    for result in work.results:
        lines = list(result.examples)
        for (name, _, _), examples in work.choice.examples.items():
            if name != result.entry.name:
                continue
            for one in examples:
                text = reader.row(one.ref)["columns"]["prompt"][0]["content"]
                lines.append(
                    dropped_line(one.item, one.stage, one.reason, text=text, like=one.like)
                )
        lines.sort(key=lambda line: (STAGES.index(line["stage"]), line["reason"], line["row"]))
        about = {"entry": result.entry.name, "domain": result.entry.domain}
        found += [{**about, **line} for line in lines]
    return found


def _rows(work: Output, split: Split) -> Iterator[dict[str, Any]]:
    """Yield the rows of a split sorted by id."""
    by_name: Mapping[str, EntryResult] = {r.entry.name: r for r in work.results}
    wanted: list[tuple[str, EntryResult, Ref]] = sorted(
        (
            (row_id(by_name[name].entry, split, ref.index), by_name[name], ref)
            for (name, of), refs in work.choice.kept.items()
            if of == split
            for ref in refs
        ),
        key=lambda item: item[0],
    )
    reader = _PartReader(work.store)
    seen: set[str] = set()
    for identity, result, ref in wanted:
        row = reader.row(ref)
        columns = row["columns"]
        share = result.commonest_answer_share()
        if share is not None:
            columns["metadata"].setdefault("chance", share)
        result.checks[row["gold_check"]] += 1
        result.tests_left_out.update(columns["metadata"].get("tests_left_out", {}))
        _count_gold(result, identity, columns)
        work.licences[columns["licence"]] += 1
        rate = None if work.rates is None else work.rates.of(identity, ref.prompt_key.hex())
        work.facts.add(columns, rate)
        work.parts |= _parts_named(columns, seen)
        metadata = canonical_json(columns["metadata"])
        yield {
            **columns,
            "id": identity,
            "split": split,
            "gold_check": row["gold_check"],
            "metadata": metadata,
        }


def _parts_named(
    columns: Mapping[str, Any], seen: set[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """Return the records of what a row names of others; of a verifier in ``seen`` only if tasks of it differ there."""
    verifier = columns["verifier"]
    spec = VERIFIERS.get(verifier)
    if verifier in seen and spec.parts_for is no_parts and spec.compose is None:
        return {}
    seen.add(verifier)
    records = part_records([Task(verifier, json.loads(columns["reference"]))])
    return {(record["group"], record["name"]): record for record in records}


def _count_gold(result: EntryResult, identity: str, columns: Mapping[str, Any]) -> None:
    """Count the type of a row's gold; list it where it has none."""
    verifier = VERIFIERS.get(columns["verifier"])
    if verifier.target_type is None:
        return
    reference = json.loads(columns["reference"])
    kind = verifier.target_type(reference)
    result.golds[kind] += 1
    if kind == UNTYPED and len(result.untyped) < MAX_UNTYPED:
        result.untyped.append([identity, verifier.shown(reference) or ""])


class _PartReader:
    """Holds the last part read: rows sorted by id mostly follow each other in one."""

    def __init__(self, store: PartStore) -> None:
        self._store, self._name = store, ""
        self._rows: list[dict[str, Any]] = []

    def row(self, ref: Ref) -> dict[str, Any]:
        """Return the row that ``ref`` points to."""
        if ref.part != self._name:
            part = self._store.get(ref.part)
            if part is None:
                raise self._store.gone(ref.part)
            self._name, self._rows = ref.part, part.rows
        return self._rows[ref.place]
