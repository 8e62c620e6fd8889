"""The protocol of the SmolLM2 run, in constants: tasks, training, evaluation, the test. Fixed before the run.

What docs/evidence/smollm2.md states under "Protocol" is written from here (``smollm_report``), and a test
compares the two. Leaves out: carrying it out (``smollm_run``) and its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_datasets import Recipe, Sample
from prorl_training.config import TrainConfig

MODEL = "smollm2-135m"
TRAIN_SEED = 1
STEPS = 120


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything, for each task: items of the three splits and answers to each held-out item.

    Of ``test_items`` the first ``held_out`` whose key no training or validation item has are used. Answers are
    sampled at temperature 1 and top-p 1, as in training. ``overrides`` come after ``OVERRIDES``.
    """

    data_seed: int
    train_items: int
    validation_items: int
    test_items: int
    held_out: int
    samples: int
    overrides: tuple[str, ...] = ()


PROTOCOL = Scale(20261122, 120, 10, 200, 50, 16)
REHEARSAL = Scale(
    *(777003, 12, 2, 12, 2, 2),
    (
        *("steps=2", "seed=777", "rollout.prompts=2", "rollout.samples=2", "rollout.max_tokens=12"),
        *("warm_start.examples=4", "dynamic_sampling.max_batches=1", "kl.measure_share_every=0"),
        *("validation.every=2", "validation.problems=2", "checkpoint.every=1"),
    ),
)
"""Shows that every stage runs, on other seeds: items, answers and training are not the protocol's."""

GREEDY_SAMPLES = 1
MAX_TOKENS = 24
EVAL_SEED = 20261123
LEVEL = 0.95
DRAWS = 10_000
FAMILY_ALPHA = 0.05
"""Family-wise level of the tests of the single tasks (Holm 1979)."""
SHOWN_K = 8


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One reasoning-gym task with its configuration."""

    name: str
    config: tuple[tuple[str, Any], ...]


TASKS = (
    TaskSpec("needle_haystack", (("min_num_statements", 3), ("max_num_statements", 5))),
    TaskSpec("family_relationships", (("min_family_size", 4), ("max_family_size", 4))),
    TaskSpec("word_sequence_reversal", (("min_words", 3), ("max_words", 3))),
    TaskSpec(
        "chain_sum", (("min_terms", 2), ("max_terms", 2), ("min_digits", 1), ("max_digits", 2))
    ),
    TaskSpec(
        "leg_counting",
        (("min_animals", 1), ("max_animals", 2), ("min_instances", 1), ("max_instances", 4)),
    ),
    TaskSpec("lcm", (("min_value", 1), ("max_value", 20))),
)
"""Many possible answers each; yes-or-no tasks are left out."""

OVERRIDES = (
    f"steps={STEPS}",
    f"seed={TRAIN_SEED}",
    f"model.path={MODEL}",
    "rollout.prompts=8",
    "rollout.samples=8",
    f"rollout.max_tokens={MAX_TOKENS}",
    "rollout.temperature=1.0",
    "dynamic_sampling.max_batches=2",
    "loss.mini_batches=1",
    "loss.pack_tokens=1024",
    "kl.coefficient=1e-3",
    "kl.measure_share_every=20",
    "length_penalty.weight=0",
    "controller.reset_interval=60",
    "controller.stall_validations=0",
    "controller.kl_zscore=0",
    "optimizer.lr=1e-5",
    "optimizer.warmup_updates=5",
    "optimizer.schedule=linear",
    "optimizer.min_ratio=0.1",
    "warm_start.examples=96",
    "warm_start.lr=5e-5",
    "validation.every=20",
    "validation.problems=60",
    "validation.samples=2",
    "validation.temperature=1.0",
    "validation.top_p=1.0",
    "checkpoint.every=10",
    "checkpoint.keep=1",
    "checkpoint.best=false",
    "logging.tensorboard=false",
)
"""Laid over the preset ``cpu``."""

_DATE = re.compile(r"\b[A-Z][a-z]+ \d{1,2}, \d{4}\b")
_LETTER = re.compile(r"\b[a-zA-Z]\b")


def recipe(scale: Scale = PROTOCOL) -> Recipe:
    """Return the dataset's recipe: every task's items from its own seeds, a split each."""
    from prorl_datasets.recipe.recipe import Recipe

    return Recipe.model_validate(
        {
            "name": "smollm2-evidence",
            "description": "Short reasoning-gym tasks with many possible answers.",
            "seed": scale.data_seed,
            "decontamination": {"benchmarks": []},
            "entries": [_entry(task, scale) for task in TASKS],
        }
    )


def _entry(task: TaskSpec, scale: Scale) -> dict[str, Any]:
    count = {
        "train": scale.train_items,
        "validation": scale.validation_items,
        "test": scale.test_items,
    }
    return {
        "name": task.name,
        "domain": "logic",
        "source": {"kind": "reasoning_gym", "task": task.name, "config": dict(task.config)},
        "count": count,
    }


def train_config(data: Path, scale: Scale = PROTOCOL) -> TrainConfig:
    """Return the run's config on the dataset folder ``data``."""
    from prorl_training.config.loading import load_config

    return load_config("cpu", None, [*OVERRIDES, f"data.path={data}", *scale.overrides])


def task_of(sample: Sample) -> str:
    """Return the name of the task that a sample is of."""
    return str(sample.metadata["family"])


def question_key(sample: Sample) -> tuple[str, ...]:
    """Return what makes two items the same problem, more strictly than their text.

    The words of the question in sorted order, without calendar dates and single letters: items that
    differ only in the order of their numbers or in a date (whose weekday is named beside it) are one.
    """
    text = _LETTER.sub(" ", _DATE.sub(" ", str(sample.prompt[-1]["content"])))
    return task_of(sample), *sorted(re.findall(r"[\w.]+", text.lower()))


def held_out(samples: Iterable[Sample], count: int = PROTOCOL.held_out) -> list[Sample]:
    """Return ``count`` test items of each task that share no key with any other split.

    Raises ValueError when a task has fewer.
    """
    rows = list(samples)
    seen = {question_key(s) for s in rows if s.split != "test"}
    chosen: list[Sample] = []
    for task in TASKS:
        own = [s for s in rows if s.split == "test" and task_of(s) == task.name]
        new = list({question_key(s): s for s in own if question_key(s) not in seen}.values())
        if len(new) < count:
            raise ValueError(f"{task.name}: {len(new)} held-out items, {count} are wanted")
        chosen += new[:count]
    return chosen


def chance(samples: Iterable[Sample], items: Sequence[Sample]) -> dict[str, float]:
    """Return, for each task, the share of ``items`` that the commonest training answer would solve."""
    found: dict[str, float] = {}
    rows = [s for s in samples if s.split == "train"]
    for task in TASKS:
        answers = [str(s.metadata["gold_response"]) for s in rows if task_of(s) == task.name]
        commonest = max(sorted(set(answers)), key=answers.count)
        own = [s for s in items if task_of(s) == task.name]
        found[task.name] = sum(s.metadata["gold_response"] == commonest for s in own) / len(own)
    return found
