from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

Values = Mapping[str, Any]


def linear_equations(p: Values, question: str) -> object:
    a, b, ask = p["a"], p["b"], p["ask"]
    if ask == "triples":
        c, top = p["c"], p["total"]
        return sum(
            a * x + b * y + c * z == top
            for x, y, z in product(
                range(1, top // a + 1), range(1, top // b + 1), range(1, top // c + 1)
            )
        )
    if ask == "heads":
        found = [
            z
            for x, y in product(range(1, p["heads"]), repeat=2)
            if (z := p["heads"] - x - y) > 0 and a * x + b * y + p["c"] * z == p["total"]
        ]
        return max(found)
    least = p.get("least", 1)
    pairs = [
        (x, y)
        for x, y in product(range(least, p["c"] // a + 1), range(least, p["c"] // b + 1))
        if a * x + b * y == p["c"]
    ]
    if ask == "pair":
        assert len(pairs) == 1
        return f"({pairs[0][0]}, {pairs[0][1]})"
    assert not ("nonnegative" in question and least)
    if ask == "count":
        return len(pairs)
    sums = [x + y for x, y in pairs]
    return max(sums) if ask == "most" else min(sums)


def coin_gaps(p: Values, question: str) -> object:
    parts, least = p["parts"], 1 if p["ask"] == "positive" else 0
    top = 2 * max(parts) * min(parts)
    made = {0}
    for part in parts:
        counts = range(least, top // part + 1)
        made = {m + part * k for m in made for k in counts if m + part * k <= top}
    gaps = [n for n in range(1, top + 1) if n not in made]
    assert max(gaps) <= top - min(parts), "nothing fails beyond"
    return len(gaps) if p["ask"] == "count" else max(gaps)


def factored_equations(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("count", "largest x", "sum"):
        a, b, c = p["a"], p["b"], p["c"]
        pairs = [
            (x, y) for x, y in product(range(1, c + 1), repeat=2) if x * y + a * x + b * y == c
        ]
        return {"count": len(pairs), "largest x": max(pairs)[0], "sum": min(map(sum, pairs))}[ask]
    if ask in ("ordered", "greatest y", "least sum", "rates"):
        n = p["n"]
        pairs = [(x, n * x // (x - n)) for x in range(n + 1, n * n + n + 1) if n * x % (x - n) == 0]
        assert all(x * y == n * (x + y) for x, y in pairs)
        if ask == "ordered":
            return len(pairs)
        if ask == "rates":
            return sum(x <= y for x, y in pairs)
        apart = [(x, y) for x, y in pairs if x < y]
        return max(y for _, y in apart) if ask == "greatest y" else min(map(sum, apart))
    if ask in ("points", "abscissas"):
        k, q, c = p["p"], p["q"], p["c"]
        found = []
        for x in range(-3000, 3001):  # y (kx - q) = qx + c
            if (k * x - q) and (q * x + c) % (k * x - q) == 0:
                found.append(x)
            assert k * x != q or q * x + c
        return len(found) if ask == "points" else sum(found)
    if ask.startswith("fraction"):
        low = 1 if ask == "fraction positive" else -5000
        found = [
            n
            for n in range(low, 5000)
            if n != -p["r"] and (p["m"] * n + p["constant"]) % (n + p["r"]) == 0
        ]
        return max(found) if ask == "fraction largest" else len(found)
    w, k = p["w"], p["k"]
    found_sides = []
    for a in range(2 * w + 1, 2000):
        # k (a - 2w)(b - 2w) = ab is linear in b
        slope, constant = k * (a - 2 * w) - a, 2 * w * k * (a - 2 * w)
        if slope > 0 and constant % slope == 0 and constant // slope >= a:
            found_sides.append((a, constant // slope))
    assert all(k * (a - 2 * w) * (b - 2 * w) == a * b for a, b in found_sides)
    areas = [a * b for a, b in found_sides]
    return max(areas) if ask == "border area" else sum(map(sum, found_sides))


CHECKS = {
    "numbers_linear_equations": linear_equations,
    "numbers_coin_gaps": coin_gaps,
    "numbers_factored_equations": factored_equations,
}
