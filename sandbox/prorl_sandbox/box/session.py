"""Run the messages of a session in one Python interpreter, which is stopped between messages."""

from __future__ import annotations

import _ast
import _signal as signal  # type: ignore[import-not-found]
import _socket
import builtins
import contextlib
import linecache
import os
import select
import struct
import sys
import time
import traceback
from os import _exit, getpid
from types import ModuleType

from prorl_sandbox.box import limits, syscalls, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, NoReturn

# Bind builtins before any program runs; see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

_COMPILE_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
_LONGEST_LINE_SHOWN = 1000


def run_messages(job: dict[str, Any], connection: int) -> NoReturn:
    """Execute each message that arrives on the socket ``connection``, until the socket closes."""
    sys.argv = [""]
    main = ModuleType("__main__")
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    names = main.__dict__
    mine = getpid()
    number = 0
    while (order := wire.read_frame(connection)) is not None:
        number += 1
        answer = _run_cell(order["source"], f"<message {number}>", names)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # a stream of the program's own making
                stream.flush()
        if getpid() != mine:  # a child that the cell forked must not answer
            _exit(1)
        frame = wire.pack(answer | {"n": order["n"]})
        if len(frame) > order["cap"]:
            answer.pop("v", None)
            frame = wire.pack(answer | {"n": order["n"]})
        wire.write_all(connection, frame)
        if answer["k"] == "exit":
            _exit(answer["code"])
        if answer.get("memory"):
            limits.keep_reserve()
    _exit(0)


def lead_a_group() -> None:
    os.setsid()
    if os.getpgrp() != getpid():  # a filter keeps all processes in one session
        os.setpgid(0, 0)


def _run_cell(source: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
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
    except BaseException as error:  # noqa: BLE001 - reported to the host
        trace = error.__traceback__
        return _failed("raise", error, trace.tb_next if trace is not None else None)
    try:
        return {"k": "value", "v": wire.encode(value)}
    except (wire.Unserialisable, wire.TooLarge, MemoryError):
        return {"k": "value"}


def _failed(kind: str, error: BaseException, trace: TracebackType | None) -> dict[str, Any]:
    memory = isinstance(error, MemoryError)
    if memory:
        limits.release_reserve()
    with contextlib.suppress(BaseException):  # str() may raise, or the stream be closed
        traceback.print_exception(type(error), error, trace)
    name = str(type.__getattribute__(type(error), "__name__"))[:100]
    return {"k": kind, "type": name, "memory": memory}


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    with contextlib.suppress(BaseException):
        sys.stderr.write(f"{leaving.code}\n")
    return 1


_CHUNK = 65536
_LOOKS, _LOOK_SECONDS = 200, 0.0001
"""Maximum number of checks whether the interpreter has stopped, and the seconds between two checks."""


class _Interpreter:
    def __init__(self, pid: int, way: int) -> None:
        self.pid = pid
        self.way = _socket.socket(fileno=way)
        self.way.setblocking(False)
        self.received = bytearray()
        self.outgoing = bytearray()
        try:
            self.handle = os.pidfd_open(pid)
        except OSError:  # an old kernel: the closing socket shows its end
            self.handle = -1

    def send(self) -> None:
        try:
            while self.outgoing:
                del self.outgoing[: self.way.send(self.outgoing[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self.outgoing.clear()

    def receive(self) -> bool:
        try:
            data = self.way.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.received += data
        return bool(data)

    def take(self) -> bytes | None:
        if len(self.received) < 4:
            return None
        (size,) = struct.unpack(">I", self.received[:4])
        if len(self.received) < 4 + size:
            return None
        body = bytes(self.received[4 : 4 + size])
        del self.received[: 4 + size]
        return body

    def announced(self) -> int:
        return int(struct.unpack(">I", self.received[:4])[0]) if len(self.received) >= 4 else 0

    def forget(self) -> None:
        self.received.clear()
        self.outgoing.clear()

    def signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except OSError:
            return


class Supervisor:
    """Passes messages from the host to the interpreter's process, and answers back to the host.

    Answers are {"k": "answer", "body": text}, {"k": "died", "status": wait status or None} or {"k": "garbled"}.
    """

    def __init__(self, job: dict[str, Any], channel: int) -> None:
        self._channel = channel
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        mine, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        supervisor_end, interpreter_end = mine.detach(), theirs.detach()
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.close(supervisor_end)
            lead_a_group()
            os.dup2(interpreter_end, channel, inheritable=False)
            os.close(interpreter_end)
            run_messages(job, channel)
        os.close(interpreter_end)
        self._interpreter = _Interpreter(pid, supervisor_end)
        self._status: int | None = None

    def serve(self) -> NoReturn:
        self._answer({"k": "ready"}, b"")
        while (order := wire.read_frame(self._channel)) is not None:
            if order["k"] == "kill":
                self._interpreter.signal(signal.SIGKILL)
                continue
            answer = self._execute(order)
            self._stop()
            self._answer(answer, order["mark"])
        os._exit(0)

    def _answer(self, message: dict[str, Any], mark: bytes) -> None:
        for stream in (1, 2):
            _write_to_stream(stream, mark)
        wire.write_all(self._channel, wire.pack(message))

    def _execute(self, order: dict[str, Any]) -> dict[str, Any]:
        member = self._interpreter
        member.forget()
        member.outgoing += wire.pack_for_box(order)
        member.signal(signal.SIGCONT)
        body = self._await_answer(member, order)
        if body is None:
            garbled = member.announced() > order["cap"]
            return {"k": "garbled"} if garbled else self._died()
        return {"k": "answer", "body": body.decode("ascii", "replace")}

    def _await_answer(self, member: _Interpreter, order: dict[str, Any]) -> bytes | None:
        poller = select.poll()
        poller.register(self._channel, select.POLLIN)
        if member.handle >= 0:
            poller.register(member.handle, select.POLLIN)
        lives = True
        while (body := member.take()) is None and lives and member.announced() <= order["cap"]:
            member.send()
            waits = select.POLLOUT if member.outgoing else 0
            poller.register(member.way, select.POLLIN | waits)
            ready = {fd for fd, _ in poller.poll()}
            if self._channel in ready:
                word = wire.read_frame(self._channel)
                if word is None:
                    os._exit(0)
                member.signal(signal.SIGKILL)
            if member.way.fileno() in ready:
                lives = member.receive()
            elif member.handle in ready:
                lives = False
        return body if body is not None and len(body) <= order["cap"] else None

    def _died(self) -> dict[str, Any]:
        for _ in range(_LOOKS):
            self._reap()
            if self._status is not None:
                break
            time.sleep(_LOOK_SECONDS)
        return {"k": "died", "status": self._status}

    def _reap(self) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._interpreter.pid:
                    self._status = ended[1]
        except ChildProcessError:
            return

    def _stop(self) -> None:
        try:
            os.kill(-1, signal.SIGSTOP)
        except OSError:  # there is no process to stop
            return
        flags = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT
        for _ in range(_LOOKS):
            try:
                if os.waitid(os.P_PID, self._interpreter.pid, flags) is not None:
                    break
            except ChildProcessError:
                break
            time.sleep(_LOOK_SECONDS)
        self._reap()


def _write_to_stream(stream: int, data: bytes) -> None:
    poller = select.poll()
    poller.register(stream, select.POLLOUT)
    view = memoryview(data)
    while view:
        poller.poll()
        try:
            view = view[os.write(stream, view) :]
        except BlockingIOError:
            continue
