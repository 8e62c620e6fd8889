"""Runs the program inside the box and says what came of it on the channel.

Three modes: ``stdin`` (source as ``__main__``), ``serve`` (load, then answer calls one at a time) and
``check`` (trusted tests whose ``candidate`` asks over the channel). Nothing expected of a submission
is ever in this process, so whatever it forges is only its own answer. Sets no limits.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import CodeType, ModuleType

from prorl_sandbox.box import isolate, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_FRAMES_BELOW = 12
_LONGEST_LINE_SHOWN = 1000
_RERAISED = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    LookupError,
    NotImplementedError,
    OverflowError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)


def run(job: dict[str, Any], channel: int) -> None:
    """Run the job; returns or raises SystemExit as the program's own end would."""
    _clean_interpreter(job)
    cap = job["limits"]["output_kb"] * 1024
    if job["mode"] == "stdin":
        code = _compile(job, channel)
        _run_main(code, channel)
    elif job["mode"] == "serve":
        _serve(job["call"], _compile(job, channel), channel, cap)
    else:
        _check(_compile(job, channel), channel)


def _clean_interpreter(job: dict[str, Any]) -> None:
    """Leave an interpreter as ``python program.py`` would find it, without ours in sight."""
    from _sitebuiltins import Quitter

    builtins.exit = Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = Quitter("quit", "Ctrl-D (i.e. EOF)")
    for name in [n for n in sys.modules if n.split(".")[0] == "prorl_sandbox"]:
        del sys.modules[name]
    sys.argv = [isolate.PROGRAM_FILE]
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(sys.getrecursionlimit() + _FRAMES_BELOW)
    scratch = os.getcwd()
    os.environ.clear()
    os.environ.update(HOME=scratch, TMPDIR=scratch, LANG="C.UTF-8", PATH="/usr/bin:/bin")


def _send(channel: int, message: dict[str, Any]) -> None:
    wire.write_all(channel, wire.pack(message))


def _leave_if_child(program: int) -> None:
    """A child that the program forked has no answer to give: end it before it speaks."""
    if os.getpid() != program:
        _end(1)


def _type_name(error: BaseException) -> str:
    return str(type.__getattribute__(type(error), "__name__"))[:100]


def _send_failure(channel: int, kind: str, error: BaseException) -> None:
    """Report an exception by the name of its type; its text stays on stderr."""
    memory = isinstance(error, MemoryError)
    if memory:
        isolate.release_reserve()
    _send(channel, {"k": kind, "type": _type_name(error), "memory": memory})


def _show(error: BaseException, skip: int) -> None:
    """Print a traceback as the interpreter would, without the harness's own frames."""
    trace = error.__traceback__
    for _ in range(skip):
        trace = trace.tb_next if trace is not None else None
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _compile(job: dict[str, Any], channel: int) -> CodeType:
    try:
        return compile(job["source"], isolate.PROGRAM_FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        _send_failure(channel, "compile-error", error)
        if isinstance(error, SyntaxError) and len(error.text or "") > _LONGEST_LINE_SHOWN:
            error.text = None
        sys.excepthook(type(error), error.with_traceback(None), None)
    raise SystemExit(1)


def _module(name: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = isolate.PROGRAM_FILE
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules[name] = module
    return module.__dict__


def _run_main(code: CodeType, channel: int) -> None:
    program = os.getpid()
    try:
        exec(code, _module("__main__"))  # noqa: S102 - this is the box
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if os.getpid() == program:
            _send_failure(channel, "exception", error)
        _show(error, 1)
        raise SystemExit(1) from None


def _load(code: CodeType, channel: int) -> dict[str, Any]:
    """Run the definitions under a name other than ``__main__``, so that guarded code stays out."""
    names = _module("program")
    try:
        exec(code, names)  # noqa: S102 - this is the box
    except BaseException as error:  # noqa: BLE001 - reported to the host
        _send_failure(channel, "exception", error)
        _show(error, 1)
        _end(1)
    return names


def _end(code: int) -> NoReturn:
    """Flush and leave at once: threads and exit hooks of the program have no say any more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - a stream of the program's own making
            code = code or 1
    os._exit(code)


def _find(name: str, names: dict[str, Any]) -> Any:
    """Return the function, or the method of a fresh instance for ``Class.method``."""
    owner, _, method = name.partition(".")
    if owner not in names:
        raise NameError(f"name {owner!r} is not defined by the program")
    found = names[owner]
    return getattr(found(), method) if method else found


def _serve(name: str, code: CodeType, channel: int, cap: int) -> None:
    program = os.getpid()
    names = _load(code, channel)
    _leave_if_child(program)
    _send(channel, {"k": "ready"})
    failed = 0
    while (request := wire.read_frame(channel)) is not None:
        try:
            value = _find(name, names)(*request["args"], **request["kwargs"])
            frame = wire.pack({"k": "value", "v": wire.encode(value)})
            reply = frame if len(frame) <= cap else wire.pack({"k": "too-large"})
            failed = 0
        except wire.Unserialisable as error:
            reply = wire.pack({"k": "unserialisable", "text": str(error)[:300]})
        except BaseException as error:  # noqa: BLE001 - reported to the host
            failed = 1
            memory = isinstance(error, MemoryError)
            if memory:
                isolate.release_reserve()
            reply = wire.pack({"k": "raise", "type": _type_name(error), "memory": memory})
            _show(error, 1)
        _leave_if_child(program)
        wire.write_all(channel, reply)
    _end(failed)


class CandidateError(RuntimeError):
    """Raised in a check for an exception of the submission; ``type_name`` is that exception's."""

    type_name = ""


def _candidate_error(type_name: str) -> CandidateError:
    """Build the exception; a check may also catch it as the common builtin of that name."""
    bases: tuple[type, ...] = (CandidateError,)
    for builtin in _RERAISED:
        if builtin.__name__ == type_name:
            bases = (CandidateError, builtin)
    error = type("CandidateError", bases, {"type_name": type_name})(f"candidate raised {type_name}")
    assert isinstance(error, CandidateError)
    return error


def _check(code: CodeType, channel: int) -> None:
    def candidate(*args: Any, **kwargs: Any) -> Any:
        call = {"k": "call", "args": wire.encode(list(args)), "kwargs": wire.encode(kwargs)}
        _send(channel, call)
        reply = wire.read_frame(channel)
        if reply is None:
            raise SystemExit(1)  # the host has ended the run
        if reply["k"] == "raise":
            raise _candidate_error(reply["type"])
        return reply["v"]

    names = _load(code, channel)
    check = names.get("check")
    if not callable(check):
        _send(channel, {"k": "broken", "text": "the checker does not define check(candidate)"})
        _end(1)
    try:
        check(candidate)
    except wire.Unserialisable as error:
        _send(channel, {"k": "broken", "text": f"an argument of candidate: {error}"})
        _end(1)
    except BaseException as error:  # noqa: BLE001 - reported to the host
        _send_failure(channel, "failed", error)
        _show(error, 1)
        _end(1)
    _send(channel, {"k": "passed"})
    _end(0)
