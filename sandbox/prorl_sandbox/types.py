"""The words of the sandbox: Program in, Outcome out, SandboxError when the sandbox itself is at
fault.

Holds no mechanism. A program that fails is an Outcome; only a failing sandbox raises.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
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
    """The sandbox failed (no fork, no namespace, engine down). Says nothing about the program."""


class IsolationError(UserError):
    """This machine cannot isolate untrusted code and ``allow_weak`` was not given."""


class CheckerError(UserError):
    """The trusted test source does not compile, defines no ``check`` or asks the impossible."""


class LanguageError(UserError):
    """The compiler or interpreter of a language is not installed where boxes run."""


class SessionEndedError(UserError):
    """A message to a session that is over; the text says at which message and how it ended."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run: seconds, mebibytes, kibibytes.

    ``compile_seconds``: processor time of the compiler, once for a source; 0: the language's own
    (``LanguageSpec.compile_seconds``).
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
    """Raise UserError for a limit that is not a number in its range."""
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
    """Untrusted source and what to do with it.

    Without ``call`` the source runs as ``__main__`` with ``stdin``. With ``call`` it is loaded and
    the function (or ``Class.method``, or the method of that name of a class ``Solution``) is called
    with the positional ``args``; the return value comes back as ``Outcome.value``. ``language`` is
    a name of ``prorl_sandbox.LANGUAGES``; other languages than Python are compiled (or checked) in
    a box of their own first, and those with a ``harness`` (JavaScript) take a ``call`` too, with
    arguments that JSON has. ``environment`` names the packages that a Python program may import: ``stdlib`` for
    none, ``scientific``, or one made by ``prorl sandbox build-env``.
    """

    source: str
    stdin: str = ""
    call: str | None = None
    args: tuple[Any, ...] = ()
    language: str = "python"
    environment: str = "stdlib"


@dataclass(frozen=True, slots=True)
class Stdin:
    """A case: the program runs as ``__main__`` with this standard input."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A case: the program is loaded and its function ``name`` called; see ``Program``."""

    name: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A case: trusted test source that defines ``check(candidate)``; see ``Sandbox.run_check``."""

    source: str
    entry_point: str


Case = Stdin | Call | Check


@dataclass(frozen=True, slots=True)
class Budget:
    """What all cases of one submission may use together, in seconds of processor time and by the
    clock."""

    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened. ``value`` is made of None, bool, int, float, str, list, tuple, dict, set,
    and where the program asks for them complex, bytes and frozenset; of these exact types only.

    ``limit`` says which limit a ``timeout`` hit (``wall`` or ``cpu``). ``wall_seconds`` run from
    the program's start, never from the queue or the box's making; ``waited_seconds`` of them it was
    ready and kept from a processor, which the wall limit does not count; ``cpu_seconds`` is the
    processor time of all its processes, also of those that were killed; ``peak_mb`` is resident
    memory. ``over_budget``: a case that used up the budget of all cases, or came after one.
    ``hint``: what a person should know of a failure, such as which environment has a module that
    was missing.
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
    """A Python interpreter in a box of its own, for several messages. Thread-safe: messages of one
    session and of its forks take turns.

    Ends when a message runs into a limit, breaks the interpreter or raises SystemExit, and when it
    is idle or lives for too long. Then ``run`` and ``fork`` raise SessionEndedError.
    """

    @property
    def ended(self) -> str | None:
        """Why it is over, in words; None while it takes messages."""
        ...

    def run(self, source: str, limits: Limits | None = None) -> Outcome:
        """Run one message and say what came of it. Raises SessionEndedError, SandboxError.

        The value of a last expression is shown on standard output as an interpreter shows it, and
        is ``value`` if it can leave the box. An exception is ``runtime-error`` and a message that
        does not parse ``compile-error``; the session goes on. ``exit_code`` is set when the message
        has ended it. ``limits`` (default: the session's): wall and processor time and output of
        this message alone; the others hold for the box, from its making on. ``peak_mb`` is 0.
        """
        ...

    def fork(self) -> Session:
        """Return a second session that starts with this one's state: a copy of its process.

        Threads are not copied. Both live in one box: memory, processes and scratch folder are
        shared, and whatever ends the box ends both, closing the opened session too. A limit that a
        message breaks ends its own session alone.
        """
        ...

    def close(self) -> None:
        """Kill it and all that it has started, also while another thread runs a message."""
        ...

    def __enter__(self) -> Self:
        """Return itself."""
        ...

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        ...


class Sandbox(Protocol):
    """A place to run untrusted programs. Thread-safe: ``run`` may be called from many threads."""

    isolation: str
    """The isolation level that holds, e.g. ``namespaces+seccomp+landlock+cgroup`` or ``weak:…``."""

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:
        """Run one program in a fresh box. Raises SandboxError when the sandbox itself fails."""
        ...

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = Limits(),
    ) -> Outcome:
        """Run trusted test source ``checker`` (defines ``check(candidate)``) against a submission.

        The checker runs in a box of its own; ``candidate`` there calls ``entry_point`` in the
        submission's box over a typed pipe. ``ok`` means that check returned without raising.
        """
        ...

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = Limits(),
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run the cases of one submission, each in a fresh box; yield an outcome a case, in order.

        ``limits`` hold for each case. With a ``budget`` a case also gets no more than is left of
        it; the one that uses it up is a ``timeout`` that is ``over_budget``, and those after it
        are not run and say the same. Outcomes come as they are known; closing the iterator ends
        what still runs and runs no more. ``program.call`` and ``args`` do not count here, nor does
        its ``stdin`` where a case has its own. Raises what ``run`` and ``run_check`` raise.
        """
        ...

    def check_environment(self, name: str) -> None:
        """Raise UserError, with the cure, unless programs can have this environment here."""
        ...

    def close(self) -> None:
        """Kill what this sandbox started and free its resources."""
        ...


class ToolSandbox(Sandbox, Protocol):
    """A sandbox that also opens sessions: every backend that ``open_sandbox`` returns."""

    def open_session(
        self,
        limits: Limits = Limits(),
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> Session:
        """Open a session in a box of its own, beside those of runs.

        ``limits``: of each message; ``environment``: what it can import, see ``Program``;
        ``idle_seconds``, ``total_seconds``: how long it may wait for a message, and live. Raises UserError when as many are open as this sandbox allows,
        SandboxError when the sandbox fails.
        """
        ...
