"""What several workers still have to sample: one list, from which whoever is free takes the next unit.

A unit is what one worker samples by itself: a batch, or a single sample. Units of a worker that is gone are taken
by others, first of all; a unit that a slow worker holds far longer than a free one ever needed is begun by the free
one as well, and the first to end it counts.
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
"""A free worker begins a unit that another has held so many times longer than its own slowest one took,
and for ``SLOW_SECONDS`` at least."""
SLOW_SECONDS = 1.0
UNTRIED_SECONDS = 15.0
"""A free server that has ended nothing yet, so that nobody knows what it needs, begins one that another has held so
long."""


@dataclass(slots=True)
class Unit:
    """Requests that one worker samples in one call. ``holders``: worker -> since when it has the unit, by the
    clock; ``missing``: the requests whose samples the caller has not heard of yet; ``refusals``: what the servers
    that refused it answered."""

    number: int
    requests: Sequence[Request]
    holders: dict[int, float] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    refusals: dict[int, list[Completion]] = field(default_factory=dict)


class SharedWork:
    """The units of one call, for the threads of all workers; a worker is known by its number.

    ``units`` is read as units are taken, so that it may be long. A worker that has ended nothing yet begins, one at a
    time, what another has held for ``untried`` seconds.
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
        """Return a unit for the worker, None where there is none at the moment (or ever, see ``finished``).

        A worker whose units were given back gets one at a time until it has ended one.
        """
        with self._lock:
            if self._closed or (worker in self._on_trial and self._held(worker)):
                return None
            unit = self._lost(worker) or self._next() or self._slow_one(worker)
            if unit is None:
                return None
            unit.holders[worker] = self._clock()
            self._under_way[unit.number] = unit
            return unit

    def ended(self, worker: int, unit: Unit) -> None:
        """Take note that the worker has sampled the unit, which nobody else need do any more."""
        with self._lock:
            self._on_trial.discard(worker)
            if (since := unit.holders.get(worker)) is not None:
                self._slowest[worker] = max(self._slowest.get(worker, 0.0), self._clock() - since)
            self._under_way.pop(unit.number, None)

    def give_back(self, worker: int) -> int:
        """Let others take what the worker holds; return the number of samples that nobody else holds."""
        with self._lock:
            self._on_trial.add(worker)
            alone = [u for u in self._under_way.values() if u.holders.pop(worker, None) is not None]
            alone = [unit for unit in alone if not unit.holders]
            for unit in alone:
                del self._under_way[unit.number]
            self._returned.extend(alone)
            return sum(len(r.seeds) for unit in alone for r in unit.requests)

    def refused(self, worker: int, unit: Unit, completions: list[Completion]) -> None:
        """Let others try the unit, which the worker's server refused."""
        with self._lock:
            unit.refusals[worker] = completions
            unit.holders.pop(worker, None)
            self._on_trial.discard(worker)
            if not unit.holders and self._under_way.pop(unit.number, None) is not None:
                self._returned.append(unit)

    def refused_by_all(self, workers: Collection[int]) -> list[Unit]:
        """Take out and return the units that each of these workers has refused."""
        with self._lock:
            found = [u for u in self._returned if u.refusals.keys() >= set(workers)]
            for unit in found:
                self._returned.remove(unit)
            return found

    def close(self) -> None:
        """Hand out nothing any more."""
        self._closed = True

    @property
    def finished(self) -> bool:
        """Whether every unit was ended, or nothing is handed out any more."""
        with self._lock:
            left = bool(self._returned or self._under_way)
            return self._closed or (self._all_taken and not left)

    def _lost(self, worker: int) -> Unit | None:
        """Return a unit that was given back and that the worker has not refused, but for those whose samples had all
        come before."""
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

    def _slow_one(self, worker: int) -> Unit | None:
        """Return the unit that others have held longest, where that is too long by what the worker needs. A second
        one that took it may be as slow as the first: it counts from when the last one began."""
        own = self._slowest.get(worker)
        if own is None and self._held(worker):
            return None
        not_mine = (u for u in self._under_way.values() if worker not in u.holders)
        others = [unit for unit in not_mine if worker not in unit.refusals]
        if not others:
            return None
        oldest = min(others, key=lambda unit: max(unit.holders.values()))
        held = self._clock() - max(oldest.holders.values())
        patience = self._untried if own is None else max(SLOW * own, SLOW_SECONDS)
        return oldest if held > patience else None
