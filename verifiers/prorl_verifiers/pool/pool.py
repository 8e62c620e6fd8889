"""The verifier pool, which scores (response, task) pairs in killable worker processes."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import Closing, UserError
from prorl_verifiers.parts import tasks_in
from prorl_verifiers.pool.composed import ComposedBatch
from prorl_verifiers.pool.confine import check_readable
from prorl_verifiers.pool.queue import Batch, FairQueue, Job, LaneName, ThreadKind
from prorl_verifiers.pool.scoring import WorkerThread
from prorl_verifiers.pool.stats import Counters, PoolStats
from prorl_verifiers.pool.workers import WorkerFactory
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import check_modes, load_task, with_mode
from prorl_verifiers.types import Item, OnDone, Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

MAX_TIMEOUT = 86_400
_END_SECONDS = 5.0
LEAST_MEMORY_MB = 256


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Options of a pool's worker processes. Raises UserError for invalid values.

    ``memory_mb``: limit of a worker's address space, in MiB.
    ``prestart``: whether workers start in the background before they are needed.
    ``warm``: verifiers whose libraries are loaded at the start.
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
    workers: int
    sandbox: Sandbox | str | None
    allow_weak: bool
    timeout_seconds: float
    modes: Mapping[str, str]
    worker: WorkerOptions


class VerifierPool(Closing):
    """Scores responses in worker processes. Use it as a context manager, or call ``close``.

    ``workers``: number of items scored in parallel.
    ``sandbox``: an open Sandbox, which the caller closes, or a backend's name; by default PRORL_BACKEND or ``local``.
    ``timeout_seconds``: limit per attempt at an item, without queueing. Code tasks have their own limits.
    ``modes``: {verifier: mode} for tasks without a mode.

    If the chat template ends the prompt with ``<think>``, prepend it to the response. The pool is thread-safe, also in
    an event loop. After a fork or unpickling, it starts its own workers. Raises UserError.
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
        self._settings = settings
        self._closed = False
        self._locks = {os.getpid(): threading.Lock()}
        self._engines: dict[int, _Engine] = {}
        if settings.worker.prestart:
            self._engine()

    def __getstate__(self) -> _Settings:
        """Return the settings to pickle. Raises TypeError if the pool has an open sandbox."""
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

        ``on_done(index, verdict)`` is called in this thread when an item is finished. If ``explain`` is set, verdicts
        contain findings. Raises TaskError, IsolationError, UserError, or PoolClosedError if the pool is closed during
        the call.
        """
        engine = self._engine()
        done: queue.SimpleQueue[tuple[int, Verdict] | None] = queue.SimpleQueue()
        report = None if on_done is None else lambda index, verdict: done.put((index, verdict))
        batch = engine.batch(items, report, explain)
        batch.add_done_callback(lambda _: done.put(None))
        try:
            engine.start(batch)
            while (finished := done.get()) is not None:
                if on_done is not None:
                    on_done(*finished)
        finally:
            batch.cancel()
        return batch.result()

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]:
        """Like ``score``, for an event loop. Cancelling drops items that have not started."""
        engine = self._engine()
        batch = engine.batch(items)
        if engine.needs_sandbox(batch):
            await asyncio.to_thread(engine.open_sandbox)
        engine.start(batch)
        return await asyncio.wrap_future(batch)

    def submit(self, response: str, task: Task) -> Future[Verdict]:
        """Return a future of one response's verdict. Cancelling drops the item if it has not started."""
        engine = self._engine()
        batch = engine.batch([(response, task)])
        future: Future[Verdict] = Future()

        def forward(verdicts: Future[list[Verdict]]) -> None:
            if not future.set_running_or_notify_cancel():
                return
            error = verdicts.exception()
            if error is None:
                future.set_result(verdicts.result()[0])
            else:
                future.set_exception(error)

        batch.add_done_callback(forward)
        future.add_done_callback(lambda done: done.cancelled() and batch.cancel())
        engine.start(batch)
        return future

    def require(self, tasks: Iterable[Task]) -> None:
        """Raise UserError if the sandbox lacks a package environment that one of these tasks needs."""
        self._engine().require(tasks)

    def wait_until_warm(self, seconds: float = 60.0) -> bool:
        """Wait until the libraries of all verifiers in use are loaded. Return False on timeout."""
        return self._engine().factory.wait_until_warm(seconds)

    @property
    def stats(self) -> PoolStats:
        engine, workers = self._engines.get(os.getpid()), self._settings.workers
        if engine is None:
            return PoolStats(workers=workers)
        return engine.counters.snapshot(engine.queue.queued, engine.queue.busy, workers)

    def close(self, drain_seconds: float | None = None) -> None:
        """Refuse new items, kill the workers, and close the sandbox if the pool opened it.

        Running items are finished first, and waiting items fail with PoolClosedError. With ``drain_seconds``, all items
        are scored first, for at most this time.
        """
        self._closed = True
        engine = self._engines.get(os.getpid())
        if engine is not None:
            engine.close(drain_seconds)

    def _engine(self) -> _Engine:
        pid = os.getpid()
        with self._locks.setdefault(pid, threading.Lock()):
            if self._closed:
                raise UserError("this verifier pool is closed")
            if pid not in self._engines:
                engine = self._engines[pid] = _Engine(self._settings)
                # Close a forgotten pool when it is garbage-collected, at the latest when the process ends.
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
    """Score one response with a temporary pool, which takes 0.2 to 3 s to start.

    Use a ``VerifierPool`` for more than a few responses. The other arguments are the pool's.
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


class _Engine:
    def __init__(self, settings: _Settings) -> None:
        check_readable()
        self._settings = settings
        sandbox = settings.sandbox
        self._sandbox: Sandbox | None = None if isinstance(sandbox, str) else sandbox
        self._backend = sandbox if isinstance(sandbox, str) else None
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
        except BaseException:  # no more threads, or Ctrl-C
            self.end(os.getpid())
            raise

    def batch(
        self,
        items: Sequence[Item],
        on_item: OnDone | None = None,
        explain: bool = False,
    ) -> Batch:
        """Create a batch. Raises TaskError for a malformed task or an unsuitable mode."""
        tasks = {id(task): task for _, task in items}
        for task in tasks.values():
            load_task(task.verifier, task.reference)
        modes = self._settings.modes
        if modes:
            ready = {key: with_mode(task, modes) for key, task in tasks.items()}
            items = [(response, ready[id(task)]) for response, task in items]
        is_composed = any(VERIFIERS.get(n).compose for n in {task.verifier for _, task in items})
        if is_composed:
            return ComposedBatch(items, on_item, explain, counters=self.counters)
        return Batch(items, on_item, explain)

    def needs_sandbox(self, batch: Batch) -> bool:
        return self._sandbox is None and bool(_verifiers_running_programs(batch))

    def start(self, batch: Batch) -> None:
        if self._closing:
            raise UserError("this verifier pool is closed")
        run_programs = _verifiers_running_programs(batch)
        lanes: dict[LaneName, list[Job]] = {"text": [], "code": [], "slow": []}
        for index, (response, task) in enumerate(batch.items):
            lane: LaneName = "text"
            if task.verifier in run_programs or VERIFIERS.get(task.verifier).calls_service:
                lane = "code"
            elif self.queue.costs.is_long(task.verifier, len(response)):
                lane = "slow"
            lanes[lane].append(Job(batch, index))
        if run_programs:
            self.open_sandbox()
            self.require(job.task for job in lanes["code"])
        self.factory.warm_up({task.verifier for _, task in batch.items})
        for lane, jobs in lanes.items():
            self.queue.add(lane, jobs)
        batch.add_done_callback(self.queue.drop_cancelled)

    def require(self, tasks: Iterable[Task]) -> None:
        needed = {
            VERIFIERS.get(one.verifier).needs_of(one.reference).environment
            for task in tasks
            for one in tasks_in(task)
        }
        for name in sorted(name for name in needed if name is not None):
            self.open_sandbox().check_environment(name)

    def open_sandbox(self) -> Sandbox:
        from prorl_sandbox import open_sandbox

        with self._sandbox_lock:
            if self._sandbox is None:
                self._sandbox = open_sandbox(self._backend, allow_weak=self._settings.allow_weak)
            return self._sandbox

    def close(self, drain_seconds: float | None) -> None:
        self._closing = True
        if drain_seconds is not None and not self.queue.wait_until_idle(drain_seconds):
            self._stop_work()
        self.queue.close()
        self._finish(None)

    def end(self, owner: int) -> None:
        """Stop without waiting for items. Do nothing in a process other than ``owner``."""
        if owner == os.getpid() and not self._ended:
            self._closing = True
            self._stop_work()
            self._finish(_END_SECONDS)

    def _stop_work(self) -> None:
        for thread in self._threads:
            thread.stopping = True
        self.queue.close()
        self._free_resources()

    def _finish(self, seconds: float | None) -> None:
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(seconds)
        self._free_resources()
        self._ended = True

    def _free_resources(self) -> None:
        self.factory.close()
        if self._sandbox is not None and self._sandbox is not self._settings.sandbox:
            self._sandbox.close()


def _verifiers_running_programs(batch: Batch) -> set[str]:
    names = {task.verifier for _, task in batch.items}
    return {name for name in names if VERIFIERS.get(name).score_in_sandbox is not None}
