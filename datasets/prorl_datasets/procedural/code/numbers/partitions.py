"""Problems on coins, partitions and compositions."""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_PRIME = 10**9 + 7


def _coin_counts(rng: Random) -> Problem:
    coins = sorted(rng.sample(range(1, 16), 3))
    code = WORDINGS.source("coin counts solution", coins=coins)

    def brute(n: int) -> int:
        a, b, c = coins
        return sum(
            1
            for i in range(n // a + 1)
            for j in range((n - i * a) // b + 1)
            if (n - i * a - j * b) % c == 0
        )

    named = f"{coins[0]}, {coins[1]} and {coins[2]}"
    return Problem(
        WORDINGS.one("coin counts", named=named),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 160),),
        {"v": 1, "coins": coins},
        ((0,),),
    )


def _part_partitions(rng: Random) -> Problem:
    m, cap = rng.randint(2, 9), rng.randint(1, 4)
    rests = sorted(rng.sample(range(m), rng.randint(1, m - 1)))
    shift = rng.randint(0, 9)
    code = WORDINGS.source(
        "part partitions solution", shift=shift, m=m, rests=tuple(rests), cap=cap, prime=_PRIME
    )

    def brute(n: int) -> int:
        @cache
        def ways(amount: int, largest: int) -> int:
            if amount == 0 or largest == 0:
                return int(amount == 0)
            total = ways(amount, largest - 1)
            if largest % m in rests:
                for copies in range(1, min(cap, amount // largest) + 1):
                    total += ways(amount - copies * largest, largest - 1)
            return total

        return ways(n + shift, n + shift) % _PRIME

    whole = f"n + {shift}" if shift else "n"
    allowed = ", ".join(map(str, rests))
    return Problem(
        WORDINGS.one(
            "part partitions", whole=whole, allowed=allowed, m=m, cap=cap, plural_s="s" * (cap > 1)
        ),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(5, 70),),
        {"v": 2, "m": m, "cap": cap, "rests": rests, "shift": shift},
    )


def _compositions(rng: Random) -> Problem:
    d, top, big = rng.randint(1, 4), rng.randint(3, 9), rng.randint(1000, 99999)
    near = rng.random() < 0.5
    multiple = rng.randint(1, 3)
    test = f"abs(part - last) <= {d}" if near else f"abs(part - last) >= {d}"
    code = WORDINGS.source(
        "compositions solution", multiple=multiple, top_plus_1=top + 1, top=top, test=test, big=big
    )

    def brute(n: int) -> int:
        @cache
        def ways(amount: int, last: int, count: int) -> int:
            if amount == 0:
                return int(count % multiple == 0)
            found = 0
            for part in range(1, min(amount, top) + 1):
                fits = abs(part - last) <= d if near else abs(part - last) >= d
                if last == 0 or fits:
                    found += ways(amount - part, part, (count + 1) % multiple)
            return found

        return ways(n, 0, 0) % big

    length = "" if multiple == 1 else f" and the number of terms is divisible by {multiple}"
    return Problem(
        WORDINGS.one(
            "compositions", top=top, most="most" if near else "least", d=d, length=length, big=big
        ),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(3, 60),),
        {"v": 3, "d": d, "top": top, "big": big, "near": near, "multiple": multiple},
    )


FAMILIES = (
    leveled_family(
        "partition_counts",
        "ways to pay or split a number",
        _coin_counts,
        _part_partitions,
        _compositions,
    ),
)
