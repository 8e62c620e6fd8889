"""Chooses the action after a stall of validation: the next in ``controller.on_stall``, or the last one again."""

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
    """The state of ``Plateau`` in a checkpoint, as JSON values."""

    taken: int = 0
    """Number of entries of ``on_stall`` already used."""
    samples: int = 0
    """Minimum number of samples per prompt from now on, or 0."""
    levels: int = 0
    """Number of levels opened by ``raise_difficulty``."""
    due: dict[str, Any] | None = None
    """Action that takes effect at the next step, with the evidence for it."""


class StallChoice(NamedTuple):
    """The action chosen after validation stopped improving, and why other actions were skipped."""

    action: StallAction
    evidence: dict[str, Any]
    """JSON values: ``passed_over`` lists the skipped actions, ``forecast`` is the ``Gain`` if it was computed."""


class Plateau:
    """Chooses the action to take when validation stops improving.

    Raised samples per prompt (BroRL, arXiv 2510.01180) and difficulty levels also apply to later phases.
    """

    def __init__(self) -> None:
        self.state = PlateauState()

    def over(self, settings: TrainConfig) -> TrainConfig:
        """Return a phase's ``settings`` with the samples and difficulty levels that earlier actions raised."""
        changed: dict[str, Any] = {}
        if self.state.samples > settings.rollout.samples:
            update = {"samples": self.state.samples}
            changed["rollout"] = settings.rollout.model_copy(update=update)
        if self.state.levels:
            update = {"levels_ahead": settings.data.levels_ahead + self.state.levels}
            changed["data"] = settings.data.model_copy(update=update)
        return settings.model_copy(update=changed) if changed else settings

    def next_action(
        self, settings: TrainConfig, levels_closed: int | None, outlook: Outlook | None
    ) -> StallChoice:
        """Return the action to take if validation has stopped improving. ``levels_closed`` is None if unknown."""
        actions: Sequence[StallAction] = settings.controller.on_stall or ("reset",)
        passed: list[StallAction] = []
        evidence: dict[str, Any] = {}
        for action in actions[min(self.state.taken, len(actions) - 1) :]:
            able = _able(action, settings, levels_closed)
            if action == "end" and settings.controller.end_gain:
                least = settings.controller.end_gain
                gain = {"says": "not known", "least": least, "why": "there are no metrics to read"}
                if outlook is not None:
                    gain = outlook.gain(least)._asdict()
                evidence["forecast"] = gain
                able = gain["says"] == "less"
            if able:
                break
            passed.append(action)
        else:
            action = "reset"
        if passed:
            evidence["passed_over"] = passed
        return StallChoice(action, evidence)

    def take(
        self,
        finding: Finding,
        settings: TrainConfig,
        levels_closed: int | None,
        outlook: Outlook | None,
    ) -> StallChoice:
        """Choose the action to take; all actions but ``reset`` and ``end`` take effect at the next step."""
        choice = self.next_action(settings, levels_closed, outlook)
        self.state.taken += len(choice.evidence.get("passed_over", [])) + 1
        if choice.action not in ("reset", "end"):
            evidence = {**finding.evidence, **choice.evidence}
            self.state.due = {"action": choice.action, "rule": finding.rule, **evidence}
        return choice

    def begin_step(self, step: int, settings: TrainConfig) -> list[Decision]:
        """Return the decision on a postponed action, which takes effect at ``step``, if it is still possible."""
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
                why = f"validation stalled: {self.state.levels} more levels are open than the ladders define"
                return [Decision(step, "difficulty_raised", why, due)]
            case "rerate":
                why = "validation stalled: the items' rollout records are cleared"
                return [Decision(step, "items_rerated", why, due)]
            case "reset" | "end":
                raise AssertionError(f"the action {action} is never postponed to a later step")
            case _:
                assert_never(action)

    def begin_stage(self) -> None:
        """Forget all earlier actions, because a stage has its own samples and difficulty levels."""
        self.state = PlateauState()

    def to_json(self) -> dict[str, Any]:
        return asdict(self.state)

    def restore(self, state: Mapping[str, Any]) -> None:
        self.state = PlateauState(**state)


def _able(action: StallAction, settings: TrainConfig, levels_closed: int | None) -> bool:
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
