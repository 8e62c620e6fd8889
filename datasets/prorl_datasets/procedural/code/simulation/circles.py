"""Problems on counting in a circle."""

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
class _Circle:
    level: int
    count: int
    factor: int
    modulus: int
    cond: Condition
    start: int
    left: int


def _circle_brute(p: _Circle, a: list[int]) -> list[int]:
    ring = [*range(len(a))]
    for _ in range(p.start - 1):
        ring = ring[1:] + ring[:1]
    goal, out = p.count, []
    while len(ring) > (p.left if p.level == 2 else 0):
        for _ in range(goal - 1):
            ring = ring[1:] + ring[:1]
        v = a[ring[0]]
        ring = ring[1:]
        out.append(v)
        goal = (
            p.count + p.factor * p.cond.holds(v)
            if p.level == 2
            else p.count
            if p.level == 1
            else 1 + (v * p.factor) % p.modulus
        )
        if p.level == 3 and p.cond.holds(v):
            ring.reverse()
    if p.level == 1:
        return [v + p.factor * i for i, v in enumerate(out, 1)]
    return out + [a[i] for i in sorted(ring)]


def _circles(rng: Random, level: int) -> Problem:
    k, f, m = rng.randint(2, 12), rng.randint(1, 9), rng.randint(10, 20)
    c, start, left = condition(rng, 1, 40), rng.randint(1, 4), rng.randint(1, 3)
    p = _Circle(level, k, f, m, c, start, left)
    key: dict[str, Any] = {"level": p.level, "k": p.count, "f": p.factor, "start": p.start}
    key |= (
        {},
        {"condition": p.cond.key, "left": p.left},
        {"condition": p.cond.key, "m": p.modulus},
    )[p.level - 1]
    text = WORDINGS.source(f"circles solution {p.level}", p, cond=p.cond.on("v"))
    head = WORDINGS.one("circle statement head")
    count = WORDINGS.one(
        "circle statement count", p_word=("first", "second", "third", "fourth")[p.start - 1]
    )
    task = WORDINGS.one(
        f"circle {p.level}", p=p, text=p.cond.text, count_plus_factor=p.count + p.factor
    )
    return Problem(
        head + count + task,
        "a: ints -> ints",
        text,
        partial(_circle_brute, p),
        lambda r: (integers(r, 4, 9 + 2 * p.level, 1, 40),),
        key,
        (([3],),),
    )


FAMILIES = (code_family("counting_circles", "counting out", _circles),)
