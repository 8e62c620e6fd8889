"""Our side of ``original_scorers``: fetch a project's wheel, start its scorer, ask it, kill it at the limit."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from prorl_common import cache_root

PINS = {
    "verl": ("verl==0.9.1", "pylatexenc==2.11"),
    "trl": ("trl==1.16.0",),
    "lighteval": ("lighteval==0.13.0", "latex2sympy2_extended==1.0.6"),
}
START_SECONDS = 180.0


def unpacked(project: str) -> Path:
    """Return the folder with a project's packages, fetched without their dependencies when it is not there."""
    pins = PINS[project]
    folder = cache_root() / "verifier-originals" / pins[0]
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part{os.getpid()}")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        subprocess.run([*command, str(part), *pins], check=True)
        part.rename(folder)
    return folder


@dataclass(frozen=True)
class Graded:
    """One verdict and its time in seconds; ``note``: "hang" or what the scorer raised."""

    accepted: bool
    seconds: float
    note: str = ""


class Original:
    """One scorer in a process of its own; use as a context manager. Not thread-safe."""

    def __init__(self, name: str, folder: Path, limit_seconds: float) -> None:
        self._name, self._folder, self._limit = name, folder, limit_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def grade(self, gold: str, response: str) -> Graded:
        """Return the verdict; at the limit the processes are killed and the answer counts as rejected."""
        process = self._process or self._start()
        assert process.stdin is not None
        line = json.dumps({"gold": gold, "response": response}) + "\n"
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
        """Return a line, None when there was none in time; cut short when the process ended."""
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
            [sys.executable, "-m", "graders.original_scorers", self._name, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parent.parent,
            start_new_session=True,  # a scorer's own processes die with it
        )
        if not (self._read_line(START_SECONDS) or b"").endswith(b"\n"):
            self._stop()
            raise SystemExit(f"the scorer {self._name} could not be started")
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
