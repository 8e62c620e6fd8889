"""What works for a pool in one process: queue, threads, worker factory, sandbox, from opening to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import UserError
from prorl_verifiers.parts import tasks_in
from prorl_verifiers.pool.batch import Batch, Item, Job, PoolClosedError
from prorl_verifiers.pool.composed import ComposedBatch, is_composed
from prorl_verifiers.pool.costs import TextCosts
from prorl_verifiers.pool.queue import CODE, LONG, SERVICE, TEXT, FairQueue
from prorl_verifiers.pool.service_thread import MOST_THREADS, ServiceThread
from prorl_verifiers.pool.stats import Counters, PoolStats
from prorl_verifiers.pool.worker_factory import WorkerFactory
from prorl_verifiers.pool.worker_thread import WorkerThread
from prorl_verifiers.spec import VERIFIERS, ByService
from prorl_verifiers.tasks import services_of, with_mode
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

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
class Settings:
    """The arguments of a ``VerifierPool``."""

    workers: int
    sandbox: Sandbox | str | None
    allow_weak: bool
    timeout_seconds: float
    modes: Mapping[str, str]
    worker: WorkerOptions
    allow_judged: bool


class Core:
    """Threads start with the object and end with ``close``. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        """Start them. Raises UserError for a sandbox that no backend is called."""
        self._settings = settings
        given = settings.sandbox
        self._sandbox: Sandbox | None = None if isinstance(given, str) else given
        self._backend = given if isinstance(given, str) else None
        if self._backend is not None:
            from prorl_sandbox import check_backend

            check_backend(self._backend)
        self._own_sandbox = False
        self._sandbox_lock = threading.Lock()
        self._closing = self._ended = False
        self._counters = Counters()
        self._queue = FairQueue(settings.workers)
        self._costs = TextCosts()
        worker = settings.worker
        self._factory = WorkerFactory(
            worker.memory_mb, self._counters, tuple(worker.warm), worker.prestart
        )
        if worker.prestart:
            self._factory.start()
        self._threads = [
            WorkerThread(
                self._queue,
                self._factory,
                self._counters,
                self._costs,
                settings.timeout_seconds,
                self.open_sandbox,
                name=f"verifier-{at}",
                extra=at == settings.workers,
                long=at > settings.workers,
            )
            for at in range(2 * settings.workers + 1)
        ]
        self._service_threads: list[ServiceThread] = []
        self._service_lock = threading.Lock()
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:  # no room for another thread, Ctrl-C
            self._stop(0.0)
            raise

    def batch(
        self,
        items: Sequence[Item],
        on_end: Callable[[], None],
        on_item: Callable[[int, Verdict], None] | None = None,
        explain: bool = False,
    ) -> Batch:
        """Return a batch that has not been started; see ``Batch``. Raises TaskError for a task that
        cannot be scored in the pool's mode.
        """
        modes = self._settings.modes
        if modes:
            items = [(response, with_mode(task, modes)) for response, task in items]
        if any(is_composed(name) for name in {task.verifier for _, task in items}):
            return ComposedBatch(items, on_end, on_item, explain)
        return Batch(items, on_end, on_item, explain)

    def needs_sandbox(self, batch: Batch) -> bool:
        """Whether ``start`` would have to open the sandbox first, which takes some tens of milliseconds."""
        return self._sandbox is None and any(
            VERIFIERS.get(name).score_in_sandbox is not None
            for name in {task.verifier for _, task in batch.items}
        )

    def start(self, batch: Batch) -> None:
        """Queue a batch. Raises UserError for a closed pool, an unknown verifier, an environment that is not
        built or a judge that is off, IsolationError."""
        if self._closing:
            raise UserError("this verifier pool is closed")
        if not batch.items:
            batch.finish_empty()
            return
        kinds: dict[str, list[Job]] = {TEXT: [], CODE: [], LONG: [], SERVICE: []}
        seen = {task.verifier for _, task in batch.items}
        in_sandbox = {n for n in seen if VERIFIERS.get(n).score_in_sandbox is not None}
        by_service = {n for n in seen if VERIFIERS.get(n).score_by_service is not None}
        for index, (response, task) in enumerate(batch.items):
            kind = TEXT
            if task.verifier in in_sandbox:
                kind = CODE
            elif task.verifier in by_service:
                kind = SERVICE
            elif self._costs.is_long(task.verifier, len(response)):
                kind = LONG
            kinds[kind].append(Job(batch, index))
        if kinds[CODE]:
            self.open_sandbox()
            self._require_environments(batch.items[job.index][1] for job in kinds[CODE])
        if kinds[SERVICE]:
            self._require_judges(batch.items[job.index][1] for job in kinds[SERVICE])
            self._start_service_threads(len(kinds[SERVICE]))
        self._factory.seen(seen)
        try:
            for kind, jobs in kinds.items():
                self._queue.add(kind, jobs, batch)
        except PoolClosedError as error:
            raise UserError(str(error)) from error

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict per item, in order; see ``VerifierPool.score_async``."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def on_end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits
                loop.call_soon_threadsafe(ended.set)

        batch = self.batch(items, on_end)
        if self.needs_sandbox(batch):
            await asyncio.to_thread(self.open_sandbox)
        self.start(batch)
        try:
            await ended.wait()
        except BaseException:
            self.cancel(batch)
            raise
        return batch.result()

    def cancel(self, batch: Batch) -> None:
        """Forget what waits of a batch; what runs ends without being heard."""
        batch.cancel()
        self._queue.drop(batch)

    def wait_until_warm(self, seconds: float) -> bool:
        """Wait for the background's work; see ``VerifierPool.wait_until_warm``."""
        return self._factory.wait_until_warm(seconds)

    def stats(self) -> PoolStats:
        """Return the counters as of now."""
        queue = self._queue
        return self._counters.snapshot(queue.queued, queue.busy, self._settings.workers)

    def require(self, tasks: Iterable[Task]) -> None:
        """See that these tasks can be scored; see ``VerifierPool.require``."""
        kinds: dict[tuple[str, str | None], Task] = {}  # one of each: there may be many tasks
        for one in (one for task in tasks for one in tasks_in(task)):
            environment = VERIFIERS.get(one.verifier).environment_for(one.reference)
            kinds.setdefault((one.verifier, environment), one)
        self._require_environments(kinds.values())
        for service in self._require_judges(kinds.values()):
            service.prove()

    def _require_judges(self, tasks: Iterable[Task]) -> list[ByService]:
        """Return the services that judge these tasks. Raises UserError where one is not turned on."""
        services = services_of(tasks)
        for service in services:
            name = service.who()["name"]
            if not self._settings.allow_judged:
                raise UserError(
                    f"a task asks for a verdict of the model {name}, and rewards of models are not allowed "
                    "here: allow them (allow_judged, in an adapter judged=true), or leave such tasks out"
                )
        return services

    def _start_service_threads(self, items: int) -> None:
        """Start a thread an item while there may be more."""
        with self._service_lock:
            there = len(self._service_threads)
            for at in range(there, min(there + items, MOST_THREADS)):
                name = f"verifier-service-{at}"
                thread = ServiceThread(self._queue, self._counters, name=name)
                thread.start()
                self._service_threads.append(thread)

    def _require_environments(self, tasks: Iterable[Task]) -> None:
        needed = {
            VERIFIERS.get(one.verifier).environment_for(one.reference)
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
                self._own_sandbox = True
            return self._sandbox

    def close(self, drain_seconds: float | None) -> None:
        """End everything; see ``VerifierPool.close``."""
        self._closing = True
        if drain_seconds is None or self._queue.wait_until_idle(drain_seconds):
            self._queue.close()
        else:
            self._abort()
        self._join(None)
        self._factory.close()
        self._close_sandbox()
        self._ended = True

    def end(self, owner: int) -> None:
        """End everything at once, without waiting for items; only in process ``owner``."""
        if owner == os.getpid() and not self._ended:
            self._stop(_END_SECONDS)

    def _stop(self, seconds: float) -> None:
        self._closing = True
        self._abort()
        self._join(seconds)
        self._ended = True

    def _join(self, seconds: float | None) -> None:
        """Wait for the threads; one that closes the pool itself (a future's callback) ends by itself."""
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(seconds)
        for asking in self._service_threads:
            asking.wait(seconds)

    def _abort(self) -> None:
        for thread in self._threads:
            thread.stopping = True
        self._queue.close()
        for asking in self._service_threads:
            asking.give_up()
        self._factory.close()
        self._close_sandbox()

    def _close_sandbox(self) -> None:
        if self._own_sandbox and self._sandbox is not None:
            self._sandbox.close()
