"""A whole run of 20 steps with resets and penalty windows, killed in the middle and gone on with, on either engine.

The local engine does the run a second time undisturbed: on a CPU both must have learned the very same, bit for bit; on a
GPU, whose sums depend on what runs beside them, the difference is told.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.needs import isolation

STEPS = 20
RESETS = 6
"""Steps between two resets."""
KILLED_AFTER = 9
"""The run is killed once the checkpoint of this step is there."""
PENALTY = {"weight": 0.1, "steps_on": 4, "steps_off": 6, "start_step": 4}
NAME, WHOLE = "proof", "whole"


def run(engine: str, place: Place) -> Finding:
    """Train, kill, go on, and read the journals back."""
    from prorl_training.engine.openrlhf.testing import (
        finish,
        rows_of,
        start,
        wait_for,
        write_dataset,
    )

    where = run_place(engine, place)
    if where.exists():
        shutil.rmtree(where)
    where.mkdir(parents=True)
    config = _config(engine, place, write_dataset(where / "data"))
    (where / "config.yaml").write_text(yaml.safe_dump(config))
    started = time.monotonic()
    process = start(where, "--config", "config.yaml", "--name", NAME)
    checkpoint = where / "runs" / NAME / "checkpoints" / f"step_{KILLED_AFTER:06d}"
    wait_for(checkpoint, process, where)
    _kill(process)
    resumed = start(where, "--resume", NAME)
    code = finish(resumed, where)
    seconds = time.monotonic() - started
    folder = where / "runs" / NAME
    metrics, decisions = rows_of(folder / "metrics.jsonl"), rows_of(folder / "decisions.jsonl")
    finding = read_journals(code, metrics, decisions, seconds)
    if engine != "local" or not finding.passed:
        return finding
    code = finish(start(where, "--config", "config.yaml", "--name", WHOLE), where)
    undisturbed = rows_of(where / "runs" / WHOLE / "metrics.jsonl") if code == 0 else []
    return beside(finding, metrics, undisturbed, exact=place.device == "cpu")


def beside(
    finding: Finding, killed: list[dict[str, Any]], whole: list[dict[str, Any]], exact: bool
) -> Finding:
    """Return the finding with what the journals of a killed and an undisturbed run have in common.

    ``exact``: a difference fails it.
    """
    from prorl_training.run.metrics import TIMING_KEYS

    def learned(row: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key not in TIMING_KEYS}

    pairs = list(zip(killed, whole, strict=False))
    same = sum(learned(a) == learned(b) for a, b in pairs)
    gaps = [abs(a["reward_mean"] - b["reward_mean"]) for a, b in pairs]
    figures = {"steps_equal": same, "reward_gap": max(gaps, default=None)}
    said = (
        f"{finding.said}; {same} of {len(killed)} steps equal to those of a run that nobody killed"
    )
    ok = finding.passed and (same == len(killed) == len(whole) or not exact)
    return Finding(ok, said, dict(finding.figures) | figures)


def run_place(engine: str, place: Place) -> Path:
    """Return the folder in which the run of ``engine`` is made."""
    return place.folder / f"run-{engine}"


def _config(engine: str, place: Place, data: Path) -> dict[str, Any]:
    """Return the config of a short run with all of ProRL in it."""
    from prorl_training.engine.openrlhf.testing import run_config

    config = run_config(place.model.resolve(), data.resolve())
    config |= {"engine": engine, "steps": STEPS}
    config["model"]["device"] = place.device if engine == "local" else "auto"
    config["controller"]["reset_interval"] = RESETS
    config["length_penalty"] = dict(PENALTY)
    config["validation"]["every"] = 5
    config["checkpoint"] = {"every": 3, "keep": 2, "best": False}
    if engine == "openrlhf":
        import torch

        gpus = torch.cuda.device_count()
        config["openrlhf"] |= {"nodes": 1, "gpus_per_node": gpus}
        config["rollout"] |= {"prompts": 8 * gpus}
    if not place.tiny:
        config["rollout"] |= {"max_tokens": 1024, "samples": 8, "vllm_context": 4096}
        config["loss"]["pack_tokens"] = 4096
        config["model"]["gradient_checkpointing"] = True
    return config


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the command as a lost machine would; what it has started ends with it."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def read_journals(
    code: int, metrics: list[dict[str, Any]], decisions: list[dict[str, Any]], seconds: float
) -> Finding:
    """Return whether the journals of the run tell of every step, reset and penalty window."""
    steps = [row["step"] for row in metrics]
    resets = [d["step"] for d in decisions if d["kind"] == "reference_reset"]
    windows = [row["step"] for row in metrics if row["length_penalty_active"]]
    wanted = [s for s in range(1, STEPS + 1) if _penalised(s)]
    kl = {int(row["step"]): float(row["kl"]) for row in metrics if row.get("kl") is not None}
    before = [kl[s] for s in resets if s in kl]
    after = [kl[s + 1] for s in resets if s + 1 in kl]
    troubles = []
    if code != 0:
        troubles.append(f"exit code {code}")
    if steps != list(range(1, STEPS + 1)):
        troubles.append(f"steps {steps}")
    if resets != list(range(RESETS, STEPS, RESETS)):
        troubles.append(f"resets after steps {resets}")
    if windows != wanted:
        troubles.append(f"penalty at steps {windows}")
    if before and after and max(after) >= max(before):
        troubles.append(f"KL {max(before):.2g} before a reset and {max(after):.2g} after it")
    tail = metrics[len(metrics) // 2 :]
    speed = sum(r["tokens_per_second"] for r in tail) / max(len(tail), 1)
    figures = {
        "steps": len(steps),
        "resets": resets,
        "penalty_steps": windows,
        "kl_before_reset": max(before, default=None),
        "kl_after_reset": max(after, default=None),
        "mismatch_kl": max(
            (r["mismatch_kl"] for r in metrics if r.get("mismatch_kl") is not None), default=None
        ),
        "updates_skipped": sum(r.get("updates_skipped", 0) for r in metrics),
        "seconds": seconds,
        "tokens_per_second": speed,
    }
    said = f"{len(steps)} steps, killed after step {KILLED_AFTER} and gone on with, resets after {resets}, penalty in {len(windows)} steps"
    return Finding(not troubles, "; ".join([said, *troubles]), figures)


def _penalised(step: int) -> bool:
    on, off, first = (int(PENALTY[k]) for k in ("steps_on", "steps_off", "start_step"))
    return step >= first and (step - first) % (on + off) < on


LOCAL = Stage(
    "run",
    "local engine: 20 steps, reset, window, kill and resume",
    partial(run, "local"),
    isolation,
    minutes=3,
)


def _openrlhf_needs(place: Place) -> str:
    """Return the first problem that ``prorl doctor --engine openrlhf`` would name, with its cure."""
    from prorl_training.engine.openrlhf.launch.requirements import findings

    if not place.on_gpu:
        return "needs a GPU"
    problem = next((f for f in findings("cuda") if f.state == "problem"), None)
    if problem is not None:
        return f"needs {problem.name} ({problem.detail}): {problem.cure}"
    return isolation(place)


OPENRLHF = Stage(
    "openrlhf",
    "OpenRLHF: 20 steps, reset, window, kill and resume",
    partial(run, "openrlhf"),
    _openrlhf_needs,
    minutes=10,
)
