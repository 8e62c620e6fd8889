"""The figure of docs/evidence/smollm2-loop.md: both runs over the steps. Leaves out: the tables (``smollm_loop_report``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIGURE = "smollm2-loop.svg"
PANELS = {
    "reward_mean": "reward in training",
    "groups_kept": "groups with something to teach, of 8",
    "entropy": "entropy, nats a token",
}


def draw(runs: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Write the figure."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "prorl"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 3), layout="constrained")
    axes = figure.subplots(1, len(PANELS) + 1)
    for arm, run in runs.items():
        axes[0].plot(*zip(*run["validation"], strict=True), label=arm)
        for axis, key in zip(axes[1:], PANELS, strict=True):
            axis.plot(run["curves"]["step"], run["curves"][key])
    for axis, title in zip(axes, ("validation reward", *PANELS.values()), strict=True):
        axis.set(title=title, xlabel="step")
    axes[0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
