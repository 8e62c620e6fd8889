"""A run's training curves: reward, KL, entropy and length over steps, with windows and resets marked.

Leaves out: evaluation results (``report.figures``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_evaluation.report.svg import Axis, Panel, linear_ticks

MAX_POINTS = 400
"""Longer training curves are drawn as means over equal stretches of steps."""
PANELS = (
    ("Reward", ("reward_mean", "pass_rate"), "validation_reward"),
    ("KL to the reference", ("kl",), None),
    ("Entropy (nats a token)", ("entropy",), None),
    ("Response length (tokens)", ("response_length_mean",), None),
)
"""Title, keys of metrics.jsonl drawn as lines (the second dashed), key drawn as dots."""

Rows = Sequence[Mapping[str, Any]]


def training_panels(metrics: Rows, decisions: Rows) -> list[tuple[str, str]]:
    """Return (title, SVG) of each panel; keys that were not recorded leave their panel out."""
    panels = [p for p in PANELS if any(_series(metrics, key)[0] for key in p[1])]
    return [(p[0], _panel(p, metrics, decisions)) for p in panels]


def _panel(panel: tuple[str, tuple[str, ...], str | None], metrics: Rows, decisions: Rows) -> str:
    title, keys, dots = panel
    lines = [thin(*_series(metrics, key)) for key in keys]
    marks = _series(metrics, dots) if dots is not None else ([], [])
    steps = [x for xs, _ in [*lines, marks] for x in xs]
    values = [y for _, ys in [*lines, marks] for y in ys]
    low, high = _around(min(values), max(values))
    first, last = min(steps), max(steps)
    x = Axis(first, last + (last == first), linear_ticks(first, last, whole=True), "step")
    drawn = Panel(x, Axis(low, high, linear_ticks(low, high)))
    for start, stop in penalty_windows(metrics, decisions):
        drawn.span(start - 0.5, stop + 0.5, "window")
    for step in reset_steps(decisions):
        if first <= step + 0.5 <= last:
            drawn.segment((step + 0.5, low), (step + 0.5, high), "reset")
    for place, (xs, ys) in enumerate(lines):
        kind = "" if place == 0 else "second"
        drawn.line(list(zip(xs, ys, strict=True)), 1, markers=False, kind=kind)
    for a, b in zip(*marks, strict=True):
        drawn.point(a, b, 2, f"step {a:g}: validation reward {b:.3f}")
    said = [
        f"{key}: {ys[0]:.4g} at step {xs[0]:g}, {ys[-1]:.4g} at step {xs[-1]:g}"
        for key, (xs, ys) in zip(keys, lines, strict=True)
        if xs
    ]
    return drawn.render(f"{title} over training steps", "; ".join(said))


def _around(low: float, high: float) -> tuple[float, float]:
    """Return bounds with a little air; from 0 where the values are near it."""
    if low >= 0 and low <= 0.5 * high:
        low = 0.0
    air = 0.06 * (high - low) or max(abs(high) * 0.1, 1e-6)
    return (low if low == 0 else low - air), high + air


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


def thin(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return at most MAX_POINTS points: means over equal stretches of longer series."""
    width = math.ceil(len(x) / MAX_POINTS) or 1
    parts = range(0, len(x), width)
    means = [[math.fsum(v[i : i + width]) / len(v[i : i + width]) for i in parts] for v in (x, y)]
    return means[0], means[1]


def _series(metrics: Rows, key: str) -> tuple[list[float], list[float]]:
    points = [(_number(m.get("step")), _number(m.get(key))) for m in metrics]
    kept = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    return [x for x, _ in kept], [y for _, y in kept]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)
