"""Collects statistics of rows for the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prorl_datasets.types import DOMAINS

BINS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
"""Edges of the length histogram in characters."""


@dataclass(slots=True)
class CardFacts:
    """Prompt lengths in characters and pass rates by domain."""

    lengths: dict[str, Counter[int]] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)
    rows: int = 0

    def add(self, columns: Mapping[str, Any], rate: float | None = None) -> None:
        self.rows += 1
        if rate is not None:
            self.rates.setdefault(columns["domain"], []).append(rate)
        size = sum(len(message["content"]) for message in columns["prompt"])
        self.lengths.setdefault(columns["domain"], Counter())[size] += 1


def in_order(domains: Iterable[str]) -> list[str]:
    """Return each domain once; domains of plug-ins come last."""
    present = {*domains}
    return [*(d for d in DOMAINS if d in present), *sorted(present - {*DOMAINS})]
