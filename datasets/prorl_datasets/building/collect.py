"""Splits a build into jobs, each of which makes one chunk of an entry's rows, and runs them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from prorl_common import Progress, UserError, derive_seed
from prorl_datasets.building.gold import PromptedRow, Scorer, check_gold, check_prompted
from prorl_datasets.candidate import Candidate, Drop, match_json
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.client import Children
from prorl_datasets.rows.maker import SHOWN
from prorl_datasets.rows.parts import Part, PartStore
from prorl_datasets.sources.row_files import Files
from prorl_datasets.sources.sources import raw_rows
from prorl_datasets.types import DatasetError, GoldCheck, Split
from prorl_verifiers import Task, load_task


@dataclass(frozen=True, slots=True)
class Job:
    """One chunk of an entry: items [start, stop) of a generated split, or raw ``rows``, each preceded by its index."""

    entry: Entry
    split: str
    start: int
    stop: int
    rows: tuple[Any, ...] = ()
    version: str = ""

    @property
    def name(self) -> str:
        """Name of the file that stores the job's result; for raw rows it contains a digest of their files."""
        stream = self.split or f"rows-{self.version}"
        return f"{self.entry.name}-{stream}-{self.start:08d}-{self.stop:08d}"


class Collector:
    """Runs the jobs of a build."""

    def __init__(
        self, children: Children, store: PartStore, scorer: Scorer, progress: Progress
    ) -> None:
        self._store, self._scorer, self._progress = store, scorer, progress
        self._children = children
        self._lost: Counter[str] = Counter()
        self._rows, self._since = 0, time.monotonic()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Part]]:
        """Yield each job with its result, in any order. Results from an earlier build are read from disk.

        Raises DatasetError for malformed rows, UserError for disk errors, and ServiceError if verifiers or child
        processes fail.
        """
        workers = len(self._children)
        threads = ThreadPoolExecutor(workers + 1)  # one more, because one thread waits for scores
        running: dict[Future[Part], Job] = {}
        source = iter(jobs)
        try:
            for job in source:
                running[threads.submit(self._part, job)] = job
                if len(running) >= 2 * workers:
                    yield from self._finished(running)
            while running:
                yield from self._finished(running)
        except UserError as error:
            threads.shutdown(wait=True)  # started jobs finish and are kept
            errors = (future.exception() for future in running)  # in the order of submission
            first = next((e for e in errors if isinstance(e, UserError)), error)
            raise first from None  # the same error on every run
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)  # start no new job
            self._children.close()
            raise
        finally:
            threads.shutdown(wait=True, cancel_futures=True)

    def _finished(self, running: dict[Future[Part], Job]) -> Iterator[tuple[Job, Part]]:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            part = future.result()
            job = running.pop(future)
            self._lost[job.entry.domain] += part.dropped()
            drops = " ".join(f"{domain} {n}" for domain, n in sorted(self._lost.items()) if n)
            fields = {"drops": drops} if drops else {}
            self._rows += len(part.rows)
            fields["rows/s"] = f"{self._rows / max(time.monotonic() - self._since, 1e-3):.0f}"
            self._progress.advance(part.candidates, entry=job.entry.name, **fields)
            yield job, part

    def _part(self, job: Job) -> Part:
        part = self._store.get(job.name)
        if part is None:
            with self._children.lend() as child:
                if job.split:
                    candidates = child.generate(job.entry.name, job.split, job.start, job.stop)
                else:
                    candidates = child.convert(job.entry.name, job.rows)
            part = checked_part(self._scorer, job, candidates)
            self._store.put(job.name, part)
        return part


def checked_part(scorer: Scorer, job: Job, candidates: Sequence[Candidate | Drop]) -> Part:
    """Check gold responses and benchmark matches; return passed rows and drop counts. Raises ServiceError."""
    part = Part(candidates=len(candidates))
    made = [one for one in candidates if isinstance(one, Candidate)]
    for drop in candidates:
        if isinstance(drop, Drop):
            item = item_name(job.entry, job.split, drop.index)
            part.drop(drop.stage, drop.reason, item, detail=drop.detail, text=drop.text)
            if drop.quarantine is not None:
                why = {"reason": drop.reason, "detail": drop.detail}
                part.quarantine.append({"row": item, **why, **drop.quarantine})
            if drop.match is not None:
                about = {"row": item, "dropped": True, "text": drop.text}
                part.pairs.append({**about, **match_json(drop.match)})
    golds = [(one, one.gold) for one in made if one.checked and one.gold is not None]
    results = check_gold(scorer, [(gold, _task(one)) for one, gold in golds])
    by_index = {one.index: result for (one, _), result in zip(golds, results, strict=True)}
    accepted = {index for index, result in by_index.items() if result.accepted}
    unpaid = check_prompted(
        scorer,
        [
            PromptedRow(_item(job, one), one.prompt, one.gold, _task(one))
            for one in made
            if one.gold is None or one.index in accepted
        ],
    )
    part.unpaid, part.unpaid_example = unpaid.rows, unpaid.example
    for one in made:
        item, result = _item(job, one), by_index.get(one.index)
        if result is not None and result.isolation:
            part.isolation = sorted({*part.isolation, result.isolation})
        if result is not None and not result.accepted:
            texts = {"detail": result.detail, "text": one.prompt, "gold": one.gold or ""}
            part.drop("gold", result.reason, item, **texts)
            continue
        about = {"row": item, "dropped": not one.variant, "text": one.prompt[:SHOWN]}
        part.pairs += [{**about, **match_json(match)} for match in one.matches]
        if one.matches and not one.variant:
            first = one.matches[0]
            detail = f"{first.benchmark} {first.item} ({first.rule} {first.score})"
            reason = f"like an item of {first.benchmark}"
            part.drop("decontamination", reason, item, detail=detail, text=one.prompt)
        else:
            part.rows.append(_final_row(one, is_checked=result is not None))
    return part


def _final_row(candidate: Candidate, is_checked: bool) -> Candidate:
    gold_check: GoldCheck = "none"
    if candidate.gold is not None or candidate.consistent:
        gold_check = "self-consistent"
    metadata = candidate.metadata
    if is_checked and candidate.independent:
        gold_check = "verified"
        metadata = {**metadata, "verified_by": candidate.independent}
    return replace(
        candidate,
        metadata=metadata,
        gold_check=gold_check,
        gold=None,
        box=None,
        checked=False,
        consistent=False,
        independent="",
        matches=(),
        variant=False,
    )


def _task(candidate: Candidate) -> Task:
    return load_task(candidate.verifier, json.loads(candidate.box or candidate.reference))


def _item(job: Job, candidate: Candidate) -> str:
    return item_name(job.entry, job.split, candidate.index)


def item_name(entry: Entry, stream: str, index: int) -> str:
    """Return the name of an item in reports. ``stream`` is its split, or "" for rows of files."""
    return f"{entry.name}-{stream}-{index}" if stream else f"{entry.name}-{index}"


CHUNK = 64
"""Number of generated candidates in a job."""
RAW_CHUNK, RAW_BYTES = 256, 8 * 2**20
"""Maximum number of raw rows in a job, and approximate maximum size of these rows in bytes."""
FILL_ORDER: tuple[Split, ...] = ("test", "validation", "train")
"""Order in which splits take rows. Evaluation splits come first, so that they keep problems that train also has."""
BARREN = 384
"""A generator that makes no new item in this many candidates is exhausted."""
LARGEST_ROUND = 4096


@dataclass(slots=True)
class Stream:
    """Progress in generating rows of one entry for one split."""

    entry: Entry
    split: Split
    target: int
    drawn: int = 0
    kept: int = 0
    barren: int = 0
    """Number of candidates drawn since a row was last kept."""
    used_up: bool = False

    @property
    def short(self) -> bool:
        return self.kept < self.target and not self.used_up

    def result(self, kept: int, drawn: int) -> None:
        self.barren = 0 if kept > self.kept else self.barren + drawn - self.drawn
        self.kept, self.drawn = kept, drawn
        self.used_up = self.barren >= BARREN

    def to_draw(self) -> int:
        missing = self.target - self.kept
        if self.drawn == 0:
            return missing
        rate = max(self.kept / self.drawn, 0.05)
        return min(LARGEST_ROUND, max(16, int(missing / rate * 1.1) + 1))


def streams_of(entries: list[Entry]) -> list[Stream]:
    """Return a stream for each split of each generated entry, test splits first."""
    return [
        Stream(entry, split, target)
        for split in FILL_ORDER
        for entry in entries
        if entry.generated and (target := entry.count.of(split) or 0) > 0
    ]


def draw(streams: list[Stream]) -> Iterator[Job]:
    """Yield jobs that make the next candidates of all streams below their targets."""
    for stream in streams:
        if stream.short:
            end = stream.drawn + stream.to_draw()
            for start in range(stream.drawn, end, CHUNK):
                stop = min(end, start + CHUNK)
                yield Job(stream.entry, stream.split, start, stop)


@dataclass(slots=True)
class Reading:
    """Progress in reading an entry's files: all rows at once, or in rounds until ``target`` rows are kept."""

    entry: Entry
    rows: int
    target: int = 0
    order: list[int] | None = None
    """Row indices in the order in which a limited build reads them; None reads all rows."""
    done: int = 0
    kept: int = 0

    @classmethod
    def of(cls, entry: Entry, rows: int, seed: int, limited: bool) -> Reading:
        if not limited:
            return cls(entry, rows)
        order = sorted(range(rows), key=lambda index: place_of(seed, entry.name, index))
        return cls(entry, rows, sum(entry.count.among_all(rows).values()), order)

    @property
    def to_read(self) -> int:
        left = self.rows - self.done
        if self.order is None:
            return left
        missing = self.target - self.kept
        return min(left, max(missing * 5 // 4, self.done) + CHUNK) if missing > 0 else 0

    def jobs(self, files: Files) -> Iterator[Job]:
        """Return the jobs of the next round. Raises DatasetError."""
        start, self.done = self.done, self.done + self.to_read
        chosen = None if self.order is None else {*self.order[start : self.done]}
        return read(self.entry, files, chosen)

    def give_up(self) -> None:
        self.rows = self.done


def place_of(seed: int, name: str, index: int) -> int:
    """Return a key that sorts rows in a random order, which depends only on ``seed`` and ``name``."""
    return derive_seed(seed, "file", name, index)


def count_rows(entries: list[Entry], files: Files, progress: Progress) -> dict[str, int]:
    """Return the number of raw rows of each entry that is not generated.

    If an entry is unreadable, raises DatasetError, or records it in ``files.failed`` if its source has ``may_fail``.
    """
    counts: dict[str, int] = {}
    for entry in entries:
        if entry.generated or entry.name in files.failed or not entry.count.is_wanted:
            continue
        progress.start(f"counting the rows of {entry.name}", None)
        try:
            for count, _ in enumerate(raw_rows(entry, files), start=1):
                counts[entry.name] = count
                if count % RAW_CHUNK == 0:
                    progress.advance(RAW_CHUNK)
        except DatasetError as error:
            if not entry.spec.may_fail:
                raise
            counts.pop(entry.name, None)
            files.failed[entry.name] = str(error)
        progress.advance(counts.get(entry.name, 0) % RAW_CHUNK)
        progress.finish()
    return counts


def read(entry: Entry, files: Files, chosen: Collection[int] | None) -> Iterator[Job]:
    """Yield jobs for the rows with indices in ``chosen`` (all rows if None). Raises DatasetError."""
    pending: list[tuple[Any, ...]] = []
    size, version = 0, files.version(entry.name)
    for index, row in enumerate(raw_rows(entry, files)):
        if chosen is not None and index not in chosen:
            continue
        pending.append((index, *row))
        size += _size(row[1])
        if len(pending) == RAW_CHUNK or size >= RAW_BYTES:
            yield Job(entry, "", pending[0][0], index + 1, tuple(pending), version)
            pending, size = [], 0
    if pending:
        yield Job(entry, "", pending[0][0], pending[-1][0] + 1, tuple(pending), version)


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()), 64)
    if isinstance(value, list):
        return sum(map(_size, value), 64)
    return 8
