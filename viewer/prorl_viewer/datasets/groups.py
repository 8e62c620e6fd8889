"""Rows counted by what they have in common, and histograms of lengths, levels and pass rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_datasets import SPLITS
from prorl_datasets.card.facts import BINS, in_order
from prorl_viewer.datasets.filtering import NONE, label_order
from prorl_viewer.datasets.rates import Rates
from prorl_viewer.datasets.table import RowTable

RATE_EDGES = (0.0, 1e-6, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1 - 1e-6)
"""Lower edges: none passed, eighths, all passed."""
RATE_NAMES = ("0", "above 0", *(f"{edge}+" for edge in RATE_EDGES[2:-1]), "1")
_SAID_OF_EACH = ("domain", "licence", "gold_check", "level", "source")


def groups(table: RowTable, rates: Rates, by: str) -> list[dict[str, Any]]:
    """Return for each value of the label ``by``: rows, rows by split, what else its rows have, their mean pass rate."""
    labels = table.labels[by]
    size = len(labels.names)
    rows = np.bincount(labels.codes, minlength=size)
    splits = _crossed(table, by, "split")
    has_rate = ~np.isnan(rates.value)
    rated = np.bincount(labels.codes[has_rate], minlength=size)
    summed = np.bincount(labels.codes[has_rate], rates.value[has_rate], minlength=size)
    others = {name: _crossed(table, by, name) for name in _SAID_OF_EACH if name != by}
    found: list[dict[str, Any]] = []
    for code in sorted(np.flatnonzero(rows).tolist(), key=lambda c: label_order(labels.names[c])):
        values = {name: _values(table, name, crossed[code]) for name, crossed in others.items()}
        found.append(
            {
                "name": labels.names[code] or NONE,
                "rows": int(rows[code]),
                **{split: _count(table, splits[code], split) for split in SPLITS},
                **values,
                "rated": int(rated[code]),
                "rate": round(float(summed[code] / rated[code]), 4) if rated[code] else None,
            }
        )
    return found


def histograms(table: RowTable, rates: Rates) -> dict[str, Any]:
    """Return by domain: prompt lengths in characters, levels, pass rates; each with the names of its bars."""
    domains = table.labels["domain"]
    names = in_order(domains.names)
    edges = np.array([0, *BINS])
    length = np.searchsorted(edges, table.characters, side="right") - 1
    levels = table.labels["level"]
    in_level = sorted((name for name in levels.names if name), key=label_order)
    rank = np.array([in_level.index(name) if name else -1 for name in levels.names] or [-1])[
        levels.codes
    ]
    has_level, rated = rank >= 0, ~np.isnan(rates.value)
    rate = np.searchsorted(np.array(RATE_EDGES), rates.value[rated], side="right") - 1

    def bars(
        bars: list[str], codes: NDArray[np.int32], bins: NDArray[np.int64]
    ) -> dict[str, Any] | None:
        counts = np.zeros((len(domains.names), len(bars)), np.int64)
        np.add.at(counts, (codes, bins), 1)
        rows = {name: counts[domains.names.index(name)].tolist() for name in names}
        return {"bars": bars, "rows": rows} if len(bins) else None

    return {
        "domains": names,
        "characters": bars([f"{edge:,}+" for edge in edges.tolist()], domains.codes, length),
        "levels": bars(in_level, domains.codes[has_level], rank[has_level]),
        "rates": bars(list(RATE_NAMES), domains.codes[rated], rate),
    }


def _crossed(table: RowTable, first: str, second: str) -> NDArray[np.int64]:
    """Return rows by the values of two labels, (values of the first, of the second)."""
    one, other = table.labels[first], table.labels[second]
    size = len(one.names), len(other.names)
    flat = np.bincount(
        one.codes.astype(np.int64) * size[1] + other.codes, minlength=size[0] * size[1]
    )
    return flat.reshape(size)


def _count(table: RowTable, counts: NDArray[np.int64], split: str) -> int:
    names = table.labels["split"].names
    return int(counts[names.index(split)]) if split in names else 0


def _values(table: RowTable, name: str, counts: NDArray[np.int64]) -> str:
    """Return the commonest values of a label, most first, as words."""
    labels = table.labels[name].names
    there = [c for c in np.argsort(-counts, kind="stable").tolist() if counts[c] and labels[c]]
    if name == "level":
        return ", ".join(sorted((labels[c] for c in there), key=label_order)[:8])
    more = f" and {len(there) - 2} more" if len(there) > 2 else ""
    return ", ".join(labels[c] for c in there[:2]) + more
