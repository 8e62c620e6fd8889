"""Problems on reading a turned grid in some order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, matrix
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_TURNS = {
    "rotate it by 90 degrees clockwise": "[list(r) for r in zip(*g[::-1])]",
    "rotate it by 90 degrees counterclockwise": "[list(r) for r in zip(*g)][::-1]",
    "rotate it by 180 degrees": "[r[::-1] for r in g[::-1]]",
    "mirror it left to right": "[r[::-1] for r in g]",
    "mirror it top to bottom": "g[::-1]",
    "transpose it (swap rows and columns)": "[list(r) for r in zip(*g)]",
    "remove its first row, unless it is the only row": "g[1:] or g",
    "move its first row to the bottom": "g[1:] + g[:1]",
}

_READINGS = {
    "row by row, each from left to right": "[v for row in g for v in row]",
    "column by column, each from top to bottom": "[v for col in zip(*g) for v in col]",
    "in a snake: the first row from left to right, the second from right to left, and so on": (
        "[v for y, row in enumerate(g) for v in (row[::-1] if y % 2 else row)]"
    ),
    "in a spiral: from the top left cell along the first row to the right, then "
    "clockwise inwards": ("spiral(g)"),
    "diagonal by diagonal: cells with the same row plus column index form a diagonal, "
    "smaller sums first, "
    "each diagonal from its top right to its bottom left": "diagonals(g)",
}

_UNDOES = {
    "rotate it by 90 degrees clockwise": "rotate it by 90 degrees counterclockwise",
    "rotate it by 90 degrees counterclockwise": "rotate it by 90 degrees clockwise",
    "rotate it by 180 degrees": "rotate it by 180 degrees",
    "mirror it left to right": "mirror it left to right",
    "mirror it top to bottom": "mirror it top to bottom",
    "transpose it (swap rows and columns)": "transpose it (swap rows and columns)",
}
"""Each turn and its inverse, which never follow each other."""


def _turned(g: list[list[int]], turn: str) -> list[list[int]]:
    h, w = len(g), len(g[0])
    if turn.startswith("remove"):
        return [list(row) for y, row in enumerate(g) if y or h == 1]
    rules: dict[str, Any] = {
        "rotate it by 90 degrees clockwise": lambda y, x: (x, h - 1 - y),
        "rotate it by 90 degrees counterclockwise": lambda y, x: (w - 1 - x, y),
        "rotate it by 180 degrees": lambda y, x: (h - 1 - y, w - 1 - x),
        "mirror it left to right": lambda y, x: (y, w - 1 - x),
        "mirror it top to bottom": lambda y, x: (h - 1 - y, x),
        "transpose it (swap rows and columns)": lambda y, x: (x, y),
        "move its first row to the bottom": lambda y, x: ((y - 1) % h, x),
    }
    cells = {rules[turn](y, x): g[y][x] for y in range(h) for x in range(w)}
    rows, cols = max(y for y, _ in cells) + 1, max(x for _, x in cells) + 1
    return [[cells[y, x] for x in range(cols)] for y in range(rows)]


def _read(g: list[list[int]], reading: str) -> list[int]:
    cells = [(y, x) for y in range(len(g)) for x in range(len(g[0]))]
    if reading.startswith("in a spiral"):
        y, x, d, left, out = 0, -1, 0, {*cells}, []
        while left:
            dy, dx = ((0, 1), (1, 0), (0, -1), (-1, 0))[d]
            if (y + dy, x + dx) not in left:
                d = (d + 1) % 4
                continue
            y, x = y + dy, x + dx
            left.discard((y, x))
            out.append(g[y][x])
        return out
    keys: dict[str, Any] = {
        "row": lambda c: c,
        "col": lambda c: c[::-1],
        "in ": lambda c: (c[0], -c[1] if c[0] % 2 else c[1]),
        "dia": lambda c: (c[0] + c[1], c[0]),
    }
    return [g[y][x] for y, x in sorted(cells, key=keys[reading[:3]])]


_SPIRAL = """
def spiral(g):
    out = []
    while g:
        out += g[0]
        g = [list(r) for r in zip(*g[1:])][::-1]
    return out


"""

_DIAGONALS = """
def diagonals(g):
    lines = [[] for _ in range(len(g) + len(g[0]) - 1)]
    for y, row in enumerate(g):
        for x, v in enumerate(row):
            lines[y + x].append(v)
    return [v for line in lines for v in line]


"""


@dataclass(frozen=True, slots=True)
class _Reading:
    level: int
    turns: list[str]
    reading: str
    dropped: Condition
    """Condition on values that are left out."""
    k: int
    """Only every ``k``-th place, beginning at ``start``, counts (level 3)."""
    start: int


def _draw_reading(rng: Random, level: int) -> _Reading:
    turns = [rng.choice(list(_TURNS))]
    count = level if level < 3 else rng.randint(3, 4)
    while len(turns) < count:
        turns.append(rng.choice([t for t in _TURNS if t != _UNDOES.get(turns[-1])]))
    return _Reading(
        level=level,
        turns=turns,
        reading=rng.choice(list(_READINGS)),
        dropped=condition(rng, -9, 30),
        k=rng.randint(2, 5),
        start=rng.randint(0, 1),
    )


def _readings(rng: Random, level: int) -> Problem:
    rule = _draw_reading(rng, level)
    key: dict[str, Any] = {"level": level, "turns": rule.turns, "reading": rule.reading[:12]}
    key |= {"condition": rule.dropped.key}
    key |= {"k": rule.k, "start": rule.start} if level == 3 else {}
    code = _READINGS[rule.reading]
    helper = {"spiral(g)": _SPIRAL, "diagonals(g)": _DIAGONALS}.get(code, "")
    turns = "".join(f"    g = {_TURNS[turn]}\n" for turn in rule.turns)
    places = f"[{rule.start}::{rule.k}]" if rule.level == 3 else ""
    keep = f"v for v in values{places} if not ({rule.dropped.on('v')})"
    return Problem(
        _statement(rule),
        "g: grid -> ints",
        f"{helper.lstrip()}def solve(g):\n{turns}    values = {code}\n    return [{keep}]\n",
        partial(_brute, rule),
        lambda r: (matrix(r, (2, 5), -9, 30),),
        key,
    )


def _statement(rule: _Reading) -> str:
    k, start = rule.k, rule.start
    end = f" Give the values that are {rule.dropped.negated}, in this order."
    if rule.level == 3:
        end = WORDINGS.one(
            "statement end",
            start=start,
            start_plus_k=start + k,
            start_value=start + 2 * k,
            negated=rule.dropped.negated,
        )
    return WORDINGS.one(
        "statement", rule_turns_joined="; then ".join(rule.turns), rule=rule, end=end
    )


def _brute(rule: _Reading, g: list[list[int]]) -> list[int]:
    for turn in rule.turns:
        g = _turned(g, turn)
    values = _read(g, rule.reading)
    if rule.level == 3:
        k, start = rule.k, rule.start
        values = [v for i, v in enumerate(values) if i >= start and (i - start) % k == 0]
    return [v for v in values if not rule.dropped.holds(v)]


FAMILIES = (code_family("grid_readings", "rotations, and cells read in an order", _readings),)
