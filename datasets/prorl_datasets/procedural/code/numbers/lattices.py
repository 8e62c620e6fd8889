"""Lattice points, triangles of numbers, greedy sums and bounded paths.

Leaves out: partitions (``numbers.partitions``).
"""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


def _points(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 6), rng.randint(1, 6), rng.randint(2, 5)
    t = rng.randrange(m)
    code = f"""
        def solve(n):
            count = 0
            for x in range(-n, n + 1):
                for y in range(-n, n + 1):
                    if {p} * x * x + {q} * y * y <= n and (x + y) % {m} == {t}:
                        count += 1
            return count
    """

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
        f"Given an integer `n` (0 <= n <= 60), count the pairs (x, y) of integers (negative ones "
        f"included) with {p} * x^2 + {q} * y^2 <= n for which x + y leaves the remainder {t} when "
        f"divided by {m} (the remainder of a negative integer also lies between 0 and {m - 1}).",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 1, "p": p, "q": q, "m": m, "t": t},
    )


def _visible_gold(p: int, q: int, c: int, m: int, strict: bool) -> str:
    return f"""
        import math


        def solve(n):
            total = 0
            for x in range(1, n // {p} + 1):
                for y in range(1, (n - {p} * x) // {q} + 1):
                    if math.gcd(x, y) {"== 1" if strict else "> 1"}:
                        total += (x * y + {c}) % {m}
            return total
    """


def _visible(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 9), rng.randint(1, 9), rng.randint(20, 300)
    c, strict = rng.randint(1, 30), rng.random() < 0.5
    code = _visible_gold(p, q, c, m, strict)

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
        "Given an integer `n` (1 <= n <= 300), take all pairs (x, y) of integers x >= 1, y >= 1 "
        "with "
        f"{p} * x + {q} * y <= n that have {'no' if strict else 'a'} common divisor above 1. Find "
        "the "
        f"sum of (x * y + {c}) mod {m} over these pairs (0 if there are none).",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(p + q + 4, 48),),
        {"v": 2, "p": p, "q": q, "m": m, "c": c, "strict": strict},
    )


def _forms_gold(q: int, s: int, c: int, p: int, ordered: bool) -> str:
    return f"""
        def solve(n):
            two = [0] * (n + 1)
            for y in range(n + 1):
                for z in range({"y" if ordered else "0"}, n + 1):
                    value = {q} * y * y + {s} * z * z + {c}
                    if value > n:
                        break
                    two[value] += 1
            counts = [0] * (n + 1)
            for x in range(n + 1):
                if {p} * x * x > n:
                    break
                for value in range(n + 1 - {p} * x * x):
                    counts[value + {p} * x * x] += two[value]
            best = max(counts)
            return [best, counts.index(best), sum(counts), counts.count(0)]
    """


def _forms(rng: Random) -> Problem:
    p, q, s = sorted(rng.randint(1, 9) for _ in range(3))
    c, ordered = rng.randint(0, 20), rng.random() < 0.5
    code = _forms_gold(q, s, c, p, ordered)

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
        f"For an integer v, let w(v) be the number of triples (x, y, z) of integers >= 0{rule} "
        "with "
        f"{p} * x^2 + {q} * y^2 + {s} * z^2 + {c} = v. Given an integer `n` (0 <= n <= 2000), look "
        "at "
        "v = 0, 1, ..., n and find four integers: the largest w(v), the smallest v where it is "
        "reached, the sum of all w(v), and the number of v with w(v) = 0.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(3, 130),),
        {"v": 3, "p": p, "q": q, "s": s, "c": c, "ordered": ordered},
        ((0,),),
    )


def _triangle(rng: Random) -> Problem:
    p, q, m = rng.randint(1, 5), rng.randint(1, 5), rng.randint(10, 500)
    code = f"""
        def solve(n):
            row = [1]
            for _ in range(n):
                row = [({p} * a + {q} * b) % {m} for a, b in zip([0, *row], [*row, 0])]
            return row
    """

    def brute(n: int) -> list[int]:
        coefficients = [1]
        for i in range(n):
            coefficients.append(coefficients[-1] * (n - i) // (i + 1))
        return [value * q ** (n - i) * p**i % m for i, value in enumerate(coefficients)]

    return Problem(
        "Row 0 of a triangle is the single number 1. Every row has one number more than the row "
        "above; "
        f"each of its numbers is ({p} * L + {q} * R) mod {m}, where L and R are the numbers above "
        "it "
        "to the left and to the right (0 where there is none). So place i of a row has place i - 1 "
        "of the row above as L and place i as R. Given an integer `n` (0 <= n <= 50), find row n.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 12),),
        {"v": 1, "p": p, "q": q, "m": m},
        ((0,),),
    )


def _greedy_sum_gold(c: int, start: list[int], p: int, q: int) -> str:
    return f"""
        def solve(n):
            n += {c}
            terms = {start}
            while terms[-1] <= n:
                terms.append({p} * terms[-1] + {q} * terms[-2])
            parts = []
            for term in reversed(terms):
                while term <= n:
                    parts.append(term)
                    n -= term
            return parts
    """


def _greedy_sum(rng: Random) -> Problem:
    p, q = rng.randint(1, 3), rng.randint(1, 3)
    start = sorted((1, rng.randint(2, 9)))
    c = rng.randint(0, 200)
    code = _greedy_sum_gold(c, start, p, q)

    def brute(n: int) -> list[int]:
        rest, parts = n + c, []
        while rest:
            low, high = start
            while high <= rest:
                low, high = high, p * high + q * low
            parts.append(low)
            rest -= low
        return parts

    return Problem(
        f"A sequence starts with t(0) = {start[0]}, t(1) = {start[1]}, and t(i) = {p} * t(i-1) + "
        f"{q} * t(i-2) "
        f"for i >= 2. Given an integer `n` (1 <= n <= 10^9), write n + {c} greedily as a sum of "
        "terms: "
        "take the largest term that is not above what is left, subtract it, and repeat until "
        "nothing "
        "is left (a term may be taken more than once). Find the terms in the order in which they "
        "are "
        "taken.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(1, 9)),),
        {"v": 2, "p": p, "q": q, "start": start, "c": c},
        ((1,),),
    )


def _paths_gold(top: int, flat: int, rise: int, fall: int, big: int) -> str:
    return f"""
        def solve(n, h):
            ways = [1] + [0] * {top}
            for _ in range(n):
                following = [{flat} * w for w in ways]
                for height, count in enumerate(ways):
                    if height + {rise} <= {top}:
                        following[height + {rise}] += count
                    if height >= {fall}:
                        following[height - {fall}] += count
                ways = [w % {big} for w in following]
            return ways[h]
    """


def _paths(rng: Random) -> Problem:
    rise, fall, flat = rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 3)
    top, big = rng.randint(3, 9), rng.randint(1000, 99999)
    code = _paths_gold(top, flat, rise, fall, big)

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
        f"A path starts at height 0. Every step goes up by {rise} or down by {fall}{stay}; the "
        "height never "
        f"goes below 0 or above {top}. Given integers `n` (0 <= n <= 500) and `h` (0 <= h <= "
        f"{top}), "
        f"count the paths of n steps that end at height h, and find the count modulo {big}.",
        (("n", "int"), ("h", "int")),
        "int",
        source(code),
        brute,
        lambda r: (r.randint(2, 40), r.randint(0, top)),
        {"v": 3, "rise": rise, "fall": fall, "flat": flat, "top": top, "big": big},
        ((0, 0),),
    )


FAMILIES = (
    code_family(
        "lattice_counts", "integer points and values of forms", leveled(_points, _visible, _forms)
    ),
    code_family(
        "number_triangles",
        "number triangles, coloured paths, greedy sums of terms",
        leveled(_triangle, _greedy_sum, _paths),
    ),
)
