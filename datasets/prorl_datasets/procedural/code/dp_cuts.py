"""Code problems solved by dynamic programming along a list: jumps and partitions.

Leaves out: knapsacks and coins (``dp_choices``).
"""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, source
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


def _jumps(rng: Random, level: int) -> Problem:
    steps = sorted(rng.sample(range(1, 6), rng.randint(2, 3)))
    c, fee, best = condition(rng, 0, 20), rng.randint(2, 20), rng.choice(("smallest", "largest"))
    steps = [1, *steps[1:]]
    m = rng.choice((97, 101, 997, 1009))
    head = (
        "`a` is a list of 1 to 14 integers. A walker stands at the first element and jumps "
        f"to the right by {', '.join(map(str, steps[:-1]))} or {steps[-1]} places at a time "
        "until exactly the last element is reached. "
    )
    what = {
        1: "The score of the way is the sum of the elements stood on, the first and the "
        f"last included, minus {fee} for each jump. Give the {best} possible score.",
        2: "The score of the way is the sum of the elements stood on, the first and the "
        f"last included, minus {fee} for each jump that is shorter than the jump before "
        f"it, and plus {fee} for each element stood on that is {c.text}. Give the {best} "
        "possible score.",
        3: "No two jumps one right after the other may have the same length. Give a list of "
        f"two integers: the number of possible ways modulo {m}, and the {best} possible "
        "sum of the elements stood on, the first and the last included, where an element "
        f"that is {c.text} counts {fee} times ([0, 0] if there is no way).",
    }[level]
    gold = _JUMPS_GOLD[level]

    def brute(a: list[int]) -> Any:
        scores = []
        for jumps in _compositions(len(a) - 1, steps, level == 3):
            at, places = 0, [0]
            for jump in jumps:
                at += jump
                places.append(at)
            stood = [a[i] for i in places]
            hits = [v for v in stood if c.holds(v)]
            drops = sum(x > y for x, y in pairwise(jumps))
            bonus = (-fee * len(jumps), fee * (len(hits) - drops), (fee - 1) * sum(hits))[level - 1]
            scores.append(sum(stood) + bonus)
        if level == 3 and not scores:
            return [0, 0]
        top = min(scores) if best == "smallest" else max(scores)
        return [len(scores) % m, top] if level == 3 else top

    key: dict[str, Any] = {"level": level, "steps": steps, "fee": fee, "best": best}
    key |= {"condition": c.key} if level > 1 else {}
    key |= {"m": m} if level == 3 else {}
    text = source(
        gold, steps=steps, fee=fee, cond=c.on("v"), m=m, pick="min" if best == "smallest" else "max"
    )
    high = 14 if level == 3 else 10
    return Problem(
        head + what,
        _A,
        "ints" if level == 3 else "int",
        text,
        brute,
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


def _partitions(rng: Random, level: int) -> Problem:
    limit, k, f = rng.randint(20, 60), rng.randint(2, 4), rng.randint(1, 9)
    c, best, m = condition(rng, 0, 20), rng.choice(("smallest", "largest")), rng.randint(4, 13)
    head = (
        "`a` is a list of at most 11 non-negative integers, to be cut into parts of "
        "consecutive elements (every element is in exactly one part, no part is empty). "
    )
    what = {
        1: "Go from left to right and put each element into the current part as long as the "
        f"part's sum stays at most {limit}, else begin a new part with it (an element "
        f"above {limit} is a part by itself). Each part costs {f} plus its sum modulo "
        f"{m}. Give the list of the costs of the parts, from left to right.",
        2: f"The list is cut into exactly {k} parts, or into parts of one element if it has "
        f"fewer than {k} elements. A part costs its sum modulo {m}, plus {f} if its sum "
        f"is {c.text}. Give the {best} possible total cost (0 if `a` is empty).",
        3: "The list may be cut into any number of parts. A part of the length s costs "
        f"s*s*{f}, plus the absolute difference between its sum and {limit}, plus {m} if "
        f"its first element is {c.text}. Give a list of two integers: the smallest "
        "possible total cost, and the number of ways to cut the list that reach it ([0, "
        "1] if `a` is empty).",
    }[level]
    gold = _PARTITIONS_GOLD[level]

    def cost(part: list[int]) -> int:
        s = sum(part)
        if level < 3:
            return s - s // m * m + f * (level == 1 or c.holds(s))
        return f * len(part) ** 2 + max(s - limit, limit - s) + m * c.holds(part[0])

    def brute(a: list[int]) -> Any:
        if level == 1:
            costs, rest = [], [*a]
            while rest:
                size = max([1] + [j for j in range(1, len(rest) + 1) if sum(rest[:j]) <= limit])
                costs.append(cost(rest[:size]))
                rest = rest[size:]
            return costs
        if not a:
            return 0 if level == 2 else [0, 1]
        sizes = range(len(a)) if level == 3 else [min(k, len(a)) - 1]
        totals = []
        for size in sizes:
            for cuts in combinations(range(1, len(a)), size):
                ends = [0, *cuts, len(a)]
                totals.append(sum(cost(a[i:j]) for i, j in pairwise(ends)))
        if level == 2:
            return min(totals) if best == "smallest" else max(totals)
        return [min(totals), totals.count(min(totals))]

    key: dict[str, Any] = {"level": level, "f": f, "m": m}
    key |= ({"limit": limit}, {"k": k, "best": best}, {"limit": limit})[level - 1]
    key |= {"condition": c.key} if level > 1 else {}
    text = source(
        gold,
        limit=limit,
        f=f,
        m=m,
        k=k,
        cond=c.on("s"),
        first=c.on("v"),
        pick="min" if best == "smallest" else "max",
    )
    high = (11, 10, 8)[level - 1]
    return Problem(
        head + what,
        _A,
        "int" if level == 2 else "ints",
        text,
        brute,
        lambda r: (integers(r, 4, high, 0, 25),),
        key,
        (([],),),
    )


FAMILIES = (
    code_family("jump_paths", _jumps),
    code_family("list_partitions", _partitions),
)
