"""The threads of the pool, each of which scores items in one worker and handles failures.

A failed item is retried in a new worker. If it exceeds a time, memory or nesting limit twice, it is a ``timeout`` with
reward 0. After other failures it is ``infra_error``, or ``unparsable`` with reward 0 if only this response makes the
verifier fail.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from prorl_common import ServiceError, UserError, what_failed
from prorl_common.forks import ChildError
from prorl_common.frames import FrameError, encode
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.findings import bounded, noting
from prorl_verifiers.pool.canary import Check, Examiner, quick_checks
from prorl_verifiers.pool.protocol import (
    MAX_RESPONSE,
    UNCLOSED,
    cpu_seconds_of,
    make_request,
    read_reply,
    too_long_verdict,
)
from prorl_verifiers.pool.queue import FairQueue, Job, LaneName, PoolClosedError, ThreadKind
from prorl_verifiers.pool.sandbox_calls import WorkerCalls
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.pool.worker import answer as answer_request
from prorl_verifiers.pool.workers import (
    RunProgram,
    WorkerFactory,
    WorkerProcess,
    WorkerTimeout,
)
from prorl_verifiers.spec import VERIFIERS, plugin_label, runs_in_worker
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

RECYCLE_AFTER = 1000
"""Number of verdicts after which a worker is replaced, in case a response has corrupted it."""
DEEP_SECONDS = 10.0
"""Time limit of a deep canary when a worker retires."""
LONG_NICENESS = 10
"""Niceness of workers for long texts, which gives quick items about ten times their CPU share."""
LONG_WALL_FACTOR = 10
"""Wall seconds allowed per CPU second of long texts, because their workers have a low priority."""
_UNSOUND = "its worker failed its canaries after this item, twice"
_UNSTEADY = "its verifier gave a different verdict when it scored the item again, twice"
_LOG = logging.getLogger(__name__)


class WorkerThread(threading.Thread):
    """Takes and scores items of its ``kind`` until the queue is closed."""

    def __init__(
        self,
        queue: FairQueue,
        factory: WorkerFactory,
        counters: Counters,
        timeout_seconds: float,
        sandbox: Callable[[], Sandbox],
        *,
        name: str,
        kind: ThreadKind,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._queue, self._factory, self._counters = queue, factory, counters
        self._sandbox, self._kind = sandbox, kind
        self._lane: LaneName = "slow" if kind == "slow" else "text"
        self._timeout = timeout_seconds
        self._wall_seconds = timeout_seconds * (LONG_WALL_FACTOR if kind == "slow" else 1)
        self._worker: WorkerProcess | None = None
        self._examiner = Examiner()
        self._labels: dict[str, str | None] = {}
        """Cached labels of plug-ins by verifier."""
        self._delivered = 0
        self.stopping = False
        """If True, failed items get PoolClosedError instead of a retry."""

    def run(self) -> None:
        while (work := self._queue.take(self._kind)) is not None:
            started = time.monotonic()
            finished = len(work.jobs)
            try:
                if VERIFIERS.get(work.jobs[0].task.verifier).calls_service:
                    self._call_service(work.jobs[0])
                elif work.lane == "code":
                    self._run_program(work.jobs[0])
                else:
                    finished -= self._score_texts(work.jobs)
            except Exception as error:  # noqa: BLE001 - a bug of ours, reported to the callers
                self._lose_worker()
                for job in work.jobs:
                    job.batch.fail(error)
            finally:
                self._queue.finish(work, time.monotonic() - started, finished)
        if not self.stopping:
            self._examine_retiring_worker()
        self._drop_worker()

    def _call_service(self, job: Job) -> None:
        started, task = time.monotonic(), job.task
        request = json.dumps(
            make_request(task.verifier, task.reference, job.response, 0.0, job.batch.explain)
        )
        verdict, is_final = read_reply(answer_request(json.loads(request)), "")
        if not is_final and not self.stopping:
            verdict, _ = read_reply(answer_request(json.loads(request)), "")
        self._deliver(job, replace(verdict, seconds=time.monotonic() - started))

    def _run_program(self, job: Job) -> None:
        started = time.monotonic()
        sandbox = self._sandbox()
        if not runs_in_worker(VERIFIERS.get(job.task.verifier)):
            verdict = score_in_sandbox(
                job.response, job.task, sandbox, job.batch.explain, self._counters
            )
            self._deliver(job, replace(verdict, seconds=time.monotonic() - started))
            return
        frame = self._request(job, sandbox.isolation)
        if frame is None:
            return
        run = WorkerCalls(sandbox)
        for is_retry in (False, True):
            is_fault = False
            try:
                worker = self._take_worker(warm=is_retry)
                is_fault = True
                reply = next(worker.ask_many([frame], self._timeout, run))
            except (WorkerTimeout, ChildError) as error:
                verdict, final = _verdict_of_failure(error, sandbox.isolation), False
            else:
                verdict, final = read_reply(reply, sandbox.isolation)
                is_fault = "outage" not in reply
            if final:
                break
            self._lose_worker()
        self._drop_worker()  # a worker that runs programs scores one item and is asked no canaries
        if is_fault and verdict.is_infra_error:
            verdict = self._blame(job, verdict, run)
            self._drop_worker()
        self._deliver(job, replace(verdict, seconds=time.monotonic() - started))

    def _score_texts(self, jobs: Sequence[Job], is_retry: bool = False) -> int:
        """Score jobs in one worker. Return the number of jobs that were not reached."""
        requests = [(job, frame) for job in jobs if (frame := self._request(job)) is not None]
        if not requests:
            return 0
        scored: dict[Job, Verdict] = {}
        failed: dict[Job, Verdict] = {}
        examined = sound = is_fault = False
        isolation, started = "", time.monotonic()
        try:
            worker = self._take_worker(warm=is_retry)
            is_fault = True
            checks = self._examiner.checks(requests)
            frames = [frame for _, frame in requests] + [check.frame for check in checks]
            replies = worker.ask_many(frames, self._wall_seconds)
            isolation, started = worker.isolation, time.monotonic()
            for job, _ in requests:
                reply = next(replies)
                now = time.monotonic()
                self._account(job, cpu_seconds_of(reply, self._timeout))
                job.spent, started = job.spent + now - started, now
                verdict, is_final = read_reply(reply, isolation, job.spent)
                if not is_final:
                    # After a frame without a verdict, later frames may not match their questions.
                    failed[job] = verdict
                    is_fault = "outage" not in reply
                    break
                scored[job] = verdict
            else:
                examined = True
                sound = self._examiner.pass_all(checks, replies, scored)
        except (WorkerTimeout, ChildError) as error:
            answered = len(scored) + len(failed)
            for job, _ in requests[answered : answered + 1]:
                seconds = time.monotonic() - started
                self._account(job, min(seconds, self._timeout))
                job.spent += seconds
                failed[job] = _verdict_of_failure(error, isolation, job.spent)
        unasked = [job for job, _ in requests[len(scored) + len(failed) :]]
        self._settle(scored, sound, examined)
        if failed:
            self._lose_worker()
        self._queue.add(self._lane, unasked)
        for job, verdict in failed.items():
            if self.stopping:
                job.batch.fail(_closed_error())
            elif is_retry:
                self._deliver(job, self._blame(job, verdict) if is_fault else verdict)
            else:
                self._counters.add("retries")
                self._score_texts([job], is_retry=True)
        return len(unasked)

    def _request(self, job: Job, isolation: str | None = None) -> bytes | None:
        task, verdict = job.task, None
        broken = self._factory.broken(task.verifier)
        if len(job.response) > MAX_RESPONSE:
            verdict = too_long_verdict()
        elif broken is not None:
            reason = f"the {task.verifier} verifier fails its own canaries: {broken}"
            verdict = Verdict(None, "infra_error", reason)
        else:
            try:
                seconds, explain = self._timeout + 1, job.batch.explain
                return encode(
                    make_request(
                        task.verifier, task.reference, job.response, seconds, explain, isolation
                    )
                )
            except FrameError as error:
                verdict = Verdict(None, "infra_error", str(error))
        self._deliver(job, verdict)
        return None

    def _account(self, job: Job, cpu_seconds: float) -> None:
        verifier = job.task.verifier
        self._counters.add_cpu_seconds(verifier, cpu_seconds)
        self._queue.costs.observe(verifier, len(job.response), cpu_seconds)

    def _settle(self, scored: Mapping[Job, Verdict], sound: bool, examined: bool) -> None:
        """Deliver the verdicts if the worker is ``sound``, else kill it and score the items again.

        If an unsound worker was ``examined``, it answered test questions wrongly, and each item is scored alone.
        """
        if sound:
            for job, verdict in scored.items():
                self._deliver(job, self._blame(job, verdict))
            self._delivered += len(scored)
            return
        self._lose_worker()
        jobs = list(scored)
        if examined and not self.stopping:
            self._counters.add("canary_failures")
            _LOG.warning("a scoring worker failed a canary; scoring %d items again", len(jobs))
            if len(jobs) == 1 and jobs[0].suspect:
                job = jobs.pop()
                has_canaries = quick_checks(job.task.verifier, random.Random())
                reason = _UNSOUND if has_canaries else _UNSTEADY
                verdict = replace(scored[job], reward=None, status="infra_error", reason=reason)
                self._deliver(job, verdict)
            for job in jobs:
                job.suspect = True
        self._counters.add("rescored", len(jobs))
        alone = any(job.suspect for job in jobs)
        for group in [[job] for job in jobs] if alone else [jobs]:
            self._queue.add(self._lane, group)

    def _blame(self, job: Job, fault: Verdict, run: RunProgram | None = None) -> Verdict:
        """Return a verdict with reward 0 if the verifier fails on this answer only, else ``fault``."""
        task = job.task
        if not fault.is_infra_error or self.stopping or VERIFIERS.get(task.verifier).is_environment:
            return fault
        checks = quick_checks(task.verifier, random.Random())
        frames = [check.frame for check in checks]
        isolation = None if run is None else fault.isolation
        try:
            for answer in plain_answers(task):
                request = make_request(
                    task.verifier, task.reference, answer, self._timeout + 1, False, isolation
                )
                frames.append(encode(request))
            worker = self._take_worker(warm=True)
            replies = list(worker.ask_many(frames, self._wall_seconds, run))
        except (WorkerTimeout, ChildError, FrameError):  # not the answer's doing
            replies = []
        verdicts = [read_reply(reply, "")[0] for reply in replies[len(checks) :]]
        passes = all(map(Check.passes, checks, replies))
        if not passes or not any(verdict.status == "scored" for verdict in verdicts):
            self._lose_worker()
            return fault
        return self._counters.blame(job.response, task, fault)

    def _take_worker(self, warm: bool = False) -> WorkerProcess:
        worker = self._worker
        old = self._delivered >= RECYCLE_AFTER
        if worker is not None and (old or self._factory.is_old(worker)):
            self._examine_retiring_worker()
            self._counters.add("worker_recycles")
            self._drop_worker()
        if self._worker is None:
            self._worker = self._factory.take(warm)
            if self._kind == "slow":
                with contextlib.suppress(ProcessLookupError):  # the next request reports its death
                    os.setpriority(os.PRIO_PROCESS, self._worker.pid, LONG_NICENESS)
            self._examiner = Examiner()
            self._delivered = 0
        return self._worker

    def _examine_retiring_worker(self) -> None:
        worker = self._worker
        if worker is None or not self._delivered:
            return
        checks = self._examiner.retirement_checks(worker.origin.warm)
        try:
            replies = worker.ask_many([check.frame for check in checks], DEEP_SECONDS)
            sound = self._examiner.pass_all(checks, replies, {})
        except (WorkerTimeout, ChildError):
            sound = False
        if not sound and not self.stopping:
            self._counters.add("canary_failures")
            self._counters.add("doubtful", self._delivered)
            _LOG.warning(
                "a scoring worker failed a canary when it retired; %d of the last "
                "verdicts are in doubt (prorl verify replay checks a run again)",
                self._delivered,
            )

    def _lose_worker(self) -> None:
        if self._worker is not None:
            self._counters.add("worker_kills")
        self._drop_worker()

    def _drop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._factory.dispose(worker)

    def _deliver(self, job: Job, verdict: Verdict) -> None:
        if self.stopping and verdict.is_infra_error:  # it failed because its worker was taken away
            job.batch.fail(_closed_error())
            return
        name = job.task.verifier
        if name not in self._labels:
            self._labels[name] = plugin_label(VERIFIERS.origin(name))
        if (label := self._labels[name]) is not None:
            verdict = replace(verdict, metrics={**verdict.metrics, "plugin": label})
        self._counters.add_verdict(name, verdict)
        job.batch.deliver(job.index, verdict)


def plain_answers(task: Task) -> list[str]:
    """Return responses that the verifier must be able to score: the gold, or else two short answers."""
    data = VERIFIERS.get(task.verifier).data
    try:
        gold = data.gold(task.reference)
        return [data.write(answer, task.reference) for answer in "0a"] if gold is None else [gold]
    except Exception:  # noqa: BLE001 - raised by a plug-in
        _LOG.exception("the gold of a %s task cannot be written", task.verifier)
        return []


def _closed_error() -> PoolClosedError:
    return PoolClosedError("the verifier pool was closed during the item")


def _verdict_of_failure(
    error: WorkerTimeout | ChildError, isolation: str, seconds: float = 0.0
) -> Verdict:
    if isinstance(error, WorkerTimeout):
        return Verdict(0.0, "timeout", str(error), isolation=isolation, seconds=seconds)
    return Verdict(None, "infra_error", str(error), isolation=isolation, seconds=seconds)


def score_in_sandbox(
    response: str, task: Task, sandbox: Sandbox, explain: bool, counters: Counters
) -> Verdict:
    """Score an item with one of prorl's own verifiers that run programs."""
    spec = VERIFIERS.get(task.verifier)
    assert spec.score_in_sandbox is not None
    if len(response) > MAX_RESPONSE:
        return too_long_verdict()
    text = after_thinking(response) if spec.strip_thinking else response
    if text is None:
        return Verdict(0.0, UNCLOSED.status, UNCLOSED.reason)
    fault, is_bug = "", False
    for _ in range(2):
        try:
            with noting(explain) as findings:
                verdict = cast(Verdict, spec.score_in_sandbox(text, task.reference, sandbox))
            if not explain:
                return verdict
            return replace(verdict, findings=bounded(findings, len(response) - len(text)))
        except ServiceError as error:
            fault, is_bug = f"sandbox: {error}", False
        except UserError as error:
            # The task's own test source is broken or a compiler is missing: this says nothing about the
            # answer, and a retry would not help.
            return Verdict(None, "infra_error", str(error), isolation=sandbox.isolation)
        except Exception as error:  # noqa: BLE001 - ``plain_answers`` show whether the answer is to blame
            fault, is_bug = f"scorer failed: {what_failed(error)}", True
    verdict = Verdict(None, "infra_error", fault, isolation=sandbox.isolation)
    for answer in plain_answers(task) if is_bug else ():
        with contextlib.suppress(Exception):
            probe = cast(Verdict, spec.score_in_sandbox(answer, task.reference, sandbox))
            if probe.status == "scored":
                return counters.blame(response, task, verdict)
    return verdict
