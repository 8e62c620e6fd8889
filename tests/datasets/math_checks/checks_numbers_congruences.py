from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def remainder_systems(p: Values, question: str) -> object:
    def fits(x: int) -> bool:
        if p["ask"] == "short":
            return x % p["extra"] == 0 and all((x + p["short"]) % m == 0 for m in p["moduli"])
        return all(x % m == r for m, r in zip(p["moduli"], p["remainders"], strict=True))

    if "top" in p:
        found = [x for x in range(1, p["top"]) if fits(x)]
        return len(found) if p["ask"] == "count" else found[-1]
    first = next(x for x in range(1, 500_000) if fits(x))
    if "fewer than" in question:
        limit = math.prod(p["moduli"])
        assert str(limit) in question
        assert not any(fits(x) for x in range(first + 1, limit))
    return first


def linear_congruences(p: Values, question: str) -> object:
    a, m = p["a"], p["m"]
    if p["ask"] == "inverse":
        (only,) = [x for x in range(m) if a * x % m == 1]
        return only
    if p["ask"] == "line":
        return sum((a * x + p["c"] - p["r"]) % m == 0 for x in range(1, p["top"] + 1))
    if p["ask"] == "solve":
        return next(x for x in range(m) if (a * x + p["c"] - p["r"]) % m == 0)
    top = p["top"] if p["ask"] == "count" else m - 1
    found = [x for x in range(top + 1) if (a * x - p["b"]) % m == 0]
    return sum(x > 0 for x in found) if p["ask"] == "count" else sum(found)


def remainder_sums(p: Values, question: str) -> object:
    if p["ask"] == "progression":
        terms = range(p["first"], p["last"] + 1, p["step"])
        assert terms[-1] == p["last"]
        return sum(terms) % p["m"]
    if p["ask"] == "powers":
        return sum(n ** p["k"] % p["m"] for n in range(1, p["top"] + 1)) % p["m"]
    if p["ask"] == "factorials":
        remainder, product = 0, 1
        wanted = set(range(p["start"], p["last"] + 1, p["second"] - p["start"]))
        for n in range(1, p["last"] + 1):
            product = product * n % p["m"]
            remainder += product * (n in wanted)
        return remainder % p["m"]
    remainder = 0
    for number in range(p["start"], p["top"] + 1):
        for digit in str(number):
            remainder = (10 * remainder + int(digit)) % p["m"]
    return remainder


CHECKS = {
    "numbers_remainder_systems": remainder_systems,
    "numbers_linear_congruences": linear_congruences,
    "numbers_remainder_sums": remainder_sums,
}
