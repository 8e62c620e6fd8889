"""Problems on rectangles of cells in a grid of integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, matrix
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_MEASURES = {
    "largest minus the smallest value": "max(w) - min(w)",
    "top left plus the bottom right value": "w[0] + w[-1]",
    "sum": "sum(w)",
}


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A problem on blocks of ``p`` rows and ``q`` columns or, at level 3, of at most ``area`` cells."""

    level: int
    p: int
    q: int
    m: int
    total: Condition
    """Condition on the block's sum."""
    corner: Condition
    """Condition on the value at the top left."""
    r: int
    """Remainder of the sum modulo ``m``."""
    area: int
    best: str
    measure: str


def _draw_blocks(rng: Random, level: int) -> _Blocks:
    p, q, m = rng.randint(1, 3), rng.randint(2, 3), rng.randint(3, 9)
    return _Blocks(
        level=level,
        p=p,
        q=q,
        m=m,
        total=condition(rng, -4 * p * q, 5 * p * q),
        corner=condition(rng, -9, 12),
        r=rng.randint(0, m - 1),
        area=rng.randint(4, 9),
        best=rng.choice(("largest", "smallest")),
        measure=rng.choice(list(_MEASURES)),
    )


def _rectangles(rng: Random, level: int) -> Problem:
    b = _draw_blocks(rng, level)
    rules: list[tuple[Any, ...]] = [
        (b.p, b.q, b.measure, b.corner.key),
        (b.p, b.q, b.measure, b.total.key),
        (b.m, b.r, b.area, b.best, b.corner.key),
    ]
    text = WORDINGS.source(
        f"rectangles solution {level}",
        b,
        measure=_MEASURES[b.measure],
        cond=b.total.on("s"),
        corner_w=b.corner.on("w[0]"),
        corner_g=b.corner.on("g[y][x]"),
        pick="max" if b.best == "largest" else "min",
    )
    size = f"blocks of {b.p} rows and {b.q} columns"
    start = WORDINGS.one("statement start")
    only = f"Only blocks whose top left value is {b.corner.text} count. " if b.level != 2 else ""
    return Problem(
        start
        + only
        + WORDINGS.one(
            f"statement {b.level}", b=b, m_minus_1=b.m - 1, size=size, text=b.total.text
        ),
        "g: grid -> ints",
        text,
        partial(_brute, b),
        lambda r: (matrix(r, (3, 5 if level == 3 else 6), -9, 12),),
        {"level": level, "rule": rules[level - 1]},
    )


def _brute(b: _Blocks, g: list[list[int]]) -> list[int]:
    blocks = _all_blocks(b, g)
    if b.level == 3:
        sums = sorted(sum(w) for w in blocks if (sum(w) - b.r) % b.m == 0)
        return [len(sums), (sums or [0])[-1 if b.best == "largest" else 0]]
    measures: dict[str, Any] = {
        "largest minus the smallest value": lambda w: -min(x - y for x in w for y in w),
        "top left plus the bottom right value": lambda w: w[0] + w[b.p * b.q - 1],
        "sum": sum,
    }
    chosen = [w for w in blocks if b.level == 1 or b.total.holds(sum(w))]
    values = [measures[b.measure](w) for w in chosen]
    return values if b.level == 1 else [len(chosen), sum(values)]


def _all_blocks(b: _Blocks, g: list[list[int]]) -> list[list[int]]:
    shapes = [(b.p, b.q)]
    if b.level == 3:
        shapes = [(i, j) for i in range(1, 7) for j in range(1, 7) if i * j <= b.area]
    return [
        [g[y + i][x + j] for i in range(height) for j in range(width)]
        for height, width in shapes
        for y in range(len(g) - height + 1)
        for x in range(len(g[0]) - width + 1)
        if b.level == 2 or b.corner.holds(g[y][x])
    ]


FAMILIES = (code_family("grid_blocks", "values of rectangles", _rectangles),)
