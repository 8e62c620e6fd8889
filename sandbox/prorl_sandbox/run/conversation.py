"""Drive one box or two until they have ended or broken a limit.

``Box`` is what every backend's box looks like from here; ``converse`` moves its bytes, hands whole
messages to a listener and keeps the wall clock.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from prorl_sandbox.box import wire
from prorl_sandbox.run.cancelling import cancellable
from prorl_sandbox.spec import Command
from prorl_sandbox.types import Limits, SandboxError

SETUP_SECONDS = 60.0
DYING_SECONDS = 30.0
MOST_STRETCH = 4.0
"""A wall limit is stretched by the time that a box was kept from a processor, to this many times at
most."""
_LAG_SECONDS = 0.1
"""How late a box's watcher may say that it was kept waiting."""
_WATCHERS_LAG_SECONDS = 0.3
CROWDED_CPU = 1.5
"""How many times its processor limit a program may use while others share the machine: who ends
above the limit is run again alone, for shared caches and sibling threads make time dearer."""
QUIET_SECONDS, QUIET_TALK_SECONDS = 0.02, 0.005
"""How long a stream, and the channel, is left alone after a read that brought little: who writes byte
by byte then costs this process no more than who does not."""
PYTHON_FILE = "program.py"


class BoxLostError(SandboxError):
    """What watches over a box has failed or ended, so nobody can say how the box did."""


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
    tests), session (answer messages), compile (source to ``artifact``), build (run ``command`` and hand
    out all files) or exec (run an ``artifact``).

    ``stdin`` and ``artifact`` are bytes; ``frame_cap`` is the longest answer in bytes. ``file`` is
    the name under which the program lies in its box; ``command`` is what compile and exec execute;
    ``packages`` are for Python alone. ``files`` (relative name to content) lie in the working folder;
    ``argv``: arguments of a Python program, the first being its name among them, if it is one of them.
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
    files: Mapping[str, bytes] = field(default_factory=dict)
    argv: tuple[str, ...] = ()

    @property
    def most_cpu_seconds(self) -> float:
        """Processor seconds after which the box is killed, whoever runs beside it."""
        return self.limits.cpu_seconds * CROWDED_CPU

    @property
    def most_wall_seconds(self) -> float:
        """Seconds by the clock, but for waiting, after which who watches the box kills it, however
        late this process is. A box that talks has a clock with others: this process's."""
        alone = self.mode in ("main", "exec", "compile", "build")
        return self.limits.wall_seconds + _WATCHERS_LAG_SECONDS if alone else math.inf


class Box(Protocol):
    """One running box of any backend. Not thread-safe; ``kill`` alone may come from another thread.

    ``end`` is what the box's supervisor says of the end: {"status": wait status, "cpu": seconds of
    all its processes, "peak_kb", "over": processor time used up, "oom": killed for memory};
    ``fault`` is set when the sandbox itself failed. ``started`` and ``ended`` are when it happened,
    by ``time.monotonic``, not when this process heard of it. ``waited``: seconds that its program
    was ready to run and was kept from a processor; ``over``: it has used more processor time than
    its limit. ``renewals``: how often that has been counted anew; ``spent``: processor seconds
    between the last two times.
    """

    job: Job
    killed_for: str | None
    started: float | None
    ended: float | None
    end: dict[str, Any] | None
    fault: str | None
    waited: float
    over: bool
    renewals: int
    spent: float

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

    def take(self, stream: str) -> bytes:
        """Take away what has come on ``stdout`` or ``stderr`` so far."""
        ...

    def renew(self, cpu_seconds: float, most_cpu_seconds: float, rest: bool) -> None:
        """Have processor time counted anew, under these limits. ``rest``: nothing of the box is to
        run, so it need not be looked at often."""
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
        streams that are to be left alone for now."""
        ...

    @property
    def quiet_until(self) -> float:
        """When the first of the streams left out of ``watched`` is to be looked at, by
        ``time.monotonic``; infinity for none."""
        ...

    def pump(self, ready: set[int]) -> None:
        """Move bytes on the ready descriptors."""
        ...


class Listener(Protocol):
    """What ``converse`` tells its caller."""

    def frame(self, box: Box, message: dict[str, Any]) -> None:
        """Take a message of the box's harness. May raise MalformedFrame."""

    def ended(self, box: Box) -> None:
        """Note that a box has ended. Called again and again while others live."""


def converse(
    boxes: Sequence[Box], wall_seconds: float, listener: Listener, crowded: Callable[[], bool]
) -> None:
    """Drive the boxes until all have ended. The wall clock starts when the last of them starts, and
    stands while they are kept from a processor (up to ``MOST_STRETCH`` times the limit).

    Kills all at the wall limit (``killed_for`` "wall"), a box over its processor limit ("cpu",
    unless others share the machine with it: ``crowded()``), and a box whose frame is malformed
    ("protocol") or too long ("output"). Raises SandboxError when a box never starts or never dies,
    CancelledError when the run was cancelled.
    """
    with cancellable(boxes):
        _until_ended(boxes, wall_seconds, listener, crowded)


def _until_ended(
    boxes: Sequence[Box], wall_seconds: float, listener: Listener, crowded: Callable[[], bool]
) -> None:
    born = time.monotonic()
    deadline: float | None = None
    stretched = 0.0
    while not all(box.finished for box in boxes):
        for box in boxes:
            if box.over and box.killed_for is None and not crowded():
                box.kill("cpu")
        now = time.monotonic()
        if deadline is None and all(box.started or box.finished for box in boxes):
            deadline = max(box.started or born for box in boxes) + wall_seconds + _LAG_SECONDS
        if deadline is None and now > born + SETUP_SECONDS:
            raise SandboxError(f"a box was not ready after {SETUP_SECONDS:.0f} seconds")
        if deadline is not None and now >= deadline:
            move(boxes, 0.0, listener)  # what came while this thread was kept waiting came in time
            waited = min(sum(box.waited for box in boxes), (MOST_STRETCH - 1) * wall_seconds)
            if waited > stretched:
                deadline, stretched = deadline + waited - stretched, waited
                continue
            for box in boxes:
                if box.end is None and box.fault is None:
                    box.kill("wall")
            if all(box.finished for box in boxes):
                return
            if now > deadline + DYING_SECONDS:
                raise SandboxError(f"a box outlived its kill by {DYING_SECONDS:.0f} seconds")
        if deadline is None:
            move(boxes, max(0.0, born + SETUP_SECONDS - now), listener)
        else:
            move(boxes, deadline - now if now < deadline else 1.0, listener)


def move(boxes: Sequence[Box], seconds: float, listener: Listener) -> None:
    """Wait at most so long for bytes, take in those that came and hand on the messages."""
    poller = select.poll()
    for box in boxes:
        for fd, mask in box.watched():
            poller.register(fd, mask)
    first = min(box.quiet_until for box in boxes)
    seconds = max(0.0, min(seconds, first - time.monotonic()))
    ready = {fd for fd, _ in poller.poll(math.ceil(seconds * 1000))}
    for box in boxes:
        box.pump(ready)
    for box in boxes:
        try:
            while box.killed_for is None and (message := box.next_frame()) is not None:
                listener.frame(box, message)
        except (wire.MalformedFrame, RecursionError):
            box.kill("protocol")
        except OverflowError:
            box.kill("output")
        if box.finished:
            listener.ended(box)
