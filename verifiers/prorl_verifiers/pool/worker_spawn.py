"""The pool's side of the template process: start it, have it fork workers, end it.

A fork takes milliseconds where a new interpreter with its libraries takes seconds; what is warm in the
template is shared by its workers.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import prorl_common
from prorl_common import plugin_environment
from prorl_verifiers.pool.confine import NOBODY
from prorl_verifiers.pool.worker_client import START_SECONDS, WorkerError, WorkerProcess

PROGRAM = ("-m", "prorl_verifiers.pool.worker_template")
_FLAGS = ("-P", "-s", "-B")
_DATAGRAM = 1 << 16
_REPLY_SECONDS = 10.0
_OF_PYTHON = ("LD_LIBRARY_PATH", "PYTHONHOME")
"""Without these an interpreter that was started with them may not find its own libraries."""


class Template:
    """A running template. Thread-safe. Its workers die with it."""

    def __init__(self, verifiers: Iterable[str] = ()) -> None:
        """Start it; it warms up for ``verifiers``. Raises WorkerError."""
        self.verifiers = frozenset(verifiers)
        self.plugins = plugin_environment()
        self._lock = threading.Lock()
        self._workers = 0
        self._retired = False
        with contextlib.ExitStack() as undo:
            try:
                self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.enter_context(self._control)
                with theirs:
                    self._stderr = undo.enter_context(tempfile.TemporaryFile())
                    self._scratch = tempfile.mkdtemp(prefix="prorl-template-")
                    undo.callback(shutil.rmtree, self._scratch, ignore_errors=True)
                    self._process = self._start(theirs.fileno())
            except OSError as error:
                raise WorkerError(f"a scoring worker did not start: {error}") from error
            undo.pop_all()
        self.failed: dict[str, str] = {}
        """Verifier -> why it could not warm up, or judged a deep canary wrong."""
        self.broken: dict[str, str] = {}
        """Verifier -> which of its quick canaries it judged wrong: nothing it says can be believed."""

    def _start(self, control: int) -> subprocess.Popen[bytes]:
        # What can be imported here can be imported there: plug-ins need their own modules.
        path = [os.path.abspath(folder) for folder in sys.path]
        words = json.dumps({"verifiers": sorted(self.verifiers), "path": path})
        arguments = [str(control), str(os.getpid()), words]
        return subprocess.Popen(
            [sys.executable, *_FLAGS, *PROGRAM, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._stderr,
            stderr=self._stderr,
            env=_environment(self._scratch) | self.plugins,
            cwd="/",
            start_new_session=True,
            pass_fds=(control,),
        )

    def wait_until_ready(self) -> Template:
        """Return the template itself as soon as it can fork. Raises WorkerError."""
        hello = self._reply(START_SECONDS)
        self.failed, self.broken = hello["failed"], hello["broken"]
        return self

    @property
    def pid(self) -> int:
        """Process id of the template."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False when the template has ended, by whatever hand."""
        return self._process.poll() is None

    def worker(self, memory_mb: int = 2048) -> WorkerProcess:
        """Fork a worker and wait until it is ready. Raises WorkerError."""
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as always:
            try:
                requests, to_worker = os.pipe()
                always.callback(os.close, requests)
                undo.callback(os.close, to_worker)
                from_worker, replies = os.pipe()
                always.callback(os.close, replies)
                undo.callback(os.close, from_worker)
                stderr = undo.enter_context(tempfile.TemporaryFile())
                scratch = _scratch_folder()
            except OSError as error:
                raise WorkerError(f"a scoring worker did not start: {error}") from error
            undo.callback(shutil.rmtree, scratch, ignore_errors=True)
            order = {"fork": {"memory_mb": memory_mb, "scratch": scratch}}
            answer = self._ask(order, [requests, replies, stderr.fileno()])
            undo.pop_all()
        pid = int(answer["pid"])
        with self._lock:
            self._workers += 1
        return WorkerProcess(
            pid, (to_worker, from_worker), stderr, scratch, lambda: self._end_worker(pid), self
        )

    def retire(self) -> None:
        """End the template as soon as it has no workers; it forks no more."""
        with self._lock:
            self._retired = True
            last = self._workers == 0
        if last:
            self.kill()

    def kill(self) -> None:
        """Kill the template and with it all its workers; reap it. May be called twice."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._process.kill()
        self._process.wait()
        self._drop_files()

    def _end_worker(self, pid: int) -> int | None:
        status = None
        with contextlib.suppress(WorkerError):  # the template is gone, and its workers with it
            status = int(self._ask({"end": pid})["status"])
        with self._lock:
            self._workers -= 1
            last = self._retired and self._workers == 0
        if last:
            self.kill()
        return status

    def _ask(self, order: dict[str, Any], handles: list[int] | None = None) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(order).encode()], handles or [])
            except OSError as error:
                raise WorkerError(
                    f"the template of the scoring workers is gone: {error}"
                ) from error
            answer = self._reply(_REPLY_SECONDS)
        if "error" in answer:
            raise WorkerError(f"a scoring worker did not start: {answer['error']}")
        return answer

    def _reply(self, seconds: float) -> dict[str, Any]:
        try:
            self._control.settimeout(seconds)
            data = self._control.recv(_DATAGRAM)
        except TimeoutError as error:
            self.kill()
            raise WorkerError("a scoring worker did not start in time") from error
        except OSError as error:
            raise WorkerError(f"the template of the scoring workers is gone: {error}") from error
        if not data:
            raise WorkerError(self._obituary())
        reply: dict[str, Any] = json.loads(data)
        return reply

    def _obituary(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        lines: list[str] = []
        with contextlib.suppress(ValueError):  # closed: it was killed by us
            self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - 4000))
            lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        self.kill()
        last = f": {lines[-1][:300]}" if lines else ""
        return f"a scoring worker did not start (exit code {self._process.returncode}{last})"

    def _drop_files(self) -> None:
        self._control.close()
        with contextlib.suppress(ValueError):  # another thread is closing it at this moment
            self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _scratch_folder() -> str:
    """Make the one folder that the worker may write in."""
    folder = tempfile.mkdtemp(prefix="prorl-worker-")
    if os.getuid() == 0:
        with contextlib.suppress(PermissionError):  # root that may not: some containers
            os.chown(folder, NOBODY, NOBODY)
    return folder


def _environment(scratch: str) -> dict[str, str]:
    """Return the template's whole environment: nothing of ours but where Python and our packages lie."""
    python = {name: os.environ[name] for name in _OF_PYTHON if name in os.environ}
    here = Path(__file__).resolve().parents[2]
    common = Path(prorl_common.__file__).resolve().parent.parent
    return python | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        "MPLCONFIGDIR": scratch,  # reasoning-gym imports matplotlib through cellpylib
        "PYTHONPATH": os.pathsep.join(dict.fromkeys((str(here), str(common)))),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
