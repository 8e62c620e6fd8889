"""Runs the program inside the box in the job's mode and reports on the channel.

Expected answers are never in this process, so a program can forge only its own answer. Answers carry their question's
nonce.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import sys
from os import _exit, getpid
from types import CodeType, ModuleType

from prorl_sandbox.box import columns, foreign, limits, preload, session, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# Bound before any program runs, see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

_OF_THE_RUN = ("MemoryError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError")
"""Exceptions that a check sees as their base class, because they need arguments or are caused by a limit."""
_REFUSED_METHODS = [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "hash",
    "len",
    "iter",
    "next",
    "contains",
    "getitem",
    "call",
    "str",
    "repr",
    "format",
    "int",
    "float",
    "index",
    "complex",
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "rmatmul",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rlshift",
    "rshift",
    "rrshift",
    "neg",
    "pos",
    "abs",
    "invert",
    "round",
    "reversed",
    "enter",
    "exit",
]
"""Special methods of an opaque value that raise; only its truth value is available."""
_ENDS_OF_LOOPS = ("StopIteration", "StopAsyncIteration")
"""A check sees these exceptions as themselves only if its source names them. Otherwise a submission could end the
check's loops, and so its tests, as if all had passed (``all(map(candidate, ...))``).
"""


class CandidateError(Exception):
    """Base class of the submission's own exceptions; ``type_name`` is the original name."""

    type_name = ""


class OpaqueError(BaseException):
    """Raised if a check uses more than an opaque value's truth value."""


class Submission:
    """The submission as a check sees it; ``misused`` is True after an OpaqueError."""

    def __init__(self, channel: int, checker: str) -> None:
        self._channel = channel
        self._hidden = (*_OF_THE_RUN, *(one for one in _ENDS_OF_LOOPS if one not in checker))
        self.misused = False

    def function(self, name: str | None) -> Callable[..., Any]:
        """Return a proxy for the submission's function; None means its entry point."""

        def candidate(*args: Any, **kwargs: Any) -> Any:
            call = {"k": "call", "args": wire.encode(list(args)), "kwargs": wire.encode(kwargs)}
            wire.write_all(self._channel, wire.pack(call | {"name": name}))
            reply = wire.read_frame(self._channel)
            if reply is None:
                raise SystemExit(1)  # the host has ended the run
            if reply["k"] == "raise":
                raise _exception(reply["type"], reply["kinds"], self._hidden)
            if reply["k"] == "opaque":
                return _opaque(reply["truth"], self)
            return columns.revive(reply["v"]) if reply["revive"] else reply["v"]

        return candidate


class Names(dict[str, "Any"]):
    """Built-in names of a check; an undefined name is a function of the submission."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(vars(builtins))
        self._submission = submission

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return self._submission.function(name)


def _exception(name: str, kinds: list[str], hidden: tuple[str, ...]) -> BaseException:
    """Return an exception that a check can catch like the submission's.

    ``kinds`` are the exception's built-in classes, nearest first. Another class becomes a subclass of the nearest that
    is not ``hidden``.
    """
    base: Any = Exception
    for kind in kinds:
        builtin = vars(builtins).get(kind)
        if isinstance(builtin, type) and issubclass(builtin, Exception) and kind not in hidden:
            base = builtin
            break
    if base.__name__ != name:
        bases = (CandidateError,) if base is Exception else (CandidateError, base)
        base = type(name, bases, {})
    error: BaseException = base(f"candidate raised {name}")
    error.type_name = name  # type: ignore[attr-defined]
    return error


def _opaque(truth: bool, submission: Submission) -> Any:
    """Return a stand-in for a value that cannot leave its box; using more than its truth value raises OpaqueError."""

    def refuse(*args: Any) -> NoReturn:
        submission.misused = True
        raise OpaqueError("a value that cannot leave its box can be tested for truth alone")

    names = {f"__{name}__": refuse for name in _REFUSED_METHODS}
    body = names | {"__class__": property(refuse), "__getattr__": refuse, "__slots__": ()}
    kind = type("Opaque", (), body | {"__bool__": lambda self: truth})
    return kind()


_FRAMES_BELOW = 12
_LONGEST_LINE_SHOWN = 1000
_INT_DIGITS = 50_000
"""Maximum digits of an int that a program may read or print. The interpreter's default of 4,300 fails honest programs.
"""


def run(job: dict[str, Any], channel: int) -> None:
    """Run the job in a settled interpreter; return, or raise SystemExit, as the program would.

    ``job`` has the fields of ``plan.Job`` and the name of the file, ``program``.
    """
    sys.argv = [job["program"]]
    if job["mode"] == "exec":
        _send(channel, foreign.execute(job, channel))
        _end(127)
    if job["mode"] == "compile":
        _send(channel, foreign.compile_artifact(job))
        _end(0)
    preload.reseed()
    if job["mode"] == "session":
        session.Supervisor(job, channel).serve()
    code = _compile(job, channel)
    gc.enable()
    if job["mode"] == "main":
        _run_main(job, code, channel)
    elif job["mode"] == "serve":
        _serve(job, code, channel)
    else:
        _check(job, code, channel)


def settle(scratch: str) -> list[ModuleType]:
    """Make the interpreter look like that of ``python program.py`` in ``scratch``, with our modules hidden.

    Keep the returned modules: freeing them would take time in every box.
    """
    from _sitebuiltins import Quitter

    builtins.exit = Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = Quitter("quit", "Ctrl-D (i.e. EOF)")
    ours = [name for name in sys.modules if name.split(".")[0] == "prorl_sandbox"]
    sys.dont_write_bytecode = True
    sys.set_int_max_str_digits(_INT_DIGITS)
    sys.setrecursionlimit(sys.getrecursionlimit() + _FRAMES_BELOW)
    threads = preload.ONE_THREAD if "OPENBLAS_NUM_THREADS" in os.environ else {}
    os.environ.clear()
    os.environ.update(threads, HOME=scratch, TMPDIR=scratch, LANG="C.UTF-8", PATH="/usr/bin:/bin")
    return [sys.modules.pop(name) for name in ours]


def _send(channel: int, message: dict[str, Any]) -> None:
    wire.write_all(channel, wire.pack(message))


def _leave_if_child(program: int) -> None:
    """Exit in a child that the program forked, because it must not answer."""
    if getpid() != program:
        _end(1)


def _type_name(error: BaseException) -> str:
    return str(type.__getattribute__(type(error), "__name__"))[:100]


def _send_failure(channel: int, kind: str, error: BaseException) -> None:
    memory = isinstance(error, MemoryError)
    if memory:
        limits.release_reserve()
    _send(channel, {"k": kind, "type": _type_name(error), "memory": memory})


def _show(error: BaseException, skip: int) -> None:
    trace = error.__traceback__
    for _ in range(skip):
        trace = trace.tb_next if trace is not None else None
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _compile(job: dict[str, Any], channel: int) -> CodeType:
    try:
        return compile(job["source"], job["program"], "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        _send_failure(channel, "compile-error", error)
        if isinstance(error, SyntaxError) and len(error.text or "") > _LONGEST_LINE_SHOWN:
            error.text = None
        sys.excepthook(type(error), error.with_traceback(None), None)
    raise SystemExit(1)


def _module(name: str, file: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = file
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules[name] = module
    return module.__dict__


def _run_main(job: dict[str, Any], code: CodeType, channel: int) -> NoReturn:
    program = getpid()
    names = _module("__main__", job["program"])
    status = 0
    try:
        exec(code, names)  # noqa: S102 - this is the box
    except SystemExit as leaving:  # as the interpreter would exit
        if isinstance(leaving.code, int):
            status = leaving.code & 0xFF
        elif leaving.code is not None:
            sys.stderr.write(f"{leaving.code}\n")
            status = 1
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if getpid() == program:
            _send_failure(channel, "exception", error)
        _show(error, 1)
        status = 1
    # End as the interpreter would (threads, exit hooks, the program's objects, streams), but without the full shutdown,
    # which takes longer than most programs.
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        names.clear()
    except BaseException as error:  # noqa: BLE001 - caused by the program
        _show(error, 1)
    _end(status)


def _load(
    job: dict[str, Any], code: CodeType, channel: int, builtin_names: Any = builtins
) -> dict[str, Any]:
    """Execute the source, except code guarded by ``__main__``."""
    program = getpid()
    names = _module("program", job["program"])
    names["__builtins__"] = builtin_names
    try:
        exec(code, names)  # noqa: S102 - this is the box
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if getpid() == program:
            _send_failure(channel, "exception", error)
        _show(error, 1)
        _end(1)
    return names


def _end(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - a stream of the program's own making
            code = code or 1
    _exit(code)


def _find(name: str, names: dict[str, Any]) -> Any:
    """Return the function or method; an undefined name may be a method of ``Solution``, as on contest sites."""
    owner, _, method = name.partition(".")
    if owner not in names and not method and hasattr(names.get("Solution"), owner):
        owner, method = "Solution", owner
    if owner not in names:
        raise NameError(f"name {owner!r} is not defined by the program")
    value = names[owner]
    return getattr(value(), method) if method else value


def _answer(value: Any, opaque: bool) -> dict[str, Any]:
    try:
        return {"k": "value", "v": wire.encode(value)}
    except wire.Unserialisable as error:
        if not opaque:
            return {"k": "unserialisable", "text": str(error)[:300]}
    return {"k": "opaque", "truth": True if value else False}  # noqa: SIM210 - of a type of its own


def _serve(job: dict[str, Any], code: CodeType, channel: int) -> None:
    program = getpid()
    names = _load(job, code, channel)
    _leave_if_child(program)
    _send(channel, {"k": "ready"})
    failed = 0
    while (request := wire.read_frame(channel)) is not None:
        try:
            args, kwargs = request["args"], request["kwargs"]
            if request["revive"]:
                args, kwargs = columns.revive(args), columns.revive(kwargs)
            value = _find(request["name"] or job["call"], names)(*args, **kwargs)
            reply = wire.pack(_answer(value, request["opaque"]) | {"n": request["n"]})
            if len(reply) > job["frame_cap"]:
                reply = wire.pack({"k": "too-large", "n": request["n"]})
            failed = 0
        except wire.TooLarge:
            reply = wire.pack({"k": "too-large", "n": request["n"]})
        except BaseException as error:  # noqa: BLE001 - reported to the host
            failed = 1
            memory = isinstance(error, MemoryError)
            if memory:
                limits.release_reserve()
            classes: tuple[type, ...] = type.__getattribute__(type(error), "__mro__")
            failure = {
                "k": "raise",
                "type": _type_name(error),
                "kinds": [c.__name__ for c in classes if vars(builtins).get(c.__name__) is c],
                "memory": memory,
            }
            reply = wire.pack(failure | {"n": request["n"]})
            _show(error, 1)
        _leave_if_child(program)
        wire.write_all(channel, reply)
    _end(failed)


def _check(job: dict[str, Any], code: CodeType, channel: int) -> None:
    submission = Submission(channel, job["source"])
    names = _load(job, code, channel, Names(submission))
    check = names.get("check")
    if not callable(check):
        _send(channel, {"k": "broken", "text": "the checker does not define check(candidate)"})
        _end(1)
    failed = 0
    try:
        check(submission.function(None))
    except wire.Unserialisable as error:
        _send(channel, {"k": "broken", "text": f"an argument of candidate: {error}"})
        _end(1)
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if not submission.misused:
            _send_failure(channel, "failed", error)
        _show(error, 1)
        failed = 1
    if submission.misused:  # whatever it did with the OpaqueError
        _send(channel, {"k": "unserialisable"})
        failed = 1
    if not failed:
        _send(channel, {"k": "passed"})
    _end(failed)
