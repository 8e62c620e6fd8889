"""Plans that describe how to run a test case."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from prorl_common import UserError
from prorl_common.frames import FrameError
from prorl_sandbox.box import columns, objects, wire
from prorl_sandbox.run.decoding import decode
from prorl_sandbox.spec import Command
from prorl_sandbox.types import Call, Check, Limits, Program

Mode = Literal["main", "serve", "check", "session", "compile", "exec"]
"""What a process does: run a program, answer calls, run a check or session, compile, or execute a compiled program."""
PYTHON_FILE = "program.py"
LONGEST_SOURCE = 4 * 1024 * 1024
"""Maximum characters of a program, and of a session's message."""
CROWDED_CPU = 1.5
"""Factor by which a program may exceed its CPU limit while other programs run. It is then run again alone."""
_WATCHERS_LAG_SECONDS = 0.3
_CHECKER_FRAME = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages that a program can import, and the modules that are ``loaded`` before it starts."""

    environment: str = "stdlib"
    folder: str = ""
    loaded: tuple[str, ...] = ()


NO_PACKAGES = Packages()


@dataclass(frozen=True, slots=True)
class Job:
    """What one process of the sandbox does. ``frame_cap`` is the maximum size of its answer in bytes."""

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
    prelude: bool = False

    @property
    def most_cpu_seconds(self) -> float:
        """CPU seconds after which the program is killed even if other programs slow it down."""
        return self.limits.cpu_seconds * CROWDED_CPU

    @property
    def most_wall_seconds(self) -> float:
        """Wall seconds after which the process that watches the program kills it, if the host has not."""
        alone = self.mode in ("main", "exec", "compile")
        return self.limits.wall_seconds + _WATCHERS_LAG_SECONDS if alone else math.inf


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Run a program or, if ``question`` is set, call one of its functions. Only a result with ``nonce`` counts."""

    job: Job
    language: str = "python"
    nonce: str = ""
    question: dict[str, Any] | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """Compile a source. The Outcome's value is the compiled program."""

    job: Job
    language: str

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Run a submission and a trusted check of it, each in its own process."""

    submission: Job
    check: Job

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.submission, self.check)


Plan = ProgramPlan | CompilePlan | CheckPlan


def plan_python(
    program: Program, limits: Limits, packages: Packages, call: Call | None
) -> ProgramPlan:
    """Plan a run of a Python program, or a call of its function. Raises UserError for an unsupported argument."""
    job = Job(
        "main" if call is None else "serve",
        program.source,
        limits,
        None if call is None else call.name,
        program.stdin.encode("utf-8", "replace"),
        frame_cap=limits.output_kb * 1024,
        packages=packages,
        prelude=program.prelude == "competition",
    )
    if call is None:
        return ProgramPlan(job)
    nonce = secrets.token_hex(16)
    then = None if call.then is None else [[name, list(args)] for name, args in call.then]
    try:
        args, kwargs, then = decode(wire.encode([list(call.args), dict(call.kwargs), then]))
    except (wire.Unserialisable, wire.TooLarge, FrameError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    question = {
        "k": "call",
        "name": None,
        "on": None,
        "args": _with_nodes(args),
        "kwargs": _with_nodes(kwargs),
        "then": _with_nodes(then),
        "in_place": call.in_place,
        "n": nonce,
        "revive": True,
        "opaque": False,
    }
    return ProgramPlan(job, "python", nonce, question)


def _with_nodes(value: Any) -> Any:
    """Mark each ``{"ListNode": values}`` and ``{"TreeNode": values}`` in an argument for conversion."""
    match value:
        case list():
            return [_with_nodes(item) for item in value]
        case tuple():
            return tuple(map(_with_nodes, value))
        case dict():
            kind, values = next(iter(value.items()), (None, None))
            if len(value) == 1 and kind in objects.FIELDS and isinstance(values, list):
                return (columns.MARK, kind, [values])
            return {key: _with_nodes(item) for key, item in value.items()}
    return value


def plan_check(
    program: Program, check: Check, limits: Limits, packages: Packages, check_packages: Packages
) -> CheckPlan:
    submission = Job(
        "serve",
        program.source,
        limits,
        check.entry_point,
        program.stdin.encode("utf-8", "replace"),
        frame_cap=limits.output_kb * 1024,
        packages=packages,
        prelude=program.prelude == "competition",
    )
    checker = Job("check", check.source, limits, frame_cap=_CHECKER_FRAME, packages=check_packages)
    return CheckPlan(submission, checker)
