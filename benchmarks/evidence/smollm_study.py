"""What makes a study of SmolLM2-135M: its tasks, sizes, arms and evaluations, and what counts as held out.

The studies themselves are ``smollm_protocol`` (120 steps) and ``smollm_loop`` (with and without the plateau loop).
Leaves out: carrying one out (``smollm_run``), what is kept of it (``smollm_record``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from prorl_datasets import Recipe, Sample
from prorl_evaluation import EvalResult, EvalSettings
from prorl_training.config import TrainConfig

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
MODEL = "smollm2-135m"
Results: TypeAlias = Mapping[str, EvalResult]
"""Finished evaluations by label."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One reasoning-gym task with its configuration; ``level`` is its place in a ladder of one task."""

    name: str
    task: str
    config: tuple[tuple[str, Any], ...]
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything, for each task: items of the three splits and answers to each held-out item.

    Of ``test_items`` the first ``held_out`` whose key no training or validation item has are used. Answers are
    sampled at temperature 1 and top-p 1, as in training. ``overrides`` come after the study's.
    """

    data_seed: int
    train_items: int
    validation_items: int
    test_items: int
    held_out: int
    samples: int
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A model that is sampled on the held-out items, and how it is called."""

    name: str
    arm: str
    """The run that it is of, and whose turn its evaluation is."""
    step: int | None
    """0: after the supervised warm start, before RL; -1: the last; None: the untouched model."""


@dataclass(frozen=True, slots=True)
class Study:
    """One protocol, as its document states it."""

    name: str
    description: str
    tasks: tuple[TaskSpec, ...]
    scale: Scale
    rehearsal: Scale
    """Shows that every stage runs, on other seeds: items, answers and training are not the protocol's."""
    overrides: tuple[str, ...]
    """Laid over the preset ``cpu``; an arm's own come after."""
    arms: Mapping[str, tuple[str, ...]]
    evaluated: tuple[Evaluated, ...]
    eval_seed: int
    samplings: tuple[str, ...]
    """``sampled`` at temperature 1, ``greedy``: one answer an item."""
    shown_k: int
    rows: int
    """Answers decoded together in an evaluation; what a kill can lose."""
    record: Callable[[Study, Path, Path, Sequence[Sample], Sequence[Sample], Results], None]
    """Study, run folders, evidence, all samples, held-out items, results so far: write what the document is made of."""

    @property
    def results(self) -> Path:
        """The folder of the files that the document is made of."""
        return EVIDENCE / "data" / self.name

    @property
    def document(self) -> Path:
        """The page that holds protocol and results."""
        return EVIDENCE / f"{self.name}.md"

    def recipe(self, scale: Scale) -> Recipe:
        """Return the dataset's recipe: every task's items from its own seeds, a split each."""
        from prorl_datasets.recipe.recipe import Recipe

        count = {
            "train": scale.train_items,
            "validation": scale.validation_items,
            "test": scale.test_items,
        }
        return Recipe.model_validate(
            {
                "name": f"{self.name}-evidence",
                "description": self.description,
                "seed": scale.data_seed,
                "decontamination": {"benchmarks": []},
                "entries": [
                    {
                        "name": t.name,
                        "domain": "logic",
                        "source": {
                            "kind": "reasoning_gym",
                            "task": t.task,
                            "config": dict(t.config),
                        },
                        "count": count,
                    }
                    for t in self.tasks
                ],
            }
        )

    def train_config(self, arm: str, data: Path, scale: Scale) -> TrainConfig:
        """Return the config of an arm's run on the dataset folder ``data``."""
        from prorl_training.config.loading import load_config

        settings = [*self.overrides, *self.arms[arm], f"data.path={data}", *scale.overrides]
        return load_config("cpu", None, settings)

    def eval_settings(
        self, name: str, sampling: str, scale: Scale, max_tokens: int
    ) -> EvalSettings:
        """Return how one model is sampled."""
        greedy = sampling == "greedy"
        n = 1 if greedy else scale.samples
        return EvalSettings(
            n=n,
            k=min(self.shown_k, n),
            temperature=0.0 if greedy else 1.0,
            top_p=1.0,
            max_tokens=max_tokens,
            seed=self.eval_seed,
            batch_rows=self.rows,
            label=f"{name}/{sampling}",
        )

    def held_out(self, samples: Iterable[Sample], count: int) -> list[Sample]:
        """Return ``count`` test items of each task that share no key with any other split.

        Raises ValueError when a task has fewer.
        """
        rows = list(samples)
        seen = {question_key(s) for s in rows if s.split != "test"}
        chosen: list[Sample] = []
        for task in self.tasks:
            own = [s for s in rows if s.split == "test" and task_of(s) == task.name]
            new = list({question_key(s): s for s in own if question_key(s) not in seen}.values())
            if len(new) < count:
                raise ValueError(f"{task.name}: {len(new)} held-out items, {count} are wanted")
            chosen += [_with_level(s, task) for s in new[:count]]
        return chosen

    def chance(self, samples: Iterable[Sample], items: Sequence[Sample]) -> dict[str, float]:
        """Return, for each task, the share of ``items`` that the commonest training answer would solve."""
        found: dict[str, float] = {}
        rows = [s for s in samples if s.split == "train"]
        for task in self.tasks:
            answers = [str(s.metadata["gold_response"]) for s in rows if task_of(s) == task.name]
            commonest = max(sorted(set(answers)), key=answers.count)
            own = [s for s in items if task_of(s) == task.name]
            found[task.name] = sum(s.metadata["gold_response"] == commonest for s in own) / len(own)
        return found


def _with_level(sample: Sample, task: TaskSpec) -> Sample:
    """Return the sample with its level, by which evaluations show ladders."""
    if task.level is None:
        return sample
    return replace(sample, metadata={**sample.metadata, "level": task.level})


_DATE = re.compile(r"\b[A-Z][a-z]+ \d{1,2}, \d{4}\b")
_LETTER = re.compile(r"\b[a-zA-Z]\b")


def task_of(sample: Sample) -> str:
    """Return the name of the task that a sample is of."""
    return str(sample.metadata["entry"])


def question_key(sample: Sample) -> tuple[str, ...]:
    """Return what makes two items the same problem, more strictly than their text.

    The words of the question in sorted order, without calendar dates and single letters: items that
    differ only in the order of their numbers or in a date (whose weekday is named beside it) are one.
    """
    text = _LETTER.sub(" ", _DATE.sub(" ", str(sample.prompt[-1]["content"])))
    return str(sample.metadata["family"]), *sorted(re.findall(r"[\w.]+", text.lower()))
