"""The node types of a parsed answer: expressions and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Num:
    """A number.

    ``base``: the base as written (2 in ``101_2``), or 0.
    ``cut``: whether an ellipsis follows its digits.
    """

    value: Fraction
    decimal: bool = False
    base: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Const:
    """A constant: ``pi``, ``e``, ``i`` or ``inf``."""

    name: str


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable with its subscript, such as ``m_max``."""

    name: str


@dataclass(frozen=True, slots=True)
class Neg:
    of: Node


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    r"""A product. ``signed``: whether it has a multiplication sign (``2\cdot 3``, but not ``2\pi``)."""

    factors: tuple[Node, ...]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Quotient:
    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Power:
    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Root:
    of: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A known function with its arguments: sin, log (value, base), factorial, binomial, ..."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """An unknown function with its arguments, such as ``f(x)``."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus:
    r"""``\pm`` before an expression, or ``\mp`` if ``opposite`` is set."""

    of: Node
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class Degrees:
    of: Node


@dataclass(frozen=True, slots=True)
class Percent:
    of: Node


@dataclass(frozen=True, slots=True)
class WithUnit:
    of: Node
    unit: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio such as ``a : b : c``."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Items without brackets, joined by ``joint``: ",", "or" or "and"."""

    items: tuple[Node, ...]
    joint: str = ","


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A tuple, vector or interval."""

    items: tuple[Node, ...]
    opening: str
    closing: str


@dataclass(frozen=True, slots=True)
class SetOf:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """A set with a condition: ``{of : condition}``."""

    of: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class Combined:
    """A union ("cup"), intersection ("cap") or difference ("minus") of sets."""

    parts: tuple[Node, ...]
    how: str


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A number set: ``R``, ``Z``, ``N``, ``Q`` or ``C``."""

    name: str


@dataclass(frozen=True, slots=True)
class Matrix:
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """A definition by cases. A row is (value, condition); the condition "otherwise" is a Words node."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain ``sides[0] ops[0] sides[1] ...`` with the operators ``= < <= > >= != in notin ~``."""

    sides: tuple[Node, ...]
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    text: str


Node: TypeAlias = (
    Num | Const | Sym | Neg | Sum | Product | Quotient | Power | Root | Call | Applied | PlusMinus
    | Degrees | Percent | WithUnit | Ratio | Listing | Bracketed | SetOf | Where | Combined | NamedSet
    | Matrix | Cases | Relation | Words
)  # fmt: skip

EXPRESSIONS = (
    Num, Const, Sym, Neg, Sum, Product, Quotient, Power, Root, Call, Applied, PlusMinus, Degrees, Percent,
    WithUnit, Ratio,
)  # fmt: skip
"""Node types that have a value. All others are shapes."""


@cache
def _holders(kind: Any) -> tuple[str, ...]:
    plain = ("str", "bool", "int", "Fraction", "tuple[str, ...]")
    return tuple(field.name for field in fields(kind) if field.type not in plain)


def children(node: Node) -> Sequence[Node]:
    kind: Any = type(node)
    names = _holders(kind)
    if not names:
        return ()
    first = getattr(node, names[0])
    if not isinstance(first, tuple):
        return [first, *(getattr(node, name) for name in names[1:])]
    rows = bool(first) and isinstance(first[0], tuple)
    return [item for row in first for item in row] if rows else first


def walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


def symbols(*nodes: Node) -> frozenset[str]:
    names, stack = set[str](), list(nodes)
    while stack:
        node = stack.pop()
        if type(node) is Sym:
            names.add(node.name)
        else:
            stack.extend(children(node))
    return frozenset(names)


_SETS = {"cup": "∪", "cap": "∩", "minus": "\\"}
_PLAIN = (Num, Const, Sym, Root, Call, Applied, NamedSet, Words, Bracketed, SetOf, Matrix)
LONGEST_NUMBER = 100
"""Maximum digits of a displayed number. Of a longer one, only its size is displayed."""


def written(node: Node) -> str:
    try:
        return _line(node)
    except RecursionError:
        return "nested too deep to be shown"


def _line(node: Node) -> str:
    match node:
        case Num(value=value, base=base, cut=cut):
            sides = [_digits(value.numerator), _digits(value.denominator)]
            return ("/".join(sides) if value.denominator != 1 else sides[0]) + (
                f" (base {base})" if base else "..." if cut else ""
            )
        case Const(name=name) | Sym(name=name) | NamedSet(name=name):
            return name
        case Neg(of=of):
            return f"-{_inside(of)}"
        case Sum(terms=terms):
            return " + ".join(map(_inside, terms))
        case Product(factors=factors):
            return " · ".join(map(_inside, factors))
        case Quotient(top=top, bottom=bottom):
            return f"{_inside(top)} / {_inside(bottom)}"
        case Power(base=of, exponent=exponent):
            return f"{_inside(of)}^{_inside(exponent)}"
        case Root(of=of, index=index):
            return f"root({_line(of)}, {_line(index)})"
        case Call(name=name, args=args) | Applied(name=name, args=args):
            return f"{name}({_joined(args)})"
        case PlusMinus(of=of, opposite=opposite):
            return f"{'∓' if opposite else '±'}{_inside(of)}"
        case Degrees(of=of):
            return f"{_inside(of)}°"
        case Percent(of=of):
            return f"{_inside(of)} %"
        case WithUnit(of=of, unit=unit):
            return f"{_inside(of)} [{unit}]"
        case Ratio(items=items):
            return " : ".join(map(_inside, items))
        case Listing(items=items, joint=joint):
            return (", " if joint == "," else f" {joint} ").join(map(_line, items))
        case Bracketed(items=items, opening=opening, closing=closing):
            return f"{opening}{_joined(items)}{closing}"
        case SetOf(items=items):
            return f"{{{_joined(items)}}}"
        case Where(of=of, condition=condition):
            return f"{{{_line(of)} : {_line(condition)}}}"
        case Combined(parts=parts, how=how):
            return f" {_SETS.get(how, how)} ".join(map(_inside, parts))
        case Matrix(rows=rows):
            return f"[{'; '.join(map(_joined, rows))}]"
        case Cases(rows=rows):
            return f"cases({'; '.join(map(_joined, rows))})"
        case Relation(sides=sides, ops=ops):
            tail = (f" {op} {_line(side)}" for op, side in zip(ops, sides[1:], strict=True))
            return _line(sides[0]) + "".join(tail)
        case Words(text=text):
            return f'"{text}"'
    assert_never(node)


def _joined(nodes: Iterable[Node]) -> str:
    return ", ".join(map(_line, nodes))


def _inside(node: Node) -> str:
    return _line(node) if isinstance(node, _PLAIN) else f"({_line(node)})"


def _digits(number: int) -> str:
    bits = number.bit_length()  # str() refuses very long numbers
    return str(number) if bits <= 3 * LONGEST_NUMBER else f"a number of {bits} bits"
