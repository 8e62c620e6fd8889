"""Counts right and wrong responses to each item, and opens levels of generated items by pass rate."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_common import UserError
from prorl_common.files import read_jsonl
from prorl_datasets import Sample
from prorl_training.types import FULL_MARKS, Decision, Group

ITEMS = "items.json"
"""Name of the records' file in a checkpoint."""


def chance_to_solve(right: float, wrong: float, k: int) -> float:
    """Return the expected pass@k after ``right`` correct and ``wrong`` wrong responses to an item.

    With the prior Beta(0, 1) of the pass rate, it is 1 - prod_{j < k} (1 + wrong + j) / (1 + right + wrong + j). The
    idea is Bayesian Boundary Gating (arXiv 2606.15455); prior and statistic are ours.
    """
    b = 1 + wrong
    all_wrong = math.lgamma(b + k) - math.lgamma(b) + math.lgamma(right + b)
    return -math.expm1(all_wrong - math.lgamma(right + b + k))


class ItemRecords:
    """Counts ``right`` and ``wrong`` responses to each of N items. ``solved``: the step that last solved it, or 0.

    A reward r counts as r right and 1 - r wrong. Counts decay with each step.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._place = {s.id: i for i, s in enumerate(samples)}
        names, self._domain = np.unique([s.domain for s in samples], return_inverse=True)
        self._domains = [str(name) for name in names]
        self.right = np.zeros(len(samples))
        self.wrong = np.zeros(len(samples))
        self.solved = np.zeros(len(samples), dtype=np.int64)

    def copy(self) -> ItemRecords:
        same = copy.copy(self)
        same.right, same.wrong, same.solved = (
            self.right.copy(),
            self.wrong.copy(),
            self.solved.copy(),
        )
        return same

    def record(self, step: int, groups: Sequence[Group], half_life: float) -> None:
        """Decay the counts (``half_life`` in steps), then add the responses of ``groups``, finished in ``step``."""
        fading = 2.0 ** (-1.0 / half_life)
        self.right *= fading
        self.wrong *= fading
        for group in groups:
            place = self._place[group.sample.id]
            for trajectory in group.scored:
                self.right[place] += trajectory.reward
                self.wrong[place] += 1 - trajectory.reward
                if trajectory.reward >= FULL_MARKS:
                    self.solved[place] = step

    def add_ratings(self, ratings: Mapping[str, tuple[float, int]]) -> None:
        """Add pass rates measured before step 1: item id -> (pass rate, number of samples)."""
        for name, (rate, n) in ratings.items():
            if (place := self._place.get(name)) is not None:
                self.right[place] += rate * n
                self.wrong[place] += (1 - rate) * n

    def solvable(self, group: Group, k: int) -> float:
        """Return the expected pass@k of the group's item, given its earlier responses and the group's."""
        place, rewards = self._place[group.sample.id], [t.reward for t in group.scored]
        right = float(self.right[place]) + sum(rewards)
        return chance_to_solve(right, float(self.wrong[place]) + len(rewards) - sum(rewards), k)

    def forget(self) -> None:
        """Clear all counts, but keep ``solved``."""
        self.right[:] = 0
        self.wrong[:] = 0

    def coverage(self, step: int, window: int) -> dict[str, dict[str, int]]:
        """Return {domain: counts of items solved, ever and in the last ``window`` steps}; domain "" is the total."""
        ever = self.solved > 0
        columns = {
            "items_solved": ever,
            "items_solved_recently": ever & (self.solved > step - window),
        }
        size = len(self._domains)
        counts_of: dict[str, dict[str, int]] = {name: {} for name in ("", *self._domains)}
        for key, column in columns.items():
            counts = np.bincount(self._domain[column], minlength=size).tolist()
            counts_of[""][key] = sum(counts)
            for name, count in zip(self._domains, counts, strict=True):
                counts_of[name][key] = count
        return counts_of

    def save(self, folder: Path) -> None:
        recorded = np.flatnonzero((self.right > 0) | (self.wrong > 0) | (self.solved > 0))
        ids = list(self._place)
        columns = {
            "ids": [ids[i] for i in recorded],
            "right": self.right[recorded].tolist(),
            "wrong": self.wrong[recorded].tolist(),
            "solved": self.solved[recorded].tolist(),
        }
        (folder / ITEMS).write_text(json.dumps(columns), encoding="utf-8")

    def restore(self, folder: Path) -> None:
        """Load the records in a checkpoint, if any. Raises UserError for an item that is not in the dataset."""
        path = folder / ITEMS
        if not path.is_file():
            return
        columns = json.loads(path.read_text(encoding="utf-8"))
        if missing := [name for name in columns["ids"] if name not in self._place]:
            raise UserError(
                f"{path} has records of '{missing[0]}', which is not in the dataset: continue with "
                "the dataset that the run was started on"
            )
        places = [self._place[name] for name in columns["ids"]]
        for name, column in (("right", self.right), ("wrong", self.wrong), ("solved", self.solved)):
            column[:] = 0
            column[places] = columns[name]


def read_ratings(path: Path, items: AbstractSet[str]) -> dict[str, tuple[float, int]]:
    """Return {item id: (pass rate, number of samples)} from a file. Raises UserError if it has none of ``items``."""
    if not path.is_file():
        raise UserError(f"data.pass_rates={path}: no such file; make it with prorl data rate")
    ratings: dict[str, tuple[float, int]] = {}
    for number, row in read_jsonl(path):
        try:
            name, rate, n = str(row["id"]), float(row["pass_rate"]), int(row["n"])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise UserError(
                f"{path}:{number}: expected an object with id, pass_rate and n"
            ) from error
        if not 0 <= rate <= 1 or n < 0:
            raise UserError(
                f"{path}:{number}: pass_rate is {rate} and n is {n}: pass_rate must be from 0 to 1, and n not negative"
            )
        ratings[name] = rate, n
    if ratings.keys().isdisjoint(items):
        raise UserError(
            f"{path} rates no item of this dataset: use the file that prorl data rate wrote for this dataset"
        )
    return ratings


Floats = NDArray[np.float64]


class Ladder(NamedTuple):
    """The difficulty levels of one family of generated items, lowest first."""

    name: str
    """``domain/family``."""
    domain: str
    levels: tuple[int, ...]


class Ladders:
    """Opens difficulty levels (``level`` in metadata) of generated items. Each family in a domain has its own ladder.

    A level is open while all levels below have pass rates of at least ``open_at``. Items without a level are open.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        on_ladder: list[tuple[int, str, int]] = []
        levels_of: dict[tuple[str, str], set[int]] = {}
        for place, sample in enumerate(samples):
            level = sample.metadata.get("level")
            if isinstance(level, int) and not isinstance(level, bool):
                name = f"{sample.domain}/{sample.family}"
                levels_of.setdefault((name, sample.domain), set()).add(level)
                on_ladder.append((place, name, level))
        self._ladders = [Ladder(*key, tuple(sorted(levels))) for key, levels in levels_of.items()]
        numbers = {
            mark: number
            for number, mark in enumerate(
                (x.name, level) for x in self._ladders for level in x.levels
            )
        }
        self._levels = len(numbers)
        self._level_of = np.full(len(samples), self._levels)  # the last number means no level
        for place, name, level in on_ladder:
            self._level_of[place] = numbers[name, level]

    def open_levels(self, right: Floats, wrong: Floats, open_at: float, ahead: int) -> list[int]:
        """Count each ladder's open levels and add ``ahead``. ``right`` and ``wrong`` count responses by item."""
        opened = []
        for rates in self._rates(right, wrong):
            passed = next(
                (i for i, rate in enumerate(rates[:-1]) if rate < open_at), len(rates) - 1
            )
            opened.append(min(passed + 1 + ahead, len(rates)))
        return opened

    def _rates(self, right: Floats, wrong: Floats) -> list[list[float]]:
        """Return each ladder's pass rates by level, with one wrong response added to each level."""
        good, bad = (np.bincount(self._level_of, x, self._levels + 1) for x in (right, wrong))
        rates = iter((good / (1 + good + bad)).tolist())
        return [[next(rates) for _ in ladder.levels] for ladder in self._ladders]

    def open_items(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Return which items (N,) may be drawn if the lowest ``levels[i]`` levels of ladder i are open."""
        opened = [
            number < count
            for ladder, count in zip(self._ladders, levels, strict=True)
            for number in range(len(ladder.levels))
        ]
        may_draw: NDArray[np.bool_] = np.array([*opened, True])[self._level_of]
        return may_draw

    def can_climb(self, domains: AbstractSet[str]) -> bool:
        return any(len(x.levels) > 1 for x in self._ladders if x.domain in domains)

    def count(self, levels: Sequence[int], domains: AbstractSet[str]) -> tuple[int, int]:
        ladders = [
            (x, n) for x, n in zip(self._ladders, levels, strict=True) if x.domain in domains
        ]
        opened = sum(n for _, n in ladders)
        return opened, sum(len(x.levels) for x, _ in ladders) - opened

    def changes(
        self, before: Sequence[int], after: Sequence[int], right: Floats, wrong: Floats
    ) -> list[dict[str, Any]]:
        """Return the ladders whose number of open levels changed, as JSON values."""
        changed = []
        rates = self._rates(right, wrong)
        for ladder, was, now, level_rates in zip(self._ladders, before, after, rates, strict=True):
            if was != now:
                direction = "opened" if now > was else "closed"
                levels = list(ladder.levels[min(was, now) : max(was, now)])
                pass_rates = {
                    str(n): round(rate, 4)
                    for n, rate in zip(ladder.levels, level_rates, strict=True)
                }
                changed.append({"ladder": ladder.name, direction: levels, "pass_rates": pass_rates})
        return changed


def levels_changed(step: int, changes: Sequence[dict[str, Any]], open_at: float) -> list[Decision]:
    """Return the decision that records the ``changes``, or [] if there are none."""
    if not changes:
        return []
    parts = []
    for direction in ("opened", "closed"):
        names = [f"{c['ladder']} {level}" for c in changes for level in c.get(direction, ())]
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            parts.append(f"{direction}: {', '.join(names[:3])}{more}")
    evidence = {"open_at": open_at, "changes": list(changes)}
    return [Decision(step, "levels_changed", "; ".join(parts), evidence)]
