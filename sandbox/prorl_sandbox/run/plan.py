"""Plans of cases: the jobs of the boxes that a case needs."""

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
"""What a box does: run a source, answer calls, run trusted tests, answer messages, compile a source, or run what a
compiler made.
"""
PYTHON_FILE = "program.py"
LONGEST_SOURCE = 4 * 1024 * 1024
"""Maximum characters of a program, and of a session's message."""
CROWDED_CPU = 1.5
"""Factor by which a program may exceed its CPU limit while others share the machine. A program that ends above the
limit is run again alone, because shared caches and sibling threads slow it down.
"""
_WATCHERS_LAG_SECONDS = 0.3
_CHECKER_FRAME = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Packages:
    """The packages of ``environment``, in ``folder``, for a box. Modules in ``loaded`` are imported beforehand."""

    environment: str = "stdlib"
    folder: str = ""
    loaded: tuple[str, ...] = ()


NO_PACKAGES = Packages()


@dataclass(frozen=True, slots=True)
class Job:
    """The task of one box. ``frame_cap`` is the maximum bytes of an answer, ``file`` the program's file name."""

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
        """CPU seconds after which the box is killed even if the machine is shared."""
        return self.limits.cpu_seconds * CROWDED_CPU

    @property
    def most_wall_seconds(self) -> float:
        """Wall seconds after which the box is killed from inside, even if this process is too busy to do it."""
        alone = self.mode in ("main", "exec", "compile")
        return self.limits.wall_seconds + _WATCHERS_LAG_SECONDS if alone else math.inf


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Run a program, or call its function as ``question`` says. The answer must repeat ``nonce``."""

    job: Job
    language: str = "python"
    nonce: str = ""
    question: dict[str, Any] | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """Compile a source; the Outcome's value is the compiler's result."""

    job: Job
    language: str

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.job,)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Run a trusted check against a submission in another box."""

    submission: Job
    check: Job

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (self.submission, self.check)


Plan = ProgramPlan | CompilePlan | CheckPlan


def plan_python(
    program: Program, limits: Limits, packages: Packages, call: Call | None
) -> ProgramPlan:
    """Plan a Python program, or a call of its function. Raises UserError if an argument cannot be sent."""
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
    """Return an argument with ``{"ListNode": values}`` and ``{"TreeNode": values}`` marked for ``objects.revive``."""
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
