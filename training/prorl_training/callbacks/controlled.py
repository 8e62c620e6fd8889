"""ProRL's controller and guard for a run that another framework's trainer executes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from prorl_common import UserError
from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.controller import Controller
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.simulate import outlook_at, simulate_step
from prorl_training.schedule.validation import result_of
from prorl_training.types import Decision

if TYPE_CHECKING:
    from torch.optim import Optimizer

Row = dict[str, Any]
FOLLOWED = {"controller", "length_penalty", "overlong", "stop_properly", "penalties"}
"""Sections that phases may change if another trainer executes the run."""


def trainer_config(preset: str, settings: Sequence[str], facts: Mapping[str, Any]) -> TrainConfig:
    """Return the preset's config with ``settings`` (as for ``--set``), overridden by the trainer's values ``facts``.

    Raises UserError for settings that only ``prorl train`` supports.
    """
    fixed = {"dynamic_sampling.enabled": False, "loss.mini_batches": 1, **facts}
    texts = [f"{key}={json.dumps(value)}" for key, value in fixed.items()]
    config = load_config(preset, None, [*settings, *texts])
    base, wrong = config.model_dump(exclude=FOLLOWED), ["stages"] if config.stages else []
    for part in config.phase_configs:
        changed = part.model_dump(exclude=FOLLOWED | {"phases", "stages"})
        wrong += [f"a phase's {key}" for key in changed if changed[key] != base[key]]
        wrong += [f"on_stall {a}" for a in part.controller.on_stall if a not in ("reset", "end")]
        wrong += ["reset_to"] if part.controller.reset_to != "current" else []
        wrong += ["stop_properly.mode=mask"] if part.stop_properly.mode == "mask" else []
    if names := ", ".join(dict.fromkeys(wrong)):
        raise UserError(f"only prorl train supports {names}: change these settings, or the preset")
    return config


class ControlledRun:
    """Makes the decisions of a run that another trainer executes, and writes its ``folder`` (None: writes nothing).

    Decisions depend only on the metrics given to ``end_step``, so ``prorl train simulate --from`` can repeat them.
    """

    def __init__(self, config: TrainConfig, folder: RunFolder | None) -> None:
        self.config = config
        self.folder = folder
        self.controller = Controller(config)
        self.guard = Guard(config.safety)
        self.step = 0
        self._rows: dict[int, Row] = {}
        self._begun: list[Decision] = []
        self._open = ExitStack()

    def begin(self, trainer: str) -> None:
        """Create the run's folder. ``trainer`` is the trainer's name and version. Raises UserError for an existing run."""
        if self.folder is not None:
            if self.folder.config_path.exists():
                raise UserError(f"{self.folder.path} already holds a run: name another folder")
            self._open.enter_context(self.folder.lock())
            self.folder.create(self.config, {"trainer": trainer})

    def resume(self, rows: Sequence[Row], step: int) -> list[Decision]:
        """Replay the recorded metrics ``rows`` up to ``step``. Raises UserError if rows are missing.

        If the reference was ever reset, return a new reset, because trainers do not save the reference.
        """
        self._rows = {row["step"]: row for row in rows if row["step"] <= step}
        if len(self._rows) < step:
            raise UserError(f"the run folder lacks steps up to {step}: name the checkpoint's run")
        for number, row in self._rows.items():
            outlook = outlook_at(self.config, self._rows, number)
            simulate_step(self.controller, self.guard, number, row, outlook)
        self.controller.ended, self.guard.stop_reason = False, None
        resets = [self.controller.reset_resumed(step)] if self.controller.last_reset else []
        if self.folder is not None:
            self._open.enter_context(self.folder.lock())
            self.folder.truncate_after(step)
            self.folder.log_decisions(resets)
        return resets

    def begin_step(self, step: int) -> list[Decision]:
        self.step = step
        self.guard.begin_step(step)
        self._begun = self.controller.begin_step(step)
        return self._begun

    def end_step(
        self, metrics: Row, validation: Mapping[str, Sequence[float | None]]
    ) -> list[Decision]:
        """Decide from a step's metrics and the raw rewards of each validation problem. Returns and logs decisions."""
        on = self.controller.penalty_is_on(self.step)
        row: Row = {"step": self.step, "phase": self.controller.phase, "length_penalty_active": on}
        row |= metrics
        problems = [[r for r in validation[key] if r is not None] for key in sorted(validation)]
        means = [sum(rewards) / len(rewards) if rewards else None for rewards in problems]
        if (result := result_of(means)) is not None:
            row |= {"validation_reward": result.mean, "validation_se": result.standard_error}
            row |= {"validation_problems": result.problems, "validation_rewards": means}
        self._rows[self.step] = row
        outlook = outlook_at(self.config, self._rows, self.step)
        decisions = simulate_step(self.controller, self.guard, self.step, row, outlook, begun=True)
        if self.folder is not None:
            self.folder.log_decisions([*self._begun, *decisions])
            numbers = {k: v for k, v in row.items() if isinstance(v, list) or math.isfinite(v)}
            self.folder.log_metrics(numbers)
        return decisions

    @property
    def ended(self) -> bool:
        return self.guard.stop_reason is not None or self.controller.ended

    def shaping(self, raw: float, tokens: int, truncated: bool) -> float:
        """Return the shaped minus the raw reward of a response in this step (``algorithm.shaping``)."""
        on = self.controller.penalty_is_on(self.step)
        return shaped_reward(self.controller.settings, raw, tokens, truncated, on) - raw

    def close(self) -> None:
        self._open.close()


def scale_learning_rate(optimizer: Optimizer, scale: Callable[[], float]) -> None:
    """Multiply the learning rate by ``scale()`` for each optimiser step, and restore it afterwards."""
    rates: list[float] = []

    def before(*_: object) -> None:
        rates[:] = [group["lr"] for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] *= scale()

    def after(*_: object) -> None:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    optimizer.register_step_pre_hook(before)
    optimizer.register_step_post_hook(after)
