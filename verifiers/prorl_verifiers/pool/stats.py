"""What a pool has done so far: counters that any thread may add to, and a snapshot of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from prorl_verifiers.types import Verdict


@dataclass(frozen=True, slots=True)
class PoolStats:
    """A moment of a pool. Counts go up from the pool's opening; ``queued`` and ``busy`` are of now."""

    items: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(verifier, status) -> verdicts."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Verifier -> seconds of work on its items, retries included, waiting left out."""
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    """Verifier -> processor seconds of its items in the workers; of an item that was killed, its limit's."""
    queued: int = 0
    """Items that wait for their turn."""
    busy: int = 0
    """Threads at work: at most ``workers``, one more for a moment, and those at long texts (``pool.queue``)."""
    workers: int = 0
    worker_starts: int = 0
    worker_kills: int = 0
    """Workers ended for a timeout, a limit, a crash, a bug or a wrong canary."""
    worker_recycles: int = 0
    """Workers replaced because of their age."""
    template_starts: int = 0
    retries: int = 0
    canary_failures: int = 0
    rescored: int = 0
    """Verdicts thrown away and made again because no good canary covered them."""
    doubtful: int = 0
    """Verdicts handed out by workers that failed a deep canary when they retired."""


class Counters:
    """The counters behind ``PoolStats``. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: Counter[tuple[str, str]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._cpu_seconds: Counter[str] = Counter()
        self._events: Counter[str] = Counter()

    def add(self, event: str, count: int = 1) -> None:
        """Count ``event``, the name of a field of ``PoolStats``."""
        with self._lock:
            self._events[event] += count

    def verdict(self, verifier: str, verdict: Verdict) -> None:
        """Count a verdict."""
        with self._lock:
            self._items[verifier, verdict.status] += 1
            self._seconds[verifier] += verdict.seconds  # type: ignore[assignment]

    def cpu(self, verifier: str, seconds: float) -> None:
        """Count processor time."""
        with self._lock:
            self._cpu_seconds[verifier] += seconds  # type: ignore[assignment]

    def snapshot(self, queued: int, busy: int, workers: int) -> PoolStats:
        """Return everything as of now."""
        with self._lock:
            return PoolStats(
                dict(self._items),
                dict(self._seconds),
                dict(self._cpu_seconds),
                queued,
                busy,
                workers,
                **self._events,
            )
