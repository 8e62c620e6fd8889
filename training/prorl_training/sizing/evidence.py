"""What plans are held against: published runs beside what is planned for them, and steps that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pydantic import Field

from prorl_common.config import Section, read_yaml
from prorl_training.config.loading import load_config
from prorl_training.sizing.cards import find_card
from prorl_training.sizing.known import model_shape
from prorl_training.sizing.lengths import DISTILLED
from prorl_training.sizing.plan import PROMPT_TOKENS, USABLE, make_plan
from prorl_training.sizing.ratios import Ratios
from prorl_training.sizing.time import Workload


class Published(Section):
    """A run of others: the settings that come nearest, and what it took."""

    name: str
    source: str
    card: str
    gpus: int = Field(ge=1)
    preset: str
    set: tuple[str, ...] = ()
    gpu_hours: float = Field(gt=0)


class MeasuredStage(Section):
    """A stage of a model on a CPU, beside what was predicted for it from other models."""

    parameters: int
    stage: str
    measured: float = Field(gt=0)
    predicted: float = Field(gt=0)

    @property
    def error(self) -> float:
        """Return (predicted - measured) / measured."""
        return self.predicted / self.measured - 1


class Evidence(Section):
    """What plans are held against; all published runs trained ``model``, a hub id."""

    model: str
    published: tuple[Published, ...]
    measured: tuple[MeasuredStage, ...]


def evidence() -> Evidence:
    """Return what ``evidence.yaml`` holds."""
    text = (resources.files(__package__) / "evidence.yaml").read_text("utf-8")
    return Evidence.model_validate(read_yaml(text, "evidence.yaml"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A published run and the plan for it."""

    run: Published
    planned_gpu_hours: float

    @property
    def factor(self) -> float:
        """Return how many times the planned hours it took."""
        return self.run.gpu_hours / self.planned_gpu_hours


def compare(ratios: Ratios) -> list[Comparison]:
    """Return the published runs beside their plans, with the lengths and prompts that are assumed without options."""
    known, found = evidence(), []
    shape = model_shape(known.model)
    work = Workload(DISTILLED, PROMPT_TOKENS, USABLE)
    for run in known.published:
        config = load_config(run.preset, None, run.set)
        plan = make_plan(config, shape, run.gpus, find_card(run.card), ratios, work)
        found.append(Comparison(run, plan.gpu_hours))
    return found


def comparison_json(found: list[Comparison]) -> list[Mapping[str, Any]]:
    """Return the comparisons as plain values."""
    return [
        {
            "run": c.run.name,
            "source": c.run.source,
            "gpu_hours": c.run.gpu_hours,
            "planned_gpu_hours": round(c.planned_gpu_hours, 2),
            "factor": round(c.factor, 2),
        }
        for c in found
    ]
