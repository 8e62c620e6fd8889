"""Code problems on boards of words: cellular updates and tilted stones.

Leaves out: reading orders (``grids_readings``), paths, regions and blocks.
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import source
from prorl_datasets.procedural.code.problem import Problem, code_family

_CELLS_GOLD = """
def solve(rows):
    h, w = len(rows), len(rows[0])
    age = [[int(c == "$live") for c in row] for row in rows]
    for _ in range($steps):
        new = [[0] * w for _ in range(h)]
        for y in range(h):
            for x in range(w):
                n = 0
                for dy in $dys:
                    for dx in (-1, 0, 1):
                        ny, nx = y + dy, x + dx
                        if (dy or dx) and $inside:
                            n += age[ny % h][nx % w] > 0
                if n in ($stay if age[y][x] else $born) and age[y][x] < $most:
                    new[y][x] = age[y][x] + 1
        age = new
    return ["".join("$live" if a else "$dead" for a in row) for row in age]
"""


def _cells(rng: Random, level: int) -> Problem:
    live, dead = rng.choice(("#.", "O.", "*-", "X_", "10", "@."))
    top = 2 if level == 1 else 8
    near = (
        "left and right neighbours"
        if level == 1
        else "eight neighbours (cells that share a side or a corner)"
    )
    born = sorted(rng.sample(range(top + 1), rng.randint(1, 2 if level == 1 else 4)))
    stay = sorted(rng.sample(range(top + 1), rng.randint(0, 2 if level == 1 else 4)))
    if level == 1 and 0 in born and not stay:
        stay = [1]
    if level > 1 and not {2, 3} & {*born}:
        born = sorted({*born, rng.randint(2, 3)})
    wrap, steps = (
        rng.random() < 0.5,
        rng.randint(1, 8 - 2 * level) if level < 3 else rng.randint(2, 5),
    )
    edge = (
        "The rows wrap around"
        + (
            " and so do the columns (the cell left of the first one is the last one)"
            if level > 1
            else ": the cell left of the first one is the last one"
        )
        if wrap
        else "Cells outside count as empty"
    )
    extra = level == 3
    age = rng.randint(2, 4)
    tired = (
        (
            f" But a cell that has been live in {age} successive states (the first state counts) "
            "is empty in the next one."
        )
        if extra
        else ""
    )
    statement = (
        f"`rows` holds 3 to 6 words of equal length, 3 to 7, of '{live}' (a live cell) "
        f"and '{dead}' (an empty cell). In a step all cells change at once: an empty cell "
        "becomes live if the "
        f"number of live cells among its {near} is in the list {born}, a live cell stays "
        f"live if that number is in the list {stay}; all others "
        f"are empty then. {edge}.{tired} Give the rows after {steps} "
        f"step{'s' if steps > 1 else ''}."
    )
    gold = _CELLS_GOLD
    inside = "True" if wrap else "0 <= ny < h and 0 <= nx < w"

    def brute(rows: list[str]) -> list[str]:
        h, w = len(rows), len(rows[0])
        alive = [{(y, x) for y in range(h) for x in range(w) if rows[y][x] == live}]
        for _ in range(steps):
            tally: dict[tuple[int, int], int] = {}
            for y, x in alive[-1]:
                for dy in (-1, 0, 1) if level > 1 else (0,):
                    for dx in (-1, 0, 1):
                        at = ((y + dy) % h, (x + dx) % w) if wrap else (y + dy, x + dx)
                        if dy or dx:
                            tally[at] = tally.get(at, 0) + 1
            nxt = {
                (y, x)
                for y in range(h)
                for x in range(w)
                if tally.get((y, x), 0) in (stay if (y, x) in alive[-1] else born)
            }
            if extra and len(alive) >= age:
                nxt -= {cell for cell in nxt if all(cell in old for old in alive[-age:])}
            alive.append(nxt)
        return ["".join(live if (y, x) in alive[-1] else dead for x in range(w)) for y in range(h)]

    def draw(r: Random) -> tuple[list[str]]:
        h, w = r.randint(3, 5), r.randint(3, 6)
        return (["".join(live if r.random() < 0.45 else dead for _ in range(w)) for _ in range(h)],)

    key: dict[str, Any] = {"level": level, "born": born, "stay": stay, "wrap": wrap, "steps": steps}
    key |= {"age": age} if extra else {}
    text = source(
        gold,
        live=live,
        dead=dead,
        steps=steps,
        dys="(0,)" if level == 1 else "(-1, 0, 1)",
        inside=inside,
        born=born,
        stay=stay,
        most=age if extra else 999,
    )
    return Problem(statement, (("rows", "rows"),), "rows", text, brute, draw, key)


_WAYS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}


_TILT_GOLD = """
def solve(rows):
    g = [list(row) for row in rows]
    h, w = len(g), len(g[0])
    for dy, dx in $tilts:
        order = [(y, x) for y in range(h) for x in range(w)]
        if dy + dx > 0:
            order.reverse()
        for y, x in order:
            if g[y][x] == "$stone":
                g[y][x] = "$free"
                while 0 <= y + dy < h and 0 <= x + dx < w and g[y + dy][x + dx] == "$free":
                    y, x = y + dy, x + dx
                g[y][x] = "$stone"$melt
    return $result
"""


def _tilt(rng: Random, level: int) -> Problem:
    stone, wall, free = rng.choice(("O#.", "o|.", "sW_", "*=-", "@#."))
    count = {1: 1, 2: 3, 3: rng.randint(4, 6)}[level]
    tilts = [rng.choice(list(_WAYS))]
    while len(tilts) < count:
        tilts.append(rng.choice([t for t in _WAYS if t != tilts[-1]]))
    a, b, k = rng.randint(1, 9), rng.randint(1, 9), rng.randint(2, 3)
    crush = level == 3
    melt = (
        f" After each tilt, every stone that has at least {k} stones among its four "
        "neighbours (cells that share a side) is "
        "removed, all at once."
        if crush
        else ""
    )
    what = {
        True: "Give the rows of the board at the end.",
        False: "Number rows and columns from 1. Give the sum, over all stones at the end, of "
        f"{a} times the row plus {b} times the column.",
    }[crush and a % 2 == 0]
    shown = what.startswith("Give the rows")
    statement = (
        f"`rows` is a board: 2 to 6 words of equal length, 2 to 6, of '{stone}' (a "
        f"stone), '{wall}' (a wall) and '{free}' (free). Tilting the board in a direction "
        "makes every stone slide that way "
        "until the next cell is a wall, a stone that cannot move on, or the edge. The "
        f"board is tilted {', then '.join(tilts)}.{melt} {what}"
    )
    gold = _TILT_GOLD
    melt_code = f"""
        doomed = []
        for y, x in order:
            near = [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
            n = sum(1 for i, j in near if 0 <= i < h and 0 <= j < w and g[i][j] == "{stone}")
            if n >= {k}:
                doomed.append((y, x))
        for y, x in doomed:
            if g[y][x] == "{stone}":
                g[y][x] = "{free}\""""
    total = (
        f"sum({a} * (y + 1) + {b} * (x + 1) for y in range(h) for x in range(w) if g[y][x] == "
        f'"{stone}")'
    )

    def brute(rows: list[str]) -> Any:
        for tilt in tilts:
            rows = _slide(rows, tilt, stone + wall + free)
            if crush:
                rows = _melted(rows, stone, free, k)
        if shown:
            return rows
        return sum(
            a * y + b * x
            for y, row in enumerate(rows, 1)
            for x, v in enumerate(row, 1)
            if v == stone
        )

    def draw(r: Random) -> tuple[list[str]]:
        h, w, cells = r.randint(2, 6), r.randint(3, 6), stone * 4 + wall * 2 + free * 4
        return (["".join(r.choice(cells) for _ in range(w)) for _ in range(h)],)

    key: dict[str, Any] = {"level": level, "tilts": tilts, "sum": None if shown else (a, b)}
    key |= {"k": k} if crush else {}
    text = source(
        gold,
        tilts=[_WAYS[t] for t in tilts],
        stone=stone,
        free=free,
        melt=melt_code if crush else "",
        result='["".join(row) for row in g]' if shown else total,
    )
    return Problem(
        statement, (("rows", "rows"),), "rows" if shown else "int", text, brute, draw, key
    )


def _slide(rows: list[str], tilt: str, signs: str) -> list[str]:
    """Return the tilted board: lines are cut at walls and each part is sorted."""
    stone, wall, free = signs[0], signs[1], signs[2]
    lines = rows if tilt in ("left", "right") else ["".join(col) for col in zip(*rows, strict=True)]
    out = []
    for line in lines:
        parts = []
        for part in line.split(wall):
            stones, rest = stone * part.count(stone), free * part.count(free)
            parts.append(stones + rest if tilt in ("left", "up") else rest + stones)
        out.append(wall.join(parts))
    return out if lines is rows else ["".join(col) for col in zip(*out, strict=True)]


def _melted(rows: list[str], stone: str, free: str, k: int) -> list[str]:
    w = len(rows[0])
    pad = [free * (w + 2), *(free + row + free for row in rows), free * (w + 2)]
    return [
        "".join(
            free
            if v == stone
            and (pad[y][x + 1] + pad[y + 2][x + 1] + pad[y + 1][x] + pad[y + 1][x + 2]).count(stone)
            >= k
            else v
            for x, v in enumerate(row)
        )
        for y, row in enumerate(rows)
    ]


FAMILIES = (
    code_family("cell_updates", _cells),
    code_family("tilted_boards", _tilt),
)
