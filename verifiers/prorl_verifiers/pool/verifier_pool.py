"""The pool: score many (response, task) pairs with a fixed number of killable workers.

Math, STEM, logic and instruction run in worker processes; code goes to the sandbox. Both share ``workers``
threads. Threads apart ask services (``VerifierSpec.score_by_service``), whose limits are their own.

A time limit counts from when work on the item starts, a program's from its own start: an item that waits
for a thread, a worker or a box loses none of it. An item that times out, or whose worker dies, gets
one more try in a fresh worker. Twice out of time (or over its memory, CPU or nesting limit) is ``timeout``
with reward 0; a worker, sandbox or scorer that fails twice is ``infra_error`` without a reward.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from prorl_common import Closing, UserError
from prorl_verifiers.pool.batch import Item
from prorl_verifiers.pool.core import Core, Settings, WorkerOptions
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.tasks import check_modes
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

OnDone = Callable[[int, Verdict], None]
MAX_TIMEOUT = 86_400
"""Seconds; more than a day for one answer is a slip."""


class VerifierPool(Closing):
    """Score responses with ``workers`` threads. Use as a context manager, or call ``close``.

    ``sandbox``: an open Sandbox (not closed by the pool), a backend's name, or None for what PRORL_BACKEND
    names, else ``local``; it is opened when the first code item comes. ``timeout_seconds`` is the limit of one try at one item (code
    has its own limits). ``modes``: verifier -> mode for tasks that name none.
    ``allow_judged``: score tasks whose verdicts a service gives (a model; off until the environment names it).
    ``worker_options``: memory, pre-started and warm workers. Where a chat template opens the thinking, put
    ``<think>`` before the response.

    Thread-safe, also in a running event loop. In a fork of this process, and where it is unpickled, the
    pool starts workers of its own. Raises UserError for arguments that make no sense.
    """

    def __init__(
        self,
        workers: int = 2,
        sandbox: Sandbox | str | None = None,
        *,
        allow_weak: bool = False,
        timeout_seconds: float = 10.0,
        modes: Mapping[str, str] | None = None,
        worker_options: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
        allow_judged: bool = True,
    ) -> None:
        if workers < 1 or not 0 < timeout_seconds <= MAX_TIMEOUT:
            raise UserError(
                "a verifier pool needs at least one worker and a timeout above 0 seconds, "
                f"at most {MAX_TIMEOUT}"
            )
        check_modes(modes or {})
        self._settings = Settings(
            workers,
            sandbox,
            allow_weak,
            timeout_seconds,
            dict(modes or {}),
            worker_options,
            allow_judged,
        )
        self._closed = False
        self._locks = {os.getpid(): threading.Lock()}
        self._cores: dict[int, Core] = {}
        if worker_options.prestart:
            self._core()

    def score(
        self, items: Sequence[Item], on_done: OnDone | None = None, *, explain: bool = False
    ) -> list[Verdict]:
        """Return one verdict per (response, task), in order.

        ``on_done(index, verdict)`` is called in this thread as items finish, in any order. ``explain``: verdicts carry
        what their scorers noted (see ``prorl_verifiers.explain``). Raises
        IsolationError when code cannot be isolated here, UserError for a closed pool, PoolClosedError
        when it is closed meanwhile.
        """
        core = self._core()
        news: queue.SimpleQueue[tuple[int, Verdict] | None] = queue.SimpleQueue()
        heard = None if on_done is None else lambda index, verdict: news.put((index, verdict))
        batch = core.batch(items, lambda: news.put(None), heard, explain)
        try:
            core.start(batch)
            while (one := news.get()) is not None:
                if on_done is not None:
                    on_done(*one)
        except BaseException:
            core.cancel(batch)
            raise
        return batch.result()

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]:
        """Return what ``score`` does without blocking the event loop; raises the same.

        When the awaiting task is cancelled, items that have not started never do.
        """
        return await self._core().score_async(items)

    def submit(self, response: str, task: Task) -> Future[Verdict]:
        """Return the future verdict of one response; for servers with threads of their own.

        Cancelling it before it is done drops the item if it has not started. Raises what ``score`` does.
        """
        core = self._core()
        future: Future[Verdict] = Future()

        def end() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(batch.result()[0])
            except Exception as error:  # noqa: BLE001 - it goes to whoever asks the future
                future.set_exception(error)

        batch = core.batch([(response, task)], end)
        future.add_done_callback(lambda done: core.cancel(batch) if done.cancelled() else None)
        core.start(batch)
        return future

    def require(self, tasks: Iterable[Task]) -> None:
        """Raise UserError, with the cure, where tasks need an environment that the sandbox lacks, or a judge
        that is off or misjudges known answers; ServiceError where the judge does not answer.

        ``score`` would find that too, but for long work this is asked before it starts.
        """
        self._core().require(tasks)

    def wait_until_warm(self, seconds: float = 60.0) -> bool:
        """Wait until the libraries of all verifiers seen so far are loaded; False when they are not."""
        return self._core().wait_until_warm(seconds)

    @property
    def stats(self) -> PoolStats:
        """What the pool has done so far, in this process; stays after ``close``."""
        core = self._cores.get(os.getpid())
        return PoolStats(workers=self._settings.workers) if core is None else core.stats()

    def close(self, drain_seconds: float | None = None) -> None:
        """Refuse new work, kill the workers, close the sandbox if the pool opened it.

        Without ``drain_seconds`` items in work are finished and those that wait are dropped; with it
        everything goes on for so many seconds, then what is left is killed. Callers whose items were
        dropped get PoolClosedError.
        """
        self._closed = True
        core = self._cores.get(os.getpid())
        if core is not None:
            core.close(drain_seconds)

    def _core(self) -> Core:
        """Return what works for the pool in this process."""
        pid = os.getpid()
        core = self._cores.get(pid)
        if core is not None and not self._closed:
            return core
        with self._locks.setdefault(pid, threading.Lock()):
            if self._closed:
                raise UserError("this verifier pool is closed")
            core = self._cores.get(pid)
            if core is None:
                core = Core(self._settings)
                # Whoever forgets to close it: then with the object, at the latest with the process.
                weakref.finalize(self, core.end, pid)
                self._cores[pid] = core
            return core

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings: the copy opens workers of its own."""
        sandbox = self._settings.sandbox
        if sandbox is not None and not isinstance(sandbox, str):
            raise TypeError(
                "a verifier pool with an open sandbox cannot be sent to another process: "
                "give it the backend's name instead"
            )
        return _reopen, (self._settings,)


def _reopen(settings: Settings) -> VerifierPool:
    return VerifierPool(
        settings.workers,
        settings.sandbox,
        allow_weak=settings.allow_weak,
        timeout_seconds=settings.timeout_seconds,
        modes=settings.modes,
        worker_options=settings.worker,
        allow_judged=settings.allow_judged,
    )


def verify(
    response: str,
    task: Task,
    *,
    sandbox: Sandbox | str | None = None,
    allow_weak: bool = False,
    timeout_seconds: float = 10.0,
    modes: Mapping[str, str] | None = None,
    explain: bool = False,
) -> Verdict:
    """Score one response with a pool of one worker that lives for this call only; ``explain`` as in ``score``.

    Each call starts processes (about 0.2 s, plus 1 to 3 s when the answer needs computer algebra or
    reasoning-gym). For more than a few responses keep a ``VerifierPool``.
    """
    with VerifierPool(
        1,
        sandbox,
        allow_weak=allow_weak,
        timeout_seconds=timeout_seconds,
        modes=modes,
        worker_options=WorkerOptions(prestart=False),
    ) as pool:
        return pool.score([(response, task)], explain=explain)[0]
