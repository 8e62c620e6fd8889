"""Draw a run's decisions with curves of its metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import UserError, atomic_write_text
from prorl_common.svg import Axis, Key, Panel, linear_ticks, log_ticks, picture
from prorl_training.schedule.decisions import (
    CONTROLLER_KINDS,
    PLATEAU_KINDS,
    penalty_windows,
    phase_spans,
)
from prorl_training.types import Decision

WIDTH, LEFT = 1000.0, 118.0


def plot_timeline(
    path: Path,
    title: str,
    steps: int,
    decisions: Sequence[Decision],
    metrics: Mapping[int, Mapping[str, Any]] | None = None,
) -> None:
    """Write the result of ``timeline`` to a file. Raises UserError if ``path`` is not writable or not an .svg."""
    if path.suffix != ".svg":
        raise UserError(f"--plot {path}: the timeline is an SVG: choose a name that ends in .svg")
    atomic_write_text(path, timeline(title, steps, decisions, metrics or {}))


def timeline(
    title: str, steps: int, decisions: Sequence[Decision], metrics: Mapping[int, Mapping[str, Any]]
) -> str:
    """Return an SVG with the decisions in lanes below curves of validation and KL."""
    resets: dict[str, list[int]] = {}
    for d in decisions:
        if d.kind == "reference_reset":
            resets.setdefault(str(d.evidence.get("rule")), []).append(d.step)
    series = {rule: place for place, rule in enumerate(resets, start=2)}
    x = Axis(0.0, steps + 1.0)
    curves = [c for c in ("validation_reward", "kl") if _points(metrics, c)]
    rows = [[_curve(key, x, metrics, decisions)] for key in curves]
    rows.append([_lanes(x, steps, decisions, {series[rule]: at for rule, at in resets.items()})])
    legend = [
        (Key().marks([(17.0, 6.0)], series[rule], 4.0), f"reset by {rule.replace('_', ' ')}")
        for rule in resets
    ]
    return picture(title, rows, legend, 2 + len(series))


def _lanes(
    x: Axis, steps: int, decisions: Sequence[Decision], resets: Mapping[int, Sequence[int]]
) -> tuple[str, Panel]:
    phases, windows = phase_spans(decisions, steps), penalty_windows(decisions, steps)
    left_out = {*(CONTROLLER_KINDS - PLATEAU_KINDS), "levels_changed"}
    other = [d.step for d in decisions if d.kind not in left_out]
    names = ["phase"] if phases else []
    names += ["length penalty", "reference reset", *(["other decisions"] if other else [])]
    x = Axis(x.low, x.high, linear_ticks(0.0, steps, 8, whole=True), "step")
    y = Axis(len(names) - 0.5, -0.5, tuple(enumerate(names)))
    panel = Panel(x, y, (WIDTH, 30.0 * len(names) + 42.0), LEFT, 16.0)
    for number, (first, end, label) in enumerate(phases):
        panel.box((first, -0.32), (end, 0.32), "near" if number % 2 else "soft", label)
    row = names.index("length penalty")
    for first, end, _ in windows:
        panel.box((first, row - 0.32), (end, row + 0.32), "on")
    for series, at in resets.items():
        panel.marks([(step, row + 1.0) for step in at], series, 4.0)
    for step in other:
        panel.segment((step, row + 1.68), (step, row + 2.32), "cut")
    caption = f"{len(phases)} phases, {len(windows)} penalty windows, "
    caption += f"{sum(map(len, resets.values()))} reference resets, {len(other)} other decisions"
    return caption, panel


def _curve(
    key: str, x: Axis, metrics: Mapping[int, Mapping[str, Any]], decisions: Sequence[Decision]
) -> tuple[str, Panel]:
    points = _points(metrics, key)
    values = [v for _, v in points]
    is_kl = key == "kl"
    errors = [0.0 if is_kl else metrics[s].get("validation_se") or 0.0 for s, _ in points]
    low = min(v - e for v, e in zip(values, errors, strict=True))
    high = max(v + e for v, e in zip(values, errors, strict=True))
    if is_kl and low > 0:
        low, high = low / 1.1, high * 1.1
        y = Axis(low, high, log_ticks(low, high), "KL to reference (nats per token)", log=True)
    else:
        air = 0.06 * (high - low) or 0.05
        low, high = low - air, high + air
        label = (
            "KL to reference (nats per token)" if is_kl else "validation reward (± standard error)"
        )
        y = Axis(low, high, linear_ticks(low, high), label)
    panel = Panel(x, y, (WIDTH, 168.0), LEFT, 16.0)
    for first, end, _ in penalty_windows(decisions, points[-1][0]):
        panel.span(first, end, "window")
    for d in decisions:
        if d.kind == "reference_reset":
            panel.segment((d.step, y.low), (d.step, y.high), "reset")
    rows = [(s, v - e, v + e) for (s, v), e in zip(points, errors, strict=True) if e]
    panel.whiskers(rows, 1).line(points, 1, markers=not is_kl)
    caption = (
        f"{key} {values[0]:.4g} at step {points[0][0]}, {values[-1]:.4g} at step {points[-1][0]}"
    )
    return caption, panel


def _points(metrics: Mapping[int, Mapping[str, Any]], key: str) -> list[tuple[int, float]]:
    return [
        (step, float(row[key]))
        for step, row in sorted(metrics.items())
        if row.get(key) is not None and math.isfinite(float(row[key]))
    ]
