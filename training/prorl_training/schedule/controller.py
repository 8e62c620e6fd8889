"""Decides, from config and metrics alone, on phases, windows of the length penalty and reference resets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from prorl_common import UserError
from prorl_training.config import LengthPenaltyConfig, TrainConfig
from prorl_training.schedule.forecast import Outlook
from prorl_training.schedule.plateau import Plateau
from prorl_training.schedule.resets import interval_rule, kl_rule, reset_decision
from prorl_training.schedule.validation import ValidationHistory
from prorl_training.types import Decision, DecisionKind, Finding, ValidationResult


class Measured(NamedTuple):
    """Measurements of a finished step; a field is None if not measured. KL and entropy are in nats per token."""

    kl: float | None
    entropy: float | None = None
    validation: ValidationResult | None = None
    levels_closed: int | None = None
    """Number of closed levels of generated items (``data.levels``)."""
    outlook: Outlook | None = None
    """Computes a forecast of validation for ``controller.end_gain``."""


@dataclass
class ControllerState:
    """The controller's state in a checkpoint, as JSON values."""

    phase: int = 0
    phase_start: int = 1
    """First step of the current phase."""
    stage_start: int = 1
    """First step of the current stage; 1 in a run without stages."""
    phase_announced: bool = False
    phase_ended_by: dict[str, Any] | None = None
    """Why an ``until: stall`` phase ended early, before the next phase begins."""
    window_open: bool = False
    last_reset: int = 0
    """Step after which the reference was last reset; 0 if never."""
    kl_history: list[float] = field(default_factory=list)
    """The newest ``kl_window`` finite KLs since the last reset."""
    best_step: int | None = None
    best_mean: float | None = None


class Controller:
    """Decides before and after each step. Steps must come in order."""

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.state = ControllerState()
        self.validations = ValidationHistory()
        self.plateau = Plateau()
        self.settings = config.in_phase(0)
        self.ended = False
        """True after a stall has ended the run. It is not saved, so that the user can resume the run anyway."""

    @property
    def phase(self) -> int:
        return self.state.phase

    @property
    def best_step(self) -> int | None:
        """Step of the best validation with the current response limit, or None."""
        return self.state.best_step

    @property
    def last_reset(self) -> int:
        return self.state.last_reset

    def penalty_is_on(self, step: int) -> bool:
        """Return whether the length penalty is on at ``step`` (from 1).

        The schedule starts with the run or stage, or with a phase that sets ``length_penalty.start_step``.
        """
        p, s = self.settings.length_penalty, self.state
        start = (
            p.start_step + (s.phase_start if self._phase_sets_start_step() else s.stage_start) - 1
        )
        if p.weight == 0 or p.steps_on == 0 or step < start:
            return False
        return (step - start) % (p.steps_on + p.steps_off) < p.steps_on

    def begins_stage(self, step: int) -> bool:
        """Return whether ``step`` begins a stage other than the first. Call it after ``end_step`` of ``step`` - 1."""
        return self._phase_ends(step) and self.config.begins_stage(self.state.phase + 1)

    def begin_step(self, step: int) -> list[Decision]:
        """Return the decisions that take effect at ``step``, and apply them to ``settings``."""
        before = self.settings.length_penalty
        decisions = self._phase_changes(step)
        if raised := self.plateau.begin_step(step, self.settings):
            self._settle()
        return decisions + raised + self._window_changes(step, before)

    def _settle(self) -> None:
        self.settings = self.plateau.over(self.config.in_phase(self.state.phase))

    def end_step(self, step: int, measured: Measured) -> list[Decision]:
        """Process a finished step; return at most one ``reference_reset``, and ``run_ended`` if the run ends.

        If several rules fire, the reset names the first of KL threshold, KL spike, worse or stalled validation,
        interval. In an ``until: stall`` phase, worse or stalled validation (one that no longer improves) begins the
        next phase. Without a next phase, a stall leads to the next action of ``on_stall``.
        """
        spike = self._check_kl(step, measured.kl)
        finding = self._check_validation(step, measured.validation)
        if finding is not None and self._phase_waits_for_stall():
            self.state.phase_ended_by = {"rule": finding.rule, "step": step, **finding.evidence}
            self._act_on([finding.rule])
            finding = None
        ended: list[Decision] = []
        if finding is not None and finding.rule == "stalled_validation":
            closed, outlook = measured.levels_closed, measured.outlook
            action, why = self.plateau.take(finding, self.settings, closed, outlook)
            finding = finding._replace(evidence={**finding.evidence, **why})
            if action != "reset":
                self._act_on([finding.rule])
                if action == "end":
                    self.ended = True
                    evidence = {"rule": finding.rule, **finding.evidence}
                    ended = [Decision(step, "run_ended", finding.reason, evidence)]
                finding = None
        findings = [f for f in (spike, finding, self._interval(step)) if f is not None]
        if not findings:
            return ended
        return [self._reset(step, step, findings), *ended]

    def _check_kl(self, step: int, kl: float | None) -> Finding | None:
        c = self.settings.controller
        if kl is None or not math.isfinite(kl):
            return None
        history = self.state.kl_history[-c.kl_window :]
        self.state.kl_history = [*history, kl][-c.kl_window :]
        last = self.state.last_reset
        cooling = last > 0 and step - last < c.cool_down
        return None if cooling else kl_rule(history, kl, c)

    def _check_validation(self, step: int, result: ValidationResult | None) -> Finding | None:
        if result is None or not math.isfinite(result.mean):
            return None
        s = self.state
        if s.best_mean is None or result.mean > s.best_mean:
            s.best_mean, s.best_step = result.mean, step
        self.validations.add(step, result, self.settings.controller)
        return self.validations.find(self.settings.controller)

    def _interval(self, step: int) -> Finding | None:
        if self._next_phase_resets(step):
            return None
        since = step - self.state.last_reset
        return interval_rule(since, self.settings.controller.reset_interval)

    def _reset(
        self, step: int, after: int, findings: list[Finding], new_run: bool = False
    ) -> Decision:
        """Return the decision to reset after step ``after``; if ``new_run``, to the policy, with a new optimiser."""
        c, best = self.settings.controller, self.state.best_step
        elsewhere = best is not None and best < after and not new_run
        to = c.reset_to if elsewhere else "current"
        optimizer = "clear" if new_run else c.optimizer
        context = {"best_step": best, "steps_since_reset": after - self.state.last_reset}
        self.state.last_reset = after
        self.state.kl_history = []
        if to == "best":
            self.validations.forget()  # a new policy
        self._act_on([f.rule for f in findings])
        return reset_decision(step, findings, to, optimizer, context)

    def reset_resumed(self, step: int) -> Decision:
        """Return a reset after ``step``, for a resumed trainer that had not saved the reference."""
        finding = Finding("resumed", "the trainer resumes without its reference", {})
        return self._reset(step, step, [finding])

    def _act_on(self, rules: Sequence[str]) -> None:
        if "degraded_validation" in rules:
            self.validations.forget()
        elif "stalled_validation" in rules:
            self.validations.begin_stretch()

    def _phase_changes(self, step: int) -> list[Decision]:
        s = self.state
        if not self.config.phases:
            return []
        if s.phase_announced:
            return self._enter(step, s.phase + 1) if self._phase_ends(step) else []
        return self._enter(step, s.phase)

    def _enter(self, step: int, number: int) -> list[Decision]:
        phases, s, old = self.config.phases, self.state, self.settings
        phase, ended_by = phases[number], s.phase_ended_by
        s.phase, s.phase_start, s.phase_announced, s.phase_ended_by = number, step, True, None
        if self.config.begins_stage(number):
            self.plateau.begin_stage()
        self._settle()
        new = self.settings
        same_limit = old.rollout.max_tokens == new.rollout.max_tokens
        self.validations.begin_stretch()
        if not same_limit:
            self.validations.forget()
            s.best_step = s.best_mean = None
        evidence: dict[str, Any] = {"phase": number, "name": phase.name, "of": len(phases)}
        evidence |= {"steps": phase.steps, "until": phase.until, "set": dict(phase.set)}
        reason = f"phase {number + 1} of {len(phases)}: {phase.name}"
        if (stage := self.config.stage_of(number)) is not None:
            evidence |= {"stage": stage.name, "preset": stage.preset, "engine": new.engine}
            reason = f"stage {stage.name}, {reason}"
        if ended_by is not None:
            evidence["ended_by"] = ended_by
        decisions = [Decision(step, "phase_started", reason, evidence)]
        if self.config.begins_stage(number):
            s.stage_start = step
            begins = f"stage {phase.stage} begins as a run does: the policy is the reference"
            finding = Finding("stage", begins, {"stage": phase.stage})
            decisions.append(self._reset(step, step - 1, [finding], new_run=True))
        elif phase.reset:
            finding = Finding("phase", f"phase {phase.name} begins with a reset", {"phase": number})
            decisions.append(self._reset(step, step - 1, [finding]))
        return decisions

    def _phase_ends(self, step: int) -> bool:
        phases, s = self.config.phases, self.state
        if not s.phase_announced or s.phase + 1 >= len(phases):
            return False
        return s.phase_ended_by is not None or step >= s.phase_start + phases[s.phase].steps

    def _phase_waits_for_stall(self) -> bool:
        phases, number = self.config.phases, self.state.phase
        return number + 1 < len(phases) and phases[number].until == "stall"

    def _next_phase_resets(self, step: int) -> bool:
        if not self._phase_ends(step + 1):
            return False
        number = self.state.phase + 1
        return self.config.phases[number].reset or self.config.begins_stage(number)

    def _phase_sets_start_step(self) -> bool:
        phases = self.config.phases
        return bool(phases) and "start_step" in phases[self.phase].set.get("length_penalty", {})

    def _window_changes(self, step: int, before: LengthPenaltyConfig) -> list[Decision]:
        """Return decisions that turn the length penalty on or off; for changed settings, off and on."""
        s, p = self.state, self.settings.length_penalty
        now, was = self.penalty_is_on(step), s.window_open
        s.window_open = now
        changed = _values(before) != _values(p)
        decisions = []
        if was and (not now or changed):
            why = (
                f"schedule: off for {p.steps_off} steps" if not changed else "the phase changes it"
            )
            decisions.append(_window(step, "penalty_window_closed", why, before))
        if now and (not was or changed):
            why = f"schedule: on for {p.steps_on} steps"
            decisions.append(_window(step, "penalty_window_opened", why, p))
        return decisions

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self.state),
            "validations": self.validations.to_json(),
            "plateau": self.plateau.to_json(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the result of :meth:`to_json`. Raises UserError if its phase is not in the config."""
        values = dict(state)
        self.validations.restore(values.pop("validations"))
        self.plateau.restore(values.pop("plateau", {}))  # absent in old checkpoints
        self.state = ControllerState(**values)
        if self.state.phase >= max(len(self.config.phases), 1):
            raise UserError(
                f"the checkpoint is in phase {self.state.phase + 1}, but the config has "
                f"{len(self.config.phases)} phases: keep the phases that the run has already entered"
            )
        self._settle()


def _values(p: LengthPenaltyConfig) -> dict[str, Any]:
    return p.model_dump(exclude={"steps_on", "steps_off", "start_step"})


def _window(step: int, kind: DecisionKind, reason: str, p: LengthPenaltyConfig) -> Decision:
    evidence = {"steps_on": p.steps_on, "steps_off": p.steps_off}
    return Decision(step, kind, reason, {**evidence, "form": p.form, "weight": p.weight})
