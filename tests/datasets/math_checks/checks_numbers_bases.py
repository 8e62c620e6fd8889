from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import count, islice, product
from typing import Any

Values = Mapping[str, Any]


def numeral(n: int, base: int) -> list[int]:
    places = next(k for k in count(1) if base**k > n)
    return [n // base**k % base for k in reversed(range(places))]


def value(digits: list[int], base: int) -> int:
    return sum(d * base**k for k, d in enumerate(reversed(digits)))


def joined(digits: list[int]) -> int:
    return int("".join(map(str, digits)))


def base_conversion(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "to ten":
        return int(p["digits"], p["base"])
    if ask == "from ten":
        (only,) = [d for d in product(range(p["base"]), repeat=len(numeral(p["n"], p["base"])))
                   if d[0] and value(list(d), p["base"]) == p["n"]]  # fmt: skip
        return joined(list(only))
    if ask == "change":
        return joined(numeral(int(p["digits"], p["base"]), p["other"]))
    if ask == "sum of digits":
        return sum(numeral(p["n"], p["base"]))
    if ask == "times":
        return numeral(p["n"], p["base"]).count(p["d"])
    if ask in ("sum", "product"):
        x, y = int(p["x"], p["base"]), int(p["y"], p["base"])
        return joined(numeral(x + y if ask == "sum" else x * y, p["base"]))
    if ask == "lengths":
        return sum(
            len(numeral(n, p["b"])) == p["more"]
            for n in range(p["c"] ** (p["places"] - 1), p["c"] ** p["places"])
        )
    if ask == "no digit":
        return sum(p["d"] not in numeral(n, p["base"]) for n in range(1, p["top"] + 1))
    if ask == "list":
        good = set(map(str, p["allowed"]))
        longest = product(sorted(p["allowed"]), repeat=7)
        ordered = (joined(list(t)) for t in longest)
        positive = (n for n in ordered if n > 0)
        found = next(islice(positive, p["position"] - 1, None))
        assert set(str(found)) <= good
        return found
    b, c = p["b"], p["c"]
    found_all = [
        n
        for n in range(c, c * c)
        if len(numeral(n, b)) == 2 and numeral(n, b) == numeral(n, c)[::-1]
        and len(set(numeral(n, b))) == 2 and 0 not in numeral(n, b)
    ]  # fmt: skip
    return max(found_all)


def unknown_bases(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "base":
        (only,) = [b for b in range(max(p["digits"]) + 1, 200) if value(p["digits"], b) == p["n"]]
        return only
    if ask in ("sum", "product"):
        x, y, z = ([int(d) for d in p[name]] for name in "xyz")
        found = []
        for b in range(2, 200):
            if b > max(*x, *y, *z):
                left = (value(x, b), value(y, b))
                result = sum(left) if ask == "sum" else left[0] * left[1]
                if result == value(z, b):
                    found.append(b)
        assert len(found) == 1, found
        return found[0]
    if ask == "divisible":
        return sum(value(p["digits"], b) % p["m"] == 0 for b in range(p["low"], p["high"] + 1))
    if ask == "last digit":
        return sum(numeral(p["n"], b)[-1] == p["d"] for b in range(2, p["n"] + 3))
    if ask == "length":
        return sum(b for b in range(2, p["n"] + 3) if len(numeral(p["n"], b)) == p["places"])
    x, y = [int(d) for d in str(p["x"])], [int(d) for d in str(p["y"])]
    return min(
        a + b
        for a in range(max(2, max(x) + 1), 150)
        for b in range(max(2, max(y) + 1), 150)
        if value(x, a) == value(y, b)
    )


def digits_of(a: int, b: int) -> list[int]:
    """Return 1,200 digits after the point, by long division."""
    found, rest = [], a % b
    for _ in range(1200):
        rest *= 10
        found.append(rest // b)
        rest %= b
    return found


def ends(a: int, b: int) -> bool:
    rest = a % b
    for _ in range(40):
        rest = rest * 10 % b
    return rest == 0


def decimals(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "digit":
        return digits_of(p["a"], p["m"])[p["place"] - 1]
    if ask == "fraction":
        # The value lies in every interval that the first digits allow.
        digits = (p["head"] + p["repeat"] * 400)[:600]
        low = p["whole"] + Fraction(int(digits), 10 ** len(digits))
        guess = low.limit_denominator(10**6)
        assert 0 <= guess - low <= Fraction(1, 10 ** len(digits))
        assert p["repeat"] in question
        return guess
    if ask == "period":
        digits = digits_of(1, p["m"])
        return next(k for k in range(1, 600) if digits[k:] == digits[:-k])
    if ask == "sum of digits":
        return sum(digits_of(1, p["m"])[: p["places"]])
    if ask == "terminating":
        return sum(ends(1, n) for n in range(p["low"], p["top"] + 1))
    if ask in ("places", "zeros"):
        digits = digits_of(p["c"], 2 ** p["a"] * 5 ** p["b"])
        nonzero = [i for i, d in enumerate(digits) if d]
        return nonzero[-1] + 1 if ask == "places" else nonzero[0]
    found = sum(ends(k, p["m"]) for k in range(1, p["top"] + 1))
    return found if ask == "finite" else p["top"] - found


CHECKS = {
    "numbers_base_conversion": base_conversion,
    "numbers_unknown_bases": unknown_bases,
    "numbers_decimals": decimals,
}
