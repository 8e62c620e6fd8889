"""The plots of a dataset card, as PNG: rows by domain against their targets, and prompt lengths.

Drawn without a window system; equal numbers give equal bytes with the same matplotlib. Leaves out:
anything where matplotlib is not installed (the card then has no pictures).
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prorl_datasets.types import DOMAINS, SPLITS

IMAGES = "images"
COLOURS = ("#1b6ca8", "#d1803b", "#3b8f5a", "#8a5aa8", "#b34a5b")
BINS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
"""Edges of the length histogram, in characters."""


def draw_plots(
    folder: Path, manifest: Mapping[str, Any], lengths: Mapping[str, Counter[int]]
) -> dict[str, str]:
    """Draw into ``folder``/images; return file name -> alternative text, empty without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        return {}
    (folder / IMAGES).mkdir()
    _counts(folder / IMAGES / "rows.png", manifest)
    _lengths(folder / IMAGES / "lengths.png", lengths)
    return {
        "rows.png": "Rows of each domain and split, with their targets",
        "lengths.png": "Prompt lengths in characters by domain",
    }


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Software": None})


def _counts(path: Path, manifest: Mapping[str, Any]) -> None:
    splits = [s for s in SPLITS if manifest["counts"][s]]
    figure = _figure(3.6 * max(len(splits), 1), 2.8)
    for place, split in enumerate(splits, start=1):
        axes = figure.add_subplot(1, len(splits), place)
        kept, target = manifest["counts"][split], manifest["targets"][split]
        domains = [d for d in DOMAINS if kept.get(d) or target.get(d)]
        height = range(len(domains))
        axes.barh(height, [target.get(d, 0) for d in domains], color="#dddddd", label="target")
        axes.barh(height, [kept.get(d, 0) for d in domains], 0.55, color=COLOURS[0], label="kept")
        axes.set_yticks(list(height), domains)
        axes.invert_yaxis()
        axes.set_title(split, fontsize=10)
        axes.set_xlabel("rows", fontsize=9)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        if place == 1:
            axes.legend(fontsize=7, frameon=False, loc="lower right")
    _save(figure, path)


def _lengths(path: Path, lengths: Mapping[str, Counter[int]]) -> None:
    figure = _figure(7.2, 2.8)
    axes = figure.add_subplot(1, 1, 1)
    for colour, domain in zip(COLOURS, DOMAINS, strict=True):
        if domain in lengths:
            counts = lengths[domain]
            total = counts.total()
            shares = [0.0] * (len(BINS) + 1)
            for length, count in counts.items():
                shares[sum(length >= edge for edge in BINS)] += count / total
            axes.plot(range(len(shares)), shares, color=colour, marker="o", ms=3, label=domain)
    names = [f"<{BINS[0]}", *(f"{edge}+" for edge in BINS)]
    axes.set_xticks(range(len(names)), names, fontsize=7)
    axes.set_xlabel("prompt length in characters", fontsize=9)
    axes.set_ylabel("share of the domain", fontsize=9)
    axes.tick_params(axis="y", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    _save(figure, path)
