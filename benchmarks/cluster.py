"""The OpenRLHF engine on this machine: seconds a step, memory, what its own code costs, what a reset takes.

    python benchmarks/cluster.py --work DIR [--steps N] [--json FILE]     # with the Python of .venv-openrlhf

Runs ``prorl train --engine openrlhf --device cpu`` as a user does, on problems of five domains, most of them such that an
untrained model is often right (no comma in the answer), so that there is something to update on. py-spy (pip install py-spy) looks at the trainer's
and the policy's process many times a second, waiting included; a look counts as prorl's own when neither OpenRLHF,
Ray, DeepSpeed nor transformers is on the stack below prorl's step. Memory is the proportional set size of all
processes of the run, so that shared pages count once. Leaves out GPUs, and any comparison with another engine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prorl_training.engine.openrlhf.testing import write_dataset

psutil: Any = importlib.import_module("psutil")  # it has no types
Process = Any
RATE = 20
"""Looks a second."""
STEP = "TrainingLoop.step "
PARTS = {
    "reset": "reset_reference ",
    "weights to vLLM": "sync_weights ",
    "update": "ClusterPolicy.update ",
}
UPSTREAM = ("openrlhf/", "ray/", "deepspeed/", "transformers/", "torch/")
ACTORS = {"trainer": "ray::PPOTrainer", "policy": "ray::PolicyModelActor"}
"""What Ray calls a process while it works; idle, it may have another name."""


def settings(args: argparse.Namespace) -> list[str]:
    """Return the run's config as ``--set`` words: every part of ProRL is on, two resets, one penalty window."""
    values = {
        "model.path": args.model,
        "model.device": "cpu",
        "data.domain_weights": "{instruction: 8, math: 1, stem: 1, code: 1, logic: 1}",
        "rollout.prompts": 4,
        "rollout.samples": 4,
        "rollout.max_tokens": args.tokens,
        "rollout.max_prompt_tokens": 512,
        "rollout.temperature": 1.0,
        "loss.mini_batches": 2,
        "dynamic_sampling.max_batches": 2,
        "kl.coefficient": 1e-3,
        "controller.reset_interval": max(args.steps // 2, 1),
        "length_penalty.start_step": args.steps // 4 + 1,
        "length_penalty.steps_on": 5,
        "length_penalty.steps_off": 5,
        "validation.every": 0,
        "checkpoint.every": max(args.steps // 2, 1),
        "logging.tensorboard": "false",
    }
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def members(root: Process) -> list[Process]:
    """Return the processes of the run."""
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def memory(processes: list[Process]) -> dict[str, float]:
    """Return GiB by kind of process."""
    found: Counter[str] = Counter()
    for process in processes:
        try:
            found[kind(process)] += process.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return {name: size / 2**30 for name, size in found.items()}


def kind(process: Process) -> str:
    """Return what a process is, by its command line."""
    words = " ".join(process.cmdline())
    for shown, marks in {
        "policy": ("ray::Policy",),
        "reference": ("ray::Reference",),
        "vLLM": ("ray::Rollout", "VLLM::"),
        "trainer": ("ray::PPOTrainer", "ray::Trainer"),
        "rewards": ("ray::RewardReplica", "prorl_verifiers"),
        "Ray": ("raylet", "gcs_server", "ray::", "ray/"),
    }.items():
        if any(mark in words for mark in marks):
            return shown
    return "rest"


class Watch:
    """Follows a run: memory now and then, py-spy on the actors once they are there."""

    def __init__(self, root: Process, work: Path) -> None:
        self.root = root
        self.work = work
        self.peak: dict[str, float] = {}
        self.spies: dict[str, subprocess.Popen[bytes]] = {}

    def look(self) -> None:
        """Measure once."""
        processes = members(self.root)
        sizes = memory(processes)
        if sum(sizes.values()) > sum(self.peak.values()):
            self.peak = sizes
        for process in processes:
            for name, mark in ACTORS.items():
                if name not in self.spies and _named(process, mark):
                    self.spies[name] = self._spy(process.pid, self.work / f"{name}.raw")

    def _spy(self, pid: int, out: Path) -> subprocess.Popen[bytes]:
        words = ["--pid", str(pid), "--rate", str(RATE), "--format", "raw", "--output", str(out)]
        tool = Path(sys.executable).parent / "py-spy"
        options = ["--idle", "--nonblocking", "--duration", "86400"]
        return subprocess.Popen(
            [str(tool), "record", *options, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def finish(self) -> None:
        """Wait until the spies have written what they saw."""
        for spy in self.spies.values():
            spy.wait(60)


def _named(process: Process, mark: str) -> bool:
    try:
        return mark in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def stacks(file: Path) -> Iterator[tuple[list[str], int]]:
    """Yield (frames from the outermost in, count) of py-spy's raw file."""
    for line in file.read_text().splitlines():
        shown, count = line.rsplit(" ", 1)
        yield shown.split(";"), int(count)


def looks_at_trainer(file: Path) -> Counter[str]:
    """Count the looks inside a step: all, prorl's own, and by part."""
    found: Counter[str] = Counter()
    for frames, count in stacks(file):
        inside = [i for i, frame in enumerate(frames) if frame.startswith(STEP)]
        if not inside:
            continue
        below = frames[inside[0] + 1 :]
        found["all"] += count
        for name, mark in PARTS.items():
            found[name] += count * any(mark in frame for frame in below)
        own = not any(_file(frame).startswith(UPSTREAM) for frame in below)
        reset = any(PARTS["reset"] in frame for frame in below)
        found["own"] += count * (own and not reset)
    return found


def looks_at_policy(file: Path) -> Counter[str]:
    """Count the looks inside an update whose innermost Python frame is prorl's."""
    found: Counter[str] = Counter()
    for frames, count in stacks(file):
        if any("fit_plan" in frame for frame in frames):
            found["all"] += count
            found["own"] += count * _file(frames[-1]).startswith("prorl_training/")
    return found


def _file(frame: str) -> str:
    return frame[frame.rfind("(") + 1 :]


def follow(args: argparse.Namespace) -> tuple[Path, Watch, float]:
    """Build the data, run, and return the run's folder, what was seen, and the seconds of the whole command."""
    prorl = str(Path(sys.executable).parent / "prorl")
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    data = work / "data"
    if not data.is_dir():
        write_dataset(data)
    run = work / "runs" / args.name
    words = ["--engine", "openrlhf", "--preset", "prorl-v2", "--data", str(data)]
    words += ["--steps", str(args.steps), "--name", args.name, *settings(args)]
    started = time.monotonic()
    child = subprocess.Popen([prorl, "train", *words], cwd=work)
    watch = Watch(psutil.Process(child.pid), work)
    while child.poll() is None:
        watch.look()
        time.sleep(2)
    watch.finish()
    if child.returncode:
        raise SystemExit(f"the run ended with exit code {child.returncode}")
    return run, watch, time.monotonic() - started


def report(args: argparse.Namespace) -> dict[str, Any]:
    """Run and return every number."""
    run, watch, whole = follow(args)
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    decisions = [json.loads(line) for line in (run / "decisions.jsonl").read_text().splitlines()]
    resets = sum(d["kind"] == "reference_reset" for d in decisions)
    trainer = looks_at_trainer(watch.work / "trainer.raw")
    policy = looks_at_policy(watch.work / "policy.raw")
    seconds = [row["seconds"] for row in rows]
    own = (trainer["own"] + policy["own"]) / max(trainer["all"] - trainer["reset"], 1)
    return {
        "model": args.model,
        "steps": len(rows),
        "responses_a_step": 16,
        "max_tokens": args.tokens,
        "whole_seconds": round(whole),
        "step_seconds_median": round(statistics.median(seconds), 1),
        "step_seconds_range": [round(min(seconds), 1), round(max(seconds), 1)],
        "sample_seconds_median": round(statistics.median(r["sample_seconds"] for r in rows), 1),
        "update_seconds_median": round(statistics.median(r["update_seconds"] for r in rows), 1),
        "peak_memory_gib": {name: round(size, 2) for name, size in sorted(watch.peak.items())},
        "peak_memory_gib_whole": round(sum(watch.peak.values()), 1),
        "resets": resets,
        "reset_seconds": round(trainer["reset"] / RATE / max(resets, 1), 2),
        "weights_to_vllm_seconds": round(trainer["weights to vLLM"] / RATE / len(rows), 2),
        "own_share": round(own, 5),
        "looks": dict(trainer) | {"policy_own": policy["own"]},
    }


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--work", type=Path, required=True, help="folder for data and run")
    parser.add_argument("--name", default="cluster")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = json.dumps(report(args), indent=1)
    print(found)
    if args.json:
        args.json.write_text(found + "\n")


if __name__ == "__main__":
    main()
