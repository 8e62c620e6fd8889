"""Levels of generated items: which of them are open, by how the level below goes.

A *ladder* is the items of one family of a domain by the whole number that their
metadata call ``level``. Its lowest level is open; each next one is while the one below it is open and its pass rate, all
its items taken together with one wrong response more, is at least ``open_at``. Counts fade, so a level closes again
when the one below it is lost or was not tried for long. Items without a level are always open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_datasets import Sample
from prorl_training.schedule.decisions import Decision

Floats = NDArray[np.float64]


class Ladder(NamedTuple):
    """Levels, lowest first, and the places of their items."""

    name: str
    """``domain/family``."""
    levels: tuple[int, ...]
    items: tuple[NDArray[np.int64], ...]

    def rate(self, number: int, right: Floats, wrong: Floats) -> float:
        """Return the pass rate of a level (0-based), one wrong response more than there were."""
        own = self.items[number]
        good, bad = float(right[own].sum()), float(wrong[own].sum())
        return good / (1 + good + bad)


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
            Ladder(
                "/".join(name),
                tuple(sorted(levels)),
                tuple(np.array(levels[n]) for n in sorted(levels)),
            )
            for name, levels in found.items()
        ]

    def open_levels(self, right: Floats, wrong: Floats, open_at: float, ahead: int) -> list[int]:
        """Return how many levels of each ladder are open; ``ahead``: so many more than the rule opens.

        ``right`` and ``wrong`` (N,) are the items' counts.
        """
        return [
            min(self._opened(ladder, right, wrong, open_at) + ahead, len(ladder.levels))
            for ladder in self._ladders
        ]

    def _opened(self, ladder: Ladder, right: Floats, wrong: Floats, open_at: float) -> int:
        for number in range(len(ladder.levels) - 1):
            if ladder.rate(number, right, wrong) < open_at:
                return number + 1
        return len(ladder.levels)

    def open_items(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Return which items (N,) may be drawn when so many ``levels`` of each ladder are open."""
        opened = np.ones(self._count, dtype=bool)
        for ladder, open_levels in zip(self._ladders, levels, strict=True):
            for items in ladder.items[open_levels:]:
                opened[items] = False
        return opened

    def closed(self, levels: Sequence[int]) -> int:
        """Return how many levels are closed when so many ``levels`` of each ladder are open."""
        return sum(len(ladder.levels) for ladder in self._ladders) - sum(levels)

    def changes(
        self, before: Sequence[int], after: Sequence[int], right: Floats, wrong: Floats
    ) -> list[dict[str, Any]]:
        """Return the ladders of which other levels are open than ``before``, JSON values: ``ladder``, ``opened`` or
        ``closed`` (levels), and ``pass_rates`` by level, which the rule has judged."""
        found = []
        for ladder, was, now in zip(self._ladders, before, after, strict=True):
            if was == now:
                continue
            what, moved = ("opened", (was, now)) if now > was else ("closed", (now, was))
            rates = {
                str(level): round(ladder.rate(number, right, wrong), 4)
                for number, level in enumerate(ladder.levels)
            }
            levels = list(ladder.levels[slice(*moved)])
            found.append({"ladder": ladder.name, what: levels, "pass_rates": rates})
        return found


def levels_changed(step: int, changes: Sequence[dict[str, Any]], open_at: float) -> list[Decision]:
    """Return the decision on what ``Ladders.changes`` found after ``step``; none where nothing changed."""
    if not changes:
        return []
    told = []
    for what in ("opened", "closed"):
        names = [f"{c['ladder']} {level}" for c in changes for level in c.get(what, ())]
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            told.append(f"{what}: {', '.join(names[:3])}{more}")
    evidence = {"open_at": open_at, "changes": list(changes)}
    return [Decision(step, "levels_changed", "; ".join(told), evidence)]
