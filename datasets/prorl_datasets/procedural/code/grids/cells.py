"""Problems on cellular automata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Cells:
    level: int
    live: str
    dead: str
    born: list[int]
    """Numbers of live neighbours that bring a dead cell to life (at level 1 the right neighbour counts twice)."""
    stay: list[int]
    """Numbers of live neighbours that keep a cell alive."""
    wrap: bool
    steps: int
    age: int
    """A cell that was live in this many successive states dies (level 3)."""


def _draw_cells(rng: Random, level: int) -> _Cells:
    live, dead = rng.choice(("#.", "O.", "*-", "X_", "10", "@."))
    top, most = (3, 3) if level == 1 else (8, 4)
    born = sorted(rng.sample(range(top + 1), rng.randint(1, most)))
    stay = sorted(rng.sample(range(top + 1), rng.randint(0, most)))
    if level == 1 and 0 in born and not stay:
        stay = [1]
    if level > 1 and not {2, 3} & {*born}:
        born = sorted({*born, rng.randint(2, 3)})
    wrap = rng.random() < 0.5
    steps = rng.randint(1, 8 - 2 * level) if level < 3 else rng.randint(2, 5)
    return _Cells(level, live, dead, born, stay, wrap, steps, rng.randint(2, 4))


def _cells(rng: Random, level: int) -> Problem:
    rule = _draw_cells(rng, level)
    live, dead, born, stay = rule.live, rule.dead, rule.born, rule.stay

    def draw(r: Random) -> tuple[list[str]]:
        h, w = r.randint(3, 5), r.randint(3, 6)
        return (["".join(live if r.random() < 0.45 else dead for _ in range(w)) for _ in range(h)],)

    key: dict[str, Any] = {"level": level, "born": born, "stay": stay, "wrap": rule.wrap}
    key |= {"steps": rule.steps, "age": rule.age} if level == 3 else {"steps": rule.steps}
    alive = "age[ny % h][nx % w] > 0"
    text = WORDINGS.source(
        "cells solution",
        live=live,
        dead=dead,
        steps=rule.steps,
        count=f"(1 if dx < 0 else 2) * ({alive})" if level == 1 else alive,
        dys="(0,)" if level == 1 else "(-1, 0, 1)",
        inside="True" if rule.wrap else "0 <= ny < h and 0 <= nx < w",
        born=born,
        stay=stay,
        most=rule.age if level == 3 else 999,
    )
    brute = partial(_brute, rule)
    return Problem(_statement(rule), "rows: rows -> rows", text, brute, draw, key)


def _statement(rule: _Cells) -> str:
    number = "its number (1 if its left neighbour is live, plus 2 if its right neighbour is live)"
    edge = "Cells outside count as empty"
    around = "the cell left of the first one is the last one"
    if rule.wrap:
        edge = f"The rows wrap around: {around}"
    if rule.level > 1:
        number = WORDINGS.one("statement number")
        edge = f"The rows wrap around and so do the columns ({around})" if rule.wrap else edge
    tired = WORDINGS.one("statement tired", rule=rule)
    return WORDINGS.one(
        "statement",
        rule=rule,
        number=number,
        edge=edge,
        tired=tired if rule.level == 3 else "",
        plural_s="s" if rule.steps > 1 else "",
    )


Cell = tuple[int, int]


def _brute(rule: _Cells, rows: list[str]) -> list[str]:
    size = h, w = len(rows), len(rows[0])
    states = [{(y, x) for y in range(h) for x in range(w) if rows[y][x] == rule.live}]
    for _ in range(rule.steps):
        tally = _tally(rule, states[-1], size)
        after = {
            (y, x)
            for y in range(h)
            for x in range(w)
            if tally.get((y, x), 0) in (rule.stay if (y, x) in states[-1] else rule.born)
        }
        if rule.level == 3 and len(states) >= rule.age:
            after -= {cell for cell in after if all(cell in old for old in states[-rule.age :])}
        states.append(after)
    signs = {True: rule.live, False: rule.dead}
    return ["".join(signs[(y, x) in states[-1]] for x in range(w)) for y in range(h)]


def _tally(rule: _Cells, live: set[Cell], size: tuple[int, int]) -> dict[Cell, int]:
    h, w = size
    tally: dict[Cell, int] = {}
    for y, x in live:
        for dy in (-1, 0, 1) if rule.level > 1 else (0,):
            for dx in (-1, 0, 1):
                at = ((y + dy) % h, (x + dx) % w) if rule.wrap else (y + dy, x + dx)
                if dy or dx:
                    tally[at] = tally.get(at, 0) + (2 if dx < 0 and rule.level == 1 else 1)
    return tally


FAMILIES = (code_family("cell_updates", "cellular automata", _cells),)
