"""Problems on windows, stretches and subsequences of long lists."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_MOD = 1_000_003


def _extremes(rng: Random, level: int) -> Problem:
    share = rng.choice((2, 3, 4, 5))
    window = f"w = max(1, n div {share})"
    each = WORDINGS.one(f"extremes {level}")
    body = WORDINGS.one("extremes", window=window, each=each, mod=_MOD)
    value = {1: "top[0]", 2: "top[0] - low[0]", 3: "top[0] * low[0]"}[level]
    solution = WORDINGS.source("extremes solution", share=share, value=value, mod=_MOD)

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
    worth = WORDINGS.one(f"neighbours {level}")
    body = WORDINGS.one("neighbours", side=side, word=word, worth=worth, mod=_MOD)
    value = {1: "abs(i - j)", 2: "a[j]", 3: "abs(i - j) * a[j]"}[level]
    order = "range(len(a))" if side == "left" else "range(len(a) - 1, -1, -1)"
    solution = WORDINGS.source("neighbours solution", order=order, sign=sign, value=value, mod=_MOD)

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
    solution = WORDINGS.source(
        "distinct solution", answer=WORDINGS.one(f"distinct {level}").replace("K", str(k))
    )

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
    rule_text = WORDINGS.one(f"increasing {level}", gap=gap)
    body = WORDINGS.one("increasing", told=rule_text)
    solution = WORDINGS.source("increasing solution", gap=gap)

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
        body = WORDINGS.one("cuts", parts=parts)
        test = "count_parts(a, middle) <= k"
    elif level == 2:
        body = WORDINGS.one("cuts 2", parts=parts)
        test = "count_parts(a, middle) <= k"
    else:
        body = WORDINGS.one("cuts 3", parts=parts)
        test = ""
    if level < 3:
        solution = WORDINGS.source("cuts solution", share=share, test=test)
    else:
        solution = WORDINGS.source("cuts solution 2", share=share)

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
