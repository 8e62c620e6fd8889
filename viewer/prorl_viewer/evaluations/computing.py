"""Work that takes longer than a page may wait: done once in the background, one at a time, and kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
KEPT = 12
"""Outcomes that are kept; the oldest go."""
PATIENCE = 0.25
"""Seconds that a caller waits for work that may be quick."""


class OnDemand:
    """Outcomes by key. ``done`` grows with each one, so that who shows them knows when to ask again."""

    def __init__(self) -> None:
        self.done = 0
        self._known: dict[Hashable, Future[object]] = {}
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def get(
        self, key: Hashable, work: Callable[[], T], patience: float | None = PATIENCE
    ) -> T | None:
        """Return what ``work`` returns (never None), or None while it is still at it; None waits to the end.

        What it raises is raised to everyone who asks.
        """
        with self._lock:
            future = self._known.get(key)
            if future is None:
                future = self._known[key] = Future()
                for old in list(self._known)[:-KEPT]:
                    del self._known[old]
                # a daemon: Ctrl-C must not wait for a bootstrap
                threading.Thread(target=self._do, args=(future, work), daemon=True).start()
        try:
            return future.result(patience)  # type: ignore[return-value]
        except TimeoutError:
            return None

    def _do(self, future: Future[object], work: Callable[[], object]) -> None:
        with self._one_at_a_time:
            try:
                outcome = work()
            except BaseException as error:  # noqa: BLE001 - raised again to whoever asks
                future.set_exception(error)
            else:
                future.set_result(outcome)
        self.done += 1
