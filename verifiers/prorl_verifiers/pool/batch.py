"""The items of one call and what has become of them.

A batch holds the caller's own sequence: nothing is copied for items that wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from prorl_common import ServiceError
from prorl_verifiers.types import Task, Verdict

Item = tuple[str, Task]


class PoolClosedError(ServiceError):
    """The pool was closed before every item had its verdict."""


class Batch:
    """Items of one call. Thread-safe. ``items`` are what the threads score; ``explain``: verdicts carry findings.

    ``on_item(index, verdict)`` and ``on_end()`` are called in whatever thread brings the news, the latter
    once; they must not block.
    """

    def __init__(
        self,
        items: Sequence[Item],
        on_end: Callable[[], None],
        on_item: Callable[[int, Verdict], None] | None = None,
        explain: bool = False,
    ) -> None:
        self.items, self.explain = items, explain
        self._on_item, self._on_end = on_item, on_end
        self._lock = threading.Lock()
        self._verdicts: list[Verdict | None] = [None] * len(items)
        self._left = len(items)
        self._error: BaseException | None = None
        self.ended = False
        """True when nothing more is wanted: all verdicts are there, or it failed or was cancelled."""

    def deliver(self, index: int, verdict: Verdict) -> None:
        """Take the verdict of one item; dropped when the batch has ended."""
        with self._lock:
            if self.ended:
                return
            self._verdicts[index] = verdict
            self._left -= 1
            self.ended = self._left == 0
            last = self.ended
        if self._on_item is not None:
            self._on_item(index, verdict)
        if last:
            self._on_end()

    def finish_empty(self) -> None:
        """End a batch without items."""
        self.ended = True
        self._on_end()

    def fail(self, error: BaseException) -> None:
        """End the batch with an error that its caller gets."""
        with self._lock:
            if self.ended:
                return
            self.ended, self._error = True, error
        self._on_end()

    def cancel(self) -> None:
        """End the batch without a word: its caller no longer waits."""
        with self._lock:
            self.ended = True

    def result(self) -> list[Verdict]:
        """Return all verdicts, in order, of a batch that has ended; raises what it failed with."""
        if self._error is not None:
            raise self._error
        return [verdict for verdict in self._verdicts if verdict is not None]


class Job:
    """One item on its way. ``suspect``: it was scored by a worker that then failed a canary."""

    __slots__ = ("batch", "index", "suspect")

    def __init__(self, batch: Batch, index: int, suspect: bool = False) -> None:
        self.batch, self.index, self.suspect = batch, index, suspect

    @property
    def response(self) -> str:
        """The text to score."""
        return self.batch.items[self.index][0]

    @property
    def task(self) -> Task:
        """What to check it against."""
        return self.batch.items[self.index][1]
