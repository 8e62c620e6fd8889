"""Problems on paths through a grid of integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, matrix
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_STEPS = {
    "right": (0, 1),
    "down": (1, 0),
    "diagonally down-right": (1, 1),
    "two to the right": (0, 2),
    "two down": (2, 0),
}


@dataclass(frozen=True, slots=True)
class _Paths:
    level: int
    steps: list[str]
    special: Condition
    """Condition on special cells (walls at level 1)."""
    m: int
    """Modulus of the sum."""
    best: str
    r: int
    """Remainder of the sum."""
    bonus: int

    @property
    def moves(self) -> list[tuple[int, int]]:
        return [_STEPS[s] for s in self.steps]


def _draw_paths(rng: Random, level: int) -> _Paths:
    more = list(_STEPS)[2:]
    steps = ["right", "down", *[s for s in more if level > 1 and rng.random() < 0.5]]
    special, m = condition(rng, 0, 12), rng.randint(3, 9)
    best, r = rng.choice(("smallest", "largest")), rng.randint(0, m - 1)
    return _Paths(level, steps, special, m, best, r, rng.randint(1, 9))


def _paths(rng: Random, level: int) -> Problem:
    p = _draw_paths(rng, level)
    key: dict[str, Any] = {"level": level, "condition": p.special.key, "steps": p.steps}
    key |= {"m": p.m, "r": p.r} if level == 3 else {"bonus": p.bonus}
    key |= {"best": p.best} if level == 2 else {}
    text = WORDINGS.source(
        f"paths solution {level}",
        p,
        cond=p.special.on("v"),
        steps=p.moves,
        pick="max" if p.best == "largest" else "min",
    )
    sides = (2, 5) if len(p.steps) < 4 else (2, 4)
    moves = ["one cell right", "one cell down", *p.steps[2:]]
    if len(moves) == 2 and p.level != 2:
        moves[1] = "down"
    start = WORDINGS.one("statement start", moves=", ".join(moves[:-1]), moves_2=moves[-1])
    return Problem(
        start + WORDINGS.one(f"statement {p.level}", text=p.special.text, p=p),
        f"g: grid -> {'ints' if level == 3 else 'int'}",
        text,
        partial(_brute, p),
        lambda r: (matrix(r, sides, 0, 12),),
        key,
        (([[4]],),),
    )


def _brute(p: _Paths, g: list[list[int]]) -> Any:
    special = p.special.holds
    routes = _routes(g, p.moves, (0, 0))
    if p.level == 1:
        walls = sum(special(v) for row in g for v in row)
        return sum(not any(map(special, route)) for route in routes) + p.bonus * walls
    if p.level == 2:
        costs = sorted(sum(route) + p.bonus * sum(map(special, route)) for route in routes)
        return costs[0 if p.best == "smallest" else -1]
    odd = sum(len([v for v in route if special(v)]) % 2 for route in routes)
    return [sum((sum(route) - p.r) % p.m == 0 for route in routes), odd]


def _routes(
    g: list[list[int]], steps: list[tuple[int, int]], at: tuple[int, int]
) -> list[list[int]]:
    y, x = at
    if y >= len(g) or x >= len(g[0]):
        return []
    if y == len(g) - 1 and x == len(g[0]) - 1:
        return [[g[y][x]]]
    return [[g[y][x], *later] for dy, dx in steps for later in _routes(g, steps, (y + dy, x + dx))]


FAMILIES = (code_family("grid_paths", "monotone paths counted or weighed", _paths),)
