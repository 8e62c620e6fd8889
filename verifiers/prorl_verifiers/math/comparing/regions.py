"""Parses intervals, unions, inequalities and sets as pieces of the real line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prorl_verifiers.math.evaluating.equal import infinite
from prorl_verifiers.math.evaluating.polynomials import polynomial
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Bracketed,
    Call,
    Combined,
    Const,
    Listing,
    NamedSet,
    Neg,
    Node,
    Num,
    Product,
    Quotient,
    Relation,
    SetOf,
    Sum,
    Sym,
    Where,
    WithUnit,
    children,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import Unreadable

INFINITY = Const("inf")
_PARITY = re.compile(r"(?<![a-z])(?:odd|even)(?![a-z])")
_SMALLER = "NZQR"
"""Names of number sets, each of which contains those before it."""
MAX_POINTS = 40
"""Maximum number of integers in a set that is compared point by point."""
FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}


@dataclass(frozen=True, slots=True)
class Piece:
    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


WHOLE_LINE = Piece(Neg(INFINITY), False, INFINITY, False)


@dataclass(frozen=True, slots=True)
class RealSet:
    """A union of intervals of the real line.

    ``name``: the variable, or None.
    ``among``: "N", "Z" or "Q" if only such numbers belong to the set, else "R".
    """

    name: Node | None
    pieces: tuple[Piece, ...]
    among: str = "R"


def looks_like_region(node: Node) -> bool:
    if isinstance(node, Relation):
        return any(op in ("<", "<=", ">", ">=", "!=") for op in node.ops)
    if isinstance(node, Listing):
        return any(looks_like_region(item) for item in node.items)
    if isinstance(node, Bracketed) and len(node.items) == 2:
        mixed = {node.opening, node.closing} in ({"(", "]"}, {"[", ")"})
        return mixed or any(infinite(item) for item in node.items)
    return isinstance(node, Combined | NamedSet | Where)


def real_set(node: Node) -> RealSet | None:
    match node:
        case Bracketed(items=(low, high), opening=opening, closing=closing):
            return RealSet(None, (Piece(low, opening == "[", high, closing == "]"),))
        case SetOf(items=items):
            return RealSet(None, tuple(Piece(item, True, item, True) for item in items))
        case NamedSet(name=name) if name in _SMALLER:
            return RealSet(None, (WHOLE_LINE,), name)
        case Where(of=of, condition=condition):
            where = real_set(condition)
            if isinstance(of, Relation) and of.ops == ("in",):
                where = _combined([real_set(of), where], "cap")
                of = of.sides[0]
            return replace(where, name=None) if where and where.name in (of, None) else None
        case Combined(parts=parts, how=how):
            return _combined([real_set(part) for part in parts], how)
        case Listing(items=items, joint=joint) if any(map(_is_membership, items)):
            others = tuple(item for item in items if not _is_membership(item))
            rest = Listing(others, joint) if len(others) > 1 else next(iter(others), None)
            members = [real_set(item) for item in items if _is_membership(item)]
            return None if rest is None else _combined([real_set(rest), *members], "cap")
        case Listing(items=items, joint=joint):
            sets = [real_set(item) for item in items]
            either = _combined(sets, "cup")
            if joint != "and" or not all(isinstance(item, Relation | Where) for item in items):
                # Conditions that together cover all reals, like x > 2, x < 5, must both hold.
                line = merge_pieces(either.pieces) if joint == "," and either is not None else None
                if line is None or len(line) != 1:
                    return either
                if (infinite(line[0].low), infinite(line[0].high)) != (-1, 1):
                    return either
            return _combined(sets, "and")
        case Relation():
            return _relation(node)
    return None


def _relation(node: Relation) -> RealSet | None:
    sides, ops = node.sides, node.ops
    distance = _distance(node)
    if distance is not None:
        return distance
    if ops == ("in",):
        inner = real_set(sides[1])
        return None if inner is None else replace(inner, name=sides[0])
    if len(sides) == 2:
        name, op, bound = sides[0], ops[0], sides[1]
        if not _is_name(name) or symbols(name) & symbols(bound):
            name, op, bound = bound, FLIP.get(op, ""), name
        if not _is_name(name) or symbols(name) & symbols(bound):
            return None
        below = Piece(Neg(INFINITY), False, bound, op == "<=")
        above = Piece(bound, op == ">=", INFINITY, False)
        pieces = {
            "<": (below,),
            "<=": (below,),
            ">": (above,),
            ">=": (above,),
            "!=": (below, above),
            "=": (Piece(bound, True, bound, True),),
        }.get(op)
        return None if pieces is None else RealSet(name, pieces)
    if len(sides) == 3 and _is_name(sides[1]) and ops[0][0] == ops[1][0] and ops[0][0] in "<>":
        closed = ["=" in op for op in ops]
        if ops[0][0] == "<":
            return RealSet(sides[1], (Piece(sides[0], closed[0], sides[2], closed[1]),))
        return RealSet(sides[1], (Piece(sides[2], closed[1], sides[0], closed[0]),))
    return None


def _is_membership(node: Node) -> bool:
    return (
        isinstance(node, Relation) and node.ops == ("in",) and isinstance(node.sides[1], NamedSet)
    )


def numbers_named(node: Node) -> frozenset[str]:
    return frozenset(part.name for part in walk(node) if isinstance(part, NamedSet))


def as_points(found: RealSet) -> RealSet:
    """Normalise a set of integers: single points if there are few, else closed intervals with integer ends."""
    pieces = merge_pieces(found.pieces) if found.among in ("Z", "N") else None
    if pieces is None:
        return found
    closed: list[Piece] = []
    for piece in pieces:
        low, high = (
            _whole(piece.low, piece.low_closed, 1),
            _whole(piece.high, piece.high_closed, -1),
        )
        if found.among == "N" and (low is None or low < 0):
            low = 0
        start: Node = Neg(INFINITY) if low is None else number(low)
        end: Node = INFINITY if high is None else number(high)
        closed.append(Piece(start, low is not None, end, high is not None))
        if low is None or (low < 1 and found.among == "N"):
            return replace(found, pieces=tuple(closed)) if len(pieces) == 1 else found
    bounds = [(_whole(piece.low, True, 1), _whole(piece.high, True, -1)) for piece in closed]
    points = [
        number(at)
        for low, high in bounds
        if low is not None and high is not None
        for at in range(low, min(high, low + MAX_POINTS) + 1)
    ]
    if None in {end for pair in bounds for end in pair} or len(points) > MAX_POINTS:
        return replace(found, pieces=tuple(closed), among="Z")
    return replace(found, pieces=tuple(Piece(at, True, at, True) for at in points), among="R")


def _whole(node: Node, closed: bool, step: int) -> int | None:
    """Return an interval's integer nearest to its lower (``step`` 1) or upper (-1) end, or None for an infinite end."""
    value = endpoint_value(node)
    if value is None or infinite(node):
        return None
    whole = int(math.ceil(value) if step > 0 else math.floor(value))
    return whole if closed or whole != value else whole + step


def number(value: Fraction | int) -> Node:
    return Num(Fraction(value)) if value >= 0 else Neg(Num(Fraction(-value)))


def _distance(node: Relation) -> RealSet | None:
    sides, ops = tuple(map(_scaled, node.sides)), node.ops
    absolutes = [
        at for at, side in enumerate(sides) if isinstance(side, Call) and side.name == "abs"
    ]
    if len(absolutes) != 1 or len(sides) > 3 or (len(sides) == 3 and absolutes != [1]):
        return None
    at = absolutes[0]
    inner = children(sides[at])[0]
    found: list[RealSet | None] = []
    for place, side in enumerate(sides):
        if place == at:
            continue
        op = ops[at] if place > at else FLIP.get(ops[place], "")
        radius = endpoint_value(side)
        if radius is None or radius <= 0:
            return None
        if op in ("<", "<="):
            found.append(_solved(Relation((Neg(side), inner, side), (op, op))))
        elif op in (">", ">="):
            ends = Relation((inner, Neg(side)), (FLIP[op],)), Relation((inner, side), (op,))
            found.append(_combined(list(map(_solved, ends)), "cup"))
        else:
            return None
    return found[0] if len(found) == 1 else _combined(found, "cap")


def _line(node: Node) -> tuple[Sym, Fraction, Node] | None:
    """Return the variable, slope and constant of a linear expression, or None."""
    names = symbols(node)
    if len(names) != 1 or not isinstance(node, EXPRESSIONS):
        return None
    (name,) = names
    slope, constants = Fraction(0), [number(0)]
    for term in node.terms if isinstance(node, Sum) else (node,):
        if name not in symbols(term):
            constants.append(term)
            continue
        try:
            parts = polynomial(term, name, {})
        except Unreadable:
            return None
        if parts is None or len(parts[0]) != 2 or len(parts[1]) != 1:
            return None
        if not all(isinstance(part, Fraction) for side in parts for part in side):
            return None
        slope += parts[0][1] / parts[1][0]
        constants.append(number(parts[0][0] / parts[1][0]))
    return (Sym(name), slope, Sum(tuple(constants))) if slope else None


def _placed(value: Node, slope: Fraction, offset: Node) -> Node:
    if infinite(value):
        return value if slope > 0 else Neg(value)
    place = Quotient(Sum((value, Neg(offset))), number(slope))
    try:
        exact = Evaluator({}).value(place)
    except (Undefined, Unreadable):
        return place
    return number(exact) if isinstance(exact, Fraction) else place


def _solved(node: Relation) -> RealSet | None:
    """Return the solutions of an inequality with one linear side, such as ``-6 < 2x < 6``, or None."""
    unknown = next((side for side in node.sides if symbols(side)), node.sides[0])
    line = _line(unknown)
    if line is None:
        return None
    name, slope, offset = line
    places = (name if side is unknown else _placed(side, slope, offset) for side in node.sides)
    ops = node.ops if slope > 0 else tuple(FLIP[op] for op in node.ops)
    return _relation(Relation(tuple(places), ops))


def _scaled(side: Node) -> Node:
    """Rewrite ``2|x|`` as ``|2x|``."""
    match side:
        case Product(factors=(Num() as factor, Call(name="abs", args=(of,)))):
            return Call("abs", (Product((factor, of)),))
    return side


def _is_name(node: Node) -> bool:
    return isinstance(node, Sym | Applied)


def _combined(parts: list[RealSet | None], how: str) -> RealSet | None:
    sets = [part for part in parts if part is not None]
    names = {part.name for part in sets if part.name is not None}
    if len(sets) != len(parts) or len(names) > 1:
        return None
    name = next(iter(names), None)
    union = tuple(piece for part in sets for piece in part.pieces)
    kinds = [part.among for part in sets]
    if how == "cup":
        return RealSet(name, union, kinds[0]) if len(set(kinds)) == 1 else None
    if how == "minus" and set(kinds[1:]) != {"R"}:
        return None
    pieces = sets[0].pieces
    for part in sets[1:]:
        other = part.pieces if how != "minus" else _complement(part.pieces)
        if other is None:
            return None
        pieces = _intersection(pieces, other)
    ordered = merge_pieces(pieces)
    if ordered is None:
        return None
    among = min(kinds, key=_SMALLER.index)
    return RealSet(name, union if how == "and" and not ordered else ordered, among)


def _intersection(one: tuple[Piece, ...], other: tuple[Piece, ...]) -> tuple[Piece, ...]:
    overlaps = []
    for left in one:
        for right in other:
            low = _tighter_end((left.low, left.low_closed), (right.low, right.low_closed), 1)
            high = _tighter_end((left.high, left.high_closed), (right.high, right.high_closed), -1)
            overlaps.append(Piece(*low, *high))
    return tuple(overlaps)


def repeats(node: Listing) -> bool:
    """Return whether a listed region contains another one, as in ``x > 2, x > 3``."""
    conditions = all(isinstance(item, Relation | Where) for item in node.items)
    if (node.joint == "and" and conditions) or len(node.items) > 12:
        return False
    sets = [real_set(item) for item in node.items if not _is_membership(item)]
    return any(
        one is not None and other is not None and at != place and _is_within(one, other)
        for at, one in enumerate(sets)
        for place, other in enumerate(sets)
    )


def _is_within(one: RealSet, other: RealSet) -> bool:
    def covers(outer: Piece, inner: Piece) -> bool:
        low, high = (endpoint_value(outer.low), endpoint_value(outer.high))
        start, end = (endpoint_value(inner.low), endpoint_value(inner.high))
        if low is None or high is None or start is None or end is None:
            return outer == inner
        return bool(low <= start and end <= high)

    return all(any(covers(outer, inner) for outer in other.pieces) for inner in one.pieces)


def _complement(pieces: tuple[Piece, ...]) -> tuple[Piece, ...] | None:
    ordered = merge_pieces(pieces)
    if ordered is None:
        return None
    gaps, low, closed = [], Neg(INFINITY), False
    for piece in ordered:
        gaps.append(Piece(low, closed, piece.low, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed  # type: ignore[assignment]
    gaps.append(Piece(low, closed, INFINITY, False))
    return tuple(gaps)


def _tighter_end(one: tuple[Node, bool], two: tuple[Node, bool], sign: int) -> tuple[Node, bool]:
    first, second = endpoint_value(one[0]), endpoint_value(two[0])
    if first is None or second is None:
        raise Unreadable("intervals whose ends have variables")
    if first == second:
        return one[0], one[1] and two[1]
    return one if (first > second) == (sign > 0) else two


def endpoint_value(node: Node) -> Any | None:
    evaluator = Evaluator({}, 60)
    end = infinite(node)
    if end:
        return evaluator.float(Fraction(end)) * float("inf")
    if symbols(node):
        return None
    try:
        value = evaluator.float(evaluator.value(node))
    except (Undefined, Unreadable):
        return None
    return value if getattr(value, "imag", 0) == 0 else None


def cover_all(conditions: Sequence[Node]) -> bool:
    """Return whether one of the conditions always holds, as for ``x > 0``, ``x <= 0``, or ``n odd``, ``n even``."""
    if {_parity(condition) for condition in conditions} == {"odd", "even"}:
        return True
    union = _combined([real_set(condition) for condition in conditions], "cup")
    line = merge_pieces(union.pieces) if union is not None else None
    return line is not None and len(line) == 1 and line[0] == WHOLE_LINE


def _parity(node: Node) -> str:
    words = _PARITY.search(node.unit) if isinstance(node, WithUnit) else None
    return words.group() if words else ""


def merge_pieces(pieces: tuple[Piece, ...]) -> tuple[Piece, ...] | None:
    """Sort the pieces and merge those that touch. Return None if an end has variables."""
    placed = []
    for piece in pieces:
        low, high = endpoint_value(piece.low), endpoint_value(piece.high)
        if low is None or high is None:
            return None
        if low < high or (low == high and piece.low_closed and piece.high_closed):
            placed.append((low, not piece.low_closed, high, piece))
    placed.sort(key=lambda entry: (entry[0], entry[1]))
    joined: list[Piece] = []
    end = None
    for low, _, high, piece in placed:
        if joined and end is not None:
            last = joined[-1]
            if low < end or (low == end and (last.high_closed or piece.low_closed)):
                if high > end or (high == end and piece.high_closed):
                    closed = piece.high_closed or (high == end and last.high_closed)
                    joined[-1] = replace(last, high=piece.high, high_closed=closed)
                    end = high
                continue
        joined.append(piece)
        end = high
    return tuple(joined)
