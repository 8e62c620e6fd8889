from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.run.folder import ResumeError, RunFolder
from prorl_training.run.resume import (
    ALLOWED,
    check_identity,
    dataset_fingerprint,
    resume_config,
    run_identity,
)

MakeConfig = Callable[..., TrainConfig]


@pytest.fixture
def run(tmp_path: Path, make_config: MakeConfig) -> RunFolder:
    """A run of ten steps whose newest checkpoint is of step 6."""
    folder = RunFolder(tmp_path / "one")
    folder.create(make_config(steps=10))
    fake_checkpoint(folder, 6)
    return folder


def fake_checkpoint(folder: RunFolder, step: int) -> None:
    path = folder.checkpoints / f"step_{step:06d}"
    path.mkdir(parents=True)
    (path / "state.json").write_text("{}")
    listing = {"files": {"state.json": {"bytes": 2, "sha256": ""}}}
    (path / "manifest.json").write_text(json.dumps(listing))


def test_nothing_changed_is_no_decision(run: RunFolder) -> None:
    config, decisions = resume_config(run, [], None)
    assert (config, decisions) == (run.config(), [])
    assert resume_config(run, ["seed=0"], 10)[1] == []


def test_allowed_changes_are_one_decision_with_old_and_new(run: RunFolder) -> None:
    changes = ["rollout.batch_rows=8", "checkpoint.every=2", "logging.tensorboard=false"]
    config, (decision,) = resume_config(run, changes, 20)
    assert (config.steps, config.rollout.batch_rows, config.checkpoint.every) == (20, 8, 2)
    assert (decision.kind, decision.step) == ("config_changed", 6)
    assert "steps 10 -> 20" in decision.reason
    assert decision.evidence["changed"]["checkpoint.every"] == [1, 2]
    assert run.config().steps == 10  # nothing was written


def test_changes_of_the_mathematics_are_refused_all_at_once_with_the_cure(run: RunFolder) -> None:
    changes = ["loss.clip_high=0.3", "seed=1", "model.path=other", "checkpoint.every=2"]
    with pytest.raises(ResumeError) as caught:
        resume_config(run, changes, None)
    text = str(caught.value)
    for part in ("loss.clip_high (0.28 -> 0.3)", "seed (0 -> 1)", "model.path (tiny -> other)"):
        assert part in text
    assert "checkpoint.every" not in text
    assert (
        "(it can change model.device, model.gradient_checkpointing, model.liger, model.gpus, "
        "model.sharding, model.gpu_gb, model.check_fit, loss.pack_tokens)" in text
    )
    assert "prorl train export one --out FOLDER" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    "change",
    [
        "kl.coefficient=0.1",
        "optimizer.lr=1",
        "validation.every=5",
        "reward.backend=docker",
        "model.dtype=bf16",
        "controller.reset_interval=4",
        "warm_start.examples=1",
        "rollout.samples=8",
        "dynamic_sampling.surplus=drop",
        "data.domain_weights={math: 1}",
    ],
)
def test_settings_that_enter_the_mathematics_may_not_change(run: RunFolder, change: str) -> None:
    with pytest.raises(ResumeError, match=change.split("=")[0]):
        resume_config(run, [change], None)


def test_every_setting_named_as_allowed_exists(make_config: MakeConfig) -> None:
    values = make_config().model_dump()
    for name in ALLOWED:
        section, _, key = name.partition(".")
        assert section in values
        assert not key or key in values[section]


def test_fewer_steps_than_are_done_are_refused(run: RunFolder) -> None:
    with pytest.raises(ResumeError, match="has already done 6 steps"):
        resume_config(run, [], 5)
    assert resume_config(run, [], 6)[0].steps == 6


def test_unknown_setting_is_an_ordinary_config_error(run: RunFolder) -> None:
    with pytest.raises(UserError, match=r"checkpoint\.every"):
        resume_config(run, ["checkpoint.evry=2"], None)


def test_more_steps_keep_the_curve_of_the_learning_rate(
    tmp_path: Path, make_config: MakeConfig
) -> None:
    folder = RunFolder(tmp_path / "two")
    folder.create(make_config(steps=10, optimizer={"schedule": "cosine"}))
    config, (decision,) = resume_config(folder, [], 20)
    assert config.optimizer.decay_updates == 10 * 2  # two mini-batches per step
    assert decision.evidence["changed"]["optimizer.decay_updates"] == [0, 20]


def test_the_kept_curve_is_the_same_number_at_every_update(
    tmp_path: Path, make_config: MakeConfig
) -> None:
    phases = [
        {"name": "one", "steps": 4},
        {"name": "two", "steps": 1, "set": {"loss": {"mini_batches": 1}}},
    ]
    before = make_config(
        steps=10, optimizer={"schedule": "linear", "warmup_updates": 5}, phases=phases
    )
    folder = RunFolder(tmp_path / "three")
    folder.create(before)
    after, _ = resume_config(folder, [], 20)
    for update in range(1, before.planned_updates + 1):
        old = before.optimizer.lr_at(update, before.planned_updates)
        assert after.optimizer.lr_at(update, after.planned_updates) == old


def test_best_checkpoints_stay_on_where_a_reset_goes_back_to_them(
    tmp_path: Path, make_config: MakeConfig, run: RunFolder
) -> None:
    assert not resume_config(run, ["checkpoint.best=false"], None)[0].checkpoint.best
    folder = RunFolder(tmp_path / "two")
    folder.create(make_config(controller={"reset_interval": 3, "reset_to": "best"}))
    with pytest.raises(UserError, match=r"set checkpoint\.best=true"):
        resume_config(folder, ["checkpoint.best=false"], None)


def fake_dataset(path: Path, digest: str) -> Path:
    path.mkdir(exist_ok=True)
    files = {"train.parquet": {"sha256": digest}}
    (path / "manifest.json").write_text(json.dumps({"files": files}))
    return path


def test_other_data_under_the_same_path_is_refused_and_moved_data_is_not(
    tmp_path: Path, make_config: MakeConfig
) -> None:
    data = fake_dataset(tmp_path / "data", "aa")
    folder = RunFolder(tmp_path / "two")
    folder.create(make_config(), run_identity(data, None))
    check_identity(folder, data)
    check_identity(folder, fake_dataset(tmp_path / "moved", "aa"))
    fake_dataset(data, "bb")
    with pytest.raises(ResumeError, match="is not the one that two was started on"):
        check_identity(folder, data)


def test_other_base_model_is_refused(tmp_path: Path, make_config: MakeConfig) -> None:
    data, model = fake_dataset(tmp_path / "data", "aa"), tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"one")
    folder = RunFolder(tmp_path / "two")
    folder.create(make_config(), run_identity(data, model))
    check_identity(folder, data, model)
    (model / "model.safetensors").write_bytes(b"two")
    with pytest.raises(ResumeError, match="its weights differ"):
        check_identity(folder, data, model)


def test_fingerprint_of_a_lone_file_follows_its_content(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    file.write_bytes(b"one")
    before = dataset_fingerprint(file)
    file.write_bytes(b"two")
    assert dataset_fingerprint(file) != before


def test_run_from_before_identities_passes(run: RunFolder, tmp_path: Path) -> None:
    check_identity(run, tmp_path / "nowhere")
