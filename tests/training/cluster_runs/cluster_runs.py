"""Tiny models, data and runs for tests on the real stack of OpenRLHF."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml

from prorl_common import sha256_file
from prorl_common.rollout_files import read_rollouts
from prorl_datasets.storage import MANIFEST, canonical_json, write_split

MODEL = """
import sys
from prorl_inference.testing import byte_tokenizer, tiny_model
tiny_model(seed=0, hidden=128, layers=2, context=512).save_pretrained(sys.argv[1])
byte_tokenizer().save_pretrained(sys.argv[1])
"""
PATIENCE = 600
"""Seconds for one launch; an idle machine with two cores takes about a tenth."""


def write_place(folder: Path) -> Path:
    write_model(folder / "model")
    config = run_config(folder / "model", write_dataset(folder / "data"))
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return folder


def write_model(folder: Path) -> None:
    # in another process: beside DeepSpeed, saving a model imports packages that warn
    subprocess.run([sys.executable, "-c", MODEL, str(folder)], check=True)


def run_config(model: Path, data: Path) -> dict[str, Any]:
    return {
        "preset": "prorl-v2",
        "engine": "openrlhf",
        "steps": 6,
        "model": {"path": str(model), "device": "cpu"},
        "data": {
            "path": str(data),
            "domain_weights": {"instruction": 8, "math": 1, "stem": 1, "code": 1, "logic": 1},
        },
        "rollout": {"prompts": 8, "samples": 4, "max_tokens": 48, "temperature": 1.0},
        "loss": {"mini_batches": 2},
        "dynamic_sampling": {"max_batches": 2},
        "optimizer": {"lr": 1e-4},
        "kl": {"coefficient": 0.01},
        "controller": {"reset_interval": 2},
        "length_penalty": {"weight": 0.1, "steps_on": 2, "steps_off": 2, "start_step": 2},
        "validation": {"every": 3, "problems": 6},
        "checkpoint": {"every": 1, "keep": 10},
        "logging": {"tensorboard": False},
        "openrlhf": {"cpu_ranks": 2, "verify_sync": True, "reward_replicas": 2},
    }


def problems() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield (domain, prompt, verifier, reference); a random model often solves the first 12."""
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
    """Write ``problems`` as both splits, the first 12 on three levels."""
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
                "metadata": canonical_json({"level": 1 + i // 4} if i < 12 else {}),
            }
            for i, (domain, prompt, verifier, reference) in enumerate(problems())
        ]
        file = folder / f"{split}.parquet"
        files[file.name] = {"rows": write_split(file, iter(rows)), "sha256": sha256_file(file)}
    (folder / MANIFEST).write_text(json.dumps({"files": files}))
    return folder


def start(place: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "prorl_cli.main", "train", *options]
    with (place / "terminal.txt").open("ab") as out:
        return subprocess.Popen(command, cwd=place, stdout=out, stderr=out)


def finish(process: subprocess.Popen[bytes], place: Path) -> int:
    try:
        return process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        give_up(process, place)


def wait_for(path: Path, process: subprocess.Popen[bytes], place: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists():
        if process.poll() is not None or time.monotonic() > until:
            give_up(process, place)
        time.sleep(0.2)


def give_up(process: subprocess.Popen[bytes], place: Path, why: str = "") -> NoReturn:
    process.kill()  # its children end with it
    process.wait()
    raise AssertionError(f"{why}\n{output_of(place)}")


def output_of(place: Path) -> str:
    logs = sorted(place.glob("runs/*/openrlhf/log.txt"), key=lambda log: log.stat().st_mtime)
    tail = logs[-1].read_text(errors="replace")[-4000:] if logs else ""
    return (place / "terminal.txt").read_text()[-3000:] + "\n" + tail


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]  # a text may hold U+2028


def recorded_mismatch(file: Path) -> tuple[float, float] | None:
    """Return the KL between sampler and trainer, and the effective sample size as a share, from a rollouts file.

    Both are over the tokens that ``mismatch_kl`` covers.
    """
    import torch

    from prorl_training.algorithm.objective import mismatch_size, mismatch_sums

    columns = ["step", "sample_id", "policy_first", "sampler_logprobs", "trainer_logprobs"]
    rows = read_rollouts(file, columns, carried=True).to_pylist()
    oldest: dict[str, int] = {}
    for row in rows:
        name, policy = row["sample_id"], row["policy_first"]
        oldest[name] = min(policy, oldest.get(name, policy))
    sums = torch.zeros(4, dtype=torch.float64)
    for row in rows:
        if row["trainer_logprobs"] is not None and oldest[row["sample_id"]] == row["step"] - 1:
            trainer, sampler = (
                torch.tensor(row[f"{of}_logprobs"]) for of in ("trainer", "sampler")
            )
            sums += mismatch_sums(trainer, sampler, torch.ones(len(trainer), dtype=torch.bool))
    return mismatch_size(sums.tolist())


def children_of(pid: int) -> list[int]:
    children: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            children += [child, *children_of(child)]
    return children


def alive(pids: list[int]) -> dict[int, str]:
    """Return the command line of each process that still runs and is not a zombie."""
    running = {}
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/status").read_text()
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "State:\tZ" not in state:
            running[pid] = words.replace(b"\0", b" ").decode(errors="replace").strip()
    return running


def pids_of(pid: int, mark: str) -> list[int]:
    matches = []
    for child in children_of(pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if mark in words:
            matches.append(child)
    return matches
