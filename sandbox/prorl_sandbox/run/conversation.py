"""Drive one box or two until they have ended or broken a limit.

``Box`` is what every backend's box looks like from here; ``converse`` moves its bytes, hands whole
messages to a listener and keeps the wall clock.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prorl_sandbox.box import wire
from prorl_sandbox.spec import Command
from prorl_sandbox.types import Limits, SandboxError

SETUP_SECONDS = 60.0
DYING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """What one box is to do. ``mode``: main (run the source), serve (answer calls), check (trusted
    tests), compile (source to ``artifact``) or exec (run an ``artifact``).

    ``stdin`` and ``artifact`` are bytes; ``frame_cap`` is the longest answer in bytes. ``file`` is
    the name under which the program lies in its box; ``command`` is what compile and exec execute.
    """

    mode: str
    source: str
    limits: Limits
    call: str | None = None
    stdin: bytes = b""
    artifact: bytes | None = None
    frame_cap: int = 1024 * 1024
    file: str = "program.py"
    command: Command | None = None


class Box(Protocol):
    """One running box of any backend. Not thread-safe; ``kill`` alone may come from another thread.

    ``end`` is what the box's supervisor says of the end: {"status": wait status, "cpu": seconds of
    all its processes, "peak_kb", "over": processor time used up, "oom": killed for memory};
    ``fault`` is set when the sandbox itself failed. ``started`` and ``ended`` are when it happened,
    by ``time.monotonic``, not when this process heard of it.
    """

    job: Job
    killed_for: str | None
    started: float | None
    ended: float | None
    end: dict[str, Any] | None
    fault: str | None

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
        """Return (file descriptor, poll mask) of everything this box is waiting for."""
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


def converse(boxes: Sequence[Box], wall_seconds: float, listener: Listener) -> None:
    """Drive the boxes until all have ended. The wall clock starts when the last of them starts.

    Kills all at the wall limit (``killed_for`` "wall"), and a box whose frame is malformed
    ("protocol") or too long ("output"). Raises SandboxError when a box never starts or never dies.
    """
    born = time.monotonic()
    deadline: float | None = None
    while not all(box.finished for box in boxes):
        now = time.monotonic()
        if deadline is None and all(box.started or box.finished for box in boxes):
            deadline = max(box.started or born for box in boxes) + wall_seconds
        if deadline is None and now > born + SETUP_SECONDS:
            raise SandboxError(f"a box was not ready after {SETUP_SECONDS:.0f} seconds")
        if deadline is not None and now >= deadline:
            _move(boxes, 0.0, listener)  # what came while this thread was kept waiting came in time
            for box in boxes:
                if box.end is None and box.fault is None:
                    box.kill("wall")
            if all(box.finished for box in boxes):
                return
            if now > deadline + DYING_SECONDS:
                raise SandboxError(f"a box outlived its kill by {DYING_SECONDS:.0f} seconds")
        if deadline is None:
            _move(boxes, max(0.0, born + SETUP_SECONDS - now), listener)
        else:
            _move(boxes, deadline - now if now < deadline else 1.0, listener)


def _move(boxes: Sequence[Box], seconds: float, listener: Listener) -> None:
    """Wait so long for bytes, take in those that came and hand on the messages."""
    poller = select.poll()
    for box in boxes:
        for fd, mask in box.watched():
            poller.register(fd, mask)
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
