"""Shows a run's decisions as spans, text and tables, and compares two lists of decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from prorl_training.config import TrainConfig
from prorl_training.types import Decision, DecisionKind

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
"""Kinds of decisions that depend only on config and metrics and can be simulated."""

PLATEAU_KINDS: frozenset[DecisionKind] = frozenset(
    ("samples_raised", "difficulty_raised", "items_rerated", "run_ended")
)
"""Kinds of decisions after a stall, except a reset (``schedule.plateau``)."""

Span = tuple[int, int, str]
"""First step, step after the last, label."""


class Difference(NamedTuple):
    step: int
    kind: str
    side: str
    """``simulated`` or ``recorded``."""
    reason: str


def penalty_windows(decisions: Sequence[Decision], steps: int) -> list[Span]:
    spans, opened = [], None
    for d in decisions:
        if d.kind == "penalty_window_closed" and opened is not None:
            spans.append((opened, d.step, ""))
            opened = None
        elif d.kind == "penalty_window_opened":
            opened = d.step
    return [*spans, (opened, steps + 1, "")] if opened is not None else spans


def phase_spans(decisions: Sequence[Decision], steps: int) -> list[Span]:
    starts = [d for d in decisions if d.kind == "phase_started"]
    ends = [*(d.step for d in starts), steps + 1][1:]
    return [
        (d.step, e, str(d.evidence.get("name", ""))) for d, e in zip(starts, ends, strict=False)
    ]


def stage_spans(decisions: Sequence[Decision], steps: int) -> list[Span]:
    entered = [d for d in decisions if d.kind == "phase_started" and "stage" in d.evidence]
    starts = [next(same) for _, same in groupby(entered, lambda d: str(d.evidence["stage"]))]
    ends = [*(d.step for d in starts), steps + 1][1:]
    return [(d.step, e, str(d.evidence["stage"])) for d, e in zip(starts, ends, strict=True)]


def stage_lines(config: TrainConfig) -> list[str]:
    lines = []
    for stage in config.stages:
        numbers = [n for n, phase in enumerate(config.phases) if phase.stage == stage.name]
        names = [config.phases[n].name for n in numbers]
        span = "" if names == [stage.name] else f" ({names[0]} to {names[-1]})"
        last = numbers[-1] + 1 == len(config.phases)
        steps = sum(config.phases[n].steps for n in numbers)
        length = "to the end" if last else f"up to {steps} steps"
        lines.append(f"{stage.name}{span}: {length}, engine {config.in_phase(numbers[0]).engine}")
    return lines


def lanes_text(decisions: Sequence[Decision], steps: int, width: int = 72) -> list[str]:
    """Return a timeline of ``steps`` steps as lines of text, ``width`` columns wide.

    ``=`` marks steps with the length penalty on, letters mark decisions.
    """
    width = max(min(width, steps), 1)

    def lane(name: str, spans: Sequence[tuple[int, int]], signs: Sequence[str]) -> str:
        cells = ["."] * width
        for (first, end), sign in zip(spans, signs, strict=True):
            left, right = (
                (min(max(step, 1), steps) - 1) * width // steps for step in (first, end - 1)
            )
            cells[left : right + 1] = [sign] * (right + 1 - left)
        return f"{name:<9}{''.join(cells)}"

    def at(matches: Callable[[Decision], bool]) -> list[tuple[int, int]]:
        return [(d.step, d.step + 1) for d in decisions if matches(d)]

    lines = []
    if stages := stage_spans(decisions, steps):
        signs = [str(n + 1)[-1] for n in range(len(stages))]
        lines.append(lane("stage", [s[:2] for s in stages], signs))
    if phases := phase_spans(decisions, steps):
        numbers = [str(n + 1)[-1] for n in range(len(phases))]
        lines.append(lane("phase", [p[:2] for p in phases], numbers))
    windows = [w[:2] for w in penalty_windows(decisions, steps)]
    lines.append(lane("penalty", windows, "=" * len(windows)))
    resets = at(lambda d: d.kind == "reference_reset")
    lines.append(lane("reset", resets, "R" * len(resets)))
    if raised := at(lambda d: d.kind in PLATEAU_KINDS):
        lines.append(lane("plateau", raised, "P" * len(raised)))
    if changed := at(lambda d: d.kind == "levels_changed"):
        lines.append(lane("levels", changed, "L" * len(changed)))
    if other := at(lambda d: d.kind not in {*CONTROLLER_KINDS, "levels_changed"}):
        lines.append(lane("other", other, "!" * len(other)))
    right = str(steps)
    lines.append("step     1" + " " * (width - 1 - len(right)) + right)
    return lines


def table_rows(decisions: Sequence[Decision]) -> list[tuple[str, str, str]]:
    return [(str(d.step), d.kind.replace("_", " "), d.reason) for d in decisions]


def read_decision(row: Mapping[str, Any]) -> Decision:
    return Decision(int(row["step"]), row["kind"], str(row["reason"]), row.get("evidence", {}))


def differences(
    simulated: Sequence[Decision], recorded: Sequence[Decision], steps: int
) -> list[Difference]:
    """Return the controller's decisions up to step ``steps`` that only one of the lists contains, in step order."""
    compared = ("rule", "reset_to", "optimizer", "phase", "weight", "form", "samples", "levels")
    sides = {
        side: {
            (d.step, d.kind, *(d.evidence.get(key) for key in compared)): d
            for d in decisions
            if d.kind in CONTROLLER_KINDS and d.step <= steps
        }
        for side, decisions in (("simulated", simulated), ("recorded", recorded))
    }
    only = [
        Difference(d.step, d.kind, side, d.reason)
        for side, other in (("simulated", "recorded"), ("recorded", "simulated"))
        for identity, d in sides[side].items()
        if identity not in sides[other]
    ]
    return sorted(only, key=lambda x: (x.step, x.kind, x.side))
