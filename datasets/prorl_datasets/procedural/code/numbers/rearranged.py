"""Digits sorted, moved and deleted.

Leaves out: sums of digits (``numbers.digit_maps``).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


def _arranged_brute(c: int, k: int, kind: int) -> Callable[[int], int]:
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

    return brute


def _arranged(rng: Random) -> Problem:
    kind, c, k = rng.randint(0, 3), rng.randint(0, 9), rng.randint(1, 99)
    what = (
        "sort its digits in ascending order",
        "sort its digits in descending order",
        "reverse the order of its digits",
        "move its last digit to the front",
    )[kind]
    order = (
        "sorted(digits)",
        "sorted(digits, reverse=True)",
        "digits[::-1]",
        "digits[-1:] + digits[:-1]",
    )
    code = f"""
        def solve(n):
            digits = list(str(n))
            return int("".join({order[kind]})) * {c + 1} + {k}
    """

    brute = _arranged_brute(c, k, kind)

    times = f"multiply that by {c + 1} and " if c else ""
    return Problem(
        f"Given an integer `n` (1 <= n <= 10^15), {what} (in decimal) and read the result as an "
        "integer "
        f"(leading zeros do not count); {times}add {k}. Find the number that results.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(10, 10 ** r.randint(2, 15)),),
        {"v": 1, "kind": kind, "c": c, "k": k},
        ((7,),),
    )


def _deleted(rng: Random) -> Problem:
    k, largest, m = rng.randint(1, 4), rng.random() < 0.5, rng.randint(1000, 99999)
    c = rng.randint(2, 99)
    code = f"""
        def solve(s):
            kept, left = [], {k}
            for ch in s:
                while left and kept and kept[-1] {"<" if largest else ">"} ch:
                    kept.pop()
                    left -= 1
                kept.append(ch)
            return int("".join(kept[: len(s) - {k}])) * {c} % {m}
    """

    def brute(s: str) -> int:
        found = [s]
        for _ in range(k):
            found = sorted({t[:i] + t[i + 1 :] for t in found for i in range(len(t))})
        best = found[-1] if largest else found[0]
        return c * int(best) % m

    return Problem(
        f"Given a string `s` of {k + 1} to 30 decimal digits, delete exactly {k} of its digits "
        "(the others "
        "keep their order) so that the integer that remains is as "
        f"{'large' if largest else 'small'} "
        f"as possible (leading zeros are allowed and do not count). Call it x and find "
        f"({c} * x) mod {m}.",
        (("s", "str"),),
        "int",
        source(code),
        brute,
        lambda r: ("".join(r.choice("0123456789") for _ in range(r.randint(k + 2, 10))),),
        {"v": 2, "k": k, "largest": largest, "m": m, "c": c},
        (("1" * (k + 1),),),
    )


def _kaprekar_gold(width: int, base: int, c: int, top: int) -> str:
    return f"""
        def step(n):
            digits = []
            for _ in range({width}):
                n, digit = divmod(n, {base})
                digits.append(digit)
            digits.sort()
            low = high = 0
            for small, large in zip(digits, reversed(digits)):
                low, high = low * {base} + small, high * {base} + large
            return (high - low + {c}) % {top}


        def solve(n):
            places = {{}}
            while n not in places:
                places[n] = len(places)
                n = step(n)
            cycle = [value for value, place in places.items() if place >= places[n]]
            return [places[n], min(cycle), max(cycle), len(cycle)]
    """


def _kaprekar(rng: Random) -> Problem:
    base, width, c = rng.randint(3, 16), rng.randint(2, 5), rng.randint(0, 80)
    top = base**width
    code = _kaprekar_gold(width, base, c, top)

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
        f"One step takes an integer of {width} digits in base {base} (leading zeros are kept), "
        "sorts its "
        f"digits in descending and in ascending order, reads both as integers in base {base}, and "
        f"replaces the integer by (descending - ascending + {c}) mod {top}. Given an integer `n` "
        f"(0 <= n < {top}), repeat the step; the values end in a cycle. Find four integers: how "
        "many "
        "values (n included) come before the first one on the cycle, the smallest value on the "
        "cycle, the largest value on it, and its length.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randrange(top),),
        {"v": 3, "base": base, "width": width, "c": c},
    )


FAMILIES = (
    code_family(
        "digit_rearrangements",
        "digits sorted, moved, read again",
        leveled(_arranged, _deleted, _kaprekar),
    ),
)
