"""A study's runs as processes: so many at a time, each end said by name, a signal handed on once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from side_by_side import STOPPED, run_side_by_side

PYTHON = [sys.executable, "-c"]


def test_each_end_is_said_under_its_own_name_and_a_failure_ends_no_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    commands = {f"run{i}": [*PYTHON, f"raise SystemExit({3 * (i == 1)})"] for i in range(3)}
    try:
        assert run_side_by_side(commands, jobs=2) == 1
        assert run_side_by_side({"last": [*PYTHON, "pass"]}, jobs=2) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    said = capfd.readouterr().out.splitlines()
    assert sorted(said[:3]) == ["run0: done", "run1: ended with 3", "run2: done"]
    assert said[3:] == ["last: done"]


def test_a_stopped_study_waits_until_its_runs_have_saved(tmp_path: Path) -> None:
    saves = (
        "import pathlib, signal, sys, time\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "def save(*_):\n"
        "    time.sleep(0.3)\n"
        "    (place / 'saved').write_text('x')\n"
        "    raise SystemExit(75)\n"
        "signal.signal(signal.SIGTERM, save)\n"
        "(place / 'begun').write_text('x')\n"
        "time.sleep(60)\n"
    )
    here = Path(__file__).parents[2] / "benchmarks" / "evidence"
    program = (
        f"import sys; sys.path.insert(0, {str(here)!r})\n"
        "from side_by_side import run_side_by_side\n"
        f"command = [sys.executable, '-c', {saves!r}, {str(tmp_path)!r}]\n"
        "sys.exit(run_side_by_side({'one': command}, 1))\n"
    )
    study = subprocess.Popen([*PYTHON, program])
    while not (tmp_path / "begun").exists():
        assert study.poll() is None
        time.sleep(0.05)
    study.terminate()
    assert study.wait(60) == STOPPED
    assert (tmp_path / "saved").exists()
