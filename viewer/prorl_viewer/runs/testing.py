"""Writes an artificial run for tests, pictures and measurements, with decisions by the real controller."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.controller import Controller
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.simulate import simulate_step

if TYPE_CHECKING:  # importing it loads torch
    from prorl_training.types import Group

TASKS = {
    "math": ("math-largest", "math-fractions"),
    "code": ("code-strings",),
    "logic": ("logic-knights",),
}
BROKEN = "math-fractions"
"""The task whose answers are truncated once the reward has fallen."""
SETTINGS = (
    "length_penalty.steps_on=40",
    "length_penalty.steps_off=60",
    "length_penalty.start_step=50",
    "length_penalty.weight=0.1",
    "controller.reset_interval=100",
    "validation.every=20",
)


def made_up_config(steps: int, *settings: str) -> TrainConfig:
    return load_config("prorl-v2", overrides=[f"steps={steps}", *SETTINGS, *settings])


def write_run(
    path: Path,
    steps: int,
    *settings: str,
    done: int | None = None,
    seed: int = 0,
    falls_at: int = 0,
    rollouts: Sequence[int] = (),
) -> RunFolder:
    """Write a run with ``done`` of its ``steps`` (default: all), and the rollouts of steps ``rollouts``."""
    run = RunFolder(path)
    config = made_up_config(steps, *settings)
    run.create(config, {"dataset": "d" * 64, "model": "e" * 64})
    write_steps(run, config, range(1, (done or steps) + 1), seed, falls_at)
    if rollouts:
        from prorl_training.run.rollouts import write_rollouts
        from prorl_training.types import Learned

        for step in rollouts:
            write_rollouts(run, step, _groups(step, seed, falls_at), Learned())
    return run


def write_steps(
    run: RunFolder, config: TrainConfig, steps: Iterable[int], seed: int = 0, falls_at: int = 0
) -> None:
    controller, guard, tokens = Controller(config), Guard(config.safety), 0
    for step in steps:
        row = made_up_row(step, seed, 0 < falls_at <= step, controller.last_reset)
        tokens += row["tokens"]
        row["tokens_total"] = tokens
        decisions = simulate_step(controller, guard, step, row)
        row["length_penalty_active"] = controller.penalty_is_on(step)
        run.log_decisions(decisions)
        run.log_metrics(row)


def made_up_row(step: int, seed: int, fallen: bool, last_reset: int) -> dict[str, Any]:
    """Return a step's metrics, except those of the controller."""
    draw = random.Random(f"{seed}-{step}")
    level = 0.15 + 0.45 * (1 - math.exp(-step / 150))
    parts = {}
    for place, domain in enumerate(TASKS):
        broken = fallen and domain == "math"
        reward = min(max(level - 0.08 * place - 0.25 * broken + draw.gauss(0, 0.03), 0), 1)
        groups = 8 + draw.randrange(4)
        parts[domain] = {
            "reward_mean": reward,
            "pass_rate": reward,
            "unparsable_rate": 0.02 + 0.2 * broken + 0.01 * draw.random(),
            "length_mean": 400 + step * 0.3 + 300 * broken + draw.gauss(0, 15),
            "truncated_rate": 0.01 + 0.4 * broken + 0.01 * draw.random(),
            "infra_errors": int(draw.random() < 0.01),
            "groups": groups,
            "tokens": groups * 8 * 400,
        }
    whole = sum(p["groups"] for p in parts.values())
    means = {
        key: sum(p["groups"] * p[key] for p in parts.values()) / whole
        for key in ("reward_mean", "pass_rate", "unparsable_rate", "length_mean", "truncated_rate")
    }
    tasks = {
        task: {
            "reward_mean": parts[domain]["reward_mean"] * (0.2 if fallen and task == BROKEN else 1),
            "length_mean": parts[domain]["length_mean"],
            "responses": 8 * parts[domain]["groups"] // len(names),
        }
        for domain, names in TASKS.items()
        for task in names
    }
    since = step - last_reset
    sampling, update = 20 + draw.gauss(0, 1), 9 + draw.gauss(0, 0.5)
    row: dict[str, Any] = {
        "step": step,
        "phase": 0,
        **means,
        "infra_errors": sum(p["infra_errors"] for p in parts.values()),
        "filter_rate": 0.3 + 0.1 * draw.random(),
        "groups": whole,
        "groups_kept": 16,
        "groups_carried_in": draw.randrange(4),
        "tokens": whole * 8 * 400,
        "kl": 0.002 * since**0.7 * math.exp(draw.gauss(0, 0.1)),
        "entropy": 0.6 * math.exp(-step / 900) + draw.gauss(0, 0.01),
        "loss": draw.gauss(0, 0.01),
        "grad_norm": math.exp(draw.gauss(-1, 0.2)),
        "lr": 2e-6,
        "mismatch_kl": 1e-4 * math.exp(draw.gauss(0, 0.3)),
        "domains": parts,
        "tasks": tasks,
        "seconds": sampling + update + 2,
        "sample_seconds": sampling,
        "score_seconds": 2.0,
        "update_seconds": update,
        "tokens_per_second": whole * 8 * 400 / (sampling + update + 2),
    }
    row["response_length_mean"] = row.pop("length_mean")
    if step % 20 == 0:
        value = level - 0.05 - 0.06 * fallen
        rewards = [float(draw.random() < value) for _ in range(100)]
        mean = sum(rewards) / len(rewards)
        row |= {
            "validation_reward": mean,
            "validation_se": math.sqrt(mean * (1 - mean) / len(rewards)),
            "validation_problems": len(rewards),
            "validation_rewards": rewards,
            "validation_seconds": 30.0,
        }
        for part in parts.values():
            part["validation_reward"] = mean
    return row


def _groups(step: int, seed: int, falls_at: int) -> list[Group]:
    from prorl_datasets import Sample
    from prorl_inference import Completion
    from prorl_training.types import Group, Trajectory
    from prorl_verifiers import Task, Verdict

    draw = random.Random(f"rollouts-{seed}-{step}")
    groups = []
    for domain, tasks in TASKS.items():
        for task in tasks:
            cut = 0 < falls_at <= step and task == BROKEN
            for number in range(2):
                name = f"{task}-train-{100 * step + number:06d}"
                prompt = ({"role": "user", "content": f"a problem of {task}"},)
                sample = Sample(name, domain, prompt, Task("math", {"answer": "1"}), task, "none")
                answers = []
                for index in range(4):
                    right = not cut and draw.random() < 0.6
                    text = "and so on " * 40 if cut else r"\boxed{1}" if right else r"\boxed{2}"
                    ids = tuple(range(400 if cut else 120))
                    completion = Completion(
                        text, ids, tuple(-0.5 for _ in ids), "length" if cut else "stop"
                    )
                    verdict = Verdict(float(right), "unparsable" if cut else "scored", "made up")
                    answers.append(Trajectory(index, completion, verdict, float(right)))
                groups.append(Group(sample, tuple(answers), step))
    return groups
