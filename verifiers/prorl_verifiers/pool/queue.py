"""The queue of items to score. Texts, programs and long texts have separate lanes."""

from __future__ import annotations

import contextlib
import heapq
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Literal

from prorl_common import ServiceError
from prorl_verifiers.types import Item, OnDone, Task, Verdict

LaneName = Literal["text", "code", "slow"]
ThreadKind = Literal["shared", "standby", "slow"]
"""``shared`` threads take texts and programs, and ``slow`` threads take long texts. The ``standby`` thread takes texts
while all shared threads run programs, and vice versa.
"""
TAKE_ITEMS = 64
TAKE_SECONDS = 0.05
"""Expected seconds of the quick texts that a thread takes at once."""
_MEMORY = 0.1
"""Weight of the newest item in the moving average of seconds per item."""
LEAST_CHARACTERS = 8192
"""Shorter texts are never treated as long."""
LONG_SECONDS = 0.25
"""Texts that probably need more CPU seconds are treated as long."""
FIRST_GUESS = LONG_SECONDS / 65_536
"""Seconds per character that are assumed before a verifier has scored a long text."""
_MOST = LONG_SECONDS / LEAST_CHARACTERS
_FADING = 0.9
"""Factor by which the highest cost per character decreases with each cheaper text."""


class PoolClosedError(ServiceError):
    """Raised if the pool is closed before a call's items are scored."""


class Batch(Future[list[Verdict]]):
    """The items of one call, and the future of their verdicts, in order. Thread-safe.

    Cancelling drops items that have not started. ``on_item(index, verdict)`` is called in the scoring thread and must
    not block.
    """

    def __init__(
        self,
        items: Sequence[Item],
        on_item: OnDone | None = None,
        explain: bool = False,
    ) -> None:
        super().__init__()
        self.items, self.explain = items, explain
        self._on_item = on_item
        self._lock = threading.Lock()
        self._delivered: dict[int, Verdict] = {}
        self._size = len(items)
        if not items:
            self.set_result([])

    def deliver(self, index: int, verdict: Verdict) -> None:
        with self._lock:
            if self.done():
                return
            self._delivered[index] = verdict
            if self._on_item is not None:
                self._on_item(index, verdict)
            if len(self._delivered) < self._size:
                return
        with contextlib.suppress(InvalidStateError):  # cancelled in the meantime
            self.set_result([self._delivered[at] for at in range(self._size)])

    def fail(self, error: BaseException) -> None:
        with contextlib.suppress(InvalidStateError):
            self.set_exception(error)


@dataclass(slots=True, eq=False)
class Job:
    batch: Batch
    index: int
    suspect: bool = False
    """Whether the worker that scored the item then failed a canary."""
    spent: float = 0.0
    """Seconds of earlier attempts."""

    @property
    def response(self) -> str:
        return self.batch.items[self.index][0]

    @property
    def task(self) -> Task:
        return self.batch.items[self.index][1]


@dataclass(slots=True)
class Caller:
    """The jobs of a batch that wait in ``lane``. ``spent``: thread seconds used for the batch."""

    lane: Lane
    jobs: deque[Job]
    spent: float


@dataclass(slots=True)
class Work:
    """Jobs that a thread has taken. ``charged``: their expected seconds, already added to ``Caller.spent``."""

    caller: Caller
    jobs: list[Job]
    charged: float

    @property
    def lane(self) -> LaneName:
        return self.caller.lane.name


@dataclass(slots=True)
class Lane:
    """A queue for one kind of item, such as programs. The caller with the least thread time is next."""

    name: LaneName
    running: int = 0
    waiting: int = 0
    mean: float = 0.001
    """Mean seconds per item."""
    _heap: list[tuple[float, int, Caller]] = field(default_factory=list)
    _start: float = 0.0
    """Thread time with which a new caller starts, so that it has no advantage."""
    _count: int = 0

    @property
    def in_use(self) -> bool:
        return bool(self.waiting or self.running)

    def add(self, jobs: Sequence[Job]) -> None:
        self.waiting += len(jobs)
        self._push(Caller(self, deque(jobs), self._start))

    def drop(self, batch: Future[list[Verdict]] | None = None) -> set[Batch]:
        """Remove the waiting jobs of ``batch`` (None: all batches). Return the batches that lost jobs."""
        batches = set()
        for _, _, caller in self._heap:
            if caller.jobs and batch in (None, caller.jobs[0].batch):
                batches.add(caller.jobs[0].batch)
                self.waiting -= len(caller.jobs)
                caller.jobs.clear()
        return batches

    def take(self, most: int) -> Work | None:
        """Take up to ``most`` jobs of the caller with the least thread time. Return None if no job waits."""
        while self._heap:
            spent, _, caller = heapq.heappop(self._heap)
            if spent < caller.spent:  # its work took longer than charged
                self._push(caller)
                continue
            jobs: list[Job] = []
            while caller.jobs and len(jobs) < most:
                job = caller.jobs.popleft()
                self.waiting -= 1
                if not job.batch.done():
                    jobs.append(job)
            if not jobs:
                continue
            charged = self.mean * len(jobs)
            self._start = max(self._start, caller.spent)
            caller.spent += charged
            if caller.jobs:
                self._push(caller)
            self.running += 1
            return Work(caller, jobs, charged)
        return None

    def finish(self, work: Work, seconds: float, finished: int) -> None:
        """Replace the expected seconds of ``work`` by ``seconds``. ``finished``: number of jobs scored."""
        self.running -= 1
        work.caller.spent += seconds - work.charged
        if finished:
            self.mean += _MEMORY * (seconds / finished - self.mean)

    def _push(self, caller: Caller) -> None:
        self._count += 1
        heapq.heappush(self._heap, (caller.spent, self._count, caller))


class FairQueue:
    def __init__(self, workers: int) -> None:
        self.costs = TextCosts()
        """Decides which texts go to the slow lane."""
        self._workers = workers
        self._changed = threading.Condition()
        self._text, self._code, self._slow = Lane("text"), Lane("code"), Lane("slow")
        self._lanes = {lane.name: lane for lane in (self._text, self._code, self._slow)}
        self._lead = 0.0
        """Thread seconds of text minus those of code while both were in use."""
        self._closed = False

    @property
    def queued(self) -> int:
        return sum(lane.waiting for lane in self._lanes.values())

    @property
    def busy(self) -> int:
        return sum(lane.running for lane in self._lanes.values())

    def add(self, lane: LaneName, jobs: Sequence[Job]) -> None:
        """Add a batch's jobs to a lane. The batch fails if the queue is closed."""
        with self._changed:
            if jobs and not self._closed:
                self._lanes[lane].add(jobs)
                self._changed.notify_all()
                return
        for job in jobs[:1]:
            job.batch.fail(PoolClosedError("this verifier pool is closed"))

    def take(self, thread: ThreadKind = "shared", *, wait: bool = True) -> Work | None:
        """Wait for the next jobs of one caller: several short texts, or a single long text or program.

        Returns None if the queue is closed, or if ``wait`` is False and no item waits.
        """
        with self._changed:
            while True:
                lane = self._next_lane(thread)
                if lane is not None:
                    work = lane.take(self._most_items(lane))
                    if work is not None:
                        self._changed.notify_all()
                        return work
                elif self._closed or not wait:
                    return None
                else:
                    self._changed.wait()

    def finish(self, work: Work, seconds: float, finished: int) -> None:
        with self._changed:
            lane = work.caller.lane
            lane.finish(work, seconds, finished)
            if lane is not self._slow:
                self._lead += seconds if lane is self._text else -seconds
            if not (self._text.in_use and self._code.in_use):
                self._lead = 0.0
            self._changed.notify_all()

    def drop_cancelled(self, batch: Future[list[Verdict]]) -> None:
        if batch.cancelled():
            with self._changed:
                for lane in self._lanes.values():
                    lane.drop(batch)

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until no item waits or runs. Return False on timeout."""
        with self._changed:
            lanes = self._lanes.values()
            return self._changed.wait_for(lambda: not any(lane.in_use for lane in lanes), seconds)

    def close(self) -> None:
        """Refuse new jobs. Batches with waiting jobs fail with PoolClosedError."""
        with self._changed:
            self._closed = True
            waiting = {batch for lane in self._lanes.values() for batch in lane.drop()}
            self._changed.notify_all()
        error = PoolClosedError("the verifier pool was closed before every item was scored")
        for batch in waiting:
            batch.fail(error)

    def _next_lane(self, thread: ThreadKind) -> Lane | None:
        if thread == "slow":
            return self._slow if self._slow.waiting else None
        lanes = [lane for lane in (self._text, self._code) if lane.waiting]
        if thread == "standby":
            full = self._text.running + self._code.running >= self._workers
            lanes = [lane for lane in lanes if full and not lane.running]
        if len(lanes) < 2:
            return lanes[0] if lanes else None
        # Take the lane with fewer threads or, if equal, with less thread time so far.
        more_text = self._text.running - self._code.running or self._lead
        return self._code if more_text > 0 else self._text

    def _most_items(self, lane: Lane) -> int:
        if lane is not self._text:
            return 1
        share = -(-lane.waiting // self._workers)
        return max(1, min(TAKE_ITEMS, int(TAKE_SECONDS / lane.mean), share))


class TextCosts:
    """Predicts whether a text is slow to score, from its length and the verifier's speed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rates: dict[str, float] = {}

    def is_long(self, verifier: str, characters: int) -> bool:
        if characters < LEAST_CHARACTERS:
            return False
        with self._lock:
            return self._rates.get(verifier, FIRST_GUESS) * characters >= LONG_SECONDS

    def observe(self, verifier: str, characters: int, cpu_seconds: float) -> None:
        if characters < LEAST_CHARACTERS:
            return
        with self._lock:
            # The highest recent cost counts: a text that is slow for one instruction may not be for another.
            faded = _FADING * self._rates.get(verifier, FIRST_GUESS)
            self._rates[verifier] = max(faded, min(cpu_seconds / characters, _MOST))
