"""What is done about a stall: one of the actions of ``controller.on_stall`` after the other, the last again and again.

``reset`` is the controller's own. The others are decided when validation stalls and take effect at the next step:

- ``raise_samples``: n is multiplied by ``samples_factor``, up to ``samples_most`` (BroRL, arXiv 2510.01180: when longer
  training stops paying, broader rollouts go on paying). It holds for the phases that follow, where they have no more.
- ``raise_difficulty``: one more level of every ladder is opened (``data.levels``).
- ``rerate``: what rollouts have said of the items is forgotten, so that all are looked at anew.
- ``end``: the run is over, well and early; with ``end_gain`` only where the run's forecast sees less to gain (``forecast``).

An action that has nothing left to do is passed over; where none is left, the reference is reset. A stage begins with
nothing raised. Plain JSON inside, no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, assert_never

from prorl_training.config import TrainConfig
from prorl_training.config.schedule import StallAction
from prorl_training.schedule.forecast import Outlook
from prorl_training.types import Decision, Finding


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


class Choice(NamedTuple):
    """What a stall leads to, and why nothing that stands before it in ``on_stall``."""

    action: StallAction
    evidence: dict[str, Any]
    """``passed_over``: actions, ``forecast``: what it said where it was asked; JSON values."""


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

    def would_take(
        self, settings: TrainConfig, levels_closed: int | None, outlook: Outlook | None
    ) -> Choice:
        """Return what a stall would lead to now.

        ``levels_closed``: levels of the ladders that no item is drawn of; None: not known. ``outlook``: the run's forecast.
        """
        actions: Sequence[StallAction] = settings.controller.on_stall or ("reset",)
        passed: list[StallAction] = []
        evidence: dict[str, Any] = {}
        for action in actions[min(self.state.taken, len(actions) - 1) :]:
            able = _able(action, settings, levels_closed)
            if action == "end" and settings.controller.end_gain:
                evidence["forecast"] = said = _forecast(settings.controller.end_gain, outlook)
                able = said["says"] == "less"
            if able:
                break
            passed.append(action)
        else:
            action = "reset"
        if passed:
            evidence["passed_over"] = passed
        return Choice(action, evidence)

    def take(
        self,
        finding: Finding,
        settings: TrainConfig,
        levels_closed: int | None,
        outlook: Outlook | None,
    ) -> Choice:
        """Return what a stall leads to (``would_take``); what waits for the next step is due from now on."""
        choice = self.would_take(settings, levels_closed, outlook)
        self.state.taken += len(choice.evidence.get("passed_over", [])) + 1
        if choice.action not in ("reset", "end"):
            evidence = {**finding.evidence, **choice.evidence}
            self.state.due = {"action": choice.action, "rule": finding.rule, **evidence}
        return choice

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


def _forecast(least: float, outlook: Outlook | None) -> dict[str, Any]:
    if outlook is None:
        return {"says": "not known", "least": least, "why": "there are no metrics to read"}
    return outlook.gain(least)._asdict()
