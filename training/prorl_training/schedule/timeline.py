"""A run's decisions as a picture: lanes over the steps, and where metrics are given their curves.

Leaves out: making the decisions (``simulation``, the engine) and the text (``schedule.timeline_text``).
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError, UserError, atomic_write_bytes
from prorl_training.schedule.decisions import Decision

INK, MUTED, GRID = "#1f2328", "#656d76", "#d8dee4"
PHASES = ("#cfe3f7", "#e4edf5")
WINDOW, RESET, TROUBLE, CURVE = "#e8a33d", "#b3261e", "#7d4cdb", "#1f6feb"
QUIET_KINDS = ("phase_started", "penalty_window_opened", "penalty_window_closed", "reference_reset")
_SETTINGS: Any = {
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "prorl",
}

Span = tuple[int, int, str]
"""First step, step after the last, label."""


def penalty_windows(decisions: Sequence[Decision], steps: int) -> list[Span]:
    """Return the stretches in which the length penalty was on."""
    spans, opened = [], None
    for d in decisions:
        if d.kind == "penalty_window_closed" and opened is not None:
            spans.append((opened, d.step, ""))
            opened = None
        elif d.kind == "penalty_window_opened":
            opened = d.step
    return [*spans, (opened, steps + 1, "")] if opened is not None else spans


def phase_spans(decisions: Sequence[Decision], steps: int) -> list[Span]:
    """Return each phase's stretch with its name; empty for a run without phases."""
    starts = [d for d in decisions if d.kind == "phase_started"]
    ends = [*(d.step for d in starts), steps + 1][1:]
    return [(d.step, e, str(d.evidence["name"])) for d, e in zip(starts, ends, strict=False)]


def plot_timeline(
    path: Path,
    title: str,
    steps: int,
    decisions: Sequence[Decision],
    metrics: Mapping[int, Mapping[str, Any]] | None = None,
) -> None:
    """Draw the timeline to ``path`` (.png or .svg), atomically.

    Lanes for phases, penalty windows, resets and trouble; curves of validation and KL where ``metrics``
    (step -> line of metrics.jsonl) holds any. Raises UserError for another suffix, MissingExtraError
    without matplotlib.
    """
    if path.suffix not in (".png", ".svg"):
        raise UserError(f"--plot {path}: name a file that ends in .png or .svg")
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("report", "matplotlib") from error
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(11, 1), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        _paint(figure, title, steps, decisions, metrics or {})
        buffer = io.BytesIO()
        still = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(buffer, format=path.suffix[1:], dpi=150, metadata=still)
    atomic_write_bytes(path, buffer.getvalue())


def _paint(
    figure: Any,
    title: str,
    steps: int,
    decisions: Sequence[Decision],
    metrics: Mapping[int, Mapping[str, Any]],
) -> None:
    curves = [c for c in ("validation_reward", "kl") if _points(metrics, c)[0]]
    lanes = _lanes(decisions, steps)
    heights = [2.1] * len(curves) + [0.42 * len(lanes) + 0.15]
    figure.set_size_inches(11, sum(heights) + 0.95)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)
    for key, ax in zip(curves, axes[:, 0], strict=False):
        _draw_curve(ax, key, metrics, decisions)
    _draw_lanes(axes[-1, 0], lanes, decisions, steps)
    axes[0, 0].set_title(title, loc="left", fontweight="bold", fontsize=11)
    for ax in axes[:, 0]:
        ax.set_xlim(0, steps + 1)


def _lanes(decisions: Sequence[Decision], steps: int) -> list[tuple[str, list[Span]]]:
    """Names and bars of the lanes, top first; resets and trouble have marks instead of bars."""
    lanes: list[tuple[str, list[Span]]] = []
    if phases := phase_spans(decisions, steps):
        lanes.append(("phase", phases))
    lanes.append(("length penalty", penalty_windows(decisions, steps)))
    lanes.append(("reference reset", []))
    if any(d.kind not in QUIET_KINDS for d in decisions):
        lanes.append(("other decisions", []))
    return lanes


def _draw_lanes(
    ax: Any, lanes: Sequence[tuple[str, list[Span]]], decisions: Sequence[Decision], steps: int
) -> None:
    for row, (name, spans) in enumerate(lanes):
        ax.axhline(row, color=GRID, linewidth=0.8, zorder=0)
        for number, (first, end, label) in enumerate(spans):
            colour = PHASES[number % 2] if name == "phase" else WINDOW
            ax.broken_barh([(first, end - first)], (row - 0.3, 0.6), facecolor=colour, zorder=2)
            if (end - first) / steps > 0.012 * len(label):
                middle = (first + end) / 2
                ax.text(middle, row, label, ha="center", va="center", fontsize=8.5, zorder=3)
        if name == "reference reset":
            _draw_resets(ax, row, decisions)
        if name == "other decisions":
            at = [d.step for d in decisions if d.kind not in QUIET_KINDS]
            ax.plot(
                at,
                [row] * len(at),
                "|",
                color=TROUBLE,
                markersize=11,
                markeredgewidth=1.4,
                clip_on=False,
            )
    ax.set_yticks(range(len(lanes)), [name for name, _ in lanes])
    ax.set_ylim(len(lanes) - 0.5, -0.55)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("step")


def _draw_resets(ax: Any, row: int, decisions: Sequence[Decision]) -> None:
    """One mark a reset; its shape is the rule, named in the legend."""
    shapes = {"interval": "D", "phase": "s", "kl_zscore": "^", "kl_threshold": "P"}
    shapes["stalled_validation"] = "X"
    resets = [d for d in decisions if d.kind == "reference_reset"]
    rules = list(dict.fromkeys(str(d.evidence.get("rule")) for d in resets))
    for rule in rules:
        at = [d.step for d in resets if d.evidence.get("rule") == rule]
        shape, label = shapes.get(rule, "v"), rule.replace("_", " ")
        fill = RESET if rule in ("interval", "phase") else TROUBLE
        ax.plot(
            at,
            [row] * len(at),
            shape,
            color=fill,
            markersize=6,
            label=label,
            zorder=4,
            clip_on=False,
        )
    if rules:
        ax.legend(
            title="reset by", title_fontsize=8.5, fontsize=8.5, loc="center left",
            bbox_to_anchor=(1.0, 0.5), frameon=False, handletextpad=0.1,
        )  # fmt: skip


def _draw_curve(
    ax: Any, key: str, metrics: Mapping[int, Mapping[str, Any]], decisions: Sequence[Decision]
) -> None:
    at, values = _points(metrics, key)
    for d in decisions:
        if d.kind == "reference_reset":
            ax.axvline(d.step, color=RESET, linewidth=0.9, alpha=0.55, linestyle=(0, (3, 3)))
    for first, end, _ in penalty_windows(decisions, max(at)):
        ax.axvspan(first, end, color=WINDOW, alpha=0.13, linewidth=0)
    if key == "kl":
        if min(values) > 0:
            ax.set_yscale("log")
        ax.plot(at, values, color=CURVE, linewidth=1.0)
        ax.set_ylabel("KL to reference\n(nats a token)")
    else:
        errors = [metrics[s].get("validation_se") or 0.0 for s in at]
        ax.errorbar(at, values, yerr=errors, fmt="o-", color=CURVE, markersize=3, linewidth=1.0)
        ax.set_ylabel("validation reward\n(± standard error)")
    ax.grid(axis="y", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(axis="x", length=0)


def _points(metrics: Mapping[int, Mapping[str, Any]], key: str) -> tuple[list[int], list[float]]:
    """Return the steps and values of a key where it was measured and is finite."""
    found = [
        (step, float(row[key]))
        for step, row in sorted(metrics.items())
        if row.get(key) is not None and math.isfinite(float(row[key]))
    ]
    return [s for s, _ in found], [v for _, v in found]
