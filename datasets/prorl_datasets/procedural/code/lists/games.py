"""Code problems on games in which two players take elements off the ends of a list.

Leaves out: intervals, windows, order and runs (the other ``lists_`` modules).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_END_GAME_GOLD = {
    1: """
    def solve(a):
        p = [$worth for v in a]
        score = [0, 0]
        turn = $turn
        i, j = 0, len(p) - 1
        while i <= j:
            if p[i] $op p[j]:
                score[turn] += p[i]
                i += 1
            else:
                score[turn] += p[j]
                j -= 1
            turn = 1 - turn
        return score
    """,
    2: """
    def solve(a):
        p = [$worth for v in a]
        best = [0] * (len(p) + 1)
        for size in range(1, len(p) + 1):
            for i in range(len(p) - size + 1):
                j = i + size - 1
                best[i] = max(p[i] - best[i + 1], p[j] - best[i])
        return ${first}best[0]
    """,
    3: """
    from functools import cache

    def solve(a):
        p = [$worth for v in a]

        @cache
        def best(i, j):
            if i == j:
                return 0
            options = [p[j - 1] - best(i, j - 1)]
            for k in range(1, min($most, j - i) + 1):
                options.append(sum(p[i:i + k]) - best(i + k, j))
            return max(options)

        return ${first}best(0, len(p))
    """,
}


_PRIMES = tuple(m for m in range(17, 98) if all(m % d for d in range(2, 10)))
"""Moduli of products: no factor drawn is a multiple of one, and 50 times any factor exceeds it."""


_WORTHS = (
    ("product", "(v * {c}) % {m}", "(v * {c}) modulo {m}"),
    ("distance", "abs(v - {m}) + {c}", "|v - {m}| + {c}"),
    ("sum", "v + {c} * (v % {m})", "v + {c} * (v modulo {m})"),
)
"""Kind, expression and text of the points that an element v earns."""


@dataclass(frozen=True, slots=True)
class _EndGame:
    """The drawn rules. ``tie`` names the end taken on equal points, ``second`` says that Bo moves
    first, ``most`` is the largest number of elements of a move from the front."""

    level: int
    m: int
    c: int
    worth: tuple[str, str, str]
    tie: str
    most: int
    second: bool

    def points(self, v: int) -> int:
        """Return what the element v earns, not in the way of the gold's expression."""
        kind = self.worth[0]
        if kind == "product":
            return v * self.c - v * self.c // self.m * self.m
        if kind == "distance":
            return max(v - self.m, self.m - v) + self.c
        return v * (1 + self.c) - self.c * self.m * (v // self.m)


def _draw_game(rng: Random, level: int) -> _EndGame:
    """Draw rules in which the modulus or distance matters for elements from 0 to 50."""
    worth = rng.choice(_WORTHS)
    if worth[0] == "product":
        m = rng.choice(_PRIMES)
        c = rng.randint(2, m - 1)
    else:
        m, c = rng.randint(5, 40), rng.randint(1, 30)
    tie, most = rng.choice(("left", "right")), rng.randint(2, 3)
    return _EndGame(level, m, c, worth, tie, most, rng.random() < 0.5)


def _end_game(rng: Random, level: int) -> Problem:
    game = _draw_game(rng, level)
    kind, worth, _ = game.worth
    key: dict[str, Any] = {"level": level, "c": game.c, "m": game.m, "worth": kind}
    key |= {"second": game.second}
    key |= {"tie": game.tie} if level == 1 else {"most": game.most} if level == 3 else {}
    text = source(
        _END_GAME_GOLD[level],
        worth=worth.format(c=game.c, m=game.m),
        op=">=" if game.tie == "left" else ">",
        turn=int(game.second),
        first="-" if game.second else "",
        most=game.most,
    )
    return Problem(
        _end_game_statement(game),
        _A,
        "ints" if level == 1 else "int",
        text,
        partial(_end_game_brute, game),
        lambda r: (integers(r, 4, 10 if level == 1 else 8, 0, 50),),
        key,
        (([6],),),
    )


def _end_game_statement(game: _EndGame) -> str:
    starter = "Bo" if game.second else "Ann"
    worth = game.worth[2].format(c=game.c, m=game.m)
    start = (
        "`a` is a list of at most 10 non-negative integers. Ann and Bo take elements in turn until "
        f"none is left; {starter} moves first. Taking an element v earns {worth} points. "
    )
    aim = (
        "Both play so that their own points minus the other's are as large as possible. "
        "Give Ann's points minus Bo's points."
    )
    what = {
        1: "A move takes the first or the last element, whichever earns more points now (if "
        f"both earn the same: the {game.tie} one). "
        "Give the list of Ann's points and Bo's points.",
        2: f"A move takes the first or the last element. {aim}",
        3: f"A move takes 1 to {game.most} elements from the front of the list (each earns its "
        f"points), or the single last one. {aim}",
    }
    return start + what[game.level]


def _end_game_brute(game: _EndGame, a: list[int]) -> Any:
    points = [game.points(v) for v in a]
    if game.level == 1:
        return _greedy(points, game.tie == "left", game.second)
    return (-1 if game.second else 1) * _best(points, game.most if game.level == 3 else 1)


def _greedy(points: list[int], left: bool, second: bool) -> list[int]:
    """Play by consuming a copy; the move's index decides who gets the points."""
    rest, moves = points[:], []
    while rest:
        ends = (rest[0], rest[-1])
        front = ends[0] == max(ends) if left else ends[1] != max(ends)
        moves.append(rest.pop(0 if front else -1))
    shares = [sum(moves[::2]), sum(moves[1::2])]
    return shares[::-1] if second else shares


def _best(points: list[int], most: int) -> int:
    """Return the mover's lead under best play, by trying every line of play."""
    if not points:
        return 0
    lines = [points[-1] - _best(points[:-1], most)]
    for k in range(1, min(most, len(points)) + 1):
        lines.append(sum(points[:k]) - _best(points[k:], most))
    return max(lines)


FAMILIES = (code_family("end_games", "greedy and optimal play from a list's ends", _end_game),)
