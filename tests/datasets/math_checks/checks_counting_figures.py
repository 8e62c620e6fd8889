from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

Values = Mapping[str, Any]


def figures(p: Values, question: str) -> object:
    ask = p["ask"]
    if "rows" in p:
        boxes = [
            (x, y, i, j)
            for x, i in combinations(range(p["columns"] + 1), 2)
            for y, j in combinations(range(p["rows"] + 1), 2)
        ]
        return sum(
            {
                "rectangles": True,
                "squares": i - x == j - y,
                "area": (i - x) * (j - y) == p.get("cells"),
                "with cell": x < p.get("x", 0) <= i and y < p.get("y", 0) <= j,
                "removed": not (x < p.get("x", 0) <= i and y < p.get("y", 0) <= j),
            }[ask]
            for x, y, i, j in boxes
        )
    points = set(product(range(p["w"]), range(p["h"])))
    if ask == "tilted":
        found = set()
        for (x, y), (i, j) in combinations(sorted(points), 2):
            for turn in (1, -1):  # turn the side by a right angle
                u, v = -(j - y) * turn, (i - x) * turn
                corners = frozenset({(x, y), (i, j), (x + u, y + v), (i + u, j + v)})
                if corners <= points:
                    found.add(corners)
        return len(found)
    if ask == "triangles":
        return sum(
            abs(x * (j - b) + i * (b - y) + a * (y - j)) > 0
            for (x, y), (i, j), (a, b) in combinations(points, 3)
        )
    shown = p["distance"]
    square = int(shown[6:-1]) if shown.startswith("\\sqrt") else int(shown) ** 2
    return sum(
        abs(abs(complex(*q) - complex(*r)) ** 2 - square) < 1e-9 for q, r in combinations(points, 2)
    )


def worst_cases(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "pigeonhole":
        people = 0
        places = [0] * p["groups"]
        while True:  # worst case: each new one joins the smallest group
            people += 1
            places[places.index(min(places))] += 1
            if max(places) >= p["m"]:
                return people
    if ask in ("sum", "difference", "free of difference"):
        # the graph of forbidden pairs consists of paths: take greedily along each
        bad = p.get("total", 0), p.get("gap", 0)
        free: set[int] = set()
        for number in range(1, p["n"] + 1):
            clash = bad[0] - number in free if bad[0] else number - bad[1] in free
            if not clash:
                free.add(number)
        return len(free) + (ask != "free of difference")
    counts = p["counts"]

    def good(drawn: tuple[int, ...]) -> Any:
        if ask == "same":
            return max(drawn) >= p["m"]
        if ask == "each":
            return min(drawn) >= p["m"]
        if ask == "colors":
            return sum(d > 0 for d in drawn) >= p["m"]
        if ask == "two kinds":
            return sum(d >= p["m"] for d in drawn) >= 2
        if ask == "pairs":
            return sum(d // 2 for d in drawn) >= p["pairs"]
        return drawn[("red", "blue", "green", "white", "black").index(p["color"])] >= p["m"]

    # a larger draw is never worse, so only counts near the limits matter
    m = p.get("m", 0)
    sizes = [
        sorted({0, 1, min(m - 1, n), n} if ask != "pairs" else set(range(n + 1))) for n in counts
    ]
    if ask == "pairs":
        sizes = [[d for d in s if d % 2] for s in sizes]
    return 1 + max(
        sum(drawn)
        for drawn in product(*[[d for d in s if d >= 0] for s in sizes])
        if not good(drawn)
    )


CHECKS = {"counting_figures": figures, "counting_worst_cases": worst_cases}
