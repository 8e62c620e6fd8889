"""Run the jobs of a build over the cores: make candidates, check their gold, write part files.

A job is one chunk of one entry; its result depends on nothing else, so neither order nor number of
workers shows in it. Leaves out: which jobs there are (``plan``) and which rows stay (``choose``).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from prorl_common import Progress, UserError
from prorl_datasets.building.gold import Scorer, check_gold
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.client import Children
from prorl_datasets.rows.maker import SHOWN
from prorl_datasets.rows.parts import Part, PartStore
from prorl_verifiers import load_task


@dataclass(frozen=True, slots=True)
class Job:
    """Candidates [start, stop) of an entry: of its stream for ``split``, or the raw ``rows``."""

    entry: Entry
    split: str
    start: int
    stop: int
    rows: tuple[Any, ...] = ()
    version: str = ""

    @property
    def name(self) -> str:
        """The part's name; the text sources have one stream for all splits, and ``version`` says
        of which bytes, so that a file that was mended costs no other entry its parts.
        """
        stream = self.split or f"rows-{self.version}"
        return f"{self.entry.name}-{stream}-{self.start:08d}-{self.stop:08d}"


class Collector:
    """The workers of a build: row-making children, threads that wait for them, and one scorer."""

    def __init__(
        self, children: Children, store: PartStore, scorer: Scorer, progress: Progress
    ) -> None:
        self._store, self._scorer, self._progress = store, scorer, progress
        self._children = children
        self._lost: Counter[str] = Counter()
        self._rows, self._since = 0, time.monotonic()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Part]]:
        """Yield each job with its part, in no fixed order; finished parts are read, not made again.

        Raises DatasetError (malformed rows, by file and line; jobs begun before are finished first),
        UserError (disk), ServiceError (verifiers or children broke); parts that were finished stay.
        """
        workers = len(self._children)
        threads = ThreadPoolExecutor(workers + 1)  # one more: a thread waits while it scores
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
            threads.shutdown(wait=True)  # what was begun is finished and stands
            errors = (future.exception() for future in running)  # in the order of giving out
            first = next((e for e in errors if isinstance(e, UserError)), error)
            raise first from None  # the same on every run
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)  # first: nothing new may begin
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
            self._progress.advance(len(part.rows), entry=job.entry.name, **fields)
            yield job, part

    def _part(self, job: Job) -> Part:
        part = self._store.get(job.name)
        if part is None:
            with self._children.lend() as child:
                if job.split:
                    candidates = child.generate(job.entry.name, job.split, job.start, job.stop)
                else:
                    candidates = child.convert(job.entry.name, job.start, job.rows)
            part = checked_part(self._scorer, job, candidates)
            self._store.put(job.name, part)
        return part


def checked_part(scorer: Scorer, job: Job, candidates: list[dict[str, Any]]) -> Part:
    """Return the part of a job: gold checked first, then what repeats a benchmark dropped.

    Raises ServiceError when the gold check cannot run.
    """
    part = Part(candidates=len(candidates))
    made = [c for c in candidates if "drop" not in c]
    for lost in candidates:
        if "drop" in lost:
            item = _item(job, lost)
            stage = "decontamination" if "match" in lost else lost.get("stage", "made")
            text = lost.get("text") or lost.get("match", {}).get("text", "")
            part.drop(stage, lost["drop"], item, detail=lost["detail"], text=text)
            if "quarantine" in lost:
                why = {"reason": lost["drop"], "detail": lost["detail"]}
                part.quarantine.append({"row": item, **why, **lost["quarantine"]})
            if "match" in lost:
                part.pairs.append({"row": item, "dropped": True, **lost["match"]})
    chosen = [c for c in made if c["checked"]]
    tasks = []
    for c in chosen:
        reference = json.loads(c["box"] or c["columns"]["reference"])
        tasks.append((c["gold"], load_task(c["columns"]["verifier"], reference)))
    results = check_gold(scorer, tasks)
    by_index = {c["index"]: r for c, r in zip(chosen, results, strict=True)}
    for candidate in made:
        result = by_index.get(candidate["index"])
        if result is not None and result.isolation:
            part.isolation = sorted({*part.isolation, result.isolation})
        if result is not None and not result.accepted:
            item, text = _item(job, candidate), _text(candidate)
            gold = candidate["gold"]
            part.drop("gold", result.reason, item, detail=result.detail, text=text, gold=gold)
        elif candidate["matches"] and not candidate["variant"]:
            first, item = candidate["matches"][0], _item(job, candidate)
            detail = f"{first['benchmark']} {first['item']} ({first['rule']} {first['score']})"
            reason = f"like an item of {first['benchmark']}"
            part.drop("decontamination", reason, item, detail=detail, text=_text(candidate))
            part.pairs += _pairs(item, candidate)
        else:
            part.pairs += _pairs(_item(job, candidate), candidate)
            certain = candidate["gold"] is not None or candidate["consistent"]
            checked = result is not None and not result.judged
            independent = candidate["independent"] if checked else ""
            state = "verified" if independent else "self-consistent" if certain else "none"
            if independent:
                candidate["columns"]["metadata"]["verified_by"] = independent
            kept = {k: candidate[k] for k in ("index", "columns", "key", "prompt_key", "signature")}
            part.rows.append({**kept, "gold_check": state})
    return part


def _pairs(item: str, candidate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of ``decontamination.jsonl`` of one row."""
    text = _text(candidate)[:SHOWN]
    about = {"row": item, "dropped": not candidate["variant"], "text": text}
    return [{**about, **match} for match in candidate["matches"]]


def _text(candidate: dict[str, Any]) -> str:
    text: str = candidate["columns"]["prompt"][0]["content"]
    return text


def _item(job: Job, candidate: dict[str, Any]) -> str:
    return item_name(job.entry, job.split, candidate["index"])


def item_name(entry: Entry, stream: str, index: int) -> str:
    """Return how what may be dropped is named: its stream is "" for files, which have one for all splits."""
    return f"{entry.name}-{stream}-{index}" if stream else f"{entry.name}-{index}"
