"""The pool: score many (response, task) pairs with a fixed number of killable workers.

Math, STEM, logic and instruction run in worker processes; code goes to the sandbox from this process's
threads. Decides retries and turns every ending into a Verdict. Leaves out: how anything is scored.

A time limit counts from when work on the item starts, a program's from its own start: an item that waits
for a thread, a worker or a box loses none of it. An item that times out, or whose worker dies, gets
one more try in a fresh worker. Twice out of time (or over its memory, CPU or nesting limit) is ``timeout``
with reward 0; a worker, sandbox or scorer that fails twice is ``infra_error`` without a reward.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prorl_common import Closing, ServiceError, UserError
from prorl_verifiers.code_scorer import score_code
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.types import Task, Verdict
from prorl_verifiers.worker_client import WorkerError, WorkerProcess, WorkerTimeout

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

Item = tuple[str, Task]
OnDone = Callable[[int, Verdict], None]

MAX_RESPONSE = 32 * 1024 * 1024
"""Characters; a longer response is unparsable without being looked at."""
RECYCLE_AFTER = 5000
"""Items; a worker that has scored so many is replaced, so that nothing lives in it for ever."""
WORKER_MEMORY_MB = 2048


class VerifierPool(Closing):
    """Score responses with ``workers`` processes. Use as a context manager, or call ``close``.

    ``sandbox``: an open Sandbox (not closed by the pool), a backend's name, or None for ``local``; it is
    opened when the first code item comes. ``timeout_seconds`` is the limit of one try at one item (code
    has its own limits). Where a chat template opens the thinking, put ``<think>`` before the response.
    Thread-safe.
    """

    def __init__(
        self,
        workers: int = 2,
        sandbox: Sandbox | str | None = None,
        *,
        allow_weak: bool = False,
        timeout_seconds: float = 10.0,
    ) -> None:
        if workers < 1 or timeout_seconds <= 0:
            raise UserError(
                "a verifier pool needs at least one worker and a timeout above 0 seconds"
            )
        self._timeout = timeout_seconds
        self._allow_weak = allow_weak
        self._backend = sandbox if isinstance(sandbox, str) else "local"
        self._sandbox: Sandbox | None = None if isinstance(sandbox, str) else sandbox
        self._own_sandbox = False
        self._sandbox_lock = threading.Lock()
        self._closed = False
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="verifier")
        self._slots: queue.LifoQueue[_Slot] = queue.LifoQueue()
        for _ in range(workers):
            self._slots.put(_Slot())
        self._workers = workers

    def score(self, items: Sequence[Item], on_done: OnDone | None = None) -> list[Verdict]:
        """Return one verdict per (response, task), in order.

        ``on_done(index, verdict)`` is called in this thread as items finish, in any order. Raises
        IsolationError when code cannot be isolated here, UserError for a closed pool.
        """
        if self._closed:
            raise UserError("this verifier pool is closed")
        if any(task.verifier == "code" for _, task in items):
            self._open_sandbox()
        futures: dict[Future[Verdict], int] = {}
        try:
            for index, (response, task) in enumerate(items):
                futures[self._threads.submit(self._score_one, response, task)] = index
            verdicts: list[Verdict | None] = [None] * len(items)
            for future in as_completed(futures):
                verdict = future.result()
                verdicts[futures[future]] = verdict
                if on_done is not None:
                    on_done(futures[future], verdict)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [verdict for verdict in verdicts if verdict is not None]

    def close(self) -> None:
        """Kill the workers and close the sandbox if the pool opened it. Waits for items in work."""
        if self._closed:
            return
        self._closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)
        for _ in range(self._workers):
            self._slots.get().drop()
        if self._own_sandbox and self._sandbox is not None:
            self._sandbox.close()

    def _open_sandbox(self) -> Sandbox:
        from prorl_sandbox import open_sandbox

        with self._sandbox_lock:
            if self._sandbox is None:
                self._sandbox = open_sandbox(self._backend, allow_weak=self._allow_weak)
                self._own_sandbox = True
            return self._sandbox

    def _score_one(self, response: str, task: Task) -> Verdict:
        started = time.monotonic()
        if len(response) > MAX_RESPONSE:
            verdict = Verdict(0.0, "unparsable", "the response is too long")
        elif task.verifier == "code":
            verdict = self._score_code(response, task)
        else:
            slot = self._slots.get()
            try:
                verdict = self._score_text(slot, response, task)
            finally:
                self._slots.put(slot)
        return replace(verdict, seconds=time.monotonic() - started)

    def _score_code(self, response: str, task: Task) -> Verdict:
        sandbox = self._open_sandbox()
        text = after_thinking(response)
        if text is None:
            return Verdict(0.0, "unparsable", "the thinking was opened and never closed")
        fault = ""
        for _ in range(2):
            try:
                return score_code(text, task.reference, sandbox)
            except ServiceError as error:
                fault = str(error)
            except UserError as error:
                # The task's own test source is broken or a compiler is missing: says nothing of the
                # answer, and another try would not help.
                return Verdict(None, "infra_error", str(error), isolation=sandbox.isolation)
        return Verdict(None, "infra_error", f"sandbox: {fault}", isolation=sandbox.isolation)

    def _score_text(self, slot: _Slot, response: str, task: Task) -> Verdict:
        request = {
            "verifier": task.verifier,
            "reference": dict(task.reference),
            "response": response,
            "cpu_seconds": self._timeout + 1,
        }
        verdict = Verdict(None, "infra_error", "not tried")
        for _ in range(2):
            try:
                worker = slot.worker()
                reply = worker.ask(request, self._timeout)
            except WorkerTimeout as error:
                verdict = Verdict(0.0, "timeout", str(error), isolation=slot.isolation)
            except WorkerError as error:
                verdict = Verdict(None, "infra_error", str(error), isolation=slot.isolation)
            else:
                if "result" in reply:
                    return _verdict(reply["result"], worker.isolation)
                limit = reply.get("limit")
                if limit is not None:
                    verdict = Verdict(0.0, "timeout", str(limit), isolation=slot.isolation)
                else:
                    bug = f"scorer failed: {reply.get('bug')}"
                    verdict = Verdict(None, "infra_error", bug, isolation=slot.isolation)
            slot.drop()
        return verdict


class _Slot:
    """Holds at most one worker; starts it when needed and replaces it when it is old."""

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None
        self.isolation = ""

    def worker(self) -> WorkerProcess:
        if self._worker is not None and self._worker.asked >= RECYCLE_AFTER:
            self.drop()
        if self._worker is None:
            self._worker = WorkerProcess(WORKER_MEMORY_MB)
            self.isolation = self._worker.isolation
        return self._worker

    def drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


def _verdict(result: dict[str, Any], isolation: str) -> Verdict:
    return Verdict(
        reward=float(result["reward"]),
        status=result["status"],
        reason=result["reason"],
        extracted=result["extracted"],
        isolation=isolation,
        metrics=result["metrics"],
    )


def verify(
    response: str,
    task: Task,
    *,
    sandbox: Sandbox | str | None = None,
    allow_weak: bool = False,
    timeout_seconds: float = 10.0,
) -> Verdict:
    """Score one response with a pool of one worker that lives for this call only.

    Each call starts a process (about 0.2 s, plus 1 to 3 s when the answer needs computer algebra or
    reasoning-gym). For more than a few responses keep a ``VerifierPool``.
    """
    with VerifierPool(1, sandbox, allow_weak=allow_weak, timeout_seconds=timeout_seconds) as pool:
        return pool.score([(response, task)])[0]
