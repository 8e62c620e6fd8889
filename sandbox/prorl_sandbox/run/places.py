"""Limits how many programs of a sandbox run at once."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal

from prorl_sandbox.types import SandboxError

When = Literal["free", "alone", "now"]
""""free" waits for enough free places, "alone" until no other program runs, "now" raises NoneFree instead of
waiting.
"""


class NoneFree(Exception):
    """Raised if the caller does not want to wait for a place, but would have to."""


class Places:
    """``size`` places for running programs, given out in the order of requests. Thread-safe."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.closed = False
        self._changed = threading.Condition()
        self._line: deque[object] = deque()
        self._busy = self._taken = 0
        self._alone = False

    def are_free(self, count: int) -> bool:
        return not self._line and self._are_enough(count)

    def _are_enough(self, count: int) -> bool:
        return not self._alone and count <= self.size - self._busy

    @contextlib.contextmanager
    def take(self, count: int, when: When = "free") -> Iterator[Callable[[], bool]]:
        """Take ``count`` places at once for the length of a ``with`` block. Raises NoneFree, SandboxError.

        Yields a function that tells whether other callers held places meanwhile.
        """
        me = object()
        with self._changed:
            if when == "now" and not self.are_free(count):
                raise NoneFree
            self._line.append(me)
            needed = self.size if when == "alone" else count
            try:
                self._changed.wait_for(
                    lambda: self.closed or (self._line[0] is me and self._are_enough(needed))
                )
                if self.closed:
                    raise SandboxError("the sandbox is closed")
                self._busy += count
                self._taken += 1
                self._alone = when == "alone"
                taken = self._taken
            finally:
                self._line.remove(me)
                self._changed.notify_all()
        try:
            yield lambda: self._taken > taken or self._busy > count
        finally:
            with self._changed:
                self._busy -= count
                self._alone = self._alone and when != "alone"
                self._changed.notify_all()

    def close(self) -> None:
        """Refuse all requests. Waiting callers get SandboxError."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def await_all(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, seconds)
