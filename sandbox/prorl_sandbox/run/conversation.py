"""The boxes of one run while they run: what a box of any backend looks like from here, how its bytes are
moved under the wall limit, and the talk between a trusted check's box and the submission's.
"""

from __future__ import annotations

import math
import secrets
import select
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common.frames import FrameError, FrameTooLong
from prorl_sandbox.run.decoding import decode_for_box, read_message
from prorl_sandbox.run.plan import Job
from prorl_sandbox.types import SandboxError

SETUP_SECONDS = 60.0
DYING_SECONDS = 30.0
MOST_STRETCH = 4.0
"""A wall limit is stretched by the time that a box was kept from a processor, to this many times at
most."""
_LAG_SECONDS = 0.1
"""How late a box's watcher may say that it was kept waiting."""
QUIET_SECONDS, QUIET_TALK_SECONDS = 0.02, 0.005
"""How long a stream, and the channel, is left alone after a read that brought little: who writes byte
by byte then costs this process no more than who does not."""
_MOST_KINDS = 20


class BoxLostError(SandboxError):
    """What watches over a box has failed or ended, so nobody can say how the box did."""


@dataclass(frozen=True, slots=True)
class End:
    """How a box ended: the wait status of its program, the processor seconds of all its processes, its
    peak of resident memory, and whether it was killed for memory."""

    status: int
    cpu_seconds: float
    peak_kb: int
    out_of_memory: bool


class Box(ABC):
    """One running box of any backend. Not thread-safe; ``kill`` alone may come from another thread.

    ``killed_for`` is the first reason to kill it; ``fault`` is set when the sandbox itself failed.
    ``started`` and ``ended`` are when it happened, by ``time.monotonic``, not when this process heard
    of it. ``waited``: seconds that its program was ready to run and was kept from a processor;
    ``over``: it has used more processor time than its limit. ``renewals``: how often that has been
    counted anew; ``spent``: processor seconds between the last two times. ``quiet_until``: when the
    first of the streams left out of ``watched`` is to be looked at.
    """

    killed_for: str | None = None
    started: float | None = None
    ended: float | None = None
    end: End | None = None
    fault: str | None = None
    waited = 0.0
    over = False
    renewals = 0
    spent = 0.0
    quiet_until = math.inf

    def __init__(self, job: Job) -> None:
        self.job = job

    @property
    @abstractmethod
    def finished(self) -> bool:
        """True when the program is gone and all it wrote has been read."""

    @abstractmethod
    def text(self, stream: str) -> str:
        """Return what came on ``stdout`` or ``stderr``, at most the cap."""

    @abstractmethod
    def take(self, stream: str) -> bytes:
        """Take away what has come on ``stdout`` or ``stderr`` so far."""

    @abstractmethod
    def send(self, message: dict[str, Any]) -> None:
        """Queue a message for the harness."""

    @abstractmethod
    def hang_up(self) -> None:
        """End the channel towards the box once all queued messages are written."""

    @abstractmethod
    def renew(self, cpu_seconds: float, most_cpu_seconds: float, rest: bool) -> None:
        """Have processor time counted anew, under these limits. ``rest``: nothing of the box is to
        run, so it need not be looked at often."""

    def kill(self, reason: str) -> None:
        """Kill every process of the box; the first reason is kept in ``killed_for``."""
        if self.killed_for is None:
            self.killed_for = reason
            self._kill()

    @abstractmethod
    def _kill(self) -> None:
        """Have its processes killed."""

    @abstractmethod
    def next_frame(self) -> bytes | None:
        """Take the body of the next whole frame. Raises FrameTooLong."""

    @abstractmethod
    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of everything this box is waiting for, but for
        streams that are to be left alone for now."""

    @abstractmethod
    def pump(self, ready: set[int]) -> None:
        """Move bytes on the ready descriptors."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes that run at once. ``crowded()``: has anything else run on their machine meanwhile?"""

    boxes: list[Box]
    crowded: Callable[[], bool]


Event = tuple[Box, dict[str, Any] | None]
"""A message of a box's harness; None: the box has ended, which is told again while others live."""


def converse(made: Boxes, wall_seconds: float) -> Iterator[Event]:
    """Drive the boxes until all have ended, and yield what they say.

    The wall clock starts when the last of them starts, and stands while they are kept from a
    processor (up to ``MOST_STRETCH`` times the limit). Kills all at the wall limit (``killed_for``
    "wall"), a box over its processor limit ("cpu", unless others share the machine with it), and a box
    whose frame is malformed ("protocol") or too long ("output"). Raises SandboxError when a box never
    starts or never dies.
    """
    boxes = made.boxes
    born = time.monotonic()
    deadline: float | None = None
    stretched = 0.0
    while not all(box.finished for box in boxes):
        for box in boxes:
            if box.over and box.killed_for is None and not made.crowded():
                box.kill("cpu")
        now = time.monotonic()
        if deadline is None and all(box.started or box.finished for box in boxes):
            deadline = max(box.started or born for box in boxes) + wall_seconds + _LAG_SECONDS
        if deadline is None and now > born + SETUP_SECONDS:
            raise SandboxError(f"a box was not ready after {SETUP_SECONDS:.0f} seconds")
        if deadline is not None and now >= deadline:
            # What came while this thread was kept waiting came in time.
            yield from move(boxes, 0.0)
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
            yield from move(boxes, max(0.0, born + SETUP_SECONDS - now))
        else:
            yield from move(boxes, deadline - now if now < deadline else 1.0)


def move(boxes: Sequence[Box], seconds: float) -> Iterator[Event]:
    """Wait at most so long for bytes, take in those that came and yield the messages.

    Messages that follow one for which the box was killed are thrown away.
    """
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
            while box.killed_for is None and (body := box.next_frame()) is not None:
                yield box, read_message(body)
        except FrameTooLong:
            box.kill("output")
        except FrameError:
            box.kill("protocol")
        if box.finished:
            yield box, None


class Relay:
    """The host between a trusted check and the submission that it calls.

    One question at a time; every value is decoded and checked here before it goes on. Nothing is
    compared: the check's own assertions decide. ``answered``: the submission has answered a call.
    ``passed``: the check says that it returned. ``cut_off``: the submission ended before the check did.
    """

    def __init__(self, submission: Box, check: Box) -> None:
        self.answered = self.passed = self.cut_off = False
        self.submission_message: dict[str, Any] | None = None
        self.check_message: dict[str, Any] | None = None
        self._submission = submission
        self._check = check
        self._ready: list[Box] = []
        self._asked = False
        self._nonce = ""

    def take(self, box: Box, message: dict[str, Any]) -> None:
        """Pass a message on, or note it as the end of the run. Raises FrameError."""
        if message["k"] == "ready":
            if box in self._ready:
                raise FrameError("ready once more")
            self._ready.append(box)
        elif box is self._check:
            self._take_from_check(message)
        else:
            self._take_from_submission(message)

    def _take_from_check(self, message: dict[str, Any]) -> None:
        if message["k"] != "call" or self._asked:
            self.check_message = message
            self.passed = message["k"] == "passed"
            self._submission.hang_up()
            return
        self._asked = True
        args, odd_args = decode_for_box(message["args"])
        kwargs, odd_kwargs = decode_for_box(message["kwargs"])
        self._nonce = secrets.token_hex(16)
        question = {
            "k": "call",
            "name": message["name"],
            "args": args,
            "kwargs": kwargs,
            "n": self._nonce,
            "revive": odd_args or odd_kwargs,
            "opaque": True,
        }
        self._submission.send(question)

    def _take_from_submission(self, message: dict[str, Any]) -> None:
        answer = message["k"] in ("value", "raise", "opaque")
        if answer and (not self._asked or message.get("n") != self._nonce):
            raise FrameError("an answer without a question")
        self.submission_message = message
        if not answer:
            self.cut_off = True
            self._check.kill("peer")
            self._submission.hang_up()
            return
        self._asked, self.answered = False, True
        match message["k"]:
            case "value":
                value, odd = decode_for_box(message.get("v"))
                self._check.send({"k": "value", "v": value, "revive": odd})
            case "opaque":
                self._check.send({"k": "opaque", "truth": message.get("truth") is True})
            case _:
                kinds = message.get("kinds")
                kinds = kinds[:_MOST_KINDS] if isinstance(kinds, list) else []
                names = [str(kind)[:100] for kind in kinds]
                name = str(message.get("type"))[:100]
                self._check.send({"k": "raise", "type": name, "kinds": names})

    def note_end(self, box: Box) -> None:
        """When one box has ended, kill the other one, which has nothing left to do."""
        if box is self._submission:
            if self.check_message is None and not self._check.finished:
                self.cut_off = True
                self._check.kill("peer")
        elif self.check_message is None and not self.cut_off and not self._submission.finished:
            self._submission.kill("peer")
