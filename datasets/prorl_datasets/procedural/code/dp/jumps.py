"""Code problems on jumps along a list, solved by dynamic programming.

Leaves out: cutting a list (``dp.partitions``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_JUMPS_GOLD = {
    1: """
    def solve(a):
        best = [a[0]]
        for i in range(1, len(a)):
            best.append(a[i] - $fee + $pick(best[i - s] for s in $steps if s <= i))
        return best[-1]
    """,
    2: """
    def solve(a):
        worth = [v + ($fee if $cond else 0) for v in a]
        best = [{0: worth[0]}]
        for i in range(1, len(a)):
            here = {}
            for s in $steps:
                if s <= i:
                    here[s] = worth[i] + $pick(
                        score - ($fee if s < last else 0) for last, score in best[i - s].items()
                    )
            best.append(here)
        return $pick(best[-1].values())
    """,
    3: """
    def solve(a):
        worth = [v * ($fee if $cond else 1) for v in a]
        best = [{0: (1, worth[0])}]
        for i in range(1, len(a)):
            here = {}
            for s in $steps:
                before = [x for last, x in best[i - s].items() if last != s] if s <= i else []
                if before:
                    total = worth[i] + $pick(score for _, score in before)
                    here[s] = (sum(ways for ways, _ in before), total)
            best.append(here)
        if not best[-1]:
            return [0, 0]
        ends = best[-1].values()
        return [sum(ways for ways, _ in ends) % $m, $pick(score for _, score in ends)]
    """,
}


@dataclass(frozen=True, slots=True)
class _Jumps:
    """What is drawn for one problem on jumps along a list."""

    level: int
    steps: list[int]
    cond: Condition
    fee: int
    best: str
    modulus: int


def _draw_jumps(rng: Random, level: int) -> _Jumps:
    steps = sorted(rng.sample(range(1, 6), rng.randint(2, 3)))
    c, fee, best = condition(rng, 0, 20), rng.randint(2, 20), rng.choice(("smallest", "largest"))
    steps = [1, *steps[1:]]
    m = rng.choice((97, 101, 997, 1009))
    return _Jumps(level, steps, c, fee, best, m)


def _jumps_statement(p: _Jumps) -> str:
    head = (
        "`a` is a list of 1 to 14 integers. A walker stands at the first element and jumps "
        f"to the right by {', '.join(map(str, p.steps[:-1]))} or {p.steps[-1]} places at a time "
        "until exactly the last element is reached. "
    )
    what = {
        1: "The score of the way is the sum of the elements stood on, the first and the "
        f"last included, minus {p.fee} for each jump. Give the {p.best} possible score.",
        2: "The score of the way is the sum of the elements stood on, the first and the "
        f"last included, minus {p.fee} for each jump that is shorter than the jump before "
        f"it, and plus {p.fee} for each element stood on that is {p.cond.text}. Give the {p.best} "
        "possible score.",
        3: "No two jumps one right after the other may have the same length. Give a list of "
        f"two integers: the number of possible ways modulo {p.modulus}, and the {p.best} possible "
        "sum of the elements stood on, the first and the last included, where an element "
        f"that is {p.cond.text} counts {p.fee} times ([0, 0] if there is no way).",
    }[p.level]
    return head + what


def _jumps_brute(p: _Jumps, a: list[int]) -> Any:
    scores = []
    for jumps in _compositions(len(a) - 1, p.steps, p.level == 3):
        at, places = 0, [0]
        for jump in jumps:
            at += jump
            places.append(at)
        stood = [a[i] for i in places]
        hits = [v for v in stood if p.cond.holds(v)]
        drops = sum(x > y for x, y in pairwise(jumps))
        bonus = (-p.fee * len(jumps), p.fee * (len(hits) - drops), (p.fee - 1) * sum(hits))[
            p.level - 1
        ]
        scores.append(sum(stood) + bonus)
    if p.level == 3 and not scores:
        return [0, 0]
    top = min(scores) if p.best == "smallest" else max(scores)
    return [len(scores) % p.modulus, top] if p.level == 3 else top


def _jumps(rng: Random, level: int) -> Problem:
    p = _draw_jumps(rng, level)
    key: dict[str, Any] = {"level": p.level, "steps": p.steps, "fee": p.fee, "best": p.best}
    key |= {"condition": p.cond.key} if p.level > 1 else {}
    key |= {"m": p.modulus} if p.level == 3 else {}
    text = source(
        _JUMPS_GOLD[p.level],
        steps=p.steps,
        fee=p.fee,
        cond=p.cond.on("v"),
        m=p.modulus,
        pick="min" if p.best == "smallest" else "max",
    )
    high = 14 if p.level == 3 else 10
    return Problem(
        _jumps_statement(p),
        _A,
        "ints" if p.level == 3 else "int",
        text,
        partial(_jumps_brute, p),
        lambda r: (integers(r, 5, high, -9, 25),),
        key,
        (([7],),),
    )


def _compositions(n: int, steps: list[int], changing: bool, last: int = 0) -> list[list[int]]:
    if n == 0:
        return [[]]
    return [
        [s, *rest]
        for s in steps
        if s <= n and not (changing and s == last)
        for rest in _compositions(n - s, steps, changing, s)
    ]


FAMILIES = (code_family("jump_paths", "best ways along a list", _jumps),)
