"""Scores samples in a thread while more are generated."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from prorl_common import Closing, Progress
from prorl_evaluation.sampling.journal import EvalJournal, Problem, verdict_record
from prorl_verifiers import Task, Verdict, responses_of, score_conversations


class Usage(Protocol):
    @property
    def cost(self) -> float | None:
        """The cost so far; None if no price is set."""


class Meter:
    """Shows the progress of sampling, with speed and cost."""

    def __init__(
        self,
        progress: Progress,
        total: int,
        usage: Callable[[], Usage | None] = lambda: None,
    ) -> None:
        self._progress, self._total, self._usage = progress, total, usage
        self._started = time.perf_counter()
        spent = usage()
        self._spent_before = (spent.cost or 0.0) if spent is not None else 0.0
        self.samples = self.tokens = 0

    def count(self, samples: int, tokens: int = 0) -> None:
        self.samples += samples
        self.tokens += tokens
        self._progress.advance(samples, **self.facts())

    def facts(self) -> dict[str, str]:
        facts: dict[str, str] = {}
        seconds = time.perf_counter() - self._started
        if self.tokens and seconds > 0:
            facts["tokens/s"] = f"{self.tokens / seconds:,.0f}"
        usage = self._usage()
        spent = usage.cost if usage is not None else None
        if spent is not None and self.samples:
            spent -= self._spent_before
            whole = spent / self.samples * self._total
            facts["cost"] = f"{spent:.4g} of about {whole:.4g}"
        return facts


Item = tuple[Problem, int]


class Scorer(Protocol):
    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]: ...


def ungraded(items: Iterable[Item], journal: EvalJournal) -> Iterator[Item]:
    for problem, index in items:
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        if key in journal.samples and (key, problem.task_sha256) not in journal.verdicts:
            yield problem, index


def grade(items: Iterable[Item], journal: EvalJournal, scorer: Scorer) -> int:
    """Score those ``items`` (all different) that have a sample but no verdict, and return their number."""
    work = [
        (journal.keys.key(problem.id, problem.prompt_sha256, index), problem)
        for problem, index in ungraded(items, journal)
    ]
    if not work:
        return 0
    samples = [journal.samples[key] for key, _ in work]
    pairs = zip(samples, work, strict=True)
    answers = [(responses_of(s.turns, s.text), p.task) for s, (_, p) in pairs if not s.refused]
    scored = (verdict for verdict, _ in score_conversations(scorer.score, answers))
    records = []
    for (key, problem), sample in zip(work, samples, strict=True):
        refusal = Verdict(None, "infra_error", f"no answer: {sample.note}")
        verdict = refusal if sample.refused else next(scored)
        records.append(verdict_record(key, problem.task_sha256, verdict))
    journal.add_verdicts(records)
    return len(work)


LARGEST, SMALLEST = 128, 4
"""Limits on the number of samples that are scored and written together; their time is about CHUNK_SECONDS."""
CHUNK_SECONDS = 2.0
MOST_WAITING = 4096
"""Maximum number of samples queued in memory; others are read from the journal later."""
LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 1.0
"""Time in seconds after which ``close`` reports how many verdicts it waits for."""


class GradingThread(Closing):
    """A thread that scores samples; ``submit`` and ``finish`` raise its errors.

    ``every()`` yields all items of the evaluation; samples that overflow the queue are found in it at the end. If
    ``begun``, stored samples without a verdict are scored first.
    """

    def __init__(
        self,
        journal: EvalJournal,
        scorer: Scorer,
        tell: Callable[[str], None] | None = None,
        every: Callable[[], Iterable[Item]] | None = None,
        begun: bool = False,
    ) -> None:
        self._journal, self._scorer, self._tell, self._every = journal, scorer, tell, every
        self._begun = begun
        self._skipped = self._graded_from_journal = 0
        self._queue: queue.SimpleQueue[Sequence[Item] | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._submitted = self._graded = self._working = 0
        workers = getattr(getattr(scorer, "stats", None), "workers", 1)
        self._chunk = self._smallest = min(LARGEST, max(SMALLEST, 2 * workers))
        self._ended = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="prorl-grading")
        self._thread.start()

    def submit(self, items: Sequence[Item]) -> None:
        self._raise()
        if self._every is not None and self._submitted - self._graded > MOST_WAITING:
            self._skipped += len(items)
            return
        self._submitted += len(items)
        if items:
            self._queue.put(items)

    def finish(self, progress: Progress, label: str) -> None:
        """Wait for all verdicts; a progress bar is shown if many are left."""
        self._queue.put(None)
        bar_shown, waiting_since = False, time.monotonic()
        waiting = self._submitted + self._skipped - self._graded
        total = None if self._begun else waiting  # unscored samples of the journal were not counted
        counted = self._graded + self._graded_from_journal
        while self._thread.is_alive():
            self._thread.join(LOOK_SECONDS)
            if (
                not bar_shown
                and time.monotonic() - waiting_since > 5 * LOOK_SECONDS
                and waiting > LARGEST
            ):
                progress.start(f"verdicts {label}", total)
                bar_shown = True
            if bar_shown:
                now = self._graded + self._graded_from_journal
                progress.advance(now - counted)
                counted = now
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            if self._begun:
                self._grade_from_journal()
            while (items := self._take_queued()) and not self._stop.is_set():
                for count in self._in_chunks(iter(items)):
                    self._graded += count
            if self._skipped:
                self._grade_from_journal()
        except BaseException as error:  # noqa: BLE001 - raised again in the sampler's thread
            self._error = error

    def _grade_from_journal(self) -> None:
        if self._every is not None:
            for count in self._in_chunks(ungraded(self._every(), self._journal)):
                self._graded_from_journal += count

    def _in_chunks(self, items: Iterator[Item]) -> Iterator[int]:
        while not self._stop.is_set() and (chunk := list(itertools.islice(items, self._chunk))):
            self._grade(chunk)
            yield len(chunk)

    def _grade(self, chunk: Sequence[Item]) -> None:
        self._working = len(chunk)
        started = time.monotonic()
        grade(chunk, self._journal, self._scorer)
        seconds = max(time.monotonic() - started, 1e-3)
        fitting = min(int(len(chunk) * CHUNK_SECONDS / seconds), 2 * self._chunk)
        self._chunk = max(self._smallest, min(fitting, LARGEST))
        self._working = 0

    def _take_queued(self) -> list[Item]:
        if self._ended:
            return []
        first = self._queue.get()
        items: list[Item] = []
        while True:
            if first is None:
                self._ended = True
                return items
            items += first
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                return items

    def close(self) -> None:
        """Stop when the samples in progress are scored; no effect after ``finish``."""
        self._stop.set()
        self._queue.put(None)
        self._thread.join(PATIENCE_SECONDS)
        if self._thread.is_alive() and self._tell is not None:
            self._tell(
                f"waiting for {self._working} verdicts in progress; the next run scores the others"
            )
        self._thread.join()
