"""Code problems on grids of integers: paths and regions.

Leaves out: blocks (``grids_blocks``), readings and boards (``grids_boards``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, matrix, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_G = (("g", "grid"),)
_STEPS = {
    "right": (0, 1),
    "down": (1, 0),
    "diagonally down-right": (1, 1),
    "two to the right": (0, 2),
    "two down": (2, 0),
}


_PATHS_GOLD = {
    1: """
    def solve(g):
        walls = sum(1 for row in g for v in row if $cond)
        ways = [0] * len(g[0])
        ways[0] = 1
        for row in g:
            for x, v in enumerate(row):
                if $cond:
                    ways[x] = 0
                elif x:
                    ways[x] += ways[x - 1]
        return ways[-1] + $bonus * walls
    """,
    2: """
    def solve(g):
        best = {}
        for y, row in enumerate(g):
            for x, v in enumerate(row):
                before = [best[y - dy, x - dx] for dy, dx in $steps if (y - dy, x - dx) in best]
                if before or (y == 0 and x == 0):
                    best[y, x] = $pick(before, default=0) + v + ($bonus if $cond else 0)
        return best[len(g) - 1, len(g[0]) - 1]
    """,
    3: """
    def solve(g):
        ways = {}
        for y, row in enumerate(g):
            for x, v in enumerate(row):
                now = [0] * (2 * $m)
                flip = 1 if $cond else 0
                if y == 0 and x == 0:
                    now[v % $m * 2 + flip] = 1
                for dy, dx in $steps:
                    for state, count in enumerate(ways.get((y - dy, x - dx), [])):
                        now[(state // 2 + v) % $m * 2 + (state % 2 + flip) % 2] += count
                ways[y, x] = now
        end = ways[len(g) - 1, len(g[0]) - 1]
        return [sum(end[2 * $r0:2 * $r0 + 2]), sum(end[1::2])]
    """,
}


def _paths(rng: Random, level: int) -> Problem:
    names = ["right", "down", *[s for s in list(_STEPS)[2:] if level > 1 and rng.random() < 0.5]]
    steps = [_STEPS[s] for s in names]
    c, m = condition(rng, 0, 12), rng.randint(3, 9)
    best, r0, bonus = rng.choice(("smallest", "largest")), rng.randint(0, m - 1), rng.randint(1, 9)
    moves = f"{', '.join(names[:-1])} or {names[-1]}"
    start = (
        (
            "`g` is a grid of non-negative integers with at most 6 rows and 6 columns. A "
            "path starts in the top left cell and ends "
            f"in the bottom right one; each step goes one cell {moves}, and never leaves the grid. "
        )
        .replace("one cell right, down or", "one cell right, one cell down or")
        .replace("one cell right, down,", "one cell right, one cell down,")
    )
    wall = (
        f"A cell whose value is {c.text} is a wall, which a path may not enter (nor start or "
        "end on). "
    )
    what = {
        1: f"{wall}Give the number of paths (0 if there is none), plus {bonus} times the "
        "number of walls.",
        2: "The cost of a path is the sum of the values of its cells; entering a cell whose "
        f"value is {c.text} (the first cell counts as entered) "
        f"costs {bonus} more. Give the {best} cost of a path.",
        3: "Give a list of two integers: the number of paths for which the sum of the "
        f"values of the cells is congruent to {r0} modulo {m}, and "
        f"the number of paths on which the number of cells whose value is {c.text} is odd.",
    }[level]
    if level == 2 and len(names) == 2:
        start = start.replace("one cell right or down", "one cell right or one cell down")
    gold = _PATHS_GOLD[level]

    def brute(g: list[list[int]]) -> Any:
        routes = _routes(g, steps, (0, 0))
        if level == 1:
            walls = sum(c.holds(v) for row in g for v in row)
            return sum(not any(map(c.holds, route)) for route in routes) + bonus * walls
        if level == 2:
            costs = sorted(sum(route) + bonus * sum(map(c.holds, route)) for route in routes)
            return costs[0 if best == "smallest" else -1]
        odd = sum(len([v for v in route if c.holds(v)]) % 2 for route in routes)
        return [sum((sum(route) - r0) % m == 0 for route in routes), odd]

    key: dict[str, Any] = {"level": level, "condition": c.key, "steps": names}
    key |= {"m": m, "r": r0} if level == 3 else {"bonus": bonus}
    key |= {"best": best} if level == 2 else {}
    text = source(
        gold,
        cond=c.on("v"),
        bonus=bonus,
        steps=steps,
        pick=(best[:-3] == "larg" and "max") or "min",
        m=m,
        r0=r0,
    )
    sides = (2, 5) if len(names) < 4 else (2, 4)
    return Problem(
        start + what,
        _G,
        "ints" if level == 3 else "int",
        text,
        brute,
        lambda r: (matrix(r, sides, 0, 12),),
        key,
        (([[4]],),),
    )


def _routes(
    g: list[list[int]], steps: list[tuple[int, int]], at: tuple[int, int]
) -> list[list[int]]:
    """Return the values along every path from ``at`` to the end."""
    y, x = at
    if y >= len(g) or x >= len(g[0]):
        return []
    if y == len(g) - 1 and x == len(g[0]) - 1:
        return [[g[y][x]]]
    return [[g[y][x], *rest] for dy, dx in steps for rest in _routes(g, steps, (y + dy, x + dx))]


_SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


_REGIONS_GOLD = """
def solve(g):
    h, w = len(g), len(g[0])
    seen = [[$unused for v in row] for row in g]
    out = []
    for y0 in range(h):
        for x0 in range(w):
            if seen[y0][x0]:
                continue
            seen[y0][x0] = True
            region = [(y0, x0)]
            for y, x in region:
                v = g[y][x]
                for dy, dx in $steps:
                    ny, nx = y + dy, x + dx
                    if 0 <= ny < h and 0 <= nx < w and not seen[ny][nx]:
                        u = g[ny][nx]
                        if $joined:
                            seen[ny][nx] = True
                            region.append((ny, nx))
            values = [g[y][x] for y, x in region]
            if len(values) >= $least:
                out.append($measure)
    return sorted(out$order)
"""


def _regions(rng: Random, level: int) -> Problem:
    eight, c, d = rng.random() < 0.5, condition(rng, 0, 12), rng.randint(1, 4)
    least, big = rng.randint(1, 3), rng.random() < 0.5
    near = "share a side or a corner" if eight else "share a side"
    link = {
        1: f"both values are {c.text}",
        2: f"their values differ by at most {d}, and both values are {c.negated}",
        3: f"their values differ by at most {d}, and their sum is {c.negated}",
    }[level]
    what = {
        1: "Give the list of the sizes of the regions",
        2: "For each region take the sum of its values; give the list of these sums",
        3: "For each region take its size times its largest value; give the list of these products",
    }[level]
    cells = {
        1: f"the cells whose value is {c.text}",
        2: f"the cells whose value is {c.negated}",
        3: "all cells",
    }[level]
    order = "decreasing" if big else "increasing"
    statement = (
        "`g` is a grid of non-negative integers with at most 7 rows and 7 columns. Two "
        f"cells are linked if they {near} and {link}. A region is a maximal set of cells, "
        "among "
        f"{cells}, that are joined by chains of links (a single cell can be a region). "
        f"{what}, for the regions "
        f"of at least {least} cells, in {order} order (empty if there is none)."
    )
    joined = {1: "$b", 2: f"$b and abs(v - u) <= {d}", 3: f"abs(v - u) <= {d} and not $b"}[level]
    joined = joined.replace("$b", {1: c.on("u"), 2: f"not {c.on('u')}", 3: c.on("(u + v)")}[level])
    gold = _REGIONS_GOLD
    steps = [*_SIDES, *(_CORNERS if eight else ())]

    def linked(u: int, v: int) -> bool:
        if level == 1:
            return c.holds(u) and c.holds(v)
        if level == 2:
            return max(u, v) - min(u, v) <= d and not (c.holds(u) or c.holds(v))
        return max(u, v) - min(u, v) <= d and not c.holds(u + v)

    def brute(g: list[list[int]]) -> list[int]:
        label = {
            (y, x): y * 9 + x
            for y, row in enumerate(g)
            for x, v in enumerate(row)
            if level == 3 or c.holds(v) == (level == 1)
        }
        moved = True
        while moved:
            moved = False
            for (y, x), own in label.items():
                for dy, dx in steps:
                    other = label.get((y + dy, x + dx), own)
                    if other < label[y, x] and linked(g[y][x], g[y + dy][x + dx]):
                        label[y, x], moved = other, True
        groups = [[g[y][x] for (y, x), n in label.items() if n == mark] for mark in range(81)]
        kept = [v for v in groups if len(v) >= least]
        sizes = [(len(v), sum(v), len(v) * max(v))[level - 1] for v in kept]
        return sorted(sizes, reverse=big)

    key: dict[str, Any] = {
        "level": level,
        "eight": eight,
        "condition": c.key,
        "least": least,
        "big": big,
    }
    key |= {"d": d} if level > 1 else {}
    unused = {1: f"not ({c.on('v')})", 2: c.on("v"), 3: "False"}[level]
    measure = ("len(values)", "sum(values)", "len(values) * max(values)")[level - 1]
    text = source(
        gold,
        unused=unused,
        steps=steps,
        joined=joined,
        least=least,
        measure=measure,
        order=", reverse=True" if big else "",
    )
    return Problem(statement, _G, "ints", text, brute, lambda r: (matrix(r, (4, 6), 0, 12),), key)


FAMILIES = (
    code_family("grid_paths", _paths),
    code_family("grid_regions", _regions),
)
