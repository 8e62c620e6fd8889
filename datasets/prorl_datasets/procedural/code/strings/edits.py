"""Costs of turning one string into another.

Leaves out: palindromes (``strings.mirrors``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import draw_letters, listed, text_over


def _distance_gold(z: int, x: int, test: str, y: int) -> str:
    return f"""
        def solve(s, t):
            total = {z} * abs(len(s) - len(t))
            for a, b in zip(s, t):
                if a != b:
                    total += {x} if {test} else {y}
            return total
    """


def _distance(rng: Random) -> Problem:
    x, y, z = rng.randint(1, 30), rng.randint(1, 30), rng.randint(1, 9)
    vowels = rng.random() < 0.5
    test = 'a in "aeiou" and b in "aeiou"' if vowels else "abs(ord(a) - ord(b)) == 1"
    code = _distance_gold(z, x, test, y)

    def brute(s: str, t: str) -> int:
        total = 0
        for i in range(max(len(s), len(t))):
            a, b = s[i : i + 1], t[i : i + 1]
            if not a or not b:
                total += z
            elif a != b:
                near = (
                    {a, b} <= set("aeiou")
                    if vowels
                    else a + b in "abcdefghijklmnopqrstuvwxyz"
                    or b + a in "abcdefghijklmnopqrstuvwxyz"
                )
                total += x if near else y
        return total

    near = "both are vowels (a, e, i, o, u)" if vowels else "they are neighbours in the alphabet"
    return Problem(
        "Given two strings `s` and `t` of at most 100 lowercase letters, compare the letters at "
        "equal places: two different "
        f"letters cost {x} if {near} and {y} otherwise, equal letters cost nothing. Each letter by "
        "which one string is "
        f"longer than the other costs {z}. Find the total cost.",
        (("s", "str"), ("t", "str")),
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abcdefiou", 2, 12), text_over(r, "abcdefiou", 2, 12)),
        {"v": 1, "x": x, "y": y, "z": z, "vowels": vowels},
        (("", ""),),
    )


def _edit_gold(put: int, drop: int, cheap: str, change: int) -> str:
    return f"""
        def solve(s, t):
            row = [{put} * j for j in range(len(t) + 1)]
            for a in s:
                drop = {drop} if a not in "{cheap}" else 1
                following = [row[0] + drop]
                for j, b in enumerate(t):
                    best = min(row[j + 1] + drop, following[j] + {put})
                    best = min(best, row[j] + (0 if a == b else {change}))
                    following.append(best)
                row = following
            return row[-1]
    """


def _edit(rng: Random) -> Problem:
    put, drop, change = rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 20)
    cheap = draw_letters(rng, 3, "abcdef")
    code = _edit_gold(put, drop, cheap, change)

    def brute(s: str, t: str) -> int:
        @cache
        def cost(i: int, j: int) -> int:
            if i == len(s):
                return put * (len(t) - j)
            ways = [cost(i + 1, j) + (1 if cheap.count(s[i]) else drop)]
            if j < len(t):
                ways.append(cost(i, j + 1) + put)
                ways.append(cost(i + 1, j + 1) + change * (s[i] != t[j]))
            return min(ways)

        return cost(0, 0)

    return Problem(
        "Given two strings `s` and `t` of at most 200 letters from a to f, choose an alignment of "
        "them: every letter of s is either "
        "deleted or paired with a letter of t, pairs keep the order of both strings, and the "
        "letters of t that are not paired "
        f"are inserted. Deleting one of {listed(cheap)} costs 1, deleting another letter {drop}, "
        f"inserting a letter {put}, a pair of "
        f"different letters {change} and a pair of equal letters nothing. Find the least total "
        "cost.",
        (("s", "str"), ("t", "str")),
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abcdef", 2, 12), text_over(r, "abcdef", 2, 12)),
        {"v": 2, "put": put, "drop": drop, "change": change, "cheap": cheap},
        (("", "abc"),),
    )


def _align_gold(match: int, change: int, swap: int, more: int, start: int) -> str:
    return f"""
        def solve(s, t):
            low = -(10**9)
            n, m = len(s), len(t)
            best = [[[low] * 3 for _ in range(m + 1)] for _ in range(n + 1)]
            best[0][0][0] = 0
            for i in range(n + 1):
                for j in range(m + 1):
                    cell = best[i][j]
                    if i and j:
                        score = {match} if s[i - 1] == t[j - 1] else -{change}
                        cell[0] = max(best[i - 1][j - 1]) + score
                    if i > 1 and j > 1 and s[i - 2 : i] == t[j - 2 : j][::-1]:
                        cell[0] = max(cell[0], max(best[i - 2][j - 2]) - {swap})
                    if i:
                        before = best[i - 1][j]
                        cell[1] = max(before[1] - {more}, max(before[0], before[2]) - {start})
                    if j:
                        before = best[i][j - 1]
                        cell[2] = max(before[2] - {more}, max(before[0], before[1]) - {start})
            return max(best[n][m])
    """


def _align_brute(
    change: int, match: int, more: int, start: int, swap: int
) -> Callable[[str, str], int]:
    def brute(s: str, t: str) -> int:
        @cache
        def score(i: int, j: int, gap: int) -> int:
            """Return the best score of s[i:], t[j:]; the step before skipped in s (1), t (2)."""
            if i == len(s) and j == len(t):
                return 0
            ways = []
            if i < len(s):
                ways.append(score(i + 1, j, 1) - (more if gap == 1 else start))
            if j < len(t):
                ways.append(score(i, j + 1, 2) - (more if gap == 2 else start))
            if i < len(s) and j < len(t):
                ways.append(score(i + 1, j + 1, 0) + (match if s[i] == t[j] else -change))
            if len(s) - i > 1 and len(t) - j > 1 and s[i] == t[j + 1] and s[i + 1] == t[j]:
                ways.append(score(i + 2, j + 2, 0) - swap)
            return max(ways)

        return score(0, 0, 0)

    return brute


def _align(rng: Random) -> Problem:
    start, more, change, swap = (
        rng.randint(3, 15),
        rng.randint(1, 3),
        rng.randint(2, 12),
        rng.randint(1, 9),
    )
    match = rng.randint(1, 9)
    code = _align_gold(match, change, swap, more, start)

    brute = _align_brute(change, match, more, start, swap)

    return Problem(
        "Given two strings `s` and `t` of at most 100 letters from a to d, go through both from "
        "left to right in steps: a step pairs the "
        f"next letter of s with the next letter of t ({match} points if they are equal, -{change} "
        "if not), or skips the next letter of "
        "one string, or pairs the next two letters of s with the next two of t if they are the "
        "same two letters in "
        f"swapped order (-{swap} points). Skipping a letter gives -{more} points if the step just "
        "before skipped a letter of the same string, and "
        f"-{start} otherwise. Find the greatest total of points with which both strings are used "
        "up.",
        (("s", "str"), ("t", "str")),
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abcd", 2, 12), text_over(r, "abcd", 2, 12)),
        {"v": 3, "start": start, "more": more, "change": change, "swap": swap, "match": match},
        (("", ""),),
    )


FAMILIES = (
    code_family(
        "letter_alignments",
        "costs of two strings, place by place",
        leveled(_distance, _edit, _align),
    ),
)
