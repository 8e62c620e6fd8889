"""Code problems on cutting a list into parts, solved by dynamic programming.

Leaves out: jumps (``dp.jumps``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)

_PARTITIONS_GOLD = {
    1: """
    def solve(a):
        sums = []
        for v in a:
            if sums and sums[-1] + v <= $limit:
                sums[-1] += v
            else:
                sums.append(v)
        return [$f + s % $m for s in sums]
    """,
    2: """
    def solve(a):
        n = len(a)
        best = {0: 0}
        for _ in range(min($k, n)):
            new = {}
            for i, cost in best.items():
                s = 0
                for j in range(i, n):
                    s += a[j]
                    total = cost + s % $m + ($f if $cond else 0)
                    new[j + 1] = $pick(new.get(j + 1, total), total)
            best = new
        return best[n]
    """,
    3: """
    def solve(a):
        best = [(0, 1)]
        for j in range(1, len(a) + 1):
            costs = []
            s = 0
            for i in range(j - 1, -1, -1):
                v = a[i]
                s += v
                cost = (j - i) ** 2 * $f + abs(s - $limit) + ($m if $first else 0)
                costs.append((best[i][0] + cost, best[i][1]))
            low = min(costs)[0]
            best.append((low, sum(ways for cost, ways in costs if cost == low)))
        return list(best[-1])
    """,
}


@dataclass(frozen=True, slots=True)
class _Partition:
    """What is drawn for one problem on cutting a list."""

    level: int
    limit: int
    parts: int
    factor: int
    cond: Condition
    best: str
    modulus: int


def _draw_partition(rng: Random, level: int) -> _Partition:
    limit, k, f = rng.randint(20, 60), rng.randint(2, 4), rng.randint(1, 9)
    c, best, m = condition(rng, 0, 20), rng.choice(("smallest", "largest")), rng.randint(4, 13)
    return _Partition(level, limit, k, f, c, best, m)


def _partition_statement(p: _Partition) -> str:
    head = (
        "`a` is a list of at most 11 non-negative integers, to be cut into parts of "
        "consecutive elements (every element is in exactly one part, no part is empty). "
    )
    what = {
        1: "Go from left to right and put each element into the current part as long as the "
        f"part's sum stays at most {p.limit}, else begin a new part with it (an element "
        f"above {p.limit} is a part by itself). Each part costs {p.factor} plus its sum modulo "
        f"{p.modulus}. Give the list of the costs of the parts, from left to right.",
        2: f"The list is cut into exactly {p.parts} parts, or into parts of one element if it has "
        f"fewer than {p.parts} elements. A part costs its sum modulo {p.modulus}, plus {p.factor} "
        "if its sum "
        f"is {p.cond.text}. Give the {p.best} possible total cost (0 if `a` is empty).",
        3: "The list may be cut into any number of parts. A part of the length s costs "
        f"s*s*{p.factor}, plus the absolute difference between its sum and {p.limit}, plus "
        f"{p.modulus} if "
        f"its first element is {p.cond.text}. Give a list of two integers: the smallest "
        "possible total cost, and the number of ways to cut the list that reach it ([0, "
        "1] if `a` is empty).",
    }[p.level]
    return head + what


def _partition_cost(p: _Partition, part: list[int]) -> int:
    s = sum(part)
    if p.level < 3:
        return s - s // p.modulus * p.modulus + p.factor * (p.level == 1 or p.cond.holds(s))
    return (
        p.factor * len(part) ** 2
        + max(s - p.limit, p.limit - s)
        + p.modulus * p.cond.holds(part[0])
    )


def _partition_brute(p: _Partition, a: list[int]) -> Any:
    if p.level == 1:
        costs, rest = [], [*a]
        while rest:
            size = max([1] + [j for j in range(1, len(rest) + 1) if sum(rest[:j]) <= p.limit])
            costs.append(_partition_cost(p, rest[:size]))
            rest = rest[size:]
        return costs
    if not a:
        return 0 if p.level == 2 else [0, 1]
    sizes = range(len(a)) if p.level == 3 else [min(p.parts, len(a)) - 1]
    totals = []
    for size in sizes:
        for cuts in combinations(range(1, len(a)), size):
            ends = [0, *cuts, len(a)]
            totals.append(sum(_partition_cost(p, a[i:j]) for i, j in pairwise(ends)))
    if p.level == 2:
        return min(totals) if p.best == "smallest" else max(totals)
    return [min(totals), totals.count(min(totals))]


def _partitions(rng: Random, level: int) -> Problem:
    p = _draw_partition(rng, level)
    key: dict[str, Any] = {"level": p.level, "f": p.factor, "m": p.modulus}
    key |= ({"limit": p.limit}, {"k": p.parts, "best": p.best}, {"limit": p.limit})[p.level - 1]
    key |= {"condition": p.cond.key} if p.level > 1 else {}
    text = source(
        _PARTITIONS_GOLD[p.level],
        limit=p.limit,
        f=p.factor,
        m=p.modulus,
        k=p.parts,
        cond=p.cond.on("s"),
        first=p.cond.on("v"),
        pick="min" if p.best == "smallest" else "max",
    )
    high = (11, 10, 8)[p.level - 1]
    return Problem(
        _partition_statement(p),
        _A,
        "int" if p.level == 2 else "ints",
        text,
        partial(_partition_brute, p),
        lambda r: (integers(r, 4, high, 0, 25),),
        key,
        (([],),),
    )


FAMILIES = (code_family("list_partitions", "a list cut into parts", _partitions),)
