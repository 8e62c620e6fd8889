"""A run planned: hours and cost of a config on so many cards, and how far such plans were off elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pydantic import Field

from prorl_common import UserError
from prorl_common.config import Section, read_yaml
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.launch.layout import Layout, layout_of
from prorl_training.sizing.cards import Card, find_card
from prorl_training.sizing.known import model_shape
from prorl_training.sizing.lengths import DISTILLED
from prorl_training.sizing.ratios import Ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.time import Machine, PhaseTime, Workload, run_time, total_seconds

USABLE = 0.41
"""Share of groups that are neither all right nor all wrong, with 16 samples (BroRL, arXiv 2510.01180, ProRL's arm)."""
PROMPT_TOKENS = 250
"""Tokens of a prompt; ours."""


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
class Plan:
    """A run on paper."""

    phases: list[PhaseTime]
    machine: Machine
    gpus: int

    @property
    def hours(self) -> float:
        """Return the hours that it runs."""
        return total_seconds(self.phases) / 3600

    @property
    def gpu_hours(self) -> float:
        """Return them times the cards."""
        return self.hours * self.gpus

    def cost(self, price: float) -> float:
        """Return the cost at ``price`` for an hour of a card."""
        return self.gpu_hours * price


def machine_of(config: TrainConfig, gpus: int, card: Card, ratios: Ratios) -> Machine:
    """Return ``gpus`` cards in the layout of ``config.openrlhf``. Raises UserError where they do not divide."""
    per_node = min(gpus, config.openrlhf.gpus_per_node)
    nodes, left = divmod(gpus, per_node)
    if left:
        raise UserError(
            f"{gpus} cards do not fill nodes of {per_node}: take a multiple, or --set openrlhf.gpus_per_node=N"
        )
    if gpus == 1:
        return Machine(card, Layout(1, 1, 1, 1, True), ratios)
    o = config.openrlhf.model_copy(update={"nodes": nodes, "gpus_per_node": per_node})
    layout = layout_of(config.model_copy(update={"openrlhf": o}), "cuda")
    if layout.engines < 1 or layout.policy_ranks < 1:
        raise UserError(
            f"openrlhf.vllm_engines={o.vllm_engines} of {o.vllm_tensor_parallel} cards each leave the policy none of {gpus}"
        )
    slow = card.network if nodes > 1 else card.link
    if not slow:
        raise UserError(
            f"the card has no {'network' if nodes > 1 else 'link'} speed: name one in the file of --cards"
        )
    return Machine(card, layout, ratios)


def make_plan(
    config: TrainConfig, shape: ModelShape, gpus: int, card: Card, ratios: Ratios, work: Workload
) -> Plan:
    """Return the plan of a run. Raises UserError where the cards do not fit the layout or the model."""
    machine = machine_of(config, gpus, card, ratios)
    return Plan(run_time(config, shape, machine, work), machine, gpus)


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
