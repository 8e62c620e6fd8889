"""The queue of callers that wait for a sandbox's boxes."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal

from prorl_sandbox.types import SandboxError

When = Literal["free", "alone", "now"]
"""When boxes may start: "free" waits for enough free places; "alone" waits until no other box runs, and keeps others
from starting; "now" raises NoneFree rather than wait.
"""


class NoneFree(Exception):
    """Raised instead of waiting if no boxes are free or another caller waits."""


class Places:
    """``size`` places for boxes, given out in order of request. Time limits exclude the wait. Thread-safe.

    A caller takes all its places in one step, so that callers cannot block each other.
    """

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
        """Lend ``count`` places for the length of a ``with`` block. Raises NoneFree, SandboxError.

        Yields a function that tells whether another caller had a place during the block.
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
        """Give out no more places. Waiting callers get SandboxError."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def await_all(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, seconds)
