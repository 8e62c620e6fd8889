from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import DiskFullError, NullProgress, ServiceError, UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine import local
from prorl_training.engine.local import TrainReport
from prorl_training.engine.loop import TrainingLoop
from prorl_training.engine.openrlhf import events
from prorl_training.engine.openrlhf.launch.process import wait_for_nodes
from prorl_training.engine.openrlhf.spec import Spec
from prorl_training.engine.start import PAUSE, Start, train_with_restarts
from prorl_training.run.folder import RunFolder
from prorl_training.run.watchdog import Watchdog
from prorl_training.types import Decision

MakeConfig = Callable[..., TrainConfig]
MakeEngine = Callable[..., TrainingLoop]


class Trainer:
    """A trainer that returns at once, or raises the next of ``troubles`` unless it is None."""

    def __init__(self, run: RunFolder, *troubles: Exception | None) -> None:
        self.run = run
        self.troubles = list(troubles)
        self.calls: list[bool] = []

    def __call__(self, again: bool) -> TrainReport:
        self.calls.append(again)
        trouble = self.troubles.pop(0)
        if trouble is not None:
            raise trouble
        return TrainReport(self.run.path, 4, 4, False)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.create(load_config("prorl-v2"), {})
    return folder


DEAD = ServiceError("ActorDiedError: the node is gone\nwith a long story")


def test_a_dead_worker_starts_the_run_again_and_says_where_from(run: RunFolder) -> None:
    said: list[str] = []
    slept: list[float] = []
    train = Trainer(run, DEAD, DEAD, None)
    report = train_with_restarts(train, run, 2, said.append, slept.append)
    assert (report.last_step, train.calls, slept) == (4, [False, True, True], [PAUSE, PAUSE])
    assert said == [
        "ActorDiedError: the node is gone; starting again at the beginning (restart 1 of 2)",
        "ActorDiedError: the node is gone; starting again at the beginning (restart 2 of 2)",
    ]


def test_the_last_death_is_raised_when_no_restart_is_left(run: RunFolder) -> None:
    train = Trainer(run, DEAD, DEAD)
    with pytest.raises(ServiceError, match="the node is gone"):
        train_with_restarts(train, run, 1, lambda line: None, lambda seconds: None)
    assert train.calls == [False, True]


@pytest.mark.parametrize(
    "error", [DiskFullError("no room"), UserError("a mistake"), RuntimeError("our bug")]
)
def test_what_a_restart_cannot_mend_ends_the_run_at_once(run: RunFolder, error: Exception) -> None:
    train = Trainer(run, error)
    with pytest.raises(type(error)):
        train_with_restarts(train, run, 5, lambda line: None, lambda seconds: None)
    assert train.calls == [False]


def test_a_run_that_never_came_about_is_not_started_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "none")
    with pytest.raises(ServiceError):
        train_with_restarts(
            Trainer(folder, DEAD), folder, 3, lambda line: None, lambda seconds: None
        )


def test_changes_of_config_are_recorded_by_one_launch_and_not_again_by_the_next(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = run.config().model_copy(update={"steps": 9000})
    change = Decision(5, "config_changed", "steps 3000 -> 9000", {})
    given: list[tuple[bool, int]] = []

    def train(
        config: TrainConfig, path: Path, progress: Any, resume: bool, decisions: Any
    ) -> TrainReport:
        given.append((resume, len(decisions)))
        if len(given) == 2:
            run.replace_config(config, 5)  # the second launch gets to recording it
        if len(given) < 4:
            raise DEAD
        return TrainReport(path, 4, 4, False)

    monkeypatch.setattr(local, "train", train)
    monkeypatch.setattr("prorl_training.engine.start.PAUSE", 0.0)
    Start(longer, run, True, (change,)).train(NullProgress(), restarts=3)
    assert given == [(True, 1), (True, 1), (True, 0), (True, 0)]


class FakeRay:
    """A cluster that gains a node with every check."""

    def __init__(self, gpus: int) -> None:
        self.looks = 0
        self.gpus = gpus

    def nodes(self) -> list[dict[str, Any]]:
        self.looks += 1
        node = {"Alive": True, "Resources": {"GPU": self.gpus}}
        return [node] * self.looks + [{**node, "Alive": False}] * 9


def launched(tmp_path: Path, *settings: str) -> Spec:
    folder = RunFolder(tmp_path / "cluster")
    words = ["engine=openrlhf", "openrlhf.nodes=4", *settings]
    folder.create(load_config("prorl-v2", None, words), {})
    spec = Spec(str(folder.path), False, "cuda", ())
    spec.write()
    return spec


def test_a_launch_waits_for_the_node_that_takes_a_dead_ones_place(tmp_path: Path) -> None:
    spec, ray = launched(tmp_path), FakeRay(8)
    wait_for_nodes(ray, spec, lambda seconds: None)
    assert ray.looks == 4
    (word,) = events.EventReader(spec.folder / events.EVENTS).new()
    assert word["text"].startswith("1 of 4 nodes with 8 GPUs are in the Ray cluster: waiting")


def test_a_launch_does_not_wait_forever_for_a_node(tmp_path: Path) -> None:
    spec = launched(tmp_path, "openrlhf.node_wait_seconds=30")
    with pytest.raises(ServiceError, match=r"0 of 4 nodes with 8 GPUs .* after 30 s"):
        wait_for_nodes(FakeRay(4), spec, lambda seconds: None)


def test_writes_that_take_seconds_end_nothing_and_change_nothing(
    tmp_path: Path,
    make_engine: MakeEngine,
    make_config: MakeConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = make_config(steps=2, warm_start={"examples": 0}, logging={"tensorboard": False})
    fast = make_engine(config, tmp_path / "fast")
    fast.run()
    slow = make_engine(config, tmp_path / "slow")
    sync, said = os.fsync, list[str]()

    def syncs_slowly(handle: int) -> None:
        time.sleep(0.15)  # a dozen of them per checkpoint
        sync(handle)

    monkeypatch.setattr(os, "fsync", syncs_slowly)
    with Watchdog(0.5, tmp_path / "stacks.txt", said.append):
        assert slow.run() == 2
    assert said and all("no progress for" in line for line in said)
    states = [
        (tmp_path / name / "checkpoints/step_000002/policy/model.safetensors").read_bytes()
        for name in ("fast", "slow")
    ]
    assert states[0] == states[1]
