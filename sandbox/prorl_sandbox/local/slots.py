"""The host's end of a slot, and the pool that lends slots to runs.

A slot serves one box at a time. The pool starts slots as they are needed, up to its size, lends the
one that has rested longest (its next box is ready) and drops one that misbehaves. Whoever waits for
a slot waits outside any time limit.
"""

from __future__ import annotations

import contextlib
import marshal
import select
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from prorl_sandbox.run.conversation import BoxLostError
from prorl_sandbox.run.plans import NoneFree, When
from prorl_sandbox.types import SandboxError

_MESSAGE = 65536
_REPLY_SECONDS = 30.0
_REST_SECONDS = 0.005
"""A slot has its next box ready after so long."""


class Slot:
    """One slot: takes jobs, says how their boxes ended. Used by one thread at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()
        self.kind: Hashable = None
        self.busy = False
        self.doubtful = False
        self.ended = 0.0  # when its last box did, by ``time.monotonic``

    def fileno(self) -> int:
        """Return the descriptor that is readable when the slot has something to say."""
        return self._control.fileno()

    def start(self, header: dict[str, Any], fds: Sequence[int]) -> None:
        """Give the slot a job: limits for itself, descriptors for the box. Raises BoxLostError."""
        try:
            socket.send_fds(self._control, [marshal.dumps(header, 2)], list(fds))
        except OSError as error:
            raise BoxLostError(f"a slot of the sandbox has ended: {error}") from error
        self.busy = True

    def event(self) -> dict[str, Any] | None:
        """Take the slot's word without waiting; None if it has none. Raises BoxLostError."""
        try:
            data = self._control.recv(_MESSAGE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except ConnectionError:
            data = b""
        if not data:
            raise BoxLostError("a slot of the sandbox has ended")
        event: dict[str, Any] = marshal.loads(data)
        self.busy = self.busy and event["event"] not in ("end", "error")
        self.doubtful = self.doubtful or event["event"] == "error"
        return event

    @property
    def alive(self) -> bool:
        """False when the slot has ended, by whatever hand."""
        try:
            return self._control.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def kill_box(self) -> None:
        """Have the slot kill its box, if it has one. May be called from any thread."""
        with self._lock, contextlib.suppress(OSError):
            if self.busy:
                self._control.send(b"kill")

    def renew(self, limits: dict[str, Any]) -> None:
        """Give the box new limits of processor time, counted from now on."""
        with self._lock, contextlib.suppress(OSError):  # the end is seen where events are
            if self.busy:
                self._control.send(marshal.dumps(limits, 2))

    def hang_up(self) -> None:
        """End the slot and whatever it runs, while another thread may be using this object."""
        with self._lock, contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and let go: the slot ends, and with it whatever it runs."""
        self.hang_up()
        with self._lock:
            self._control.close()


class SlotMaker(Protocol):
    """What makes slots: the template process."""

    def slot(self, request: Any) -> Slot:
        """Make a slot with this view of the machine. Raises SandboxError."""
        ...


class SlotPool:
    """Lends slots of one template, at most ``size`` at a time. Thread-safe."""

    def __init__(self, template: SlotMaker, size: int, request: Callable[[Hashable], Any]) -> None:
        """``request`` says for a kind of slot what to ask the template for."""
        self._template = template
        self._size = size
        self._request = request
        self._changed = threading.Condition()
        self._rested: dict[Hashable, deque[Slot]] = defaultdict(deque)
        self._count: dict[Hashable, int] = defaultdict(int)
        self._lent: set[Slot] = set()
        self._starting = 0
        self._waiting: deque[object] = deque()
        self._lends = 0
        self._alone = False
        self._closed = False

    @property
    def lends(self) -> int:
        """How many slots have been lent so far."""
        return self._lends

    @contextlib.contextmanager
    def lend(self, kinds: Sequence[Hashable], when: When = "free") -> Iterator[list[Slot]]:
        """Yield a slot of each kind, all at once or none; first come, first served.

        Slots still busy when given back are told to kill their box; one that does not answer is
        dropped. Raises NoneFree, SandboxError.
        """
        slots = self._take(kinds, when)
        try:
            yield slots
        finally:
            self._alone = self._alone and when != "alone"
            for slot in slots:
                self._give_back(slot)

    def busy_beside(self, count: int) -> bool:
        """Tell whether more than ``count`` slots are lent."""
        return len(self._lent) + self._starting > count

    def _take(self, kinds: Sequence[Hashable], when: When) -> list[Slot]:
        me = object()
        with self._changed:
            if when == "now" and not self.are_free(len(kinds)):
                raise NoneFree
            self._waiting.append(me)
            try:
                needed = self._size if when == "alone" else len(kinds)
                self._changed.wait_for(
                    lambda: self._closed or (self._waiting[0] is me and self._enough(needed))
                )
                if self._closed:
                    raise SandboxError("the sandbox is closed")
                self._starting += len(kinds)
                self._lends += len(kinds)
                self._alone = when == "alone"
            finally:
                self._waiting.remove(me)
                self._changed.notify_all()
        taken: list[Slot] = []
        try:
            for kind in kinds:
                taken.append(self._find(kind))
        finally:
            with self._changed:
                self._starting -= len(kinds)
                self._lent.update(taken)
                self._changed.notify_all()
            if len(taken) < len(kinds):
                self._alone = self._alone and when != "alone"
                for slot in taken:
                    self._give_back(slot)
        return taken

    def are_free(self, count: int) -> bool:
        """Tell whether so many slots are free and nobody waits for one."""
        return not self._waiting and self._enough(count)

    def _enough(self, count: int) -> bool:
        free = self._size - len(self._lent) - self._starting
        return count <= free and not self._alone

    def _find(self, kind: Hashable) -> Slot:
        """Return a slot of ``kind`` that has rested, so that its next box is ready, else a new one;
        when there are as many as there may be, the one that has rested longest."""
        with self._changed:
            rested = self._rested[kind]
            while rested:
                slot = rested[0]
                tired = time.monotonic() - slot.ended < _REST_SECONDS
                if tired and self._count[kind] < self._size:
                    break
                rested.popleft()
                if slot.alive:
                    return slot
                self._drop(slot)
            self._count[kind] += 1
        try:
            slot = self._template.slot(self._request(kind))
        except SandboxError:
            with self._changed:
                self._count[kind] -= 1
            raise
        slot.kind = kind
        return slot

    def _drop(self, slot: Slot) -> None:
        slot.close()
        self._count[slot.kind] -= 1

    def _give_back(self, slot: Slot) -> None:
        alive = self._calm(slot)
        with self._changed:
            self._lent.discard(slot)
            if alive and not self._closed:
                slot.ended = time.monotonic()
                self._rested[slot.kind].append(slot)
            else:
                self._drop(slot)
            self._changed.notify_all()

    @staticmethod
    def _calm(slot: Slot) -> bool:
        """Wait until the slot has no box running; False when it is gone or does not answer."""
        deadline = time.monotonic() + _REPLY_SECONDS
        slot.kill_box()
        poller = select.poll()
        try:
            poller.register(slot, select.POLLIN)
            while slot.busy:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                poller.poll(left * 1000)
                slot.event()
        except (SandboxError, ValueError):  # ended, or closed by another thread
            return False
        return slot.alive and not slot.doubtful

    def close(self) -> None:
        """Hang up on every slot; those lent end under their borrowers, who get SandboxError."""
        with self._changed:
            self._closed = True
            for slots in self._rested.values():
                while slots:
                    slots.pop().close()
            for slot in self._lent:
                slot.hang_up()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._lent and not self._starting, _REPLY_SECONDS)
