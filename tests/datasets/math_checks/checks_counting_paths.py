from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby, pairwise, product
from typing import Any

Values = Mapping[str, Any]
RIGHT, UP, BOTH = (1, 0), (0, 1), (1, 1)


def lattice_paths(p: Values, question: str) -> object:
    ask, goal = p["ask"], (p["w"], p["h"])
    closed = {tuple(c) for c in p.get("closed", [])}
    found = 0

    def walk(path: list[tuple[int, int]]) -> None:
        nonlocal found
        x, y = path[-1]
        if (x, y) == goal:
            found += fits(path)
            return
        for i, j in (RIGHT, UP, BOTH) if ask == "kings" else (RIGHT, UP):
            if x + i <= goal[0] and y + j <= goal[1]:
                walk([*path, (x + i, y + j)])

    def fits(path: list[tuple[int, int]]) -> Any:
        if ask in ("plain", "kings"):
            return True
        if ask == "two closed":
            return not closed & set(path)
        if ask == "ahead":
            return all(x > y for x, y in path[1:])
        if ask == "not behind":
            return all(x >= y for x, y in path)
        if ask == "turns":
            moves = [b[0] - a[0] for a, b in pairwise(path)]
            return len(list(groupby(moves))) - 1 == p["turns"]
        point = (p["a"], p["b"])
        if ask == "street":
            return (point, (point[0] + 1, point[1])) not in pairwise(path)
        return (point in path) == (ask == "through")

    walk([(0, 0)])
    return found


def climbs(n: int, steps: list[int]) -> list[tuple[int, ...]]:
    if n == 0:
        return [()]
    return [(s, *rest) for s in steps if s <= n for rest in climbs(n - s, steps)]


def tilings(n: int, squares: bool) -> int:
    """Return the number of tilings of 2 x n, filling the first free cell first."""

    def cover(free: frozenset[tuple[int, int]]) -> int:
        if not free:
            return 1
        x, y = min(free)
        shapes = [{(x, y), (x + 1, y)}, {(x, y), (x, y + 1)}]
        if squares:
            shapes.append({(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)})
        return sum(cover(free - shape) for shape in shapes if shape <= free)

    return cover(frozenset(product(range(n), range(2))))


def stairs(p: Values, question: str) -> object:
    ask, n = p["ask"], p["n"]
    if ask in ("dominoes", "square tiles"):
        return tilings(n, ask == "square tiles")
    if ask == "colors":
        return sum(p["c"] ** t.count(1) * p["d"] ** t.count(2) for t in climbs(n, [1, 2]))
    if ask == "no two long":
        every = climbs(n, [1, p["long"]])
        return sum((p["long"], p["long"]) not in pairwise(t) for t in every)
    every = climbs(n, p["steps"])
    if ask == "plain":
        return len(every)
    if ask == "exactly":
        return sum(len(t) == p["k"] for t in every)
    return sum(not {sum(t[:i]) for i in range(len(t))} & set(p["broken"]) for t in every)


def strings(p: Values, question: str) -> object:
    ask = p["ask"]
    letters = "ABCDE"[: p["letters"]] if "letters" in p else "01"
    every = ("".join(t) for t in product(letters, repeat=p["n"]))
    if ask == "no equal neighbors":
        if len(letters) ** p["n"] > 300_000:  # place by place, keeping the last letters only
            ends = dict.fromkeys(letters, 1)
            for _ in range(p["n"] - 1):
                ends = {x: sum(ends[y] for y in letters if y != x) for x in letters}
            return sum(ends.values())
        return sum(not re.search(r"(.)\1", s) for s in every)
    if ask == "exactly" and len(letters) ** p["n"] > 300_000:
        counts = {0: 1}
        for _ in range(p["n"]):
            longer: dict[int, int] = {}
            for k, times in counts.items():
                for letter in letters:
                    longer[k + (letter == "A")] = longer.get(k + (letter == "A"), 0) + times
            counts = longer
        return counts[p["k"]]
    tests: dict[str, Callable[[str], Any]] = {
        "at least one": lambda s: "A" in s,
        "exactly": lambda s: s.count("A") == p["k"],
        "no run": lambda s: "1" * (p["limit"] + 1) not in s,
        "three in a row": lambda s: not re.search(r"(.)\1\1", s),
        "even": lambda s: s.count("A") % 2 == 0,
        "pattern": lambda s: p["pattern"] in s,
        "blocks": lambda s: len(re.findall("1+", s)) == p["k"],
        "apart": lambda s: (
            s.count("1") == p["k"]
            and all(len(z) >= p["gap"] for z in s.strip("0").split("1")[1:-1])
        ),
    }
    return sum(tests[ask](s) for s in every)


CHECKS = {
    "counting_lattice_paths": lattice_paths,
    "counting_stairs": stairs,
    "counting_strings": strings,
}
