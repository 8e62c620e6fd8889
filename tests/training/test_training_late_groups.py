from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_inference import TransformersGenerator, load_model
from prorl_inference.testing import byte_tokenizer
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.policy.files import restore_checkpoint
from prorl_training.policy.update import Policy
from prorl_training.run.checkpoint import checkpoint_path, load_buffer, verify_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_training.testing import ByLength, untimed_metrics

STEPS = 6


def rollouts_of(engine: TrainingLoop) -> list[list[dict[str, Any]]]:
    files = rollout_files(engine.parts.folder.path).values()
    return [read_rollouts(file, carried=True).to_pylist() for file in files]


def half_sampled(run: Path, step: int, like: TrainingLoop) -> bool:
    path = checkpoint_path(run / "checkpoints", step)
    carried, _ = load_buffer(path, {s.id: s for s in like.parts.prompts.samples})
    every = [c for group in carried.late for c in group.completions]
    return any(c.finish_reason == "paused" and c.token_ids for c in every)


def resumed(
    config: TrainConfig, run: Path, step: int, like: TrainingLoop, sampler: Any
) -> TrainingLoop:
    path = checkpoint_path(run / "checkpoints", step)
    state = verify_checkpoint(path)
    model, tokenizer = load_model(path / "policy", "cpu", torch.float32)
    policy = Policy(model, config, torch.float32)
    restore_checkpoint(path, policy, state)
    folder = RunFolder(run)
    folder.truncate_after(step)
    own = {"policy": policy, "folder": folder, "generator": sampler(policy.model, tokenizer)}
    engine = TrainingLoop(config, replace(like.parts, **own), step)
    engine.restore(state, path)
    return engine


@pytest.mark.parametrize("batching", ["fixed", "refill"])
def test_a_run_gone_on_with_late_groups_is_the_unbroken_one_bit_for_bit(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    batching: Any,
) -> None:
    config = make_config(
        steps=STEPS,
        dynamic_sampling={"late": "carry"},
        rollout={"max_tokens": 24},
        warm_start={"examples": 0},
        validation={"every": 0},
        checkpoint={"every": 1, "keep": STEPS},
    )

    def sampler(model: Any, tokenizer: Any) -> TransformersGenerator:
        made = TransformersGenerator(model, tokenizer, batch_size=10, batching=batching)
        made.stop_ids = frozenset(range(0, 260, 13))  # answers of all lengths
        return made

    whole = make_engine(config, tmp_path / "run", ByLength())
    generator = sampler(whole.parts.policy.model, byte_tokenizer())
    whole.parts = replace(whole.parts, generator=generator)
    whole.collector.generator = generator
    assert whole.run() == STEPS
    lines, rollouts = untimed_metrics(whole.parts.folder), rollouts_of(whole)
    weights = [p.detach().clone() for p in whole.parts.policy.model.parameters()]
    steps = [s for s in range(1, STEPS) if half_sampled(tmp_path / "run", s, whole)]
    assert steps and any(row["groups_late_in"] for row in lines[steps[0] :])
    again = resumed(config, tmp_path / "run", steps[0], whole, sampler)
    assert again.run() == STEPS
    again.loggers.close()
    assert untimed_metrics(again.parts.folder) == lines and rollouts_of(again) == rollouts
    now = again.parts.policy.model.parameters()
    assert all(torch.equal(a, b) for a, b in zip(weights, now, strict=True))
