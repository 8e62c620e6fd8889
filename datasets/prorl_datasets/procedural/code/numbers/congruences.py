"""Problems on congruences."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import divisors_of, leveled_family, with_imports
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _linear_congruence(rng: Random) -> Problem:
    a, c, k = rng.randint(2, 60), rng.randint(0, 40), rng.randint(1, 3)
    code = f"return sum({k} * x for x in range(m) if ({a} * x - {c}) % m == 0)"

    def brute(m: int) -> int:
        total = 0
        for x in range(m):
            value = a * x
            while value >= m:
                value -= m
            total += x if value == c - c // m * m else 0
        return total * k

    times = ("", "twice ", "three times ")[k - 1]
    return Problem(
        WORDINGS.one("linear congruence", times=times, a=a, c=c),
        "m: int -> int",
        f"def solve(m):\n    {code}",
        brute,
        lambda r: (r.randint(2, 90),),
        {"v": 1, "a": a, "c": c, "k": k},
        ((1,),),
    )


def _quadratic_congruence(rng: Random) -> Problem:
    a, b, c = rng.randint(1, 9), rng.randint(0, 12), rng.randint(0, 12)
    t = rng.randint(1, 5)
    code = WORDINGS.source("quadratic congruence solution", a=a, b=b, c=c, t=t)

    def brute(m: int) -> list[int]:
        values = sorted((a * x + b) * x % m for x in range(m))
        shifted = sorted((v + c) % m for v in values)
        popular = [r for r in sorted(set(shifted)) if shifted.count(r) >= t]
        return [len(popular), sum(popular), max(shifted.count(r) for r in shifted)]

    times = "once" if t == 1 else f"{t} times"
    return Problem(
        WORDINGS.one("quadratic congruence", a=a, b=b, c=c, times=times),
        "m: int -> ints",
        code,
        brute,
        lambda r: (r.randint(2, 60),),
        {"v": 2, "a": a, "b": b, "c": c, "t": t},
        ((1,),),
    )


def _remainders(rng: Random) -> Problem:
    mods = sorted(rng.sample(range(3, 16), 3))
    low = rng.randint(0, 200)
    code = WORDINGS.source("remainders solution", mods=mods, low=low)

    def brute(r: list[int]) -> list[int]:
        period = mods[0]
        while any(period % m for m in mods):
            period += mods[0]
        for x in range(low, low + period):
            if [x % m for m in mods] == r:
                return [x, period]
        return [-1, 0]

    def draw(r: Random) -> tuple[list[int]]:
        x = r.randint(0, 5000)
        rests = [x % m for m in mods]
        if r.random() < 0.15:
            rests[0] = r.randrange(mods[0])
        return (rests,)

    system = ", ".join(f"x mod {m} = r[{i}]" for i, m in enumerate(mods))
    return Problem(
        WORDINGS.one("remainders", mods=mods, low=low, told=system),
        "r: ints -> ints",
        with_imports(code),
        brute,
        draw,
        {"v": 3, "mods": mods, "low": low},
    )


def _floor_sum(rng: Random) -> Problem:
    p, q, m = rng.randint(2, 30), rng.randint(0, 30), rng.randint(2, 30)
    floor = rng.random() < 0.5
    op, name = (
        ("//", f"floor(({p} * i + {q}) / {m})") if floor else ("%", f"({p} * i + {q}) mod {m}")
    )

    def brute(n: int) -> int:
        quotients = [divmod(p * i + q, m) for i in range(1, n + 1)]
        return sum(pair[0 if floor else 1] for pair in quotients)

    return Problem(
        WORDINGS.one("floor sum", name=name),
        "n: int -> int",
        f"def solve(n):\n    return sum(({p} * i + {q}) {op} {m} for i in range(1, n + 1))",
        brute,
        lambda r: (r.randint(1, 120),),
        {"v": 1, "p": p, "q": q, "m": m, "floor": floor},
        ((0,),),
    )


def _coprime_sum(rng: Random) -> Problem:
    c, e, m = rng.randint(1, 20), rng.randint(1, 3), rng.randint(100, 9999)
    code = f"return sum({c} * i ** {e} for i in range(1, n + 1) if math.gcd(i, n) == 1) % {m}"

    def brute(n: int) -> int:
        primes = [p for p in divisors_of(n) if len(divisors_of(p)) == 2]
        total = 0
        for i in range(1, n + 1):
            if all(i % p for p in primes):
                total = (total + c * i**e) % m
        return total

    power = ("i", "i^2", "i^3")[e - 1]
    return Problem(
        WORDINGS.one("coprime sum", c=c, power=power, m=m),
        "n: int -> int",
        f"import math\n\n\ndef solve(n):\n    {code}",
        brute,
        lambda r: (r.randint(2, 120),),
        {"v": 2, "c": c, "e": e, "m": m},
        ((1,),),
    )


def _geometric_sum(rng: Random) -> Problem:
    b, big, c = rng.randint(2, 40), rng.randint(100, 9999), rng.randint(0, 30)
    code = WORDINGS.source("geometric sum solution", b=b, big=big, c=c)

    def brute(n: int) -> int:
        whole = b**n if n < 300 else pow(b, n, big * (b - 1))
        return ((whole - 1) // (b - 1) % big + c * (n % big)) % big

    extra = f" + {c} * n" if c else ""
    return Problem(
        WORDINGS.one("geometric sum", b=b, extra=extra, big=big),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(3, 10 ** r.randint(2, 15)),),
        {"v": 3, "b": b, "m": big, "c": c},
        ((0,),),
    )


FAMILIES = (
    leveled_family(
        "congruences",
        "solutions and residues",
        _linear_congruence,
        _quadratic_congruence,
        _remainders,
    ),
    leveled_family(
        "modular_sums", "sums of remainders over ranges", _floor_sum, _coprime_sum, _geometric_sum
    ),
)
