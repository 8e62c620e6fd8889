"""Draws properties of integers, each as text, Python source and independent check."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.items import Family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class Property:
    """A property of an integer n >= 1; ``text`` follows "n", ``code`` is an expression in ``n``."""

    key: str
    text: str
    code: str
    check: Callable[[int], bool]


def leveled_family(
    name: str,
    summary: str,
    one: Callable[[Random], Problem],
    two: Callable[[Random], Problem],
    three: Callable[[Random], Problem],
) -> Family:
    """Return a family that draws level 1 problems with ``one``, level 2 with ``two`` and level 3 with ``three``."""

    def make(rng: Random, level: int) -> Problem:
        problem = (one, two, three)[level - 1](rng)
        text = re.sub(r"(?<![\w.)^])1 \* ", "", problem.statement)
        return replace(problem, statement=text.replace("+ -", "- ").replace(" + 0)", ")"))

    return code_family(name, summary, make)


def digits_of(n: int, base: int = 10) -> list[int]:
    """Return the digits of n >= 0, lowest first; [0] for 0."""
    digits = [n % base]
    while n >= base:
        n //= base
        digits.append(n % base)
    return digits


def ones(n: int) -> int:
    return digits_of(n, 2).count(1)


def _remainder(rng: Random) -> Property:
    d = rng.randint(3, 13)
    r = rng.randrange(d)
    text = f"leaves the remainder {r} when divided by {d}"
    return Property(f"mod {d} {r}", text, f"n % {d} == {r}", lambda n: n - n // d * d == r)


def _digit_sum(rng: Random) -> Property:
    d = rng.randint(2, 7)
    r = rng.randrange(d)
    text = f"has a decimal digit sum that leaves the remainder {r} when divided by {d}"
    code = f"sum(map(int, str(n))) % {d} == {r}"
    return Property(f"digitsum {d} {r}", text, code, lambda n: sum(digits_of(n)) % d == r)


def _holds_digit(rng: Random) -> Property:
    c = rng.randint(0, 9)
    code = f'"{c}" in str(n)'
    text = f"contains the digit {c} in decimal"
    return Property(f"digit {c}", text, code, lambda n: c in digits_of(n))


def _bit_count(rng: Random) -> Property:
    d = rng.randint(2, 4)
    r = rng.randrange(d)
    text = f"has a number of ones in binary that leaves the remainder {r} when divided by {d}"
    code = f'bin(n).count("1") % {d} == {r}'
    return Property(f"ones {d} {r}", text, code, lambda n: ones(n) % d == r)


def _last_digit(rng: Random) -> Property:
    chosen = sorted(rng.sample(range(10), rng.randint(2, 4)))
    text = f"ends in one of the decimal digits {', '.join(map(str, chosen))}"
    code = f"n % 10 in {tuple(chosen)}"
    return Property(f"last {chosen}", text, code, lambda n: digits_of(n)[0] in chosen)


def _spread(rng: Random) -> Property:
    t = rng.randint(2, 7)
    text = f"has a largest and a smallest decimal digit that differ by at least {t}"
    code = f"int(max(str(n))) - int(min(str(n))) >= {t}"

    def check(n: int) -> bool:
        return any(a - b >= t for a in digits_of(n) for b in digits_of(n))

    return Property(f"spread {t}", text, code, check)


def _coprime(rng: Random) -> Property:
    m = rng.choice((6, 10, 12, 14, 15, 20, 21, 22, 26, 30, 33, 35, 42, 70))
    text = f"has no common divisor with {m} above 1"
    primes = [p for p in (2, 3, 5, 7, 11, 13) if m % p == 0]
    code = f"math.gcd(n, {m}) == 1"
    return Property(f"coprime {m}", text, code, lambda n: all(n % p for p in primes))


def _distinct(rng: Random) -> Property:
    text = "has no decimal digit twice"
    code = "len(set(str(n))) == len(str(n))"
    if rng.random() < 0.5:
        text, code = "has some decimal digit at least twice", "len(set(str(n))) < len(str(n))"
    twice = "<" in code

    def check(n: int) -> bool:
        digits = digits_of(n)
        return any(digits.count(d) > 1 for d in digits) == twice

    return Property(f"twice {twice}", text, code, check)


def _digital_root(rng: Random) -> Property:
    r = sorted(rng.sample(range(1, 10), 3))

    def check(n: int) -> bool:
        while n > 9:
            n = sum(digits_of(n))
        return n in r

    text = WORDINGS.one("digital root", r=", ".join(map(str, r)))
    return Property(f"root {r}", text, f"1 + (n - 1) % 9 in {tuple(r)}", check)


def _power_of_two(rng: Random) -> Property:
    k = rng.randint(1, 2)
    text = f"is divisible by 2 exactly {'once' if k == 1 else 'twice'} (not more often)"
    end = [0] * k + [1]
    code = f"n & -n == {2**k}"
    return Property(f"twos {k}", text, code, lambda n: digits_of(n, 2)[: k + 1] == end)


_DRAWERS = (
    *((_remainder, _digit_sum, _bit_count, _last_digit) * 3),
    *((_digital_root, _coprime) * 2),
    _holds_digit,
    _spread,
    _distinct,
    _power_of_two,
)


def draw_property(rng: Random) -> Property:
    return rng.choice(_DRAWERS)(rng)


def draw_mixed(rng: Random) -> Property:
    first = draw_property(rng)
    second = draw_property(rng)
    while second.key.split()[0] == first.key.split()[0]:
        second = draw_property(rng)
    a, b = first.check, second.check
    both = f"(1) it {first.text}; (2) it {second.text}"
    kind = rng.randint(0, 3)
    text, code, check = (
        (
            f"{first.text} and also {second.text}",
            f"({first.code}) and ({second.code})",
            lambda n: a(n) and b(n),
        ),
        (
            f"{first.text}, or {second.text}, or both",
            f"({first.code}) or ({second.code})",
            lambda n: a(n) or b(n),
        ),
        (
            f"satisfies exactly one of these two conditions: {both}",
            f"({first.code}) != ({second.code})",
            lambda n: [a(n), b(n)].count(True) == 1,
        ),
        (
            f"satisfies the first but not the second of these conditions: {both}",
            f"({first.code}) and not ({second.code})",
            lambda n: a(n) and not b(n),
        ),
    )[kind]
    parts = [first.key, second.key] if kind == 3 else sorted((first.key, second.key))
    return Property(f"{kind}: {parts[0]}; {parts[1]}", text, code, check)


def with_imports(code: str) -> str:
    return f"import math\n\n\n{code}" if "math." in code else code


def draw_span(r: Random, least: int, top: int, width: int) -> tuple[int, int]:
    """Draw low and high with 1 <= low <= top and least <= high - low <= width."""
    low = r.randint(1, top)
    return low, low + r.randint(least, width)


def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def divisors_of(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]
