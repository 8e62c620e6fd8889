"""A run's training curves: reward, KL, entropy and length over steps, with penalty windows and resets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_POINTS = 400
"""Longer training curves are shown as means over equal stretches of steps."""
PANELS = (
    ("Reward", ("reward_mean", "pass_rate"), "validation_reward"),
    ("KL to the reference", ("kl",), None),
    ("Entropy (nats a token)", ("entropy",), None),
    ("Response length (tokens)", ("response_length_mean",), None),
)
"""Title, keys of metrics.jsonl shown as lines (the second dashed), key shown as dots."""

Rows = Sequence[Mapping[str, Any]]
Points = list[tuple[float, float]]
"""(step, value)."""


@dataclass(frozen=True, slots=True)
class TrainingCurves:
    """One panel: its lines by key, dots, penalty windows (first, last step) and steps of resets."""

    title: str
    lines: Mapping[str, Points]
    dots: Points
    windows: Sequence[tuple[float, float]]
    resets: Sequence[float]


def training_curves(metrics: Rows, decisions: Rows) -> list[TrainingCurves]:
    """Return each panel; keys that were not recorded leave their panel out."""
    windows, resets = penalty_windows(metrics, decisions), reset_steps(decisions)
    panels = []
    for title, keys, dotted in PANELS:
        lines = {key: thin(_series(metrics, key)) for key in keys}
        dots = _series(metrics, dotted) if dotted is not None else []
        if any(lines.values()):
            panels.append(TrainingCurves(title, lines, dots, windows, resets))
    return panels


def penalty_windows(metrics: Rows, decisions: Rows) -> list[tuple[float, float]]:
    """Return (first step, last step) of each window, from the decisions, else from the metrics' flag."""
    last = max([_number(m.get("step")) for m in metrics], default=math.nan)
    windows: list[tuple[float, float]] = []
    opened: float | None = None
    for d in decisions:
        step = _number(d.get("step"))
        if d.get("kind") == "penalty_window_opened":
            opened = step
        elif d.get("kind") == "penalty_window_closed" and opened is not None:
            windows.append((opened, step - 1))
            opened = None
    if opened is not None:
        windows.append((opened, last))
    if windows:
        return [w for w in windows if not math.isnan(w[0] + w[1])]
    for m in metrics:
        step = _number(m.get("step"))
        if m.get("length_penalty_active") is not True or math.isnan(step):
            continue
        if windows and windows[-1][1] == step - 1:
            windows[-1] = (windows[-1][0], step)
        else:
            windows.append((step, step))
    return windows


def reset_steps(decisions: Rows) -> list[float]:
    """Return the steps after which the reference was reset."""
    steps = [_number(d.get("step")) for d in decisions if d.get("kind") == "reference_reset"]
    return [s for s in steps if not math.isnan(s)]


def thin(points: Points) -> Points:
    """Return at most MAX_POINTS points: means over equal stretches of longer series."""
    width = math.ceil(len(points) / MAX_POINTS) or 1
    parts = (points[i : i + width] for i in range(0, len(points), width))
    return [(_mean([x for x, _ in part]), _mean([y for _, y in part])) for part in parts]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _series(metrics: Rows, key: str) -> Points:
    points = ((_number(m.get("step")), _number(m.get(key))) for m in metrics)
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)
