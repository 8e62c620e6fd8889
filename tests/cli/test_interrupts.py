"""The first Ctrl-C, sent to the whole process group, prints a message; the second ends the command soon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prorl_common.interrupts import GRACE, started_processes

AGAIN = "(Ctrl-C again stops at once)"
RECIPE = """
name: long
seed: 1
decontamination: {benchmarks: []}
entries:
  - {name: sums, domain: math, source: {kind: procedural, family: add, levels: [1]},
     count: {train: 20000}}
"""
STUCK = """
import hashlib, subprocess, sys
from prorl_common.interrupts import on_interrupt, watch
watch()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
with on_interrupt("finishing this step", lambda: None):
    print(child.pid, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)  # long in C, as a step in torch is
"""

DESTRUCTOR = """
import time
from prorl_common.interrupts import leave, watch
watch()
class Slow:
    def __del__(self):
        print("deep", flush=True)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            pass
try:
    Slow()
    time.sleep(600)
except KeyboardInterrupt:
    leave(130)
"""


def begin(*command: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupt(child: subprocess.Popen[str]) -> None:
    os.killpg(child.pid, signal.SIGINT)


@pytest.mark.parametrize(
    ("words", "begun", "kept", "code"),
    [
        ("doctor", "", "nothing is kept, run the same command again", 130),
        (
            "data build --recipe long.yaml",
            "data/.long.build",
            "finished parts are kept, run the same",
            130,
        ),
        ("verify audit", "", "nothing is kept, run the same command again", 130),
        ("sandbox doctor --attack all", "", "nothing is kept, run the same command again", 130),
        (
            "verify serve --port 0 --ready-file ready",
            "ready",
            "draining: new requests are refused",
            0,
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_the_first_says_what_happens_and_how_to_go_on(
    words: str, begun: str, kept: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "long.yaml").write_text(RECIPE)
    child = begin("-m", "prorl_cli", *words.split(), cwd=tmp_path)
    try:
        threads = Path(f"/proc/{child.pid}/task")  # the second thread handles Ctrl-C
        while len(list(threads.iterdir())) < 2 or not (tmp_path / begun).exists():
            assert child.poll() is None, "ended before it could be interrupted"
            time.sleep(0.02)
        interrupt(child)
        _, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == code, errors
    assert errors.count(AGAIN) == 1, errors
    (line,) = (line for line in errors.splitlines() if AGAIN in line)
    assert kept in line
    assert "Traceback" not in errors


def test_one_that_comes_inside_a_destructor_is_not_lost(tmp_path: Path) -> None:
    child = begin("-c", DESTRUCTOR, cwd=tmp_path)
    assert child.stdout is not None and child.stdout.readline() == "deep\n"
    interrupt(child)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "nothing is kept" in errors and "Exception ignored" not in errors


def runs(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_second_ends_a_process_that_does_not_return_to_python(tmp_path: Path) -> None:
    child = begin("-c", STUCK, cwd=tmp_path)
    assert child.stdout is not None
    started = int(child.stdout.readline())
    assert started_processes(child.pid) == [started]
    interrupt(child)
    time.sleep(0.3)
    assert child.poll() is None
    interrupt(child)
    second = time.monotonic()
    _, errors = child.communicate(timeout=60)
    assert GRACE <= time.monotonic() - second < 10
    assert child.returncode == 130
    assert errors.splitlines() == [f"finishing this step {AGAIN}", "stopped"]
    until = time.monotonic() + 10  # the kernel removes the process with a delay
    while runs(started):
        assert time.monotonic() < until
        time.sleep(0.05)
