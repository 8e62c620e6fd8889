"""Problems on pairs and triples of indices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A problem on sums p*a[i] + q*a[j] (at level 3: + s*a[k]) that equal ``r`` modulo ``m``."""

    level: int
    p: int
    q: int
    s: int
    m: int
    apart: int
    r: int


def _draw_pairs(rng: Random, level: int) -> _Pairs:
    m = rng.randint(5, 12)
    p, q, s = (rng.randint(1, m - 1) for _ in range(3))
    apart, x, y = rng.randint(1, 3), rng.randint(0, 9), rng.randint(0, 9)
    return _Pairs(level, p, q, s, m, apart, (p * x + q * y) % m)


def _pairs(rng: Random, level: int) -> Problem:
    rule = _draw_pairs(rng, level)
    p, q, s, m, apart = rule.p, rule.q, rule.s, rule.m, rule.apart
    key = {"level": level, "p": p, "q": q, "m": m, "r": rule.r}
    key |= {"apart": apart} if level == 2 else {}
    key |= {"s": s} if level == 3 else {}
    factors = [(rule.p, "a[i]"), (rule.q, "a[j]"), (rule.s, "a[k]")][: 3 if rule.level == 3 else 2]
    terms = " + ".join(name if factor == 1 else f"{factor}*{name}" for factor, name in factors)
    who = "pairs of indices i < j" if rule.level < 3 else "triples of indices i < j < k"
    far = f" with j - i at least {rule.apart}" if rule.level == 2 else ""
    task = "Give the number of such pairs."
    if rule.level > 1:
        task = f"Give the number of such {who.split()[0]} plus the sum of their indices i."
    return Problem(
        WORDINGS.one("pairs statement", who=who, far=far, terms=terms, rule=rule, what=task),
        "a: ints -> int",
        WORDINGS.source(f"pairs solution {level}", p=p, q=q, s=s, m=m, r=rule.r, apart=apart),
        partial(_pairs_brute, rule),
        lambda r: (integers(r, 7, 24 if level < 3 else 16, -30, 60),),
        key,
        (([3],),),
    )


def _pairs_brute(rule: _Pairs, a: list[int]) -> int:
    total = 0
    for at in combinations(range(len(a)), 2 if rule.level < 3 else 3):
        value = sum(f * a[i] for f, i in zip((rule.p, rule.q, rule.s), at, strict=False))
        near = rule.level == 2 and at[1] - at[0] < rule.apart
        if (value - rule.r) % rule.m == 0 and not near:
            total += 1 if rule.level == 1 else 1 + at[0]
    return total


_FACTORS = ((1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (3, 4), (4, 3))
"""Coprime factors of a[i] and a[j]."""


@dataclass(frozen=True, slots=True)
class _Inversions:
    """A problem on pairs i < j: e*a[i] must exceed f*a[j] + shift, or be less if ``down`` is False."""

    level: int
    e: int
    f: int
    k: int
    down: bool
    only: Condition

    @property
    def shift(self) -> int:
        return self.k if self.down else -self.k

    @property
    def bound(self) -> str:
        shift = self.shift
        bound = _scaled(self.f, "a[j]")
        return bound + (f" + {shift}" if shift > 0 else f" - {-shift}" if shift else "")


def _scaled(factor: int, name: str) -> str:
    return f"{factor} * {name}" if factor > 1 else name


def _inversions(rng: Random, level: int) -> Problem:
    e, f = rng.choice(_FACTORS)
    k, down = rng.randint(-30, 35), rng.random() < 0.5
    rule = _Inversions(level, e, f, k, down, condition(rng, -9, 30))
    key: dict[str, Any] = {"level": level, "e": e, "f": f, "k": k, "down": down}
    key |= {"condition": rule.only.key} if level > 1 else {}
    gold = WORDINGS.source(
        f"inversions solution {level}",
        gap=rule.bound,
        scaled=_scaled(e, "v"),
        cmp=">" if down else "<",
        cond=rule.only.on("v"),
        count="len(seen) - bisect_right(seen, bound)" if down else "bisect_left(seen, bound)",
    )
    task = WORDINGS.one(f"inversions {rule.level}")
    only = f" and a[i] is {rule.only.text}" if rule.level > 1 else ""
    return Problem(
        "`a` is a list of at most 24 integers; indices count from 0. Consider the pairs of indices "
        f"i < j for which {_scaled(rule.e, 'a[i]')} {'>' if rule.down else '<'} {rule.bound}{only}. {task}.",
        f"a: ints -> {'ints' if level == 3 else 'int'}",
        gold,
        partial(_inversions_brute, rule),
        lambda r: (integers(r, 7, 8 + 5 * level, -9, 30),),
        key,
        (([],),),
    )


def _inversions_brute(rule: _Inversions, a: list[int]) -> Any:
    side = 1 if rule.down else -1
    hits = [
        (i, j)
        for i, j in combinations(range(len(a)), 2)
        if side * (rule.e * a[i] - rule.f * a[j] - rule.shift) > 0
        and (rule.level == 1 or rule.only.holds(a[i]))
    ]
    if rule.level == 1:
        return len(hits)
    if rule.level == 2:
        return sum(a[i] for i, _ in hits) - sum(a[j] for _, j in hits)
    return [len([h for h in hits if h[1] == j]) for j in range(len(a))]


FAMILIES = (
    code_family("list_pairs_modulo", "pairs of places under a congruence", _pairs),
    code_family("list_inversions", "generalised inversions", _inversions),
)
