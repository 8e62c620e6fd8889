"""Code problems on choosing things by weight, solved by dynamic programming.

Leaves out: coins (``dp.coins``), jumps (``dp.jumps``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_KNAPSACK_GOLD = {
    1: """
    def solve(a, cap):
        reached = {0}
        for w in a:
            if not $cond:
                reached |= {s + w for s in reached if s + w <= cap}
        return $f * max(reached) + $r0
    """,
    2: """
    def solve(a, cap):
        best = [[0] * (cap + 1) for _ in range($most + 1)]
        for w in a:
            v = 0 if $cond else w + w * $f % $m
            for k in range($most, 0, -1):
                for s in range(cap, w - 1, -1):
                    best[k][s] = max(best[k][s], best[k - 1][s - w] + v)
        return best[$most][cap]
    """,
    3: """
    def solve(a, cap):
        states = [{(0, 0): (0, 1)}]
        for i, w in enumerate(a):
            v = 0 if $cond else w + w * $f % $m
            new = dict(states[-1])
            for (s, k), (worth, ways) in states[max(0, i - $q + 1)].items():
                if s + w <= cap:
                    at = (s + w, (k + 1) % 3)
                    old = new.get(at, (0, 0))
                    new[at] = (max(old[0], worth + v), old[1] + ways)
            states.append(new)
        ends = [end for (s, k), end in states[-1].items() if k != $r0 % 2 + 1]
        return [max(worth for worth, _ in ends), sum(ways for _, ways in ends)]
    """,
}


@dataclass(frozen=True, slots=True)
class _Knapsack:
    """What is drawn for one problem on choosing things by weight."""

    level: int
    cond: Condition
    factor: int
    modulus: int
    most: int
    shift: int
    apart: int


def _draw_knapsack(rng: Random, level: int) -> _Knapsack:
    c, f, m = condition(rng, 1, 20), rng.randint(2, 9), rng.randint(5, 19)
    most, r0, q = rng.randint(2, 4), rng.randint(0, 3), rng.randint(2, 4)
    return _Knapsack(level, c, f, m, most, r0, q)


def _knapsack_statement(p: _Knapsack) -> str:
    head = (
        "`a` is a list of at most 9 positive integers, the weights of things, and `cap` is "
        "an integer, 0 <= cap <= 100. "
    )
    value = (
        f"A thing of weight w is worth w + (w*{p.factor}) modulo {p.modulus}"
        + f", but nothing if w is {p.cond.text}. "
    )
    what = {
        1: f"Things whose weight is {p.cond.text} may not be chosen. Choose some of the others "
        "(each at most once, or none) so that their total weight is at most cap. Give "
        f"{p.factor} times the largest total weight possible, plus {p.shift}.",
        2: f"{value}Choose at most {p.most} things (each at most once, or none) with a total "
        "weight of at most cap. Give the largest total worth possible.",
        3: f"{value}Choose some of the things (or none) with a total weight of at most cap, "
        f"but never two that are less than {p.apart} places apart in the list, and so that the "
        f"number of the chosen things is not congruent to {p.shift % 2 + 1} modulo 3. "
        "Give a list of two integers: the largest total worth possible, and the number "
        "of different choices that are allowed (also those of smaller worth).",
    }[p.level]
    return head + what


def _knapsack_brute(p: _Knapsack, a: list[int], cap: int) -> Any:
    kept = [w for w in a if p.level > 1 or not p.cond.holds(w)]
    worths = []
    for size in range(len(kept) + 1 if p.level != 2 else p.most + 1):
        if p.level == 3 and size % 3 == p.shift % 2 + 1:
            continue
        for at in combinations(range(len(kept)), size):
            if sum(kept[i] for i in at) > cap:
                continue
            if p.level == 3 and any(j - i < p.apart for i, j in pairwise(at)):
                continue
            chosen = [kept[i] for i in at]
            worths.append(
                sum(chosen)
                if p.level == 1
                else sum(w + (w * p.factor) % p.modulus for w in chosen if not p.cond.holds(w))
            )
    top = max(worths)
    return [top, len(worths)] if p.level == 3 else top if p.level == 2 else p.factor * top + p.shift


def _knapsack_draw(p: _Knapsack, r: Random) -> tuple[list[int], int]:
    a = integers(r, 4, 9, 1, 20)
    return a, r.randint(0, min(100, sum(a)))


def _knapsack(rng: Random, level: int) -> Problem:
    p = _draw_knapsack(rng, level)
    key: dict[str, Any] = {"level": p.level, "condition": p.cond.key, "f": p.factor}
    key |= (
        {"r": p.shift},
        {"m": p.modulus, "most": p.most},
        {"m": p.modulus, "r": p.shift % 2, "q": p.apart},
    )[p.level - 1]
    text = source(
        _KNAPSACK_GOLD[p.level],
        cond=p.cond.on("w"),
        f=p.factor,
        m=p.modulus,
        most=p.most,
        r0=p.shift,
        q=p.apart,
    )
    inputs = (("a", "ints"), ("cap", "int"))
    return Problem(
        _knapsack_statement(p),
        inputs,
        "ints" if p.level == 3 else "int",
        text,
        partial(_knapsack_brute, p),
        partial(_knapsack_draw, p),
        key,
        (([], 5),),
    )


FAMILIES = (code_family("knapsacks", "choices under a weight limit", _knapsack),)
