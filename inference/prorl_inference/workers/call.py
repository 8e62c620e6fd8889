"""One call of a sampling pool, with a thread per worker."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import ServiceError, format_seconds
from prorl_inference.types import Completion, Generator, Request, SampleRefusedError, SamplingParams
from prorl_inference.workers.work import SharedWork, Unit

AGAIN_SECONDS = 10.0
"""Seconds until a failed worker is tried again."""
CALL_SAMPLES = 1024
"""Maximum number of samples in one call to a server, unless eight times its concurrency is more."""
LOOK_SECONDS = 0.05
TICK_SECONDS = 0.2
JOIN_SECONDS = 5.0

OnBatchResult = Callable[[int, int, list[Completion]], None]
"""Called with (batch number, index of a request in the batch, completions of the request)."""
OnBatchDone = Callable[[int | None, int], None]
"""Called with (batch number, number of its samples that ended), or with (None, 0) while no sample ends."""


@dataclass(slots=True)
class Worker:
    """A server or process that samples.

    ``open`` raises ServiceError if the worker is unavailable. If ``returns``, a failed worker is tried again later.
    """

    name: str
    open: Callable[[], Generator]
    returns: bool = False
    rows: int = 1
    generator: Generator | None = None


@dataclass(frozen=True, slots=True)
class _Ended:
    worker: int
    unit: Unit
    index: int
    completions: list[Completion]


@dataclass(frozen=True, slots=True)
class _Counted:
    unit: Unit
    count: int


@dataclass(frozen=True, slots=True)
class _Lost:
    worker: int
    error: ServiceError
    samples: int


_Event = _Ended | _Counted | _Lost | BaseException


class _Stop(Exception):
    pass


class Call:
    """One call of ``SamplingPool.sample_batches``. Callbacks are called in the thread that calls ``run``."""

    def __init__(
        self,
        workers: Sequence[Worker],
        work: SharedWork,
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
        tell: Callable[[str], None],
        patience: float,
        stop_at_refusal: bool = False,
    ) -> None:
        self._stop_at_refusal = stop_at_refusal
        self._workers, self._work, self._params = workers, work, params
        self._tell, self._patience = tell, patience
        self._on_done, self._on_result = on_done, on_result
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._lost: dict[int, ServiceError] = {}
        self._all_lost_since: float | None = None
        self._samples: Counter[int] = Counter()
        self._answered = self._refused = False

    def run(self) -> None:
        threads = [
            threading.Thread(
                target=self._sample, args=(n,), daemon=True, name=f"prorl-sampling-{n}"
            )
            for n in range(len(self._workers))
        ]
        for thread in threads:
            thread.start()
        try:
            while not self._work.finished:
                try:
                    self._handle(self._events.get(timeout=TICK_SECONDS))
                except queue.Empty:
                    self._on_done(None, 0)
                self._check_any_left()
                self._take_refusals()
            self._handle_remaining()
        except BaseException as error:
            self._end(threads)
            try:
                self._handle_remaining()
            except Exception as later:  # noqa: BLE001 - the first error is what is raised
                error.add_note(f"finished answers could not be delivered ({later!r})")
            raise
        if self._refused and not self._answered:
            self._await_refusals(threads)
        self._end(threads)
        if len(self._samples) > 1:
            names = (f"{self._samples[n]:,} by {w.name}" for n, w in enumerate(self._workers))
            self._tell(f"samples: {', '.join(names)}")

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        self._work.close()
        self._stop.set()
        until = time.monotonic() + JOIN_SECONDS
        for thread, worker in zip(threads, self._workers, strict=True):
            if worker.generator is None:  # its thread waits for a server and ends by itself
                continue
            thread.join(2 * TICK_SECONDS)
            interrupt = getattr(worker.generator, "interrupt", None)
            if thread.is_alive() and interrupt is not None:
                interrupt()
            thread.join(max(0.0, until - time.monotonic()))

    def _handle_remaining(self) -> None:
        while not self._events.empty():
            event = self._events.get()
            if isinstance(event, _Ended):
                self._handle(event)

    def _handle(self, event: _Event) -> None:
        if isinstance(event, _Counted):
            self._on_done(event.unit.number, event.count)
        elif isinstance(event, _Lost):
            self._lose(event)
        elif isinstance(event, _Ended):
            self._take(event)
        else:
            raise event

    def _take(self, event: _Ended) -> None:
        unit, worker = event.unit, event.worker
        if self._lost.pop(worker, None) is not None:
            self._all_lost_since = None
            self._tell(f"{self._workers[worker].name} is back")
        if event.index not in unit.missing:  # another worker was faster
            return
        unit.missing.discard(event.index)
        refused = any(c.finish_reason == "refused" for c in event.completions)
        self._refused, self._answered = self._refused or refused, self._answered or not refused
        self._samples[worker] += len(event.completions)
        self._on_result(unit.number, event.index, event.completions)

    def _take_refusals(self) -> None:
        available = range(len(self._workers)) - self._lost.keys()
        for unit in self._work.refused_by_all(available) if available else ():
            worker, completions = next(iter(unit.refusals.items()))
            if self._stop_at_refusal:
                start = unit.requests[0].prompt_start
                note = next(c.note for c in completions if c.finish_reason == "refused")
                raise SampleRefusedError(
                    f"every available server refused a sample of the prompt starting '{start}' "
                    f"({note}): what was sampled is kept; to continue without refused samples, set "
                    "server.refusals to record (they are then counted, but not scored)"
                )
            self._take(_Ended(worker, unit, 0, completions))

    def _await_refusals(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for servers that have not answered yet. Raises SampleRefusedError if all servers refuse."""
        until = time.monotonic() + JOIN_SECONDS
        while any(t.is_alive() for t in threads) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=LOOK_SECONDS)
                if isinstance(event, _Lost):
                    self._lost[event.worker] = event.error
            self._check_any_accepts()

    def _check_any_accepts(self) -> None:
        refusing = [e for e in self._lost.values() if isinstance(e, SampleRefusedError)]
        if refusing and len(self._lost) == len(self._workers):
            raise refusing[0]

    def _lose(self, event: _Lost) -> None:
        worker = self._workers[event.worker]
        is_new = event.worker not in self._lost
        self._lost[event.worker] = event.error
        if is_new and len(self._lost) < len(self._workers):
            again = f"; it is tried again every {AGAIN_SECONDS:g}s" if worker.returns else ""
            self._tell(
                f"{worker.name} stopped ({event.error.__cause__ or event.error}): the {event.samples} samples "
                f"go to the other workers{again}"
            )

    def _check_any_left(self) -> None:
        workers = self._workers
        if len(self._lost) < len(workers):
            return
        self._check_any_accepts()
        now = time.monotonic()
        if self._all_lost_since is None:
            self._all_lost_since = now
            if any(worker.returns for worker in workers):
                self._tell(
                    f"none of {len(workers)} workers answers: waiting for one, "
                    f"{format_seconds(self._patience)} at most; what was sampled is kept"
                )
        waited = now - self._all_lost_since
        if waited >= self._patience or not any(worker.returns for worker in workers):
            reasons = "; ".join(
                f"{workers[n].name}: {error.__cause__ or error}" for n, error in self._lost.items()
            )
            raise ServiceError(
                f"none of {len(workers)} workers is available ({reasons}): what was sampled is kept; run the same "
                "command again when one is available"
            )

    # in the workers' threads

    def _sample(self, number: int) -> None:
        worker = self._workers[number]
        try:
            while not (self._work.finished or self._stop.is_set()):
                try:
                    if worker.generator is None:
                        worker.generator = worker.open()
                    if getattr(worker.generator, "pulls", False):
                        self._pull(number, worker.generator, worker.rows)
                    else:
                        self._batch(number, worker.generator)
                except ServiceError as error:  # the worker is lost, or refuses every request
                    self._events.put(_Lost(number, error, self._work.give_back(number)))
                    if not worker.returns:
                        return
                    self._stop.wait(min(AGAIN_SECONDS, self._patience / 4))
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            if not self._stop.is_set():
                self._events.put(error)

    def _pull(self, number: int, generator: Generator, rows: int) -> None:
        taken: list[tuple[Unit, int]] = []
        unfinished: Counter[int] = Counter()
        generate: Any = generator.generate  # takes an iterator, see ``OpenAIGenerator.pulls``

        def requests() -> Iterator[Request | None]:
            while len(taken) < max(CALL_SAMPLES, 8 * rows):
                unit = self._work.take(number)
                if unit is None:
                    if self._work.finished:
                        return
                    yield None
                    continue
                unfinished[unit.number] = len(unit.requests)
                for index, request in enumerate(unit.requests):
                    taken.append((unit, index))
                    yield request

        def result(place: int, completions: list[Completion]) -> None:
            unit, index = taken[place]
            refused = any(c.finish_reason == "refused" for c in completions)
            if refused and len(unit.requests) == 1:
                self._work.refused(number, unit, completions)
                return
            self._events.put(_Ended(number, unit, index, completions))
            unfinished[unit.number] -= 1
            if not unfinished[unit.number]:
                self._work.ended(number, unit)

        generate(requests(), self._params, self._check_stop, result)

    def _batch(self, number: int, generator: Generator) -> None:
        unit = self._work.take(number)
        if unit is None:
            self._stop.wait(LOOK_SECONDS)
            return

        def done(count: int) -> None:
            self._check_stop()
            self._events.put(_Counted(unit, count))

        def result(index: int, completions: list[Completion]) -> None:
            self._events.put(_Ended(number, unit, index, completions))

        generator.generate(unit.requests, self._params, done, result)
        self._work.ended(number, unit)

    def _check_stop(self, ended: int = 0) -> None:
        if self._stop.is_set() and not ended:
            raise _Stop
