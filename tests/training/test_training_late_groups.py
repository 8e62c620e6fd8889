from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import InProcess, played

from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_inference import TransformersGenerator
from prorl_inference.testing import byte_tokenizer
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.run.checkpoint import checkpoint_path, load_buffer
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


def between_turns(run: Path, step: int, like: TrainingLoop) -> bool:
    path = checkpoint_path(run / "checkpoints", step)
    carried, queue = load_buffer(path, {s.id: s for s in like.parts.prompts.samples})
    late = [*carried.late, *(group for sampled in queue for group in sampled.batch.late)]
    return any(talk.state is not None for group in late for talk in group.conversations)


@pytest.mark.parametrize(
    ("batching", "environment", "staleness"),
    [("fixed", False, 0), ("refill", False, 0), ("fixed", True, 0), ("fixed", True, 1)],
)
def test_a_run_gone_on_with_late_groups_is_the_unbroken_one_bit_for_bit(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    go_on: Callable[..., TrainingLoop],
    batching: Any,
    environment: bool,
    staleness: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = make_config(
        steps=STEPS,
        dynamic_sampling={"late": "carry"},
        rollout={"max_tokens": 48 if environment else 24, "turns": 3, "staleness": staleness},
        warm_start={"examples": 0},
        validation={"every": 0},
        checkpoint={"every": 1, "keep": STEPS},
    )

    def sampler(model: Any, tokenizer: Any) -> TransformersGenerator:
        own = copy.deepcopy(model) if staleness else model
        made = TransformersGenerator(own, tokenizer, batch_size=10, batching=batching)
        made.stop_ids = frozenset(range(0, 260, 13))  # answers of all lengths
        return made

    whole = make_engine(config, tmp_path / "run", InProcess() if environment else ByLength())
    generator = sampler(whole.parts.policy.model, byte_tokenizer())
    whole.parts = replace(whole.parts, generator=generator)
    if environment:
        prompts = whole.parts.prompts
        prompts.samples = played(prompts.samples, tmp_path, monkeypatch)
    whole.collector.generator = generator
    assert whole.run() == STEPS
    lines, rollouts = untimed_metrics(whole.parts.folder), rollouts_of(whole)
    weights = [p.detach().clone() for p in whole.parts.policy.model.parameters()]
    begun = between_turns if environment else half_sampled
    steps = [s for s in range(1, STEPS) if begun(tmp_path / "run", s, whole)]
    assert steps and any(row["groups_late_in"] for row in lines[steps[0] :])
    again = go_on(whole, steps[0], sampler)
    assert untimed_metrics(again.parts.folder) == lines and rollouts_of(again) == rollouts
    now = again.parts.policy.model.parameters()
    assert all(torch.equal(a, b) for a, b in zip(weights, now, strict=True))
