from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Values = Mapping[str, Any]


def listed(n: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def is_power(n: int, k: int) -> bool:
    return any(r**k == n for r in range(max(0, round(n ** (1 / k)) - 1), round(n ** (1 / k)) + 2))


def divisor_counts(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "all":
        return len(listed(p["n"]))
    if ask == "one not other":
        return len([d for d in listed(math.factorial(p["high"])) if math.factorial(p["low"]) % d])
    if ask.startswith("factorial"):
        n = math.factorial(p["top"])
        if ask == "factorial odd":
            while n % p["q"] == 0:  # divisors coprime to q are those of the part without q
                n //= p["q"]
            return len(listed(n)) if n < 10**9 else len(_long(n))
        return sum(n % r ** p["power"] == 0 for r in range(1, round(n ** (1 / p["power"])) + 2))
    n = 1
    for prime, exponent in p["factors"]:
        n *= prime**exponent
        assert f"{prime}" in question
    if ask == "multiples":
        return sum(d % p["k"] == 0 for d in listed(n))
    if ask == "odd part":
        return sum(d % p["k"] > 0 for d in listed(n))
    if ask == "square":
        return sum(is_power(d, 2) for d in listed(n))
    return sum(n % d > 0 and n * n % d == 0 for d in range(1, n)) if n < 10**5 else _below(n)


def _long(n: int) -> set[int]:
    """Return the divisors of a number that has only small prime factors."""
    found, rest, q = {1}, n, 2
    while rest > 1:
        while rest % q == 0:
            found |= {d * q for d in found}
            rest //= q
        q += 1
    return found


def _below(n: int) -> int:
    return sum(d < n and n % d > 0 for d in _long(n * n))


def divisor_sums(p: Values, question: str) -> object:
    ask, divisors = p["ask"], listed(p["n"])
    if ask == "sum":
        return sum(divisors)
    if ask == "proper":
        return sum(divisors[:-1])
    if ask in ("even", "odd"):
        return sum(d for d in divisors if d % 2 == (ask == "odd"))
    if ask == "reciprocals":
        return sum(Fraction(1, d) for d in divisors)
    if ask == "primes":
        return sum(q for q in listed(sum(divisors)) if len(listed(q)) == 2)
    if ask == "square divisors":
        return sum(d for d in divisors if is_power(d, 2))
    product, exponent = math.prod(divisors), 0
    while product % p["p"] == 0:
        product //= p["p"]
        exponent += 1
    return exponent


def divisor_puzzles(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "least":
        return next(n for n in range(1, 100_000) if len(listed(n)) == p["count"])
    if ask == "three":
        return sum(n for n in range(p["low"], p["top"] + 1) if len(listed(n)) == 3)
    if ask == "power":
        found = {
            len(_long((x ** p["b"] * y ** p["a"]) ** p["k"])) for x, y in ((2, 3), (5, 2), (3, 7))
        }
        assert len(found) == 1
        return found.pop()
    if ask == "times":
        shapes = [n for n in range(1, 3000) if n % p["r"] and len(listed(n)) == p["count"]][:4]
        found = {len(listed(n * p["multiplier"])) for n in shapes}
        assert len(found) == 1
        return found.pop()
    if ask == "multiple":
        return next(n for n in range(p["m"], 5001, p["m"]) if len(listed(n)) == p["count"])
    if ask == "odd count":
        return len([k for k in range(1, p["top"] + 1) if is_power(k, 2) and k % p["m"] == 0])
    found = {
        len(_long(2**a * 3**b))
        for a in range(1, 40)
        for b in range(1, 40)
        if (2 * a + 1) * (2 * b + 1) == p["one"] and (3 * a + 1) * (3 * b + 1) == p["two"]
    }
    assert len(found) == 1
    return found.pop()


CHECKS = {
    "numbers_divisor_counts": divisor_counts,
    "numbers_divisor_sums": divisor_sums,
    "numbers_divisor_puzzles": divisor_puzzles,
}
