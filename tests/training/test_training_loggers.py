from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from prorl_common import MissingExtraError, UserError
from prorl_training.config import LoggingConfig
from prorl_training.run.loggers import Loggers, scalars

ROW = {"step": 1, "kl": 0.5, "phase": 0, "on": True, "none": None, "word": "x"}
DOMAINS = {"domains": {"math": {"reward_mean": 0.25}, "code": {"reward_mean": None}}}


class FakeWandb:
    """A stand-in for the wandb module that records its calls."""

    class Error(Exception):
        """wandb's exception."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.inits: list[dict[str, Any]] = []
        self.logged: list[dict[str, Any]] = []
        self.metrics: list[tuple[str, str | None]] = []
        self.finished = 0

    def Settings(self, **settings: Any) -> dict[str, Any]:
        return settings

    def init(self, **options: Any) -> FakeWandb:
        if self.fails:
            raise self.Error(self.fails)
        self.inits.append(options)
        return self

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.metrics.append((name, step_metric))

    def log(self, row: dict[str, Any]) -> None:
        self.logged.append(row)

    def finish(self) -> None:
        self.finished += 1


def test_numbers_are_flattened_per_domain() -> None:
    assert dict(scalars({**ROW, **DOMAINS})) == {
        "step": 1.0,
        "kl": 0.5,
        "phase": 0.0,
        "on": 1.0,
        "domains/math/reward_mean": 0.25,
    }


def test_wandb_gets_every_number_on_the_step_axis(tmp_path: Path) -> None:
    fake = FakeWandb()
    config = LoggingConfig(tensorboard=False, wandb="offline", wandb_project="p")
    with Loggers(tmp_path, config, 1, {"wandb": fake}) as loggers:
        loggers.write(1, {**ROW, **DOMAINS})
    assert fake.logged[0]["domains/math/reward_mean"] == 0.25
    assert fake.logged[0]["step"] == 1
    assert ("*", "step") in fake.metrics
    (init,) = fake.inits
    assert (init["mode"], init["project"], init["name"]) == ("offline", "p", tmp_path.name)
    assert fake.finished == 1


def test_resumed_run_continues_the_same_wandb_run(tmp_path: Path) -> None:
    fake = FakeWandb()
    config = LoggingConfig(tensorboard=False, wandb="online")
    for first in (1, 3):
        Loggers(tmp_path, config, first, {"wandb": fake}).close()
    ids = [init["id"] for init in fake.inits]
    assert ids[0] == ids[1] == json.loads((tmp_path / "wandb.json").read_text())["id"]
    assert all(init["resume"] == "allow" for init in fake.inits)


def test_wandb_that_cannot_start_is_one_line_with_the_cure(tmp_path: Path) -> None:
    config = LoggingConfig(tensorboard=False, wandb="online")
    with pytest.raises(UserError, match=r"not logged in.*logging\.wandb=offline"):
        Loggers(tmp_path, config, 1, {"wandb": FakeWandb("not logged\nin")})
    assert not (tmp_path / "wandb.json").exists()


@pytest.mark.parametrize(
    ("module", "asked"), [("wandb", {"wandb": "offline"}), ("trackio", {"trackio": "p"})]
)
def test_one_that_is_not_installed_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, asked: dict[str, Any]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == module else find(name)
    )
    with pytest.raises(MissingExtraError, match=rf"prorl\[{module}\]"):
        Loggers(tmp_path, LoggingConfig(tensorboard=False, **asked), 1)


class FakeTrackio:
    """A stand-in for the trackio module that records its calls and prints like it."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.inits: list[dict[str, Any]] = []
        self.logged: list[tuple[int, dict[str, Any]]] = []
        self.finished = 0

    def init(self, **options: Any) -> FakeTrackio:
        print("* Trackio project initialized")
        if self.fails:
            raise ValueError(self.fails)
        self.inits.append(options)
        return self

    def log(self, metrics: dict[str, Any], step: int) -> None:
        self.logged.append((step, metrics))

    def finish(self) -> None:
        print("* Run finished")
        self.finished += 1


def test_trackio_gets_every_number_at_its_step_and_stdout_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeTrackio()
    config = LoggingConfig(tensorboard=False, trackio="p")
    with Loggers(tmp_path, config, 1, {"trackio": fake}) as loggers:
        loggers.write(7, {**ROW, **DOMAINS})
    assert fake.logged == [(7, {"kl": 0.5, "phase": 0, "on": 1, "domains/math/reward_mean": 0.25})]
    assert (fake.inits[0]["project"], fake.finished) == ("p", 1)
    assert capsys.readouterr().out == ""


def test_resumed_run_continues_the_same_trackio_run_and_another_folder_has_its_own(
    tmp_path: Path,
) -> None:
    fake = FakeTrackio()
    for folder, project, first in (("a/one", "p", 1), ("a/one", "other", 3), ("b/one", "p", 1)):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        config = LoggingConfig(tensorboard=False, trackio=project)
        Loggers(tmp_path / folder, config, first, {"trackio": fake}).close()
    one, again, another = ((i["project"], i["name"]) for i in fake.inits)
    assert one == again != another and one[1].startswith("one-")
    assert all(init["resume"] == "allow" for init in fake.inits)


def test_trackio_that_cannot_start_is_one_line_and_what_was_open_is_closed(tmp_path: Path) -> None:
    wandb = FakeWandb()
    config = LoggingConfig(tensorboard=False, wandb="offline", trackio="registry-x")
    with pytest.raises(UserError, match=r"trackio cannot start \(reserved name\)"):
        Loggers(tmp_path, config, 1, {"wandb": wandb, "trackio": FakeTrackio("reserved\nname")})
    assert wandb.finished == 1 and not (tmp_path / "trackio.json").exists()


def test_nothing_is_written_when_all_are_off(tmp_path: Path) -> None:
    with Loggers(tmp_path, LoggingConfig(tensorboard=False), 1) as loggers:
        loggers.write(1, ROW)
    assert list(tmp_path.iterdir()) == []


def test_tensorboard_drops_the_steps_that_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    writer = importlib.import_module("tensorboard.summary.writer.event_file_writer")
    # the text of this counter orders files of the same second, so that 10 would come before 9
    monkeypatch.setattr(writer, "_global_uid", type(writer._global_uid)(0))
    config = LoggingConfig()
    with Loggers(tmp_path, config, 1) as first:
        for step in (1, 2, 3, 4):
            first.write(step, {"kl": 0.0, **DOMAINS})
    with Loggers(tmp_path, config, 3) as second:
        second.write(3, {"kl": 1.0})
    events = reader.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(e.step, e.value) for e in events.Scalars("kl")] == [(1, 0.0), (2, 0.0), (3, 1.0)]
    assert "domains/math/reward_mean" in events.Tags()["scalars"]
