"""Judges, which compare the ``stdout`` of a program with the ``expected`` output of a test."""

# The verifier runs this file's source in a sandbox, so it may import only the standard library.
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
    """Return whether both outputs have the same words in the same order."""
    return stdout.split() == expected.split()


def unordered_lines(stdin: str, stdout: str, expected: str) -> bool:
    """Return whether both outputs have the same lines in any order, ignoring blank lines."""
    return _lines(stdout) == _lines(expected)


def _lines(text: str) -> "Counter[str]":
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    return Counter(line for line in lines if line)


def floats(stdin: str, stdout: str, expected: str) -> bool:
    """Return whether both outputs have the same words in order, where decimals may differ.

    The tolerance is ``1e-6 * max(1, |expected|)``, for expected numbers with a point or exponent.
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
    if abs(a) == float("inf") or abs(b) == float("inf"):  # too large for a float
        return False
    return abs(a - b) <= max(TOLERANCE, TOLERANCE * abs(b))


def _is_number(word: str) -> bool:
    return len(word) <= LONGEST_WORD and WORD_NUMBER.fullmatch(word) is not None


def rows(stdin: str, stdout: str, expected: str) -> bool:
    """Return whether both outputs have the same rows, equally often, in any order.

    Cells are separated by ``|``. Non-integers may differ by ``1e-6 * max(1, |expected|)``.
    """
    got, gold = _table(stdout), _table(expected)
    return got.keys() == gold.keys() and all(
        _same_fractions(got[kind], gold[kind]) for kind in gold
    )


def _table(text: str) -> dict[tuple[str | int | None, ...], list[tuple[float, ...]]]:
    """Return each row's decimals, grouped by its other cells (with None for each decimal)."""
    table = defaultdict(list)
    for line in text.replace("\r\n", "\n").split("\n"):
        if line:
            cells = [_value(cell) for cell in line.split("|")]
            kind = tuple(None if isinstance(cell, float) else cell for cell in cells)
            table[kind].append(tuple(cell for cell in cells if isinstance(cell, float)))
    return table


def _value(cell: str) -> str | int | float:
    if len(cell) > LONGEST_CELL or CELL_NUMBER.fullmatch(cell) is None:
        return cell
    if cell.lstrip("-").isdigit():
        return int(cell)
    number = float(cell)
    if abs(number) == float("inf"):
        return cell
    return round(number) if abs(number - round(number)) <= WHOLE else number


def _same_fractions(got: list[tuple[float, ...]], gold: list[tuple[float, ...]]) -> bool:
    return len(got) == len(gold) and all(
        abs(a - b) <= TOLERANCE * max(1.0, abs(b))
        for row, expected in zip(sorted(got), sorted(gold), strict=True)
        for a, b in zip(row, expected, strict=True)
    )
