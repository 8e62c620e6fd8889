r"""Say when an answer is not evaluated although the gold is: ``2+3`` for 5, ``\arctan 1`` for \pi/4, ``3!`` for 6.

Fractions, roots, powers of literals, scientific notation and mixed numbers count as evaluated. A gold that is
itself arithmetic (``2^6 \cdot 3^5``) allows arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

from prorl_verifiers.math.reading.nodes import (
    Call,
    Const,
    Degrees,
    Neg,
    Node,
    Num,
    Percent,
    Power,
    Product,
    Quotient,
    Ratio,
    Root,
    Sum,
    WithUnit,
    symbols,
    walk,
)

_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh log ln".split()  # noqa: SIM905
)


def unevaluated(gold: Node, answer: Node) -> str | None:
    """Return why ``answer`` may not count as the constant ``gold``, or None."""
    if symbols(gold) or symbols(answer):
        return None
    called = _calls(answer) - _calls(gold)
    if called - _FUNCTIONS or (called and not _calls(gold) & _FUNCTIONS):
        return "the answer is left unevaluated"
    if _based(answer) != _based(gold) and _based(answer):
        return "the answer is left in another base"
    if is_plain(gold) and not _is_literal(answer):
        return "the answer is left unevaluated"
    return None


def _calls(node: Node) -> set[str]:
    return {part.name for part in walk(node) if isinstance(part, Call)}


def _based(node: Node) -> bool:
    return any(isinstance(part, Num) and part.base not in (0, 10) for part in walk(node))


def is_plain(node: Node) -> bool:
    """Whether a node is one written number: an integer, decimal, fraction, percentage, with unit or sign."""
    match node:
        case Num():
            return True
        case Neg(of=of) | Percent(of=of) | Degrees(of=of) | WithUnit(of=of):
            return is_plain(of)
        case Quotient(top=top, bottom=bottom):
            return is_plain(top) and is_plain(bottom)
        case Ratio(items=items):
            return all(is_plain(item) for item in items)
    return _is_scientific(node)


def _is_scientific(node: Node) -> bool:
    """``1.5 \\times 10^{3}`` and ``10^{3}``."""
    if isinstance(node, Product) and len(node.factors) == 2:
        return isinstance(node.factors[0], Num) and _is_scientific(node.factors[1])
    return isinstance(node, Power) and node.base == Num(Fraction(10)) and is_plain(node.exponent)


def _is_literal(node: Node) -> bool:
    """Whether a closed form counts as evaluated where a plain number is asked for."""
    match node:
        case Num() | Const():
            return True
        case Neg(of=of) | Percent(of=of) | Degrees(of=of) | WithUnit(of=of):
            return _is_literal(of)
        case (
            Quotient(top=left, bottom=right)
            | Power(base=left, exponent=right)
            | Root(of=left, index=right)
        ):
            return _is_literal(left) and _is_literal(right)
        case Ratio(items=items):
            return all(_is_literal(item) for item in items)
        case Product(factors=factors, signed=signed):
            if _is_scientific(node):
                return True
            rational = sum(is_plain(factor) or isinstance(factor, Power) for factor in factors)
            return not signed and rational <= 1 and all(_is_literal(factor) for factor in factors)
        case Sum():
            return False
    return False


def is_closed(node: Node) -> bool:
    """Whether a node is a closed form such as ``\\frac{1+\\sqrt5}{2}`` or ``e^{-2}``: no symbol, no function but logarithms."""
    parts = list(walk(node))
    irrational = any(isinstance(part, Root | Const | Quotient | Call) for part in parts)
    functions = {part.name for part in parts if isinstance(part, Call)}
    return irrational and not symbols(node) and functions <= {"log", "ln"}
