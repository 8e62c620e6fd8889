"""Problems on tilted boards with sliding stones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from string import Template
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_WAYS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
_ACROSS = {way: ("up", "down") if way in ("left", "right") else ("left", "right") for way in _WAYS}

_MELT_CODE = """
        doomed = []
        for y, x in order:
            near = [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
            n = sum(1 for i, j in near if 0 <= i < h and 0 <= j < w and g[i][j] == "$stone")
            if n >= $k:
                doomed.append((y, x))
        for y, x in doomed:
            if g[y][x] == "$stone":
                g[y][x] = "$free\""""
_TOTAL_CODE = (
    'sum($a * (y + 1) + $b * (x + 1) for y in range(h) for x in range(w) if g[y][x] == "$stone")'
)


@dataclass(frozen=True, slots=True)
class _Tilt:
    level: int
    stone: str
    wall: str
    free: str
    tilts: list[str]
    a: int
    """Weight of the row numbers."""
    b: int
    """Weight of the column numbers."""
    k: int
    """A stone with this number of neighbours is removed (level 3)."""

    @property
    def shows_rows(self) -> bool:
        return self.level == 3 and self.a % 2 == 0


def _draw_tilt(rng: Random, level: int) -> _Tilt:
    stone, wall, free = rng.choice(("O#.", "o|.", "sW_", "*=-", "@#."))
    count = rng.randint(*{1: (1, 2), 2: (3, 4), 3: (4, 6)}[level])
    tilts = [rng.choice(list(_WAYS))]
    while len(tilts) < count:
        other = [t for t in _WAYS if t != tilts[-1]] if level == 3 else _ACROSS[tilts[-1]]
        tilts.append(rng.choice(other))
    a, b, k = rng.randint(1, 12), rng.randint(1, 12), rng.randint(2, 3)
    return _Tilt(level, stone, wall, free, tilts, a, b, k)


def _tilt(rng: Random, level: int) -> Problem:
    board = _draw_tilt(rng, level)
    stone, free, as_rows = board.stone, board.free, board.shows_rows

    def draw(r: Random) -> tuple[list[str]]:
        h, w, cells = r.randint(2, 6), r.randint(3, 6), stone * 4 + board.wall * 2 + free * 4
        return (["".join(r.choice(cells) for _ in range(w)) for _ in range(h)],)

    key: dict[str, Any] = {"level": level, "tilts": board.tilts}
    key |= {"sum": None if as_rows else (board.a, board.b)}
    key |= {"k": board.k} if level == 3 else {}
    values = {"stone": stone, "free": free, "k": board.k, "a": board.a, "b": board.b}
    text = WORDINGS.source(
        "tilt solution",
        tilts=[_WAYS[t] for t in board.tilts],
        stone=stone,
        free=free,
        melt=Template(_MELT_CODE).substitute(values) if level == 3 else "",
        result='["".join(row) for row in g]'
        if as_rows
        else Template(_TOTAL_CODE).substitute(values),
    )
    output = "rows" if as_rows else "int"
    brute = partial(_tilt_brute, board)
    melt, what = "", "Give the rows of the board at the end."
    if board.level == 3:
        melt = WORDINGS.one("tilt statement melt", board=board)
    if not board.shows_rows:
        what = WORDINGS.one("tilt statement what", board=board)
    return Problem(
        WORDINGS.one("tilt", board=board, tilts=", then ".join(board.tilts), melt=melt, what=what),
        f"rows: rows -> {output}",
        text,
        brute,
        draw,
        key,
    )


def _tilt_brute(board: _Tilt, rows: list[str]) -> Any:
    for tilt in board.tilts:
        rows = _slide(rows, tilt, board.stone + board.wall + board.free)
        if board.level == 3:
            rows = _melted(rows, board.stone, board.free, board.k)
    if board.shows_rows:
        return rows
    return sum(
        board.a * y + board.b * x
        for y, row in enumerate(rows, 1)
        for x, v in enumerate(row, 1)
        if v == board.stone
    )


def _slide(rows: list[str], tilt: str, signs: str) -> list[str]:
    stone, wall, free = signs[0], signs[1], signs[2]
    lines = rows if tilt in ("left", "right") else ["".join(col) for col in zip(*rows, strict=True)]
    out = []
    for line in lines:
        parts = []
        for part in line.split(wall):
            stones, spaces = stone * part.count(stone), free * part.count(free)
            parts.append(stones + spaces if tilt in ("left", "up") else spaces + stones)
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


FAMILIES = (code_family("tilted_boards", "stones that slide on a board", _tilt),)
