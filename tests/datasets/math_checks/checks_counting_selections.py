from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, permutations, product
from typing import Any

Values = Mapping[str, Any]


def committees(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "offices":
        people = range(p["n"])
        return sum(
            1 for board in combinations(people, p["size"] + 2) for _ in permutations(board, 2)
        )
    if ask == "groups":
        found = set()

        def grow(
            free: frozenset[int], sizes: list[int], chosen: tuple[frozenset[int], ...]
        ) -> None:
            if not sizes:
                found.add(frozenset(chosen))
                return
            for group in combinations(sorted(free), sizes[0]):
                grow(free - set(group), sizes[1:], (*chosen, frozenset(group)))

        if p["n"] <= 9:
            grow(frozenset(range(p["n"])), p["parts"], ())
            return len(found)
        # each person is in one pile or none: count labelled piles, then remove the labels
        ways: dict[tuple[int, ...], int] = {(0, 0, 0): 1}
        for _ in range(p["n"]):
            longer: dict[tuple[int, ...], int] = {}
            for state, times in ways.items():
                for i in (None, 0, 1, 2):
                    new = tuple(v + (i == j) for j, v in enumerate(state))
                    longer[new] = longer.get(new, 0) + times
            ways = longer
        equal = {3: 1, 2: 2, 1: 6}[len(set(p["parts"]))]
        return ways[tuple(p["parts"])] // equal
    if "groups" in p:
        kinds = [kind for kind, n in enumerate(p["groups"]) for _ in range(n)]
        total = 0
        for group in combinations(kinds, p["size"]):
            first = group.count(0)
            if ask == "three groups":
                total += len(set(group)) == 3
            elif ask == "chair":
                total += first if first >= p["k"] else 0
            else:
                k = p["k"]
                total += {"exactly": first == k, "at least": first >= k, "at most": first <= k}[ask]
        return total
    chosen = combinations(range(p["n"]), p["size"])
    if ask == "not both":
        return sum(not (0 in c and 1 in c) for c in chosen)
    return sum(0 not in c or 1 in c for c in chosen)


def all_subsets(n: int) -> Iterator[set[int]]:
    for bits in range(1 << n):
        yield {i + 1 for i in range(n) if bits >> i & 1}


def subsets(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("disjoint", "inside", "union", "meet once"):
        # each element is in neither, in A only, in B only, or in both
        total = 0
        for where in product(range(4), repeat=p["n"]):
            total += {
                "disjoint": 3 not in where,
                "inside": 1 not in where and 2 in where,
                "union": 0 not in where,
                "meet once": where.count(3) == 1,
            }[ask]
        return total
    if "size" in p:
        people = 2 * p["pairs"]
        return sum(
            sum(x + y == people + 1 for x, y in combinations(c, 2)) == p["exactly"]
            for c in combinations(range(1, people + 1), p["size"])
        )
    n = p["n"]
    if "k" in p:
        chosen = list(combinations(range(1, n + 1), p["k"]))
        if ask in ("smallest", "largest") and "m" not in p:
            return sum(min(c) if ask == "smallest" else max(c) for c in chosen)
        tests: dict[str, Callable[[Any], Any]] = {
            "largest": lambda c: max(c) == p["m"],
            "size contains": lambda c: bool(set(c) & set(p["xy"])),
            "k no two": lambda c: all(y - x > 1 for x, y in combinations(c, 2)),
            "circle": lambda c: all(1 < y - x < n - 1 for x, y in combinations(c, 2)),
            "sum": lambda c: sum(c) % p["d"] == p["r"],
        }
        return sum(tests[ask](c) for c in chosen)
    total = 0
    for s in all_subsets(n):
        if ask == "contains even":
            total += any(x % p["d"] == 0 for x in s)
        elif ask == "with without":
            x, y, z = p["xyz"]
            total += (x in s or y in s) and z not in s
        elif ask == "no two":
            total += all(y - x > p["gap"] for x, y in combinations(sorted(s), 2))
        else:
            total += bool(s) and max(s) - min(s) == p["gap"]
    return total


def surveys(p: Values, question: str) -> object:
    ask, total = p["ask"], p["total"]
    if ask in ("least both", "most none", "least all"):
        if ask == "least all":
            a, b, c = p["sizes"]
            fewest_two = min(both for both in range(total + 1) if a + b - both <= total)
            return min(x for x in range(total + 1) if fewest_two + c - x <= total)
        a, b = p["sizes"]
        options = [both for both in range(min(a, b) + 1) if a + b - both <= total]
        return len(options) if ask == "least both" else max(total - a - b + x for x in options)
    if "one" in p:
        found = set()
        for both in range(min(p["one"], p["two"]) + 1):
            none = total - (p["one"] + p["two"] - both)
            if none == p.get("none", none) and both == p.get("both", both) and none >= 0:
                found.add({"both": both, "none": none, "exactly one": total - none - both}[ask])
        assert len(found) == 1
        return found.pop()
    a, b, c = p["sizes"]
    if ask == "exactly":
        # once + twice + thrice people are not outside, each counted that many times
        fits = [
            x
            for x in range(total + 1)
            if (once := a + b + c - 2 * p["twice"] - 3 * x) >= 0
            and once + p["twice"] + x == total - p["none"]
        ]
        assert len(fits) == 1
        return fits[0]
    found = set()
    for three in range(total + 1):
        pairs = [m - three for m in p["meets"]]
        only = [
            a - pairs[0] - pairs[1] - three,
            b - pairs[0] - pairs[2] - three,
            c - pairs[1] - pairs[2] - three,
        ]
        none = total - sum(only) - sum(pairs) - three
        if min(*pairs, *only, none) < 0 or three != p.get("three", three):
            continue
        if none == p.get("none", none):
            found.add(
                {"all": three, "none": none, "exactly two": sum(pairs), "exactly one": sum(only)}[
                    ask
                ]
            )
    assert len(found) == 1, found
    return found.pop()


def matches(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "handshakes":
        return sum(y >= p["k"] for _, y in combinations(range(p["n"]), 2))
    if ask == "triangles":
        return sum(z >= p["k"] for _, _, z in combinations(range(p["n"]), 3))
    if ask == "find n":
        found = [
            n
            for n in range(2, 200)
            if p["games"] * sum(1 for _ in combinations(range(n), 2)) + p["extra"] == p["total"]
        ]
        assert len(found) == 1
        return found[0]
    if ask == "two groups":
        people = [0] * p["a"] + [1] * p["b"]
        return sum(1 if x == y else 2 for x, y in combinations(people, 2))
    if ask == "couples":
        present = [x for x in range(2 * p["couples"]) if not (x % 2 and x < 2 * p["missing"])]
        return sum(x // 2 != y // 2 for x, y in combinations(present, 2))
    if ask == "diagonals":

        def diagonals(n: int) -> int:
            return sum(1 < y - x < n - 1 for x, y in combinations(range(n), 2))

        (n,) = [n for n in range(3, 60) if diagonals(n) == p["total"]]
        return diagonals(n + p["more"])
    if ask == "intersections":
        directions = [0] * p["a"] + [1] * p["b"] + list(range(2, 2 + p["c"]))
        return sum(x != y for x, y in combinations(directions, 2))
    if ask == "cups":
        games = p["groups"] * sum(1 for _ in combinations(range(p["size"]), 2))
        left = p["groups"] * p["through"]
        while left > 1:
            left, games = left - 1, games + 1
        return games + p["third"]
    if ask == "left early":
        found = [
            n for n in range(2, 100)
            if sum(1 for _ in combinations(range(n - 1), 2)) + p["played"] == p["total"]
            and p["played"] < n
        ]  # fmt: skip
        assert len(found) == 1
        return found[0]
    if ask == "polygon triangles":
        n = p["n"]
        return sum(
            sum((y - x) in (1, n - 1) for x, y in combinations(t, 2)) == p["sides"]
            for t in combinations(range(n), 3)
        )
    lines = [(d, i) for d, n in enumerate(p["lines"]) for i in range(n)]
    pairs = [(x, y) for x, y in combinations(lines, 2) if x[0] == y[0]]
    return sum(x[0][0] != y[0][0] for x, y in combinations(pairs, 2))


CHECKS = {
    "counting_committees": committees,
    "counting_subsets": subsets,
    "counting_surveys": surveys,
    "counting_matches": matches,
}
