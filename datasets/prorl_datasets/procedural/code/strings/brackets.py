"""Problems on levels, values and cheapest repairs of brackets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_PAIRS = ("()", "[]", "{}", "<>")

_LEVELS = (
    "the greatest level and the number of characters read when it is first reached",
    "the least level and the number of characters read when it is first reached",
    "the level at the end and the greatest level",
    "the sum of all levels and the level at the end",
    "the number of different levels and the greatest level minus the least one",
)


def _depth(rng: Random) -> Problem:
    pair, kind = (
        rng.choice((*_PAIRS, "/\\", "+-", "ud", "io", "xy", "ab", "pq", "LR", "UD", "01")),
        rng.randint(0, 4),
    )
    up, down = pair[0], pair[1]
    c = rng.randint(0, 9)
    start = rng.randint(0, 9)
    result = WORDINGS.all("depth")[kind]
    what = _LEVELS[kind]
    step = c + 1
    code = WORDINGS.source("depth solution", start=start, step=step, up=up, result=result)

    def brute(s: str) -> list[int]:
        path = [start + step * s[:i].count(up) - s[:i].count(down) for i in range(len(s) + 1)]
        high, low = max(path), min(path)
        first = {level: i for i, level in reversed(list(enumerate(path)))}
        return (
            [high, first[high]],
            [low, first[low]],
            [path[-1], high],
            [sum(path), path[-1]],
            [len(first), high - low],
        )[kind]

    return Problem(
        WORDINGS.one("depth 2", up=up, down=down, start=start, step=step, what=what),
        "s: str -> ints",
        code,
        brute,
        lambda r: (text_over(r, up + down * r.randint(1, 2), 3, 18),),
        {"v": 1, "pair": pair, "kind": kind, "step": step, "start": start},
        (("",),),
    )


def _draw_brackets(r: Random, pairs: str, most: int) -> str:
    out, open_ = "", list[str]()
    for _ in range(r.randint(2, most)):
        if open_ and r.random() < 0.5:
            out += open_.pop() if r.random() < 0.85 else r.choice(pairs[1::2])
        else:
            i = r.randrange(len(pairs) // 2) * 2
            out += pairs[i]
            open_.append(pairs[i + 1])
    return out + ("".join(reversed(open_)) if r.random() < 0.5 else "")


def _bracket_score_brute(
    closing: dict[str, str], factor: int, m: int, pairs: str, worth: list[int]
) -> Callable[[str], int]:
    def brute(s: str) -> int:
        remaining = ""
        for i in range(len(s)):
            remaining = s[: i + 1]
            while True:
                shorter = remaining
                for a, b in closing.items():
                    shorter = shorter.replace(a + b, "")
                if shorter == remaining:
                    break
                remaining = shorter
            if any(ch in closing.values() for ch in remaining):
                return -i - 1
        if remaining:
            return -len(s) - 1
        total = depth = 0
        for ch in s:
            if ch in closing:
                total += worth[pairs.index(ch) // 2] * factor**depth
            depth += 1 if ch in closing else -1
        return total % m

    return brute


def _bracket_score(rng: Random) -> Problem:
    pairs = "".join(rng.sample(_PAIRS, 2))
    worth = [rng.randint(1, 9), rng.randint(1, 9)]
    factor, m = rng.randint(2, 5), rng.randint(100, 999)
    closing = {pairs[0]: pairs[1], pairs[2]: pairs[3]}
    code = WORDINGS.source(
        "bracket score solution",
        pairs_1=pairs[1],
        pairs_0=pairs[0],
        pairs_3=pairs[3],
        pairs_2=pairs[2],
        worth_0=worth[0],
        worth_1=worth[1],
        factor=factor,
        m=m,
    )

    brute = _bracket_score_brute(closing, factor, m, pairs, worth)

    return Problem(
        WORDINGS.one(
            "bracket score",
            pairs=pairs,
            pairs_2=pairs[:2],
            factor=factor,
            worth=worth,
            pairs_3=pairs[2:],
            m=m,
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: (_draw_brackets(r, pairs, 12),),
        {
            "v": 2,
            "pairs": sorted([[pairs[:2], worth[0]], [pairs[2:], worth[1]]]),
            "factor": factor,
            "m": m,
        },
        (("",),),
    )


def _bracket_repair(rng: Random) -> Problem:
    pairs = "".join(rng.sample(_PAIRS, 2))
    costs = [rng.randint(1, 15) for _ in range(4)]
    add = rng.randint(1, 15)
    first, second = pairs[:2], pairs[2:]
    code = WORDINGS.source(
        "bracket repair solution", pairs=pairs, costs=costs, add=add, first=first, second=second
    )

    def brute(s: str) -> int:
        single = [min(costs[pairs.index(ch)], add) for ch in s]
        # Choose the brackets that stay unmatched; the others must be properly nested.
        best = sum(single)
        for size in range(0, len(s) + 1, 2):
            for places in combinations(range(len(s)), size):
                stack: list[str] = []
                for i in places:
                    stack.append(s[i])
                    if "".join(stack[-2:]) in (first, second):
                        del stack[-2:]
                if not stack:
                    left = sum(single) - sum(single[i] for i in places)
                    best = min(best, left)
        return best

    prices = ", ".join(f"{price} for {ch}" for ch, price in zip(pairs, costs, strict=True))
    return Problem(
        WORDINGS.one(
            "bracket repair",
            pairs=" ".join(pairs),
            first=first,
            second=second,
            told=prices,
            add=add,
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, pairs, 2, 9),),
        {"v": 3, "prices": sorted([[first, costs[:2]], [second, costs[2:]]]), "add": add},
        (("",),),
    )


FAMILIES = (
    leveled_family("bracket_levels", "levels and depths", _depth, _bracket_score, _bracket_repair),
)
