"""Levels of generated items: which of them are open, by how the level below goes.

A *ladder* is the items of one family of a domain by the whole number that their
metadata call ``level``. Its lowest level is open; each next one is while the one below it is open and its pass rate, all
its items taken together with one wrong response more, is at least ``open_at``. Counts fade, so a level closes again
when the one below it is lost or was not tried for long. Items without a level are always open.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_datasets import Sample
from prorl_training.schedule.decisions import Decision

Floats = NDArray[np.float64]


class Ladder(NamedTuple):
    """The levels of a family, lowest first."""

    name: str
    """``domain/family``."""
    domain: str
    levels: tuple[int, ...]


class Ladders:
    """The ladders of ``samples``; all their levels are numbered through, ladder by ladder, from the lowest."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        on_ladder: list[tuple[int, str, int]] = []
        found: dict[tuple[str, str], set[int]] = {}
        for place, sample in enumerate(samples):
            level = sample.metadata.get("level")
            if isinstance(level, int) and not isinstance(level, bool):
                name = f"{sample.domain}/{sample.family}"
                found.setdefault((name, sample.domain), set()).add(level)
                on_ladder.append((place, name, level))
        self._ladders = [Ladder(*of, tuple(sorted(levels))) for of, levels in found.items()]
        numbers = {
            mark: number
            for number, mark in enumerate(
                (x.name, level) for x in self._ladders for level in x.levels
            )
        }
        self._levels = len(numbers)
        self._level_of = np.full(len(samples), self._levels)  # one more than there are: none
        for place, name, level in on_ladder:
            self._level_of[place] = numbers[name, level]

    def open_levels(self, right: Floats, wrong: Floats, open_at: float, ahead: int) -> list[int]:
        """Return how many levels of each ladder are open; ``ahead``: so many more than the rule opens.

        ``right`` and ``wrong`` (N,) are the items' counts.
        """
        opened = []
        for rates in self._rates(right, wrong):
            passed = next(
                (i for i, rate in enumerate(rates[:-1]) if rate < open_at), len(rates) - 1
            )
            opened.append(min(passed + 1 + ahead, len(rates)))
        return opened

    def _rates(self, right: Floats, wrong: Floats) -> list[list[float]]:
        """Return the pass rate of each level of each ladder, one wrong response more than there were."""
        good, bad = (np.bincount(self._level_of, x, self._levels + 1) for x in (right, wrong))
        rates = iter((good / (1 + good + bad)).tolist())
        return [[next(rates) for _ in ladder.levels] for ladder in self._ladders]

    def open_items(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Return which items (N,) may be drawn when so many ``levels`` of each ladder are open."""
        opened = [
            number < count
            for ladder, count in zip(self._ladders, levels, strict=True)
            for number in range(len(ladder.levels))
        ]
        found: NDArray[np.bool_] = np.array([*opened, True])[self._level_of]
        return found

    def climb(self, domains: AbstractSet[str]) -> bool:
        """Return whether any ladder of these domains has a second level."""
        return any(len(x.levels) > 1 for x in self._ladders if x.domain in domains)

    def count(self, levels: Sequence[int], domains: AbstractSet[str]) -> tuple[int, int]:
        """Return how many levels of these domains are open when so many ``levels`` of each ladder are, and how many are
        closed."""
        own = [(x, n) for x, n in zip(self._ladders, levels, strict=True) if x.domain in domains]
        opened = sum(n for _, n in own)
        return opened, sum(len(x.levels) for x, _ in own) - opened

    def changes(
        self, before: Sequence[int], after: Sequence[int], right: Floats, wrong: Floats
    ) -> list[dict[str, Any]]:
        """Return the ladders of which other levels are open than ``before``, JSON values: ``ladder``, ``opened`` or
        ``closed`` (levels), and ``pass_rates`` by level, which the rule has judged."""
        found = []
        rates = self._rates(right, wrong)
        for ladder, was, now, seen in zip(self._ladders, before, after, rates, strict=True):
            if was != now:
                what = "opened" if now > was else "closed"
                levels = list(ladder.levels[min(was, now) : max(was, now)])
                told = {str(n): round(rate, 4) for n, rate in zip(ladder.levels, seen, strict=True)}
                found.append({"ladder": ladder.name, what: levels, "pass_rates": told})
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
