"""Code problems on blocks (rectangles of cells) of a grid of integers.

Leaves out: paths and regions (``grids_paths``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, matrix, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_G = (("g", "grid"),)


_RECTANGLES_GOLD = {
    1: """
    def solve(g):
        out = []
        for y in range(len(g) - $p + 1):
            for x in range(len(g[0]) - $q + 1):
                w = [v for row in g[y:y + $p] for v in row[x:x + $q]]
                if $corner_w:
                    out.append($measure)
        return out
    """,
    2: """
    def solve(g):
        count = total = 0
        for y in range(len(g) - $p + 1):
            for x in range(len(g[0]) - $q + 1):
                w = [v for row in g[y:y + $p] for v in row[x:x + $q]]
                s = sum(w)
                if $cond:
                    count += 1
                    total += $measure
        return [count, total]
    """,
    3: """
    def solve(g):
        h, w = len(g), len(g[0])
        pre = [[0] * (w + 1)]
        for row in g:
            line = [0]
            for x, v in enumerate(row):
                line.append(line[-1] + v + pre[-1][x + 1] - pre[-1][x])
            pre.append(line)
        sums = []
        for y in range(h):
            for x in range(w):
                if not ($corner_g):
                    continue
                for b in range(y + 1, h + 1):
                    for r in range(x + 1, min(w, x + $area // (b - y)) + 1):
                        s = pre[b][r] - pre[y][r] - pre[b][x] + pre[y][x]
                        if s % $m == $r0:
                            sums.append(s)
        return [len(sums), $pick(sums, default=0)]
    """,
}


def _rectangles(rng: Random, level: int) -> Problem:
    p, q, m = rng.randint(1, 3), rng.randint(2, 3), rng.randint(3, 9)
    c = condition(rng, -4 * p * q, 5 * p * q)
    c2 = condition(rng, -9, 12)
    r0, area, op = rng.randint(0, m - 1), rng.randint(4, 9), rng.choice(("largest", "smallest"))
    pick = "max" if op == "largest" else "min"
    ways = {
        "largest minus the smallest value": "max(w) - min(w)",
        "top left plus the bottom right value": "w[0] + w[-1]",
        "sum": "sum(w)",
    }
    name = rng.choice(list(ways))
    statement = (
        "`g` is a grid of integers with at most 6 rows and 6 columns. A block is a "
        "rectangle of neighbouring rows and neighbouring columns. "
        + (f"Only blocks whose top left value is {c2.text} count. " if level != 2 else "")
        + {
            1: f"For the blocks of {p} rows and {q} columns, in the order of their top left "
            f"cells (row by row, each from left to right), give the list of the {name} of "
            "each (empty if there is no such block).",
            2: f"Among the blocks of {p} rows and {q} columns take those whose sum is "
            f"{c.text}. Give a list of two integers: their number, and the total of the "
            f"{name} of each (0 if there is none).",
            3: f"Take the blocks of any size with at most {area} cells whose sum is "
            f"congruent to {r0} modulo {m} (remainders lie from 0 to {m - 1}). Give a "
            f"list of two integers: the number of these blocks, and the {op} sum of such "
            "a block (0 if there is none).",
        }[level]
    )
    gold = _RECTANGLES_GOLD[level]

    def brute(g: list[list[int]]) -> list[int]:
        shapes = (
            [(p, q)]
            if level < 3
            else [(i, j) for i in range(1, 7) for j in range(1, 7) if i * j <= area]
        )
        blocks = [
            [g[y + i][x + j] for i in range(a) for j in range(b)]
            for a, b in shapes
            for y in range(len(g))
            for x in range(len(g[0]))
            if y + a <= len(g) and x + b <= len(g[0]) and (level == 2 or c2.holds(g[y][x]))
        ]
        if level == 3:
            found = sorted(sum(w) for w in blocks if (sum(w) - r0) % m == 0)
            return [len(found), (found or [0])[-1 if op == "largest" else 0]]
        kept = [w for w in blocks if level == 1 or c.holds(sum(w))]
        values = [
            sum(w)
            if name == "sum"
            else w[0] + w[p * q - 1]
            if name[0] == "t"
            else -min(x - y for x in w for y in w)
            for w in kept
        ]
        return values if level == 1 else [len(kept), sum(values)]

    key: dict[str, Any] = {
        "level": level,
        "rule": [(p, q, name, c2.key), (p, q, name, c.key), (m, r0, area, op, c2.key)][level - 1],
    }
    text = source(
        gold,
        p=p,
        q=q,
        measure=ways[name],
        cond=c.on("s"),
        corner_w=c2.on("w[0]"),
        corner_g=c2.on("g[y][x]"),
        area=area,
        m=m,
        r0=r0,
        pick=pick,
    )
    return Problem(
        statement,
        _G,
        "ints",
        text,
        brute,
        lambda r: (matrix(r, (3, 5 if level == 3 else 6), -9, 12),),
        key,
    )


FAMILIES = (code_family("grid_blocks", _rectangles),)
