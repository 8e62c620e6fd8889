"""Simulates the controller's decisions, with or without a run's metrics."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from prorl_common import Progress
from prorl_training.config import TrainConfig
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.forecast import Outlook, number, numbers
from prorl_training.schedule.resets import measure_spike
from prorl_training.schedule.safety import Guard
from prorl_training.types import Decision, ValidationResult

REPORTED_EVERY = 1000
"""Number of steps between progress reports."""


def simulate(
    config: TrainConfig,
    steps: int,
    metrics: Mapping[int, Mapping[str, Any]] | None = None,
    gone_on_after: Collection[int] = (),
    progress: Progress | None = None,
) -> list[Decision]:
    """Return the decisions over ``steps`` steps, in the order in which a run writes them.

    ``metrics`` maps a step to its line of ``metrics.jsonl``; without a line, rules that need metrics never fire. The
    simulation ends where the run would end, unless the user continued it after that step (``gone_on_after``).
    """
    controller, guard, recorded = Controller(config), Guard(config.safety), metrics or {}
    decisions: list[Decision] = []
    for step in range(1, steps + 1):
        if progress is not None and step % REPORTED_EVERY == 0:
            progress.advance(REPORTED_EVERY)
        row, outlook = recorded.get(step, {}), outlook_at(config, recorded, step)
        decisions += simulate_step(controller, guard, step, row, outlook)
        controller.ended = controller.ended and step not in gone_on_after
        if guard.stop_reason is not None or controller.ended:
            break
    return decisions


def outlook_at(config: TrainConfig, metrics: Mapping[int, Mapping[str, Any]], step: int) -> Outlook:
    return Outlook(
        lambda: [metrics[s] for s in sorted(metrics) if s <= step], step, config.steps, config.seed
    )


def simulate_step(
    controller: Controller,
    guard: Guard,
    step: int,
    row: Mapping[str, Any],
    outlook: Outlook | None = None,
    begun: bool = False,
) -> list[Decision]:
    decisions: list[Decision] = []
    if not begun:
        guard.begin_step(step)
        decisions = controller.begin_step(step)
    loss, norm = number(row, "loss"), number(row, "grad_norm")
    if loss is not None and norm is not None:
        guard.accept_update(loss, norm)
    guard.watch_mismatch(number(row, "mismatch_kl" if "mismatch_kl" in row else "sampler_gap"))
    decisions += guard.end_step(number(row, "entropy"), row.get("groups_kept") == 0)
    decisions += controller.end_step(step, measured(row, outlook))
    return decisions


def measured(row: Mapping[str, Any], outlook: Outlook | None = None) -> Measured:
    """Convert a line of ``metrics.jsonl`` to the controller's input. A missing standard error becomes NaN."""
    mean, validation = number(row, "validation_reward"), None
    if mean is not None:
        se, each = number(row, "validation_se"), numbers(row, "validation_rewards")
        validation = ValidationResult(mean, math.nan if se is None else se, each)
    closed = number(row, "levels_closed")
    return Measured(
        number(row, "kl"),
        number(row, "entropy"),
        validation,
        None if closed is None else int(closed),
        outlook,
    )


def rules_at(
    config: TrainConfig, metrics: Mapping[int, Mapping[str, Any]], step: int
) -> dict[str, Any]:
    """Return the values that the controller's rules use at ``step``, by name."""
    controller, guard = Controller(config), Guard(config.safety)
    for before in range(1, step):
        outlook = outlook_at(config, metrics, before)
        simulate_step(controller, guard, before, metrics.get(before, {}), outlook)
    controller.begin_step(step)
    c, state = controller.settings.controller, controller.state
    since = step - state.last_reset
    row = metrics.get(step, {})
    view: dict[str, Any] = {
        "phase": state.phase,
        "penalty": "on" if controller.penalty_is_on(step) else "off",
        "last_reset": state.last_reset,
        "steps_since_reset": since,
    }
    if c.reset_interval:
        view["interval"] = c.reset_interval
    view["cooling_down"] = state.last_reset > 0 and since < c.cool_down
    kl, kls = number(row, "kl"), state.kl_history[-c.kl_window :]
    view["kl"] = kl
    view["kl_history"] = f"{len(kls)} of {c.kl_window} steps"
    if kl is not None and math.isfinite(kl) and len(kls) >= max(c.kl_window, 3):
        spike = measure_spike(kls, kl)
        view |= {"kl_median": spike.median, "kl_expected": spike.expected}
        view |= {"kl_spread": spike.spread, "kl_z": spike.z, "kl_z_limit": c.kl_zscore}
    values = measured(row, outlook_at(config, metrics, step))
    history, validation = controller.validations, values.validation
    if validation is not None:
        history.add(step, validation, c)
    view["validations_kept"] = len(history.steps)
    view["stall_test"] = [x._asdict() for x in history.halves(c)]
    view["degradation_tests"] = [x._asdict() for x in history.drops(c)]
    choice = controller.plateau.next_action(
        controller.settings, values.levels_closed, values.outlook
    )
    view["next_on_stall"] = choice.action
    view |= choice.evidence
    view["samples"] = controller.settings.rollout.samples
    view["best_step"] = state.best_step
    return view
