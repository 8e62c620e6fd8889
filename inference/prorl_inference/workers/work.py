"""Divide a call into units (batches or samples) that idle workers take.

An idle worker also repeats a unit for which another worker needs too long.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from prorl_inference.types import Completion, Request

SLOW = 2.0
"""A unit is repeated if its worker needs this many times as long as the idle worker did for its slowest unit."""
SLOW_SECONDS = 1.0
UNTRIED_SECONDS = 15.0
"""Seconds after which a server that has not finished a unit yet repeats another server's unit."""


@dataclass(slots=True)
class Unit:
    """Requests that one worker samples in one call.

    ``holders`` has the start time of each worker that is sampling the unit, ``refusals`` the completions of each worker
    whose server refused it. ``missing`` are the indices of requests without a result.
    """

    number: int
    requests: Sequence[Request]
    holders: dict[int, float] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    refusals: dict[int, list[Completion]] = field(default_factory=dict)


class SharedWork:
    """The units (sets of requests) of one call, shared by the workers' threads.

    A worker that has finished nothing repeats another's unit after ``untried`` seconds.
    """

    def __init__(
        self,
        units: Iterable[Sequence[Request]],
        clock: Callable[[], float] = time.monotonic,
        untried: float = math.inf,
    ) -> None:
        self._units = enumerate(units)
        self._clock, self._untried = clock, untried
        self._lock = threading.Lock()
        self._returned: deque[Unit] = deque()
        self._under_way: dict[int, Unit] = {}
        self._all_taken = self._closed = False
        self._slowest: dict[int, float] = {}
        self._on_trial: set[int] = set()

    def take(self, worker: int) -> Unit | None:
        """Return requests for ``worker``, or None if it must wait; ask again until :attr:`finished`."""
        with self._lock:
            if self._closed or (worker in self._on_trial and self._held(worker)):
                return None
            unit = self._take_returned(worker) or self._next() or self._find_slow(worker)
            if unit is None:
                return None
            unit.holders[worker] = self._clock()
            self._under_way[unit.number] = unit
            return unit

    def ended(self, worker: int, unit: Unit) -> None:
        with self._lock:
            self._on_trial.discard(worker)
            if (since := unit.holders.get(worker)) is not None:
                self._slowest[worker] = max(self._slowest.get(worker, 0.0), self._clock() - since)
            self._under_way.pop(unit.number, None)

    def give_back(self, worker: int) -> int:
        """Offer the units of a failed worker to other workers. Returns the number of samples in them."""
        with self._lock:
            self._on_trial.add(worker)
            alone = [u for u in self._under_way.values() if u.holders.pop(worker, None) is not None]
            alone = [unit for unit in alone if not unit.holders]
            for unit in alone:
                del self._under_way[unit.number]
            self._returned.extend(alone)
            return sum(len(r.seeds) for unit in alone for r in unit.requests)

    def refused(self, worker: int, unit: Unit, completions: list[Completion]) -> None:
        """Record that the worker's server refused a unit, and offer the unit to other workers."""
        with self._lock:
            unit.refusals[worker] = completions
            unit.holders.pop(worker, None)
            self._on_trial.discard(worker)
            if not unit.holders and self._under_way.pop(unit.number, None) is not None:
                self._returned.append(unit)

    def refused_by_all(self, workers: Collection[int]) -> list[Unit]:
        """Remove and return the units that all ``workers`` have refused."""
        with self._lock:
            refused = [u for u in self._returned if u.refusals.keys() >= set(workers)]
            for unit in refused:
                self._returned.remove(unit)
            return refused

    def close(self) -> None:
        self._closed = True

    @property
    def finished(self) -> bool:
        """Whether all units have ended, or :meth:`close` was called."""
        with self._lock:
            unfinished = bool(self._returned or self._under_way)
            return self._closed or (self._all_taken and not unfinished)

    def _take_returned(self, worker: int) -> Unit | None:
        for unit in list(self._returned):
            if unit.missing and worker in unit.refusals:
                continue
            self._returned.remove(unit)
            if unit.missing:
                return unit
        return None

    def _next(self) -> Unit | None:
        if self._all_taken:
            return None
        for number, requests in self._units:
            return Unit(number, requests, missing=set(range(len(requests))))
        self._all_taken = True
        return None

    def _held(self, worker: int) -> int:
        return sum(worker in unit.holders for unit in self._under_way.values())

    def _find_slow(self, worker: int) -> Unit | None:
        """Return the unit that another worker is slowest with, if ``worker`` should sample it too."""
        slowest = self._slowest.get(worker)
        if slowest is None and self._held(worker):
            return None
        not_mine = (u for u in self._under_way.values() if worker not in u.holders)
        candidates = [unit for unit in not_mine if worker not in unit.refusals]
        if not candidates:
            return None
        oldest = min(candidates, key=lambda unit: max(unit.holders.values()))
        held = self._clock() - max(oldest.holders.values())
        patience = self._untried if slowest is None else max(SLOW * slowest, SLOW_SECONDS)
        return oldest if held > patience else None
