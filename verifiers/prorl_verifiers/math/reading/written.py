"""A tree as text for people who look at a verdict: how an answer was read. Nothing reads it back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from prorl_verifiers.math.reading.nodes import (
    Applied,
    Bracketed,
    Call,
    Cases,
    Combined,
    Const,
    Degrees,
    Listing,
    Matrix,
    NamedSet,
    Neg,
    Node,
    Num,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Ratio,
    Relation,
    Root,
    SetOf,
    Sum,
    Sym,
    Where,
    WithUnit,
    Words,
)

_SETS = {"cup": "∪", "cap": "∩", "minus": "\\"}
_PLAIN = (Num, Const, Sym, Root, Call, Applied, NamedSet, Words, Bracketed, SetOf, Matrix)
LONGEST_NUMBER = 100
"""Digits; of a longer number their count is shown."""


def written(node: Node) -> str:
    """Return the tree as one line, every operation in brackets of its own where it stands inside another."""
    try:
        return _line(node)
    except RecursionError:
        return "nested too deep to be shown"


def _line(node: Node) -> str:
    match node:
        case Num(value=value, base=base):
            sides = [_digits(value.numerator), _digits(value.denominator)]
            return ("/".join(sides) if value.denominator != 1 else sides[0]) + (
                f" (base {base})" if base else ""
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
    """Return a part of an operation, in brackets unless it is one thing."""
    return _line(node) if isinstance(node, _PLAIN) else f"({_line(node)})"


def _digits(number: int) -> str:
    bits = number.bit_length()  # str refuses very long numbers
    return str(number) if bits <= 3 * LONGEST_NUMBER else f"a number of {bits} bits"
