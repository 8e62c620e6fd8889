"""Rewards that a model gives: refused unless the config names the model, and counted apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import UserError, sha256_file
from prorl_datasets import Sample
from prorl_datasets.storage import MANIFEST, canonical_json, write_split
from prorl_inference import Completion
from prorl_training.config import TrainConfig
from prorl_training.config.runtime import RewardConfig
from prorl_training.engine.local import load_samples
from prorl_training.rollout.types import Group, Trajectory
from prorl_training.run.folder import RunFolder
from prorl_training.run.metrics import group_metrics
from prorl_training.run.rollouts import Learned, write_rollouts
from prorl_verifiers import Task, Verdict

JUDGED = Task("judge", {"question": "Why?", "criteria": "It says why."})
PART = {"verifier": "judge", "reference": dict(JUDGED.reference)}
COMPOSED = Task("composite", {"parts": [PART, {"verifier": "math", "reference": {"answer": "1"}}]})


@pytest.fixture(params=[JUDGED, COMPOSED], ids=["alone", "as a part"])
def data(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    task: Task = request.param
    row = {
        "id": "a",
        "domain": "stem",
        "split": "train",
        "prompt": [{"role": "user", "content": "Why?"}],
        "verifier": task.verifier,
        "reference": canonical_json(dict(task.reference)),
        "source": "test",
        "licence": "none",
        "gold_check": "none",
        "metadata": "{}",
    }
    folder = tmp_path / "data"
    folder.mkdir()
    file = folder / "train.parquet"
    files = {file.name: {"rows": write_split(file, iter([row])), "sha256": sha256_file(file)}}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return folder


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRORL_JUDGE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("PRORL_JUDGE_MODEL", "big-model")


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    ("judge", "words"), [(None, "nothing does"), ("other-model", "it is other-model")]
)
def test_a_dataset_cannot_turn_the_judge_on(data: Path, judge: str | None, words: str) -> None:
    with pytest.raises(UserError, match="the model big-model would give") as caught:
        load_samples(data, RewardConfig(judge=judge))
    assert words in str(caught.value)


@pytest.mark.usefixtures("on")
def test_a_config_that_names_the_model_takes_its_rewards(data: Path) -> None:
    train, _ = load_samples(data, RewardConfig(judge="big-model"))
    assert [sample.id for sample in train] == ["a"]


def test_a_config_alone_does_not_turn_it_on(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRORL_JUDGE_URL", raising=False)
    with pytest.raises(UserError, match="it is off: set PRORL_JUDGE_URL"):
        load_samples(data, RewardConfig(judge="big-model"))


def verdicts() -> Group:
    found = [
        Verdict(1.0, "scored", "equal"),
        Verdict(0.5, "judged", "m gives 0.5", metrics={"judge": "m"}),
        Verdict(0.0, "judged", "m gives 0", metrics={"judge": "m"}),
        Verdict(None, "infra_error", "away"),
    ]
    answers = tuple(
        Trajectory(i, Completion("x", (1,), (-0.1,), "stop"), v, v.reward or 0.0)
        for i, v in enumerate(found)
    )
    prompt = ({"role": "user", "content": "?"},)
    return Group(Sample("a", "stem", prompt, JUDGED, "test", "none"), answers, 1)


def test_a_steps_metrics_count_a_models_rewards_apart() -> None:
    row = group_metrics([verdicts()], ["usable"])
    assert (row["judged"], row["judged_reward_mean"], row["reward_mean"]) == (2, 0.25, 0.5)


def test_rollouts_say_which_model_gave_a_reward(
    tmp_path: Path, make_config: Callable[..., TrainConfig]
) -> None:
    from pyarrow import parquet

    run = RunFolder(tmp_path / "run")
    run.create(make_config(steps=1))
    write_rollouts(run, 1, [verdicts()], Learned())
    rows = parquet.read_table(run.rollouts / "step_000001.parquet").to_pylist()
    assert [(row["status"], row["judge"]) for row in rows] == [
        ("scored", None),
        ("judged", "m"),
        ("judged", "m"),
        ("infra_error", None),
    ]
