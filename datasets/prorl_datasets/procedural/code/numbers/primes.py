"""Problems on primes in a range."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import (
    Property,
    draw_property,
    is_prime,
    leveled_family,
)
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _span(rng: Random, width: int, top: int) -> tuple[int, int]:
    low = rng.randint(1, top)
    return low, low + rng.randint(width // 8, width)


def _prime_count(rng: Random) -> Problem:
    d = rng.randint(3, 48)
    r = rng.randint(2, max(2, 2 * d // 3))
    total = rng.random() < 0.5
    code = WORDINGS.source("prime count solution", d=d, r=r, p="p" if total else 1)

    def brute(n: int) -> int:
        primes = [p for p in range(2, n + 1) if p % d >= r and is_prime(p)]
        return sum(primes) if total else len(primes)

    return Problem(
        WORDINGS.one("prime count", sum="sum" if total else "number", d=d, r=r),
        "n: int -> int",
        code,
        brute,
        lambda r_: (r_.randint(20, 600),),
        {"v": 1, "d": d, "r": r, "total": total},
        ((1,),),
    )


_SIEVE = """
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))
"""


def _prime_property(rng: Random) -> Property:
    """Draw a property that at least a tenth of the primes below 300 have."""
    primes = [p for p in range(300) if is_prime(p)]
    while True:
        has = draw_property(rng)
        if 10 * sum(map(has.check, primes)) >= len(primes):
            return has


def _prime_filter(rng: Random) -> Problem:
    has, k = _prime_property(rng), rng.randint(1, 9)
    first = rng.randint(1, k)
    code = WORDINGS.source("prime filter solution", code=has.code, first_minus_1=first - 1, k=k)

    def brute(a: int, b: int) -> int:
        total = place = 0
        composite = {
            n for d in range(2, int(b**0.5) + 1) for n in range(d * max(2, -(-a // d)), b + 1, d)
        }
        for n in range(max(2, a), b + 1):
            if n not in composite and has.check(n):
                place += 1
                total += n if place % k == first % k else 0
        return total

    every = (
        "all of them"
        if k == 1
        else f"those at the places {first}, {first + k}, {first + 2 * k}, ..."
    )
    return Problem(
        WORDINGS.one("prime filter", has=has, every=every),
        "a: int, b: int -> int",
        f"import math\n\n{_SIEVE}\n\n{code}",
        brute,
        lambda r: _span(r, 250, 10 ** r.randint(1, 3)),
        {"v": 2, "has": has.key, "k": k, "first": first},
    )


def _prime_gaps(rng: Random) -> Problem:
    d, m = rng.choice((2, 4, 6, 8, 10, 12)), rng.randint(2, 60)
    c = rng.randint(1, 30)
    code = WORDINGS.source("prime gaps solution", c=c, m=m, d=d)

    def brute(a: int, b: int) -> int:
        total = 0
        for p in range(a, b + 1):
            q = next((q for q in range(p + 1, b + 1) if is_prime(q)), 0) if is_prime(p) else 0
            if q - p >= d:
                value = p + c * q
                total += value - value // m * m
        return total

    return Problem(
        WORDINGS.one("prime gaps", d=d, c=c, m=m),
        "a: int, b: int -> int",
        f"import math\n\n{_SIEVE}\n\n{code}",
        brute,
        lambda r: _span(r, 110, 10 ** r.randint(1, 3)),
        {"v": 3, "d": d, "m": m, "c": c},
    )


FAMILIES = (
    leveled_family(
        "prime_lists", "primes under further conditions", _prime_count, _prime_filter, _prime_gaps
    ),
)
