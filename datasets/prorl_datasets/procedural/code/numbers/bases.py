"""Problems on integers in other bases, also with unusual digits."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import digits_of, leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _in_base(rng: Random) -> Problem:
    base, c = rng.choice([b for b in range(2, 17) if b != 10]), rng.randint(0, 40)
    kind = rng.randint(0, 2)
    what = WORDINGS.all("in base")[kind]
    result = (
        "sum(digits)",
        "sum(d != 0 for d in digits)",
        f"sum(d * {base} ** i for i, d in enumerate(reversed(digits)))",
    )[kind]
    code = WORDINGS.source("in base solution", c=c, base=base, result=result)

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

    number = f"n + {c}" if c else "n"
    return Problem(
        WORDINGS.one("in base 2", number=number, base=base, what=what),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(2, 12)),),
        {"v": 1, "base": base, "c": c, "kind": kind},
    )


def _between_bases(rng: Random) -> Problem:
    first, second = rng.sample(range(2, 21), 2)
    k, c = rng.randint(1, 12), rng.randint(0, 99)
    code = WORDINGS.source(
        "between bases solution", first=first, k=k, c=c, symbols=_SYMBOLS, second=second
    )

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
        WORDINGS.one("between bases", first=first, value=value, second=second),
        "s: str -> str",
        code,
        brute,
        draw,
        {"v": 2, "first": first, "second": second, "k": k, "c": c},
        (("0",),),
    )


def _odd_bases(rng: Random) -> Problem:
    base, negative = rng.randint(3, 14), rng.random() < 0.5
    k, c = rng.randint(1, 30), rng.randint(-50, 50)
    low = 0 if negative else -rng.randint(1, base - 2)
    radix = -base if negative else base
    code = WORDINGS.source("odd bases solution", k=k, c=c, low=low, base=base, radix=radix)

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
        WORDINGS.one("odd bases", radix=radix, low=low, low_value=low + base - 1, k=k, c=c),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(-(10 ** r.randint(1, 9)), 10 ** r.randint(1, 9)),),
        {"v": 3, "radix": radix, "low": low, "k": k, "c": c},
        ((0,),),
    )


FAMILIES = (
    leveled_family(
        "number_bases",
        "digits of numbers written in other bases",
        _in_base,
        _between_bases,
        _odd_bases,
    ),
)
