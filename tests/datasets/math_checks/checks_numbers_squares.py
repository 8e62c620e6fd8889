from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Values = Mapping[str, Any]
SQUARES = {n * n for n in range(20_000)}


def squares(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("count", "largest", "smallest"):
        n = p["n"]
        pairs = [(x, y) for y in range(1, n) for x in [y + 1, *range(y + 2, n + 1)]
                 if x * x - y * y == n]  # fmt: skip
        return {"count": len(pairs), "largest": max(pairs)[0], "smallest": min(map(sum, pairs))}[
            ask
        ]
    if ask == "polynomial":
        return sum(n for n in range(1, 9000) if n * n + p["b"] * n + p["c"] in SQUARES)
    if ask == "shifted":
        found = [n for n in range(1, 20_000) if n + p["a"] in SQUARES and n + p["b"] in SQUARES]
        assert len(found) == 1, found
        return found[0]
    if ask == "never":
        low = 0 if p["zero"] else 1
        made = {a * a - b * b for b in range(low, p["top"] + 1) for a in range(b + 1, b + 32)}
        return sum(n not in made for n in range(1, p["top"] + 1))
    if ask.startswith("leg"):
        n = p["n"]
        others = [b for b in range(1, n * n) if n * n + b * b in SQUARES]
        sides = [(b, round((n * n + b * b) ** 0.5)) for b in others]
        assert all(n * n + b * b == c * c for b, c in sides)
        return {
            "leg count": len(sides),
            "leg largest": max(c for _, c in sides),
            "leg perimeter": min(n + b + c for b, c in sides),
        }[ask]
    top = p["top"] if ask == "sums" else p["n"]
    if ask == "sums":
        return len(
            {
                n
                for n in range(1, top + 1)
                if any(n - a * a in SQUARES and n > a * a for a in range(1, 40))
            }
        )
    span = range(-45, 46)
    points = [(a, b) for a in span for b in span if a * a + b * b == top]
    if ask == "circle":
        return len(points)
    best = max(a + b for a, b in points)
    return 2 * best if ask == "rectangle" else best


def consecutive(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("largest", "smallest") and "total" in p:
        step = 2 if p["kind"] else 1
        found = []
        for first in range(-50, 400):
            run = [first + step * i for i in range(p["count"])]
            if sum(run) == p["total"] and (
                not p["kind"] or (first % 2 == 1) == (p["kind"] == "odd")
            ):
                found.append(run)
        assert len(found) == 1
        return found[0][-1] if ask == "largest" else found[0][0]
    if ask == "product":
        sums = []
        for first in range(1, 200):
            product = 1
            for i in range(p["count"]):
                product *= first + i
            if product == p["total"]:
                sums.append(sum(range(first, first + p["count"])))
        assert len(sums) == 1
        return sums[0]
    if ask in ("erased", "twice"):
        found_numbers = set()
        for n in range(1, 300):
            whole = sum(range(n + 1))
            gap = whole - p["sum"] if ask == "erased" else p["sum"] - whole
            if 1 <= gap <= n:
                found_numbers.add(gap)
        assert len(found_numbers) == 1
        return found_numbers.pop()
    n, step = p["n"], 2 if ask.startswith("odd") else 1
    low = -n if ask == "integers" else 1
    lengths = []
    for first in range(low, n, step):
        total, k = 0, 0
        while total < n or (total <= n and k < 2):
            total += first + step * k
            k += 1
            if total == n and k > 1:
                lengths.append(k)
    return max(lengths) if ask.endswith("longest") else len(lengths)


def coprime_to(k: int, n: int) -> bool:
    return not any(k % d == 0 and n % d == 0 for d in range(2, min(k, n) + 1))


def coprime(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("count", "sum", "fractions"):
        n = p["n"]
        found = [k for k in range(1, n + 1) if Fraction(k, n).denominator == n]
        if ask == "fractions":
            return sum(Fraction(k, n) for k in found)
        return len(found) if ask == "count" else sum(found)
    if ask == "interval":
        return sum(coprime_to(k, p["m"]) for k in range(p["low"], p["top"] + 1))
    if ask == "reducible":
        d = p["d"]
        return sum(Fraction(k, k + d).numerator < k for k in range(1, p["top"] + 1))
    if ask == "farey":
        found_set = {Fraction(a, b) for b in range(1, p["top"] + 1) for a in range(1, b)}
        return sum(f < Fraction(1, p["low"]) for f in found_set)
    if ask == "both":
        return sum(
            coprime_to(k, p["a"]) and not coprime_to(k, p["b"]) for k in range(1, p["top"] + 1)
        )
    return sum(
        Fraction(p["p"] * k + p["q"], p["r"] * k + p["s"]).denominator < p["r"] * k + p["s"]
        for k in range(1, p["top"] + 1)
    )


CHECKS = {
    "numbers_squares": squares,
    "numbers_consecutive": consecutive,
    "numbers_coprime": coprime,
}
