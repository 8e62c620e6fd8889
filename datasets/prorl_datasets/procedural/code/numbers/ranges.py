"""Problems on integers in a range with given properties."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import (
    Property,
    draw_mixed,
    draw_property,
    leveled_family,
    with_imports,
)
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _span(rng: Random, width: int, top: int) -> tuple[int, int]:
    low = rng.randint(1, top)
    return low, low + rng.randint(width // 8, width)


def _chosen(low: int, high: int, has: Property) -> list[int]:
    return [n for n in range(low, high + 1) if has.check(n)]


def _count(rng: Random) -> Problem:
    has, total = draw_property(rng), rng.random() < 0.5
    what = "the sum of all integers n" if total else "how many integers n there are"
    code = f"return sum({'n' if total else 1} for n in range(a, b + 1) if {has.code})"
    return Problem(
        WORDINGS.one(
            "count", what=what, has=has, the_sum=" The sum of no integers is 0." if total else ""
        ),
        "a: int, b: int -> int",
        with_imports(f"def solve(a, b):\n    {code}"),
        lambda a, b: sum(_chosen(a, b, has)) if total else len(_chosen(a, b, has)),
        lambda r: _span(r, 200, 1500),
        {"v": 1, "has": has.key, "total": total},
        ((1, 9),),
    )


def _count_two(rng: Random) -> Problem:
    has, k = draw_mixed(rng), rng.randint(2, 9)
    kind = rng.randint(0, 2)
    what = WORDINGS.all("count two", k=k)[kind]
    term = ("n", f"n % {k}", f"n // {k}")[kind]

    def brute(a: int, b: int) -> int:
        values = [(n, n - n // k * k, n // k)[kind] for n in _chosen(a, b, has)]
        return sum(values)

    return Problem(
        WORDINGS.one("count two 2", what=what, has=has),
        "a: int, b: int -> int",
        with_imports(
            f"def solve(a, b):\n    return sum({term} for n in range(a, b + 1) if {has.code})"
        ),
        brute,
        lambda r: _span(r, 300, 10 ** r.randint(2, 8)),
        {"v": 2, "has": has.key, "kind": kind, "k": k if kind else 0},
    )


def _runs(rng: Random) -> Problem:
    has = draw_mixed(rng)
    least = rng.random() < 0.5
    which = "first (smallest)" if least else "last (largest)"
    code = WORDINGS.source("runs solution", code=has.code, value=">" if least else ">=")

    def brute(a: int, b: int) -> list[int]:
        good = [has.check(n) for n in range(a, b + 1)]
        for length in range(len(good), 0, -1):
            hits = [s for s in range(len(good) - length + 1) if all(good[s : s + length])]
            if hits:
                return [length, a + (hits[0] if least else hits[-1])]
        return [0, 0]

    return Problem(
        WORDINGS.one("runs", has=has, which=which),
        "a: int, b: int -> ints",
        with_imports(code),
        brute,
        lambda r: _span(r, 40, 10 ** r.randint(1, 5)),
        {"v": 3, "has": has.key, "least": least},
    )


def _kth(rng: Random) -> Problem:
    has, low = draw_property(rng), rng.randint(1, 300)
    code = WORDINGS.source("kth solution", low_minus_1=low - 1, code=has.code)

    def brute(k: int) -> int:
        width = 64
        while len(_chosen(low, low + width, has)) < k:
            width *= 2
        return _chosen(low, low + width, has)[k - 1]

    return Problem(
        WORDINGS.one("kth", low=low, has=has),
        "k: int -> int",
        with_imports(code),
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 1, "has": has.key, "low": low},
        ((1,),),
    )


def _kth_two(rng: Random) -> Problem:
    has, below = draw_mixed(rng), rng.random() < 0.5
    window = "m - 500 <= n < m and n >= 1" if below else "m < n <= m + 500"
    numbers = "range(m - 1, max(0, m - 501), -1)" if below else "range(m + 1, m + 501)"
    code = WORDINGS.source("kth two solution", numbers=numbers, code=has.code)

    def brute(m: int, k: int) -> int:
        hits: list[int] = []
        for far in range(0, 500, 50):
            if below:
                hits += _chosen(max(1, m - 50 - far), m - 1 - far, has)[::-1]
            else:
                hits += _chosen(m + 1 + far, m + 50 + far, has)
            if len(hits) >= k:
                break
        return hits[k - 1] if len(hits) >= k else -1

    return Problem(
        WORDINGS.one("kth two", window=window, has=has),
        "m: int, k: int -> int",
        with_imports(code),
        brute,
        lambda r: (r.randint(10, 10 ** r.randint(2, 6)), r.randint(1, 12)),
        {"v": 2, "has": has.key, "below": below},
    )


def _pairs(rng: Random) -> Problem:
    first, second = draw_property(rng), draw_property(rng)
    d = rng.randint(2, 25)
    code = WORDINGS.source("pairs solution", code=first.code, code_2=second.code, d=d)

    def brute(a: int, b: int) -> int:
        left, right = _chosen(a, b, first), _chosen(a, b, second)
        return sum(1 for x in left for y in right if y - x >= d)

    return Problem(
        WORDINGS.one("pairs", d=d, first=first, second=second),
        "a: int, b: int -> int",
        with_imports(code),
        brute,
        lambda r: _span(r, 90, 10 ** r.randint(1, 5)),
        {"v": 3, "first": first.key, "second": second.key, "d": d},
        ((5, 5 + d),),
    )


FAMILIES = (
    leveled_family(
        "range_totals",
        "sums of an interval's integers that meet a condition",
        _count,
        _count_two,
        _runs,
    ),
    leveled_family(
        "integer_picks", "the k-th integer that meets a condition", _kth, _kth_two, _pairs
    ),
)
