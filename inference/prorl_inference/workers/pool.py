"""Several workers as one generator: each takes the next unit when it is free, and results come to one thread.

A worker that is gone (its server does not answer, its process died) hands its units to the others, of which a line
tells; a server is asked again now and then. Only when none is left the call ends with a ServiceError. A sample
depends on its request's seed and nothing here: who samples it changes no result.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

from prorl_common import Closing, ServiceError, UserError, format_seconds
from prorl_inference.backends.openai.protocol import Usage
from prorl_inference.types import (
    Completion,
    Generator,
    OnResult,
    Request,
    SampleRefusedError,
    SamplingParams,
)
from prorl_inference.workers.work import SharedWork, Unit

AGAIN_SECONDS = 10.0
"""After which a server that is gone is asked again."""
CALL_SAMPLES = 1024
"""A server is given so many samples in one call, at least eight times as many as it answers at once."""
LOOK_SECONDS = 0.05
TICK_SECONDS = 0.2
JOIN_SECONDS = 5.0

OnBatchResult = Callable[[int, int, list[Completion]], None]
"""Called with a batch's number, a request's index in it and its completions."""
OnBatchDone = Callable[[int | None, int], None]
"""Called with a batch's number and how many of its samples ended; None and 0 now and then while nothing comes."""


@dataclass(slots=True)
class Worker:
    """One that samples. ``open`` returns its generator; it raises ServiceError while it cannot.

    ``returns``: it may be back after it was gone, and is opened again. ``rows`` samples run at once.
    """

    name: str
    open: Callable[[], Generator]
    returns: bool = False
    rows: int = 1
    generator: Generator | None = None


class BatchSampler(Protocol):
    """A generator that samples many batches at a time."""

    def sample_batches(
        self,
        batches: Iterable[Sequence[Request]],
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
    ) -> None:
        """Sample every batch; both are called in the caller's thread, each request's result once."""
        ...

    def unit(self, samples: int) -> int | None:
        """Return how many of so many samples should go to a worker at a time; None: whole batches as planned."""
        ...


def sample_batches(
    generator: Generator,
    batches: Iterable[Sequence[Request]],
    params: SamplingParams,
    on_done: OnBatchDone,
    on_result: OnBatchResult,
) -> None:
    """Sample batch after batch, or many at a time where the generator can; see ``BatchSampler``."""
    own = getattr(generator, "sample_batches", None)
    if own is not None:
        own(batches, params, on_done, on_result)
        return
    for number, requests in enumerate(batches):
        generator.generate(requests, params, partial(on_done, number), partial(on_result, number))


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
class _Gone:
    worker: int
    error: ServiceError
    samples: int


_Event = _Ended | _Counted | _Gone | BaseException


class _Stop(Exception):
    """Ends a worker's call whose result nobody waits for."""


class SamplingPool(Closing):
    """Samples with several workers; implements ``Generator`` and ``BatchSampler``.

    ``patience`` is how long all may be gone, in seconds, before the call is given up. ``whole_batches``: a unit is a
    whole batch, as given. ``tell`` gets lines for people, in any thread.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        model_id: str,
        model_digest: str,
        tell: Callable[[str], None] = lambda _: None,
        patience: float = 600.0,
        whole_batches: bool = False,
    ) -> None:
        self.workers = tuple(workers)
        self.model_id, self.model_digest = model_id, model_digest
        self._tell, self._patience, self._whole_batches = tell, patience, whole_batches

    @property
    def usage(self) -> Usage | None:
        """What all servers together were asked for; None where no worker is one."""
        found = [getattr(worker.generator, "usage", None) for worker in self.workers]
        known = [usage for usage in found if isinstance(usage, Usage)]
        if not known:
            return None
        names = [f.name for f in fields(Usage) if f.name != "price"]
        return Usage(
            known[0].price, **{name: sum(getattr(usage, name) for usage in known) for name in names}
        )

    def unit(self, samples: int) -> int | None:
        """Return how many samples make a unit; see ``BatchSampler.unit``."""
        if self._whole_batches:
            return None
        if all(worker.returns for worker in self.workers):
            return 1
        return max(1, max(w.rows for w in self.workers), samples // (4 * len(self.workers)))

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return, for each request, one completion a seed, in order; see ``Generator.generate``."""
        found: dict[int, list[Completion]] = {}

        def done(_: int | None, count: int) -> None:
            if on_done is not None:
                on_done(count)

        def result(number: int, _: int, completions: list[Completion]) -> None:
            found[number] = completions
            if on_result is not None:
                on_result(number, completions)

        self.sample_batches([[request] for request in requests], params, done, result)
        return [found[number] for number in range(len(requests))]

    def prepare(self) -> None:
        """Have every worker that is there load its model now, all at once.

        Raises the first error that is no worker's absence.
        """
        found: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

        def load(worker: Worker) -> None:
            try:
                worker.generator = worker.generator or worker.open()
                prepare = getattr(worker.generator, "prepare", None)
                if prepare is not None:
                    prepare()
            except ServiceError:  # said, and asked again, when it is to sample
                found.put(None)
            except BaseException as error:  # noqa: BLE001 - raised again below
                found.put(error)
            else:
                found.put(None)

        there = [w for w in self.workers if w.generator is not None or not w.returns]
        for worker in there:
            threading.Thread(target=load, args=(worker,), daemon=True).start()
        for _ in there:
            if (error := found.get()) is not None:
                raise error

    def sample_batches(
        self,
        batches: Iterable[Sequence[Request]],
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
    ) -> None:
        """Sample every batch; see ``BatchSampler``.

        Raises ServiceError when no worker is left, SampleRefusedError, and at once what else a worker raises. What
        had ended by then is still reported.
        """
        params.check()
        _Call(self, SharedWork(batches), params, on_done, on_result).run()

    def sync_weights(self, model: Any) -> None:
        """Refuse: workers have models of their own."""
        raise UserError("workers cannot take over weights: sample with one device")

    def close(self) -> None:
        """Free every worker's model."""
        for worker in self.workers:
            if worker.generator is not None:
                worker.generator.close()
                worker.generator = None

    def tell(self, line: str) -> None:
        """Say a line to people."""
        self._tell(line)

    @property
    def patience(self) -> float:
        """How long all workers may be gone, in seconds."""
        return self._patience


class _Call:
    """One ``sample_batches``: a thread a worker, and the caller's thread that hears of all they do."""

    def __init__(
        self,
        pool: SamplingPool,
        work: SharedWork,
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
    ) -> None:
        self._pool, self._work, self._params = pool, work, params
        self._on_done, self._on_result = on_done, on_result
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._gone: dict[int, ServiceError] = {}
        self._all_gone_since: float | None = None
        self._samples: Counter[int] = Counter()

    def run(self) -> None:
        threads = [
            threading.Thread(
                target=self._sample, args=(n,), daemon=True, name=f"prorl-sampling-{n}"
            )
            for n in range(len(self._pool.workers))
        ]
        for thread in threads:
            thread.start()
        try:
            while not self._work.finished:
                try:
                    self._hear(self._events.get(timeout=TICK_SECONDS))
                except queue.Empty:
                    self._on_done(None, 0)
                self._check_that_one_is_left()
            self._hear_the_rest()
        except BaseException as error:
            self._end(threads)
            try:
                self._hear_the_rest()
            except Exception as later:  # noqa: BLE001 - the first error is what is raised
                error.add_note(f"answers that had ended could not be handed over ({later!r})")
            raise
        self._end(threads)
        if len(self._samples) > 1:
            names = (f"{self._samples[n]:,} by {w.name}" for n, w in enumerate(self._pool.workers))
            self._pool.tell(f"samples: {', '.join(names)}")

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """End what still runs: its result is not waited for."""
        self._work.close()
        self._stop.set()
        until = time.monotonic() + JOIN_SECONDS
        for thread, worker in zip(threads, self._pool.workers, strict=True):
            if worker.generator is None:  # it waits for a server, and ends by itself
                continue
            thread.join(2 * TICK_SECONDS)
            interrupt = getattr(worker.generator, "interrupt", None)
            if thread.is_alive() and interrupt is not None:
                interrupt()
            thread.join(max(0.0, until - time.monotonic()))

    def _hear_the_rest(self) -> None:
        while not self._events.empty():
            event = self._events.get()
            if isinstance(event, _Ended):
                self._hear(event)

    def _hear(self, event: _Event) -> None:
        if isinstance(event, _Counted):
            self._on_done(event.unit.number, event.count)
        elif isinstance(event, _Gone):
            self._lose(event)
        elif isinstance(event, _Ended):
            self._take(event)
        else:
            raise event

    def _take(self, event: _Ended) -> None:
        unit, worker = event.unit, event.worker
        if self._gone.pop(worker, None) is not None:
            self._all_gone_since = None
            self._pool.tell(f"{self._pool.workers[worker].name} is back")
        if event.index not in unit.missing:  # another was first
            return
        unit.missing.discard(event.index)
        self._samples[worker] += len(event.completions)
        self._on_result(unit.number, event.index, event.completions)

    def _lose(self, event: _Gone) -> None:
        worker = self._pool.workers[event.worker]
        if event.worker not in self._gone:
            again = f"; it is asked again every {AGAIN_SECONDS:g}s" if worker.returns else ""
            others = len(self._pool.workers) - len(self._gone) - 1
            if others:
                self._pool.tell(
                    f"{worker.name} is gone ({event.error.__cause__ or event.error}): the {event.samples} samples "
                    f"that it had go to the others{again}"
                )
        self._gone[event.worker] = event.error

    def _check_that_one_is_left(self) -> None:
        """Raise ServiceError where none is left and none has come back within the patience."""
        workers = self._pool.workers
        if len(self._gone) < len(workers):
            return
        now = time.monotonic()
        if self._all_gone_since is None:
            self._all_gone_since = now
            if any(worker.returns for worker in workers):
                self._pool.tell(
                    f"none of {len(workers)} workers answers: waiting for one, "
                    f"{format_seconds(self._pool.patience)} at most; what was sampled is kept"
                )
        waited = now - self._all_gone_since
        if waited >= self._pool.patience or not any(worker.returns for worker in workers):
            reasons = "; ".join(
                f"{workers[n].name}: {error.__cause__ or error}" for n, error in self._gone.items()
            )
            raise ServiceError(
                f"none of {len(workers)} workers is left ({reasons}): what was sampled is kept; give the same "
                "command again once one is back"
            )

    # in the threads of the workers

    def _sample(self, number: int) -> None:
        worker = self._pool.workers[number]
        try:
            while not (self._work.finished or self._stop.is_set()):
                try:
                    if worker.generator is None:
                        worker.generator = worker.open()
                    if getattr(worker.generator, "pulls", False):
                        self._pull(number, worker.generator, worker.rows)
                    else:
                        self._batch(number, worker.generator)
                except SampleRefusedError:
                    raise
                except ServiceError as error:
                    self._events.put(_Gone(number, error, self._work.give_back(number)))
                    if not worker.returns:
                        return
                    self._stop.wait(min(AGAIN_SECONDS, self._pool.patience / 4))
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            if not self._stop.is_set():
                self._events.put(error)

    def _pull(self, number: int, generator: Generator, rows: int) -> None:
        """Have a server answer what it takes, in one call."""
        taken: list[tuple[Unit, int]] = []
        left: Counter[int] = Counter()
        at_once: Any = generator.generate  # takes an iterator, see ``OpenAIGenerator.pulls``

        def requests() -> Iterator[Request | None]:
            while len(taken) < max(CALL_SAMPLES, 8 * rows):
                unit = self._work.take(number)
                if unit is None:
                    if self._work.finished:
                        return
                    yield None
                    continue
                left[unit.number] = len(unit.requests)
                for index, request in enumerate(unit.requests):
                    taken.append((unit, index))
                    yield request

        def result(place: int, completions: list[Completion]) -> None:
            unit, index = taken[place]
            self._events.put(_Ended(number, unit, index, completions))
            left[unit.number] -= 1
            if not left[unit.number]:
                self._work.ended(number, unit)

        at_once(requests(), self._params, self._stop_asked, result)

    def _batch(self, number: int, generator: Generator) -> None:
        """Sample the next unit, if there is one."""
        unit = self._work.take(number)
        if unit is None:
            self._stop.wait(LOOK_SECONDS)
            return

        def done(count: int) -> None:
            self._stop_asked()
            self._events.put(_Counted(unit, count))

        def result(index: int, completions: list[Completion]) -> None:
            self._events.put(_Ended(number, unit, index, completions))

        generator.generate(unit.requests, self._params, done, result)
        self._work.ended(number, unit)

    def _stop_asked(self, ended: int = 0) -> None:
        """Raise where nobody waits for the call any more, but not when a sample has just ended: it is reported."""
        if self._stop.is_set() and not ended:
            raise _Stop
