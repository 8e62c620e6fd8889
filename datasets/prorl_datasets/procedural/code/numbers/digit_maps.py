"""Sums of powers of digits, once and iterated until they repeat.

Leaves out: other maps of integers (``numbers.sequences``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, draw_span, leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


def _digit_step(rng: Random) -> Problem:
    p, c, t = rng.randint(1, 3), rng.randint(1, 9), rng.randint(0, 20)
    odd = rng.random() < 0.5
    which = "odd" if odd else "even"
    code = f"""
        def solve(n):
            return {c} * sum(int(d) ** {p} for d in str(n) if int(d) % 2 == {int(odd)}) + {t}
    """

    def brute(n: int) -> int:
        total = t
        for d in digits_of(n):
            if (d in (1, 3, 5, 7, 9)) == odd:
                total += c * d * (d if p > 1 else 1) * (d if p > 2 else 1)
        return total

    power = ("digits", "squares of the digits", "cubes of the digits")[p - 1]
    return Problem(
        f"Given an integer `n` (0 <= n <= 10^12), add up the {power} of n (in decimal) that are "
        f"{which}, multiply the sum by {c} and add {t}. Find the result (the sum of no digits is "
        "0).",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(10, 10 ** r.randint(2, 12)),),
        {"v": 1, "p": p, "c": c, "t": t, "odd": odd},
        ((0,),),
    )


def _digit_orbit_gold(c: int, base: int, p: int) -> str:
    return f"""
        def step(n):
            total = {c}
            while n:
                n, digit = divmod(n, {base})
                total += digit ** {p}
            return total


        def solve(n):
            seen = {{}}
            while n not in seen:
                seen[n] = len(seen)
                n = step(n)
            return [seen[n], len(seen) - seen[n], max(seen)]
    """


def _digit_orbit(rng: Random) -> Problem:
    p, c, base = rng.randint(2, 3), rng.randint(1, 300), rng.choice((7, 8, 9, 10, 10, 11, 12, 16))
    code = _digit_orbit_gold(c, base, p)

    def brute(n: int) -> list[int]:
        values = [n]
        while values.count(values[-1]) < 2:
            values.append(c + sum(d**p for d in digits_of(values[-1], base)))
        first = values.index(values[-1])
        return [first, len(values) - 1 - first, max(values)]

    return Problem(
        f"One step replaces an integer by {c} plus the sum of the "
        f"{'squares' if p == 2 else 'cubes'} "
        f"of its digits in base {base}. Given an integer `n` (1 <= n <= 10^9), apply the step "
        "again "
        "and again until a value comes back that was there before. Find three integers: the number "
        "of values before the repeating cycle, the length of the cycle, and the largest value seen "
        "(n included).",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(1, 9)),),
        {"v": 2, "p": p, "c": c, "base": base},
    )


def _digit_settled_gold(c: int, base: int, p: int, mark: int) -> str:
    return f"""
        def step(n):
            total = {c}
            while n:
                n, digit = divmod(n, {base})
                total += digit ** {p}
            return total


        def solve(a, b):
            least = {{}}
            for start in range(a, b + 1):
                path, n = [], start
                while n not in least and n not in path:
                    path.append(n)
                    n = step(n)
                value = least[n] if n in least else min(path[path.index(n) :])
                for seen in path:
                    least[seen] = value
            return [sum(least[n] % {mark} == r for n in range(a, b + 1)) for r in range({mark})]
    """


def _digit_settled(rng: Random) -> Problem:
    p, c, base = rng.randint(2, 3), rng.randint(0, 60), rng.choice((5, 6, 7, 8, 9, 10, 12))
    mark = rng.randint(2, 5)
    code = _digit_settled_gold(c, base, p, mark)

    def brute(a: int, b: int) -> list[int]:
        counts = [0] * mark
        for n in range(a, b + 1):
            values = [n]
            while values[-1] not in values[:-1]:
                values.append(c + sum(d**p for d in digits_of(values[-1], base)))
            counts[min(values[values.index(values[-1]) + 1 :]) % mark] += 1
        return counts

    return Problem(
        f"One step replaces an integer by {c} plus the sum of the "
        f"{'squares' if p == 2 else 'cubes'} "
        f"of its digits in base {base}. From any start, repeated steps end in a cycle; call the "
        "smallest value on that cycle the end of the start. Given integers `a` and `b` "
        f"(1 <= a <= b <= 10^5, b - a <= 5000), find {mark} integers: for each r = 0, ..., "
        f"{mark - 1} "
        f"in this order, how many starts n with a <= n <= b have an end e with e mod {mark} = r.",
        (("a", "int"), ("b", "int")),
        "ints",
        source(code),
        brute,
        lambda r: draw_span(r, 5, 10 ** r.randint(1, 4), 60),
        {"v": 3, "p": p, "c": c, "base": base, "mark": mark},
        ((1, 1),),
    )


FAMILIES = (
    code_family(
        "digit_maps",
        "sums, products, maps of decimal digits",
        leveled(_digit_step, _digit_orbit, _digit_settled),
    ),
)
