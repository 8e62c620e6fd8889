"""Draws the SVG plots of a dataset card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_common.svg import Axis, Key, Panel, linear_ticks, picture, sample
from prorl_datasets.card.facts import BINS, in_order
from prorl_datasets.types import SPLITS

IMAGES = "images"


def draw_plots(
    folder: Path, manifest: Mapping[str, Any], lengths: Mapping[str, Counter[int]]
) -> dict[str, str]:
    """Draw the plots into ``folder``/images; return {file name: alternative text}."""
    (folder / IMAGES).mkdir()
    plots = {
        "rows.svg": ("Rows of each domain and split, with their targets", rows_plot(manifest)),
        "lengths.svg": ("Prompt lengths in characters by domain", lengths_plot(lengths)),
    }
    for name, (_, drawn) in plots.items():
        atomic_write_text(folder / IMAGES / name, drawn)
    return {name: text for name, (text, _) in plots.items()}


def rows_plot(manifest: Mapping[str, Any]) -> str:
    """Plot rows against targets by domain, a panel for each split."""
    panels = []
    for split in (s for s in SPLITS if manifest["counts"][s]):
        kept, target = manifest["counts"][split], manifest["targets"][split]
        domains = [d for d in in_order([*kept, *target]) if kept.get(d) or target.get(d)]
        most = max([*kept.values(), *target.values()])
        y = Axis(len(domains) - 0.5, -0.5, tuple((i, d) for i, d in enumerate(domains)), split)
        x = Axis(0.0, most * 1.04, linear_ticks(0.0, most, 4, whole=True), "rows")
        panel = Panel(x, y, (330.0, 24.0 * len(domains) + 62.0), left=84.0, right=16.0, grid_x=True)
        for place, d in enumerate(domains):
            panel.box((0.0, place - 0.4), (target.get(d, 0), place + 0.4), "target")
            panel.box((0.0, place - 0.24), (kept.get(d, 0), place + 0.24), "bar s1")
        text = ", ".join(f"{d} {kept.get(d, 0)} of {target.get(d, 0)}" for d in domains)
        panels.append((f"{split}: {text}", panel))
    legend = [
        (Key().box((4.0, 1.0), (30.0, 11.0), "bar s1"), "kept"),
        (Key().box((4.0, 1.0), (30.0, 11.0), "target"), "target"),
    ]
    return picture("Rows by domain", [panels], legend, 2)


RATE_STEPS = ("0", "to 1/4", "to 1/2", "to 3/4", "below 1", "1")
"""Bins of a pass rate: 0, four bins in between, and 1."""


def rates_plot(rates: Mapping[str, Sequence[float]]) -> str:
    """Plot the distribution of pass rates by domain."""
    domains = in_order(rates)
    shares = {d: [0.0] * len(RATE_STEPS) for d in domains}
    for d in domains:
        for rate in rates[d]:
            shares[d][rate_step(rate)] += 1 / len(rates[d])
    x = Axis(-0.4, len(RATE_STEPS) - 0.6, tuple(enumerate(RATE_STEPS)), "pass rate of a row")
    y = Axis(0.0, 1.06, linear_ticks(0.0, 1.0), "share of the domain's rated rows")
    panel = Panel(x, y, (680.0, 260.0))
    for series, d in enumerate(domains, start=1):
        panel.line(list(enumerate(shares[d])), series)
    text = "; ".join(f"{d}: {shares[d][0]:.0%} never, {shares[d][-1]:.0%} always" for d in domains)
    legend = [(sample(series), d) for series, d in enumerate(domains, start=1)]
    return picture("Pass rates", [[(text, panel)]], legend, len(domains) + 1)


def rate_step(rate: float) -> int:
    """Return the index in RATE_STEPS of the step that contains a pass rate."""
    return (
        0 if rate == 0 else 5 if rate == 1 else min(4, 1 + sum(rate > e for e in (0.25, 0.5, 0.75)))
    )


def lengths_plot(lengths: Mapping[str, Counter[int]]) -> str:
    """Plot the distribution of prompt lengths by domain."""
    domains = in_order(lengths)
    shares = {}
    for d in domains:
        shares[d] = [0.0] * (len(BINS) + 1)
        for length, count in lengths[d].items():
            shares[d][sum(length >= edge for edge in BINS)] += count / lengths[d].total()
    names = (f"<{BINS[0]}", *(f"{edge}+" for edge in BINS))
    most = max([0.1, *(s for row in shares.values() for s in row)]) * 1.06
    x = Axis(-0.4, len(BINS) + 0.4, tuple(enumerate(names)), "prompt length in characters")
    panel = Panel(
        x, Axis(0.0, most, linear_ticks(0.0, most), "share of the domain"), (680.0, 260.0)
    )
    for series, d in enumerate(domains, start=1):
        panel.line(list(enumerate(shares[d])), series)
    text = "; ".join(
        f"{d}: most often {names[max(range(len(names)), key=shares[d].__getitem__)]}"
        for d in domains
    )
    legend = [(sample(series), d) for series, d in enumerate(domains, start=1)]
    return picture("Prompt lengths", [[(text, panel)]], legend, len(domains) + 1)
