"""End a run from another thread, because nobody waits for it any more."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Protocol

from prorl_sandbox.types import SandboxError


class CancelledError(SandboxError):
    """The run was ended from outside. Says nothing about the program."""


class Killable(Protocol):
    """The part of a box that is used here."""

    def kill(self, reason: str) -> None:
        """Kill every process of the box. May be called from any thread."""


class Cancellation:
    """Covers the runs that one thread makes inside ``covering``; any thread may cancel them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._boxes: list[Killable] = []
        self._cancelled = False

    @contextlib.contextmanager
    def covering(self) -> Iterator[None]:
        """Inside the block, runs of this thread belong to this cancellation."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """Kill the boxes that run, and have every later run raise CancelledError."""
        with self._lock:
            self._cancelled = True
            for box in self._boxes:
                box.kill("cancelled")

    @contextlib.contextmanager
    def running(self, boxes: Sequence[Killable]) -> Iterator[None]:
        """Have the boxes killed when this is cancelled. Raises CancelledError."""
        with self._lock:
            if self._cancelled:
                raise CancelledError("the run was cancelled before it began")
            self._boxes += boxes
        try:
            yield
        finally:
            with self._lock:
                self._boxes = [box for box in self._boxes if box not in boxes]
        if self._cancelled:
            raise CancelledError("the run was cancelled")


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextlib.contextmanager
def cancellable(boxes: Sequence[Killable]) -> Iterator[None]:
    """Let the cancellation that covers this thread, if there is one, end the boxes."""
    cancellation = _current.get()
    if cancellation is None:
        yield
        return
    with cancellation.running(boxes):
        yield
