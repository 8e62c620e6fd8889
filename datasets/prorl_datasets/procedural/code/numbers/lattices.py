"""Problems on lattice points, number triangles, greedy sums and bounded paths."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _points(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 6), rng.randint(1, 6), rng.randint(2, 5)
    t = rng.randrange(m)
    code = WORDINGS.source("points solution", p=p, q=q, m=m, t=t)

    def brute(n: int) -> int:
        count, x = 0, 0
        while p * x * x <= n:
            y = 0
            while p * x * x + q * y * y <= n:
                signs = sorted({(a * x, b * y) for a in (1, -1) for b in (1, -1)})
                count += sum(1 for u, v in signs if (u + v - t) % m == 0)
                y += 1
            x += 1
        return count

    return Problem(
        WORDINGS.one("points", p=p, q=q, t=t, m=m, m_minus_1=m - 1),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 1, "p": p, "q": q, "m": m, "t": t},
    )


def _visible(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 9), rng.randint(1, 9), rng.randint(20, 300)
    c, strict = rng.randint(1, 30), rng.random() < 0.5
    code = WORDINGS.source(
        "visible solution", p=p, q=q, value="== 1" if strict else "> 1", c=c, m=m
    )

    def brute(n: int) -> int:
        shared = {
            (k * x, k * y)
            for k in range(2, n + 1)
            for x in range(1, n // k + 1)
            for y in range(1, n // k + 1)
        }
        total = 0
        for x, y in product(range(1, n + 1), repeat=2):
            if p * x + q * y <= n and ((x, y) in shared) != strict:
                value = x * y + c
                total += value - value // m * m
        return total

    return Problem(
        WORDINGS.one("visible", p=p, q=q, no="no" if strict else "a", c=c, m=m),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(p + q + 4, 48),),
        {"v": 2, "p": p, "q": q, "m": m, "c": c, "strict": strict},
    )


def _forms(rng: Random) -> Problem:
    p, q, s = sorted(rng.randint(1, 9) for _ in range(3))
    c, ordered = rng.randint(0, 20), rng.random() < 0.5
    code = WORDINGS.source("forms solution", y="y" if ordered else "0", q=q, s=s, c=c, p=p)

    def brute(n: int) -> list[int]:
        reached: list[int] = []
        side = range(int(n**0.5) + 2)
        for x, y, z in product(side, side, side):
            if not ordered or y <= z:
                reached.append(p * x**2 + q * y**2 + s * z**2 + c)
        reached = [v for v in reached if v <= n]
        tally = dict.fromkeys(range(n + 1), 0)
        for v in reached:
            tally[v] += 1
        best = max(tally.values())
        first = next(v for v, count in tally.items() if count == best)
        return [best, first, len(reached), n + 1 - len(set(reached))]

    rule = " and y <= z" if ordered else ""
    return Problem(
        WORDINGS.one("forms", rule=rule, p=p, q=q, s=s, c=c),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(3, 130),),
        {"v": 3, "p": p, "q": q, "s": s, "c": c, "ordered": ordered},
        ((0,),),
    )


def _triangle(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 5), rng.randint(1, 5), rng.randint(10, 500)
    code = WORDINGS.source("triangle solution", p=p, q=q, m=m)

    def brute(n: int) -> list[int]:
        coefficients = [1]
        for i in range(n):
            coefficients.append(coefficients[-1] * (n - i) // (i + 1))
        return [value * q ** (n - i) * p**i % m for i, value in enumerate(coefficients)]

    return Problem(
        WORDINGS.one("triangle", p=p, q=q, m=m),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 12),),
        {"v": 1, "p": p, "q": q, "m": m},
        ((0,),),
    )


def _greedy_sum(rng: Random) -> Problem:
    p, q = rng.randint(1, 3), rng.randint(1, 3)
    start = sorted((1, rng.randint(2, 9)))
    c = rng.randint(0, 200)
    code = WORDINGS.source("greedy sum solution", c=c, start=start, p=p, q=q)

    def brute(n: int) -> list[int]:
        remaining, parts = n + c, []
        while remaining:
            low, high = start
            while high <= remaining:
                low, high = high, p * high + q * low
            parts.append(low)
            remaining -= low
        return parts

    return Problem(
        WORDINGS.one("greedy sum", start=start, p=p, q=q, c=c),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(1, 9)),),
        {"v": 2, "p": p, "q": q, "start": start, "c": c},
        ((1,),),
    )


def _paths(rng: Random) -> Problem:
    rise, fall, flat = rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 3)
    top, big = rng.randint(3, 9), rng.randint(1000, 99999)
    code = WORDINGS.source("paths solution", top=top, flat=flat, rise=rise, fall=fall, big=big)

    def brute(n: int, h: int) -> int:
        @cache
        def back(steps: int, height: int) -> int:
            if not 0 <= height <= top:
                return 0
            if steps == 0:
                return int(height == 0)
            up, down = back(steps - 1, height - rise), back(steps - 1, height + fall)
            return up + down + flat * back(steps - 1, height)

        return back(n, h) % big

    stay = f" or stays level{f', in one of {flat} colours' if flat > 1 else ''}" if flat else ""
    return Problem(
        WORDINGS.one("paths", rise=rise, fall=fall, stay=stay, top=top, big=big),
        "n: int, h: int -> int",
        code,
        brute,
        lambda r: (r.randint(2, 40), r.randint(0, top)),
        {"v": 3, "rise": rise, "fall": fall, "flat": flat, "top": top, "big": big},
        ((0, 0),),
    )


FAMILIES = (
    leveled_family(
        "lattice_counts", "integer points and values of forms", _points, _visible, _forms
    ),
    leveled_family(
        "number_triangles",
        "number triangles, coloured paths, greedy sums of terms",
        _triangle,
        _greedy_sum,
        _paths,
    ),
)
