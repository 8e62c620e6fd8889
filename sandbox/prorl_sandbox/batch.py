"""Many runs at once, over any ``Sandbox``: an iterator for threads, and an object for asyncio.

Both are bounded. ``run_batch`` reads its input only as fast as its answers are taken;
``AsyncSandbox.run`` waits while its queue is full. Time spent waiting is never part of
``Outcome.wall_seconds``, nor of any limit. Leaves out: retries, and closing the sandbox that is given.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from prorl_common import UserError
from prorl_sandbox.types import Limits, Outcome, Program, Sandbox, SandboxError

Request = tuple[Program, Limits]
Answer = Outcome | SandboxError
_DEFAULT_LIMITS = Limits()


def run_batch(
    sandbox: Sandbox,
    requests: Iterable[Request],
    *,
    workers: int,
    in_flight: int | None = None,
    in_order: bool = False,
) -> Generator[tuple[int, Answer], None, None]:
    """Run every request on ``workers`` threads and yield (index from 0, answer).

    Answers come as runs end, or with ``in_order`` as requests were given. ``requests`` is read lazily,
    in the thread that iterates and ahead of the runs: up to ``in_flight`` (default twice ``workers``)
    are read and not yet yielded, never more, so that a slow consumer stops the reading. A SandboxError
    is handed over in its outcome's place; any other exception, of a run or of ``requests``, is raised
    and ends the batch. Leaving the iterator early (``close``, an exception, Ctrl-C) drops what has not started and waits for what runs.
    Raises UserError for ``workers`` or ``in_flight`` below 1.
    """
    places = 2 * workers if in_flight is None else in_flight
    if workers < 1 or places < 1:
        raise UserError("a batch needs at least 1 worker and 1 request in flight")
    return _Batch(sandbox, iter(requests), min(workers, places), places, in_order).answers()


class _Batch:
    """The state of one ``run_batch``; used by the thread that iterates alone."""

    def __init__(
        self,
        sandbox: Sandbox,
        requests: Iterator[Request],
        workers: int,
        places: int,
        in_order: bool,
    ) -> None:
        self._sandbox, self._requests = sandbox, requests
        self._workers, self._places, self._in_order = workers, places, in_order
        self._read_all = False
        self._count = 0
        self._next = 0
        self._open: dict[Future[Outcome], int] = {}
        self._ended: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        self._answers: dict[int, Answer] = {}
        """Ended and not yet yielded."""

    def answers(self) -> Generator[tuple[int, Answer], None, None]:
        """Yield every answer; see ``run_batch``."""
        threads = ThreadPoolExecutor(self._workers, thread_name_prefix="sandbox-batch")
        try:
            while True:
                while not self._read_all and len(self._open) + len(self._answers) < self._places:
                    self._read(threads)
                self._collect(wait=False)
                ready = self._ready()
                if ready is not None:
                    yield ready, self._answers.pop(ready)
                elif self._open:
                    self._collect(wait=True)
                else:
                    return
        finally:
            threads.shutdown(wait=True, cancel_futures=True)

    def _ready(self) -> int | None:
        """Return the index of an answer that may be yielded now."""
        if not self._in_order:
            return next(iter(self._answers), None)
        if self._next not in self._answers:
            return None
        self._next += 1
        return self._next - 1

    def _read(self, threads: ThreadPoolExecutor) -> None:
        request = next(self._requests, None)
        if request is None:
            self._read_all = True
            return
        program, limits = request
        future = threads.submit(self._sandbox.run, program, limits)
        self._open[future] = self._count
        self._count += 1
        future.add_done_callback(self._ended.put)

    def _collect(self, wait: bool) -> None:
        """Take over what has ended; with ``wait``, at least one run."""
        while wait or not self._ended.empty():
            future = self._ended.get()
            wait = False
            index = self._open.pop(future)
            try:
                self._answers[index] = future.result()
            except SandboxError as error:
                self._answers[index] = error


async def run_async(
    sandbox: Sandbox, program: Program, limits: Limits = _DEFAULT_LIMITS
) -> Outcome:
    """Run one program in a thread of the event loop's own pool; raises what ``Sandbox.run`` raises.

    A cancelled caller goes on at once, the run itself ends by its limits. For more than a few runs use
    ``AsyncSandbox``, whose queue is bounded.
    """
    return await asyncio.to_thread(sandbox.run, program, limits)


class AsyncSandbox:
    """A ``Sandbox`` for asyncio: ``workers`` runs at a time, ``queue`` more waiting for their turn.

    Used by one event loop, as ``async with`` or with ``aclose``; the sandbox itself stays open.
    """

    def __init__(self, sandbox: Sandbox, *, workers: int, queue: int) -> None:
        if workers < 1 or queue < 0:
            raise UserError("an async sandbox needs at least 1 worker and a queue of 0 or more")
        self._sandbox = sandbox
        self._closed = False
        self._places = asyncio.Semaphore(workers + queue)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="sandbox-async")

    @property
    def isolation(self) -> str:
        """The isolation level of the sandbox."""
        return self._sandbox.isolation

    async def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """Run one program; waits while all workers and the whole queue are taken.

        Raises what ``Sandbox.run`` raises, SandboxError when ``aclose`` came before the run began, and
        UserError after it. When the awaiting task is cancelled a run that has not begun is dropped,
        and one that has keeps its place until its limits end it.
        """
        if self._closed:
            raise UserError("this async sandbox is closed")
        await self._places.acquire()
        if self._closed:
            self._places.release()
            raise _too_late()
        loop = asyncio.get_running_loop()
        future = self._threads.submit(self._start, program, limits)
        future.add_done_callback(lambda _: self._give_place_back(loop))
        return await asyncio.wrap_future(future)

    def _start(self, program: Program, limits: Limits) -> Outcome:
        if self._closed:
            raise _too_late()
        return self._sandbox.run(program, limits)

    def _give_place_back(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called in the run's thread, or in the loop's when the run was dropped."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for a place
            loop.call_soon_threadsafe(self._places.release)

    async def aclose(self) -> None:
        """Refuse new runs, drop those that have not begun, wait for those that have."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown, wait=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _too_late() -> SandboxError:
    return SandboxError("the async sandbox was closed before this run began")
