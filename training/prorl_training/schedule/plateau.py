"""What is done about a stall: one of the actions of ``controller.on_stall`` after the other, the last again and again.

``reset`` is the controller's own. The others are decided when validation stalls and take effect at the next step:

- ``raise_samples``: n is multiplied by ``samples_factor``, up to ``samples_most`` (BroRL, arXiv 2510.01180: when longer
  training stops paying, broader rollouts go on paying). It holds for the phases that follow, where they have no more.
- ``raise_difficulty``: one more level of every ladder is opened (``data.levels``).
- ``rerate``: what rollouts have said of the items is forgotten, so that all are looked at anew.
- ``end``: the run is over, well and early.

An action that has nothing left to do is passed over; where none is left, the reference is reset. A stage begins with
nothing raised. Plain JSON inside, no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, assert_never

from prorl_training.config import TrainConfig
from prorl_training.config.schedule import StallAction
from prorl_training.schedule.decisions import Decision
from prorl_training.schedule.rules import Finding


@dataclass
class PlateauState:
    """JSON values only."""

    taken: int = 0
    """Places of ``on_stall`` that have been gone through."""
    samples: int = 0
    """Least n of the phases from now on; 0: as they say."""
    levels: int = 0
    """Levels opened by ``raise_difficulty``."""
    due: dict[str, Any] | None = None
    """What takes effect at the next step: action, and the finding that asked for it."""


class Plateau:
    """Chooses what a stall leads to, and lays what was raised over a phase's settings."""

    def __init__(self) -> None:
        self.state = PlateauState()

    def over(self, settings: TrainConfig) -> TrainConfig:
        """Return a phase's settings with what was raised."""
        changed: dict[str, Any] = {}
        if self.state.samples > settings.rollout.samples:
            update = {"samples": self.state.samples}
            changed["rollout"] = settings.rollout.model_copy(update=update)
        if self.state.levels:
            update = {"levels_ahead": settings.data.levels_ahead + self.state.levels}
            changed["data"] = settings.data.model_copy(update=update)
        return settings.model_copy(update=changed) if changed else settings

    def would_take(self, settings: TrainConfig, levels_closed: int | None) -> StallAction:
        """Return the action that a stall would lead to now."""
        return self._choose(settings, levels_closed)[0]

    def take(
        self, finding: Finding, settings: TrainConfig, levels_closed: int | None
    ) -> StallAction:
        """Return the action that a stall leads to; what waits for the next step is due from now on.

        ``levels_closed``: levels of the ladders that no item is drawn of; None: not known.
        """
        action, passed = self._choose(settings, levels_closed)
        self.state.taken += len(passed) + 1
        if action not in ("reset", "end"):
            self.state.due = {"action": action, "rule": finding.rule, **finding.evidence}
            self.state.due |= {"passed_over": passed} if passed else {}
        return action

    def _choose(
        self, settings: TrainConfig, levels_closed: int | None
    ) -> tuple[StallAction, list[StallAction]]:
        """Return the next action that has something left to do, and those that were passed over for it."""
        actions: Sequence[StallAction] = settings.controller.on_stall or ("reset",)
        left = actions[min(self.state.taken, len(actions) - 1) :]
        for number, action in enumerate(left):
            if _able(action, settings, levels_closed):
                return action, list(left[:number])
        return "reset", list(left)

    def begin_step(self, step: int, settings: TrainConfig) -> list[Decision]:
        """Return what takes effect at ``step``, whose phase has ``settings`` before it; then ``over`` has it.

        Nothing where a phase began in between that leaves the action nothing to do.
        """
        due, self.state.due = self.state.due, None
        if due is None:
            return []
        action: StallAction = due.pop("action")
        if not _able(action, settings, None):
            return []
        match action:
            case "raise_samples":
                before = settings.rollout.samples
                self.state.samples = before * settings.controller.samples_factor
                due |= {"samples_before": before, "samples": self.state.samples}
                why = f"validation stalled: {before} -> {self.state.samples} responses a prompt"
                return [Decision(step, "samples_raised", why, due)]
            case "raise_difficulty":
                self.state.levels += 1
                due |= {"levels": self.state.levels}
                why = f"validation stalled: {self.state.levels} more levels are open than the ladders say"
                return [Decision(step, "difficulty_raised", why, due)]
            case "rerate":
                why = "validation stalled: what rollouts have said of the items is forgotten"
                return [Decision(step, "items_rerated", why, due)]
            case "reset" | "end":
                raise AssertionError(f"{action} does not wait for a step")
            case _:
                assert_never(action)

    def begin_stage(self) -> None:
        """Another stage begins as a run does."""
        self.state = PlateauState()

    def to_json(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return asdict(self.state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the state of a checkpoint."""
        self.state = PlateauState(**state)


def _able(action: StallAction, settings: TrainConfig, levels_closed: int | None) -> bool:
    """Return whether an action has something left to do."""
    c = settings.controller
    match action:
        case "raise_samples":
            return settings.rollout.samples * c.samples_factor <= c.samples_most
        case "raise_difficulty":
            return levels_closed != 0
        case "reset" | "rerate" | "end":
            return True
        case _:
            assert_never(action)
