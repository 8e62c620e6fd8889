"""What a run decided on its way: the record that ``decisions.jsonl`` holds, a line each.

Standard library only, so that the controller, the guard and a simulation need no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

DecisionKind = Literal[
    "warm_start",
    "phase_started",
    "penalty_window_opened",
    "penalty_window_closed",
    "reference_reset",
    "samples_raised",
    "difficulty_raised",
    "items_rerated",
    "run_ended",
    "levels_changed",
    "update_skipped",
    "learning_rate_backed_off",
    "learning_rate_restored",
    "step_skipped",
    "refill_gave_up",
    "short_batch",
    "prompts_dropped",
    "entropy_low",
    "outage",
    "validation_outage",
    "best_checkpoint_lost",
    "run_stopped",
    "checkpoint_fallback",
    "config_changed",
]

CONTROLLER_KINDS: frozenset[DecisionKind] = frozenset(
    (
        "phase_started",
        "penalty_window_opened",
        "penalty_window_closed",
        "reference_reset",
        "samples_raised",
        "difficulty_raised",
        "items_rerated",
        "run_ended",
    )
)
"""What the controller decides from config and metrics alone, so that a simulation can repeat it."""

PLATEAU_KINDS: frozenset[DecisionKind] = frozenset(
    ("samples_raised", "difficulty_raised", "items_rerated", "run_ended")
)
"""What a stall leads to beside a reset (``schedule.plateau``)."""

WEIGHTS = {
    "current": "the reference takes the policy's own",
    "best_reference": "the reference takes those of best_step, the policy keeps its own",
    "best": "policy and reference take those of best_step",
}
"""What each ``controller.reset_to`` does, for a reset's evidence."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What changed at which step (1-based; 0: before step 1), why, and on which evidence (JSON values)."""

    step: int
    kind: DecisionKind
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object, one line of ``decisions.jsonl``."""
        return asdict(self)
