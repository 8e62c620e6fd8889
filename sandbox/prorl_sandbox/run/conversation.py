"""Drive one box or two until they have ended or broken a limit.

``Box`` is what every backend's box looks like from here; ``Conversation`` moves its bytes, hands
whole messages to a listener and keeps the wall clock.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prorl_sandbox.box import wire
from prorl_sandbox.spec import Command
from prorl_sandbox.types import Limits, SandboxError

SETUP_SECONDS = 60.0
DYING_SECONDS = 30.0
MOST_STRETCH = 4.0
"""A wall limit is stretched by the time that a box was kept from a processor, to this many times at
most."""
_LAG_SECONDS = 0.1
"""How late a box's watcher may say that it was kept waiting."""
CROWDED_CPU = 1.5
"""How many times its processor limit a program may use while others share the machine: who ends
above the limit is run again alone, for shared caches and sibling threads make time dearer."""
QUIET_SECONDS = 0.005
"""How long a stream is left alone after a read that brought little: who writes byte by byte then
costs this process no more than who does not."""
PYTHON_FILE = "program.py"


@dataclass(frozen=True, slots=True)
class Packages:
    """What a Python program may import beside the standard library: the packages of ``environment``,
    which lie in ``folder`` of its box, and of which ``loaded`` are there before its box is made."""

    environment: str = "stdlib"
    folder: str = ""
    loaded: tuple[str, ...] = ()


NO_PACKAGES = Packages()


@dataclass(frozen=True, slots=True)
class Job:
    """What one box is to do. ``mode``: main (run the source), serve (answer calls), check (trusted
    tests), compile (source to ``artifact``) or exec (run an ``artifact``).

    ``stdin`` and ``artifact`` are bytes; ``frame_cap`` is the longest answer in bytes. ``file`` is
    the name under which the program lies in its box; ``command`` is what compile and exec execute;
    ``packages`` are for Python alone.
    """

    mode: str
    source: str
    limits: Limits
    call: str | None = None
    stdin: bytes = b""
    artifact: bytes | None = None
    frame_cap: int = 1024 * 1024
    file: str = PYTHON_FILE
    command: Command | None = None
    packages: Packages = NO_PACKAGES

    @property
    def most_cpu_seconds(self) -> float:
        """Processor seconds after which the box is killed, whoever runs beside it."""
        return self.limits.cpu_seconds * CROWDED_CPU


class Box(Protocol):
    """One running box of any backend. Not thread-safe; ``kill`` alone may come from another thread.

    ``end`` is what the box's supervisor says of the end: {"status": wait status, "cpu": seconds of
    all its processes, "peak_kb", "over": processor time used up, "oom": killed for memory};
    ``fault`` is set when the sandbox itself failed. ``started`` and ``ended`` are when it happened,
    by ``time.monotonic``, not when this process heard of it. ``waited``: seconds that its program
    was ready to run and was kept from a processor; ``over``: it has used more processor time than
    its limit.
    """

    job: Job
    killed_for: str | None
    started: float | None
    ended: float | None
    end: dict[str, Any] | None
    fault: str | None
    waited: float
    over: bool

    @property
    def finished(self) -> bool:
        """True when the program is gone and all it wrote has been read."""
        ...

    def text(self, stream: str) -> str:
        """Return what came on ``stdout`` or ``stderr``, at most the cap."""
        ...

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message for the harness."""
        ...

    def hang_up(self) -> None:
        """End the channel towards the box once all queued messages are written."""
        ...

    def kill(self, reason: str) -> None:
        """Kill every process of the box; the first reason is kept in ``killed_for``."""
        ...

    def next_frame(self) -> dict[str, Any] | None:
        """Take the next whole message; raises what ``wire.split_frame`` raises."""
        ...

    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of everything this box is waiting for, but for
        streams that are to be left alone for ``QUIET_SECONDS``."""
        ...

    @property
    def quiet(self) -> bool:
        """Whether such a stream was left out of ``watched``."""
        ...

    def pump(self, ready: set[int]) -> None:
        """Move bytes on the ready descriptors."""
        ...


class Listener(Protocol):
    """What a ``Conversation`` tells its maker."""

    def frame(self, box: Box, message: dict[str, Any]) -> None:
        """Take a message of the box's harness. May raise MalformedFrame."""

    def ended(self, box: Box) -> None:
        """Note that a box has ended. Called again and again while others live."""


class Conversation:
    """Boxes that run at once, from their start until all have ended.

    The wall clock starts when the last of them starts, and stands while they are kept from a
    processor (up to ``MOST_STRETCH`` times the limit). At the wall limit all are killed
    (``killed_for`` "wall"), and so are a box over its processor limit ("cpu", unless others share
    the machine with it: ``crowded()``) and one whose frame is malformed ("protocol") or too long
    ("output").
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        wall_seconds: float,
        listener: Listener,
        crowded: Callable[[], bool],
    ) -> None:
        self.boxes = boxes
        self._wall_seconds = wall_seconds
        self._listener = listener
        self._crowded = crowded
        self._born = time.monotonic()
        self._deadline: float | None = None
        self._stretched = 0.0

    @property
    def finished(self) -> bool:
        """Whether all boxes have ended."""
        return all(box.finished for box in self.boxes)

    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of everything that the boxes are waiting for."""
        return [one for box in self.boxes for one in box.watched()]

    @property
    def quiet(self) -> bool:
        """Whether something is not in ``watched`` that will be in ``QUIET_SECONDS``."""
        return any(box.quiet for box in self.boxes)

    def due(self) -> float:
        """Kill what is over a limit; return how many seconds may pass until the next look.

        Raises SandboxError when a box never starts or never dies.
        """
        for box in self.boxes:
            if box.over and box.killed_for is None and not self._crowded():
                box.kill("cpu")
        now = time.monotonic()
        if self._deadline is None and all(box.started or box.finished for box in self.boxes):
            started = max(box.started or self._born for box in self.boxes)
            self._deadline = started + self._wall_seconds + _LAG_SECONDS
        if self._deadline is None:
            if now > self._born + SETUP_SECONDS:
                raise SandboxError(f"a box was not ready after {SETUP_SECONDS:.0f} seconds")
            left = self._born + SETUP_SECONDS - now
        elif now < self._deadline:
            left = self._deadline - now
        else:
            left = self._at_deadline(self._deadline, now)
        return left

    def _at_deadline(self, deadline: float, now: float) -> float:
        """Kill all boxes whose time is really up; return how long to wait for what comes of it."""
        poller = select.poll()
        for fd, mask in self.watched():
            poller.register(fd, mask)
        # What came while this thread was kept waiting came in time.
        self.move({fd for fd, _ in poller.poll(0)})
        most = (MOST_STRETCH - 1) * self._wall_seconds
        waited = min(sum(box.waited for box in self.boxes), most)
        if waited > self._stretched:
            self._deadline = deadline + waited - self._stretched
            self._stretched = waited
            return max(0.0, self._deadline - now)
        for box in self.boxes:
            if box.end is None and box.fault is None:
                box.kill("wall")
        if not self.finished and now > deadline + DYING_SECONDS:
            raise SandboxError(f"a box outlived its kill by {DYING_SECONDS:.0f} seconds")
        return 0.0 if self.finished else 1.0

    def move(self, ready: set[int]) -> None:
        """Take in what has come on the ready descriptors, and hand on the messages."""
        for box in self.boxes:
            box.pump(ready)
        for box in self.boxes:
            try:
                while box.killed_for is None and (message := box.next_frame()) is not None:
                    self._listener.frame(box, message)
            except (wire.MalformedFrame, RecursionError):
                box.kill("protocol")
            except OverflowError:
                box.kill("output")
            if box.finished:
                self._listener.ended(box)
