"""One thread of a pool that asks services, models above all, for verdicts: an item at a time.

No worker and no walls: the response is handed on as text. Whatever reward comes back is ``judged``, whatever the
verifier calls it, so that nothing which counts or trains can take it for a rule's.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from prorl_common import ProrlError, what_failed
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.findings import bounded, noting
from prorl_verifiers.pool.batch import Job, PoolClosedError
from prorl_verifiers.pool.queue import SERVICE, FairQueue
from prorl_verifiers.pool.replies import (
    MAX_RESPONSE,
    UNCLOSED,
    read_reply,
    result_frame,
    too_long,
)
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.spec import VERIFIERS, plugin_label
from prorl_verifiers.types import Task, Verdict

MOST_THREADS = 16
"""Requests of one pool that are under way at a time."""
_GLANCE = 0.05
"""Seconds between two looks at whether a thread's answer is still wanted."""


class ServiceThread(threading.Thread):
    """Takes and does work until the queue is closed."""

    def __init__(self, queue: FairQueue, counters: Counters, *, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._queue, self._counters = queue, counters
        self._job: Job | None = None

    def run(self) -> None:
        """Be the thread."""
        while (work := self._queue.take(0.0, 1, True, apart=SERVICE)) is not None:
            started = time.monotonic()
            job = self._job = work.jobs[0]
            try:
                self._do(job, started)
            except Exception as error:  # noqa: BLE001 - a bug of ours: the callers get it
                job.batch.fail(error)
            finally:
                self._job = None
                self._queue.done(work, time.monotonic() - started, 1)

    def give_up(self) -> None:
        """End the batch whose item is asked for: its caller does not wait for the service."""
        if (job := self._job) is not None:
            job.batch.fail(PoolClosedError("the verifier pool was closed during the item"))

    def wait(self, seconds: float | None) -> None:
        """Wait until the thread has ended, or asks for what nobody wants any more; at most so many seconds."""
        until = None if seconds is None else time.monotonic() + seconds
        while self.is_alive() and (until is None or time.monotonic() < until):
            if (job := self._job) is not None and job.batch.ended:
                return
            self.join(_GLANCE)

    def _do(self, job: Job, started: float) -> None:
        name = job.task.verifier
        verdict = judge_by_service(job.response, job.task, job.batch.explain)
        metrics = dict(verdict.metrics)
        if (label := plugin_label(VERIFIERS.origin(name))) is not None:
            metrics["plugin"] = label
        verdict = replace(verdict, metrics=metrics, seconds=time.monotonic() - started)
        self._counters.verdict(name, verdict)
        job.batch.deliver(job.index, verdict)


def judge_by_service(response: str, task: Task, explain: bool = False) -> Verdict:
    """Return the verdict on an item of a verifier that asks a service; with its findings if ``explain``."""
    spec = VERIFIERS.get(task.verifier)
    service = spec.score_by_service
    assert service is not None
    if len(response) > MAX_RESPONSE:
        return too_long()
    text = after_thinking(response) if spec.strip_thinking else response
    if text is None:
        return Verdict(0.0, UNCLOSED.status, UNCLOSED.reason)
    with noting(explain) as findings:
        try:
            name = service.who()["name"]
            found = service.score(text, task.reference)
        except ProrlError as error:
            return Verdict(None, "infra_error", str(error)[:500])
        except Exception as error:  # noqa: BLE001 - whatever a verifier raises is infra_error
            return read_reply({"bug": what_failed(error)}, "")[0]
    verdict, _ = read_reply(result_frame(found), "")
    verdict = replace(verdict, findings=bounded(findings, len(response) - len(text)))
    if not verdict.reward and verdict.status != "scored":
        return verdict
    return replace(verdict, status="judged", metrics={"judge": name, **verdict.metrics})
