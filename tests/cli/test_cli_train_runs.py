from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles import invoke, write_model

from prorl_common import UserError
from prorl_training.config.loading import load_config
from prorl_training.config.presets import preset_names
from prorl_training.run.checkpoint import checkpoint_path, mark_best, seal
from prorl_training.run.folder import RunFolder
from prorl_training.types import Decision


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "model"
    write_model(path)
    return path


@pytest.fixture
def run(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    """A run under ./runs with checkpoints of steps 0, 2 and 4, the best at 2."""
    monkeypatch.chdir(tmp_path)
    folder = RunFolder(Path("runs/one"))
    folder.create(load_config("cpu", overrides=["steps=10"]))
    for step in (1, 2, 3, 4):
        extra = {"validation_reward": 0.5} if step == 2 else {}
        folder.log_metrics({"step": step, "reward_mean": 0.125, **extra})
    folder.log_decisions([Decision(3, "reference_reset", "interval", {})])
    for step in (0, 2, 4):
        hand_made_checkpoint(checkpoint_path(folder.checkpoints, step), model, step)
    mark_best(folder.checkpoints, 2)
    yield folder


def hand_made_checkpoint(path: Path, model: Path, step: int) -> None:
    import shutil

    shutil.copytree(model, path / "policy")
    (path / "policy" / "note.txt").write_text(str(step))
    (path / "state.json").write_text(json.dumps({"step": step}))
    seal(path)


def prorl(*words: str) -> Any:
    return invoke("train", *words)


def exported_step(out: str) -> str:
    return (Path(out) / "note.txt").read_text()


def test_presets_have_a_line_each_with_what_they_are() -> None:
    _, _, *lines = prorl("presets").stdout.splitlines()  # header and rule
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == preset_names()
    described = json.loads(prorl("presets", "--json").stdout)
    assert set(described) == set(preset_names())
    assert all(len(d["description"]) > 10 for d in described.values())
    assert described["prorl-v2"]["config"]["steps"] == load_config("prorl-v2").steps


def test_status_shows_how_far_how_good_and_whether_it_runs(run: RunFolder) -> None:
    (row,) = json.loads(prorl("status", "--json").stdout)
    assert (row["run"], row["state"], row["step"], row["steps"]) == ("one", "stopped", 4, 10)
    assert (row["reward_mean"], row["validation_reward"], row["last_reset"]) == (0.125, 0.5, 3)
    with run.lock():
        line = prorl("status").stdout
    for part in ("one", "running", "step 4/10", "reward 0.125", "0.500 (step 2)", "reset step 3"):
        assert part in line


def test_status_without_runs_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no runs yet: start one with prorl train" in prorl("status").output


def test_export_takes_the_newest_the_best_or_a_step(run: RunFolder) -> None:
    for out, words in {"a": [], "b": ["--checkpoint", "best"], "c": ["--checkpoint", "0"]}.items():
        assert prorl("export", "one", "--out", out, *words).stdout == f"{out}\n"
    assert [exported_step(out) for out in "abc"] == ["4", "2", "0"]
    from transformers import AutoModelForCausalLM

    AutoModelForCausalLM.from_pretrained("a")


def test_export_of_a_damaged_checkpoint_is_refused_and_names_the_newest_intact_one(
    run: RunFolder,
) -> None:
    (checkpoint_path(run.checkpoints, 4) / "policy" / "config.json").write_text("{}")
    with pytest.raises(
        UserError, match=r"step_000004.* is damaged.*of step 2: name it with --checkpoint 2"
    ):
        prorl("export", "--out", "a")
    assert not Path("a").exists()
    assert (run.checkpoints / "step_000004").is_dir()  # looked at, not touched


@pytest.mark.parametrize(
    ("checkpoint", "cure"),
    [("3", "it has: 0, 2, 4"), ("worst", "use latest, best or the number of a step")],
)
def test_export_of_what_is_not_there_is_one_line(
    run: RunFolder, checkpoint: str, cure: str
) -> None:
    with pytest.raises(UserError, match=cure):
        prorl("export", "--out", "a", "--checkpoint", checkpoint)
    assert not Path("a").exists()


def test_export_writes_over_nothing(run: RunFolder) -> None:
    Path("a").mkdir()
    with pytest.raises(UserError, match="a exists: choose another folder"):
        prorl("export", "--out", "a")


def test_export_of_a_named_run_goes_into_that_run(run: RunFolder) -> None:
    other = RunFolder(Path("runs/two"))
    other.create(load_config("cpu", overrides=["steps=10"]))
    assert prorl("export", "one").stdout == "runs/one/export/step_000004\n"
    assert exported_step("runs/one/export/step_000004") == "4"


def test_the_newest_run_is_named_where_none_was_given(run: RunFolder) -> None:
    for words in (["export"], ["explain"], ["forecast"]):
        assert "runs/one (the newest)" in prorl(*words).stderr
        assert (
            "the newest"
            not in prorl(*words, "one", *(["--out", "x"] * (words == ["export"]))).stderr
        )
