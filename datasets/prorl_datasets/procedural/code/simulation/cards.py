"""Problems on two-player card games."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Cards:
    level: int
    factor: int
    modulus: int
    bonus: int
    cond: Condition
    rounds: int
    high: bool

    @property
    def most(self) -> int:
        return self.rounds + (self.bonus if self.level == 3 else 0)


def _cards_lead(p: _Cards, x: int, y: int) -> int:
    """Return 1 if card x wins, -1 if card y wins, and 0 for a tie."""
    left, right = (v * p.factor - v * p.factor // p.modulus * p.modulus for v in (x, y))
    return ((left > right) - (left < right)) * (1 if p.high else -1)


def _cards_play(p: _Cards, a: list[int], b: list[int], table: list[int], played: int) -> list[int]:
    if not a or not b or played == p.most:
        return [*a, *([sum(table), sum(b)] if p.level == 3 else []), played]
    x, y, won = a[0], b[0], _cards_lead(p, a[0], b[0])
    stay = p.level == 3 and (won == 0 or p.cond.holds(x + y))
    table = [*table, x, y]
    if stay:
        return _cards_play(p, a[1:], b[1:], table, played + 1)
    if won > 0 or (won == 0 and p.level == 2):
        return _cards_play(p, a[1:] + table, b[1:], [], played + 1)
    return _cards_play(p, a[1:], b[1:] + (table[::-1] if p.level == 2 else table), [], played + 1)


def _cards_brute(p: _Cards, a: list[int], b: list[int]) -> list[int]:
    if p.level > 1:
        return _cards_play(p, a, b, [], 0)
    pairs = [(x, y, _cards_lead(p, x, y)) for x, y in zip(a, b, strict=False)]
    ann = sum(x + y + p.bonus * p.cond.holds(x) for x, y, won in pairs if won > 0)
    return [ann, sum(x + y + p.bonus * p.cond.holds(y) for x, y, won in pairs if won < 0)]


def _cards(rng: Random, level: int) -> Problem:
    f, m, bonus = rng.randint(1, 9), rng.randint(10, 23), rng.randint(1, 9)
    c, rounds, high = condition(rng, 1, 14), rng.randint(5, 15), rng.random() < 0.5
    p = _Cards(level, f, m, bonus, c, rounds, high)
    key: dict[str, Any] = {"level": p.level, "f": p.factor, "m": p.modulus, "high": p.high}
    key |= (
        {"condition": p.cond.key, "bonus": p.bonus},
        {"rounds": p.rounds},
        {"condition": p.cond.key, "rounds": p.most},
    )[p.level - 1]
    text = WORDINGS.source(
        f"cards solution {p.level}",
        p,
        cmp=">" if p.high else "<",
        rounds=p.most,
        cond=p.cond.on("v"),
    )
    head = WORDINGS.one("cards statement head", p=p)
    wins = f"the card with the {'larger' if p.high else 'smaller'} power wins"
    task = WORDINGS.one(
        f"cards {p.level}", wins=wins, p=p, text=p.cond.text, rounds_plus_bonus=p.rounds + p.bonus
    )
    return Problem(
        head + task,
        "a: ints, b: ints -> ints",
        text,
        partial(_cards_brute, p),
        lambda r: (integers(r, 3, 8, 1, 14), integers(r, 3, 8, 1, 14)),
        key,
    )


FAMILIES = (code_family("card_games", "card games by a rule", _cards),)
