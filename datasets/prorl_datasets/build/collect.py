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
from prorl_datasets.build.gold import GoldResult, Scorer, check_gold
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.client import Children, RowClient
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
            raise _first(running) or error from None
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
                candidates = _candidates(child, job)
            part = checked_part(self._scorer, job, candidates)
            self._store.put(job.name, part)
        return part


def _first(running: dict[Future[Part], Job]) -> UserError | None:
    """Return the mistake of the job that was given out first: the same on every run."""
    errors = (future.exception() for future in running)
    return next((error for error in errors if isinstance(error, UserError)), None)


def _candidates(child: RowClient, job: Job) -> list[dict[str, Any]]:
    if job.split:
        return child.generate(job.entry.name, job.split, job.start, job.stop)
    return child.convert(job.entry.name, job.start, job.rows)


def checked_part(scorer: Scorer, job: Job, candidates: list[dict[str, Any]]) -> Part:
    """Return the part of a job: gold checked first, then what repeats a benchmark dropped.

    Raises ServiceError when the gold check cannot run.
    """
    part = Part(candidates=len(candidates))
    made = [c for c in candidates if "drop" not in c]
    for lost in candidates:
        if "drop" in lost:
            item = _item(job, lost)
            stage = "decontamination" if "match" in lost else "made"
            part.drop(stage, lost["drop"], item, lost["detail"])
            if "match" in lost:
                part.pairs.append({"row": item, **lost["match"]})
    chosen = [c for c in made if c["checked"]]
    results = check_gold(scorer, [_response_and_task(c) for c in chosen])
    by_index = {c["index"]: r for c, r in zip(chosen, results, strict=True)}
    for candidate in made:
        result = by_index.get(candidate["index"])
        if result is not None and result.isolation:
            part.isolation = sorted({*part.isolation, result.isolation})
        if result is not None and not result.accepted:
            part.drop("gold", result.reason, _item(job, candidate), result.detail)
        elif candidate["matches"]:
            _drop_match(part, job, candidate)
        else:
            part.rows.append(_row(candidate, result))
    return part


def _response_and_task(candidate: dict[str, Any]) -> tuple[str, Any]:
    columns = candidate["columns"]
    reference = candidate["box"] or columns["reference"]
    return candidate["gold"], load_task(columns["verifier"], json.loads(reference))


def _drop_match(part: Part, job: Job, candidate: dict[str, Any]) -> None:
    first = candidate["matches"][0]
    detail = f"{first['benchmark']} {first['item']} ({first['rule']} {first['score']})"
    item = _item(job, candidate)
    part.drop("decontamination", f"like an item of {first['benchmark']}", item, detail)
    question = candidate["columns"]["prompt"][0]["content"]
    part.pairs += [{"row": item, "text": question[:SHOWN], **m} for m in candidate["matches"]]


def _row(candidate: dict[str, Any], result: GoldResult | None) -> dict[str, Any]:
    if result is not None:
        state = "verified"
    elif candidate["gold"] is not None or candidate["consistent"]:
        state = "self-consistent"
    else:
        state = "none"
    kept = {k: candidate[k] for k in ("index", "columns", "key", "prompt_key", "signature")}
    return {**kept, "gold_check": state}


def _item(job: Job, candidate: dict[str, Any]) -> str:
    split = f"-{job.split}" if job.split else ""
    return f"{job.entry.name}{split}-{candidate['index']}"
