"""Which waiting item is worked on next: a bounded queue that is fair between clients.

Clients take turns, and the requests of one client take turns, so a batch of ten thousand items delays a
single item by a few items only. Lives in one event loop, so it needs no locks.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class QueueFullError(Exception):
    """There is no room for the request's items; ``seconds`` is a guess of when there will be."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the queue is full")
        self.seconds = seconds


class StoppedError(Exception):
    """The service is going down; the items were not all worked on."""


class Job(Generic[ItemT, ResultT]):
    """The items of one request on their way."""

    def __init__(self, client: str, items: Sequence[ItemT]) -> None:
        self.client = client
        self.items = items
        self.next = 0
        self.missing = len(items)
        self._results: dict[int, ResultT] = {}
        self.done: asyncio.Future[list[ResultT]] = asyncio.get_running_loop().create_future()

    @property
    def waiting(self) -> int:
        """Items not yet taken."""
        return len(self.items) - self.next

    def settle(self, start: int, found: Sequence[ResultT]) -> None:
        """Take in results; the last one completes the job."""
        self._results.update(enumerate(found, start))
        self.missing -= len(found)
        if self.missing == 0 and not self.done.done():
            self.done.set_result([self._results[at] for at in range(len(self.items))])

    def fail(self, error: BaseException) -> None:
        """End the job with an error, once."""
        if not self.done.done():
            self.done.set_exception(error)


class ClientQueue(Generic[ItemT, ResultT]):
    """At most ``limit`` waiting items; ``slots`` chunks of at most ``chunk`` items in work at a time.

    ``work`` gives one result an item, in order; ``on_result`` is told of each.
    """

    def __init__(
        self,
        work: Callable[[Sequence[ItemT]], Awaitable[list[ResultT]]],
        on_result: Callable[[ItemT, ResultT], None],
        *,
        limit: int,
        slots: int,
        chunk: int = 2,
    ) -> None:
        self.limit = limit
        self.waiting = 0
        self.busy = 0
        self._work = work
        self._on_result = on_result
        self._slots = slots
        self._chunk = chunk
        self._clients: dict[str, deque[Job[ItemT, ResultT]]] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._rate = 0.0
        self._counted = (time.monotonic(), 0)

    def start(self) -> None:
        """Start the dispatchers in the running loop."""
        self._tasks = [asyncio.create_task(self._dispatch()) for _ in range(self._slots)]

    def require_room(self, count: int) -> None:
        """Raise QueueFullError where so many items do not fit."""
        if self.waiting + count > self.limit:
            raise QueueFullError(self._seconds_to_drain())

    def submit(self, client: str, items: Sequence[ItemT]) -> Job[ItemT, ResultT]:
        """Queue the items; await ``job.done`` for the results. Raises QueueFullError."""
        self.require_room(len(items))
        job: Job[ItemT, ResultT] = Job(client, items)
        if not items:
            job.done.set_result([])
            return job
        self._clients.setdefault(client, deque()).append(job)
        self.waiting += len(items)
        self._wake.set()
        return job

    def cancel(self, job: Job[ItemT, ResultT], error: BaseException | None = None) -> None:
        """Take the job's waiting items out of the queue; those in work run to their end unheard."""
        jobs = self._clients.get(job.client)
        if jobs is not None and job in jobs:
            jobs.remove(job)
            self.waiting -= job.waiting
            if not jobs:
                del self._clients[job.client]
        if error is None:
            job.done.cancel()
        else:
            job.fail(error)

    def abandon(self) -> None:
        """End every waiting job with StoppedError."""
        for jobs in list(self._clients.values()):
            for job in list(jobs):
                self.cancel(job, StoppedError())

    async def stop(self) -> None:
        """Abandon what waits and stop the dispatchers."""
        self.abandon()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self) -> tuple[Job[ItemT, ResultT], int, Sequence[ItemT]] | None:
        """Return the next chunk: the first client's first job; both go to the end of their lines."""
        client = next(iter(self._clients), None)
        if client is None:
            return None
        jobs = self._clients.pop(client)
        job = jobs.popleft()
        start = job.next
        items = job.items[start : start + self._chunk]
        job.next += len(items)
        self.waiting -= len(items)
        if job.waiting:
            jobs.append(job)
        if jobs:
            self._clients[client] = jobs
        return job, start, items

    async def _dispatch(self) -> None:
        while True:
            taken = self._take()
            if taken is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            await self._do_chunk(*taken)

    async def _do_chunk(self, job: Job[ItemT, ResultT], start: int, items: Sequence[ItemT]) -> None:
        self.busy += len(items)
        work = asyncio.ensure_future(self._work(items))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            self.cancel(job, StoppedError())
            raise
        finally:
            self.busy -= len(items)
        error = work.exception()
        if error is not None:  # the request's handler raises it: the dispatcher goes on
            self.cancel(job, error)
            return
        for item, result in zip(items, work.result(), strict=True):
            self._on_result(item, result)
        self._count(len(items))
        job.settle(start, work.result())

    def _count(self, items: int) -> None:
        since, done = self._counted
        done += items
        elapsed = time.monotonic() - since
        if elapsed >= 1.0:
            self._rate = done / elapsed
            since, done = time.monotonic(), 0
        self._counted = (since, done)

    def _seconds_to_drain(self) -> float:
        """Guess how long half of the waiting items take."""
        return self.waiting / 2 / self._rate if self._rate > 0 else 2.0
