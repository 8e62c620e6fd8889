"""Problems on last digits, remainders and orders of powers."""

from __future__ import annotations

from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import power
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


def _base(rng: Random, top: int) -> int:
    """Draw a base whose powers differ in their last digit."""
    return redrawn(lambda: rng.randint(2, top), lambda b: b % 10 in (2, 3, 4, 7, 8, 9))


def _last_digits(rng: Random, level: int) -> Problem:
    a, b = _base(rng, 60), _base(rng, 60)
    n, m = rng.randint(11, 99 * level), rng.randint(11, 99 * level)
    if level == 1:
        ask = rng.choice(("one", "sum", "product"))
        if ask == "one":
            who = rng.choice(PEOPLE)
            return Problem(
                WORDINGS.draw(
                    rng, "last digits, level 1, one", power_a=power(str(a), n), who=who, a=a, n=n
                ),
                str(pow(a, n, 10)),
                {"ask": ask, "a": a, "n": n},
            )
        x, y = power(str(a), n), power(str(b), m)
        if ask == "sum":
            return Problem(
                WORDINGS.draw(rng, "last digits, level 1, sum", x=x, y=y),
                str((pow(a, n, 10) + pow(b, m, 10)) % 10),
                {"ask": ask, "a": a, "n": n, "b": b, "m": m},
            )
        return Problem(
            WORDINGS.draw(rng, "last digits, level 1", x=x, y=y),
            str(pow(a, n, 10) * pow(b, m, 10) % 10),
            {"ask": ask, "a": a, "n": n, "b": b, "m": m},
        )
    if level == 2:
        a, n = redrawn(lambda: (_base(rng, 99), rng.randint(8, 400)), lambda p: pow(*p, 100) >= 10)
        x = power(str(a), n)
        if rng.random() < 0.5:
            return Problem(
                WORDINGS.draw(rng, "last digits, level 2", x=x),
                str(pow(a, n, 100)),
                {"ask": "two", "a": a, "n": n},
            )
        k = rng.randint(20, 300)
        return Problem(
            WORDINGS.draw(rng, "last digits, level 2, sum of powers", n=n, k=k, nth=ordinal(n)),
            str(sum(pow(i, n, 10) for i in range(1, k + 1)) % 10),
            {"ask": "sum of powers", "k": k, "n": n},
        )
    b, c = rng.randint(2, 19), rng.randint(3, 30)
    if rng.random() < 0.5:
        a = redrawn(lambda: _base(rng, 99), lambda a: pow(a, b**c, 100) >= 10)
        tower = f"{a}^{{{b}^{{{c}}}}}"
        return Problem(
            WORDINGS.draw(rng, "last digits", tower=tower, a=a, b=b, c=c),
            str(pow(a, b**c, 100)),
            {"ask": "tower", "a": a, "b": b, "c": c},
        )
    tens = (pow(a, n, 100) + pow(b, m, 100)) % 100 // 10
    x, y = power(str(a), n), power(str(b), m)
    return Problem(
        WORDINGS.draw(rng, "last digits, tens", x=x, y=y),
        str(tens),
        {"ask": "tens", "a": a, "n": n, "b": b, "m": m},
    )


def _remainders(rng: Random, level: int) -> Problem:
    m = rng.choice((7, 9, 11, 13, 17, 19, 21, 23, 29, 31, 37))
    a = redrawn(lambda: rng.randint(2, 50), lambda a: gcd(a, m) == 1 and a % m not in (1, m - 1))
    n = rng.randint(15, 300)
    x = power(str(a), n)
    if level == 1:
        return Problem(
            WORDINGS.draw(
                rng, "remainders 2", x=x, m=m, a=a, n=n, m_minus_1=m - 1, drawn=rng.choice(PEOPLE)
            ),
            str(pow(a, n, m)),
            {"ask": "one", "a": a, "n": n, "m": m},
        )
    if level == 2:
        b, k = rng.randint(2, 50), rng.randint(15, 300)
        y = power(str(b), k)
        plus = rng.random() < 0.5
        value = (pow(a, n, m) + pow(b, k, m) if plus else pow(a, n, m) * pow(b, k, m)) % m
        expression = f"{x} + {y}" if plus else f"{x} \\cdot {y}"
        return Problem(
            WORDINGS.draw(
                rng, "remainders, level 2", m=m, m_minus_one=m - 1, expression=expression
            ),
            str(value),
            {"ask": "sum" if plus else "product", "a": a, "n": n, "b": b, "k": k, "m": m},
        )
    cycle = [pow(a, i, m) for i in range(1, m + 1)]
    period = cycle.index(1) + 1
    r = rng.choice(cycle[:period])
    first = cycle.index(r) + 1
    top = rng.randint(100, 1000)
    return Problem(
        WORDINGS.draw(rng, "remainders", a=a, m=m, top=top, r=r),
        str((top - first) // period + 1),
        {"ask": "count", "a": a, "r": r, "m": m, "top": top},
    )


def _orders(rng: Random, level: int) -> Problem:
    def pair(low: int, high: int) -> tuple[int, int, int]:
        def draw() -> tuple[int, int, int]:
            m, a = rng.randint(low, high), rng.randint(2, 20)
            return a, m, next((i for i in range(1, m) if pow(a, i, m) == 1), 0)

        return redrawn(draw, lambda drawn: drawn[2] > 3)

    if level == 1:
        a, m, order = pair(7, 45)
        return Problem(
            WORDINGS.draw(rng, "orders 2", a=a, m=m, m_minus_1=m - 1, drawn=rng.choice(PEOPLE)),
            str(order),
            {"ask": "order", "a": a, "m": m},
        )
    if level == 2:
        a, m, order = pair(11, 60)
        top = rng.randint(150, 999)
        if rng.random() < 0.4:
            return Problem(
                WORDINGS.draw(rng, "orders, level 2", top=top, m=m, a=a),
                str((top - 1) // order * order),
                {"ask": "largest", "a": a, "m": m, "top": top},
            )
        return Problem(
            WORDINGS.draw(rng, "orders, level 2, count", a=a, m=m, top=top, top_minus_one=top - 1),
            str((top - 1) // order),
            {"ask": "count", "a": a, "m": m, "top": top},
        )

    def both() -> tuple[int, int, int, int, int]:
        a, m, one = pair(7, 40)
        b, k, two = pair(7, 40)
        return a, m, b, k, 0 if m == k or max(one, two) % min(one, two) == 0 else lcm(one, two)

    a, m, b, k, least = redrawn(both, lambda drawn: drawn[4] > 0)
    return Problem(
        WORDINGS.draw(rng, "orders", a=a, m=m, b=b, k=k),
        str(least),
        {"ask": "both", "a": a, "m": m, "b": b, "k": k},
    )


FAMILIES = (
    math_family("numbers_last_digits", _last_digits, "last digits of powers, sums and towers"),
    math_family("numbers_power_remainders", _remainders, "remainders of powers, and how often"),
    math_family("numbers_orders", _orders, "the exponents for which a power is 1 modulo m"),
)
