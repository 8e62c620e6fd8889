from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).parent / "v0.2.0"
STEPS, KILLED_AT = 20, 11
REL = 1e-5
"""Tolerance of metrics between machines, which sum matrix products in different orders."""
FORGOTTEN = ("seconds", "tokens_per_second", "idle_share", "memory", "_gb")
"""Parts of the names of metrics that depend on the machine or its load."""
SETTINGS = (
    *("model.path=model", "model.device=cpu", "model.dtype=fp32", f"steps={STEPS}"),
    *("rollout.prompts=4", "rollout.samples=4", "rollout.temperature=1.0", "rollout.max_tokens=12"),
    *("dynamic_sampling.max_batches=3", "loss.mini_batches=2", "loss.pack_tokens=512"),
    *("length_penalty.steps_on=2", "length_penalty.steps_off=4", "length_penalty.start_step=4"),
    *("length_penalty.weight=0.1", "controller.reset_interval=8", "optimizer.lr=1e-3"),
    *("validation.every=5", "validation.problems=8", "checkpoint.every=2", "checkpoint.keep=1"),
    *("warm_start.examples=64", "warm_start.epochs=12", "warm_start.lr=5e-3"),
    *("logging.tensorboard=false", "reward.workers=1"),
)
TRAIN = ("--preset", "prorl-v2", "--data", "dataset")


def train(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start ``prorl train`` in ``folder`` on one thread, so that sums are always added in the same order."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "prorl_cli", "train", *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)


def new_run(folder: Path) -> subprocess.Popen[bytes]:
    """Start the run of twenty steps in ``folder`` with a copy of the stored model and dataset."""
    for name in ("model", "dataset"):
        shutil.copytree(STORED / name, folder / name)
    settings = (word for one in SETTINGS for word in ("--set", one))
    return train(folder, *TRAIN, "--name", "tiny", *settings)


def results(run: Path) -> dict[str, Any]:
    """Return the decisions and numbers in a run's files."""
    decisions = [json.loads(line) for line in (run / "decisions.jsonl").read_text().splitlines()]
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    found: dict[str, Any] = {
        f"decision {at:02}": {key: one[key] for key in ("kind", "step", "evidence")}
        for at, one in enumerate(decisions)
    }
    for row in metrics:
        found[f"metrics {row['step']:02}"] = {
            name: value
            for name, value in row.items()
            if not any(part in name for part in FORGOTTEN)
        }
    return found


def weights(run: Path) -> str:
    """Return a hash of the last checkpoint's weights."""
    files = sorted((run / "checkpoints" / f"step_{STEPS:06}").glob("**/*.safetensors"))
    assert files
    content = b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)
    return hashlib.sha256(content).hexdigest()[:16]


def machine() -> str:
    """Return torch's version and the processor, which together determine all bits of the weights."""
    import torch

    cpu = Path("/proc/cpuinfo")
    named: dict[str, str] = {}
    for line in cpu.read_text().splitlines() if cpu.exists() else []:
        key, _, value = line.partition(":")
        named.setdefault(key.strip(), value.strip())
    keys = ("model name", "cpu family", "model", "stepping")
    processor = " ".join(named.get(key, "?") for key in keys)
    return f"torch {torch.__version__}, {processor}, {torch.backends.cpu.get_cpu_capability()}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole")
    assert new_run(folder).wait(300) == 0
    return folder / "runs" / "tiny"


@pytest.mark.slow
def test_twenty_steps_have_the_decisions_and_metrics_they_had(whole: Path, golden: Any) -> None:
    found = results(whole)
    kinds = {value["kind"] for name, value in found.items() if name.startswith("decision")}
    assert {"reference_reset", "penalty_window_opened", "penalty_window_closed"} <= kinds
    golden.check("training", found, rel=REL)


@pytest.mark.slow
def test_twenty_steps_end_in_the_weights_they_ended_in(whole: Path, golden: Any) -> None:
    golden.check_known("training_weights", machine(), weights(whole))


@pytest.mark.slow
def test_a_run_killed_at_step_11_and_resumed_is_the_same(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "tiny"
    process, metrics = new_run(tmp_path), run / "metrics.jsonl"
    while process.poll() is None:
        if metrics.exists() and metrics.read_bytes().count(b"\n") >= KILLED_AT:
            process.kill()
        time.sleep(0.001)
    assert process.returncode == -signal.SIGKILL
    assert train(tmp_path, "--resume", "tiny").wait(300) == 0
    assert results(run) == results(whole)
    assert weights(run) == weights(whole)


def prorl(*words: str) -> str:
    result = CliRunner().invoke(build_app(), list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_simulated_schedule_of_3000_steps_decides_what_it_decided(golden: Any) -> None:
    printed = prorl("train", "simulate", "--preset", "prorl-v2", "--steps", "3000", "--json")
    rows = {
        f"{at:03}": {key: one[key] for key in ("kind", "step", "evidence")}
        for at, one in enumerate(json.loads(printed))
    }
    golden.check("simulate", rows, rel=REL)


@pytest.mark.parametrize("preset", ["prorl-v2", "justrl"])
def test_a_dry_run_of_openrlhf_prints_the_arguments_it_printed(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--engine", "openrlhf", "--dry-run", "--preset", preset, "--model", "MODEL")
    printed = prorl("train", *words, "--name", "RUN", "--set", "model.device=cuda")
    for place, name in ((tmp_path, "HERE"), (ROOT, "CHECKOUT")):
        printed = printed.replace(str(place), name)
    rows = {f"{at:03}": line.strip(" \\") for at, line in enumerate(printed.splitlines())}
    golden.check(f"openrlhf_{preset}", rows)
