from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

Values = Mapping[str, Any]


def boxed(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield the contents of k boxes with n equal things."""
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in boxed(n - first, k - 1):
            yield (first, *rest)


def falling(n: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of n, largest part first."""
    if n == 0:
        yield ()
    for part in range(min(n, most), 0, -1):
        for rest in falling(n - part, part):
            yield (part, *rest)


def ordered(n: int) -> Iterator[tuple[int, ...]]:
    if n == 0:
        yield ()
    for part in range(1, n + 1):
        for rest in ordered(n - part):
            yield (part, *rest)


def equal_things(p: Values, question: str) -> object:
    ask, n = p["ask"], p["n"]
    if ask == "plain":
        return sum(min(t) >= p["least"] for t in boxed(n, p["k"]))
    if ask == "lower":
        return sum(
            all(x >= low for x, low in zip(t, p["lows"], strict=True))
            for t in boxed(n, len(p["lows"]))
        )
    if ask == "at most":
        return sum(1 for total in range(n + 1) for _ in boxed(total, p["k"]))
    if ask == "odd":
        return sum(all(x % 2 == p["odd"] for x in t) for t in boxed(n, p["k"]))
    if ask == "two kinds":
        first = sum(min(t) >= p["least"] for t in boxed(n, p["k"]))
        return first * sum(1 for _ in boxed(p["m"], p["k"]))
    if ask == "upper":
        return sum(
            all(p["low"] <= x <= top for x, top in zip(t, p["tops"], strict=True))
            for t in boxed(n, len(p["tops"]))
        )
    if ask == "exactly empty":
        return sum(t.count(0) == p["j"] for t in boxed(n, p["k"]))
    threes = [t for t in falling(n, n) if len(t) == 3]
    if ask == "triangles":
        return sum(a < b + c for a, b, c in threes)
    return sum(len(set(t)) == 3 or not p["strict"] for t in threes)


def different_things(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "sizes":

        @cache
        def deal(left: tuple[int, ...]) -> int:
            if not any(left):
                return 1
            return sum(
                deal((*left[:i], left[i] - 1, *left[i + 1 :])) for i in range(len(left)) if left[i]
            )

        return deal(tuple(p["sizes"]))
    n, k = p["n"], p["k"]
    found = list(product(range(k), repeat=n))
    if ask == "any":
        return len(found)
    if ask == "capacity":
        return sum(max(map(t.count, range(k))) <= p["top"] for t in found)
    if ask == "one empty":
        return sum(len(set(t)) == k - 1 for t in found)
    full = [t for t in found if len(set(t)) == k]
    if ask == "onto":
        return len(full)
    if ask == "first at least":
        return sum(t.count(0) >= p["low"] for t in full)
    if ask == "apart":
        full = [t for t in full if t[0] != t[1]]
        if p["named"]:
            return len(full)
    return len(
        {frozenset(frozenset(i for i in range(n) if t[i] == j) for j in range(k)) for t in full}
    )


def sums(p: Values, question: str) -> object:
    ask, n = p["ask"], p["n"]
    if ask == "coins":
        ranges = [range(n // coin + 1) for coin in p["coins"]]
        return sum(
            sum(c * m for c, m in zip(p["coins"], t, strict=True)) == n for t in product(*ranges)
        )
    if ask in ("parts", "distinct", "largest"):
        found = list(falling(n, n))
        if ask == "parts":
            return sum(len(t) == p["k"] for t in found)
        if ask == "distinct":
            return sum(len(t) == len(set(t)) for t in found)
        return sum(t[0] <= p["top"] for t in found)
    rows = ordered(n)
    if ask == "compositions":
        return sum(len(t) == p["k"] and max(t) <= p["top"] for t in rows)
    if ask == "odd":
        return sum(all(x % 2 for x in t) for t in rows)
    if ask == "two up":
        return sum(min(t) > 1 for t in rows)
    return sum(p["bad"] not in t for t in rows)


CHECKS = {
    "counting_equal_things": equal_things,
    "counting_different_things": different_things,
    "counting_sums": sums,
}
