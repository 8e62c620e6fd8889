"""Who is next: threads share their time equally between text and code, and between callers.

Each kind of work, and each caller within it, has a clock of the thread time it has used; the one with the least
goes next, and whoever was idle starts at the clock of those who were not. One thread more than the pool has
workers stands by: it runs only while every other thread is at the other kind of work, so that a math item never
waits for slow programs, nor a program for hostile answers.

Long texts (``pool.costs``) and what a service is asked are kinds apart: threads of their own take them, and they share
in no clock.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from prorl_verifiers.pool.batch import Batch, Job, PoolClosedError

TEXT, CODE, LONG, SERVICE = "text", "code", "long", "service"
_SHARED = (TEXT, CODE)
"""The kinds that share the pool's ``workers`` threads."""
_MEMORY = 0.1
"""Weight of the newest item in the running mean of seconds an item."""


@dataclass(slots=True)
class Source:
    """What waits of one caller and one kind. ``spent``: its clock, in seconds of thread time."""

    kind: str
    jobs: deque[Job]
    batch: Batch | None = None
    spent: float = 0.0


@dataclass(slots=True)
class Work:
    """Jobs that a thread has taken, all of one kind; ``charged`` seconds were booked for them."""

    source: Source
    jobs: list[Job]
    charged: float

    @property
    def kind(self) -> str:
        """``text``, ``code``, ``long`` or ``service``."""
        return self.source.kind


@dataclass(slots=True)
class _Kind:
    heap: list[tuple[float, int, Source]] = field(default_factory=list)
    spent: float = 0.0
    floor: float = 0.0
    """The clock of the caller that was served last: where new callers begin."""
    mean: float = 0.001
    running: int = 0


class FairQueue:
    """The items that wait, and the threads' way to them. Thread-safe."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._changed = threading.Condition()
        self._kinds = {kind: _Kind() for kind in (TEXT, CODE, LONG, SERVICE)}
        self._count = 0
        self._closed = False
        self.queued = 0

    @property
    def busy(self) -> int:
        """Threads at work, those at long texts and those that ask services too."""
        with self._changed:
            return self._running(self._kinds)

    def add(self, kind: str, jobs: Iterable[Job], batch: Batch | None = None) -> None:
        """Queue the jobs of one caller. Raises PoolClosedError."""
        source = Source(kind, deque(jobs), batch)
        with self._changed:
            if self._closed:
                raise PoolClosedError("this verifier pool is closed")
            if not source.jobs:
                return
            queue = self._kinds[kind]
            if kind in _SHARED and not queue.heap and not queue.running:
                shared = [self._kinds[name] for name in _SHARED]
                others = [k.spent for k in shared if k.heap or k.running]
                queue.spent = max([queue.spent, *others])
            source.spent = queue.floor
            self.queued += len(source.jobs)
            self._push(queue, source)
            self._changed.notify_all()

    def put_back(self, kind: str, jobs: Iterable[Job]) -> None:
        """Queue jobs again that were taken and not finished; of a closed queue, end their batches."""
        again = list(jobs)
        try:
            self.add(kind, again)
        except PoolClosedError as error:
            for job in again:
                job.batch.fail(error)

    def take(
        self, seconds: float, most: int, wait: bool, extra: bool = False, apart: str | None = None
    ) -> Work | None:
        """Return the next jobs of one caller: of text about ``seconds`` worth, up to ``most``, else one.

        ``extra``: for the thread that stands by; ``apart``: for one that takes only this kind, which is none of
        the shared. Returns None when nothing waits (without ``wait``) or the queue has been closed.
        """
        kinds = _SHARED if apart is None else (apart,)
        with self._changed:
            while True:
                kind = self._next_kind(kinds, extra)
                if kind is not None:
                    work = self._pop(kind, seconds, most)
                    if work is not None:
                        self._kinds[kind].running += 1
                        self._changed.notify_all()
                        return work
                elif self._closed or not wait:
                    return None
                else:
                    self._changed.wait()

    def done(self, work: Work, seconds: float, finished: int) -> None:
        """Book what the work took in truth and free the thread; ``finished`` jobs of it were not put back."""
        with self._changed:
            queue = self._kinds[work.kind]
            queue.running -= 1
            queue.spent += seconds - work.charged
            work.source.spent += seconds - work.charged
            if finished:
                queue.mean += _MEMORY * (seconds / finished - queue.mean)
            self._changed.notify_all()

    def drop(self, batch: Batch) -> None:
        """Forget what waits of a batch."""
        with self._changed:
            for queue in self._kinds.values():
                for _, _, source in queue.heap:
                    if source.batch is batch:
                        self.queued -= len(source.jobs)
                        source.jobs.clear()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until nothing waits and no thread is at work; False when ``seconds`` were not enough."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self.queued or self._running(self._kinds)), seconds
            )

    def close(self) -> None:
        """Take no more jobs, end the batches that wait, let the threads go."""
        with self._changed:
            self._closed = True
            waiting = [job for k in self._kinds.values() for _, _, s in k.heap for job in s.jobs]
            for queue in self._kinds.values():
                queue.heap.clear()
            self.queued = 0
            self._changed.notify_all()
        error = PoolClosedError("the verifier pool was closed before every item was scored")
        for batch in {id(job.batch): job.batch for job in waiting}.values():
            batch.fail(error)

    def _running(self, kinds: Iterable[str]) -> int:
        return sum(self._kinds[name].running for name in kinds)

    def _next_kind(self, kinds: Sequence[str], extra: bool) -> str | None:
        waiting = [name for name in kinds if self._kinds[name].heap]
        if extra:
            full = self._running(kinds) >= self._workers
            waiting = [name for name in waiting if full and not self._kinds[name].running]
        return min(waiting, key=lambda name: self._kinds[name].spent, default=None)

    def _push(self, queue: _Kind, source: Source) -> None:
        self._count += 1
        heapq.heappush(queue.heap, (source.spent, self._count, source))

    def _pop(self, kind: str, seconds: float, most: int) -> Work | None:
        """Take jobs of the caller with the least clock; None when those that were there want none."""
        queue = self._kinds[kind]
        while queue.heap:
            spent, _, source = heapq.heappop(queue.heap)
            if spent < source.spent:
                self._push(queue, source)  # its clock went on since it was put here
                continue
            if kind != TEXT:
                most = 1
            elif most > 1:
                most = max(
                    1, min(most, int(seconds / queue.mean), -(-self.queued // self._workers))
                )
            jobs: list[Job] = []
            while source.jobs and len(jobs) < most:
                job = source.jobs.popleft()
                self.queued -= 1
                if not job.batch.ended:
                    jobs.append(job)
            if not jobs and not source.jobs:
                continue
            charged = queue.mean * len(jobs)
            queue.floor = max(queue.floor, source.spent)
            queue.spent += charged
            source.spent += charged
            if source.jobs:
                self._push(queue, source)
            if jobs:
                return Work(source, jobs, charged)
        return None
