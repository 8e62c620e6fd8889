"""The report's figures: pass@k curves, differences with intervals, training curves.

Each returns inline SVG. Legends are the page's (``report``), so that no text of a user is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_evaluation.compare import Comparison
from prorl_evaluation.report_svg import (
    GRID,
    INK,
    MUTED,
    RESET,
    WINDOW,
    draw,
    drawable,
    series_colour,
)
from prorl_evaluation.types import EvalResult

MAX_POINTS = 400
"""Longer training curves are drawn as means over equal stretches of steps."""


def curves_figure(results: Sequence[EvalResult]) -> str:
    """Return pass@k against k with interval bands: overall first, then a panel a domain."""
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    if len(names) == 2:
        names = names[:1]
    columns = min(3, len(names))
    rows = math.ceil(len(names) / columns)

    def paint(figure: Any) -> None:
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for place, axes in enumerate(grid.flat):
            if place >= len(names):
                axes.set_visible(False)
                continue
            _curve_panel(axes, names[place], results)
            if place % columns == 0:
                axes.set_ylabel("pass@k")

    return draw(paint, 3.3 * columns + 0.3, 2.6 * rows, "pass@k against k with intervals")


def _curve_panel(axes: Any, name: str, results: Sequence[EvalResult]) -> None:
    largest = 1
    for place, result in enumerate(results):
        group = result.group(name)
        if group is None:
            continue
        points = [(k, i) for k, i in group.pass_at_k.items() if i.count]
        ks = [k for k, _ in points]
        largest = max([largest, *ks])
        colour = series_colour(place)
        axes.fill_between(
            ks,
            [i.low for _, i in points],
            [i.high for _, i in points],
            color=colour,
            alpha=0.16,
            lw=0,
        )
        axes.plot(ks, [i.value for _, i in points], color=colour, marker="o", markersize=3.2)
    half = min(r.settings.n for r in results) / 2
    if largest > half >= 1:
        axes.axvspan(half, largest * 1.12, color=MUTED, alpha=0.1, lw=0)
    axes.set_xscale("log", base=2)
    ticks = [1 << i for i in range(largest.bit_length())]
    axes.set_xticks(ticks[:: 1 + len(ticks) // 7], [str(t) for t in ticks[:: 1 + len(ticks) // 7]])
    axes.minorticks_off()
    axes.set_xlim(0.9, max(largest * 1.12, 1.2))
    axes.set_ylim(-0.02, 1.02)
    axes.grid(axis="x", visible=False)
    axes.set_title(drawable(name))
    axes.set_xlabel("k")


def differences_figure(comparison: Comparison, metrics: Sequence[str]) -> str:
    """Return a panel a metric with each group's paired difference and its interval."""
    groups = list(dict.fromkeys(d.group for d in comparison.differences))

    def paint(figure: Any) -> None:
        panels = figure.subplots(1, len(metrics), squeeze=False, sharey=True)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            _difference_panel(axes, comparison, groups, metric)

    title = "differences with intervals"
    return draw(paint, 3.3 * len(metrics) + 0.4, 0.9 + 0.34 * len(groups), title)


def _difference_panel(
    axes: Any, comparison: Comparison, groups: Sequence[str], metric: str
) -> None:
    reach = 0.05
    for place, group in enumerate(groups):
        found = comparison.find(group, metric)
        if found is None or found.interval.count == 0:
            continue
        i = found.interval
        reach = max(reach, abs(i.low), abs(i.high))
        colour = series_colour(1) if found.distinguishable else MUTED
        axes.plot([i.low, i.high], [place, place], color=colour, linewidth=2.4)
        fill = colour if found.distinguishable else GRID
        axes.plot([i.value], [place], "o", color=colour, markerfacecolor=fill, markersize=6)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.set_yticks(range(len(groups)), [drawable(g) for g in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(-reach * 1.1, reach * 1.1)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"{metric}, difference")


PANELS = (
    ("Reward", ("reward_mean", "pass_rate"), "validation_reward"),
    ("KL to the reference", ("kl",), None),
    ("Entropy (nats a token)", ("entropy",), None),
    ("Response length (tokens)", ("response_length_mean",), None),
)
"""Title, keys of metrics.jsonl drawn as lines (the second dashed), key drawn as dots."""


def training_figure(
    metrics: Sequence[Mapping[str, Any]], decisions: Sequence[Mapping[str, Any]]
) -> str:
    """Return reward, KL, entropy and length over steps; windows shaded, resets as dashed lines.

    Keys that were not recorded leave their panel out. An empty string when nothing can be drawn.
    """
    panels = [p for p in PANELS if any(_series(metrics, key)[0] for key in p[1])]
    if not panels:
        return ""
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)

    def paint(figure: Any) -> None:
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
        for place, axes in enumerate(grid.flat):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            _training_panel(axes, panels[place], metrics, decisions)
            if place >= len(panels) - columns:
                axes.set_xlabel("step")

    return draw(paint, 4.6 * columns + 0.2, 2.3 * rows + 0.1, "training curves")


def _training_panel(
    axes: Any,
    panel: tuple[str, tuple[str, ...], str | None],
    metrics: Sequence[Mapping[str, Any]],
    decisions: Sequence[Mapping[str, Any]],
) -> None:
    title, lines, dots = panel
    for start, stop in penalty_windows(metrics, decisions):
        axes.axvspan(start - 0.5, stop + 0.5, color=WINDOW, alpha=0.35, lw=0)
    for step in reset_steps(decisions):
        axes.axvline(step + 0.5, color=RESET, linewidth=1.2, linestyle=(0, (4, 2)))
    for place, key in enumerate(lines):
        x, y = thin(*_series(metrics, key))
        style = "-" if place == 0 else (0, (2, 1.5))
        axes.plot(
            x, y, color=series_colour(1), linestyle=style, marker="o" if len(x) == 1 else None
        )
    if dots is not None:
        x, y = _series(metrics, dots)
        axes.plot(x, y, "o", color=series_colour(2), markersize=4.5)
    axes.locator_params(axis="x", integer=True, nbins=8)
    axes.grid(axis="x", visible=False)
    axes.set_title(title)


def penalty_windows(
    metrics: Sequence[Mapping[str, Any]], decisions: Sequence[Mapping[str, Any]]
) -> list[tuple[float, float]]:
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


def reset_steps(decisions: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the steps after which the reference was reset."""
    steps = [_number(d.get("step")) for d in decisions if d.get("kind") == "reference_reset"]
    return [s for s in steps if not math.isnan(s)]


def thin(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return at most MAX_POINTS points: means over equal stretches of longer series."""
    width = math.ceil(len(x) / MAX_POINTS) or 1
    parts = range(0, len(x), width)
    means = [[math.fsum(v[i : i + width]) / len(v[i : i + width]) for i in parts] for v in (x, y)]
    return means[0], means[1]


def _series(metrics: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[float]]:
    points = [(_number(m.get("step")), _number(m.get(key))) for m in metrics]
    kept = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    return [x for x, _ in kept], [y for _, y in kept]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)
