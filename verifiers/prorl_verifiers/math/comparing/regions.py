"""Reads intervals, unions, inequalities and sets as pieces of the real line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prorl_verifiers.math.evaluating.equal import infinite
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    Applied,
    Bracketed,
    Call,
    Combined,
    Const,
    Listing,
    NamedSet,
    Neg,
    Node,
    Relation,
    SetOf,
    Sum,
    Sym,
    Where,
    children,
    symbols,
)
from prorl_verifiers.math.reading.tokens import Unreadable

INFINITY = Const("inf")
FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}


@dataclass(frozen=True, slots=True)
class Piece:
    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


@dataclass(frozen=True, slots=True)
class RealSet:
    """Pieces of the real line. ``name`` is the variable of the inequality, or None."""

    name: Node | None
    pieces: tuple[Piece, ...]


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
        case NamedSet(name="R"):
            return RealSet(None, (Piece(Neg(INFINITY), False, INFINITY, False),))
        case Where(of=of, condition=condition):
            if isinstance(of, Relation) and of.ops == ("in",):
                of = of.sides[0]
            where = real_set(condition)
            return where if where is not None and where.name in (of, None) else None
        case Combined(parts=parts, how=how):
            return _combined([real_set(part) for part in parts], how)
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
        return None if inner is None else RealSet(sides[0], inner.pieces)
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


def _distance(node: Relation) -> RealSet | None:
    sides, ops = node.sides, node.ops
    absolutes = [
        at for at, side in enumerate(sides) if isinstance(side, Call) and side.name == "abs"
    ]
    if len(absolutes) != 1 or len(sides) > 3 or (len(sides) == 3 and absolutes != [1]):
        return None
    at = absolutes[0]
    inner = next(children(sides[at]))
    terms = inner.terms if isinstance(inner, Sum) else (inner,)
    names = [term for term in terms if isinstance(term, Sym)]
    offsets = [Neg(term) for term in terms if not isinstance(term, Sym)]
    if len(names) != 1 or any(symbols(term) for term in offsets):
        return None
    pieces: tuple[Piece, ...] | None = None
    for place, side in enumerate(sides):
        if place == at:
            continue
        op = ops[at] if place > at else FLIP.get(ops[place], "")
        low, high = Sum((Neg(side), *offsets)), Sum((side, *offsets))
        radius = endpoint_value(side)
        if symbols(side) or radius is None or radius <= 0:
            return None
        segments: tuple[Piece, ...]
        if op in ("<", "<="):
            segments = (Piece(low, op == "<=", high, op == "<="),)
        elif op in (">", ">="):
            segments = (
                Piece(Neg(INFINITY), False, low, op == ">="),
                Piece(high, op == ">=", INFINITY, False),
            )
        else:
            return None
        pieces = segments if pieces is None else _intersection(pieces, segments)
    return None if pieces is None else RealSet(names[0], pieces)


def _is_name(node: Node) -> bool:
    return isinstance(node, Sym | Applied)


def _combined(parts: list[RealSet | None], how: str) -> RealSet | None:
    sets = [part for part in parts if part is not None]
    names = {part.name for part in sets if part.name is not None}
    if len(sets) != len(parts) or len(names) > 1:
        return None
    name = next(iter(names), None)
    union = tuple(piece for part in sets for piece in part.pieces)
    if how == "cup":
        return RealSet(name, union)
    pieces = sets[0].pieces
    for part in sets[1:]:
        other = part.pieces if how != "minus" else _complement(part.pieces)
        if other is None:
            return None
        pieces = _intersection(pieces, other)
    ordered = merge_pieces(pieces)
    if ordered is None:
        return None
    return RealSet(name, union if how == "and" and not ordered else ordered)


def _intersection(one: tuple[Piece, ...], other: tuple[Piece, ...]) -> tuple[Piece, ...]:
    overlaps = []
    for left in one:
        for right in other:
            low = _tighter_end((left.low, left.low_closed), (right.low, right.low_closed), 1)
            high = _tighter_end((left.high, left.high_closed), (right.high, right.high_closed), -1)
            overlaps.append(Piece(*low, *high))
    return tuple(overlaps)


def repeats(node: Listing) -> bool:
    """Return whether one of the listed regions contains another, as in ``x > 2, x > 3``."""
    conditions = all(isinstance(item, Relation | Where) for item in node.items)
    if (node.joint == "and" and conditions) or len(node.items) > 12:
        return False
    sets = [real_set(item) for item in node.items]
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
        raise Unreadable("intervals with symbols")
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


def merge_pieces(pieces: tuple[Piece, ...]) -> tuple[Piece, ...] | None:
    """Return the pieces in order, with touching ones merged, or None if an endpoint has variables."""
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
