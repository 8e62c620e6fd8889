r"""Small questions about parsed answers: items in order, brackets, sides. No comparing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Degrees,
    Listing,
    Matrix,
    Neg,
    Node,
    Num,
    Percent,
    Relation,
    Sum,
    WithUnit,
    symbols,
)

MAX_ITEMS = 40
"""Items of a list that are compared one by one."""


def curve(node: Node) -> bool:
    """Whether a value has variables in it, so that its equation is a curve."""
    return bool(symbols(node))


def is_decimal(node: Node) -> bool:
    """Whether a value is written with a point, with or without sign and unit."""
    inner = node.of if isinstance(node, Neg | WithUnit | Degrees | Percent) else node
    return isinstance(inner, Num) and inner.decimal


def difference(node: Relation) -> Node | None:
    """Return left side minus right side."""
    left, right = node.sides[0], node.sides[1]
    if isinstance(left, EXPRESSIONS) and isinstance(right, EXPRESSIONS):
        return Sum((left, Neg(right)))
    return None


def ordered(node: Node) -> tuple[Node, ...] | None:
    """Return the items of a tuple, bare list or vector in order."""
    if isinstance(node, Bracketed | Listing):
        return node.items
    if isinstance(node, Matrix):
        if len(node.rows) == 1:
            return node.rows[0]
        if all(len(row) == 1 for row in node.rows):
            return tuple(row[0] for row in node.rows)
    return None


def brackets_agree(gold: Node, answer: Node) -> bool:
    """Whether ``(1, 2)`` and ``[1, 2]`` are told apart: pairs of round and square brackets are intervals."""
    if isinstance(gold, Matrix) and isinstance(answer, Matrix):
        return (len(gold.rows) == 1) == (len(answer.rows) == 1)
    if not (isinstance(gold, Bracketed) and isinstance(answer, Bracketed)):
        return True
    if len(gold.items) != 2:
        return True
    shape = [node.opening.replace(r"\langle", "(") for node in (gold, answer)]
    return shape[0] == shape[1]


def same_numbers(gold: Sequence[Node], answer: Sequence[Node], once: bool) -> bool | None:
    """Compare long lists: literal numbers exactly, others not at all (None), unless only the answer is long."""
    left, right = _literals(gold), _literals(answer)
    if left is not None and right is not None:
        return set(left) == set(right) if once else sorted(left) == sorted(right)
    return False if len(gold) <= MAX_ITEMS else None


def _literals(items: Sequence[Node]) -> list[Fraction] | None:
    found = []
    for item in items:
        core = item.of if isinstance(item, Neg) else item
        if not isinstance(core, Num):
            return None
        found.append(core.value if core is item else -core.value)
    return found
