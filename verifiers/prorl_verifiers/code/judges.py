"""Judges: programs that decide where more than one printed output is right; ``reference.judge`` names one.

The verifier reads this file as text and runs one function of it in a box of its own, so it imports the standard
library alone. A judge takes (stdin, stdout, expected) and returns whether ``stdout`` is right.
"""

import re
from collections import Counter, defaultdict

TOLERANCE = 1e-6
LONGEST_WORD = 400
LONGEST_CELL = 300
WHOLE = 1e-9
WORD_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
CELL_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
UNUSUAL = {"nan": "nan", "inf": "inf", "+inf": "inf", "-inf": "-inf", "infinity": "inf"}
UNUSUAL |= {"+infinity": "inf", "-infinity": "-inf"}


def tokens(stdin: str, stdout: str, expected: str) -> bool:
    """Whether both hold the same words in order, whatever white space lies between. Case counts."""
    return stdout.split() == expected.split()


def unordered_lines(stdin: str, stdout: str, expected: str) -> bool:
    """Whether both hold the same lines in any order; white space at the end of a line and blank lines do not count."""
    return _lines(stdout) == _lines(expected)


def _lines(text: str) -> "Counter[str]":
    kept = (line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    return Counter(line for line in kept if line)


def floats(stdin: str, stdout: str, expected: str) -> bool:
    """Whether both hold the same words in order, decimal numbers within 1e-6.

    A word may differ from the expected one only where that is written with a point or an exponent: then both
    must be plain decimal numbers with |a - b| <= max(1e-6, 1e-6 * |b|), b the expected one. Integers and
    other words must be the same text; NaN and infinity count only where they are expected (in any case).
    """
    got, gold = stdout.split(), expected.split()
    return len(got) == len(gold) and all(_same_word(a, b) for a, b in zip(got, gold, strict=True))


def _same_word(got: str, gold: str) -> bool:
    if got == gold:
        return True
    unusual = UNUSUAL.get(gold.lower())
    if unusual is not None:
        return UNUSUAL.get(got.lower()) == unusual
    if not any(mark in gold for mark in ".eE") or not _is_number(gold) or not _is_number(got):
        return False
    a, b = float(got), float(gold)
    if abs(a) == float("inf") or abs(b) == float("inf"):  # written out, and too large to compare
        return False
    return abs(a - b) <= max(TOLERANCE, TOLERANCE * abs(b))


def _is_number(word: str) -> bool:
    return len(word) <= LONGEST_WORD and WORD_NUMBER.fullmatch(word) is not None


def rows(stdin: str, stdout: str, expected: str) -> bool:
    """Whether both hold the same rows in any order, each as often: the result set of an SQL query.

    A row is a line of cells with ``|`` between them, as the language ``sql`` prints them. Cells stand in the
    expected order. Numbers are the same by value (``3`` is ``3.0``); fractions may differ from the expected ones by
    1e-6 (relative above 1). All else must be the same text. For a query that asks for an order, leave the judge out:
    then lines are compared one by one.
    """
    got, gold = _table(stdout), _table(expected)
    return got.keys() == gold.keys() and all(
        _same_fractions(got[kind], gold[kind]) for kind in gold
    )


def _table(text: str) -> dict[tuple[str | int | None, ...], list[tuple[float, ...]]]:
    """Return, by the cells that are no fractions, the fractions of each row."""
    table = defaultdict(list)
    for line in text.replace("\r\n", "\n").split("\n"):
        if line:
            cells = [_value(cell) for cell in line.split("|")]
            kind = tuple(None if isinstance(cell, float) else cell for cell in cells)
            table[kind].append(tuple(cell for cell in cells if isinstance(cell, float)))
    return table


def _value(cell: str) -> str | int | float:
    """Return a cell as a number where it is one: an int where its value is whole."""
    if len(cell) > LONGEST_CELL or CELL_NUMBER.fullmatch(cell) is None:
        return cell
    if cell.lstrip("-").isdigit():
        return int(cell)
    number = float(cell)
    if abs(number) == float("inf"):
        return cell
    return round(number) if abs(number - round(number)) <= WHOLE else number


def _same_fractions(got: list[tuple[float, ...]], gold: list[tuple[float, ...]]) -> bool:
    """Whether rows that differ in their fractions alone are the same in some order."""
    return len(got) == len(gold) and all(
        abs(a - b) <= TOLERANCE * max(1.0, abs(b))
        for row, expected in zip(sorted(got), sorted(gold), strict=True)
        for a, b in zip(row, expected, strict=True)
    )
