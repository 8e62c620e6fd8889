"""Problems on continued fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _draw_fraction(r: Random) -> tuple[int, int]:
    return r.randint(1, 10 ** r.randint(2, 5)), r.randint(2, 10 ** r.randint(2, 4))


def _terms(rng: Random) -> Problem:
    c, k, every = rng.randint(0, 60), rng.randint(1, 9), rng.randint(1, 3)
    code = WORDINGS.source("terms solution", k=k, c=c, every=every)

    def brute(p: int, q: int) -> list[int]:
        remaining, terms = Fraction(k * p, q) + c, list[int]()
        while True:
            terms.append(int(remaining))
            if remaining == int(remaining):
                return [term for i, term in enumerate(terms) if i % every == 0]
            remaining = 1 / (remaining - int(remaining))

    which = "" if every == 1 else f", but only the terms c_0, c_{every}, c_{2 * every}, ..."
    return Problem(
        WORDINGS.one("terms", k=k, c=c, which=which),
        "p: int, q: int -> ints",
        code,
        brute,
        _draw_fraction,
        {"v": 1, "c": c, "k": k, "every": every},
        ((4, 2),),
    )


def _convergents(rng: Random) -> Problem:
    top, x, y, m = (
        rng.randint(20, 400),
        rng.randint(0, 20),
        rng.randint(1, 20),
        rng.randint(50, 999),
    )
    code = WORDINGS.source("convergents solution", top=top, x=x, y=y, m=m)

    def brute(p: int, q: int) -> int:
        terms, remaining, total = list[int](), Fraction(p, q), 0
        while True:
            terms.append(remaining.numerator // remaining.denominator)
            value = Fraction(terms[-1])
            for term in terms[-2::-1]:
                value = term + 1 / value
            if value.denominator <= top:
                total += (x * value.numerator + y * value.denominator) % m
            if remaining.denominator == 1:
                return total
            remaining = 1 / (remaining - terms[-1])

    return Problem(
        WORDINGS.one("convergents", x=x, y=y, m=m, top=top),
        "p: int, q: int -> int",
        code,
        brute,
        _draw_fraction,
        {"v": 2, "top": top, "x": x, "y": y, "m": m},
        ((3, 1),),
    )


def _roots(rng: Random) -> Problem:
    k, c, m = rng.randint(1, 40), rng.randint(0, 60), rng.randint(100, 999)
    code = WORDINGS.source("roots solution", k=k, c=c, m=m)

    def brute(n: int) -> list[int]:
        d, whole = k * n + c, 0
        while (whole + 1) ** 2 <= d:
            whole += 1
        if whole * whole == d:
            return [0, whole, 0]
        states, terms = list[tuple[int, int]](), list[int]()
        p, q = whole, d - whole * whole  # the rest is (sqrt(d) + p) / q
        while (p, q) not in states:
            states.append((p, q))
            t = 1
            while (t + 1) * q - p <= 0 or ((t + 1) * q - p) ** 2 <= d:
                t += 1
            terms.append(t)
            p = t * q - p
            q = (d - p * p) // q
        weighted = [place * term for place, term in enumerate(terms, start=1)]
        return [len(terms), max(terms), sum(weighted) % m]

    return Problem(
        WORDINGS.one("roots", k=k, c=c, m=m),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 3, "k": k, "c": c, "m": m},
    )


FAMILIES = (
    leveled_family("continued_fractions", "terms and convergents", _terms, _convergents, _roots),
)
