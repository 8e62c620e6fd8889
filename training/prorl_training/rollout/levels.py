"""Levels of generated items: which of them are open, by how the level below goes.

A *ladder* is the items of one family of a domain by the whole number that their
metadata call ``level``. Its lowest level is open; each next one is while the one below it is open and its pass rate, all
its items taken together with one wrong response more, is at least ``open_at``. Counts fade, so a level closes again
when the one below it is lost or was not tried for long. Items without a level are always open.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prorl_datasets import Sample

Floats = NDArray[np.float64]


class Ladders:
    """The ladders of ``samples``."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        found: dict[tuple[str, str], dict[int, list[int]]] = {}
        for place, sample in enumerate(samples):
            level = sample.metadata.get("level")
            if isinstance(level, int) and not isinstance(level, bool):
                found.setdefault((sample.domain, sample.family), {}).setdefault(level, []).append(
                    place
                )
        self._count = len(samples)
        self._ladders = [
            [np.array(places) for _, places in sorted(levels.items())] for levels in found.values()
        ]

    def open_levels(self, right: Floats, wrong: Floats, open_at: float, ahead: int) -> list[int]:
        """Return how many levels of each ladder are open; ``ahead``: so many more than the rule opens.

        ``right`` and ``wrong`` (N,) are the items' counts.
        """
        return [
            min(self._opened(ladder, right, wrong, open_at) + ahead, len(ladder))
            for ladder in self._ladders
        ]

    def _opened(
        self, ladder: Sequence[NDArray[np.int64]], right: Floats, wrong: Floats, open_at: float
    ) -> int:
        for number, items in enumerate(ladder[:-1], 1):
            good, bad = float(right[items].sum()), float(wrong[items].sum())
            if good / (1 + good + bad) < open_at:
                return number
        return len(ladder)

    def open_items(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Return which items (N,) may be drawn when so many ``levels`` of each ladder are open."""
        opened = np.ones(self._count, dtype=bool)
        for ladder, open_levels in zip(self._ladders, levels, strict=True):
            for items in ladder[open_levels:]:
                opened[items] = False
        return opened

    def closed(self, levels: Sequence[int]) -> int:
        """Return how many levels are closed when so many ``levels`` of each ladder are open."""
        return sum(len(ladder) for ladder in self._ladders) - sum(levels)
