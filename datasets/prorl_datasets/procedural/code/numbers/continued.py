"""Continued fractions of fractions and of square roots.

Leaves out: other fractions (``numbers.fractions``).
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_FRACTION = (("p", "int"), ("q", "int"))


_N = (("n", "int"),)


def _draw_fraction(r: Random) -> tuple[int, int]:
    return r.randint(1, 10 ** r.randint(2, 5)), r.randint(2, 10 ** r.randint(2, 4))


def _terms(rng: Random) -> Problem:
    c, k, every = rng.randint(0, 60), rng.randint(1, 9), rng.randint(1, 3)
    code = f"""
        def solve(p, q):
            p = {k} * p + {c} * q
            terms = []
            while q:
                terms.append(p // q)
                p, q = q, p % q
            return terms[::{every}]
    """

    def brute(p: int, q: int) -> list[int]:
        rest, terms = Fraction(k * p, q) + c, list[int]()
        while True:
            terms.append(int(rest))
            if rest == int(rest):
                return [term for i, term in enumerate(terms) if i % every == 0]
            rest = 1 / (rest - int(rest))

    which = "" if every == 1 else f", but only the terms c_0, c_{every}, c_{2 * every}, ..."
    return Problem(
        "Given integers `p` (0 <= p <= 10^6) and `q` (1 <= q <= 10^6), find the terms of the "
        "continued "
        f"fraction of x = {k} * p / q + {c}, that is, the integers c_0, c_1, ..., c_m with x = c_0 "
        "+ 1 / "
        f"(c_1 + 1 / (c_2 + ...)), c_i >= 1 for i >= 1, and c_m >= 2 if m >= 1{which}.",
        _FRACTION,
        "ints",
        source(code),
        brute,
        _draw_fraction,
        {"v": 1, "c": c, "k": k, "every": every},
        ((4, 2),),
    )


def _convergents_gold(top: int, x: int, y: int, m: int) -> str:
    return f"""
        def solve(p, q):
            before, last = (0, 1), (1, 0)
            total = 0
            while q:
                term = p // q
                p, q = q, p % q
                before, last = last, (term * last[0] + before[0], term * last[1] + before[1])
                if last[1] > {top}:
                    break
                total += ({x} * last[0] + {y} * last[1]) % {m}
            return total
    """


def _convergents(rng: Random) -> Problem:
    top, x, y, m = (
        rng.randint(20, 400),
        rng.randint(0, 20),
        rng.randint(1, 20),
        rng.randint(50, 999),
    )
    code = _convergents_gold(top, x, y, m)

    def brute(p: int, q: int) -> int:
        terms, rest, total = list[int](), Fraction(p, q), 0
        while True:
            terms.append(rest.numerator // rest.denominator)
            value = Fraction(terms[-1])
            for term in terms[-2::-1]:
                value = term + 1 / value
            if value.denominator <= top:
                total += (x * value.numerator + y * value.denominator) % m
            if rest.denominator == 1:
                return total
            rest = 1 / (rest - terms[-1])

    return Problem(
        "Given integers `p` (1 <= p <= 10^6) and `q` (1 <= q <= 10^6), let c_0, c_1, ..., c_m be "
        "the terms "
        "of the continued fraction of p / q (c_0 is the integer part; the last term is at least 2 "
        "if "
        "m >= 1). The i-th convergent is the value u/v, in lowest terms with v >= 1, of the "
        "continued "
        f"fraction that stops after c_i. Find the sum of ({x} * u + {y} * v) mod {m} over all "
        f"convergents (i = 0, ..., m) with v <= {top}.",
        _FRACTION,
        "int",
        source(code),
        brute,
        _draw_fraction,
        {"v": 2, "top": top, "x": x, "y": y, "m": m},
        ((3, 1),),
    )


def _roots_gold(k: int, c: int, m: int) -> str:
    return f"""
        import math


        def solve(n):
            d = {k} * n + {c}
            whole = math.isqrt(d)
            if whole * whole == d:
                return [0, whole, 0]
            a, b, term = 0, 1, whole
            period = []
            while term != 2 * whole:
                a = b * term - a
                b = (d - a * a) // b
                term = (whole + a) // b
                period.append(term)
            return [len(period), max(period), sum((i + 1) * t for i, t in enumerate(period)) % {m}]
    """


def _roots(rng: Random) -> Problem:
    k, c, m = rng.randint(1, 40), rng.randint(0, 60), rng.randint(100, 999)
    code = _roots_gold(k, c, m)

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
        f"Given an integer `n` (1 <= n <= 2000), let D = {k} * n + {c}. If D is a perfect square, "
        "the result "
        "is 0, the root of D, and 0. Otherwise the continued fraction of the square root of D is "
        "c_0 "
        "followed by terms t_1, ..., t_L that repeat for ever (L as small as possible); the result "
        "is "
        f"L, the largest of t_1, ..., t_L, and (1 * t_1 + 2 * t_2 + ... + L * t_L) mod {m}.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 3, "k": k, "c": c, "m": m},
    )


FAMILIES = (
    code_family(
        "continued_fractions", "terms and convergents", leveled(_terms, _convergents, _roots)
    ),
)
