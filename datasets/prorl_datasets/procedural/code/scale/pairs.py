"""Long lists: counting pairs, inversions and stretches without looking at each.

Remainder counts, two pointers, prefix sums, binary indexed trees. Leaves out: windows (``stretches``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list


def _sums(rng: Random, level: int) -> Problem:
    if level == 1:
        m, r = rng.randint(3, 40), rng.randint(0, 2)
        body = (
            f"How many pairs of indices i < j are there for which a[i] + a[j] leaves the remainder {r} "
            f"when divided by {m}?"
        )
        solution = f"""
def of_list(a):
    seen = [0] * {m}
    count = 0
    for v in a:
        count += seen[({r} - v) % {m}]
        seen[v % {m}] += 1
    return count
"""
        return long_list(
            rng,
            (0, rng.choice((999, 9999))),
            body,
            solution,
            lambda a: sum((x + y) % m == r for x, y in combinations(a, 2)),
            {"kind": "remainder", "m": m, "r": r},
            small=40,
        )
    width = rng.choice((600, 2000, 20000))
    low = rng.randint(width // 2, width)
    high = low + rng.randint(width // 20, width // 3)
    if level == 2:
        body = f"Count the pairs of indices i < j with {low} <= a[i] + a[j] <= {high}."
        solution = f"""
def of_list(a):
    a = sorted(a)

    def at_most(limit):
        count, j = 0, len(a) - 1
        for i in range(len(a)):
            while j >= 0 and a[i] + a[j] > limit:
                j -= 1
            count += j + 1 - (1 if j >= i else 0)
        return count // 2

    return at_most({high}) - at_most({low - 1})
"""
        return long_list(
            rng,
            (0, width),
            body,
            solution,
            lambda a: sum(low <= x + y <= high for x, y in combinations(a, 2)),
            {"kind": "band", "low": low, "high": high},
            small=40,
        )
    gap = rng.randint(2, 5)
    body = (
        f"Consider the pairs of indices i < j with j - i >= {gap} and |a[i] - a[j]| <= {high - low}. "
        "Give the number of these pairs."
    )
    reach = high - low
    solution = f"""
def of_list(a):
    tree = [0] * {width + 2}
    count = 0

    def upto(v):
        total, v = 0, min(v, {width}) + 1
        while v > 0:
            total += tree[v]
            v -= v & -v
        return total

    for j in range({gap}, len(a)):
        v = a[j - {gap}] + 1
        while v < len(tree):
            tree[v] += 1
            v += v & -v
        count += upto(a[j] + {reach}) - upto(a[j] - {reach} - 1)
    return count
"""

    def brute(a: list[int]) -> int:
        places = combinations(range(len(a)), 2)
        return sum(j - i >= gap and abs(a[i] - a[j]) <= reach for i, j in places)

    return long_list(
        rng, (0, width), body, solution, brute, {"kind": "near", "gap": gap, "reach": reach}
    )


def _inversions(rng: Random, level: int) -> Problem:
    factor = 1 if level == 1 else rng.randint(2, 4)
    shift = 0 if level < 3 else rng.randint(-40, 90)
    term = "a[j]" if factor == 1 else f"{factor} * a[j]"
    term += f" + {shift}" if shift > 0 else f" - {-shift}" if shift < 0 else ""
    body = f"Count the pairs of indices i < j for which a[i] > {term}."
    if level == 3:
        body += " Give two integers: that number, and the number of indices j that are part of no such pair as j."
    solution = f"""
from bisect import bisect_right


def of_list(a):
    values = sorted(set(a))
    tree = [0] * (len(values) + 1)
    count = alone = seen = 0
    for v in a:
        p, smaller = bisect_right(values, {factor} * v + {shift}), 0
        while p:
            smaller += tree[p]
            p -= p & -p
        count += seen - smaller
        alone += seen == smaller
        p = bisect_right(values, v)
        while p < len(tree):
            tree[p] += 1
            p += p & -p
        seen += 1
    return {"count" if level < 3 else "[count, alone]"}
"""

    def brute(a: list[int]) -> int | list[int]:
        found = [(i, j) for i, j in combinations(range(len(a)), 2) if a[i] > factor * a[j] + shift]
        return len(found) if level < 3 else [len(found), len(a) - len({j for _, j in found})]

    output = "int" if level < 3 else "ints"
    key = {"factor": factor, "shift": shift}
    return long_list(rng, (0, rng.choice((300, 5000, 99999))), body, solution, brute, key, output)


def _totals(rng: Random, level: int) -> Problem:
    rule: Callable[[int, int], bool]
    shape = "contiguous parts of `a` (of at least one element)"
    if level == 1:
        m = rng.randint(3, 60)
        body = f"Of all {shape}, how many have a sum that is divisible by {m}?"
        solution = f"""
def of_list(a):
    seen = [0] * {m}
    seen[0] = 1
    total = count = 0
    for v in a:
        total = (total + v) % {m}
        count += seen[total]
        seen[total] += 1
    return count
"""
        rule, key, low = (lambda s, _: s % m == 0), {"m": m}, -50
    elif level == 2:
        target = rng.randint(-30, 60)
        body = f"Of all {shape}, how many have the sum {target}?"
        solution = f"""
def of_list(a):
    seen = {{0: 1}}
    total = count = 0
    for v in a:
        total += v
        count += seen.get(total - {target}, 0)
        seen[total] = seen.get(total, 0) + 1
    return count
"""
        rule, key, low = (lambda s, _: s == target), {"target": target}, -25
    else:
        mean = rng.randint(20, 60)
        body = f"Of all {shape}, how many have a mean that is greater than {mean}?"
        solution = f"""
from bisect import bisect_left


def of_list(a):
    prefix = [0]
    for v in a:
        prefix.append(prefix[-1] + v - {mean})
    ranks = sorted(set(prefix))
    tree = [0] * (len(ranks) + 1)
    count = 0
    for value in prefix:
        place = bisect_left(ranks, value)
        p = place
        while p:
            count += tree[p]
            p -= p & -p
        p = place + 1
        while p < len(tree):
            tree[p] += 1
            p += p & -p
    return count
"""
        rule, key, low = (lambda s, k: s > mean * k), {"mean": mean}, 0

    def brute(a: list[int]) -> int:
        ends = combinations(range(len(a) + 1), 2)
        return sum(rule(sum(a[i:j]), j - i) for i, j in ends)

    return long_list(rng, (low, 80), body, solution, brute, key, small=50)


FAMILIES = (
    code_family("long_pair_sums", "pairs of a long list counted by their sum", _sums),
    code_family("long_inversions", "inversions of a long list", _inversions),
    code_family(
        "long_subarray_totals", "contiguous parts of a long list counted by their sum", _totals
    ),
)
"""Families of counting in long lists."""
