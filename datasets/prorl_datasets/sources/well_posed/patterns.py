"""Rules for patterns to be found from examples: copies, constants, and two rules that fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule

_PAIR = re.compile(r"Input:\n(.*?)\nOutput:\n(.*?)\n(?:\n|$)", re.DOTALL)
_SHOWN = re.compile(r"Input \d+: (.*)\nOutput \d+: (.*)")
_HOLE, _MARK = "\u2754", "\u2705"
_COPY = Flaw("trivial", "the output is the input")
_EXAMPLE = Flaw("trivial", "the input is one of the examples")


def _grids(entry: Mapping[str, Any]) -> Flaw | None:
    """arc_agi, rearc."""
    if entry["metadata"]["input"] == entry["metadata"]["output"]:
        return _COPY
    examples, _, test = str(entry["question"]).rpartition("Input:\n")
    if test.strip() in (given.strip() for given, _ in _PAIR.findall(examples)):
        return _EXAMPLE
    return None


def _row(entry: Mapping[str, Any]) -> Flaw | None:
    """arc_1d."""
    given = entry["metadata"]
    if given["test_example"]["input"] == given["test_example"]["output"]:
        return _COPY
    if any(one["input"] == given["test_example"]["input"] for one in given["train_examples"]):
        return _EXAMPLE
    return None


def _lists(entry: Mapping[str, Any]) -> Flaw | None:
    """list_functions."""
    examples, _, test = str(entry["question"]).rpartition("\nInput: ")
    shown = _SHOWN.findall(examples)
    if len({output for _, output in shown}) == 1:
        return Flaw("ambiguous", "all examples have one output")
    given = test.partition("\n")[0].strip()
    if given == str(entry["answer"]).strip():
        return _COPY
    if given in (one for one, _ in shown):
        return _EXAMPLE
    return None


def _sequence(entry: Mapping[str, Any]) -> Flaw | None:
    """number_sequence: a simpler rule than the one it was made with goes on otherwise."""
    *shown, answer = entry["metadata"]["sequence"]
    if len(set(shown[1:])) == 1:
        return Flaw("trivial", "the terms do not change")
    others = {term for term in _simple_continuations(shown) if term != answer}
    if others:
        listed = ", ".join(map(str, shown))
        return Flaw("ambiguous", f"{listed} goes on with {min(others)} or {answer}")
    return None


def _simple_continuations(terms: Sequence[int]) -> Iterator[Fraction | int]:
    """Yield the next terms by equal (second) differences, ``a*x + b`` or ``a*x + b*y``, where they fit."""
    steps = [b - a for a, b in pairwise(terms)]
    bends = [b - a for a, b in pairwise(steps)]
    if len(set(steps)) == 1:
        yield terms[-1] + steps[0]
    if len(bends) > 1 and len(set(bends)) == 1:
        yield terms[-1] + steps[-1] + bends[0]
    if steps[0]:
        factor = Fraction(steps[1], steps[0])
        rest = terms[1] - factor * terms[0]
        if all(factor * x + rest == y for x, y in pairwise(terms)):
            yield factor * terms[-1] + rest
    determinant = terms[1] * terms[1] - terms[0] * terms[2]
    if determinant and len(terms) > 4:  # four terms fit any two factors
        near = Fraction(terms[2] * terms[1] - terms[0] * terms[3], determinant)
        far = Fraction(terms[1] * terms[3] - terms[2] * terms[2], determinant)
        triples = zip(terms, terms[1:], terms[2:], strict=False)
        if all(near * y + far * x == z for x, y, z in triples):
            yield near * terms[-1] + far * terms[-2]


def _modulo(entry: Mapping[str, Any]) -> Flaw | None:
    """modulo_grid: another of the task's own rules fits what is shown and fills a hole otherwise."""
    shown = str(entry["question"]).partition("\n\n")[2].split("\n")
    rows = [[None if sign == _HOLE else sign == _MARK for sign in line] for line in shown if line]
    if not any(True in row for row in rows):
        return Flaw("ambiguous", "no cell is marked")
    most = entry["metadata"]["difficulty"]
    tables = _modulo_tables(len(rows[0]), len(rows), most["divisor"])
    holes = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell is None]
    cells = [
        (y, x, cell) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell is not None
    ]
    fills = {
        tuple(values[y][x] == target for y, x in holes)
        for values, targets in tables
        for target in targets
        if all((values[y][x] == target) == cell for y, x, cell in cells)
    }
    if len(fills) > 1:
        return Flaw("ambiguous", "two rules fit the cells that are shown")
    return None


@cache
def _modulo_tables(width: int, height: int, divisors: int) -> list[tuple[list[list[int]], range]]:
    """Return the remainders of every cell by each operation and divisor, and the remainders there are."""
    operations = (
        lambda x, y, n: (x + y) % n,
        lambda x, y, n: abs(x - y) % n,
        lambda x, y, n: x * y % n,
        lambda x, y, n: pow(x, y, n),
    )
    return [
        ([[found(x, y, n) for x in range(width)] for y in range(height)], range(n))
        for found in operations
        for n in range(1, divisors + 1)
    ]


RULES: Mapping[str, Rule] = {
    "arc_1d": _row,
    "arc_agi": _grids,
    "list_functions": _lists,
    "modulo_grid": _modulo,
    "number_sequence": _sequence,
    "rearc": _grids,
}
