"""``prorl eval pass-at-k`` of the run that the stage ``run`` made, before and after, by either sampler."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.needs import gpu_and_vllm
from prorl_cli.prove.stages.runs import NAME, run_place

SAMPLES = 4
PROBLEMS = 8


def run(backend: str, place: Place) -> Finding:
    """Evaluate the run's base and its last checkpoint."""
    where = run_place("local", place)
    words = (
        f"eval pass-at-k --run {NAME} --dataset data --split validation --n {SAMPLES} --k 2 --limit {PROBLEMS} "
        f"--backend {backend} --device {place.device} --out eval-{backend} --json"
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "prorl_cli", *words.split()],
        cwd=where,
        check=False,
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - started
    if done.returncode != 0:
        return Finding(
            False, f"exit code {done.returncode}: {' '.join(done.stderr.split())[-400:]}"
        )
    results = json.loads(done.stdout)["results"]
    rates = [result["groups"][0]["pass_at_k"]["1"]["value"] for result in results]
    figures = {"checkpoints": len(results), "pass_at_1": rates, "seconds": seconds}
    said = (
        f"pass@1 {' and '.join(f'{rate:.3f}' for rate in rates)}, before and after, of {PROBLEMS} problems with "
        f"{SAMPLES} samples, in {seconds:.0f} s"
    )
    return Finding(len(results) == 2, said, figures)


LOCAL = Stage(
    "evaluation",
    "evaluation with Transformers",
    partial(run, "transformers"),
    after=("run",),
    minutes=1.5,
)
VLLM = Stage(
    "evaluation-vllm",
    "evaluation with vLLM",
    partial(run, "vllm"),
    gpu_and_vllm,
    after=("run",),
    minutes=2.5,
)
