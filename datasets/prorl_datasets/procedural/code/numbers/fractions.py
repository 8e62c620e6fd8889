"""Fractions: sums, nearest fractions, expansions in a base.

Leaves out: continued fractions (``numbers.continued``).
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_FRACTION = (("p", "int"), ("q", "int"))


_N = (("n", "int"),)


def _draw_fraction(r: Random) -> tuple[int, int]:
    return r.randint(1, 10 ** r.randint(2, 5)), r.randint(2, 10 ** r.randint(2, 4))


def _fraction_sum(rng: Random) -> Problem:
    a, b, c, d = rng.randint(1, 9), rng.randint(1, 9), rng.randint(0, 9), rng.randint(1, 5)
    sign = rng.random() < 0.3
    factor = f"{a} * (-1) ** i" if sign else f"{a}"
    code = f"""
        from fractions import Fraction


        def solve(n):
            total = sum(Fraction({factor}, {b} * i + {c}) for i in range(1, n * {d} + 1, {d}))
            return [total.numerator, total.denominator]
    """

    def brute(n: int) -> list[int]:
        numbers = [1 + j * d for j in range(n)]
        whole = 1
        for i in numbers:
            whole *= b * i + c
        top = sum((-a if sign and i % 2 else a) * (whole // (b * i + c)) for i in numbers)
        shared = gcd(top, whole)
        return [top // shared, whole // shared]

    signs = ", with a minus sign where i is odd" if sign else ""
    bottom = f"{b} * i + {c}" if c else f"{b} * i"
    which = "i = 1, 2, ..., n" if d == 1 else f"i = 1, {1 + d}, {1 + 2 * d}, ... ({'n'} terms)"
    return Problem(
        f"Given an integer `n` (1 <= n <= 30), add the fractions {a} / ({bottom}) for "
        f"{which}{signs}. Find "
        "the numerator and the denominator of the sum in lowest terms (the denominator is "
        "positive).",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 14),),
        {"v": 1, "a": a, "b": b, "c": c, "d": d, "sign": sign},
        ((1,),),
    )


def _near_fraction_gold(k: int, c: int, top: int, low: bool) -> str:
    return f"""
        from fractions import Fraction


        def solve(p, q):
            x = Fraction({k} * p + {c}, q)
            top, bottom, best = x.numerator, x.denominator, None
            for v in range(1, {top + 1}):
                u = {"-(-top * v // bottom) - 1" if low else "top * v // bottom + 1"}
                if best is None or Fraction(u, v) {">" if low else "<"} best:
                    best = Fraction(u, v)
            return [best.numerator, best.denominator]
    """


def _near_fraction(rng: Random) -> Problem:
    top, low = rng.randint(6, 60), rng.random() < 0.5
    k, c = rng.randint(1, 12), rng.randint(0, 12)
    code = _near_fraction_gold(k, c, top, low)

    def brute(p: int, q: int) -> list[int]:
        x, y = k * p + c, q
        best = (-1, 1) if low else (10**9, 1)
        for v in range(top, 0, -1):
            near = x * v // y
            for u in range(near - 2, near + 3):
                inside = u * y < x * v if low else u * y > x * v
                closer = u * best[1] >= best[0] * v if low else u * best[1] <= best[0] * v
                if inside and closer:
                    best = (u, v)
        return list(best)

    x = f"({k} * p + {c}) / q" if c else f"{k} * p / q"
    side, extreme = ("smaller", "largest") if low else ("larger", "smallest")
    return Problem(
        f"Given integers `p` and `q` (1 <= p, q <= 10^6), find the {extreme} fraction u / v with "
        "integers u >= 0 and "
        f"1 <= v <= {top} that is strictly {side} than {x}. The result is u and v in lowest terms "
        "(0 / 1 "
        "for zero).",
        _FRACTION,
        "ints",
        source(code),
        brute,
        _draw_fraction,
        {"v": 2, "top": top, "low": low, "k": k, "c": c},
        ((5, 5),),
    )


def _expansion_gold(k: int, c: int, base: int) -> str:
    return f"""
        def solve(p, q):
            q = {k} * q + {c}
            p %= q
            places, digits = {{}}, []
            while p and p not in places:
                places[p] = len(digits)
                p *= {base}
                digits.append(p // q)
                p %= q
            first = places[p] if p else len(digits)
            return [first, len(digits) - first, sum(digits[:first]), sum(digits[first:])]
    """


def _expansion(rng: Random) -> Problem:
    base, k, c = rng.randint(2, 16), rng.randint(1, 12), rng.randint(0, 40)
    code = _expansion_gold(k, c, base)

    def brute(p: int, q: int) -> list[int]:
        value = Fraction(p, k * q + c)
        bottom, first = value.denominator, 0
        while gcd(bottom, base) > 1:
            bottom //= gcd(bottom, base)
        while (value * base**first).denominator != bottom:
            first += 1
        length = (
            0
            if bottom == 1
            else next(i for i in range(1, bottom + 1) if (base**i - 1) % bottom == 0)
        )

        def digit(i: int) -> int:
            return int(value * base**i) % base

        ahead = sum(digit(i) for i in range(1, first + 1))
        return [first, length, ahead, sum(digit(i) for i in range(first + 1, first + length + 1))]

    return Problem(
        f"Given integers `p` (0 <= p <= 10^6) and `q` (1 <= q <= 1000), write p / ({k} * q + {c}) "
        f"in base {base}. "
        "Behind the point come the digits before the period and then the period, both as short as "
        "possible; a finite expansion has a period of length 0 and its digits stop at the last one "
        "that is not 0. Find four integers: the number of digits before the period (behind the "
        "point), the length of the period, the sum of the digits before the period and the sum of "
        "the "
        "digits of one period.",
        _FRACTION,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 99), r.randint(1, 24)),
        {"v": 3, "base": base, "k": k, "c": c},
        ((0, 1),),
    )


FAMILIES = (
    code_family(
        "fraction_values",
        "exact sums and products",
        leveled(_fraction_sum, _near_fraction, _expansion),
    ),
)
