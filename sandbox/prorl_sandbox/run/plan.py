"""What a case of a submission needs: the jobs of its boxes, made from the program, the case and its limits.

A plan is data: ``run.case`` sees it through in boxes of any backend.
"""

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
"""What a box does: run a source, answer calls, run trusted tests, answer messages, compile a source, or
run what was compiled."""
PYTHON_FILE = "program.py"
CROWDED_CPU = 1.5
"""How many times its processor limit a program may use while others share the machine: who ends
above the limit is run again alone, for shared caches and sibling threads make time dearer."""
_WATCHERS_LAG_SECONDS = 0.3
_CHECKER_FRAME = 16 * 1024 * 1024


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
    """What one box is to do.

    ``frame_cap`` is the longest answer in bytes. ``file`` is the name under which the program lies in
    its box; ``command`` is what compile and exec execute; ``packages`` are for Python alone.
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
        """Processor seconds after which the box is killed, whoever runs beside it."""
        return self.limits.cpu_seconds * CROWDED_CPU

    @property
    def most_wall_seconds(self) -> float:
        """Seconds by the clock, but for waiting, after which who watches the box kills it, however
        late this process is. A box that talks has a clock with others: this process's."""
        alone = self.mode in ("main", "exec", "compile")
        return self.limits.wall_seconds + _WATCHERS_LAG_SECONDS if alone else math.inf


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A program runs by itself, or answers one ``question``: a call of its function."""

    job: Job
    language: str = "python"
    nonce: str = ""
    question: dict[str, Any] | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """A box for the program."""
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """A compiler makes an artifact, which is the value of the Outcome."""

    job: Job
    language: str

    @property
    def jobs(self) -> tuple[Job, ...]:
        """A box for the compiler."""
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """A trusted check calls a submission in another box."""

    submission: Job
    check: Job

    @property
    def jobs(self) -> tuple[Job, ...]:
        """A box for each of the two."""
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
    """Plan a check of a Python program, whose boxes have packages of their own."""
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
