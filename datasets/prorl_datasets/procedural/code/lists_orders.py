"""Code problems on pairs, triples, inversions and order under drawn keys.

Leaves out: contiguous parts (``lists_windows``) and games (``lists_games``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, ordinal, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_PAIRS_GOLD = {
    1: """
    def solve(a):
        seen = [0] * $m
        total = 0
        for v in a:
            for x in range($m):
                if ($p * x + $q * v - $r) % $m == 0:
                    total += seen[x]
            seen[v % $m] += 1
        return total
    """,
    2: """
    def solve(a):
        seen = [0] * $m
        total = 0
        for j, v in enumerate(a):
            if j >= $apart:
                seen[a[j - $apart] * $p % $m] += 1 + j - $apart
            total += seen[($r - $q * v) % $m]
        return total
    """,
    3: """
    def solve(a):
        one = [0] * $m
        two = [0] * $m
        total = 0
        for i, v in enumerate(a):
            total += two[($r - $s * v) % $m]
            for x in range($m):
                two[(x + $q * v) % $m] += one[x]
            one[$p * v % $m] += 1 + i
        return total
    """,
}


def _pairs(rng: Random, level: int) -> Problem:
    p, q, s, m = rng.randint(1, 4), rng.randint(1, 5), rng.randint(1, 5), rng.randint(3, 11)
    apart, x, y = rng.randint(1, 3), rng.randint(0, 9), rng.randint(0, 9)
    r0 = (p * x + q * y) % m
    terms = f"{p}*a[i] + {q}*a[j]" if level < 3 else f"{p}*a[i] + {q}*a[j] + {s}*a[k]"
    who = "pairs of indices i < j" if level < 3 else "triples of indices i < j < k"
    far = f" with j - i at least {apart}" if level == 2 else ""
    what = "Give the number of such pairs."
    if level > 1:
        what = f"Give the number of such {who.split()[0]} plus the sum of their indices i."
    statement = (
        f"`a` is a list of at most 24 integers; indices count from 0. Consider the {who}{far} for "
        f"which {terms} is congruent to {r0} modulo {m}. {what}"
    )
    gold = _PAIRS_GOLD[level]

    def brute(a: list[int]) -> int:
        total = 0
        for at in combinations(range(len(a)), 2 if level < 3 else 3):
            value = sum(f * a[i] for f, i in zip((p, q, s), at, strict=False))
            if (value - r0) % m == 0 and (level != 2 or at[1] - at[0] >= apart):
                total += 1 if level == 1 else 1 + at[0]
        return total

    key = {"level": level, "p": p, "q": q, "m": m, "r": r0}
    key |= {"apart": apart} if level == 2 else {}
    key |= {"s": s} if level == 3 else {}
    return Problem(
        statement,
        _A,
        "int",
        source(gold, p=p, q=q, s=s, m=m, r=r0, apart=apart),
        brute,
        lambda r: (integers(r, 7, 24 if level < 3 else 16, -30, 60),),
        key,
        (([3],),),
    )


_INVERSIONS_GOLD = {
    1: """
    def solve(a):
        total = 0
        for j in range(len(a)):
            bound = $gap
            total += sum(1 for v in a[:j] if v $cmp bound)
        return total
    """,
    2: """
    def solve(a):
        total = 0
        for j in range(len(a)):
            bound = $gap
            for v in a[:j]:
                if v $cmp bound and $cond:
                    total += v - a[j]
        return total
    """,
    3: """
    from bisect import bisect_left, bisect_right, insort

    def solve(a):
        seen = []
        out = []
        for j in range(len(a)):
            bound = $gap
            out.append($count)
            v = a[j]
            if $cond:
                insort(seen, v)
        return out
    """,
}


def _inversions(rng: Random, level: int) -> Problem:
    f, k, down = rng.randint(1, 3), rng.randint(-25, 30), rng.random() < 0.5
    c = condition(rng, -9, 30)
    cmp = ">" if down else "<"
    shift = k if down else -k
    gap = f"{f} * a[j]" if f > 1 else "a[j]"
    gap += f" + {shift}" if shift > 0 else f" - {-shift}" if shift else ""
    what = {
        1: "Give the number of such pairs",
        2: "Give the sum of a[i] - a[j] over these pairs",
        3: "Give the list that holds, for each index j from left to right, the number of "
        "such pairs with that j",
    }[level]
    only = f" and a[i] is {c.text}" if level > 1 else ""
    statement = (
        "`a` is a list of at most 24 integers; indices count from 0. Consider the pairs "
        "of indices i < j for which "
        f"a[i] {cmp} {gap}{only}. {what}."
    )
    gold = _INVERSIONS_GOLD[level]
    count = "len(seen) - bisect_right(seen, bound)" if down else "bisect_left(seen, bound)"

    def brute(a: list[int]) -> Any:
        side = 1 if down else -1
        hits = [
            (i, j)
            for i, j in combinations(range(len(a)), 2)
            if side * (a[i] - f * a[j] - shift) > 0 and (level == 1 or c.holds(a[i]))
        ]
        if level == 1:
            return len(hits)
        if level == 2:
            return sum(a[i] for i, _ in hits) - sum(a[j] for _, j in hits)
        return [len([h for h in hits if h[1] == j]) for j in range(len(a))]

    key: dict[str, Any] = {"level": level, "f": f, "k": k, "down": down}
    key |= {"condition": c.key} if level > 1 else {}
    gold = source(gold, gap=gap, cmp=cmp, cond=c.on("v"), count=count)
    return Problem(
        statement,
        _A,
        "ints" if level == 3 else "int",
        gold,
        brute,
        lambda r: (integers(r, 7, 8 + 5 * level, -9, 30),),
        key,
        (([],),),
    )


Key = tuple[str, str, Callable[[int], int], tuple[str | int, ...]]


def _key(rng: Random) -> Key:
    """Return (text after "its", expression in v, function, canonical form)."""
    c, m = rng.randint(-5, 60), rng.randint(3, 40)
    kind = rng.choice(("remainder", "remainder", "distance", "distance", "digits", "multiple"))
    if kind == "remainder":
        return f"remainder modulo {m}", f"v % {m}", lambda v: v - v // m * m, (kind, m)
    if kind == "distance":
        text = f"distance to {c} (the absolute difference)"
        return text, f"abs(v - {c})", lambda v: max(v - c, c - v), (kind, c)
    if kind == "digits":
        text = f"digit sum multiplied by {m}, minus the value itself"
        code = f"{m} * sum(map(int, str(v))) - v"
        return text, code, lambda v: m * (v // 100 + v // 10 % 10 + v % 10) - v, (kind, m)
    text = f"quotient by {m} (rounded down)"
    return text, f"v // {m}", lambda v: int((v - v % m) / m), (kind, m)


_KEY_ORDERS_GOLD = {
    1: "def solve(a):\n    return sorted(a, key=lambda v: ($rank))",
    2: "def solve(a):\n    return sorted(a, key=lambda v: ($rank))[::$k]",
    3: """
    from bisect import insort

    def solve(a):
        best = []
        out = []
        for v in a:
            insort(best, ($rank, v))
            del best[$k:]
            if len(best) == $k:
                out.append(best[-1][-1])
        return out
    """,
}


def _key_orders(rng: Random, level: int) -> Problem:
    first, second = _key(rng), _key(rng)
    down, tie, k = rng.random() < 0.5, rng.random() < 0.5, rng.randint(2, 5)
    way = "decreasing" if down else "increasing"
    ties = f" Equal keys are ordered by {'decreasing' if tie else 'increasing'} value."
    base = (
        "`a` is a list of at most 20 integers from 0 to 999. The key of an element is its "
        f"{first[0]}."
    )
    if level == 2:
        ties = (
            f" Elements with equal keys are ordered by increasing {second[0]}, and where that "
            "is equal too, by increasing value."
        )
    what = {
        1: f" Give the elements of `a` sorted by {way} key.",
        2: f" Sort the elements by {way} key and give every {ordinal(k)} element of the sorted "
        "list, starting with its first.",
        3: f" Read `a` from left to right. As soon as at least {k} elements are read, note "
        "after each one the element that is the "
        f"{ordinal(k)} in the order of {way} key among those read so far. Give the list of the "
        f"notes (empty if `a` has fewer than {k} elements).",
    }[level]
    sign, tie_code = "-" if down else "", "-v" if tie and level != 2 else "v"
    rank = f"{sign}({first[1]}), {second[1] + ', ' if level == 2 else ''}{tie_code}"
    gold = _KEY_ORDERS_GOLD[level]

    def before(u: int, v: int) -> bool:
        x, y = first[2](u), first[2](v)
        if x != y:
            return (x > y) == down
        if level == 2 and second[2](u) != second[2](v):
            return second[2](u) < second[2](v)
        return u > v if tie and level != 2 else u < v

    def order(values: list[int]) -> list[int]:
        out: list[int] = []
        for v in values:
            place = 0
            while place < len(out) and before(out[place], v):
                place += 1
            out.insert(place, v)
        return out

    def brute(a: list[int]) -> list[int]:
        if level == 3:
            return [order(a[: i + 1])[k - 1] for i in range(k - 1, len(a))]
        return [v for i, v in enumerate(order(a)) if level == 1 or i % k == 0]

    key: dict[str, Any] = {"level": level, "key": first[3], "down": down}
    key |= {"second": second[3], "k": k} if level == 2 else {"tie": tie}
    key |= {"k": k} if level == 3 else {}
    return Problem(
        base + what + ties,
        _A,
        "ints",
        source(gold, rank=rank, k=k),
        brute,
        lambda r: (integers(r, 6, 8 + 4 * level, 0, 99 if level == 1 else 400),),
        key,
        (([],),),
    )


FAMILIES = (
    code_family("list_pairs_modulo", _pairs),
    code_family("list_inversions", _inversions),
    code_family("list_key_orders", _key_orders),
)
