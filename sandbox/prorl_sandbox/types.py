"""Public types of the sandbox."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, get_args

from prorl_common import ServiceError, UserError

Status = Literal[
    "ok",
    "wrong-exit",
    "runtime-error",
    "timeout",
    "memory",
    "output-limit",
    "compile-error",
    "unserialisable",
    "protocol-error",
    "killed-by-policy",
]
STATUSES: tuple[str, ...] = get_args(Status)


class SandboxError(ServiceError):
    """Raised if the sandbox itself fails, so that the program's result is unknown."""


class IsolationError(UserError):
    """Raised if this machine cannot isolate untrusted code and ``allow_weak`` is not set."""


class CheckerError(UserError):
    """Raised if the trusted test source does not load, defines no ``check``, or sends an invalid argument."""


class LanguageError(UserError):
    """Raised if a language's compiler or interpreter is not installed in the sandbox."""


class SessionEndedError(UserError):
    """Raised if the session is over; the message says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run in seconds, MiB (``_mb``) and KiB (``_kb``).

    ``compile_seconds`` is the compiler's CPU time per source; 0 means the language's default.
    """

    wall_seconds: float = 10.0
    cpu_seconds: float = 5.0
    memory_mb: int = 512
    output_kb: int = 1024
    processes: int = 16
    scratch_mb: int = 64
    compile_seconds: float = 0.0


_RANGES: dict[str, tuple[float, float]] = {
    "wall_seconds": (0.0, 86_400.0),
    "cpu_seconds": (0.0, 86_400.0),
    "memory_mb": (16, 1 << 20),
    "output_kb": (1, 1 << 20),
    "processes": (1, 4096),
    "scratch_mb": (1, 1 << 16),
    "compile_seconds": (0.0, 3600.0),
}


def check_limits(limits: Limits) -> None:
    """Raise UserError if a limit is not a number in its range."""
    for name, (low, high) in _RANGES.items():
        value = getattr(limits, name)
        kinds = (int, float) if name.endswith("_seconds") else (int,)
        number = type(value) in kinds and math.isfinite(value)
        unset = name == "compile_seconds" and value == 0
        if not number or (value <= 0 and not unset) or not low <= value <= high:
            least = f"from {low:g}" if low else "above 0 and up"
            whole = "" if float in kinds else "a whole number "
            raise UserError(f"limit {name} must be {whole}{least} to {high:,.0f}, not {value}")


@dataclass(frozen=True, slots=True)
class Program:
    """An untrusted program and how to run it.

    - ``call``: the function, or ``Class.method``, to call with ``args``. If None, the source runs as a script with
      ``stdin``.
    - ``args``: may contain ``{"ListNode": values}`` and ``{"TreeNode": values}`` for linked lists and trees.
    - ``language``: a name in ``prorl_sandbox.LANGUAGES``. Calls need Python or a language with a ``harness``.
    - ``environment``: packages that Python programs may import: ``stdlib`` (none), ``scientific``, or one made with
      ``prorl sandbox build-env``.
    - ``prelude``: with ``competition``, common modules need no import.
    """

    source: str
    stdin: str = ""
    call: str | None = None
    args: tuple[Any, ...] = ()
    language: str = "python"
    environment: str = "stdlib"
    prelude: str = "none"


@dataclass(frozen=True, slots=True)
class Stdin:
    """Run the program as a script with this standard input."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """Call the program's function ``name``; see ``Program``.

    - ``then``: methods (name, arguments) to call on the returned object. The value is [None, *their results].
    - ``in_place``: index of the argument that the call changes; it then is the value instead of the result.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    then: Sequence[tuple[str, tuple[Any, ...]]] | None = None
    in_place: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Run trusted test source that defines ``check(candidate)``; see ``Sandbox.run_check``."""

    source: str
    entry_point: str


Case = Stdin | Call | Check


@dataclass(frozen=True, slots=True)
class Budget:
    """Total CPU and wall seconds for all cases of one submission."""

    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a program's run.

    - ``value``: result of a function call, made only of built-in types.
    - ``limit``: the exceeded limit, if ``status`` is ``timeout``.
    - ``hint``: explanation of a failure, if known.
    - ``wall_seconds``: duration, including ``waited_seconds`` without a CPU, which do not count towards the wall limit.
    - ``cpu_seconds``: CPU time of all processes. ``peak_mb``: peak resident memory in MiB.
    - ``over_budget``: whether the submission's budget was used up by this case or an earlier one.
    """

    status: Status
    stdout: str = ""
    stderr: str = ""
    value: Any = None
    exit_code: int | None = None
    limit: Literal["wall", "cpu"] | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    waited_seconds: float = 0.0
    peak_mb: float = 0.0
    isolation: str = ""
    over_budget: bool = False
    hint: str = ""


class Session(Protocol):
    """A Python interpreter that runs several messages. Thread-safe.

    It ends if a message exceeds a limit, raises SystemExit or crashes the interpreter, and after too long a time.
    """

    @property
    def ended(self) -> str | None:
        """Why the session has ended, or None."""
        ...

    def run(self, source: str, limits: Limits | None = None) -> Outcome:
        """Run Python source code in the session's interpreter. Raises SessionEndedError, SandboxError.

        If the source ends with an expression, its value is printed, and is ``Outcome.value`` if its type is supported.
        ``exit_code`` is set if the interpreter exited. Of ``limits`` (default: the session's), only wall time, CPU time
        and output apply. ``peak_mb`` is always 0.
        """
        ...

    def close(self) -> None:
        """Kill the session, even while another thread runs a message."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class Sandbox(Protocol):
    """Runs untrusted programs. Thread-safe."""

    isolation: str
    """Isolation level in effect, e.g. ``namespaces+seccomp+landlock+cgroup`` or ``weak:…``."""

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:
        """Run one program in a new process. Raises SandboxError if the sandbox fails."""
        ...

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = Limits(),
    ) -> Outcome:
        """Run trusted test source that defines ``check(candidate)`` against a submission.

        Test and submission run in separate processes; ``candidate`` calls the submission's function ``entry_point``.
        The status is ``ok`` if ``check`` returned.
        """
        ...

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = Limits(),
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run each case of a submission in a new process. Yields outcomes in order.

        ``limits`` apply to each case, ``budget`` to all cases together. The case that uses up the budget is a
        ``timeout`` with ``over_budget``; later cases are not run and get the same outcome. Closing the iterator kills
        running cases. Cases replace ``program.call`` and ``args``, and ``Stdin`` cases also ``stdin``. Raises the
        errors of ``run`` and ``run_check``.
        """
        ...

    def check_environment(self, name: str) -> None:
        """Raise UserError, with the fix, if this environment is unavailable."""
        ...

    def close(self) -> None:
        """Kill everything that the sandbox started and free its resources."""
        ...


class ToolSandbox(Sandbox, Protocol):
    """A sandbox that also opens sessions. Every backend returns one."""

    def open_session(
        self,
        limits: Limits = Limits(),
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> Session:
        """Start a Python interpreter for several messages.

        ``limits`` apply to each message. The session ends after ``idle_seconds`` without a message and after
        ``total_seconds``. Raises UserError if too many sessions are open, SandboxError if the sandbox fails.
        """
        ...
