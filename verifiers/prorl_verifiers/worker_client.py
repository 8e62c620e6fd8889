"""The parent's side of one worker: start it, ask it, kill it by its process id.

Leaves out: retries and verdicts (``pool``). Not thread-safe: one asker at a time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import prorl_common
from prorl_common import ServiceError
from prorl_verifiers import frames
from prorl_verifiers.confine import NOBODY

START_SECONDS = 60.0
"""A worker that is not ready, or has not imported its library, after this is broken."""
MAX_REPLY = 4 * 1024 * 1024
_LIMIT_SIGNALS = {24: "cpu limit", 25: "file size limit"}  # SIGXCPU, SIGXFSZ


class WorkerError(ServiceError):
    """The worker could not start or died without a reason that lies in the answer."""


class WorkerTimeout(Exception):
    """The item's time ran out (or it hit a resource limit); the worker has been killed."""


class WorkerProcess:
    """One ``python -m prorl_verifiers.worker``, in its own session, with an environment from nothing."""

    def __init__(self, memory_mb: int = 2048) -> None:
        self.isolation = ""
        self.asked = 0
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        self._scratch = _scratch_folder()
        command = [sys.executable, "-P", "-s", "-B", "-m", "prorl_verifiers.worker", str(memory_mb)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(self._scratch),
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._wait_until_ready()

    @property
    def pid(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the worker's result frame (see ``worker``).

        ``seconds`` count from the moment the worker has the request, without library imports.
        Raises WorkerTimeout or WorkerError; the worker is dead after either.
        """
        self.asked += 1
        may_load = 4
        try:
            frames.send(self._to, request, time.monotonic() + START_SECONDS)
            deadline = time.monotonic() + seconds
            while True:
                reply = frames.receive(self._from, deadline, MAX_REPLY)
                event = reply.get("event")
                if event is None:
                    return reply
                may_load -= event == "loading"
                if may_load < 0:
                    raise frames.FrameError("the worker keeps loading")
                deadline = time.monotonic() + (START_SECONDS if event == "loading" else seconds)
        except frames.FrameTimeout as error:
            self.kill()
            raise WorkerTimeout(f"no verdict after {seconds:g} s") from error
        except frames.FrameError as error:
            raise self._post_mortem(str(error)) from error
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill the worker (SIGKILL to its own session's leader), reap it, close the pipes, drop its scratch folder."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None and not stream.closed:
                stream.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _wait_until_ready(self) -> None:
        try:
            hello = frames.receive(self._from, time.monotonic() + START_SECONDS, MAX_REPLY)
        except frames.FrameTimeout as error:
            self.kill()
            raise WorkerError("a scoring worker did not start in time") from error
        except frames.FrameError as error:
            raise self._post_mortem("a scoring worker did not start") from error
        except BaseException:
            self.kill()
            raise
        self.isolation = str(hello.get("isolation", ""))

    def _post_mortem(self, what: str) -> Exception:
        """Kill what is left and say why it ended: a limit of the answer's, or a fault."""
        try:
            code = self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            code = 0
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 4000))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        self.kill()
        limit = _LIMIT_SIGNALS.get(-code)
        if limit is not None:
            return WorkerTimeout(limit)
        last = f": {lines[-1][:300]}" if lines else ""
        return WorkerError(f"{what} (worker exit code {code}{last})")


def _scratch_folder() -> str:
    """Make the one folder that the worker may write in."""
    folder = tempfile.mkdtemp(prefix="prorl-worker-")
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


def _environment(scratch: str) -> dict[str, str]:
    """Return the worker's whole environment: nothing of ours but where our packages lie."""
    here = Path(__file__).resolve().parent.parent
    common = Path(prorl_common.__file__).resolve().parent.parent
    return {
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
