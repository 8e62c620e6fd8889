"""The workload of both contenders of ``trainer.py``, passed to each child process as a JSON file.

Uses only the standard library, since TRL's child runs in another environment.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Workload:
    """One child's work.

    ``steps`` are timed, after ``warmup`` untimed ones. Every completion has ``tokens`` tokens. ``micro_batch`` is TRL's
    number of completions per forward pass, and ``pack_tokens`` this project's number of tokens. ``beta`` 0 means no
    reference pass. With ``staleness`` 1 this project samples a batch during the update before it.
    """

    model: str
    device: str = "cpu"
    dtype: str = "fp32"
    threads: int = 2
    prompts: int = 8
    samples: int = 8
    tokens: int = 35
    warmup: int = 1
    steps: int = 3
    beta: float = 0.001
    lr: float = 1e-6
    micro_batch: int = 64
    pack_tokens: int = 1024
    staleness: int = 0
    seed: int = 0

    @property
    def completions(self) -> int:
        """Number of completions per step."""
        return self.prompts * self.samples


def read_workload(path: Path) -> Workload:
    """Return the workload in a JSON file."""
    return Workload(**json.loads(path.read_text("utf-8")))


def write_workload(path: Path, workload: Workload) -> None:
    """Write a workload as JSON."""
    path.write_text(json.dumps(asdict(workload)), "utf-8")


def questions(workload: Workload) -> list[str]:
    """Return the questions of all steps, in order, ``prompts`` for each warm-up or timed step."""
    rng = random.Random(workload.seed)
    count = workload.prompts * (workload.warmup + workload.steps)
    return [
        f"A farmer has {rng.randint(2, 99)} sheep and buys {rng.randint(2, 99)} more, then sells "
        f"{rng.randint(2, 99)} of them. How many are left? Explain briefly."
        for _ in range(count)
    ]


def reward(text: str) -> float:
    """Return a cheap reward in [0, 1] that differs between samples: the number of distinct characters / 100."""
    return len(set(text)) / 100 if len(set(text)) < 100 else 1.0


def peak_memory_mb() -> float:
    """Return this process's peak resident memory in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux, bytes on macOS
    return peak / 1024 if sys.platform != "darwin" else peak / 1024**2


def peak_gpu_mb(device: str) -> float | None:
    """Return the peak GPU memory allocated in MB, or None on the CPU."""
    if not device.startswith("cuda"):
        return None
    import torch

    return torch.cuda.max_memory_allocated() / 1024**2


def result(workload: Workload, name: str, version: str, rows: list[dict[str, Any]]) -> str:
    """Return the line that a child prints last, with its timed steps and peak memory."""
    timed = rows[workload.warmup :]
    return json.dumps(
        {
            "contender": name,
            "version": version,
            "steps": timed,
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "peak_gpu_mb": peak_gpu_mb(workload.device),
        }
    )
