"""Problems on regions of linked cells in a grid of integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, matrix
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@dataclass(frozen=True, slots=True)
class _Regions:
    level: int
    eight: bool
    """Whether cells are also linked across corners."""
    c: Condition
    """Condition on linked values or on their sum."""
    d: int
    """Maximum difference of linked values."""
    least: int
    """Minimum number of cells in a region."""
    big: bool
    """Whether the largest region comes first."""

    @property
    def steps(self) -> list[tuple[int, int]]:
        return [*_SIDES, *(_CORNERS if self.eight else ())]

    def linked(self, u: int, v: int) -> bool:
        holds = self.c.holds
        if self.level == 1:
            return holds(u) and holds(v)
        near = max(u, v) - min(u, v) <= self.d
        return near and not (holds(u) or holds(v) if self.level == 2 else holds(u + v))


def _regions(rng: Random, level: int) -> Problem:
    rule = _Regions(
        level=level,
        eight=rng.random() < 0.5,
        c=condition(rng, 0, 12),
        d=rng.randint(1, 4),
        least=rng.randint(1, 3),
        big=rng.random() < 0.5,
    )
    c, near = rule.c, f"abs(v - u) <= {rule.d}"
    key: dict[str, Any] = {"level": level, "eight": rule.eight, "condition": c.key}
    key |= {"least": rule.least, "big": rule.big} | ({"d": rule.d} if level > 1 else {})
    text = WORDINGS.source(
        "regions solution",
        unused={1: f"not ({c.on('v')})", 2: c.on("v"), 3: "False"}[level],
        steps=rule.steps,
        joined={
            1: c.on("u"),
            2: f"not {c.on('u')} and {near}",
            3: f"{near} and not {c.on('(u + v)')}",
        }[level],
        least=rule.least,
        measure=("len(values)", "sum(values)", "len(values) * max(values)")[level - 1],
        order=", reverse=True" if rule.big else "",
    )
    return Problem(
        _statement(rule),
        "g: grid -> ints",
        text,
        partial(_brute, rule),
        lambda r: (matrix(r, (4, 6), 0, 12),),
        key,
    )


def _statement(rule: _Regions) -> str:
    c, near = rule.c, f"their values differ by at most {rule.d}"
    link = WORDINGS.one(f"statement {rule.level}", c=c, near=near)
    cells = WORDINGS.one(f"statement of {rule.level}", c=c)
    what = WORDINGS.one(f"statement of of {rule.level}")
    return WORDINGS.one(
        "statement",
        or_a=" or a corner" if rule.eight else "",
        link=link,
        cells=cells,
        what=what,
        rule=rule,
        decreasing="decreasing" if rule.big else "increasing",
    )


def _brute(rule: _Regions, g: list[list[int]]) -> list[int]:
    label = {
        (y, x): y * 9 + x
        for y, row in enumerate(g)
        for x, v in enumerate(row)
        if rule.level == 3 or rule.c.holds(v) == (rule.level == 1)
    }
    moved = True
    while moved:
        moved = False
        for (y, x), root in label.items():
            for dy, dx in rule.steps:
                other = label.get((y + dy, x + dx), root)
                if other < label[y, x] and rule.linked(g[y][x], g[y + dy][x + dx]):
                    label[y, x], moved = other, True
    groups = [[g[y][x] for (y, x), n in label.items() if n == mark] for mark in range(81)]
    large = [v for v in groups if len(v) >= rule.least]
    sizes = [(len(v), sum(v), len(v) * max(v))[rule.level - 1] for v in large]
    return sorted(sizes, reverse=rule.big)


FAMILIES = (code_family("grid_regions", "connected regions", _regions),)
