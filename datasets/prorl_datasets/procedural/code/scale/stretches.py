"""Long lists: windows, neighbours that are greater, longest stretches, increasing subsequences, cuts.

Monotonic queues and stacks, two pointers, binary search on the answer. Leaves out: counting pairs (``pairs``).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list

_MOD = 1_000_003


def _extremes(rng: Random, level: int) -> Problem:
    share = rng.choice((2, 3, 4, 5))
    window = f"w = max(1, n div {share})"
    each = {
        1: "the largest element of the window",
        2: "the largest minus the smallest element of the window",
        3: "the largest element times the smallest element of the window",
    }[level]
    body = (
        f"A window is w consecutive elements of `a`, where {window}. Take {each}, for each of the "
        f"n - w + 1 windows, and give the sum of these numbers modulo {_MOD}."
    )
    value = {1: "top[0]", 2: "top[0] - low[0]", 3: "top[0] * low[0]"}[level]
    solution = f"""
from collections import deque


def slide(a, w, sign):
    places, out = deque(), []
    for i, v in enumerate(a):
        while places and sign * a[places[-1]] <= sign * v:
            places.pop()
        places.append(i)
        if places[0] <= i - w:
            places.popleft()
        if i >= w - 1:
            out.append(a[places[0]])
    return out


def of_list(a):
    w = max(1, len(a) // {share})
    total = 0
    for top, low in zip(zip(slide(a, w, 1)), zip(slide(a, w, -1))):
        total += {value}
    return total % {_MOD}
"""

    def brute(a: list[int]) -> int:
        w = max(1, len(a) // share)
        parts = [sorted(a[i : i + w]) for i in range(len(a) - w + 1)]
        found = {
            1: sum(part[-1] for part in parts),
            2: sum(part[-1] - part[0] for part in parts),
            3: sum(part[-1] * part[0] for part in parts),
        }
        return found[level] % _MOD

    return long_list(
        rng, (1, rng.choice((99, 9999))), body, solution, brute, {"share": share, "level": level}
    )


def _neighbours(rng: Random, level: int) -> Problem:
    greater = rng.random() < 0.5
    side = rng.choice(("left", "right"))
    word = "greater" if greater else "smaller"
    sign = ">" if greater else "<"
    worth = {
        1: "the distance of the two places",
        2: "the value of that element",
        3: "the distance of the two places times the value of that element",
    }[level]
    body = (
        f"For an element of `a` look for the nearest one to its {side} that is {word}. If there is one, take {worth}, "
        f"else 0. Give the sum over all elements, modulo {_MOD}."
    )
    value = {1: "abs(i - j)", 2: "a[j]", 3: "abs(i - j) * a[j]"}[level]
    order = "range(len(a))" if side == "left" else "range(len(a) - 1, -1, -1)"
    solution = f"""
def of_list(a):
    waiting, total = [], 0
    for i in {order}:
        while waiting and not a[waiting[-1]] {sign} a[i]:
            waiting.pop()
        if waiting:
            j = waiting[-1]
            total += {value}
        waiting.append(i)
    return total % {_MOD}
"""

    def nearest(a: list[int], i: int) -> Iterable[int]:
        places = range(i - 1, -1, -1) if side == "left" else range(i + 1, len(a))
        return [j for j in places if (a[j] > a[i]) == greater and a[j] != a[i]][:1]

    def brute(a: list[int]) -> int:
        found = [(abs(i - j), a[j]) for i in range(len(a)) for j in nearest(a, i)]
        return sum({1: d, 2: v, 3: d * v}[level] for d, v in found) % _MOD

    key = {"greater": greater, "side": side, "level": level}
    return long_list(rng, (1, rng.choice((50, 999, 99999))), body, solution, brute, key)


def _distinct(rng: Random, level: int) -> Problem:
    k = rng.randint(2, 20)
    most = f"at most {k} different values"
    if level == 1:
        body = f"How long is the longest contiguous part of `a` that holds {most}?"
    elif level == 2:
        body = f"How many contiguous parts of `a` (of at least one element) hold {most}?"
    else:
        body = f"How many contiguous parts of `a` hold exactly {k} different values?"
    answer = {
        1: "spread(a, K)[0]",
        2: "spread(a, K)[1]",
        3: "spread(a, K)[1] - spread(a, K - 1)[1]",
    }
    solution = f"""
def spread(a, k):
    counts, start, longest, total = {{}}, 0, 0, 0
    for end, v in enumerate(a):
        counts[v] = counts.get(v, 0) + 1
        while len(counts) > k:
            first = a[start]
            counts[first] -= 1
            if not counts[first]:
                del counts[first]
            start += 1
        longest = max(longest, end + 1 - start)
        total += end + 1 - start
    return longest, total


def of_list(a):
    return {answer[level].replace("K", str(k))}
"""

    def brute(a: list[int]) -> int:
        parts = [a[i:j] for i, j in combinations(range(len(a) + 1), 2)]
        if level == 3:
            return sum(len(set(part)) == k for part in parts)
        few = [len(part) for part in parts if len(set(part)) <= k]
        return max(few) if level == 1 else len(few)

    return long_list(
        rng,
        (0, rng.randint(k + 2, 4 * k)),
        body,
        solution,
        brute,
        {"k": k, "level": level},
        small=50,
    )


def _increasing(rng: Random, level: int) -> Problem:
    gap = {1: 1, 2: 0, 3: rng.randint(2, 30)}[level]
    told = {
        1: "strictly increasing",
        2: "never decreasing",
        3: f"such that each element is greater than the one before by at least {gap}",
    }[level]
    body = (
        f"Elements of `a` may be deleted, the rest keeps its order. What is the largest number of elements "
        f"that can be left when they are to be {told}?"
    )
    solution = f"""
from bisect import bisect_right


def of_list(a):
    ends = []
    for v in a:
        place = bisect_right(ends, v - {gap})
        if place == len(ends):
            ends.append(v)
        else:
            ends[place] = min(ends[place], v)
    return len(ends)
"""

    def brute(a: list[int]) -> int:
        best = [1] * len(a)
        for i in range(len(a)):
            for j in range(i):
                if a[i] - a[j] >= gap:
                    best[i] = max(best[i], best[j] + 1)
        return max(best)

    return long_list(rng, (0, rng.choice((500, 20000, 99999))), body, solution, brute, {"gap": gap})


def _cuts(rng: Random, level: int) -> Problem:
    share = rng.choice((3, 4, 6, 9, 15))
    parts = f"k = 1 + n div {share}"
    if level == 1:
        body = (
            f"`a` is cut into at most k contiguous parts, where {parts}, so that the largest sum of a part is as small as "
            "possible. Give that sum."
        )
        test = "count_parts(a, middle) <= k"
    elif level == 2:
        body = (
            f"A machine makes one batch a day out of the next elements of `a`, in order, as many as do not together exceed its "
            f"capacity. What is the least capacity with which k days are enough, where {parts}?"
        )
        test = "count_parts(a, middle) <= k"
    else:
        body = (
            f"`a` is cut into exactly k contiguous parts, where {parts} (at most n), so that the smallest sum of a part is "
            "as large as possible. Give that sum."
        )
        test = ""
    if level < 3:
        solution = f"""
def count_parts(a, most):
    parts, total = 1, 0
    for v in a:
        if total + v > most:
            parts, total = parts + 1, 0
        total += v
    return parts


def of_list(a):
    k = 1 + len(a) // {share}
    low, high = max(a), sum(a)
    while low < high:
        middle = (low + high) // 2
        if {test}:
            high = middle
        else:
            low = middle + 1
    return low
"""
    else:
        solution = f"""
def full_parts(a, least):
    parts, total = 0, 0
    for v in a:
        total += v
        if total >= least:
            parts, total = parts + 1, 0
    return parts


def of_list(a):
    k = min(len(a), 1 + len(a) // {share})
    low, high = min(a), sum(a)
    while low < high:
        middle = (low + high + 1) // 2
        if full_parts(a, middle) >= k:
            low = middle
        else:
            high = middle - 1
    return low
"""

    def brute(a: list[int]) -> int:
        k = min(len(a), 1 + len(a) // share)
        sums = [
            [sum(a[i:j]) for i, j in zip((0, *cut), (*cut, len(a)), strict=True)]
            for cut in combinations(range(1, len(a)), k - 1)
        ]
        return max(map(min, sums)) if level == 3 else min(map(max, sums))

    return long_list(
        rng, (1, rng.choice((30, 900))), body, solution, brute, {"share": share, "level": level}
    )


FAMILIES = (
    code_family("long_window_extremes", "extremes of the windows of a long list", _extremes),
    code_family(
        "long_nearest_greater", "the nearest greater or smaller element in a long list", _neighbours
    ),
    code_family(
        "long_distinct_values",
        "parts of a long list by their number of different values",
        _distinct,
    ),
    code_family("long_subsequences", "longest increasing subsequences of a long list", _increasing),
    code_family("long_cuts", "a long list cut so that the sums are even", _cuts),
)
"""Families of stretches of long lists."""
