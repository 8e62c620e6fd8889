from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_runs import alive

from prorl_training.engine.openrlhf.launch.cleanup import (
    _killing_order,
    end_orphan_processes,
    orphan_processes,
)
from prorl_training.engine.openrlhf.spec import VARIABLE

NO_SESSION = -1
SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that inherited the variable of a launch."""
    environment = os.environ | {VARIABLE: str(tmp_path / "spec.json")}
    with subprocess.Popen(SLEEP, env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
        child.kill()


def test_a_process_of_the_launch_is_given_time_and_then_killed(
    engine: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert orphan_processes(tmp_path / "spec.json", NO_SESSION) == [engine.pid]
    assert end_orphan_processes(tmp_path / "spec.json", NO_SESSION, patience=0.5) == 1
    assert engine.wait() == -9
    assert orphan_processes(tmp_path / "spec.json", NO_SESSION) == []


def test_a_process_of_the_launchs_session_belongs_to_it_whatever_its_environment_says(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(SLEEP, stdout=subprocess.PIPE, start_new_session=True) as launch:
        assert launch.stdout is not None
        launch.stdout.readline()  # it has started: before that, its command line may be empty
        assert orphan_processes(tmp_path / "spec.json", launch.pid) == [launch.pid]
        launch.kill()


def test_the_newest_process_is_ended_first_and_a_raylet_last(tmp_path: Path) -> None:
    raylet = tmp_path / "raylet"
    raylet.symlink_to("/bin/sleep")
    family = [subprocess.Popen(["sleep", "60"])]
    for command in ([str(raylet), "60"], ["sleep", "60"]):
        time.sleep(0.05)  # start times have a resolution of 0.01 s
        family.append(subprocess.Popen(command))
    older, lead, newer = (child.pid for child in family)
    assert sorted([lead, older, newer], key=_killing_order) == [newer, older, lead]
    for child in family:
        child.kill()
        child.wait()


def test_a_process_of_another_launch_is_left_alone(
    engine: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert end_orphan_processes(tmp_path / "other.json", NO_SESSION, patience=0.0) == 0
    assert end_orphan_processes(tmp_path / "spec", NO_SESSION, patience=0.0) == 0
    assert engine.poll() is None


LAUNCH = """
import os, signal, subprocess, sys, time
from pathlib import Path
from prorl_training.engine.openrlhf.launch import process
spec = Path(sys.argv[1])
with process.nothing_left_behind(spec):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as good as a main thread that never gets to it
    engine = subprocess.Popen(["sleep", "300"], start_new_session=True)
    print(engine.pid, os.getpid(), flush=True)
    time.sleep(300)
"""


STARTER = """
import subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]], start_new_session=True)
"""


def test_a_launch_whose_starter_was_killed_ends_with_all_it_started(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, LAUNCH, str(spec)],
        env=os.environ | {VARIABLE: str(spec)},
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:
        assert starter.stdout is not None
        family = [int(word) for word in starter.stdout.readline().split()]
        assert len(alive(family)) == 2
        starter.kill()
    until = time.monotonic() + 60
    while left := alive(family):
        assert time.monotonic() < until, left
        time.sleep(0.1)
