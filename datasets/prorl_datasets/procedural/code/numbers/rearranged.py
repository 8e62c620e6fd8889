"""Problems on sorting, moving and deleting digits."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _arranged(rng: Random) -> Problem:
    kind, c, k = rng.randint(0, 3), rng.randint(0, 9), rng.randint(1, 99)
    what = WORDINGS.all("arranged")[kind]
    order = (
        "sorted(digits)",
        "sorted(digits, reverse=True)",
        "digits[::-1]",
        "digits[-1:] + digits[:-1]",
    )
    code = WORDINGS.source("arranged solution", order=order[kind], c_plus_1=c + 1, k=k)

    def brute(n: int) -> int:
        low = digits_of(n)
        if kind < 2:
            counted = [d for d in range(10) for _ in range(low.count(d))]
            high = counted if kind == 0 else counted[::-1]
        else:
            high = low if kind == 2 else [low[0], *low[:0:-1]]
        value = 0
        for d in high:
            value = 10 * value + d
        return value * (c + 1) + k

    times = f"multiply that by {c + 1} and " if c else ""
    return Problem(
        WORDINGS.one("arranged 2", what=what, times=times, k=k),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(10, 10 ** r.randint(2, 15)),),
        {"v": 1, "kind": kind, "c": c, "k": k},
        ((7,),),
    )


def _deleted(rng: Random) -> Problem:
    k, largest, m = rng.randint(1, 4), rng.random() < 0.5, rng.randint(1000, 99999)
    c = rng.randint(2, 99)
    code = WORDINGS.source("deleted solution", k=k, value="<" if largest else ">", c=c, m=m)

    def brute(s: str) -> int:
        texts = [s]
        for _ in range(k):
            texts = sorted({t[:i] + t[i + 1 :] for t in texts for i in range(len(t))})
        best = texts[-1] if largest else texts[0]
        return c * int(best) % m

    return Problem(
        WORDINGS.one(
            "deleted", k_plus_1=k + 1, k=k, large="large" if largest else "small", c=c, m=m
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: ("".join(r.choice("0123456789") for _ in range(r.randint(k + 2, 10))),),
        {"v": 2, "k": k, "largest": largest, "m": m, "c": c},
        (("1" * (k + 1),),),
    )


def _kaprekar(rng: Random) -> Problem:
    base, width, c = rng.randint(3, 16), rng.randint(2, 5), rng.randint(0, 80)
    top = base**width
    code = WORDINGS.source("kaprekar solution", width=width, base=base, c=c, top=top)

    def brute(n: int) -> list[int]:
        def step(n: int) -> int:
            digits = (digits_of(n, base) + [0] * width)[:width]
            difference = int(c)
            for i, d in enumerate(sorted(digits)):
                difference += d * (base**i - base ** (width - 1 - i))
            return difference % int(top)

        values = [n]
        while step(values[-1]) not in values:
            values.append(step(values[-1]))
        first = values.index(step(values[-1]))
        return [first, min(values[first:]), max(values[first:]), len(values) - first]

    return Problem(
        WORDINGS.one("kaprekar", width=width, base=base, c=c, top=top),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randrange(top),),
        {"v": 3, "base": base, "width": width, "c": c},
    )


FAMILIES = (
    leveled_family(
        "digit_rearrangements", "digits sorted, moved, read again", _arranged, _deleted, _kaprekar
    ),
)
