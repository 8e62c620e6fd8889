r"""Vectors in unit vectors: the components of ``3\hat{i} - 4\hat{j}`` or ``2i + 3j - k``."""

from __future__ import annotations

from fractions import Fraction

from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Const,
    Neg,
    Node,
    Num,
    Product,
    Quotient,
    Sum,
    Sym,
    WithUnit,
    walk,
)

_AXES = (("i", "j", "k"), ("x", "y", "z"), ("e_x", "e_y", "e_z"), ("e_1", "e_2", "e_3"))
ZERO = Num(Fraction(0))


def components(node: Node, size: int) -> tuple[Node, ...] | None:
    """Return the ``size`` components of a sum over unit vectors, or None when it is something else."""
    if not isinstance(node, EXPRESSIONS) or size not in (2, 3):
        return None
    names = {part.name for part in walk(node) if isinstance(part, Sym)}
    if any(part == Const("i") for part in walk(node)) and names & {"j", "k"}:
        names.add("i")
    for axes in _AXES[:1] if "i" in names or "j" in names else _AXES[1:]:
        if names and names <= set(axes[:size]):
            return _along(node, axes[:size])
    return None


def _along(node: Node, axes: tuple[str, ...]) -> tuple[Node, ...] | None:
    terms = node.terms if isinstance(node, Sum) else (node,)
    found: dict[str, Node] = {}
    for term in terms:
        part = _term(term, axes)
        if part is None or part[0] in found:
            return None
        found[part[0]] = part[1]
    return tuple(found.get(axis, ZERO) for axis in axes)


def _term(term: Node, axes: tuple[str, ...]) -> tuple[str, Node] | None:
    """Return (axis, coefficient) of one term."""
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
            rest = tuple(factor for place, factor in enumerate(factors) if place not in at)
            if len(at) != 1 or any(
                isinstance(part, Sym) for factor in rest for part in walk(factor)
            ):
                return None
            return _axis(factors[at[0]], axes), rest[0] if len(rest) == 1 else Product(rest)
    return None


def _axis(node: Node, axes: tuple[str, ...]) -> str:
    name = node.name if isinstance(node, Sym | Const) else ""
    return name if name in axes else ""
