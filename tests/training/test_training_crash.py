"""SIGKILLs anywhere in a run: its result equals the uninterrupted run bit for bit.

A helper process imports everything once and forks a child per attempt, so a kill costs half a second, not ten.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import NullProgress
from prorl_inference import quiet_transformers
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_training.engine.builder import Builder
from prorl_training.engine.local import LocalEngine
from prorl_training.run.folder import RunFolder

PLACES = ("anywhere", "journal", "checkpoint", "pruning", "anywhere")
"""The places of kills, in turn: at random, after a step's line, in a checkpoint, and in the pruning after it."""

RESUMED = "resumed"
"""A file that the child creates once it has dropped the steps to repeat."""

SETTINGS: dict[str, Any] = {
    "rollout": {"prompts": 4, "samples": 4},
    "dynamic_sampling": {"max_batches": 3, "surplus": "carry", "refill": "expected"},
    "length_penalty": {"steps_on": 5, "steps_off": 10, "start_step": 4},
    "controller": {"reset_interval": 20, "optimizer": "clear"},
    "validation": {"every": 10, "problems": 8},
    "checkpoint": {"every": 3, "keep": 2},
    "warm_start": {"examples": 64, "epochs": 12, "lr": 5e-3, "batch": 20},
    "kl": {"measure_share_every": 50},
    "logging": {"tensorboard": False},
}


class Marked(RunFolder):
    """A run folder that creates the file RESUMED when a resumed run has dropped the steps to repeat."""

    def truncate_after(self, step: int) -> None:
        super().truncate_after(step)
        (self.path / RESUMED).touch()


def start_or_resume(path: Path, steps: int, staleness: int) -> None:
    """Start or resume the run in this process as ``prorl train`` does, with a fake scorer."""
    conftest: Any = importlib.import_module("conftest")
    model, data = path.parent / "model", path.parent / "data"
    places = {"model": {"path": str(model)}, "data": {"path": str(data)}}
    rollout = {**SETTINGS["rollout"], "staleness": staleness}
    config = conftest.tiny_config(**{**SETTINGS, "rollout": rollout}, **places, steps=steps)
    folder = Marked(path)
    samples = (conftest.digit_samples(), conftest.digit_samples("validation"))
    progress = NullProgress()
    engine = LocalEngine(config, folder, samples, conftest.BoxedDigitScorer(), progress)
    builder = Builder(engine, config, folder, samples, progress, lambda: None)
    with folder.lock():
        builder.build(folder.config_path.exists(), ()).run()


def serve() -> None:
    """Read orders {path, steps, staleness, lines, place, delay}, fork, kill as ordered, and answer how the child ended."""
    torch.set_num_threads(1)
    importlib.import_module("conftest")  # once, for all children

    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        (Path(order["path"]) / RESUMED).unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            _run_child(Path(order["path"]), order["steps"], order["staleness"])
        if order["place"] is not None:
            _wait_for(child, order)
            os.kill(child, signal.SIGKILL)  # not reaped yet, so the id is still the child's
        _, status = os.waitpid(child, 0)
        print(json.dumps(status), flush=True)


def _run_child(path: Path, steps: int, staleness: int) -> None:
    try:
        start_or_resume(path, steps, staleness)
    finally:
        error = sys.exc_info()[1]
        if error is not None:
            traceback.print_exception(error)
        os._exit(0 if error is None else 1)


def _wait_for(child: int, order: dict[str, Any]) -> None:
    """Return once the run has the ordered lines and is at the place, has four more lines, or is over."""
    path, place, lines = Path(order["path"]), order["place"], order["lines"]

    def until(lines: int, reached: Callable[[], bool] = lambda: False) -> None:
        while _alive(child) and _done_again(path, place) < lines and not reached():
            time.sleep(0.0002)

    def writing() -> bool:
        return bool(list((path / "checkpoints").glob(".step_*")))

    until(lines)
    if place in ("checkpoint", "pruning"):
        until(lines + 4, writing)
    if place == "pruning":
        until(lines + 4, lambda: not writing())
    time.sleep(order["delay"])


def _done_again(path: Path, place: str) -> int:
    """Return how many steps of the run are recorded, or 0 until the child has dropped the steps to repeat.

    With place ``anywhere`` it does not wait for this, so that some kills come during resuming.
    """
    if place != "anywhere" and not (path / RESUMED).exists():
        return 0
    return _lines(path / "metrics.jsonl")


def _alive(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


HELPER = """
import sys
sys.path.insert(0, sys.argv[1])
import test_training_crash
test_training_crash.serve()
"""


class Helper:
    """Client of the helper process."""

    def __init__(self, staleness: int) -> None:
        self.staleness = staleness
        command = [sys.executable, "-c", HELPER, str(Path(__file__).parent)]
        pipe = subprocess.PIPE
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)
        assert self._answer() == "ready"

    def attempt(
        self, path: Path, steps: int, lines: int = 0, place: str | None = None, delay: float = 0.0
    ) -> int:
        """Start or resume the run in a child and return its wait status (9: killed, 0: done)."""
        assert self.process.stdin is not None
        order = {
            "path": str(path),
            "steps": steps,
            "staleness": self.staleness,
            "lines": lines,
            "place": place,
            "delay": delay,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture
def helper(staleness: int) -> Iterator[Helper]:
    """The process that runs and kills children."""
    one = Helper(staleness)
    yield one
    one.close()


def kill_many(
    helper: Helper, path: Path, steps: int, kills: int, step_seconds: float
) -> Counter[str]:
    """Kill the run ``kills`` times, at random steps in order, and return what the kills left behind."""
    chance = random.Random(20260801)
    targets = sorted([0, 0, *(chance.randrange(1, steps - 8) for _ in range(kills - 2))])
    left: Counter[str] = Counter()
    for number, lines in enumerate(targets):
        place = PLACES[number % len(PLACES)]
        longest = {"anywhere": 1.5 * step_seconds, "checkpoint": 0.03}.get(place, 0.003)
        status = helper.attempt(path, steps, lines, place, chance.uniform(0, longest))
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        left += Counter(_traces(path))
    return left


def _traces(path: Path) -> Iterator[str]:
    root = path / "checkpoints"
    yield "kills"
    if list(root.glob(".step_*")):
        yield "half-written checkpoint"
    if list(root.glob(".gone.*")):
        yield "half-deleted checkpoint"
    steps = [int(p.name.removeprefix("step_")) for p in root.glob("step_*")]
    if _lines(path / "metrics.jsonl") > max(steps, default=0):
        yield "steps to do again"


def everything(path: Path) -> dict[str, Any]:
    """Return what must be equal: files of checkpoints, numbers without timings, decisions, rollouts."""
    from pyarrow import parquet

    from prorl_training.run.checkpoint import checkpoint_steps
    from prorl_training.testing import untimed_metrics

    folder = RunFolder(path)
    manifests = sorted(folder.checkpoints.glob("step_*/manifest.json"))
    files = sorted(folder.rollouts.iterdir())
    return {
        "steps": checkpoint_steps(folder.checkpoints),
        "checkpoints": {p.parent.name: json.loads(p.read_text()) for p in manifests},
        "best": (folder.checkpoints / "best").read_text(),
        "metrics": untimed_metrics(folder),
        "decisions": folder.decisions(),
        "rollouts": {p.name: parquet.read_table(p).to_pylist() for p in files},
    }


@pytest.mark.parametrize(
    ("steps", "kills", "staleness"),
    [
        pytest.param(50, 10, 0, marks=pytest.mark.slow),
        pytest.param(50, 5, 1, marks=pytest.mark.slow),
        pytest.param(200, 50, 0, marks=pytest.mark.nightly),
        pytest.param(200, 50, 1, marks=pytest.mark.nightly),
    ],
)
def test_run_killed_many_times_equals_the_run_never_killed(
    helper: Helper, tmp_path: Path, steps: int, kills: int
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with quiet_transformers():
        tiny_model(seed=0).save_pretrained(tmp_path / "model")
    byte_tokenizer().save_pretrained(tmp_path / "model")
    (tmp_path / "data").write_text("stands for the dataset's file in the run's identity")
    started = time.monotonic()
    assert helper.attempt(whole, steps) == 0
    step_seconds = (time.monotonic() - started) / steps
    left = kill_many(helper, killed, steps, kills, step_seconds)
    assert helper.attempt(killed, steps) == 0
    took = time.monotonic() - started
    print(f"{took:.0f} s in all, {step_seconds * 1000:.0f} ms a step; {dict(left)}")
    one, other = everything(whole), everything(killed)
    rows = one["metrics"]
    assert [r["step"] for r in rows] == list(range(1, steps + 1))
    assert any(r["groups_late_in"] for r in rows) and any(r.get("grad_norm") for r in rows)
    kinds = {d["kind"] for d in one["decisions"]}
    assert {"reference_reset", "penalty_window_opened", "warm_start"} <= kinds
    assert left["kills"] == kills and left["half-written checkpoint"] and left["steps to do again"]
    for part, value in one.items():
        assert other[part] == value, part
