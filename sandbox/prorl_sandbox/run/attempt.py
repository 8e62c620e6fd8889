"""One attempt at a case: its jobs, the boxes that do them, and the Outcome in the end.

Several attempts may be under way in one thread: ``move_on`` waits for all of them at once.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run import judging
from prorl_sandbox.run.compiling import read_artifact, require_tools
from prorl_sandbox.run.conversation import QUIET_SECONDS, Box, Conversation, Job
from prorl_sandbox.run.relay import Relay
from prorl_sandbox.types import Outcome, Program, SandboxError


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes that run at once. ``crowded()``: has anything else run on their machine meanwhile?"""

    boxes: list[Box]
    crowded: Callable[[], bool]


When = Literal["free", "alone", "now"]
"""When boxes are to start: when some are free; when nobody else has any, and nobody gets any before
they end; now or not at all (NoneFree)."""


class NoneFree(Exception):
    """No boxes are free now, or somebody else waits for them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a case needs: a box for each of ``jobs``. ``begin`` starts it in them, and returns their
    conversation and what makes its Outcome afterwards."""

    jobs: tuple[Job, ...]
    begin: Callable[[Boxes], tuple[Conversation, Callable[[], Outcome]]]


class Single:
    """Listener of a run with one box: keeps the one message that matters."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce
        self._ready = False
        self.message: dict[str, Any] | None = None
        self.value: Any = None

    def frame(self, box: Box, message: dict[str, Any]) -> None:
        """Keep the one answer; a second one, or one to another question, breaks the protocol."""
        if message["k"] == "ready" and not self._ready:
            self._ready = True
            return
        if self.message is not None:
            raise wire.MalformedFrame("more than one answer")
        if message["k"] == "value":
            if message.get("n") != self.nonce:
                raise wire.MalformedFrame("an answer to no question")
            self.value = wire.decode(message.get("v"))
        self.message = message

    def ended(self, box: Box) -> None:
        """Nothing to do: there is no other box."""


def plan_program(job: Job, program: Program, isolation: str) -> Plan:
    """Return the plan of a program that runs by itself, or has one function called.

    Raises UserError for arguments that cannot be sent.
    """
    nonce = secrets.token_hex(16)
    question = pack_call(program.args, nonce) if job.mode == "serve" else None

    def begin(made: Boxes) -> tuple[Conversation, Callable[[], Outcome]]:
        (box,) = made.boxes
        listener = Single(nonce)
        if question is not None:
            box.send(question)
            box.hang_up()

        def outcome() -> Outcome:
            judging.require_start(box)
            result = judging.judge(box, listener.message)
            if job.mode == "exec":  # its program never sees the channel: this is the harness's word
                require_tools(program, listener.message)
            value = listener.value if result[0] == "ok" else None
            return judging.outcome(box, result, isolation, value)

        seconds = job.limits.wall_seconds
        return Conversation(made.boxes, seconds, listener, made.crowded), outcome

    return Plan((job,), begin)


def plan_compilation(job: Job, program: Program, isolation: str) -> Plan:
    """Return the plan of a compiler's run; the Outcome's value is what it has made."""

    def begin(made: Boxes) -> tuple[Conversation, Callable[[], Outcome]]:
        (box,) = made.boxes
        listener = Single("")

        def outcome() -> Outcome:
            judging.require_start(box)
            result = judging.judge(box, listener.message)
            artifact = read_artifact(program, listener.message) if result[0] == "ok" else None
            if artifact is None:  # a compiler out of time or memory is a compile error too
                result = ("compile-error", None)
            return judging.outcome(box, result, isolation, artifact)

        seconds = job.limits.wall_seconds
        return Conversation(made.boxes, seconds, listener, made.crowded), outcome

    return Plan((job,), begin)


def plan_check(submission: Job, check: Job, isolation: str) -> Plan:
    """Return the plan of a trusted check that calls a submission in another box."""

    def begin(made: Boxes) -> tuple[Conversation, Callable[[], Outcome]]:
        relay = Relay(*made.boxes)

        def outcome() -> Outcome:
            for box in made.boxes:
                judging.require_start(box)
            return relay.outcome(submission.limits, isolation)

        seconds = submission.limits.wall_seconds
        return Conversation(made.boxes, seconds, relay, made.crowded), outcome

    return Plan((submission, check), begin)


class Attempt:
    """A plan under way. Its boxes are gone, and given back, as soon as it is ``finished``."""

    def __init__(self, plan: Plan, boxes: AbstractContextManager[Boxes]) -> None:
        """Start it. Raises what ``boxes`` raises on entering."""
        self.finished = False
        self._result: Outcome | BaseException | None = None
        self._boxes = contextlib.ExitStack()
        made = self._boxes.enter_context(boxes)
        try:
            self.conversation, self._outcome = plan.begin(made)
        except BaseException:
            self._boxes.close()
            raise

    def due(self) -> float:
        """Keep the limits as of now; return for how many seconds nothing is to be done."""
        try:
            return self.conversation.due()
        except (SandboxError, UserError):
            self._fail()
            return 0.0

    def move(self, ready: set[int]) -> None:
        """Take in what has come on the ready descriptors; end it with its boxes."""
        try:
            self.conversation.move(ready)
            if not self.conversation.finished:
                return
            result = self._outcome()
            self._boxes.close()
        except (SandboxError, UserError):
            self._fail()
        else:
            self._result = result
            self.finished = True

    def _fail(self) -> None:
        """End it with the exception that is being handled, of which its boxes may know better."""
        error = sys.exc_info()
        self._result = error[1]
        self.finished = True
        try:
            self._boxes.__exit__(*error)
        except (SandboxError, UserError) as better:
            self._result = better

    def outcome(self) -> Outcome:
        """Return the outcome of a finished attempt. Raises SandboxError, UserError."""
        if isinstance(self._result, BaseException):
            raise self._result
        assert self._result is not None
        return self._result

    def give_up(self) -> None:
        """Kill its boxes, if they still run, and give them back."""
        self.finished = True
        self._boxes.close()


def run_through(plan: Plan, boxes: AbstractContextManager[Boxes]) -> Outcome:
    """See a plan to its end. Raises SandboxError, UserError."""
    attempt = Attempt(plan, boxes)
    try:
        while not attempt.finished:
            move_on([attempt])
        return attempt.outcome()
    finally:
        attempt.give_up()


def move_on(attempts: Sequence[Attempt]) -> None:
    """Wait until something happens in an attempt under way, and take it in."""
    seconds = min(one.due() for one in attempts)
    poller = select.poll()
    under_way = [one for one in attempts if not one.finished]
    for one in under_way:
        for fd, mask in one.conversation.watched():
            poller.register(fd, mask)
    if len(under_way) < len(attempts):
        return
    if any(one.conversation.quiet for one in under_way):
        seconds = min(seconds, QUIET_SECONDS)
    ready = {fd for fd, _ in poller.poll(math.ceil(seconds * 1000))}
    for one in under_way:
        one.move(ready)


def pack_call(args: tuple[Any, ...], nonce: str) -> dict[str, Any]:
    """Return the message that asks for one call; raises UserError for what cannot be sent."""
    try:
        plain = wire.decode(wire.encode(list(args)))
    except (wire.Unserialisable, wire.MalformedFrame) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    return {"k": "call", "args": plain, "kwargs": {}, "n": nonce, "revive": False}
