"""The output is right when it holds the expected rows in any order, each as often: the result set of an SQL query.

A row is a line of cells with ``|`` between them, as the language ``sql`` prints them. Cells stand in the expected order.
Numbers are the same by value (``3`` is ``3.0``); fractions may differ from the expected ones by 1e-6 (relative above 1).
All else must be the same text. For a query that asks for an order, leave the judge out: then lines are compared one by one.
"""

import re
from collections import defaultdict

NEAR = 1e-6
LONGEST = 300
WHOLE = 1e-9
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def check(stdin: str, stdout: str, expected: str) -> bool:
    """Whether ``stdout`` and ``expected`` hold the same rows."""
    got, gold = table(stdout), table(expected)
    return got.keys() == gold.keys() and all(same_fractions(got[kind], gold[kind]) for kind in gold)


def table(text: str) -> dict[tuple[str | int | None, ...], list[tuple[float, ...]]]:
    """Return, by the cells that are no fractions, the fractions of each row."""
    found = defaultdict(list)
    for line in text.replace("\r\n", "\n").split("\n"):
        if line:
            cells = [value(cell) for cell in line.split("|")]
            kind = tuple(None if isinstance(cell, float) else cell for cell in cells)
            found[kind].append(tuple(cell for cell in cells if isinstance(cell, float)))
    return found


def value(cell: str) -> str | int | float:
    """Return a cell as a number where it is one: an int where its value is whole."""
    if len(cell) > LONGEST or NUMBER.fullmatch(cell) is None:
        return cell
    if cell.lstrip("-").isdigit():
        return int(cell)
    number = float(cell)
    if abs(number) == float("inf"):
        return cell
    return round(number) if abs(number - round(number)) <= WHOLE else number


def same_fractions(got: list[tuple[float, ...]], gold: list[tuple[float, ...]]) -> bool:
    """Whether rows that differ in their fractions alone are the same in some order."""
    return len(got) == len(gold) and all(
        abs(a - b) <= NEAR * max(1.0, abs(b))
        for row, wanted in zip(sorted(got), sorted(gold), strict=True)
        for a, b in zip(row, wanted, strict=True)
    )
