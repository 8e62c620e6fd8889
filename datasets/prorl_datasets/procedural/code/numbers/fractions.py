"""Problems on fractions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _draw_fraction(r: Random) -> tuple[int, int]:
    return r.randint(1, 10 ** r.randint(2, 5)), r.randint(2, 10 ** r.randint(2, 4))


def _fraction_sum(rng: Random) -> Problem:
    a, b, c, d = rng.randint(1, 9), rng.randint(1, 9), rng.randint(0, 9), rng.randint(1, 5)
    sign = rng.random() < 0.3
    factor = f"{a} * (-1) ** i" if sign else f"{a}"
    code = WORDINGS.source("fraction sum solution", factor=factor, b=b, c=c, d=d)

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
        WORDINGS.one("fraction sum", a=a, bottom=bottom, which=which, signs=signs),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 14),),
        {"v": 1, "a": a, "b": b, "c": c, "d": d, "sign": sign},
        ((1,),),
    )


def _near_fraction(rng: Random) -> Problem:
    top, low = rng.randint(6, 60), rng.random() < 0.5
    k, c = rng.randint(1, 12), rng.randint(0, 12)
    code = WORDINGS.source(
        "near fraction solution",
        k=k,
        c=c,
        top_plus_1=top + 1,
        top_v="-(-top * v // bottom) - 1" if low else "top * v // bottom + 1",
        value=">" if low else "<",
    )

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
        WORDINGS.one("near fraction", extreme=extreme, top=top, side=side, x=x),
        "p: int, q: int -> ints",
        code,
        brute,
        _draw_fraction,
        {"v": 2, "top": top, "low": low, "k": k, "c": c},
        ((5, 5),),
    )


def _expansion(rng: Random) -> Problem:
    base, k, c = rng.randint(2, 16), rng.randint(1, 12), rng.randint(0, 40)
    code = WORDINGS.source("expansion solution", k=k, c=c, base=base)

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
        WORDINGS.one("expansion", k=k, c=c, base=base),
        "p: int, q: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 99), r.randint(1, 24)),
        {"v": 3, "base": base, "k": k, "c": c},
        ((0, 1),),
    )


FAMILIES = (
    leveled_family(
        "fraction_values", "exact sums and products", _fraction_sum, _near_fraction, _expansion
    ),
)
