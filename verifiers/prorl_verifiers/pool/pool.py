"""The pool: score many (response, task) pairs with a fixed number of killable workers.

Math, STEM, logic and instruction run in worker processes; code goes to the sandbox. Both share ``workers`` threads.

A time limit counts from when work on the item starts, a program's from its own start: an item that waits for a thread,
a worker or a box loses none of it. How failures are retried and what they come to says ``pool.scoring``.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from prorl_common import Closing, ServiceError, UserError
from prorl_verifiers.parts import tasks_in
from prorl_verifiers.pool.composed import ComposedBatch
from prorl_verifiers.pool.confine import check_readable
from prorl_verifiers.pool.queue import Batch, FairQueue, Item, Job, LaneName, ThreadKind
from prorl_verifiers.pool.scoring import WorkerThread
from prorl_verifiers.pool.stats import Counters, PoolStats
from prorl_verifiers.pool.workers import WorkerFactory
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import check_modes, with_mode
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

OnDone = Callable[[int, Verdict], None]
MAX_TIMEOUT = 86_400
"""Seconds; more than a day for one answer is a slip."""
_END_SECONDS = 5.0
LEAST_MEMORY_MB = 256


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a pool keeps its worker processes. Raises UserError for values that make no sense.

    ``memory_mb``: the address space of a worker. ``prestart``: start workers in the background when the pool
    is made, load a verifier's libraries there when it is first seen, keep a spare worker; without it
    everything starts when it is needed. ``warm``: verifiers whose libraries are loaded from the beginning.
    """

    memory_mb: int = 2048
    prestart: bool = True
    warm: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.memory_mb < LEAST_MEMORY_MB:
            raise UserError(
                f"a verifier's worker needs at least {LEAST_MEMORY_MB} MB: "
                f"give memory_mb={LEAST_MEMORY_MB} or more"
            )
        for name in self.warm:
            VERIFIERS.get(name)


@dataclass(frozen=True, slots=True)
class _Settings:
    """The arguments of a ``VerifierPool``."""

    workers: int
    sandbox: Sandbox | str | None
    allow_weak: bool
    timeout_seconds: float
    modes: Mapping[str, str]
    worker: WorkerOptions


class VerifierPool(Closing):
    """Score responses with ``workers`` threads. Use as a context manager, or call ``close``.

    ``sandbox``: an open Sandbox (not closed by the pool), a backend's name, or None for what PRORL_BACKEND
    names, else ``local``; it is opened when the first code item comes. ``timeout_seconds`` is the limit of one try at one item (code
    has its own limits). ``modes``: verifier -> mode for tasks that name none.
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
        worker_options: WorkerOptions = WorkerOptions(),
    ) -> None:
        if workers < 1 or not 0 < timeout_seconds <= MAX_TIMEOUT:
            raise UserError(
                "a verifier pool needs at least one worker and a timeout above 0 seconds, "
                f"at most {MAX_TIMEOUT}"
            )
        check_modes(modes or {})
        self.__setstate__(
            _Settings(
                workers, sandbox, allow_weak, timeout_seconds, dict(modes or {}), worker_options
            )
        )

    def __setstate__(self, settings: _Settings) -> None:
        """Open the pool with these settings, also where it is unpickled: the copy has workers of its own."""
        self._settings = settings
        self._closed = False
        self._locks = {os.getpid(): threading.Lock()}
        self._engines: dict[int, _Engine] = {}
        if settings.worker.prestart:
            self._engine()

    def __getstate__(self) -> _Settings:
        """Return the settings for pickling."""
        sandbox = self._settings.sandbox
        if sandbox is not None and not isinstance(sandbox, str):
            raise TypeError(
                "a verifier pool with an open sandbox cannot be sent to another process: "
                "give it the backend's name instead"
            )
        return self._settings

    def score(
        self, items: Sequence[Item], on_done: OnDone | None = None, *, explain: bool = False
    ) -> list[Verdict]:
        """Return one verdict per (response, task), in order.

        ``on_done(index, verdict)`` is called in this thread as items finish, in any order. ``explain``: verdicts carry
        what their scorers noted (see ``prorl_verifiers.explain``). Raises
        IsolationError when code cannot be isolated here, UserError for a closed pool, PoolClosedError
        when it is closed meanwhile.
        """
        engine = self._engine()
        done: queue.SimpleQueue[tuple[int, Verdict] | None] = queue.SimpleQueue()
        report = None if on_done is None else lambda index, verdict: done.put((index, verdict))
        batch = engine.batch(items, report, explain)
        batch.add_done_callback(lambda _: done.put(None))
        try:
            engine.start(batch)
            while (one := done.get()) is not None:
                if on_done is not None:
                    on_done(*one)
        finally:
            batch.cancel()
        return batch.result()

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]:
        """Return what ``score`` does without blocking the event loop; raises the same.

        When the awaiting task is cancelled, items that have not started never do.
        """
        engine = self._engine()
        batch = engine.batch(items)
        if engine.needs_sandbox(batch):
            await asyncio.to_thread(engine.open_sandbox)
        engine.start(batch)
        return await asyncio.wrap_future(batch)

    def submit(self, response: str, task: Task) -> Future[Verdict]:
        """Return the future verdict of one response; for servers with threads of their own.

        Cancelling it before it is done drops the item if it has not started. Raises what ``score`` does.
        """
        engine = self._engine()
        batch = engine.batch([(response, task)])
        future: Future[Verdict] = Future()

        def hand_on(verdicts: Future[list[Verdict]]) -> None:
            if not future.set_running_or_notify_cancel():
                return
            error = verdicts.exception()
            if error is None:
                future.set_result(verdicts.result()[0])
            else:
                future.set_exception(error)

        batch.add_done_callback(hand_on)
        future.add_done_callback(lambda done: done.cancelled() and batch.cancel())
        engine.start(batch)
        return future

    def require(self, tasks: Iterable[Task]) -> None:
        """Raise UserError, with the cure, where tasks need an environment that the sandbox lacks.

        ``score`` would find that too, but for long work this is asked before it starts.
        """
        self._engine().require(tasks)

    def wait_until_warm(self, seconds: float = 60.0) -> bool:
        """Wait until the libraries of all verifiers seen so far are loaded; False when they are not."""
        return self._engine().factory.wait_until_warm(seconds)

    @property
    def stats(self) -> PoolStats:
        """What the pool has done so far, in this process; stays after ``close``."""
        engine, workers = self._engines.get(os.getpid()), self._settings.workers
        if engine is None:
            return PoolStats(workers=workers)
        return engine.counters.snapshot(engine.queue.queued, engine.queue.busy, workers)

    def close(self, drain_seconds: float | None = None) -> None:
        """Refuse new work, kill the workers, close the sandbox if the pool opened it.

        Without ``drain_seconds`` items in work are finished and those that wait are dropped; with it
        everything goes on for so many seconds, then what is left is killed. Callers whose items were
        dropped get PoolClosedError.
        """
        self._closed = True
        engine = self._engines.get(os.getpid())
        if engine is not None:
            engine.close(drain_seconds)

    def _engine(self) -> _Engine:
        """Return what works for the pool in this process. Raises UserError for a closed pool."""
        pid = os.getpid()
        with self._locks.setdefault(pid, threading.Lock()):
            if self._closed:
                raise UserError("this verifier pool is closed")
            if pid not in self._engines:
                engine = self._engines[pid] = _Engine(self._settings)
                # Whoever forgets to close it: then with the object, at the latest with the process.
                weakref.finalize(self, engine.end, pid)
            return self._engines[pid]


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


class PoolFullError(ServiceError):
    """The bounded queue is full; try again later."""


class AsyncVerifierPool:
    """A pool behind a bounded queue: at most ``queue`` items of all callers wait or run at a time.

    Used by one event loop, as ``async with`` or with ``aclose``. The pool is the caller's; it is closed
    here only by ``aclose``.
    """

    def __init__(self, pool: VerifierPool, *, queue: int) -> None:
        if queue < 1:
            raise UserError("an async verifier pool needs a queue of 1 item or more")
        self.pool = pool
        self._size = queue
        self._taken = 0
        self._changed = asyncio.Condition()

    @property
    def waiting(self) -> int:
        """Items that wait or run."""
        return self._taken

    async def score(self, items: Sequence[Item], *, wait: bool = True) -> list[Verdict]:
        """Return one verdict per item, in order, once the queue has a place for all of them.

        With ``wait=False`` a full queue raises PoolFullError at once. More items than the queue holds are
        a UserError. Cancelling drops what has not started.
        """
        count = len(items)
        if count > self._size:
            raise UserError(f"{count} items are more than the queue of {self._size} holds")
        async with self._changed:
            if not wait and self._taken + count > self._size:
                raise PoolFullError(f"{self._taken} of {self._size} places are taken")
            await self._changed.wait_for(lambda: self._taken + count <= self._size)
            self._taken += count
        try:
            return await self.pool.score_async(items)
        finally:
            await asyncio.shield(self._give_back(count))

    async def _give_back(self, count: int) -> None:
        async with self._changed:
            self._taken -= count
            self._changed.notify_all()

    async def aclose(self, drain_seconds: float | None = None) -> None:
        """Close the pool without blocking the event loop; see ``VerifierPool.close``."""
        await asyncio.to_thread(self.pool.close, drain_seconds)

    async def __aenter__(self) -> Self:
        """Return the object itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the pool; an error goes on its way."""
        await self.aclose()


class _Engine:
    """What works for a pool in one process. Threads start with the object and end with ``close``. Thread-safe."""

    def __init__(self, settings: _Settings) -> None:
        """Start them. Raises UserError for an unknown backend, and if workers cannot read what they need."""
        check_readable()
        self._settings = settings
        given = settings.sandbox
        self._sandbox: Sandbox | None = None if isinstance(given, str) else given
        self._backend = given if isinstance(given, str) else None
        if self._backend is not None:
            from prorl_sandbox import check_backend

            check_backend(self._backend)
        self._sandbox_lock = threading.Lock()
        self._closing = self._ended = False
        self.counters = Counters()
        self.queue = FairQueue(settings.workers)
        worker = settings.worker
        self.factory = WorkerFactory(worker.memory_mb, self.counters, worker.warm, worker.prestart)
        shared: list[ThreadKind] = ["shared"] * settings.workers
        slow: list[ThreadKind] = ["slow"] * settings.workers
        self._threads = [
            WorkerThread(
                self.queue,
                self.factory,
                self.counters,
                settings.timeout_seconds,
                self.open_sandbox,
                name=f"verifier-{at}",
                kind=kind,
            )
            for at, kind in enumerate([*shared, "standby", *slow])
        ]
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:  # no room for another thread, Ctrl-C
            self.end(os.getpid())
            raise

    def batch(
        self,
        items: Sequence[Item],
        on_item: Callable[[int, Verdict], None] | None = None,
        explain: bool = False,
    ) -> Batch:
        """Return a batch that has not been started. Raises TaskError for a task that cannot be scored in the
        pool's mode.
        """
        modes = self._settings.modes
        if modes:
            items = [(response, with_mode(task, modes)) for response, task in items]
        is_composed = any(VERIFIERS.get(n).compose for n in {task.verifier for _, task in items})
        return (ComposedBatch if is_composed else Batch)(items, on_item, explain)

    def needs_sandbox(self, batch: Batch) -> bool:
        """Whether ``start`` would have to open the sandbox first, which takes some tens of milliseconds."""
        return self._sandbox is None and bool(_which_run_programs(batch))

    def start(self, batch: Batch) -> None:
        """Queue a batch.

        Raises UserError for a closed pool, an unknown verifier or an environment that is not built, IsolationError.
        """
        if self._closing:
            raise UserError("this verifier pool is closed")
        run_programs = _which_run_programs(batch)
        lanes: dict[LaneName, list[Job]] = {"text": [], "code": [], "slow": []}
        for index, (response, task) in enumerate(batch.items):
            lane: LaneName = "text"
            if task.verifier in run_programs:
                lane = "code"
            elif self.queue.costs.is_long(task.verifier, len(response)):
                lane = "slow"
            lanes[lane].append(Job(batch, index))
        if run_programs:
            self.open_sandbox()
            self.require(job.task for job in lanes["code"])
        self.factory.seen({task.verifier for _, task in batch.items})
        for lane, jobs in lanes.items():
            self.queue.add(lane, jobs)
        batch.add_done_callback(self.queue.drop_cancelled)

    def require(self, tasks: Iterable[Task]) -> None:
        """See that these tasks can be scored; see ``VerifierPool.require``."""
        needed = {
            VERIFIERS.get(one.verifier).needs_of(one.reference).environment
            for task in tasks
            for one in tasks_in(task)
        }
        for name in sorted(name for name in needed if name is not None):
            self.open_sandbox().check_environment(name)

    def open_sandbox(self) -> Sandbox:
        """Return the sandbox; the first caller opens it. Raises IsolationError."""
        from prorl_sandbox import open_sandbox

        with self._sandbox_lock:
            if self._sandbox is None:
                self._sandbox = open_sandbox(self._backend, allow_weak=self._settings.allow_weak)
            return self._sandbox

    def close(self, drain_seconds: float | None) -> None:
        """End everything; see ``VerifierPool.close``."""
        self._closing = True
        if drain_seconds is not None and not self.queue.wait_until_idle(drain_seconds):
            self._stop_work()
        self.queue.close()
        self._finish(None)

    def end(self, owner: int) -> None:
        """End everything at once, without waiting for items; only in process ``owner``."""
        if owner == os.getpid() and not self._ended:
            self._closing = True
            self._stop_work()
            self._finish(_END_SECONDS)

    def _stop_work(self) -> None:
        """Drop what waits and take the threads' workers and sandbox away."""
        for thread in self._threads:
            thread.stopping = True
        self.queue.close()
        self._free()

    def _finish(self, seconds: float | None) -> None:
        """Wait for the threads; one that closes the pool itself (a future's callback) ends by itself."""
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(seconds)
        self._free()
        self._ended = True

    def _free(self) -> None:
        """Close the workers, and the sandbox if the pool opened it."""
        self.factory.close()
        if self._sandbox is not None and self._sandbox is not self._settings.sandbox:
            self._sandbox.close()


def _which_run_programs(batch: Batch) -> set[str]:
    """Return those verifiers of a batch that run programs."""
    names = {task.verifier for _, task in batch.items}
    return {name for name in names if VERIFIERS.get(name).score_in_sandbox is not None}
