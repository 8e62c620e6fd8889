from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def last_digits(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "tower":
        # b^c is reduced by the cycle length of the powers, found by iteration.
        seen: list[int] = []
        value = p["a"] % 100
        while value not in seen:
            seen.append(value)
            value = value * p["a"] % 100
        start = seen.index(value)
        exponent = p["b"] ** p["c"] - 1
        if exponent >= start:
            exponent = start + (exponent - start) % (len(seen) - start)
        assert str(p["b"]) in question and f"{p['a']}" in question
        return seen[exponent]
    if ask == "sum of powers":
        return int(str(sum(i ** p["n"] for i in range(1, p["k"] + 1)))[-1])
    first = p["a"] ** p["n"]
    if ask == "one":
        return int(str(first)[-1])
    if ask == "two":
        return int(str(first)[-2:])
    second = p["b"] ** p["m"]
    whole = str(first * second if ask == "product" else first + second)
    return int(whole[-2 if ask == "tens" else -1])


def remainders(p: Values, question: str) -> object:
    if p["ask"] == "one":
        return p["a"] ** p["n"] % p["m"]
    if p["ask"] == "count":
        assert str(p["top"]) in question
        value, times = 1, 0
        for _ in range(p["top"]):
            value = value * p["a"] % p["m"]
            times += value == p["r"]
        return times
    first, second = p["a"] ** p["n"], p["b"] ** p["k"]
    return (first + second if p["ask"] == "sum" else first * second) % p["m"]


def orders(p: Values, question: str) -> object:
    def good(n: int) -> bool:
        fits = (p["a"] ** n - 1) % p["m"] == 0
        return fits and ("b" not in p or (p["b"] ** n - 1) % p["k"] == 0)

    if "top" in p:
        fitting = [n for n in range(1, p["top"]) if good(n)]
        return len(fitting) if p["ask"] == "count" else max(fitting)
    return next(n for n in range(1, 3000) if good(n))


CHECKS = {
    "numbers_last_digits": last_digits,
    "numbers_power_remainders": remainders,
    "numbers_orders": orders,
}
