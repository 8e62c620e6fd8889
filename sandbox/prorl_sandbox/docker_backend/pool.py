"""Who gets which container, first come, first served; containers are made when first needed.

A run that needs two takes both at once, so that no two runs can wait for each other.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from prorl_common import UserError
from prorl_sandbox.docker_backend.container import Container, Need
from prorl_sandbox.run.plans import NoneFree, When
from prorl_sandbox.types import SandboxError

Maker = Callable[[Need], Container]


_MOST_RESTING = 4
"""Containers with other packages that a slot keeps beside the one in use."""


class Slot:
    """A place for one container at work, which may be empty, where others rest that have other
    packages loaded."""

    def __init__(self) -> None:
        self.container: Container | None = None
        self._resting: list[Container] = []

    def find(self, need: Need) -> Container | None:
        """Return the container that has the need's packages, the one at work or one that rests."""
        here = [self.container] if self.container is not None else []
        return next((c for c in (*here, *self._resting) if c.packages == need.packages), None)

    def prepare(self, need: Need, make: Maker) -> Container:
        """Return a container that meets ``need``: one that is here if it fits, else a new one."""
        found = self.find(need)
        if found is not self.container:
            if self.container is not None:
                self._resting.append(self.container)
            self.container = found
            if found is not None:
                self._resting.remove(found)
            elif len(self._resting) > _MOST_RESTING:
                self._resting.pop(0).discard()
        if self.container is not None and not self.container.fits(need):
            self.drop()
        if self.container is not None:
            try:
                self.container.set_memory(need)
            except SandboxError:  # less than it still uses: a new one has no such history
                self.drop()
        if self.container is None:
            self.container = make(need)
        return self.container

    def drop(self) -> None:
        """Remove the container at work for good."""
        container, self.container = self.container, None
        if container is not None:
            container.discard()

    def clear(self) -> None:
        """Remove all containers for good."""
        self.drop()
        while self._resting:
            self._resting.pop().discard()


class Pool:
    """``size`` slots. Thread-safe."""

    def __init__(self, size: int, make: Maker) -> None:
        self._size = size
        self._make = make
        self._changed = threading.Condition()
        self._free = [Slot() for _ in range(size)]
        self._busy: list[Slot] = []
        self._line: deque[object] = deque()
        self._alone = False
        self._closed = False
        self.takes = 0

    def shared(self, takes: int, count: int) -> bool:
        """Tell whether others than a run's ``count`` slots are in use, or were taken since
        ``takes``."""
        return self.takes > takes or len(self._busy) > count

    @contextlib.contextmanager
    def take(self, needs: Sequence[Need], when: When = "free") -> Iterator[list[Slot]]:
        """Wait for a slot for each need, prepare their containers, give them back afterwards.

        ``takes`` counts the calls. A slot whose container may not serve again must be emptied by
        the caller. Raises NoneFree, and SandboxError when the sandbox is closed or a container
        cannot be had.
        """
        if len(needs) > self._size:
            raise UserError(
                f"this needs {len(needs)} containers at once: open the sandbox with more"
            )
        slots = self._wait(needs, when)
        try:
            for slot, need in zip(slots, needs, strict=True):
                slot.prepare(need, self._make)
            if self._closed:
                raise SandboxError("the sandbox is closed")
            yield slots
        finally:
            self._alone = self._alone and when != "alone"
            self._give_back(slots)

    def _wait(self, needs: Sequence[Need], when: When) -> list[Slot]:
        ticket = object()
        count = self._size if when == "alone" else len(needs)
        with self._changed:
            if when == "now" and not (self.are_free(len(needs)) and self._are_warm(needs)):
                raise NoneFree
            self._line.append(ticket)
            try:
                while not self._closed and (
                    self._alone or self._line[0] is not ticket or len(self._free) < count
                ):
                    self._changed.wait()
            finally:
                self._line.remove(ticket)
                self._changed.notify_all()
            if self._closed:
                raise SandboxError("the sandbox is closed")
            self.takes, self._alone = self.takes + 1, when == "alone"
            slots = [self._best(need) for need in needs]
            self._busy += slots
            return slots

    def are_free(self, count: int) -> bool:
        """Tell whether so many slots are free and nobody waits for one."""
        return not self._line and not self._alone and len(self._free) >= count

    def _are_warm(self, needs: Sequence[Need]) -> bool:
        """Tell whether a container that need not be changed is free for each of these equal needs."""
        warm = [c for slot in self._free if (c := slot.container) is not None]
        return len(needs) <= sum(c.fits(needs[0]) and c.has_memory(needs[0]) for c in warm)

    def _best(self, need: Need) -> Slot:
        """Take the free slot that needs the least change: memory as it should be, else a fit."""

        def change(slot: Slot) -> int:
            container = slot.find(need)
            if container is None:
                return 2
            return 3 if not container.fits(need) else int(not container.has_memory(need))

        slot = min(self._free, key=change)
        self._free.remove(slot)
        return slot

    def _give_back(self, slots: Sequence[Slot]) -> None:
        with self._changed:
            for slot in slots:
                self._busy.remove(slot)
            self._free += slots
            closed = self._closed
            self._changed.notify_all()
        if closed:
            for slot in slots:
                slot.clear()

    def close(self) -> None:
        """Remove every container; runs under way in other threads fail with SandboxError."""
        with self._changed:
            self._closed = True
            free, busy = list(self._free), [slot.container for slot in self._busy]
            self._changed.notify_all()
        for container in busy:
            if container is not None:
                container.destroy()
        for slot in free:
            slot.clear()
