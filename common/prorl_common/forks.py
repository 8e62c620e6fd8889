"""Fork templates: a process that has loaded what its children need and forks one in milliseconds.

The host's side is ``Template``; the template's own program calls ``serve_forks``. Between the two runs one socket of
JSON datagrams that carry file descriptors.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

from prorl_common.errors import ServiceError

START_SECONDS = 60.0
"""A template or a child that is not ready after this is broken."""
_REPLY_SECONDS = 10.0
_LOOK_SECONDS = 1.0
"""How often a template looks whether its host still lives."""
_DATAGRAM = 1 << 16
_LAST_WORDS = 4000
_PR_SET_PDEATHSIG = 1


class ChildError(ServiceError):
    """A template or a child of one could not start, or it died without a reason that lies in its work."""


@dataclass(slots=True)
class Child:
    """A forked process: pipes to it and from it, its standard error, a folder of its own. Not thread-safe."""

    pid: int
    to: int
    source: int
    stderr: IO[bytes]
    folder: str
    template: Template
    _ended: bool = field(default=False, init=False)

    @property
    def alive(self) -> bool:
        """False if the child was killed or has closed its end of the pipes."""
        if self._ended:
            return False
        poller = select.poll()
        poller.register(self.to, 0)
        return not poller.poll(0)

    def last_lines(self) -> list[str]:
        """Return the end of its standard error."""
        return _last_lines(self.stderr)

    def kill(self) -> int | None:
        """Kill and reap it and remove its folder; return its exit code (None: unknown). May be called twice."""
        if self._ended:
            return None
        self._ended = True
        code = self.template.end(self.pid)
        os.close(self.to)
        os.close(self.source)
        self.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code


class Template:
    """A running template process. Thread-safe. Its children die with it, and it dies with this process.

    ``command`` runs a program that calls ``serve_forks``. ``noun`` is what error messages call a child. The template
    has ``folder`` as TMPDIR, and as HOME unless ``environment`` names another; the folder goes with it.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], noun: str) -> None:
        """Start it. Raises ChildError."""
        self.noun = noun
        self._lock = threading.Lock()
        self._children = 0
        self._retired = False
        with contextlib.ExitStack() as undo:
            try:
                self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.enter_context(self._control)
                with theirs:
                    self._stderr = undo.enter_context(tempfile.TemporaryFile())
                    self.folder = tempfile.mkdtemp(prefix="prorl-template-")
                    undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
                    os.chmod(self.folder, 0o755)
                    self._process = subprocess.Popen(
                        [*command, str(theirs.fileno()), str(os.getpid())],
                        stdin=subprocess.DEVNULL,
                        stdout=self._stderr,
                        stderr=self._stderr,
                        env={"HOME": self.folder, **environment, "TMPDIR": self.folder},
                        cwd="/",
                        start_new_session=True,
                        pass_fds=(theirs.fileno(),),
                    )
            except OSError as error:
                raise ChildError(f"{noun} did not start: {error}") from error
            undo.pop_all()

    def hello(self) -> dict[str, Any]:
        """Return what the program says as soon as it can fork. Call it once. Raises ChildError."""
        return self._reply(START_SECONDS)

    @property
    def pid(self) -> int:
        """Process id of the template."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return False if the template process has exited."""
        return self._process.poll() is None

    def child(self, order: Mapping[str, Any], owner: int | None = None) -> Child:
        """Fork a child. ``order`` (JSON) is for the program, which also gets the folder as ``order["folder"]``.

        ``owner``: the user whose the folder is to be, if this process may say so. Raises ChildError.
        """
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as always:
            try:
                requests, to = os.pipe()
                always.callback(os.close, requests)
                undo.callback(os.close, to)
                source, replies = os.pipe()
                always.callback(os.close, replies)
                undo.callback(os.close, source)
                stderr = undo.enter_context(tempfile.TemporaryFile())
                folder = tempfile.mkdtemp(prefix="prorl-child-", dir=self.folder)
            except OSError as error:
                raise ChildError(f"{self.noun} did not start: {error}") from error
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            if owner is not None and os.getuid() == 0:
                with contextlib.suppress(PermissionError):  # root that may not: some containers
                    os.chown(folder, owner, owner)
            handles = [requests, replies, stderr.fileno()]
            answer = self._ask({"fork": {**order, "folder": folder}}, handles)
            undo.pop_all()
        with self._lock:
            self._children += 1
        return Child(int(answer["pid"]), to, source, stderr, folder, self)

    def end(self, pid: int) -> int | None:
        """Kill and reap a child; return its exit code, negative for a signal, or None if the template is gone."""
        status = None
        with contextlib.suppress(ChildError):  # the template is gone, and its children with it
            status = int(self._ask({"end": pid})["status"])
        with self._lock:
            self._children -= 1
            last = self._retired and self._children == 0
        if last:
            self.kill()
        return status

    def retire(self) -> None:
        """End the template as soon as it has no children; it is asked for no more."""
        with self._lock:
            self._retired = True
            last = self._children == 0
        if last:
            self.kill()

    def kill(self) -> None:
        """Kill the template and with it all its children; reap it. May be called twice."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._process.kill()
        self._process.wait()
        self._control.close()
        with contextlib.suppress(ValueError):  # another thread is closing it at this moment
            self._stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, order: dict[str, Any], handles: Sequence[int] = ()) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(order).encode()], list(handles))
            except OSError as error:
                raise ChildError(f"{self.noun} did not start: its template is gone") from error
            answer = self._reply(_REPLY_SECONDS)
        if "error" in answer:
            raise ChildError(f"{self.noun} did not start: {answer['error']}")
        return answer

    def _reply(self, seconds: float) -> dict[str, Any]:
        try:
            self._control.settimeout(seconds)
            data = self._control.recv(_DATAGRAM)
        except TimeoutError as error:
            self.kill()
            raise ChildError(f"{self.noun} did not start in time") from error
        except OSError as error:
            raise ChildError(f"{self.noun} did not start: its template is gone") from error
        if not data:
            raise ChildError(self._obituary())
        reply: dict[str, Any] = json.loads(data)
        return reply

    def _obituary(self) -> str:
        """Kill what is left and return in one line how the template ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        lines: list[str] = []
        with contextlib.suppress(ValueError):  # closed: this process killed it
            lines = _last_lines(self._stderr)
        self.kill()
        words = ": ".join([f"exit code {self._process.returncode}", *lines[-1:]])
        return f"{self.noun} did not start ({words})"


def serve_forks(
    load: Callable[[], dict[str, Any]], become: Callable[[dict[str, Any], int, int], None]
) -> None:
    """Be a template: send what ``load`` returns, then fork a child for each order until the host hangs up or is gone.

    ``become(order, requests, replies)`` is the child's work; the child ends with it, and with exit code 1 and a
    traceback if it raises. What a child prints goes nowhere.
    """
    control, host = socket.socket(fileno=int(sys.argv[-2])), int(sys.argv[-1])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    children: set[int] = set()
    folder = Path(os.environ["TMPDIR"])
    parent = os.open(folder.parent, os.O_PATH)  # removes the folder also from another namespace
    try:
        hello = load()
        gc.collect()
        gc.freeze()  # what is here now is never looked at again: forks go on sharing its pages
        control.send(json.dumps(hello).encode())
        poller = select.poll()
        poller.register(control, select.POLLIN)
        while os.getppid() == host:
            if not poller.poll(_LOOK_SECONDS * 1000):
                continue
            data, handles, _, _ = socket.recv_fds(control, _DATAGRAM, 3)
            if not data:
                return
            order = json.loads(data)
            if "end" in order:
                children.remove(order["end"])
                answer = {"status": _end(order["end"])}
            else:
                answer = _fork(order["fork"], handles, become, (control.fileno(), parent))
                children |= {answer["pid"]} if "pid" in answer else set()
            control.send(json.dumps(answer).encode())
    except BrokenPipeError:  # the host has ended meanwhile
        return
    finally:
        for pid in children:
            _end(pid)
        shutil.rmtree(folder.name, ignore_errors=True, dir_fd=parent)


def _end(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _fork(
    order: dict[str, Any],
    handles: Sequence[int],
    become: Callable[[dict[str, Any], int, int], None],
    own: Sequence[int],
) -> dict[str, Any]:
    """Fork a child that closes the descriptors ``own`` of the template; return the answer to the host."""
    template = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        return {"error": f"fork failed: {error}"}
    if pid == 0:
        _be_child(order, handles, become, own, template)
    for handle in handles:
        os.close(handle)
    return {"pid": pid}


def _be_child(
    order: dict[str, Any],
    handles: Sequence[int],
    become: Callable[[dict[str, Any], int, int], None],
    own: Sequence[int],
    template: int,
) -> NoReturn:
    code = 1
    try:
        for handle in own:
            os.close(handle)
        requests, replies, errors = handles
        os.dup2(0, 1)
        os.dup2(errors, 2)
        os.close(errors)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == template:  # else it died before the child could watch it
            become(order, requests, replies)
        code = 0
    except BaseException:  # noqa: BLE001 - the last line of it is the child's last word
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _last_lines(stderr: IO[bytes]) -> list[str]:
    stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - _LAST_WORDS))
    return [line[:300] for line in stderr.read().decode(errors="replace").strip().splitlines()]
