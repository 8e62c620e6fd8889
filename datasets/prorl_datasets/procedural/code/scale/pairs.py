"""Problems that count pairs, inversions and stretches of long lists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _sums(rng: Random, level: int) -> Problem:
    if level == 1:
        m, r = rng.randint(3, 40), rng.randint(0, 2)
        body = WORDINGS.one("sums", r=r, m=m)
        solution = WORDINGS.source("sums solution", m=m, r=r)
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
        solution = WORDINGS.source("sums solution 2", high=high, low_minus_1=low - 1)
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
    body = WORDINGS.one("sums 2", gap=gap, high_minus_low=high - low)
    reach = high - low
    solution = WORDINGS.source(
        "sums solution 3", width_plus_2=width + 2, width=width, gap=gap, reach=reach
    )

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
    solution = WORDINGS.source(
        "inversions solution",
        factor=factor,
        shift=shift,
        count="count" if level < 3 else "[count, alone]",
    )

    def brute(a: list[int]) -> int | list[int]:
        pairs = [(i, j) for i, j in combinations(range(len(a)), 2) if a[i] > factor * a[j] + shift]
        return len(pairs) if level < 3 else [len(pairs), len(a) - len({j for _, j in pairs})]

    output = "int" if level < 3 else "ints"
    key = {"factor": factor, "shift": shift}
    return long_list(rng, (0, rng.choice((300, 5000, 99999))), body, solution, brute, key, output)


def _totals(rng: Random, level: int) -> Problem:
    rule: Callable[[int, int], bool]
    shape = "contiguous parts of `a` (of at least one element)"
    if level == 1:
        m = rng.randint(3, 60)
        body = f"Of all {shape}, how many have a sum that is divisible by {m}?"
        solution = WORDINGS.source("totals solution", m=m)
        rule, key, low = (lambda s, _: s % m == 0), {"m": m}, -50
    elif level == 2:
        target = rng.randint(-30, 60)
        body = f"Of all {shape}, how many have the sum {target}?"
        solution = WORDINGS.source("totals solution 2", target=target)
        rule, key, low = (lambda s, _: s == target), {"target": target}, -25
    else:
        mean = rng.randint(20, 60)
        body = f"Of all {shape}, how many have a mean that is greater than {mean}?"
        solution = WORDINGS.source("totals solution 3", mean=mean)
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
