from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from doubles import write_model

from prorl_common import NullProgress, UserError, sha256_file
from prorl_datasets.storage import MANIFEST, canonical_json, write_split
from prorl_training.config import TrainConfig
from prorl_training.config.loading import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.tree import merge
from prorl_training.engine.local import train
from prorl_training.run.folder import ResumeError, RunFolder
from prorl_training.run.resume import resume_config


def row(split: str, number: int, prompt: str) -> dict[str, Any]:
    return {
        "id": f"{split}-{number}",
        "domain": "math",
        "split": split,
        "prompt": [{"role": "user", "content": prompt}],
        "verifier": "math",
        "reference": canonical_json({"answer": str(number % 4)}),
        "source": "test",
        "licence": "none",
        "gold_check": "verified",
        "metadata": canonical_json({"gold_response": f"\\boxed{{{number % 4}}}"}),
    }


def write_dataset(folder: Path, prompts: Iterable[str]) -> Path:
    folder.mkdir()
    texts = list(prompts)
    files = {}
    for split in ("train", "validation"):
        rows = [row(split, i, text) for i, text in enumerate(texts)]
        count = write_split(folder / f"{split}.parquet", iter(rows))
        file = folder / f"{split}.parquet"
        files[file.name] = {"rows": count, "sha256": sha256_file(file)}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return folder


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    write_model(folder, seed=0, hidden=32, context=96)
    return folder


def config_of(model: Path, data: Path, **over: Any) -> TrainConfig:
    toy = {
        "steps": 2,
        "model": {"path": str(model), "device": "cpu", "dtype": "fp32"},
        "data": {"path": str(data)},
        "rollout": {"prompts": 2, "samples": 4, "temperature": 1.0, "max_tokens": 12},
        "dynamic_sampling": {"enabled": False},  # or a run whose answers are all wrong fails
        "loss": {"mini_batches": 1, "pack_tokens": 256},
        "validation": {"every": 2, "problems": 4},
        "checkpoint": {"every": 1},
        "warm_start": {"examples": 4, "batch": 4, "lr": 5e-3, "epochs": 20},
        "reward": {"workers": 1},
        "logging": {"tensorboard": False},
    }
    return check_config(merge(merge(load_preset("prorl-v2"), toy), over))


def test_a_run_trains_resumes_for_more_steps_and_refuses_other_data_or_mathematics(
    tmp_path: Path, model_folder: Path
) -> None:
    long = "x" * 90  # leaves no room for 12 tokens in a context of 96
    data = write_dataset(tmp_path / "data", ["0?", "1?", "2?", "3?", long])
    run = tmp_path / "run"
    report = train(config_of(model_folder, data), run, NullProgress())
    assert (report.last_step, report.interrupted, report.stopped) == (2, False, None)
    folder = RunFolder(run)
    assert [r["step"] for r in folder.metrics()] == [1, 2]
    assert folder.metrics()[-1]["validation_problems"] == 4
    assert "warm_start" in [d["kind"] for d in folder.decisions()]

    with pytest.raises(ResumeError, match=r"optimizer\.lr"):
        resume_config(folder, ["optimizer.lr=1e-3"], None)

    config, decisions = resume_config(folder, ["checkpoint.keep=1"], 3)
    report = train(config, run, NullProgress(), resume=True, decisions=decisions)
    assert report.last_step == 3
    assert [r["step"] for r in folder.metrics()] == [1, 2, 3]
    assert "config_changed" in [d["kind"] for d in folder.decisions()]
    assert folder.config().checkpoint.keep == 1

    other = write_dataset(tmp_path / "other", ["5?", "6?"])
    moved = config.model_copy(
        update={"steps": 4, "data": config.data.model_copy(update={"path": str(other)})}
    )
    with pytest.raises(UserError, match="not the one that run was started on"):
        train(moved, run, NullProgress(), resume=True)


def test_a_response_limit_beyond_the_context_is_refused_before_a_run_folder_is_made(
    tmp_path: Path, model_folder: Path
) -> None:
    data = write_dataset(tmp_path / "data", ["0?"])
    config = config_of(model_folder, data, rollout={"max_tokens": 96})
    with pytest.raises(UserError, match="leaves no room for a prompt"):
        train(config, tmp_path / "run", NullProgress())
    assert not (tmp_path / "run").exists()
