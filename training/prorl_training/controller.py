"""The run's controller: penalty windows and reference resets as a pure state machine over metrics.

Knows no model and no torch. Same config and same metrics give the same decisions, so a run can be
simulated before it is paid for and explained afterwards. Its state is plain JSON and lives in every
checkpoint. Leaves out: acting on a decision (the engine does).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from prorl_training.config import ControllerConfig, LengthPenaltyConfig

DecisionKind = Literal[
    "warm_start",
    "penalty_window_opened",
    "penalty_window_closed",
    "reference_reset",
    "step_skipped",
    "refill_gave_up",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """What changed at which step (1-based), why, and on which evidence (JSON values)."""

    step: int
    kind: DecisionKind
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object, one line of ``decisions.jsonl``."""
        return asdict(self)


@dataclass
class ControllerState:
    """All that the controller remembers between steps."""

    last_reset: int = 0
    kl_history: list[float] = field(default_factory=list)
    best_validation: float | None = None
    validations_since_best: int = 0


class Controller:
    """Decides at each step; see the config sections for the rules."""

    def __init__(self, config: ControllerConfig, penalty: LengthPenaltyConfig) -> None:
        self.config = config
        self.penalty = penalty
        self.state = ControllerState()

    def penalty_active(self, step: int) -> bool:
        """Return whether the length penalty is on at ``step`` (1-based)."""
        p = self.penalty
        if p.weight == 0 or p.steps_on == 0 or step < p.start_step:
            return False
        return (step - p.start_step) % (p.steps_on + p.steps_off) < p.steps_on

    def begin_step(self, step: int) -> list[Decision]:
        """Return the window changes that take effect at ``step``, before anything is sampled."""
        now, before = self.penalty_active(step), step > 1 and self.penalty_active(step - 1)
        if now == before:
            return []
        p = self.penalty
        evidence = {"steps_on": p.steps_on, "steps_off": p.steps_off, "weight": p.weight}
        if now:
            reason = f"schedule: on for {p.steps_on} steps"
            return [Decision(step, "penalty_window_opened", reason, evidence)]
        reason = f"schedule: off for {p.steps_off} steps"
        return [Decision(step, "penalty_window_closed", reason, evidence)]

    def end_step(
        self, step: int, kl: float | None, validation: float | None = None
    ) -> list[Decision]:
        """Take a finished step's mean KL and validation reward (None: not measured); maybe reset.

        At most one reset a step; the first rule that holds names it: interval, KL spike, stall.
        """
        spike = self._kl_spike(step, kl)
        stall = self._stall(step, validation)
        if kl is not None and math.isfinite(kl):
            self.state.kl_history = [*self.state.kl_history, kl][-self.config.kl_window :]
        decision = self._interval(step) or spike or stall
        if decision is None:
            return []
        self.state.last_reset = step
        self.state.kl_history = []
        self.state.validations_since_best = 0
        return [decision]

    def _interval(self, step: int) -> Decision | None:
        every = self.config.reset_interval
        since = step - self.state.last_reset
        if every == 0 or since < every:
            return None
        return self._reset(
            step, f"{since} steps since the last reset", {"rule": "interval", "every": every}
        )

    def _kl_spike(self, step: int, kl: float | None) -> Decision | None:
        c = self.config
        if kl is None or not math.isfinite(kl) or self._cooling(step):
            return None
        if c.kl_threshold and kl > c.kl_threshold:
            evidence = {"rule": "kl_threshold", "kl": kl, "threshold": c.kl_threshold}
            return self._reset(step, f"KL {kl:.4g} is above {c.kl_threshold:.4g}", evidence)
        history = self.state.kl_history
        if not c.kl_zscore or len(history) < c.kl_window:
            return None
        median = statistics.median(history)
        spread = 1.4826 * statistics.median(abs(x - median) for x in history)
        if spread <= 0 or kl <= median + c.kl_zscore * spread:
            return None
        z = (kl - median) / spread
        evidence = {"rule": "kl_zscore", "kl": kl, "median": median, "robust_std": spread, "z": z}
        return self._reset(
            step, f"KL {kl:.4g} is {z:.1f} robust deviations above its median", evidence
        )

    def _stall(self, step: int, validation: float | None) -> Decision | None:
        if validation is None or not math.isfinite(validation):
            return None
        s, c = self.state, self.config
        if s.best_validation is None or validation > s.best_validation + c.stall_min_delta:
            s.best_validation, s.validations_since_best = validation, 0
            return None
        s.validations_since_best += 1
        if not c.stall_validations or s.validations_since_best < c.stall_validations:
            return None
        if self._cooling(step):
            return None
        evidence = {
            "rule": "stalled_validation",
            "validation": validation,
            "best": s.best_validation,
            "validations_without_best": s.validations_since_best,
        }
        return self._reset(
            step, f"{s.validations_since_best} validations without a new best", evidence
        )

    def _cooling(self, step: int) -> bool:
        last = self.state.last_reset
        return last > 0 and step - last < self.config.cool_down

    def _reset(self, step: int, reason: str, evidence: dict[str, Any]) -> Decision:
        return Decision(
            step, "reference_reset", reason, {**evidence, "optimizer": self.config.optimizer}
        )

    def to_json(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return asdict(self.state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the state of a checkpoint."""
        self.state = ControllerState(**state)


def simulate(
    controller: Controller, steps: int, metrics: Mapping[int, Mapping[str, Any]] | None = None
) -> list[Decision]:
    """Return what the controller would decide over ``steps`` steps.

    ``metrics`` maps a step to its recorded line of ``metrics.jsonl`` (keys ``kl`` and
    ``validation_reward``); steps without one count as calm: no KL, no validation.
    """
    decisions: list[Decision] = []
    for step in range(1, steps + 1):
        row = (metrics or {}).get(step, {})
        decisions += controller.begin_step(step)
        decisions += controller.end_step(step, row.get("kl"), row.get("validation_reward"))
    return decisions
