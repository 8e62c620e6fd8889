"""Brackets: levels, worths and cheapest repairs.

Leaves out: other formal languages.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import text_over

_S = (("s", "str"),)


_PAIRS = ("()", "[]", "{}", "<>")


_LEVELS = (
    "the greatest level and the number of characters read when it is first reached",
    "the least level and the number of characters read when it is first reached",
    "the level at the end and the greatest level",
    "the sum of all levels and the level at the end",
    "the number of different levels and the greatest level minus the least one",
)


def _depth_gold(start: int, step: int, up: str, result: str) -> str:
    return f"""
        def solve(s):
            path = [{start}]
            for ch in s:
                path.append(path[-1] + {step} if ch == "{up}" else path[-1] - 1)
            return {result}
    """


def _depth_brute(
    down: str, kind: int, start: int, step: int, up: str
) -> Callable[[str], list[int]]:
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

    return brute


def _depth(rng: Random) -> Problem:
    pair, kind = (
        rng.choice((*_PAIRS, "/\\", "+-", "ud", "io", "xy", "ab", "pq", "LR", "UD", "01")),
        rng.randint(0, 4),
    )
    up, down = pair[0], pair[1]
    c = rng.randint(0, 9)
    start = rng.randint(0, 9)
    result = (
        "[max(path), path.index(max(path))]",
        "[min(path), path.index(min(path))]",
        "[path[-1], max(path)]",
        "[sum(path), path[-1]]",
        "[len(set(path)), max(path) - min(path)]",
    )[kind]
    what = _LEVELS[kind]
    step = c + 1
    code = _depth_gold(start, step, up, result)

    brute = _depth_brute(down, kind, start, step, up)

    return Problem(
        f"Given a string `s` of at most 200 characters, each of them {up} or {down}: a level "
        f"starts at {start}, and from left to "
        f"right every {up} raises it by {step} and every {down} lowers it by 1. The levels are the "
        "one at the start and those "
        f"after each character. Find two integers: {what}.",
        _S,
        "ints",
        source(code),
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


def _bracket_score_gold(factor: int, m: int, pairs: str, worth: list[int]) -> str:
    return f"""
        def solve(s):
            opened = {{"{pairs[1]}": "{pairs[0]}", "{pairs[3]}": "{pairs[2]}"}}
            worth = {{"{pairs[1]}": {worth[0]}, "{pairs[3]}": {worth[1]}}}
            stack, inner = [], [0]
            for i, ch in enumerate(s):
                if ch not in opened:
                    stack.append(ch)
                    inner.append(0)
                elif stack and stack[-1] == opened[ch]:
                    stack.pop()
                    value = {factor} * inner.pop() + worth[ch]
                    inner[-1] = (inner[-1] + value) % {m}
                else:
                    return -i - 1
            return inner[0] if not stack else -len(s) - 1
    """


def _bracket_score_brute(
    closing: dict[str, str], factor: int, m: int, pairs: str, worth: list[int]
) -> Callable[[str], int]:
    def brute(s: str) -> int:
        rest = ""
        for i in range(len(s)):
            rest = s[: i + 1]
            while True:
                shorter = rest
                for a, b in closing.items():
                    shorter = shorter.replace(a + b, "")
                if shorter == rest:
                    break
                rest = shorter
            if any(ch in closing.values() for ch in rest):
                return -i - 1
        if rest:
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
    code = _bracket_score_gold(factor, m, pairs, worth)

    brute = _bracket_score_brute(closing, factor, m, pairs, worth)

    return Problem(
        f"Given a string `s` of at most 1000 brackets out of {pairs[0]} {pairs[1]} {pairs[2]} "
        f"{pairs[3]}. A bracket {pairs[0]} is closed "
        f"by {pairs[1]} and {pairs[2]} by {pairs[3]}, properly nested. A pair {pairs[:2]} with the "
        f"contents X is worth {factor} * (worth "
        f"of X) + {worth[0]}, a pair {pairs[2:]} is worth {factor} * (worth of X) + {worth[1]}; "
        "the worth of several pairs side by side "
        f"is the sum, and nothing is worth 0. If s is properly nested, find its worth modulo {m}. "
        "Otherwise the result is "
        "negative: -(i + 1) for the first place i (from 0) with a closing bracket that does not "
        "fit, or -(length of s + 1) "
        "if only closing brackets at the end are missing.",
        _S,
        "int",
        source(code),
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


def _bracket_repair_gold(pairs: str, costs: list[int], add: int, first: str, second: str) -> str:
    return f"""
        def solve(s):
            price = dict(zip("{pairs}", {costs}))
            n = len(s)
            best = [[0] * (n + 1) for _ in range(n + 1)]
            for i in range(n - 1, -1, -1):
                for j in range(i + 1, n + 1):
                    least = min(price[s[i]], {add}) + best[i + 1][j]
                    for k in range(i + 1, j):
                        if s[i] + s[k] in ("{first}", "{second}"):
                            least = min(least, best[i + 1][k] + best[k + 1][j])
                    best[i][j] = least
            return best[0][n]
    """


def _bracket_repair(rng: Random) -> Problem:
    pairs = "".join(rng.sample(_PAIRS, 2))
    costs = [rng.randint(1, 15) for _ in range(4)]
    add = rng.randint(1, 15)
    first, second = pairs[:2], pairs[2:]
    code = _bracket_repair_gold(pairs, costs, add, first, second)

    def brute(s: str) -> int:
        single = [min(costs[pairs.index(ch)], add) for ch in s]
        # Choose the brackets that stay unmatched; the others must be properly nested.
        best = sum(single)
        for size in range(0, len(s) + 1, 2):
            for kept in combinations(range(len(s)), size):
                stack: list[str] = []
                for i in kept:
                    stack.append(s[i])
                    if "".join(stack[-2:]) in (first, second):
                        del stack[-2:]
                if not stack:
                    left = sum(single) - sum(single[i] for i in kept)
                    best = min(best, left)
        return best

    told = ", ".join(f"{price} for {ch}" for ch, price in zip(pairs, costs, strict=True))
    return Problem(
        f"Given a string `s` of at most 60 brackets out of {' '.join(pairs)} ({first} and "
        f"{second} belong together), make it properly nested as "
        f"cheaply as possible. Deleting a bracket costs {told}; putting in any bracket at any "
        f"place costs {add}. "
        "The empty string is properly nested. Find the least total cost.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, pairs, 2, 9),),
        {"v": 3, "prices": sorted([[first, costs[:2]], [second, costs[2:]]]), "add": add},
        (("",),),
    )


FAMILIES = (
    code_family(
        "bracket_levels", "levels and depths", leveled(_depth, _bracket_score, _bracket_repair)
    ),
)
