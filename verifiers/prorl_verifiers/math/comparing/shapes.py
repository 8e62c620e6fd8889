"""Finds ordered items, brackets and vector components in parsed answers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Const,
    Degrees,
    Listing,
    Matrix,
    Neg,
    Node,
    Num,
    Percent,
    Product,
    Quotient,
    Sum,
    Sym,
    WithUnit,
    walk,
)

MAX_ITEMS = 40
"""Maximum number of list items that are compared individually."""


def is_decimal(node: Node) -> bool:
    inner = node.of if isinstance(node, Neg | WithUnit | Degrees | Percent) else node
    return isinstance(inner, Num) and inner.decimal


def ordered(node: Node) -> tuple[Node, ...] | None:
    if isinstance(node, Bracketed | Listing):
        return node.items
    if isinstance(node, Matrix):
        if len(node.rows) == 1:
            return node.rows[0]
        if all(len(row) == 1 for row in node.rows):
            return tuple(row[0] for row in node.rows)
    return None


def brackets_agree(gold: Node, answer: Node) -> bool:
    """Return whether two pairs have the same brackets: ``[1, 2]`` may be an interval."""
    if isinstance(gold, Matrix) and isinstance(answer, Matrix):
        return (len(gold.rows) == 1) == (len(answer.rows) == 1)
    if not (isinstance(gold, Bracketed) and isinstance(answer, Bracketed)):
        return True
    if len(gold.items) != 2:
        return True
    shape = [node.opening.replace(r"\langle", "(") for node in (gold, answer)]
    return shape[0] == shape[1]


def same_numbers(gold: Sequence[Node], answer: Sequence[Node], once: bool) -> bool | None:
    left, right = _literals(gold), _literals(answer)
    if left is not None and right is not None:
        return set(left) == set(right) if once else sorted(left) == sorted(right)
    return False if len(gold) <= MAX_ITEMS else None


def _literals(items: Sequence[Node]) -> list[Fraction] | None:
    values = []
    for item in items:
        core = item.of if isinstance(item, Neg) else item
        if not isinstance(core, Num):
            return None
        values.append(core.value if core is item else -core.value)
    return values


_AXES = (("i", "j", "k"), ("x", "y", "z"), ("e_x", "e_y", "e_z"), ("e_1", "e_2", "e_3"))
ZERO = Num(Fraction(0))


def components(node: Node, size: int) -> tuple[Node, ...] | None:
    """Return the components of a vector written as a sum, such as ``2i + 3j``, or None."""
    if not isinstance(node, EXPRESSIONS) or size not in (2, 3):
        return None
    names = {part.name for part in walk(node) if isinstance(part, Sym)}
    if any(part == Const("i") for part in walk(node)) and names & {"j", "k"}:
        names.add("i")
    candidates = _AXES[:1] if "i" in names or "j" in names else _AXES[1:]
    fitting = [axes[:size] for axes in candidates if names and names <= set(axes[:size])]
    if not fitting:
        return None
    axes = fitting[0]
    terms = node.terms if isinstance(node, Sum) else (node,)
    by_axis: dict[str, Node] = {}
    for term in terms:
        part = _term(term, axes)
        if part is None or part[0] in by_axis:
            return None
        by_axis[part[0]] = part[1]
    return tuple(by_axis.get(axis, ZERO) for axis in axes)


def _term(term: Node, axes: tuple[str, ...]) -> tuple[str, Node] | None:
    axis = _axis(term, axes)
    if axis:
        return axis, Num(Fraction(1))
    match term:
        case Neg(of=of):
            inner = _term(of, axes)
            return None if inner is None else (inner[0], Neg(inner[1]))
        case Quotient(top=top, bottom=bottom):
            inner = _term(top, axes)
            return None if inner is None else (inner[0], Quotient(inner[1], bottom))
        case WithUnit(of=of, unit=unit):
            inner = _term(of, axes)
            return None if inner is None else (inner[0], WithUnit(inner[1], unit))
        case Product(factors=factors):
            at = [place for place, factor in enumerate(factors) if _axis(factor, axes)]
            coefficients = tuple(factor for place, factor in enumerate(factors) if place not in at)
            if len(at) != 1 or any(
                isinstance(part, Sym) for factor in coefficients for part in walk(factor)
            ):
                return None
            return _axis(factors[at[0]], axes), coefficients[0] if len(
                coefficients
            ) == 1 else Product(coefficients)
    return None


def _axis(node: Node, axes: tuple[str, ...]) -> str:
    name = node.name if isinstance(node, Sym | Const) else ""
    return name if name in axes else ""
