"""Build a dataset: recipe to rows, gold check, exact dedupe over splits, Parquet and manifest.

Evaluation splits are filled before train, so a prompt they share stays with them. Finished chunks
are kept in part files: a build killed anywhere goes on from there. The result depends on recipe and
seed alone, not on workers. Leaves out: near-duplicate search, decontamination, hub sources.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import (
    Progress,
    atomic_directory,
    atomic_write_text,
    derive_seed,
    sha256_file,
)
from prorl_datasets.gold import Scorer, check_gold, open_scorer
from prorl_datasets.parts import Part, PartStore, fingerprint
from prorl_datasets.recipe import Entry, Recipe
from prorl_datasets.report import BuildReport, EntryResult, make_manifest, source_label
from prorl_datasets.rows import Drop, Row
from prorl_datasets.storage import MANIFEST, canonical_json, read_manifest, write_split
from prorl_datasets.streams import Streams
from prorl_datasets.types import SPLITS, DatasetError, Split

CHUNK = 64
"""Candidates a part file covers: what a kill can cost, and how often progress moves."""
BARREN_CHUNKS = 6
"""A generator that gives no new item in this many chunks in a row is taken to be used up."""
FILL_ORDER: tuple[Split, ...] = ("test", "validation", "train")


@dataclass(slots=True)
class _Build:
    recipe: Recipe
    seed: int
    isolated: bool
    streams: Streams
    store: PartStore
    scorer: Scorer
    progress: Progress
    seen: set[str] = field(default_factory=set)


def build(
    recipe: Recipe,
    out: Path,
    *,
    seed: int | None = None,
    progress: Progress,
    isolated: bool = True,
    workers: int = 2,
) -> BuildReport:
    """Build ``recipe`` into the folder ``out`` and return the report.

    ``seed`` replaces the recipe's. ``isolated`` says whether untrusted code can run here; where it
    cannot, the code domain is left out with one loud line. ``workers`` verifier processes check the
    gold responses. The same dataset already in ``out`` is kept. Raises DatasetError (recipe,
    sources, an ``out`` that is not a dataset), UserError (disk), ServiceError (verifiers broke;
    finished parts are kept).
    """
    return build_with(
        open_scorer(workers), recipe, out, seed=seed, progress=progress, isolated=isolated
    )


def build_with(
    scoring: AbstractContextManager[Scorer],
    recipe: Recipe,
    out: Path,
    *,
    seed: int | None = None,
    progress: Progress,
    isolated: bool = True,
) -> BuildReport:
    """Do as ``build`` does, with a scorer of your own; it is entered only when something is to be
    checked.
    """
    seed = recipe.seed if seed is None else seed
    out = out.absolute()
    with ExitStack() as stack:
        streams = stack.enter_context(Streams(recipe, seed))
        _check_out(out)
        digest = fingerprint(recipe, seed, isolated, streams.file_hashes())
        if (existing := _already_built(out, digest)) is not None:
            progress.message(f"{out} already holds this dataset; nothing to do")
            return BuildReport(out, existing, reused=True)
        streams.check()
        store, scorer = PartStore(out, digest), stack.enter_context(scoring)
        work = _Build(recipe, seed, isolated, streams, store, scorer, progress)
        results = _collect_all(work)
        manifest = _write(work, out, digest, results)
    store.clear()
    return BuildReport(out, manifest)


def _check_out(out: Path) -> None:
    """Refuse to replace what is not a dataset, and paths that cannot be folders."""
    for parent in out.parents:
        if parent.exists() and not parent.is_dir():
            raise DatasetError(f"cannot write {out}: {parent} is a file, not a folder")
    if out.exists() and not out.is_dir():
        raise DatasetError(f"cannot write {out}: it is a file; give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise DatasetError(f"{out} exists and is not a dataset; give another folder with --out")


def _already_built(out: Path, digest: str) -> dict[str, Any] | None:
    if not (out / MANIFEST).is_file():
        return None
    try:
        manifest = read_manifest(out)
    except DatasetError:
        return None
    if manifest.get("fingerprint") != digest:
        return None
    files = manifest["files"].items()
    whole = all((out / n).is_file() and sha256_file(out / n) == f["sha256"] for n, f in files)
    return manifest if whole else None


def _collect_all(work: _Build) -> list[EntryResult]:
    recipe, progress = work.recipe, work.progress
    results = [EntryResult(entry) for entry in recipe.entries]
    for result in results:
        result.left_out = result.entry.domain == "code" and not work.isolated
    if any(result.left_out for result in results):
        progress.message(
            "WARNING: this machine cannot isolate untrusted code, so the CODE DOMAIN IS LEFT OUT "
            "of this dataset (prorl sandbox doctor says what is missing)"
        )
    if (found := work.store.found()) > 0:
        progress.message(f"continuing an earlier build: {found} finished parts found")
    active = [r for r in results if not r.left_out]
    targets = [r.entry.count.of(s) for r in active for s in SPLITS]
    total = None if None in targets else sum(t for t in targets if t)
    progress.start(f"building {recipe.name}", total)
    cursor: dict[str, int] = {}
    for split in FILL_ORDER:
        for result in active:
            _collect(work, result, split, cursor)
    progress.finish()
    return results


def _collect(work: _Build, result: EntryResult, split: Split, cursor: dict[str, int]) -> None:
    """Fill one split of one entry, chunk by chunk, until its target or the end of its source."""
    entry = result.entry
    target = entry.count.of(split)
    shared = entry.source.kind == "file"
    start, barren, number = cursor.get(entry.name, 0) if shared else 0, 0, 0
    while (target is None or result.kept[split] < target) and barren < BARREN_CHUNKS:
        want = CHUNK if target is None else target - result.kept[split]
        name = f"{entry.name}-{split}-{number:05d}"
        part = work.store.get(name)
        if part is None:
            part = _make_part(work, entry, split, start, want)
            work.store.put(name, part)
        start, number = start + part.candidates, number + 1
        barren = 0 if part.rows else barren + 1
        work.seen.update(part.hashes)
        result.add(split, part)
        work.progress.advance(len(part.rows), domain=entry.domain, entry=entry.name)
        if part.ended:
            break
    cursor[entry.name] = start


def _make_part(work: _Build, entry: Entry, split: Split, start: int, want: int) -> Part:
    """Return the next chunk: fresh prompts among the candidates, gold checked, at most ``want`` of
    them.
    """
    size = min(CHUNK, max(16, want))
    candidates = work.streams.take(entry, split, range(start, start + size))
    part = Part(ended=len(candidates) < size)
    fresh: list[tuple[Row, str]] = []
    taken: set[str] = set()
    for candidate in candidates:
        if len(fresh) == want:
            part.ended = False
            break
        part.candidates += 1
        if isinstance(candidate, Drop):
            part.drop(candidate.reason, f"{entry.name}-{split}-{candidate.index}", candidate.detail)
            continue
        prompt = work.recipe.prompt_for(entry).format(question=candidate.question)
        key = prompt_hash(prompt)
        if key in work.seen or key in taken:
            part.drop("duplicate prompt", f"{entry.name}-{split}-{candidate.index}", "")
            continue
        taken.add(key)
        fresh.append((candidate, prompt))
    part.hashes = sorted(taken)
    _check_and_add(work, entry, split, fresh, part)
    return part


def prompt_hash(prompt: str) -> str:
    """Return the hash under which prompts count as equal: but for case and spacing, the text."""
    text = " ".join(prompt.lower().split())
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _check_and_add(
    work: _Build, entry: Entry, split: Split, fresh: Sequence[tuple[Row, str]], part: Part
) -> None:
    chosen = [i for i, (row, _) in enumerate(fresh) if _is_checked(work.seed, entry, split, row)]
    gold = [(fresh[i][0].gold or "", fresh[i][0].task) for i in chosen]
    verdicts = dict(zip(chosen, check_gold(work.scorer, gold), strict=True))
    for place, (row, prompt) in enumerate(fresh):
        verdict = verdicts.get(place)
        if verdict is not None and verdict.isolation:
            part.isolation = sorted({*part.isolation, verdict.isolation})
        if verdict is not None and not verdict.accepted:
            part.drop(verdict.reason, f"{entry.name}-{split}-{row.index}", verdict.detail)
            continue
        state = "verified" if verdict else "none" if row.gold is None else "self-consistent"
        part.rows.append(_as_columns(entry, split, row, prompt, state))


def _is_checked(seed: int, entry: Entry, split: Split, row: Row) -> bool:
    """Whether an item runs through its verifier: those with a gold response, ``verify_fraction`` of
    them.
    """
    if row.gold is None:
        return False
    return derive_seed(seed, "verify", entry.name, split, row.index) / 2**63 < entry.verify_fraction


def _as_columns(entry: Entry, split: Split, row: Row, prompt: str, state: str) -> dict[str, Any]:
    metadata = {**row.metadata, "entry": entry.name, "index": row.index, "weight": entry.weight}
    if row.gold is not None:
        metadata["gold_response"] = row.gold
    return {
        "id": f"{entry.name}-{split}-{row.index:06d}",
        "domain": entry.domain,
        "split": split,
        "prompt": [{"role": "user", "content": prompt}],
        "verifier": row.task.verifier,
        "reference": row.task.reference_json(),
        "source": source_label(entry),
        "licence": entry.licence,
        "gold_check": state,
        "metadata": metadata,
        "answer": row.answer,
    }


def _write(work: _Build, out: Path, digest: str, results: list[EntryResult]) -> dict[str, Any]:
    if not any(result.kept.total() for result in results):
        raise DatasetError(
            f"recipe {work.recipe.name} gave no items: every count is 0 or all were dropped"
        )
    files: dict[str, dict[str, Any]] = {}
    with atomic_directory(out) as folder:
        for split in SPLITS:
            rows = sorted(_rows_of(work, results, split), key=lambda row: str(row["id"]))
            if rows:
                path = folder / f"{split}.parquet"
                written = write_split(path, rows)
                files[path.name] = {"rows": written, "sha256": sha256_file(path)}
        manifest = make_manifest(work.recipe, work.seed, digest, results, files, work.isolated)
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        atomic_write_text(folder / MANIFEST, text)
    return manifest


def _rows_of(work: _Build, results: list[EntryResult], split: Split) -> Iterator[dict[str, Any]]:
    """Yield the kept rows of a split from the part files, with the chance level filled in."""
    for result in results:
        share = result.commonest_answer_share()
        number = 0
        while (part := work.store.get(f"{result.entry.name}-{split}-{number:05d}")) is not None:
            for row in part.rows:
                if share is not None:
                    row["metadata"].setdefault("chance", share)
                row["metadata"] = canonical_json(row["metadata"])
                yield row
            number += 1
