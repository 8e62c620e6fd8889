"""Plans of cases: the jobs of their boxes, as data that ``run.case`` executes."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from prorl_common import UserError
from prorl_common.frames import FrameError
from prorl_sandbox.box import wire
from prorl_sandbox.run.decoding import decode
from prorl_sandbox.spec import Command
from prorl_sandbox.types import Check, Limits, Program

Mode = Literal["main", "serve", "check", "session", "compile", "exec"]
"""Purpose of a box: run a source, answer calls, run trusted tests, answer messages, compile a source, or run an
artifact.
"""
PYTHON_FILE = "program.py"
CROWDED_CPU = 1.5
"""Factor by which a program may exceed its processor limit while others share the machine. A program that ends above
the limit is run again alone, because shared caches and sibling threads slow it down.
"""
_WATCHERS_LAG_SECONDS = 0.3
_CHECKER_FRAME = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages that a Python program may import: those of ``environment``, in ``folder`` of its box; ``loaded`` are
    imported before the box is made.
    """

    environment: str = "stdlib"
    folder: str = ""
    loaded: tuple[str, ...] = ()


NO_PACKAGES = Packages()


@dataclass(frozen=True, slots=True)
class Job:
    """The task of one box.

    ``frame_cap`` is the maximum answer in bytes; ``file`` the program's file name in the box; ``command`` the command
    for compile and exec; ``packages`` is for Python only.
    """

    mode: Mode
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
        """Processor seconds after which the box is killed in any case."""
        return self.limits.cpu_seconds * CROWDED_CPU

    @property
    def most_wall_seconds(self) -> float:
        """Wall seconds, without waiting, after which the box's watcher kills it even if this process is delayed. Boxes
        that talk are timed by this process only.
        """
        alone = self.mode in ("main", "exec", "compile")
        return self.limits.wall_seconds + _WATCHERS_LAG_SECONDS if alone else math.inf


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Runs a program, or has it answer one ``question``: a call of its function."""

    job: Job
    language: str = "python"
    nonce: str = ""
    question: dict[str, Any] | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The program's job."""
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """Compiles a source; the Outcome's value is the artifact."""

    job: Job
    language: str

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The compiler's job."""
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Runs a trusted check that calls a submission in another box."""

    submission: Job
    check: Job

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs of submission and check."""
        return (self.submission, self.check)


Plan = ProgramPlan | CompilePlan | CheckPlan


def plan_python(program: Program, limits: Limits, packages: Packages) -> ProgramPlan:
    """Plan a Python program. Raises UserError for arguments that cannot be sent."""
    job = Job(
        "main" if program.call is None else "serve",
        program.source,
        limits,
        program.call,
        program.stdin.encode("utf-8", "replace"),
        frame_cap=limits.output_kb * 1024,
        packages=packages,
    )
    if program.call is None:
        return ProgramPlan(job)
    nonce = secrets.token_hex(16)
    return ProgramPlan(job, "python", nonce, _call_of_python(program.args, nonce))


def _call_of_python(args: tuple[Any, ...], nonce: str) -> dict[str, Any]:
    try:
        plain = decode(wire.encode(list(args)))
    except (wire.Unserialisable, FrameError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    question = {"k": "call", "name": None, "args": plain, "kwargs": {}, "n": nonce}
    return question | {"revive": False, "opaque": False}


def plan_check(
    program: Program, check: Check, limits: Limits, packages: Packages, check_packages: Packages
) -> CheckPlan:
    """Plan a check of a Python program; the two boxes may have different packages."""
    submission = Job(
        "serve",
        program.source,
        limits,
        check.entry_point,
        program.stdin.encode("utf-8", "replace"),
        frame_cap=limits.output_kb * 1024,
        packages=packages,
    )
    checker = Job("check", check.source, limits, frame_cap=_CHECKER_FRAME, packages=check_packages)
    return CheckPlan(submission, checker)
