"""A run planned: its phases, hours and cost on so many cards. How long a step takes is ``time``'s."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.layout import Layout, layout_of
from prorl_training.sizing.cards import Card
from prorl_training.sizing.ratios import Ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.time import Machine, StepTime, Workload, step_time

USABLE = 0.41
"""Share of groups that are neither all right nor all wrong, with 16 samples (BroRL, arXiv 2510.01180, ProRL's arm)."""
PROMPT_TOKENS = 250
"""Tokens of a prompt; ours."""


TIMED = (
    "rollout",
    "dynamic_sampling",
    "loss",
    "kl",
    "model",
    "validation",
    "checkpoint",
    "openrlhf",
)
"""The sections of a config that a step's time depends on."""


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """A phase of a run: its steps, and what one of them takes."""

    name: str
    steps: int
    at_most: bool
    """It may end before: validation decides."""
    step: StepTime


def run_time(
    config: TrainConfig, shape: ModelShape, machine: Machine, workload: Workload
) -> list[PhaseTime]:
    """Return the phases of a run up to ``config.steps``; a run without phases is one."""
    if not config.phases:
        return [PhaseTime("", config.steps, False, step_time(config, shape, machine, workload))]
    left, phases = config.steps, []
    known: dict[str, StepTime] = {}  # phases often differ in what takes no time
    for number, phase in enumerate(config.phases):
        last = number == len(config.phases) - 1
        steps = left if last else min(phase.steps, left)
        left -= steps
        if not steps:
            break
        settings = config.in_phase(number)
        key = settings.model_dump_json(include=set(TIMED))
        if key not in known:
            known[key] = step_time(settings, shape, machine, workload)
        phases.append(PhaseTime(phase.name, steps, phase.until == "stall", known[key]))
    return phases


def total_seconds(phases: list[PhaseTime]) -> float:
    """Return the seconds of a run of these phases."""
    return math.fsum(p.steps * p.step.stages.total for p in phases)


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


def plan_json(phases: list[PhaseTime]) -> list[Mapping[str, Any]]:
    """Return a run's phases as plain values."""
    return [
        {
            "phase": p.name,
            "steps": p.steps,
            "at_most": p.at_most,
            "step_seconds": round(p.step.stages.total, 3),
            "stages": {name: round(s, 3) for name, s in p.step.stages.by_stage().items()},
            "sampled_tokens": p.step.sampled,
            "trained_tokens": p.step.trained,
            "tokens_per_second": round(p.step.tokens_per_second, 1),
            "waiting_share": round(p.step.waiting, 4),
            "rows": p.step.rows,
        }
        for p in phases
    ]
