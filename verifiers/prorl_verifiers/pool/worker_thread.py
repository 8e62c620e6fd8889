"""One thread of a pool, with at most one worker, that takes items and brings verdicts.

Decides retries. An item that times out, or whose worker dies, gets one more try in a fresh worker. Twice out
of time (or over its memory, CPU or nesting limit) is ``timeout`` with reward 0; a worker, sandbox or scorer
that fails twice is ``infra_error`` without a reward.

What a worker is sent ends with canaries: it must judge a right and a wrong answer of each verifier as
known before any of the verdicts is handed out; of a verifier without canaries it must judge one item again,
with the same verdict. If it does not, it is killed and everything is scored again,
item by item; an item whose worker fails its canaries then too is ``infra_error``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prorl_verifiers.pool import frames
from prorl_verifiers.pool.batch import Job, PoolClosedError
from prorl_verifiers.pool.canary import Question, deep_questions, quick_questions
from prorl_verifiers.pool.costs import TextCosts
from prorl_verifiers.pool.queue import CODE, LONG, TEXT, FairQueue, Work
from prorl_verifiers.pool.replies import (
    MAX_RESPONSE,
    cpu_seconds_of,
    judge_in_sandbox,
    read_reply,
    too_long,
)
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.pool.worker_calls import WorkerCalls
from prorl_verifiers.pool.worker_client import WorkerError, WorkerProcess, WorkerTimeout
from prorl_verifiers.pool.worker_factory import WorkerFactory
from prorl_verifiers.spec import VERIFIERS, plugin_label, runs_in_worker
from prorl_verifiers.types import Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

RECYCLE_AFTER = 1000
"""Verdicts; a worker that has given so many is replaced, so that nothing lives in it for ever."""
TAKE_ITEMS = 64
TAKE_SECONDS = 0.05
"""Quick text items are taken and sent several at a time, as many as are done in about so long."""
REMEMBERED_BYTES = 1 << 16
"""A longer request is not kept to be asked again in later batches."""
DEEP_SECONDS = 10.0
"""A deep canary of a worker that retires may take so long."""
LONG_NICENESS = 10
"""Of a worker that scores long texts: about a tenth of a processor that quick items want too."""
LONG_PATIENCE = 10
"""A long text's limit is processor time; its wall time may be so many times that, since it gives way."""
_UNSOUND = "its worker misjudged known answers after it, twice"
_UNSTEADY = "its verifier gave another verdict when it was asked again, twice"
_LOG = logging.getLogger(__name__)


class WorkerThread(threading.Thread):
    """Takes and does work until the queue is closed. ``sandbox`` opens the pool's, or returns the open one.

    ``extra``: the thread that stands by; ``long``: a thread for long texts, with a worker that gives way to all
    others (see ``pool.queue``).
    """

    def __init__(
        self,
        queue: FairQueue,
        factory: WorkerFactory,
        counters: Counters,
        costs: TextCosts,
        timeout_seconds: float,
        sandbox: Callable[[], Sandbox],
        *,
        name: str,
        extra: bool,
        long: bool,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._queue, self._factory, self._counters = queue, factory, counters
        self._costs = costs
        self._timeout = timeout_seconds
        self._wall_seconds = timeout_seconds * (LONG_PATIENCE if long else 1)
        self._sandbox = sandbox
        self._extra, self._long = extra, long
        self._text_kind = LONG if long else TEXT
        self._worker: WorkerProcess | None = None
        self._served: set[str] = set()
        self._remembered: dict[str, Question] = {}
        """Verifier without canaries -> an item that this worker judged, and how."""
        self._labels: dict[str, str | None] = {}
        self._delivered = 0
        self._draw = random.Random()
        self.stopping = False
        """Set to make what fails from now on end as a closed pool instead of being tried again."""

    def run(self) -> None:
        """Be the thread."""
        while (
            work := self._queue.take(
                TAKE_SECONDS, TAKE_ITEMS, True, self._extra, LONG if self._long else None
            )
        ) is not None:
            self._do(work)
        if not self.stopping:
            self._question()
        self._drop_worker()

    def _do(self, work: Work) -> None:
        started = time.monotonic()
        finished = len(work.jobs)
        try:
            if work.kind == CODE:
                self._do_in_sandbox(work.jobs[0])
            else:
                finished -= self._do_text(work.jobs)
        except Exception as error:  # noqa: BLE001 - a bug of ours: the callers get it
            self._lose_worker()
            for job in work.jobs:
                job.batch.fail(error)
        finally:
            self._queue.done(work, time.monotonic() - started, finished)

    def _do_in_sandbox(self, job: Job) -> None:
        """Score an item that runs programs: by ours in this process, by a verifier of others in a worker."""
        started = time.monotonic()
        sandbox = self._sandbox()
        if not runs_in_worker(VERIFIERS.get(job.task.verifier)):
            verdict = judge_in_sandbox(job.response, job.task, sandbox, job.batch.explain)
            self._deliver(job, replace(verdict, seconds=time.monotonic() - started))
            return
        frame = self._request(job, sandbox.isolation)
        if frame is None:
            return
        for last in (False, True):
            try:
                worker = self._take_worker(warm=last)
                calls = WorkerCalls(sandbox)
                reply = next(worker.ask_many([frame], self._timeout, calls))
            except (WorkerTimeout, WorkerError) as error:
                verdict, final = _of_failure(error, sandbox.isolation), False
            else:
                verdict, final = read_reply(reply, sandbox.isolation)
            if final:
                break
            self._lose_worker()
        self._drop_worker()  # no canaries are asked of it: it judges one item
        self._deliver(job, replace(verdict, seconds=time.monotonic() - started))

    def _do_text(self, jobs: list[Job]) -> int:
        """Score jobs in one go; return how many were put back because one before them failed."""
        ready = [(job, frame) for job in jobs if (frame := self._request(job)) is not None]
        if not ready:
            return 0
        scored: list[tuple[Job, Verdict]] = []
        again: list[tuple[Job, bytes, float]] = []
        failed: list[tuple[Job, bytes]] = []
        sound = False
        started = time.monotonic()
        try:
            worker = self._take_worker()
            checks = self._checks(ready)
            replies = worker.ask_many(
                [frame for _, frame in ready] + [check.frame for check in checks],
                self._wall_seconds,
            )
            started = time.monotonic()
            for job, frame in ready:
                reply = next(replies)
                now = time.monotonic()
                self._account(job, cpu_seconds_of(reply, self._timeout))
                verdict, final = read_reply(reply, worker.isolation, now - started)
                if final:
                    scored.append((job, verdict))
                else:
                    again.append((job, frame, now - started))
                started = now
            sound = self._sound(checks, replies, dict(scored))
        except (WorkerTimeout, WorkerError):
            failed = ready[len(scored) + len(again) :][:1]
            again += [(*pair, time.monotonic() - started) for pair in failed]
            for job, _ in failed:
                self._account(job, min(time.monotonic() - started, self._timeout))
        rest = [job for job, _ in ready[len(scored) + len(again) :]]
        self._settle(scored, sound, asked=not failed)
        if again:
            self._lose_worker()
        self._queue.put_back(self._text_kind, rest)
        for job, frame, seconds in again:
            self._again(job, frame, seconds)
        return len(rest)

    def _request(self, job: Job, isolation: str | None = None) -> bytes | None:
        """Return the item as a frame; None when it has its verdict without a worker.

        ``isolation`` is that of the sandbox which the verifier may use.
        """
        if len(job.response) > MAX_RESPONSE:
            self._deliver(job, too_long())
            return None
        task = job.task
        broken = self._factory.broken(task.verifier)
        if broken is not None:
            reason = f"the {task.verifier} verifier fails its own first questions: {broken}"
            self._deliver(job, Verdict(None, "infra_error", reason))
            return None
        request: dict[str, Any] = {
            "verifier": task.verifier,
            "reference": dict(task.reference),
            "response": job.response,
            "cpu_seconds": self._timeout + 1,
        }
        if isolation is not None:
            request["isolation"] = isolation
        if job.batch.explain:
            request["explain"] = True
        try:
            return frames.encode(request)
        except frames.FrameError as error:
            self._deliver(job, Verdict(None, "infra_error", str(error)))
            return None

    def _again(self, job: Job, frame: bytes, seconds: float) -> None:
        """Give an item its second try, alone in a fresh worker; the first took ``seconds``."""
        if self.stopping:
            self._deliver(job, Verdict(None, "infra_error", ""))
            return
        self._counters.add("retries")
        sound = final = judged = False
        isolation = ""
        started = time.monotonic()
        try:
            worker = self._take_worker(warm=True)
            isolation, started = worker.isolation, time.monotonic()
            checks = self._checks([(job, frame)])
            replies = worker.ask_many([frame, *(c.frame for c in checks)], self._wall_seconds)
            verdict, final = read_reply(next(replies), isolation)
            seconds += time.monotonic() - started
            judged = final
            sound = final and self._sound(checks, replies, {job: verdict})
        except (WorkerTimeout, WorkerError) as error:
            if not judged:
                seconds += time.monotonic() - started
                verdict = _of_failure(error, isolation)
        verdict = replace(verdict, seconds=seconds)
        if judged:
            self._settle([(job, verdict)], sound, asked=True)
            return
        self._lose_worker()
        self._deliver(job, verdict)

    def _account(self, job: Job, cpu_seconds: float) -> None:
        """Book the processor time of a text."""
        verifier = job.task.verifier
        self._counters.cpu(verifier, cpu_seconds)
        self._costs.observe(verifier, len(job.response), cpu_seconds)

    def _checks(self, ready: list[tuple[Job, bytes]]) -> list[_Check]:
        """Return what the worker is asked behind these items; remembers that it serves their verifiers."""
        by_verifier: dict[str, list[tuple[Job, bytes]]] = {}
        for job, frame in ready:
            by_verifier.setdefault(job.task.verifier, []).append((job, frame))
        self._served |= set(by_verifier)
        checks = []
        for name, own in sorted(by_verifier.items()):
            questions = quick_questions(name, self._draw)
            if not questions and name in self._remembered:
                questions = [self._remembered[name]]
            checks += [_Check(question.frame, question) for question in questions]
            if not questions:
                job, frame = self._draw.choice(own)
                checks.append(_Check(frame, job))
        return checks

    def _sound(
        self,
        checks: list[_Check],
        replies: Iterator[dict[str, Any]],
        scored: Mapping[Job, Verdict],
    ) -> bool:
        """Whether every check has got the verdict that must come; takes all replies."""
        passed = [check.passes(reply, scored) for check, reply in zip(checks, replies, strict=True)]
        if not all(passed):
            return False
        for check in checks:
            if isinstance(check.asked, Job) and check.asked in scored:
                verdict = scored[check.asked]
                if len(check.frame) <= REMEMBERED_BYTES:
                    question = Question(check.frame, verdict.reward, verdict.status)
                    self._remembered.setdefault(check.asked.task.verifier, question)
        return True

    def _has_canaries(self, job: Job) -> bool:
        return bool(quick_questions(job.task.verifier, self._draw))

    def _settle(self, scored: list[tuple[Job, Verdict]], sound: bool, asked: bool) -> None:
        """Hand out verdicts of a sound worker; else kill it and have the items scored again.

        ``asked``: the worker came to the canaries, so it is not sound for having misjudged them.
        """
        if sound:
            for job, verdict in scored:
                self._deliver(job, verdict)
            self._delivered += len(scored)
            return
        jobs = [job for job, _ in scored]
        self._lose_worker()
        if asked and not self.stopping:
            self._counters.add("canary_failures")
            _LOG.warning("a scoring worker failed at a known answer; %d items again", len(jobs))
            if len(jobs) == 1 and jobs[0].suspect:
                reason = _UNSOUND if self._has_canaries(jobs[0]) else _UNSTEADY
                verdict = replace(scored[0][1], reward=None, status="infra_error", reason=reason)
                self._deliver(jobs.pop(), verdict)
            for job in jobs:
                job.suspect = True
        self._counters.add("rescored", len(jobs))
        alone = any(job.suspect for job in jobs)
        for group in [[job] for job in jobs] if alone else [jobs]:
            self._queue.put_back(self._text_kind, group)

    def _take_worker(self, warm: bool = False) -> WorkerProcess:
        """Return the thread's worker; replaces one that is old. Raises WorkerError (see ``WorkerFactory.take``)."""
        worker = self._worker
        old = self._delivered >= RECYCLE_AFTER
        if worker is not None and (old or self._factory.is_old(worker)):
            self._question()
            self._counters.add("worker_recycles")
            self._drop_worker()
        if self._worker is None:
            self._worker = self._factory.take(warm)
            if self._long:
                with contextlib.suppress(ProcessLookupError):  # it died: whoever asks it will see
                    os.setpriority(os.PRIO_PROCESS, self._worker.pid, LONG_NICENESS)
            self._served.clear()
            self._remembered.clear()
            self._delivered = 0
        return self._worker

    def _question(self) -> None:
        """Ask a worker that goes, for its age or with the pool, the deep canaries of what it served."""
        worker = self._worker
        if worker is None or not self._delivered:
            return
        known = self._factory.warm_for(worker) & self._served
        questions = [q for name in sorted(known) for q in deep_questions(name)]
        questions += self._remembered.values()
        checks = [_Check(question.frame, question) for question in questions]
        try:
            replies = worker.ask_many([check.frame for check in checks], DEEP_SECONDS)
            sound = self._sound(checks, replies, {})
        except (WorkerTimeout, WorkerError):
            sound = False
        if not sound and not self.stopping:
            self._counters.add("canary_failures")
            self._counters.add("doubtful", self._delivered)
            _LOG.warning(
                "a scoring worker failed at a known answer when it retired; "
                "%d of the last verdicts are in doubt (prorl verify replay checks a run again)",
                self._delivered,
            )

    def _lose_worker(self) -> None:
        """Kill the worker for a fault."""
        if self._worker is not None:
            self._counters.add("worker_kills")
        self._drop_worker()

    def _drop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._factory.dispose(worker)

    def _deliver(self, job: Job, verdict: Verdict) -> None:
        if self.stopping and verdict.is_infra_error:  # it failed because its worker was taken away
            job.batch.fail(PoolClosedError("the verifier pool was closed during the item"))
            return
        name = job.task.verifier
        if name not in self._labels:
            self._labels[name] = plugin_label(VERIFIERS.origin(name))
        if (label := self._labels[name]) is not None:
            verdict = replace(verdict, metrics={**verdict.metrics, "plugin": label})
        self._counters.verdict(name, verdict)
        job.batch.deliver(job.index, verdict)


def _of_failure(error: WorkerTimeout | WorkerError, isolation: str) -> Verdict:
    """Return the verdict of an item whose worker failed for good: out of time is the answer's fault."""
    if isinstance(error, WorkerTimeout):
        return Verdict(0.0, "timeout", str(error), isolation=isolation)
    return Verdict(None, "infra_error", str(error), isolation=isolation)


@dataclass(frozen=True, slots=True)
class _Check:
    """What a worker is asked behind a batch: a question, or an item of the batch once more."""

    frame: bytes
    asked: Question | Job

    def passes(self, reply: dict[str, Any], scored: Mapping[Job, Verdict]) -> bool:
        """Whether the reply is what it must be. An item that had no verdict proves nothing."""
        if isinstance(self.asked, Question):
            return self.asked.passes(reply)
        verdict = scored.get(self.asked)
        return verdict is None or Question(self.frame, verdict.reward, verdict.status).passes(reply)
