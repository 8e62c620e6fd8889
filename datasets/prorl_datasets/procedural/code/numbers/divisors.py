"""Problems on divisors."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import divisors_of, draw_property, leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _many_divisors(r: Random) -> int:
    return r.randint(1, 40) * r.choice((6, 12, 20, 24, 30, 36, 60))


def _divisor_sum(rng: Random) -> Problem:
    m, p = rng.randint(2, 30), rng.randint(0, 2)
    t = rng.randrange(1, m)
    what = ("the number of", "the sum of", "the sum of the squares of")[p]
    code = f"return sum(d ** {p} for d in range(1, n + 1) if n % d == 0 and d % {m} <= {t - 1})"

    def brute(n: int) -> int:
        total = 0
        for d in divisors_of(n):
            if d - d // m * m < t:
                total += (1, d, d * d)[p]
        return total

    return Problem(
        WORDINGS.one("divisor sum", what=what, m=m, t=t),
        "n: int -> int",
        f"def solve(n):\n    {code}",
        brute,
        lambda r: (_many_divisors(r),),
        {"v": 1, "m": m, "t": t, "p": p},
        ((1,),),
    )


def _divisor_pairs(rng: Random) -> Problem:
    has, x, y = draw_property(rng), rng.randint(1, 9), rng.randint(1, 9)
    m = rng.randint(20, 200)
    code = WORDINGS.source("divisor pairs solution", x=x, y=y, m=m, code=has.code)

    def brute(n: int) -> int:
        values = [
            (x * d + y * e) % m
            for d in range(1, n + 1)
            if has.check(d)
            for e in [n // d]
            if d * e == n
        ]
        return sum(values)

    return Problem(
        WORDINGS.one("divisor pairs", has=has, x=x, y=y, m=m),
        "n: int -> int",
        code,
        brute,
        lambda r: (_many_divisors(r),),
        {"v": 2, "has": has.key, "x": x, "y": y, "m": m},
        ((1,),),
    )


def _divisor_totals(rng: Random) -> Problem:
    m, w = rng.randint(2, 30), rng.randint(1, 20)
    r0 = rng.randrange(m)
    big = 10**9 + 7
    code = WORDINGS.source("divisor totals solution", value=r0 or m, m=m, w=w, big=big)

    def brute(n: int) -> int:
        total = 0
        for i in range(1, n + 1):
            total += sum(d + w * i for d in divisors_of(i) if d % m == r0)
        return total % big

    return Problem(
        WORDINGS.one("divisor totals", w=w, m=m, r0=r0),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(m, m + 90),),
        {"v": 3, "m": m, "r": r0, "w": w},
        ((1,),),
    )


def _multiples(r: Random, g: int, count: int) -> list[int]:
    return [r.randint(1, 12) * (g if r.random() < 0.7 else 1) for _ in range(r.randint(3, count))]


def _gcd_sum(rng: Random) -> Problem:
    k, t, lcm = rng.randint(6, 120), rng.randint(0, 9), rng.random() < 0.4
    call, name = ("lcm", "least common multiple") if lcm else ("gcd", "greatest common divisor")

    def brute(a: list[int]) -> int:
        total = 0
        for v in a:
            shared = max(d for d in range(1, v + 1) if v % d == 0 and k % d == 0)
            total += t + (v * k // shared if lcm else shared)
        return total

    return Problem(
        WORDINGS.one("gcd sum", name=name, k=k, t=t).replace(", plus 0,", ""),
        "a: ints -> int",
        f"import math\n\n\ndef solve(a):\n    return sum(math.{call}(v, {k}) + {t} for v in a)",
        brute,
        lambda r: (_multiples(r, r.choice((2, 3, 4, 6)), 9),),
        {"v": 1, "k": k, "t": t, "lcm": lcm},
        (([],),),
    )


def _gcd_pairs(rng: Random) -> Problem:
    low, high, m = rng.randint(1, 8), rng.randint(9, 60), rng.randint(2, 50)
    kind = rng.choice((0, 1, 1, 1, 2))
    term = ("1", f"(a[i] + a[j]) % {m}", "math.gcd(a[i], a[j])")[kind]
    what = (
        "count them",
        f"find the sum of (a[i] + a[j]) mod {m} over them",
        "find the sum of these divisors over them",
    )[kind]
    code = WORDINGS.source("gcd pairs solution", low=low, high=high, term=term)

    def brute(a: list[int]) -> int:
        total = 0
        sets = [set(divisors_of(v)) for v in a]
        for i in range(len(a)):
            for j in range(i + 1, len(a)):
                g = max(sets[i] & sets[j])
                if low <= g <= high:
                    total += (1, (a[i] + a[j]) % m, g)[kind]
        return total

    return Problem(
        WORDINGS.one("gcd pairs", low=low, high=high, what=what),
        "a: ints -> int",
        code,
        brute,
        lambda r: (_multiples(r, r.choice((2, 6, 10, 12, low * 3, high)), 14),),
        {"v": 2, "low": low, "high": high, "kind": kind, "m": m if kind == 1 else 0},
        (([],),),
    )


def _gcd_windows(rng: Random) -> Problem:
    g, t = rng.randint(2, 30), rng.randint(1, 6)
    exact = rng.random() < 0.5
    m = rng.randint(2, 15)
    test = f"value == {g}" if exact else f"value % {g} == 0"
    code = WORDINGS.source("gcd windows solution", test=test, m=m, t=t)

    def brute(a: list[int]) -> int:
        total = 0
        for i in range(len(a)):
            for j in range(i + t, len(a) + 1):
                window = a[i:j]
                divides = all(v % g == 0 for v in window)
                if exact and divides:
                    divides = not any(
                        all(v % (g * f) == 0 for v in window)
                        for f in range(2, 1 + min(window) // g)
                    )
                total += len(window) % m if divides else 0
        return total

    wanted = f"is exactly {g}" if exact else f"is a multiple of {g}"
    return Problem(
        WORDINGS.one("gcd windows", t=t, plural_s="s" * (t > 1), wanted=wanted, m=m),
        "a: ints -> int",
        code,
        brute,
        lambda r: (
            [
                g * r.choice((1, 2, 2, 3, 4, 6)) + (r.random() < 0.08)
                for _ in range(r.randint(t, 18))
            ],
        ),
        {"v": 3, "g": g, "t": t, "exact": exact, "m": m},
        (([],),),
    )


FAMILIES = (
    leveled_family(
        "divisor_sums",
        "sums and counts over divisors",
        _divisor_sum,
        _divisor_pairs,
        _divisor_totals,
    ),
    leveled_family(
        "gcd_structures", "GCD and LCM over lists and ranges", _gcd_sum, _gcd_pairs, _gcd_windows
    ),
)
