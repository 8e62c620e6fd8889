"""Communication with running programs."""

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
"""Maximum factor by which waiting for a CPU extends a wall time limit."""
LAG_SECONDS = 0.1
"""Maximum seconds until a program's waiting for a CPU is reported."""
QUIET_SECONDS, QUIET_TALK_SECONDS = 0.02, 0.005
"""Seconds to wait after a short read of an output stream (or of the channel to the program) before reading again."""
_MOST_KINDS = 20


class BoxLostError(SandboxError):
    """Raised if the process that watches a program has failed, so that the result is unknown."""


@dataclass(frozen=True, slots=True)
class End:
    """How a program ended: wait status, CPU seconds, peak memory in KiB, and whether memory ran out."""

    status: int
    cpu_seconds: float
    peak_kb: int
    out_of_memory: bool


class Box(ABC):
    """A running program. Not thread-safe, except :meth:`kill`.

    - ``fault``: the reason, if the sandbox failed.
    - ``started``, ``ended``: times of ``time.monotonic``.
    - ``waited``: seconds in which no CPU was available.
    - ``over``: whether the CPU limit is exceeded.
    - ``spent``: CPU seconds until the last call of :meth:`renew`.
    - ``quiet_until``: when to read next the streams that :meth:`watched` omits.
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
        """Whether the program has ended and its output has been read."""

    @abstractmethod
    def text(self, stream: str) -> str: ...

    @abstractmethod
    def take(self, stream: str) -> bytes:
        """Remove and return the output that ``stream`` has received so far."""

    @abstractmethod
    def send(self, message: dict[str, Any]) -> None: ...

    @abstractmethod
    def hang_up(self) -> None:
        """Close the channel to the program after all queued messages."""

    @abstractmethod
    def renew(self, cpu_seconds: float, most_cpu_seconds: float, resting: bool) -> None:
        """Count CPU time from 0, with new limits. ``resting`` says that all the program's processes are stopped."""

    def kill(self, reason: str) -> None:
        """Kill all the program's processes. ``killed_for`` keeps the ``reason`` of the first call."""
        if self.killed_for is None:
            self.killed_for = reason
            self._kill()

    @abstractmethod
    def _kill(self) -> None: ...

    @abstractmethod
    def next_frame(self) -> bytes | None:
        """Return the body of the next complete frame, or None. Raises FrameTooLong."""

    @abstractmethod
    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) pairs to wait for."""

    @abstractmethod
    def pump(self, ready: set[int]) -> None: ...


@dataclass(frozen=True, slots=True)
class Boxes:
    """Programs that run together. ``crowded()`` returns whether other callers' programs ran at the same time."""

    boxes: list[Box]
    crowded: Callable[[], bool]


Event = tuple[Box, dict[str, Any] | None]
"""A program and one of its messages. The message None means that the program has ended, and may be repeated."""


def converse(made: Boxes, wall_seconds: float) -> Iterator[Event]:
    """Run the programs until all have ended. Yields their messages.

    The wall time starts when the last program starts, and excludes waiting for a CPU. A program is killed if it exceeds
    the wall time or the maximum output, sends a malformed frame or, unless the machine is shared, exceeds its CPU time.
    Raises SandboxError if a program does not start or does not end.
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
            deadline = max(box.started or born for box in boxes) + wall_seconds + LAG_SECONDS
        if deadline is None and now > born + SETUP_SECONDS:
            raise SandboxError(f"a program did not start in {SETUP_SECONDS:.0f} seconds")
        if deadline is not None and now >= deadline:
            # Bytes that arrived while this thread was delayed count as in time.
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
                raise SandboxError(f"a killed program did not end in {DYING_SECONDS:.0f} seconds")
        if deadline is None:
            yield from move(boxes, max(0.0, born + SETUP_SECONDS - now))
        else:
            yield from move(boxes, deadline - now if now < deadline else 1.0)


def move(boxes: Sequence[Box], seconds: float) -> Iterator[Event]:
    """Wait up to ``seconds`` for data and yield the messages. Kill a program that sends an invalid frame."""
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
    """Passes the calls of a check to the submission, and the results back, and validates both.

    ``passed`` means that the check succeeded, ``cut_off`` that the submission ended before it.
    """

    def __init__(self, submission: Box, check: Box) -> None:
        self.answered = self.passed = self.cut_off = False
        self.submission_message: dict[str, Any] | None = None
        self.check_message: dict[str, Any] | None = None
        self._submission = submission
        self._check = check
        self._ready: list[Box] = []
        self._awaiting_answer = False
        self._nonce = ""

    def take(self, box: Box, message: dict[str, Any]) -> None:
        """Handle a message from ``box``: a call, a result or its end. Raises FrameError for an invalid message."""
        if message["k"] == "ready":
            if box in self._ready:
                raise FrameError("the program reported twice that it is ready")
            self._ready.append(box)
        elif box is self._check:
            self._take_from_check(message)
        else:
            self._take_from_submission(message)

    def _take_from_check(self, message: dict[str, Any]) -> None:
        if message["k"] != "call" or self._awaiting_answer:
            self.check_message = message
            self.passed = message["k"] == "passed"
            self._submission.hang_up()
            return
        self._awaiting_answer = True
        args, odd_args = decode_for_box(message["args"], trusted=True)
        kwargs, odd_kwargs = decode_for_box(message["kwargs"], trusted=True)
        self._nonce = secrets.token_hex(16)
        question = {
            "k": "call",
            "name": message["name"],
            "on": message["on"],
            "args": args,
            "kwargs": kwargs,
            "n": self._nonce,
            "revive": odd_args or odd_kwargs,
            "opaque": True,
        }
        self._submission.send(question)

    def _take_from_submission(self, message: dict[str, Any]) -> None:
        answer = message["k"] in ("value", "raise", "opaque")
        if answer and (not self._awaiting_answer or message.get("n") != self._nonce):
            raise FrameError("the program sent an answer without a question")
        self.submission_message = message
        if not answer:
            self.cut_off = True
            self._check.kill("peer")
            self._submission.hang_up()
            return
        self._awaiting_answer, self.answered = False, True
        match message["k"]:
            case "value":
                value, odd = decode_for_box(message.get("v"))
                self._check.send({"k": "value", "v": value, "revive": odd})
            case "opaque":
                number = message.get("number")
                if type(number) is not int or number < 0:
                    raise FrameError("an object has an invalid number")
                self._check.send({"k": "opaque", "number": number})
            case _:
                kinds = message.get("kinds")
                kinds = kinds[:_MOST_KINDS] if isinstance(kinds, list) else []
                names = [str(kind)[:100] for kind in kinds]
                name = str(message.get("type"))[:100]
                self._check.send({"k": "raise", "type": name, "kinds": names})

    def note_end(self, box: Box) -> None:
        if box is self._submission:
            if self.check_message is None and not self._check.finished:
                self.cut_off = True
                self._check.kill("peer")
        elif self.check_message is None and not self.cut_off and not self._submission.finished:
            self._submission.kill("peer")
