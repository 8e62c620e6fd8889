"""``prorl doctor --gpu``: build, train, sample and evaluate on this machine's GPU, in a few minutes.

Each check is a prorl command in its own process, so that a crash or full memory fails only that check.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common.checks import Check, is_installed

MOST_MISMATCH_KL = 0.005
"""Maximum difference of sampler and trainer in nats per token; bf16 moves a log-prob by about 0.01."""
SECONDS = 600.0
"""Timeout of one command."""
RUN, DATA = "check", "data/check"
_TRAIN = (
    *("train", "--preset", "quickstart", "--data", DATA, "--steps", "3"),
    *("--set", "rollout.prompts=8", "--set", "validation.every=0"),
)


@dataclass(frozen=True, slots=True)
class Command:
    """A prorl command: name and arguments."""

    name: str
    arguments: tuple[str, ...]


def check_gpu(model: str, device: str = "cuda") -> Iterator[Check]:
    """Yield the outcome of each command on ``device``, with the quickstart's model and samples."""
    yield _device(device)
    chosen = ("--model", model, "--set", f"model.device={device}")
    with tempfile.TemporaryDirectory(prefix="prorl-gpu-") as name:
        folder = Path(name)
        build = Command("data", ("data", "build", "--recipe", "quickstart", "--out", DATA))
        yield _check(build, folder, "built")
        train = Command("training step", (*_TRAIN, *chosen, "--name", RUN))
        yield _check_training(train, folder, RUN)
        if not is_installed("vllm"):
            yield Check(
                "training step, vLLM", "note", "vllm is not installed", "install prorl[vllm]"
            )
        else:
            backend = ("--set", "rollout.backend=vllm", "--name", f"{RUN}-vllm")
            yield _check_training(
                Command("training step, vLLM", (*_TRAIN, *chosen, *backend)), folder, f"{RUN}-vllm"
            )
        evaluate = Command(
            "evaluation",
            (
                *("eval", "pass-at-k", "--run", RUN, "--checkpoint", "latest", "--dataset", DATA),
                *("--limit", "8", "--k", "2", "--n", "4", "--set", f"model.device={device}"),
            ),
        )
        yield _check(evaluate, folder, "8 problems sampled and scored")


def _device(device: str) -> Check:
    import time

    import torch

    on_gpu = device.startswith("cuda")
    side, repeats = (8192, 10) if on_gpu else (512, 2)
    matrix = torch.randn(side, side, dtype=torch.bfloat16, device=device)
    (matrix @ matrix).sum().item()  # warm-up, which selects a kernel
    started = time.perf_counter()
    for _ in range(repeats):
        product = matrix @ matrix
    product.sum().item()
    speed = repeats * 2 * side**3 / (time.perf_counter() - started) / 1e12
    name = torch.cuda.get_device_name(device) if on_gpu else "CPU"
    memory = torch.cuda.mem_get_info(device)[0] / 1e9 if on_gpu else 0.0
    free = f", {memory:.1f} GB free" if on_gpu else ""
    detail = f"{name}{free}, torch {torch.__version__}, {speed:.3g} TFLOP/s in bf16 products"
    return Check("device", "ok", detail)


def _check(command: Command, folder: Path, success: str) -> Check:
    cure = f"to see its whole output, run it alone: prorl {' '.join(command.arguments)}"
    full = [sys.executable, "-m", "prorl_cli", *command.arguments]
    try:
        process = subprocess.run(
            full, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Check(command.name, "problem", f"took more than {SECONDS:g} s", cure)
    if process.returncode == 0:
        return Check(command.name, "ok", success)
    lines = (process.stderr or process.stdout).strip().splitlines() or ["it said nothing"]
    detail = f"exit code {process.returncode}: {lines[-1]}"
    return Check(command.name, "problem", detail, cure)


def _check_training(command: Command, folder: Path, run: str) -> Check:
    check = _check(command, folder, "")
    if check.state != "ok":
        return check
    lines = (folder / "runs" / run / "metrics.jsonl").read_text("utf-8").splitlines()
    return check_metrics(command.name, [json.loads(line) for line in lines])


def check_metrics(name: str, rows: Sequence[Mapping[str, Any]]) -> Check:
    """Check that the steps in ``rows`` (of metrics.jsonl) updated the policy, and that sampler and trainer agree."""
    updated = [row for row in rows if "grad_norm" in row]
    if not updated:
        return Check(
            name,
            "problem",
            "no group had different rewards",
            "use a model that earns rewards",
        )
    mismatch = max(float(row.get("mismatch_kl", 0.0)) for row in updated)
    last = updated[-1]
    detail = (
        f"{len(updated)} of {len(rows)} steps learned; gradient norm {last['grad_norm']:.3g}, "
        f"mismatch KL {mismatch:.2g} (at most {MOST_MISMATCH_KL:g}), "
        f"{last['tokens_per_second']:,.0f} tokens/s, update {last['update_seconds']:.1f} s"
    )
    if mismatch > MOST_MISMATCH_KL:
        return Check(
            name,
            "problem",
            detail,
            "log-probs differ: do not train like this",
        )
    if any(row.get("infra_errors") for row in rows):
        return Check(name, "problem", f"{detail}; some rewards failed", "run prorl sandbox doctor")
    return Check(name, "ok", detail)
