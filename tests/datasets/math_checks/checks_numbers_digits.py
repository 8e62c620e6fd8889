from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

Values = Mapping[str, Any]


def total(n: int) -> int:
    result = 0
    while n:
        n, digit = divmod(n, 10)
        result += digit
    return result


def only(found: list[int]) -> int:
    assert len(found) == 1, found
    return found[0]


def digit_sums(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "power of ten":
        return total(int("1" + "0" * p["n"]) - p["k"])
    if ask == "product":
        return total(2 ** p["a"] * 5 ** p["b"] * p["c"])
    if ask == "count":
        tuples = product(range(10), repeat=p["places"])
        return sum(t[0] > 0 and sum(t) == p["total"] for t in tuples)
    if ask == "least":
        # table[r, s]: the fewest digits, then the least number, with remainder r and digit sum s
        reached: dict[tuple[int, int], int] = {(0, 0): 0}
        for _ in range(14):
            longer: dict[tuple[int, int], int] = {}
            for (_, used), number in reached.items():
                for digit in range(10):
                    grown = 10 * number + digit
                    if grown and used + digit <= p["total"]:
                        key = (grown % p["k"], used + digit)
                        longer[key] = min(grown, longer.get(key, grown))
            if (0, p["total"]) in longer:
                return longer[0, p["total"]]
            reached = longer
        raise AssertionError("none with 14 digits")
    if ask == "consecutive":
        return sum(total(n) for n in range(p["low"], p["top"] + 1))
    if ask == "equation":
        return only([n for n in range(1, p["total"] + 1) if n + total(n) == p["total"]])
    if ask == "balanced":
        return sum(total(n) % p["k"] == 0 for n in range(1, p["top"]))
    written, n = "", 0
    while len(written) < p["digits"]:
        n += 1
        written += str(n)
    assert len(written) == p["digits"]
    return written.count(str(p["d"]))


def missing_digits(p: Values, question: str) -> object:
    shape, m = p["shape"], p["m"]
    assert any(shape.replace("A", x).strip() in question for x in ("A", "_", "\\square "))
    found: list[tuple[int, int, int]] = []
    for a in range(10):
        for b in range(10) if "B" in shape else [0]:
            n = 0
            for sign in shape:
                n = 10 * n + (a if sign == "A" else b if sign == "B" else int(sign))
            if n % m == 0 and ("k" not in p or n % p["k"] == p["r"]):
                found.append((a, b, n))
    ask = p["ask"]
    if ask == "count":
        return len(found)
    if ask == "sums":
        return sum({a + b for a, b, _ in found})
    if ask == "largest":
        return max(n for _, _, n in found)
    assert len(found) == 1, found
    a, b, _ = found[0]
    return a if ask == "digit" else a * b + a + b


def back(n: int) -> int:
    result = 0
    while n:
        n, digit = divmod(n, 10)
        result = 10 * result + digit
    return result


def reversals(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "two":
        return only(
            [n for n in range(10, 100) if total(n) == p["total"] and n - back(n) == p["gap"]]
        )
    if ask == "multiple of sum":
        return only([n for n in range(10, 100) if n == p["k"] * total(n) + p["r"]])
    if ask == "count gap":
        return sum(back(n) - n == p["gap"] and total(n) >= p["low"] for n in range(100, 1000))
    if ask in ("sum with reverse", "product"):
        found = [n for n in range(10, 100) if n % 10 and n + back(n) == p["total"]]
        return len(found) if ask != "product" else max((n % 10) * (n // 10) for n in found)
    if ask == "move":
        found = []
        for a, b, c in product(range(1, 10), range(10), range(1, 10)):
            before, after = 100 * a + 10 * b + c, 100 * c + 10 * a + b
            if after - before == p["gap"] and a + b + c == p["total"]:
                found.append(before)
        return only(found)
    if ask == "append":
        low = 10 ** (p["places"] - 1)
        lead = str(p["lead"])
        return only(
            [x for x in range(low, 10 * low) if int(f"{x}{lead}") == p["k"] * int(f"{lead}{x}")]
        )
    found = [
        10 * a + b
        for a in range(1, 10)
        for b in range(10)
        if int(f"{a}{p['d']}{b}") == p["k"] * (10 * a + b)
    ]
    assert found
    return sum(found)


def palindromes(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "count":
        return sum(back(n) == n for n in range(p["low"], p["high"] + 1))
    places = p["places"]
    halves = product(range(10), repeat=(places + 1) // 2)
    found = sorted(
        int("".join(map(str, (*half, *half[::-1][places % 2 :])))) for half in halves if half[0]
    )
    if ask == "position":
        return found[p["place"] - 1]
    if ask in ("least", "greatest"):
        fitting = [n for n in found if n % p["m"] == 0]
        return fitting[0] if ask == "least" else fitting[-1]
    if ask == "multiples":
        return sum(n % p["m"] == 0 for n in found)
    if ask == "digit sum":
        return sum(total(n) == p["total"] for n in found)
    if ask == "remainder":
        return sum(n % p["m"] == p["r"] for n in found)
    return sum(n for n in found if n % 10 >= p["first"])


def repeated_digits(p: Values, question: str) -> object:
    ask, d = p["ask"], p["d"]

    def number(n: int) -> Any:
        return d * (10**n - 1) // 9

    assert re.search(rf"(?<!\d){d}", question)
    if ask == "remainder":
        return number(p["n"]) % p["m"]
    if ask == "length":
        rest, n = d % p["m"], 1
        while rest:
            rest, n = (10 * rest + d) % p["m"], n + 1
        return n
    if ask == "sum":
        rest = added = 0
        for _ in range(p["n"]):
            rest = (10 * rest + d) % p["m"]
            added += rest
        return added % p["m"]
    if ask == "square":
        return total(number(p["n"]) * p["e"])
    a, b = number(p["a"]), number(p["b"])
    while b:
        a, b = b, a % b
    return a


CHECKS = {
    "numbers_digit_sums": digit_sums,
    "numbers_missing_digits": missing_digits,
    "numbers_reversals": reversals,
    "numbers_palindromes": palindromes,
    "numbers_repeated_digits": repeated_digits,
}
