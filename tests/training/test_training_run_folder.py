from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.run.folder import ResumeError, RunFolder, find_run, list_runs, run_status
from prorl_training.run.rollouts import write_rollouts
from prorl_training.testing import scored_group
from prorl_training.types import Decision, Learned


@pytest.fixture
def run(tmp_path: Path, make_config: Callable[..., TrainConfig]) -> RunFolder:
    """A run of ten steps with three done and a reset at step 2."""
    folder = RunFolder(tmp_path / "one")
    folder.create(make_config(steps=10))
    for step in (1, 2, 3):
        extra = {"validation_reward": 0.25} if step == 2 else {}
        folder.log_metrics({"step": step, "reward_mean": step / 10, **extra})
    folder.log_decisions([Decision(2, "reference_reset", "interval", {"rule": "interval"})])
    return folder


def test_a_folder_removed_while_the_run_writes_it_is_one_line_and_does_not_come_back(
    run: RunFolder,
) -> None:
    with pytest.raises(UserError, match="was removed while the run was writing it"), run.lock():
        run.log_metrics({"step": 4})
        shutil.rmtree(run.path)
        run.log_metrics({"step": 5})
    assert not run.path.exists()


def test_torn_last_line_is_not_read_and_is_dropped_by_the_next_writer(run: RunFolder) -> None:
    with run.metrics_path.open("ab") as file:
        file.write(b'{"step": 4, "rew')
    again = RunFolder(run.path)
    assert [r["step"] for r in again.metrics()] == [1, 2, 3]
    again.log_metrics({"step": 4})
    assert [r["step"] for r in again.metrics()] == [1, 2, 3, 4]


def test_truncation_drops_lines_and_rollouts_of_later_steps_and_keeps_the_others_as_they_were(
    run: RunFolder,
) -> None:
    for step in (1, 2, 3):
        write_rollouts(run, step, [scored_group("a", 0.0, 1.0, step=step)], Learned())
    (run.rollouts / ".step_000003.parquet").write_bytes(b"half")
    run.sync()
    with run.metrics_path.open("ab") as file:
        file.write(b'{"step": 4, "rew')
    head = run.metrics_path.read_bytes().splitlines(keepends=True)[:2]
    run.truncate_after(2)
    assert run.metrics_path.read_bytes() == b"".join(head)
    assert [d["step"] for d in run.decisions()] == [2]
    assert sorted(p.name for p in run.rollouts.iterdir()) == [
        "step_000001.parquet",
        "step_000002.parquet",
    ]
    run.log_metrics({"step": 3})
    assert [r["step"] for r in run.metrics()] == [1, 2, 3]


def test_a_damaged_line_is_named_where_others_follow_it_and_left_out_at_the_end(
    run: RunFolder,
) -> None:
    whole = run.metrics_path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for damage in (b'{"step": 2, "rew\n', b"\x00\xff\n", b"[2]\n", b'{"step": "2"}\n', b"{}\n"):
        run.metrics_path.write_bytes(lines[0] + b"\n" + damage + lines[2])
        with pytest.raises(
            UserError, match=r"metrics.jsonl:3: this line is not a JSON object with a step"
        ):
            run.metrics()
        run.metrics_path.write_bytes(whole + damage)
        assert [r["step"] for r in run.metrics()] == [1, 2, 3]


def test_truncation_keeps_what_stands_behind_a_damaged_line(run: RunFolder) -> None:
    first, second, third = run.metrics_path.read_bytes().splitlines(keepends=True)
    run.metrics_path.write_bytes(first + b"\x00\x00\n" + second + third)
    run.truncate_after(2)
    assert run.metrics_path.read_bytes() == first + second


HOLD = """
import sys, time
from pathlib import Path
from prorl_training.run.folder import RunFolder
with RunFolder(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_run_that_a_live_process_writes_is_refused_and_a_killed_one_leaves_no_lock(
    run: RunFolder,
) -> None:
    command = [sys.executable, "-c", HOLD, str(run.path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    assert run_status(run).state == "running"
    with pytest.raises(UserError, match=rf"written by another process \(pid {child.pid}\)"):
        run.lock().__enter__()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert run_status(run).state == "stopped"
    with run.lock():
        assert run_status(run).state == "running"


def test_status_tells_step_reward_validation_reset_and_age(run: RunFolder) -> None:
    written = run.metrics_path.stat().st_mtime
    status = run_status(run, now=written + 90)
    assert (status.step, status.steps, status.reward_mean) == (3, 10, 0.3)
    assert (status.validation_reward, status.validation_step) == (0.25, 2)
    assert (status.last_reset, status.age_seconds, status.state) == (2, 90.0, "stopped")


def test_status_tells_finished_from_failed_from_stopped(run: RunFolder) -> None:
    with pytest.raises(RuntimeError), run.lock():
        raise RuntimeError("the disk went away")
    status = run_status(run)
    assert (status.state, status.reason) == ("failed", "RuntimeError: the disk went away")
    with run.lock():
        run.log_metrics({"step": 10, "reward_mean": None})
    assert run_status(run).state == "finished"
    with run.lock():
        run.log_decisions([Decision(10, "run_stopped", "empty batches", {})])
    assert (run_status(run).state, run_status(run).reason) == ("failed", "empty batches")


def test_a_run_that_a_stall_ended_is_finished_until_it_goes_on(run: RunFolder) -> None:
    run.log_decisions([Decision(3, "run_ended", "validation stalled", {})])
    assert run_status(run).state == "finished"
    run.log_metrics({"step": 4, "reward_mean": None})
    assert run_status(run).state == "stopped"


def test_status_of_a_run_with_an_unreadable_config_is_a_line_and_no_error(run: RunFolder) -> None:
    run.config_path.write_text("steps: [")
    status = run_status(run)
    assert status.steps is None
    assert "not valid YAML" in status.reason


def test_lock_on_a_run_that_never_came_about_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError), RunFolder(tmp_path / "two").lock():
        raise UserError("no such model")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_resume_leaves_what_the_run_came_to(run: RunFolder) -> None:
    with run.lock():
        pass
    with pytest.raises(ResumeError), run.lock():
        raise ResumeError("other plug-ins")
    assert json.loads(run.ended_path.read_text()) == {"state": "ended", "reason": ""}


def test_changed_config_leaves_the_old_one_beside_it(
    run: RunFolder, make_config: Callable[..., TrainConfig]
) -> None:
    run.replace_config(make_config(steps=20), 3)
    run.replace_config(make_config(steps=30), 3)
    assert run.config().steps == 30
    assert sorted(p.name for p in run.path.glob("config*.yaml")) == [
        "config.3.2.yaml",
        "config.3.yaml",
        "config.yaml",
    ]
    assert "steps: 10" in (run.path / "config.3.yaml").read_text()


def test_run_is_found_by_name_and_the_newest_by_none(
    run: RunFolder, make_config: Callable[..., TrainConfig]
) -> None:
    root = run.path.parent
    RunFolder(root / "older").create(make_config())
    os.utime(root / "older" / "config.yaml", (1, 1))
    assert [r.name for r in list_runs(root)] == ["older", "one"]
    assert find_run(None, root).name == "one"
    with pytest.raises(UserError, match="did you mean 'older'"):
        find_run("oldr", root)
    with pytest.raises(UserError, match="already holds a run: continue it with --resume one"):
        run.create(make_config())


def test_identity_is_kept(tmp_path: Path, make_config: Callable[..., TrainConfig]) -> None:
    folder = RunFolder(tmp_path / "three")
    folder.create(make_config(), {"dataset": "abc"})
    assert folder.identity() == {"dataset": "abc"}
    assert json.loads(folder.identity_path.read_text()) == {"dataset": "abc"}
