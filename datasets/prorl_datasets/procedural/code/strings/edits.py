"""Problems on costs of turning one string into another."""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import draw_letters, listed, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _distance(rng: Random) -> Problem:
    x, y, z = rng.randint(1, 30), rng.randint(1, 30), rng.randint(1, 9)
    vowels = rng.random() < 0.5
    test = 'a in "aeiou" and b in "aeiou"' if vowels else "abs(ord(a) - ord(b)) == 1"
    code = WORDINGS.source("distance solution", z=z, x=x, test=test, y=y)

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
        WORDINGS.one("distance", x=x, near=near, y=y, z=z),
        "s: str, t: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abcdefiou", 2, 12), text_over(r, "abcdefiou", 2, 12)),
        {"v": 1, "x": x, "y": y, "z": z, "vowels": vowels},
        (("", ""),),
    )


def _edit(rng: Random) -> Problem:
    put, drop, change = rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 20)
    cheap = draw_letters(rng, 3, "abcdef")
    code = WORDINGS.source("edit solution", put=put, drop=drop, cheap=cheap, change=change)

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
        WORDINGS.one("edit", cheap=listed(cheap), drop=drop, put=put, change=change),
        "s: str, t: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abcdef", 2, 12), text_over(r, "abcdef", 2, 12)),
        {"v": 2, "put": put, "drop": drop, "change": change, "cheap": cheap},
        (("", "abc"),),
    )


def _align(rng: Random) -> Problem:
    start, more, change, swap = (
        rng.randint(3, 15),
        rng.randint(1, 3),
        rng.randint(2, 12),
        rng.randint(1, 9),
    )
    match = rng.randint(1, 9)
    code = WORDINGS.source(
        "align solution", match=match, change=change, swap=swap, more=more, start=start
    )

    def brute(s: str, t: str) -> int:
        @cache
        def score(i: int, j: int, gap: int) -> int:
            """Score the best alignment of s[i:] and t[j:]; ``gap`` is 1 or 2 after skipping a letter of s or t."""
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

    return Problem(
        WORDINGS.one("align", match=match, change=change, swap=swap, more=more, start=start),
        "s: str, t: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abcd", 2, 12), text_over(r, "abcd", 2, 12)),
        {"v": 3, "start": start, "more": more, "change": change, "swap": swap, "match": match},
        (("", ""),),
    )


FAMILIES = (
    leveled_family(
        "letter_alignments", "costs of two strings, place by place", _distance, _edit, _align
    ),
)
