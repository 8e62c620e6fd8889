"""What every backend shares: a program becomes boxes' jobs, their messages become an Outcome.

``BoxSandbox`` leaves to a backend only how boxes are made and ended.
"""

from __future__ import annotations

import math
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from typing import Any, assert_never

from prorl_common import Closing, UserError
from prorl_sandbox.box import wire
from prorl_sandbox.environments.store import STDLIB_ONLY, Environment
from prorl_sandbox.run import judging
from prorl_sandbox.run.cases import Account
from prorl_sandbox.run.compiling import (
    ArtifactCache,
    compile_job,
    exec_job,
    read_artifact,
    require_tools,
)
from prorl_sandbox.run.conversation import (
    CROWDED_CPU,
    MOST_STRETCH,
    NO_PACKAGES,
    Box,
    Job,
    Packages,
    converse,
)
from prorl_sandbox.run.relay import Relay
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import Budget, Call, Case, Check, Limits, Outcome, Program, Stdin

_DEFAULT_LIMITS = Limits()
_CHECKER_FRAME = 16 * 1024 * 1024
_LONGEST_SOURCE = 4 * 1024 * 1024
_BYTE_ORDER_MARK = "\ufeff"
_RANGES: dict[str, tuple[float, float]] = {
    "wall_seconds": (0.0, 86_400.0),
    "cpu_seconds": (0.0, 86_400.0),
    "memory_mb": (16, 1 << 20),
    "output_kb": (1, 1 << 20),
    "processes": (1, 4096),
    "scratch_mb": (1, 1 << 16),
}


class _Single:
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


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes that run at once. ``crowded()``: has anything else run on their machine meanwhile?"""

    boxes: list[Box]
    crowded: Callable[[], bool]


class BoxSandbox(Closing, ABC):
    """Implements ``Sandbox`` over boxes of any kind. Thread-safe if ``_boxes`` is."""

    isolation: str

    def __init__(self, isolation: str) -> None:
        self.isolation = isolation
        self._artifacts = ArtifactCache()
        self._environments = {STDLIB_ONLY.name: STDLIB_ONLY}

    @abstractmethod
    def _boxes(self, jobs: Sequence[Job], alone: bool) -> AbstractContextManager[Boxes]:
        """Start a box for each job at once, and see to it that all are gone afterwards.

        Waits while none is free; ``alone``: while any other box of this sandbox runs, and none is
        started before the end. Raises SandboxError.
        """

    @abstractmethod
    def _environment(self, name: str) -> Environment:
        """Return an environment that is built where boxes run. Raises UserError with the cure."""

    def check_environment(self, name: str) -> None:
        """Raise UserError, with the cure, unless programs can have this environment here."""
        self._find(name)

    def _find(self, name: str) -> Environment:
        found = self._environments.get(name)
        if found is None:
            found = self._environments[name] = self._environment(name)
        return found

    def _packages(self, program: Program, source: str) -> Packages:
        """Return what a box has that runs ``source``, the program's or its checker's."""
        if program.environment == STDLIB_ONLY.name:
            return NO_PACKAGES
        found = self._find(program.environment)
        return Packages(found.name, found.folder, found.preload_for(source))

    @abstractmethod
    def close(self) -> None:
        """Kill every box of this sandbox; runs in other threads raise SandboxError."""

    def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """Run one program in a fresh box; see ``Sandbox.run``.

        Raises SandboxError when the sandbox fails, UserError for arguments that cannot be sent and
        for a language that is not installed.
        """
        case: Case = Stdin(program.stdin)
        if program.call is not None:
            case = Call(program.call, program.args)
        return next(self.run_cases(program, [case], limits))

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Outcome:
        """Run ``checker`` against the program, each in its own box; see ``Sandbox.run_check``.

        Both share one wall and one processor-time budget; the other limits hold for each. Raises
        SandboxError, and CheckerError (a UserError) when the checker itself is at fault. Arguments
        travel by value: what the submission does to a list is not seen by the checker.
        """
        return next(self.run_cases(program, [Check(checker, entry_point)], limits))

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = _DEFAULT_LIMITS,
        budget: Budget | None = None,
    ) -> Iterator[Outcome]:
        """Run the cases of one submission, each in a fresh box; see ``Sandbox.run_cases``."""
        check_limits(limits)
        program = replace(program, source=program.source.removeprefix(_BYTE_ORDER_MARK))
        return self._each(program, cases, limits, Account(budget, limits))

    def _each(
        self, program: Program, cases: Sequence[Case], limits: Limits, account: Account
    ) -> Iterator[Outcome]:
        for case in cases:
            if account.spent:
                yield account.nothing_left(self.isolation)
                continue
            yield account.charge(self._run_case(program, case, account.limits()))

    def _run_case(self, program: Program, case: Case, limits: Limits) -> Outcome:
        if len(program.source) > _LONGEST_SOURCE:
            return self._too_long()
        match case:
            case Stdin(text=stdin):
                return self._run_program(replace(program, stdin=stdin, call=None, args=()), limits)
            case Call(name=name, args=args):
                return self._run_program(replace(program, call=name, args=args), limits)
            case Check():
                return self._run_check(program, case, limits)

    def _run_program(self, program: Program, limits: Limits) -> Outcome:
        spec = LANGUAGES.get(program.language)
        if spec.run is None:
            mode = "main" if program.call is None else "serve"
            stdin = program.stdin.encode("utf-8", "replace")
            job = Job(
                mode,
                program.source,
                limits,
                program.call,
                stdin,
                frame_cap=limits.output_kb * 1024,
                packages=self._packages(program, program.source),
            )
            return _fairly(lambda alone: self._run_one(job, program, alone), limits)
        if program.call is not None:
            raise UserError(f"a call needs Python: {program.language} programs run with stdin")
        if program.environment != STDLIB_ONLY.name:
            raise UserError(f"an environment needs Python: {program.language} has none")
        artifact: bytes | Outcome = program.source.encode("utf-8", "replace")
        if spec.compile:
            artifact = self._compile(program, spec)
        if isinstance(artifact, Outcome):
            return artifact
        run = exec_job(program, spec, artifact, limits)
        return _fairly(lambda alone: self._run_one(run, program, alone), limits)

    def _too_long(self) -> Outcome:
        text = f"the source is longer than {_LONGEST_SOURCE} characters\n"
        return Outcome("compile-error", stderr=text, isolation=self.isolation)

    def _run_one(self, job: Job, program: Program, alone: bool) -> Outcome:
        nonce = secrets.token_hex(16)
        question = pack_call(program.args, nonce) if job.mode == "serve" else None
        listener = _Single(nonce)
        with self._boxes([job], alone) as made:
            (box,) = made.boxes
            if question is not None:
                box.send(question)
                box.hang_up()
            result = _drive(made, listener)
            if job.mode == "exec":  # its program never sees the channel: this is the harness's word
                require_tools(program, listener.message)
            value = listener.value if result[0] == "ok" else None
            return judging.outcome(box, result, self.isolation, value)

    def _compile(self, program: Program, spec: LanguageSpec) -> bytes | Outcome:
        """Return what to execute, or the Outcome of a compilation that failed."""
        known = self._artifacts.get(program)
        if known is not None:
            return known
        job = compile_job(program, spec)
        listener = _Single("")
        with self._boxes([job], alone=False) as made:
            (box,) = made.boxes
            result = _drive(made, listener)
            artifact = read_artifact(program, listener.message) if result[0] == "ok" else None
            if artifact is None:  # a compiler out of time or memory is a compile error too
                return judging.outcome(box, ("compile-error", None), self.isolation)
        self._artifacts.put(program, artifact)
        return artifact

    def _run_check(self, program: Program, case: Check, limits: Limits) -> Outcome:
        if LANGUAGES.get(program.language).run is not None:
            raise UserError(f"a check needs Python: {program.language} programs run with stdin")
        cap = limits.output_kb * 1024
        stdin = program.stdin.encode("utf-8", "replace")
        own, theirs = (self._packages(program, text) for text in (program.source, case.source))
        jobs = [
            Job(
                "serve",
                program.source,
                limits,
                case.entry_point,
                stdin,
                frame_cap=cap,
                packages=own,
            ),
            Job("check", case.source, limits, frame_cap=_CHECKER_FRAME, packages=theirs),
        ]

        def attempt(alone: bool) -> Outcome:
            with self._boxes(jobs, alone) as made:
                submission, check = made.boxes
                relay = Relay(submission, check)
                converse(made.boxes, limits.wall_seconds, relay, made.crowded)
                judging.require_start(submission)
                judging.require_start(check)
                return relay.outcome(limits, self.isolation)

        return _fairly(attempt, limits)


def _fairly(attempt: Callable[[bool], Outcome], limits: Limits) -> Outcome:
    """Return the outcome of an attempt, made again alone where others may be why it took too long.

    That is so when it used more processor time than its limit while others shared the machine, and
    yet came to an end; and when it was kept from a processor for all the time that a wall limit is
    stretched by. What it does alone counts.
    """
    outcome = attempt(False)
    return attempt(True) if _may_be_others(outcome, limits) else outcome


def _may_be_others(outcome: Outcome, limits: Limits) -> bool:
    match outcome.limit:
        case None:
            return False
        case "cpu":
            ended = outcome.exit_code is not None  # by itself
            return ended and outcome.cpu_seconds < limits.cpu_seconds * CROWDED_CPU
        case "wall":
            return outcome.waited_seconds >= limits.wall_seconds * (MOST_STRETCH - 1)
        case _:
            assert_never(outcome.limit)


def machine_is_busy() -> bool:
    """Tell whether more threads of this machine want to run than it has processors (the load of the
    last minute)."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def _drive(made: Boxes, listener: _Single) -> judging.Judgement:
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
    return {"k": "call", "args": plain, "kwargs": {}, "n": nonce, "revive": False}


def check_limits(limits: Limits) -> None:
    """Raise UserError for a limit that is no number in its range."""
    for name, value in asdict(limits).items():
        low, high = _RANGES[name]
        kinds = (int, float) if name.endswith("_seconds") else (int,)
        number = type(value) in kinds and math.isfinite(value)
        if not number or value <= 0 or not low <= value <= high:
            least = f"from {low:g}" if low else "above 0 and up"
            whole = "" if float in kinds else "a whole number "
            raise UserError(f"limit {name} must be {whole}{least} to {high:,.0f}, not {value}")
