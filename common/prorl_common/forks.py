"""Fork child processes in milliseconds from a template process that has loaded everything they need."""

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
"""Maximum seconds until a template or child is ready."""
_REPLY_SECONDS = 10.0
_LOOK_SECONDS = 1.0
"""Seconds between the template's checks that its parent process is still running."""
_DATAGRAM = 1 << 16
_LAST_WORDS = 4000
_PR_SET_PDEATHSIG = 1


class ChildError(ServiceError):
    """Raised if a template or child process cannot start or ends unexpectedly."""


@dataclass(slots=True)
class Child:
    """A forked child process with pipes to (``to``) and from it (``source``). Not thread-safe."""

    pid: int
    to: int
    source: int
    stderr: IO[bytes]
    folder: str
    template: Template
    _ended: bool = field(default=False, init=False)

    @property
    def alive(self) -> bool:
        """Whether the child is still running and has its pipes open."""
        if self._ended:
            return False
        poller = select.poll()
        poller.register(self.to, 0)
        return not poller.poll(0)

    def last_lines(self) -> list[str]:
        return _last_lines(self.stderr)

    def kill(self) -> int | None:
        """Kill the child and remove its folder. Returns the exit code, or None if unknown or if already killed."""
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
    """A template process, which ends with this process. Its children end with it. Thread-safe.

    ``command`` starts a program that calls :func:`serve_forks`. Error messages call a child ``noun``. ``folder`` is the
    processes' TMPDIR.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], noun: str) -> None:
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
        """Wait for the result of ``load`` in :func:`serve_forks`. Call this once. Raises ChildError."""
        return self._reply(START_SECONDS)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def child(self, order: Mapping[str, Any], owner: int | None = None) -> Child:
        """Fork a child and send it ``order`` with the path of a new folder under the key "folder". Raises ChildError.

        The folder is given to the user id ``owner`` if this process runs as root.
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
                with contextlib.suppress(PermissionError):  # root may lack CAP_CHOWN in a container
                    os.chown(folder, owner, owner)
            handles = [requests, replies, stderr.fileno()]
            answer = self._ask({"fork": {**order, "folder": folder}}, handles)
            undo.pop_all()
        with self._lock:
            self._children += 1
        return Child(int(answer["pid"]), to, source, stderr, folder, self)

    def end(self, pid: int) -> int | None:
        """Kill a child; return its exit code, or None if the template has ended."""
        status = None
        with contextlib.suppress(ChildError):  # the template and its children are gone
            status = int(self._ask({"end": pid})["status"])
        with self._lock:
            self._children -= 1
            last = self._retired and self._children == 0
        if last:
            self.kill()
        return status

    def retire(self) -> None:
        """Kill the template as soon as it has no children. No new children may be forked."""
        with self._lock:
            self._retired = True
            last = self._children == 0
        if last:
            self.kill()

    def kill(self) -> None:
        """Kill the template and its children. May be called twice."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._process.kill()
        self._process.wait()
        self._control.close()
        with contextlib.suppress(ValueError):  # another thread is closing it
            self._stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, order: dict[str, Any], handles: Sequence[int] = ()) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(order).encode()], list(handles))
            except OSError as error:
                raise ChildError(
                    f"{self.noun} did not start: its template process has ended"
                ) from error
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
            raise ChildError(f"{self.noun} did not start within {seconds:g} s") from error
        except OSError as error:
            raise ChildError(
                f"{self.noun} did not start: its template process has ended"
            ) from error
        if not data:
            raise ChildError(self._describe_exit())
        reply: dict[str, Any] = json.loads(data)
        return reply

    def _describe_exit(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        lines: list[str] = []
        with contextlib.suppress(ValueError):  # closed, because this process killed it
            lines = _last_lines(self._stderr)
        self.kill()
        words = ": ".join([f"exit code {self._process.returncode}", *lines[-1:]])
        return f"{self.noun} did not start ({words})"


def serve_forks(
    load: Callable[[], dict[str, Any]], become: Callable[[dict[str, Any], int, int], None]
) -> None:
    """Run as a template process until the parent exits. Sends the result of ``load``, then forks children on request.

    Each child calls ``become(order, requests, replies)`` and exits (with code 1 after an error). ``requests`` and
    ``replies`` are the file descriptors of its pipes.
    """
    control, host = socket.socket(fileno=int(sys.argv[-2])), int(sys.argv[-1])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    children: set[int] = set()
    folder = Path(os.environ["TMPDIR"])
    parent = os.open(folder.parent, os.O_PATH)  # can remove the folder from another namespace too
    try:
        hello = load()
        gc.collect()
        gc.freeze()  # the collector skips these objects, so forks keep sharing their pages
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
    except BrokenPipeError:  # the parent has exited
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
    host_handles: Sequence[int],
) -> dict[str, Any]:
    template = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        return {"error": f"fork failed: {error}"}
    if pid == 0:
        _run_child(order, handles, become, host_handles, template)
    for handle in handles:
        os.close(handle)
    return {"pid": pid}


def _run_child(
    order: dict[str, Any],
    handles: Sequence[int],
    become: Callable[[dict[str, Any], int, int], None],
    host_handles: Sequence[int],
    template: int,
) -> NoReturn:
    code = 1
    try:
        for handle in host_handles:
            os.close(handle)
        requests, replies, errors = handles
        os.dup2(0, 1)
        os.dup2(errors, 2)
        os.close(errors)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == template:  # else the template died before prctl took effect
            become(order, requests, replies)
        code = 0
    except BaseException:  # noqa: BLE001 - the traceback's last line says why the child died
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _last_lines(stderr: IO[bytes]) -> list[str]:
    stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - _LAST_WORDS))
    return [line[:300] for line in stderr.read().decode(errors="replace").strip().splitlines()]
