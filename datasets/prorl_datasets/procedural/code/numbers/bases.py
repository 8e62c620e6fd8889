"""Integers in other bases, with unusual digits too.

Leaves out: binary patterns (``numbers.bits``).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _in_base_gold(c: int, base: int, result: str) -> str:
    return f"""
        def solve(n):
            n += {c}
            digits = []
            while n:
                n, digit = divmod(n, {base})
                digits.append(digit)
            return {result}
    """


def _in_base_brute(base: int, c: int, kind: int) -> Callable[[int], int]:
    def brute(n: int) -> int:
        n += c
        place = 1
        while place * base <= n:
            place *= base
        digits = []
        while place:
            digits.append(n // place)
            n, place = n % place, place // base
        if kind < 2:
            return sum(digits) if kind == 0 else len([d for d in digits if d])
        value = 0
        for digit in reversed(digits):
            value = value * base + digit
        return value

    return brute


def _in_base(rng: Random) -> Problem:
    base, c = rng.choice([b for b in range(2, 17) if b != 10]), rng.randint(0, 40)
    kind = rng.randint(0, 2)
    what = (
        "the sum of its digits",
        "the number of its digits that are not 0",
        "the integer that its digits, read backwards, stand for in the same base",
    )[kind]
    result = (
        "sum(digits)",
        "sum(d != 0 for d in digits)",
        f"sum(d * {base} ** i for i, d in enumerate(reversed(digits)))",
    )[kind]
    code = _in_base_gold(c, base, result)

    brute = _in_base_brute(base, c, kind)

    number = f"n + {c}" if c else "n"
    return Problem(
        f"Given an integer `n` (1 <= n <= 10^12), write {number} in base {base} (without leading "
        f"zeros) and find {what}.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(2, 12)),),
        {"v": 1, "base": base, "c": c, "kind": kind},
    )


def _between_bases(rng: Random) -> Problem:
    first, second = rng.sample(range(2, 21), 2)
    k, c = rng.randint(1, 12), rng.randint(0, 99)
    code = f"""
        def solve(s):
            n = int(s, {first}) * {k} + {c}
            digits = ""
            while n:
                digits = "{_SYMBOLS}"[n % {second}] + digits
                n //= {second}
            return digits or "0"
    """

    def brute(s: str) -> str:
        n = c
        for i, ch in enumerate(reversed(s)):
            n += k * _SYMBOLS.index(ch) * first**i
        return "".join(_SYMBOLS[d] for d in reversed(digits_of(n, second)))

    def draw(r: Random) -> tuple[str]:
        n = r.randint(0, 10 ** r.randint(1, 8))
        return ("".join(_SYMBOLS[d] for d in reversed(digits_of(n, first))),)

    value = (f"{k} * x" if k > 1 else "x") + (f" + {c}" if c else "")
    return Problem(
        f"The digits of a base up to 20 are 0 to 9 and then a, b, c, ... for 10, 11, 12, ... "
        f"Given a string `s` that is a non-negative integer x in base {first} (at most 40 digits, "
        "no "
        f"leading zeros), write {value} in base {second} (lower case, no leading zeros, 0 for "
        "zero).",
        (("s", "str"),),
        "str",
        source(code),
        brute,
        draw,
        {"v": 2, "first": first, "second": second, "k": k, "c": c},
        (("0",),),
    )


def _odd_bases_gold(k: int, c: int, low: int, base: int, radix: int) -> str:
    return f"""
        def solve(n):
            value = {k} * n + {c}
            digits = []
            while value:
                digit = (value - {low}) % {base} + {low}
                digits.append(digit)
                value = (value - digit) // {radix}
            return digits[::-1] or [0]
    """


def _odd_bases(rng: Random) -> Problem:
    base, negative = rng.randint(3, 14), rng.random() < 0.5
    k, c = rng.randint(1, 30), rng.randint(-50, 50)
    low = 0 if negative else -rng.randint(1, base - 2)
    radix = -base if negative else base
    code = _odd_bases_gold(k, c, low, base, radix)

    def brute(n: int) -> list[int]:
        value, length = k * n + c, 1
        if value == 0:
            return [0]
        while True:
            bounds = [sorted((low * radix**i, (low + base - 1) * radix**i)) for i in range(length)]
            if sum(b[0] for b in bounds) <= value <= sum(b[1] for b in bounds):
                break
            length += 1
        digits: list[int] = []
        for i in range(length - 1, -1, -1):
            least, most = (sum(b[side] for b in bounds[:i]) for side in (0, 1))
            fits = [d for d in range(low, low + base) if least <= value - d * radix**i <= most]
            digits.append(fits[0])
            value -= fits[0] * radix**i
        return digits

    return Problem(
        f"Every integer has exactly one form d_m * b^m + ... + d_1 * b + d_0 with b = {radix} and "
        "digits "
        f"from {low} to {low + base - 1}, without leading zeros. Given an integer `n` "
        f"(-10^9 <= n <= 10^9), find the digits d_m, ..., d_1, d_0 of {k} * n + {c}, the highest "
        "first; a single 0 for zero.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(-(10 ** r.randint(1, 9)), 10 ** r.randint(1, 9)),),
        {"v": 3, "radix": radix, "low": low, "k": k, "c": c},
        ((0,),),
    )


FAMILIES = (
    code_family(
        "number_bases",
        "digits of numbers written in other bases",
        leveled(_in_base, _between_bases, _odd_bases),
    ),
)
