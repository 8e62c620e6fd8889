"""Code problems on counting in a circle.

Leaves out: robots (``simulation.robots``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    Condition,
    condition,
    integers,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_CIRCLES_GOLD = {
    1: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        while a:
            i = (i + $k - 1) % len(a)
            out.append(a.pop(i) + $f * (len(out) + 1))
        return out
    """,
    2: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        goal = $k
        while len(a) > $left:
            i = (i + goal - 1) % len(a)
            v = a.pop(i)
            out.append(v)
            goal = $k + $f if $cond else $k
        return out + a
    """,
    3: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        goal = $k
        way = 1
        while a:
            i = (i + way * (goal - 1)) % len(a)
            v = a.pop(i)
            out.append(v)
            goal = 1 + v * $f % $m
            if $cond:
                way = -way
            if way < 0:
                i -= 1
        return out
    """,
}


@dataclass(frozen=True, slots=True)
class _Circle:
    """What is drawn for one problem on counting in a circle."""

    level: int
    count: int
    factor: int
    modulus: int
    cond: Condition
    start: int
    left: int


def _draw_circle(rng: Random, level: int) -> _Circle:
    k, f, m = rng.randint(2, 12), rng.randint(1, 9), rng.randint(10, 20)
    c, start, left = condition(rng, 1, 40), rng.randint(1, 4), rng.randint(1, 3)
    return _Circle(level, k, f, m, c, start, left)


def _circle_statement(p: _Circle) -> str:
    head = (
        "`a` is a list of 1 to 16 positive integers that stand in a circle; after the last "
        "element comes the first. "
    )
    count = (
        f"Counting starts at the {('first', 'second', 'third', 'fourth')[p.start - 1]} element "
        "(going round if there are fewer) with 1. "
    )
    what = {
        1: f"The element at which the count reaches {p.count} is taken out, and counting starts "
        "again with 1 at the element after it, until the circle is empty. Give the list "
        f"of the elements in the order in which they are taken out, each plus {p.factor} times "
        "its place in this order (1 for the first one taken out).",
        2: f"The element v at which the count reaches {p.count} is taken out, and counting starts "
        f"again with 1 at the element after it; but if v is {p.cond.text}, the next count goes "
        f"to {p.count + p.factor} instead of {p.count} (only the next one). This goes on until at "
        "most "
        f"{p.left} elements are left. Give the elements taken out, in order, followed by "
        "those left, in the order of `a`.",
        3: f"The element v at which the count reaches {p.count} is taken out; counting starts "
        "again with 1 at the neighbour that is next in the direction of counting, and "
        f"goes to 1 + (v*{p.factor}) modulo {p.modulus}. The direction is at first that of `a`; "
        f"if v is {p.cond.text}, it is reversed before the count starts again. This goes on "
        "until the circle is empty. Give the list of the elements in the order in which "
        "they are taken out.",
    }[p.level]
    return head + count + what


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
    p = _draw_circle(rng, level)
    key: dict[str, Any] = {"level": p.level, "k": p.count, "f": p.factor, "start": p.start}
    key |= (
        {},
        {"condition": p.cond.key, "left": p.left},
        {"condition": p.cond.key, "m": p.modulus},
    )[p.level - 1]
    text = source(
        _CIRCLES_GOLD[p.level],
        k=p.count,
        f=p.factor,
        m=p.modulus,
        start=p.start,
        left=p.left,
        cond=p.cond.on("v"),
    )
    return Problem(
        _circle_statement(p),
        (("a", "ints"),),
        "ints",
        text,
        partial(_circle_brute, p),
        lambda r: (integers(r, 4, 9 + 2 * p.level, 1, 40),),
        key,
        (([3],),),
    )


FAMILIES = (code_family("counting_circles", "counting out", _circles),)
