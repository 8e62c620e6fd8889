"""The interpreter of a session: one process that runs cells, one after another, in ``__main__``, or
the tests of a project.

It is at the mercy of what it runs, and nobody relies on it: what it says is checked by the host,
and its limits are kept from outside (``session``).
"""

from __future__ import annotations

import _ast
import _socket
import builtins
import contextlib
import linecache
import os
import struct
import sys
import traceback
from os import _exit, getpid
from types import ModuleType

from prorl_sandbox.box import limits, testing, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, NoReturn

# Bound before any program runs, see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

_COMPILE_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
_LONGEST_LINE_SHOWN = 1000


def run(job: dict[str, Any], way: int) -> NoReturn:
    """Answer orders that come on ``way`` until it is closed."""
    sys.argv = [""]
    main = ModuleType("__main__")
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    names = main.__dict__
    mine = getpid()
    number = 0
    while (order := wire.read_frame(way)) is not None:
        if order["k"] == "fork":
            mine = _fork(order, way, mine)
            continue
        number += 1
        if order["k"] == "cell":
            answer = _run_cell(order["source"], f"<message {number}>", names)
        else:
            answer = _run_tests(order)
        _flush()
        if getpid() != mine:  # a child that the cell has forked has no answer to give
            _exit(1)
        frame = wire.pack(answer | {"n": order["n"]})
        if len(frame) > order["cap"]:
            answer.pop("v", None)
            frame = wire.pack(answer | {"n": order["n"]})
        wire.write_all(way, frame)
        if answer["k"] == "exit":
            _exit(answer["code"])
        if answer.get("memory"):
            limits.keep_reserve()
    _exit(0)


def lead_a_group() -> None:
    """Leave the process group of whoever has made this process; those to come are in its own."""
    os.setsid()
    if os.getpgrp() != getpid():  # where a filter keeps all in one session
        os.setpgid(0, 0)


def _run_cell(source: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run one message; return what came of it: value, raise, compile-error or exit."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        tree: Any = compile(source, name, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        code = compile(tree, name, "exec", dont_inherit=True)
        tail = None
        if last is not None:
            tail = compile(_ast.Expression(last.value), name, "eval", dont_inherit=True)
    except _COMPILE_ERRORS as error:
        if isinstance(error, SyntaxError) and len(error.text or "") > _LONGEST_LINE_SHOWN:
            error.text = None
        return _failed("compile-error", error, None)
    try:
        exec(code, names)  # noqa: S102 - this is the box
        if tail is None:
            return {"k": "value"}
        value = eval(tail, names)
        sys.displayhook(value)
    except SystemExit as leaving:
        return {"k": "exit", "code": _exit_code(leaving)}
    except BaseException as error:  # noqa: BLE001 - told to the host
        trace = error.__traceback__
        return _failed("raise", error, trace.tb_next if trace is not None else None)
    try:
        return {"k": "value", "v": wire.encode(value)}
    except (wire.Unserialisable, wire.TooLarge, MemoryError):
        return {"k": "value"}


def _run_tests(order: dict[str, Any]) -> dict[str, Any]:
    """Collect tests, run one or see what has been changed; return what came of it."""
    try:
        if order["k"] == "collect":
            value: Any = testing.collect(order)
        elif order["k"] == "test":
            value = testing.run_test(order)
        else:
            value = testing.changed()
        return {"k": "value", "v": wire.encode(value)}
    except BaseException as error:  # noqa: BLE001 - told to the host
        return _failed("raise", error, error.__traceback__)


def _failed(kind: str, error: BaseException, trace: TracebackType | None) -> dict[str, Any]:
    """Show an exception as the interpreter would; return the answer that tells its type."""
    memory = isinstance(error, MemoryError)
    if memory:
        limits.release_reserve()
    with contextlib.suppress(BaseException):  # its text may raise, the stream be closed
        traceback.print_exception(type(error), error, trace)
    name = str(type.__getattribute__(type(error), "__name__"))[:100]
    return {"k": kind, "type": name, "memory": memory}


def _exit_code(leaving: SystemExit) -> int:
    """Return the exit code that the interpreter would end with; print what is no number."""
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    with contextlib.suppress(BaseException):
        sys.stderr.write(f"{leaving.code}\n")
    return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001, S112 - a stream of the program's own making
            continue


def _fork(order: dict[str, Any], way: int, mine: int) -> int:
    """Fork: the child goes on as an interpreter of its own, with a way and a process group of its
    own. Returns the number of the process it returns in.

    Two forks, so that the child is nobody's here but the supervisor's.
    """
    _flush()
    here, there = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        middle = os.fork()
    except OSError:
        wire.write_all(way, wire.pack({"k": "failed", "n": order["n"]}))
        return mine
    if middle == 0:
        try:
            if os.fork():
                _exit(0)
        except OSError:
            _exit(1)
        lead_a_group()
        there.close()
        os.dup2(here.fileno(), way, inheritable=False)
        here.close()
        wire.write_all(way, wire.frame(str(getpid()).encode()))
        return getpid()
    here.close()
    _, status = os.waitpid(middle, 0)
    given = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("=i", there.fileno()))]
    frame = wire.pack({"k": "failed" if status else "forked", "n": order["n"]})
    to_supervisor = _socket.socket(fileno=os.dup(way))
    to_supervisor.sendmsg([frame], [] if status else given)
    to_supervisor.close()
    there.close()
    return mine
