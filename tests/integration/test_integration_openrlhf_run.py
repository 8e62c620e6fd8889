"""A whole run on the real stack without a GPU: five domains, resets, a penalty window, a kill and a resume.

OpenRLHF, Ray, vLLM and DeepSpeed run as they are, on a tiny random model. Needs the environment of
``make openrlhf-cpu-venv``; skips without it, fails without it under ``PRORL_OPENRLHF_TESTS``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from prorl_common import sha256_file
from prorl_datasets.storage import MANIFEST, canonical_json, write_split

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

MODEL = """
import sys
from prorl_inference.testing import byte_tokenizer, tiny_model
tiny_model(seed=0, hidden=128, layers=2, context=512).save_pretrained(sys.argv[1])
byte_tokenizer().save_pretrained(sys.argv[1])
"""
PATIENCE = 600
"""Seconds for one launch; a quiet machine with two cores takes about a fifth of it."""


def problems() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Return (domain, prompt, verifier, reference); a random model is often right on the first kind."""
    import reasoning_gym

    for i in range(12):
        no_comma = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
        yield "instruction", f"Text {i}", "instruction", no_comma
    for i in range(3):
        yield "math", f"{i}+1", "math", {"answer": str(i + 1)}
        yield "stem", f"{i} m in cm", "stem", {"answer": f"{100 * i} cm"}
        yield "code", f"print {i}", "code", {"tests": [{"stdin": "", "stdout": str(i)}]}
    for entry in reasoning_gym.create_dataset("chain_sum", seed=1, size=3):
        yield "logic", entry["question"], "logic", {"dataset": "chain_sum", "entry": entry}


def write_dataset(folder: Path) -> Path:
    folder.mkdir()
    files = {}
    for split in ("train", "validation"):
        rows = [
            {
                "id": f"{split}-{i}",
                "domain": domain,
                "split": split,
                "prompt": [{"role": "user", "content": prompt}],
                "verifier": verifier,
                "reference": canonical_json(reference),
                "source": "test",
                "licence": "none",
                "gold_check": "none",
                "metadata": "{}",
            }
            for i, (domain, prompt, verifier, reference) in enumerate(problems())
        ]
        file = folder / f"{split}.parquet"
        files[file.name] = {"rows": write_split(file, iter(rows)), "sha256": sha256_file(file)}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, a dataset and a config in it."""
    folder = tmp_path_factory.mktemp("cluster")
    # In a process of its own: beside DeepSpeed, saving a model imports packages that warn.
    subprocess.run([sys.executable, "-c", MODEL, str(folder / "model")], check=True)
    config = {
        "preset": "prorl-v2",
        "engine": "openrlhf",
        "steps": 6,
        "model": {"path": str(folder / "model"), "device": "cpu"},
        "data": {
            "path": str(write_dataset(folder / "data")),
            "domain_weights": {"instruction": 8, "math": 1, "stem": 1, "code": 1, "logic": 1},
        },
        "rollout": {"prompts": 8, "samples": 4, "max_tokens": 48, "temperature": 1.0},
        "loss": {"mini_batches": 2},
        "dynamic_sampling": {"max_rounds": 2},
        "optimizer": {"lr": 1e-4},
        "kl": {"coefficient": 0.01},
        "controller": {"reset_interval": 2},
        "length_penalty": {"weight": 0.1, "steps_on": 2, "steps_off": 2, "start_step": 2},
        "validation": {"every": 3, "problems": 6},
        "checkpoint": {"every": 1, "keep": 10},
        "logging": {"tensorboard": False},
        "openrlhf": {"verify_sync": True, "reward_replicas": 2},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return folder


def start(place: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start ``prorl train`` in ``place``."""
    command = [sys.executable, "-m", "prorl_cli.main", "train", *options]
    with (place / "terminal.txt").open("ab") as out:
        return subprocess.Popen(command, cwd=place, stdout=out, stderr=out)


def wait_for(path: Path, process: subprocess.Popen[bytes], place: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, what_was_said(place)
        assert time.monotonic() < until, what_was_said(place)
        time.sleep(0.2)


def what_was_said(place: Path) -> str:
    logs = sorted(place.glob("runs/*/openrlhf/log.txt"), key=lambda log: log.stat().st_mtime)
    tail = logs[-1].read_text(errors="replace")[-4000:] if logs else ""
    return (place / "terminal.txt").read_text()[-3000:] + "\n" + tail


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def children_of(pid: int) -> list[int]:
    """Return the pids of the processes that a process has started, and of theirs."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            found += [child, *children_of(child)]
    return found


def gone(pids: list[int]) -> bool:
    """Return whether all have ended (a zombie has)."""

    def ended(pid: int) -> bool:
        try:
            return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True

    return all(ended(pid) for pid in pids)


def test_a_run_killed_after_step_5_goes_on_with_everything_it_had(place: Path) -> None:
    run = place / "runs" / "one"
    process = start(place, "--config", "config.yaml", "--name", "one")
    wait_for(run / "checkpoints" / "step_000005", process, place)
    family = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 60
    while not gone(family):
        assert time.monotonic() < until, "processes outlive the command that started them"
        time.sleep(0.2)
    again = start(place, "--resume", "one")
    assert again.wait(timeout=PATIENCE) == 0, what_was_said(place)
    assert "resuming one after step 5" in what_was_said(place)
    check_steps(run)
    check_resets(run)


def check_steps(run: Path) -> None:
    """Every step was done once, with all domains, no infra error, and the penalty in its window."""
    rows = rows_of(run / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {name for row in rows for name in row["domains"]} == {
        "math",
        "stem",
        "code",
        "logic",
        "instruction",
    }
    assert all(row["infra_errors"] == 0 for row in rows)
    assert any(0 < row["domains"].get("instruction", {}).get("pass_rate", 0) < 1 for row in rows)
    assert all(row["groups_kept"] > 0 and row["grad_norm"] > 0 for row in rows)
    assert all(row["sampler_gap"] < 0.2 for row in rows)  # vLLM's kernels and the trainer's
    assert [row["length_penalty_active"] for row in rows] == [False, True, True, False, False, True]


def check_resets(run: Path) -> None:
    """The reference is the policy after each reset and stays what it was until the next."""
    decisions = [(d["step"], d["kind"]) for d in rows_of(run / "decisions.jsonl")]
    assert [step for step, kind in decisions if kind == "reference_reset"] == [2, 4, 6]
    states = {
        step: json.loads((run / "checkpoints" / f"step_{step:06d}" / "state.json").read_text())
        for step in (2, 4, 5, 6)
    }
    assert [states[s]["reference"] for s in (2, 4, 5, 6)] == ["policy", "policy", "own", "policy"]
    for step in (2, 4, 6):
        assert states[step]["checksums"]["policy"] == states[step]["checksums"]["reference"]
    assert states[5]["checksums"]["reference"] == states[4]["checksums"]["policy"]
    assert states[6]["updates"] == 12
    assert states[6]["controller"]["last_reset"] == 6
    assert states[5]["controller"]["last_reset"] == 4


KINDS = {
    "vLLM engine": "VLLM::EngineCore",
    "rollout actor": "ray::RolloutActor",
    "policy": "ray::PolicyModelActor",
    "reference": "ray::ReferenceActor",
    "trainer": "ray::PPOTrainer",
    "Ray": "raylet/raylet",
    "starter": "prorl_training.openrlhf.launch",
}
"""Kinds of processes that a run does not survive, and how their command lines begin or what they contain."""


def launch_short_run(place: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a run of three steps, with a reset after the second and a checkpoint after each."""
    options = ["--config", "config.yaml", "--name", name, "--steps", "3"]
    return start(place, *options, "--set", "validation.every=0")


def where_it_ended(run: Path) -> dict[str, Any]:
    """Return what must not depend on a kill: the last checkpoint, weights rounded, and the steps' outcomes."""
    state = json.loads((run / "checkpoints" / "step_000003" / "state.json").read_text())
    rows = rows_of(run / "metrics.jsonl")
    measured = ("step", "tokens", "groups_kept", "reward_mean", "length_penalty_active")
    resets = [d["step"] for d in rows_of(run / "decisions.jsonl") if d["kind"] == "reference_reset"]
    return {
        "state": {
            key: state[key] for key in ("updates", "reference", "controller", "tokens_total")
        },
        "weights": {
            model: {key: pytest.approx(value, rel=1e-4) for key, value in found.items()}
            for model, found in state["checksums"].items()
        },
        "rows": [{key: row[key] for key in measured} for row in rows],
        "resets": resets,
    }


def pids_of(pid: int, mark: str) -> list[int]:
    """Return the descendants of ``pid`` whose command line contains ``mark``."""
    found = []
    for child in children_of(pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if mark in words:
            found.append(child)
    return found


@pytest.fixture(scope="module")
def undisturbed(place: Path) -> dict[str, Any]:
    """Where the short run ends when nothing is killed."""
    assert launch_short_run(place, "whole").wait(timeout=PATIENCE) == 0, what_was_said(place)
    return where_it_ended(place / "runs" / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_process_ends_the_run_as_a_failed_service_and_resume_ends_in_the_same_place(
    place: Path, undisturbed: dict[str, Any], kind: str
) -> None:
    name = kind.replace(" ", "-")
    process = launch_short_run(place, name)
    wait_for(place / "runs" / name / "checkpoints" / "step_000001", process, place)
    victims = pids_of(process.pid, KINDS[kind])
    assert victims, f"no process is called {KINDS[kind]}"
    os.kill(victims[0], signal.SIGKILL)
    killed = time.monotonic()
    code = process.wait(timeout=PATIENCE)
    print(f"{kind}: exit code {code} after {time.monotonic() - killed:.1f} s")
    print((place / "terminal.txt").read_text()[-1500:])
    assert code == 1, what_was_said(place)
    assert start(place, "--resume", name).wait(timeout=PATIENCE) == 0, what_was_said(place)
    assert where_it_ended(place / "runs" / name) == undisturbed


@pytest.mark.slow
def test_a_killed_reward_service_is_started_again_and_the_run_goes_on(
    place: Path, undisturbed: dict[str, Any]
) -> None:
    process = launch_short_run(place, "reward")
    wait_for(place / "runs" / "reward" / "checkpoints" / "step_000001", process, place)
    for pid in pids_of(process.pid, "prorl_training.openrlhf.services")[:1]:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=PATIENCE) == 0, what_was_said(place)
    assert "ended with exit code -9: started again" in what_was_said(place)
    assert where_it_ended(place / "runs" / "reward") == undisturbed
