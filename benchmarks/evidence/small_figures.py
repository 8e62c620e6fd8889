"""The plots of docs/evidence/three-thousand-steps.md. Leaves out: the tables (``small_report``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from small_arms import ARMS, EVAL_SAMPLES, SEEDS, K
from small_stats import Groups, arm_interval
from small_tasks import FAMILIES

CURVES = {
    "reward_mean": "mean raw reward",
    "response_length_mean": "response length (bytes)",
    "kl": "KL to the reference (k2; none in JustRL)",
    "entropy": "entropy (nats a token)",
}
"""Curves drawn, each a panel: key of the data files -> what the axis says."""
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8d5fa6", "#e08e0b", "#555555")
SMOOTH = 9
"""Recorded points in the running median of a drawn curve; each seed's own curve stands faintly behind it."""
Runs = Mapping[str, Sequence[Mapping[str, Any]]]


def draw(base: Groups, runs: Runs, folder: Path) -> list[str]:
    """Write the plots as SVG into ``folder`` and return their file names."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "prorl"
    folder.mkdir(parents=True, exist_ok=True)
    made = {"small-pass-at-k.svg": _bars(base, runs), "small-curves.svg": _curves_figure(runs)}
    done, wanted = sum(len(found) for found in runs.values()), len(ARMS) * len(SEEDS)
    for name, figure in made.items():
        if done < wanted:
            figure.suptitle(f"PARTIAL: {done} of {wanted} runs", fontsize=9)
        figure.savefig(folder / name, metadata={"Date": None})
    return list(made)


def _bars(base: Groups, runs: Runs) -> Any:
    from matplotlib.figure import Figure

    ladders = [name for name in base if "/" in name]
    panels = {"six tasks": list(FAMILIES), "two ladders": ladders}
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    seeds = {"base": [base]} | {
        arm: [r["evaluations"]["budget"]["groups"] for r in found]
        for arm, found in runs.items()
        if found
    }
    for axis, (title, names) in zip(axes, panels.items(), strict=True):
        for offset, (k, colour) in enumerate(((1, COLOURS[0]), (K, COLOURS[4]))):
            intervals = [arm_interval(groups, names, k) for groups in seeds.values()]
            values = [i.value for i in intervals]
            errors = [[i.value - i.low for i in intervals], [i.high - i.value for i in intervals]]
            places = [place + 0.4 * offset for place in range(len(seeds))]
            axis.bar(places, values, 0.38, yerr=errors, color=colour, label=f"pass@{k}", capsize=2)
        axis.set_xticks([p + 0.2 for p in range(len(seeds))], list(seeds), rotation=30, fontsize=8)
        axis.set_title(f"{title}, {EVAL_SAMPLES} samples an item", fontsize=9)
        axis.set_ylim(0, 1)
    axes[0].legend(fontsize=8)
    return figure


def _curves_figure(runs: Runs) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for axis, (key, label) in zip(axes, CURVES.items(), strict=True):
        for (arm, found), colour in zip(runs.items(), COLOURS, strict=True):
            curves = [_points(run["curves"], key) for run in found]
            for points in curves:
                axis.plot(points.keys(), points.values(), color=colour, lw=0.5, alpha=0.15)
            middle = _middle(curves)
            if middle:
                axis.plot(middle.keys(), middle.values(), color=colour, lw=1.4, label=arm)
        axis.set_xlabel("step", fontsize=8)
        axis.set_ylabel(label, fontsize=8)
        if key == "kl":
            axis.set_yscale("log")
    axes[0].legend(fontsize=8)
    return figure


def _points(curves: Mapping[str, Sequence[Any]], key: str) -> dict[int, float]:
    """Return step -> value of one run's curve, without the steps that have none."""
    pairs = zip(curves["step"], curves[key], strict=True)
    return {step: value for step, value in pairs if value is not None}


def _middle(curves: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the median over the runs at each step that all have, then the running median over SMOOTH points."""
    common = sorted(set.intersection(*(set(points) for points in curves))) if curves else []
    values = [median(points[step] for points in curves) for step in common]
    half = SMOOTH // 2
    return {step: median(values[max(i - half, 0) : i + half + 1]) for i, step in enumerate(common)}
