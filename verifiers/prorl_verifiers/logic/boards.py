"""Scores grids by the rules of their puzzle, and matrices by their cells.

Any grid that keeps the given cells and obeys the rules is correct.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prorl_verifiers.logic.text import (
    PARTIAL,
    Entry,
    Upstream,
    beyond,
    complete,
    loads,
    number,
    plain,
    whole,
)

Grid = list[list[int]]
NOT_AS_ASKED = 0.1
"""Credit for the correct content as a Python list instead of a grid or word (same as upstream)."""


def rows_of(text: str, lines: str = "", between: str = "", around: str = "") -> Grid | None:
    """Return the integers in each non-blank line, or None if the text contains other words.

    ``lines``: a line of these characters only is skipped.
    ``between``: these characters separate integers within a line, but not at its ends.
    ``around``: these characters separate integers anywhere.
    """
    grid: Grid = []
    for line in text.strip().split("\n"):
        if lines and not line.strip(f"{lines}| "):
            continue
        line = re.sub(f"[{re.escape(around)}]", " ", line) if around else line
        if line.strip(between) == line:
            line = re.sub(f"[{re.escape(between)}]", " ", line) if between else line
        words = line.split()
        values = complete(whole(item) for item in words)
        if values is None:
            return None
        if values:
            grid.append(values)
    return grid


def list_of_lists(text: str) -> Any:
    if re.search(r"[^\s\w\[\],'\"-]", text):
        return None
    return loads(text.replace("'", '"'))


# ------------------------------------------------------------------------------------- number puzzles


def _keeps_clues(grid: Grid | None, puzzle: Sequence[Sequence[int]]) -> bool:
    return (
        grid is not None
        and [len(row) for row in grid] == [len(row) for row in puzzle]
        and all(
            not clue or clue == value
            for row, clues in zip(grid, puzzle, strict=True)
            for value, clue in zip(row, clues, strict=True)
        )
    )


def _share_filled(
    grid: Grid, puzzle: Sequence[Sequence[int]], solution: Sequence[Sequence[int]]
) -> float:
    pairs = [
        (value, right)
        for row, clues, rights in zip(grid, puzzle, solution, strict=True)
        for value, clue, right in zip(row, clues, rights, strict=True)
        if not clue
    ]
    if not pairs:
        return 0.0
    constant = max(Counter(right for _, right in pairs).values()) / len(pairs)
    return beyond(sum(value == right for value, right in pairs) / len(pairs), constant)


def _is_latin(grid: Grid) -> bool:
    whole_set = set(range(1, len(grid) + 1))
    return all(set(line) == whole_set for line in (*grid, *zip(*grid, strict=True)))


def sudoku(answer: str, entry: Entry, upstream: Upstream) -> float:
    metadata = entry["metadata"]
    puzzle, solution = metadata["puzzle"], metadata["solution"]
    grid = rows_of(answer, lines="-+", around="|")
    if grid is None or not _keeps_clues(grid, puzzle):
        return 0.0
    size = len(puzzle)
    box = 3 if size == 9 else 2
    squares = [
        {grid[top + i][left + j] for i in range(box) for j in range(box)}
        for top in range(0, size, box)
        for left in range(0, size, box)
    ]
    if _is_latin(grid) and all(len(square) == size for square in squares):
        return 1.0
    return min(PARTIAL, _share_filled(grid, puzzle, solution))


def futoshiki(answer: str, entry: Entry, upstream: Upstream) -> float:
    metadata = entry["metadata"]
    grid = rows_of(answer, lines="\u2227\u2228^vV", between="<>", around="|")
    if grid is None or not _keeps_clues(grid, metadata["puzzle"]):
        return 0.0
    obeyed = all(
        (grid[r1][c1] < grid[r2][c2]) == (sign == "<")
        for r1, c1, r2, c2, sign in metadata["constraints"]
    )
    if obeyed and _is_latin(grid):
        return 1.0
    return min(PARTIAL, _share_filled(grid, metadata["puzzle"], metadata["solution"]))


def survo(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``survo``: the sums must be right, and each given number must be used once."""
    metadata = entry["metadata"]
    puzzle = metadata["puzzle"]
    grid = rows_of(answer)
    if grid is None or not _keeps_clues(grid, puzzle):
        return 0.0
    used = [
        value
        for row, clues in zip(grid, puzzle, strict=True)
        for value, clue in zip(row, clues, strict=True)
        if not clue
    ]
    sums = all(sum(line[:-1]) == line[-1] for line in (*grid, *zip(*grid, strict=True)))
    return float(sums and sorted(used) == sorted(metadata["candidate_numbers"]))


def kakurasu(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``kakurasu``. Brackets and commas in the grid are accepted."""
    metadata = entry["metadata"]
    rows, columns = metadata["row_sums"], metadata["col_sums"]
    grid = rows_of(answer, around="[],|")
    if grid is None or [len(row) for row in grid] != [len(columns)] * len(rows):
        return 0.0
    marks = all(cell in (0, 1) for row in grid for cell in row)
    return float(
        marks and _place_sums(grid) == rows and _place_sums(zip(*grid, strict=True)) == columns
    )


def _place_sums(lines: Iterable[Sequence[int]]) -> list[int]:
    return [sum(at for at, cell in enumerate(line, start=1) if cell) for line in lines]


def n_queens(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``n_queens``. A correct board written as a Python list earns 0.5."""
    puzzle = entry["metadata"]["puzzle"]
    board = [line.split() for line in plain(answer).split("\n")]
    credit = 1.0
    if answer.lstrip().startswith("["):
        board, credit = list_of_lists(answer), 0.5
    size = len(puzzle)
    if not isinstance(board, list) or len(board) != size:
        return 0.0
    if not all(isinstance(row, list) and len(row) == size for row in board):
        return 0.0
    if not all(cell in ("Q", "_") for row in board for cell in row):
        return 0.0
    queens = [(r, c) for r in range(size) for c in range(size) if board[r][c] == "Q"]
    keeps_queens = all(
        board[r][c] == "Q" for r in range(size) for c in range(size) if puzzle[r][c] == "Q"
    )
    lines = [{f(r, c) for r, c in queens} for f in _QUEEN_LINES]
    return credit * (
        keeps_queens and len(queens) == size and all(len(line) == size for line in lines)
    )


_QUEEN_LINES: tuple[Callable[[int, int], int], ...] = (
    lambda r, c: r,
    lambda r, c: c,
    lambda r, c: r + c,
    lambda r, c: r - c,
)


# -------------------------------------------------------------------------------------------- matrices


def game_of_life(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``game_of_life`` by correct cells. Boards that are all dead, all alive or unchanged earn 0."""
    gold, board = loads(str(entry["answer"])), loads(answer)
    boards = re.findall(r"\[\s*(\[[\d,\s\[\]]*\])\s*\]", str(entry["question"]))
    cells = _cells(gold)
    if not cells or not isinstance(board, list) or len(board) != len(gold):
        return 0.0
    for row, right in zip(board, gold, strict=True):
        if not isinstance(row, list) or len(row) != len(right):
            return 0.0
    start = re.findall(r"\d", boards[-1]) if boards else []
    shares = [Counter(cells)[0], Counter(cells)[1]]
    if len(start) == len(cells):
        shares.append(sum(int(a) == b for a, b in zip(start, cells, strict=True)))
    right = sum(type(a) is int and a == b for a, b in zip(_cells(board), cells, strict=True))
    return beyond(right / len(cells), max(shares) / len(cells))


def _cells(board: Any) -> list[Any]:
    rows = board if isinstance(board, list) else []
    return [cell for row in rows for cell in (row if isinstance(row, list) else [row])]


def pool_matrix(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``pool_matrix``: every cell must be within 1 % of the gold."""
    matrix, gold = _decimals(answer), _decimals(str(entry["answer"]))
    if not matrix or [len(row) for row in matrix] != [len(row) for row in gold]:
        return 0.0
    return float(
        all(
            abs(a - b) <= abs(b) / 100 + 1e-8
            for row, right in zip(matrix, gold, strict=True)
            for a, b in zip(row, right, strict=True)
        )
    )


def _decimals(text: str) -> list[list[float]]:
    rows = []
    for line in plain(text).split("\n"):
        values = complete(number(item) for item in line.split())
        if values is None:
            return []
        rows.append([float(value) for value in values])
    return rows


def matrix_or_list(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``binary_matrix`` and ``spiral_matrix``. A correct matrix written as a Python list earns 0.1."""
    gold = plain(str(entry["answer"]))
    if plain(answer) == gold:
        return 1.0
    literal = list_of_lists(answer)
    if not isinstance(literal, list):
        return 0.0
    rows = literal if all(isinstance(row, list) for row in literal) else [literal]
    text = "\n".join(" ".join(str(cell) for cell in row) for row in rows)
    return NOT_AS_ASKED * (text == gold)


def string_or_list(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``string_insertion``. A list of the correct characters earns 0.1."""
    gold = str(entry["answer"]).strip()
    if answer == gold:
        return 1.0
    literal = list_of_lists(answer)
    characters = literal if isinstance(literal, list) else []
    joined = "".join(cell for cell in characters if isinstance(cell, str))
    return NOT_AS_ASKED * (bool(gold) and joined == gold)
