"""What a case of a submission needs: its jobs, and how to see them through to an Outcome."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run import judging
from prorl_sandbox.run.compiling import ask, read_artifact, require_tools
from prorl_sandbox.run.conversation import Box, Job, converse
from prorl_sandbox.run.relay import Relay
from prorl_sandbox.types import Outcome, Program

When = Literal["free", "alone", "now"]
"""When boxes are to start: when some are free; when nobody else has any, and nobody gets any before
they end; now or not at all (NoneFree)."""


class NoneFree(Exception):
    """No boxes are free now, or somebody else waits for them."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes that run at once. ``crowded()``: has anything else run on their machine meanwhile?"""

    boxes: list[Box]
    crowded: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Plan:
    """A box for each of ``jobs``, which ``run`` sees through. It raises SandboxError, UserError."""

    jobs: tuple[Job, ...]
    run: Callable[[Boxes], Outcome]


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
    question = None
    if job.call is not None:
        question = (pack_call if job.mode == "serve" else ask)(program.args, nonce)

    def run(made: Boxes) -> Outcome:
        (box,) = made.boxes
        listener = Single(nonce)
        if question is not None:
            box.send(question)
            box.hang_up()
        result = _drive(made, listener)
        if job.command is not None and not job.command.answers:
            # Its program never sees the channel: this is the harness's word.
            require_tools(program, listener.message)
        value = listener.value if result[0] == "ok" else None
        return judging.outcome(box, result, isolation, value)

    return Plan((job,), run)


def plan_job(job: Job, isolation: str, said: Callable[[dict[str, Any] | None], None]) -> Plan:
    """Return the plan of a job that is asked nothing; ``said`` is told what its harness says."""

    def run(made: Boxes) -> Outcome:
        listener = Single("")
        result = _drive(made, listener)
        said(listener.message)
        return judging.outcome(made.boxes[0], result, isolation)

    return Plan((job,), run)


def plan_compilation(job: Job, program: Program, isolation: str) -> Plan:
    """Return the plan of a compiler's run; the Outcome's value is what it has made."""

    def run(made: Boxes) -> Outcome:
        (box,) = made.boxes
        listener = Single("")
        result = _drive(made, listener)
        artifact = read_artifact(program, listener.message) if result[0] == "ok" else None
        if artifact is None:  # a compiler out of time or memory is a compile error too
            result = ("compile-error", None)
        return judging.outcome(box, result, isolation, artifact)

    return Plan((job,), run)


def plan_check(submission: Job, check: Job, isolation: str) -> Plan:
    """Return the plan of a trusted check that calls a submission in another box."""

    def run(made: Boxes) -> Outcome:
        relay = Relay(*made.boxes)
        converse(made.boxes, submission.limits.wall_seconds, relay, made.crowded)
        for box in made.boxes:
            judging.require_start(box)
        return relay.outcome(submission.limits, isolation)

    return Plan((submission, check), run)


def _drive(made: Boxes, listener: Single) -> judging.Judgement:
    """See one box to its end and judge it. Raises SandboxError."""
    (box,) = made.boxes
    converse([box], box.job.limits.wall_seconds, listener, made.crowded)
    judging.require_start(box)
    return judging.judge(box, listener.message)


def pack_call(args: tuple[Any, ...], nonce: str) -> dict[str, Any]:
    """Return the message that asks for one call; raises UserError for what cannot be sent."""
    try:
        plain = wire.decode(wire.encode(list(args)))
    except (wire.Unserialisable, wire.MalformedFrame) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    question = {"k": "call", "name": None, "args": plain, "kwargs": {}, "n": nonce}
    return question | {"revive": False, "opaque": False}
