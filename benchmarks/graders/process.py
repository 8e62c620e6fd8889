"""A grader in a separate process, which is killed at the time limit and restarted for the next request.

The process prints a line when it is ready. It answers each line {"gold", "response", ...} with {"accepted", "seconds"},
or {"seconds", "crash"} if the grader raised.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

START_SECONDS = 180.0


@dataclass(frozen=True)
class Graded:
    """One verdict and its time in seconds; ``note`` is "hang", "process died" or the grader's error."""

    accepted: bool
    seconds: float
    note: str = ""


class GraderProcess:
    """Runs ``python -m MODULE ARGUMENTS`` in this folder's parent; use as a context manager. Not thread-safe."""

    def __init__(self, module: str, arguments: Sequence[str], limit_seconds: float) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self._limit = limit_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def grade(self, gold: str, response: str, **more: str) -> Graded:
        """Return the verdict; at the time limit the process is killed and the answer rejected."""
        process = self._process or self._start()
        assert process.stdin is not None
        line = json.dumps({"gold": gold, "response": response, **more}) + "\n"
        started = time.monotonic()
        try:
            process.stdin.write(line.encode())
            process.stdin.flush()
            reply = self._read_line(self._limit)
        except BrokenPipeError:
            reply = b""
        if reply is None or not reply.endswith(b"\n"):
            self._stop()
            note = "hang" if reply is None else "process died"
            return Graded(False, time.monotonic() - started, note)
        found = json.loads(reply)
        return Graded(found.get("accepted", False), found["seconds"], found.get("crash", ""))

    def _read_line(self, seconds: float) -> bytes | None:
        """Return a line, None at the time limit, or an incomplete line if the process ended."""
        assert self._process is not None and self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + seconds
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                chunk = os.read(descriptor, 65536)
                if not chunk:
                    return text
                text += chunk
        return text

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parent.parent,
            start_new_session=True,  # a session, so that child processes are killed with the grader
        )
        if not (self._read_line(START_SECONDS) or b"").endswith(b"\n"):
            self._stop()
            raise SystemExit(f"the grader could not be started: {' '.join(self._command[1:])}")
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
