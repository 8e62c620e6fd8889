"""Counters of a pool's work."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from prorl_verifiers.types import Task, Verdict

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PoolStats:
    """A pool's counters since its start. ``queued`` and ``busy`` are current values."""

    items: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Number of verdicts by (verifier, status)."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds of work by verifier, including retries but not waiting."""
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds of the workers by verifier. A killed item counts as its limit."""
    queued: int = 0
    """Number of waiting items."""
    busy: int = 0
    """Number of working threads of all kinds."""
    workers: int = 0
    worker_starts: int = 0
    worker_kills: int = 0
    """Workers killed after a timeout, limit, crash, bug or failed canary."""
    worker_recycles: int = 0
    """Workers replaced because of their age."""
    template_starts: int = 0
    retries: int = 0
    canary_failures: int = 0
    unjudged: int = 0
    """Answers with reward 0 because the verifier fails on them only. Each is a bug of the verifier."""
    rescored: int = 0
    """Verdicts that were discarded because canaries failed or were not reached."""
    doubtful: int = 0
    """Verdicts of workers that failed a deep canary when they retired."""


class Counters:
    """The counters behind ``PoolStats``. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: Counter[tuple[str, str]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._cpu_seconds: Counter[str] = Counter()
        self._events: Counter[str] = Counter()

    def add(self, event: str, count: int = 1) -> None:
        with self._lock:
            self._events[event] += count

    def add_verdict(self, verifier: str, verdict: Verdict) -> None:
        with self._lock:
            self._items[verifier, verdict.status] += 1
            self._seconds[verifier] += verdict.seconds  # type: ignore[assignment]

    def add_cpu_seconds(self, verifier: str, seconds: float) -> None:
        with self._lock:
            self._cpu_seconds[verifier] += seconds  # type: ignore[assignment]

    def blame(self, response: str, task: Task, fault: Verdict) -> Verdict:
        """Count and log an answer that makes its verifier fail. Return a verdict with reward 0."""
        self.add("unjudged")
        _LOG.error(
            "a bug of the %s verifier: it cannot judge one answer (%s), which gets reward 0: %.200r",
            *(task.verifier, fault.reason, response),
        )
        return replace(fault, reward=0.0, status="unparsable", reason="could not be judged")

    def snapshot(self, queued: int, busy: int, workers: int) -> PoolStats:
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
