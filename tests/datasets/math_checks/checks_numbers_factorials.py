from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def product(numbers: range) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def times(n: int, d: int) -> int:
    count = 0
    while n % d == 0:
        n //= d
        count += 1
    return count


def zeros(n: int) -> int:
    text = str(n)
    return len(text) - len(text.rstrip("0"))


def choose(n: int, k: int) -> int:
    row = [1]
    for _ in range(n):
        row = [1, *(a + b for a, b in itertools.pairwise(row)), 1]
    return row[k]


def trailing_zeros(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "zeros":
        return zeros(product(range(1, p["n"] + 1)))
    if ask == "least":
        n = value = 1
        while zeros(value) < p["zeros"]:
            n += 1
            value *= n
        return n
    if ask == "quotient":
        return zeros(product(range(p["k"] + 1, p["n"] + 1)))
    if ask == "range":
        return zeros(product(range(p["m"], p["last"] + 1, p["m"])))
    if ask == "power":
        return zeros(product(range(1, p["n"] + 1)) ** p["k"])
    if ask == "base":
        return times(product(range(1, p["n"] + 1)), p["base"])
    if ask == "binomial":
        return zeros(choose(p["n"], p["k"]))
    seen: set[int] = set()
    n, fives = 1, 0
    while fives <= p["top"]:
        seen.add(fives)
        n += 1
        fives += times(n, 5)  # there are always more twos than fives
    return sum(z not in seen for z in range(1, p["top"] + 1))


def prime_powers(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "factorial":
        return times(product(range(1, p["n"] + 1)), p["p"])
    if ask == "evens":
        return times(product(range(2, p["last"] + 1, 2)), p["p"])
    if ask == "odds":
        return times(product(range(1, p["last"] + 1, 2)), p["p"])
    if ask == "squares":
        root = round(p["last"] ** 0.5)
        assert root * root == p["last"]
        return times(product(range(1, root + 1)) ** 2, p["p"])
    if ask == "composite":
        return times(product(range(1, p["n"] + 1)), p["base"])
    if ask == "binomial":
        return times(choose(p["n"], p["k"]), p["p"])
    n = value = 1
    while value % p["p"] ** p["k"]:
        n += 1
        value *= n
    return n


CHECKS = {"numbers_trailing_zeros": trailing_zeros, "numbers_prime_powers": prime_powers}
