"""Problems on sums of digit powers."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, draw_span, leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _digit_step(rng: Random) -> Problem:
    p, c, t = rng.randint(1, 3), rng.randint(1, 9), rng.randint(0, 20)
    odd = rng.random() < 0.5
    which = "odd" if odd else "even"
    code = WORDINGS.source("digit step solution", c=c, p=p, odd=int(odd), t=t)

    def brute(n: int) -> int:
        total = t
        for d in digits_of(n):
            if (d in (1, 3, 5, 7, 9)) == odd:
                total += c * d * (d if p > 1 else 1) * (d if p > 2 else 1)
        return total

    power = ("digits", "squares of the digits", "cubes of the digits")[p - 1]
    return Problem(
        WORDINGS.one("digit step", power=power, which=which, c=c, t=t),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(10, 10 ** r.randint(2, 12)),),
        {"v": 1, "p": p, "c": c, "t": t, "odd": odd},
        ((0,),),
    )


def _digit_orbit(rng: Random) -> Problem:
    p, c, base = rng.randint(2, 3), rng.randint(1, 300), rng.choice((7, 8, 9, 10, 10, 11, 12, 16))
    code = WORDINGS.source("digit orbit solution", c=c, base=base, p=p)

    def brute(n: int) -> list[int]:
        values = [n]
        while values.count(values[-1]) < 2:
            values.append(c + sum(d**p for d in digits_of(values[-1], base)))
        first = values.index(values[-1])
        return [first, len(values) - 1 - first, max(values)]

    return Problem(
        WORDINGS.one("digit orbit", c=c, squares="squares" if p == 2 else "cubes", base=base),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(1, 9)),),
        {"v": 2, "p": p, "c": c, "base": base},
    )


def _digit_settled(rng: Random) -> Problem:
    p, c, base = rng.randint(2, 3), rng.randint(0, 60), rng.choice((5, 6, 7, 8, 9, 10, 12))
    mark = rng.randint(2, 5)
    code = WORDINGS.source("digit settled solution", c=c, base=base, p=p, mark=mark)

    def brute(a: int, b: int) -> list[int]:
        counts = [0] * mark
        for n in range(a, b + 1):
            values = [n]
            while values[-1] not in values[:-1]:
                values.append(c + sum(d**p for d in digits_of(values[-1], base)))
            counts[min(values[values.index(values[-1]) + 1 :]) % mark] += 1
        return counts

    return Problem(
        WORDINGS.one(
            "digit settled",
            c=c,
            squares="squares" if p == 2 else "cubes",
            base=base,
            mark=mark,
            mark_minus_1=mark - 1,
        ),
        "a: int, b: int -> ints",
        code,
        brute,
        lambda r: draw_span(r, 5, 10 ** r.randint(1, 4), 60),
        {"v": 3, "p": p, "c": c, "base": base, "mark": mark},
        ((1, 1),),
    )


FAMILIES = (
    leveled_family(
        "digit_maps",
        "sums, products, maps of decimal digits",
        _digit_step,
        _digit_orbit,
        _digit_settled,
    ),
)
