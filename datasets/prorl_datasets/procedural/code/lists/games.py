"""Problems on two-player games that take elements off the ends of a list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_PRIMES = tuple(m for m in range(17, 98) if all(m % d for d in range(2, 10)))
"""Moduli for products, small enough to affect elements up to 50."""

_WORTHS = (
    ("product", "(v * {c}) % {m}", "(v * {c}) modulo {m}"),
    ("distance", "abs(v - {m}) + {c}", "|v - {m}| + {c}"),
    ("sum", "v + {c} * (v % {m})", "v + {c} * (v modulo {m})"),
)
"""Kind, expression and text of the points for an element v."""


@dataclass(frozen=True, slots=True)
class _EndGame:
    level: int
    m: int
    c: int
    worth: tuple[str, str, str]
    tie: str
    """The end to take if both give the same points."""
    most: int
    """Maximum number of elements that a move takes from the front."""
    second: bool
    """Whether Bo moves first."""

    def points(self, v: int) -> int:
        kind = self.worth[0]
        if kind == "product":
            return v * self.c - v * self.c // self.m * self.m
        if kind == "distance":
            return max(v - self.m, self.m - v) + self.c
        return v * (1 + self.c) - self.c * self.m * (v // self.m)


def _draw_game(rng: Random, level: int) -> _EndGame:
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
    text = WORDINGS.source(
        f"end game solution {level}",
        worth=worth.format(c=game.c, m=game.m),
        op=">=" if game.tie == "left" else ">",
        turn=int(game.second),
        first="-" if game.second else "",
        most=game.most,
    )
    return Problem(
        _end_game_statement(game),
        f"a: ints -> {'ints' if level == 1 else 'int'}",
        text,
        partial(_end_game_brute, game),
        lambda r: (integers(r, 4, 10 if level == 1 else 8, 0, 50),),
        key,
        (([6],),),
    )


def _end_game_statement(game: _EndGame) -> str:
    starter = "Bo" if game.second else "Ann"
    worth = game.worth[2].format(c=game.c, m=game.m)
    start = WORDINGS.one("end game statement start", starter=starter, worth=worth)
    aim = WORDINGS.one("end game statement aim")
    return start + WORDINGS.one(f"end game {game.level}", game=game, aim=aim)


def _end_game_brute(game: _EndGame, a: list[int]) -> Any:
    points = [game.points(v) for v in a]
    if game.level == 1:
        return _greedy(points, game.tie == "left", game.second)
    return (-1 if game.second else 1) * _best(points, game.most if game.level == 3 else 1)


def _greedy(points: list[int], left: bool, second: bool) -> list[int]:
    remaining, moves = points[:], []
    while remaining:
        ends = (remaining[0], remaining[-1])
        front = ends[0] == max(ends) if left else ends[1] != max(ends)
        moves.append(remaining.pop(0 if front else -1))
    shares = [sum(moves[::2]), sum(moves[1::2])]
    return shares[::-1] if second else shares


def _best(points: list[int], most: int) -> int:
    """Return the final lead of the player to move under optimal play, by exhaustive search."""
    if not points:
        return 0
    lines = [points[-1] - _best(points[:-1], most)]
    for k in range(1, min(most, len(points)) + 1):
        lines.append(sum(points[:k]) - _best(points[k:], most))
    return max(lines)


FAMILIES = (code_family("end_games", "greedy and optimal play from a list's ends", _end_game),)
