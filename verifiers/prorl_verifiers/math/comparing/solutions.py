"""Compares equations and inequalities by the points that satisfy them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, pairwise
from typing import Any

from prorl_verifiers.math.evaluating.domain import Domain, points
from prorl_verifiers.math.evaluating.equal import DIGITS, MAX_WORK, same_value, tiny
from prorl_verifiers.math.evaluating.polynomials import polynomial, real_roots, sign_change
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, numbers
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Const,
    Listing,
    Neg,
    Node,
    Num,
    Product,
    Relation,
    Sum,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import Unreadable

ORDERS = frozenset(("=", "<", "<=", ">", ">=", "!="))
_COORDINATES = frozenset(("x", "y", "z", "r", "theta"))
NEAR = 6
"""Maximum number of literals near which test lines are placed."""
LINES, LEAST_SHARED = 4, 3
"""Number of test lines per variable, and minimum number of shared solutions."""
_GRID = tuple(
    sign * Fraction(size)
    for sign in (1, -1)
    for size in "0.0137 0.113 0.377 0.713 1.31 1.93 2.71 3.57 5.13 7.71 11.3 19.7 47.3 131 1013".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Place:
    """A point on a test line. ``at``: its coordinate; ``width``: a short distance far above the error of ``at``."""

    at: Any
    width: Fraction


class OutOfTime(Exception):
    """Raised if a comparison exceeds its limit of evaluated nodes."""


def same_solutions(gold: Relation, answer: Relation, domain: Domain) -> bool | None:
    """Return whether two relations have the same solutions in the domain, or None if undecided."""
    names = sorted(symbols(gold, answer))
    if not names and gold.ops == answer.ops in (("=",), ("~",)):  # a calculation: compare the sides
        return any(
            all(same_value(g, a, domain) for g, a in zip(gold.sides, sides, strict=True))
            for sides in (answer.sides, answer.sides[::-1])
        )
    if not names or any(
        not ORDERS.issuperset(node.ops)
        or not all(isinstance(side, EXPRESSIONS) for side in node.sides)
        or any(part == Const("i") for part in walk(node))
        for node in (gold, answer)
    ):
        return None
    orders = any(op != "=" for node in (gold, answer) for op in node.ops)
    # Evaluate both along lines, on a grid and wherever the truth of one may change.
    work = _Work(MAX_WORK)
    same_formula = _proportional(gold, answer, names)
    sides = _Condition(gold, work), _Condition(answer, work)
    shared = refuted = unclear = 0
    try:
        near = () if same_formula else _lines_near(names, domain, gold, answer)
        for line in chain(_lines(names, domain, gold, answer), near):
            places = sides[0].places(line, orders) + sides[1].places(line, orders)
            inexact = sorted({Evaluator({}).float(place.at) for place in places})
            between = [(low + high) / 2 for low, high in pairwise(inexact)]
            ends = [inexact[0] - 1, inexact[-1] + 1] if inexact else list(_GRID[::9])
            off = (*between, *ends) if orders else (*between[:1], *ends)
            places += [Place(at, Fraction(1, 10**10)) for at in off]
            for place in places:
                holds = [side.holds(line, place) for side in sides]
                if None in holds:
                    unclear += 1
                elif holds[0] != holds[1]:
                    return False
                else:
                    shared += holds[0] is True
                    refuted += holds[0] is False
    except (OutOfTime, Unreadable):
        return None
    enough = shared >= (LEAST_SHARED if len(names) > 1 else 1) and (refuted or not orders)
    if not enough or unclear:
        return None
    return same_formula or not _has_extra_point(gold, answer, names)


def union_of_curves(node: Node) -> Relation | None:
    r"""Return curves such as ``y = \pm x`` as one equation, or None."""
    if isinstance(node, Relation) and isinstance(node.sides[-1], Listing):
        curves = [Relation((*node.sides[:-1], side), node.ops) for side in node.sides[-1].items]
    elif isinstance(node, Listing) and node.joint != "and":
        curves = [item for item in node.items if isinstance(item, Relation)]
        if len(curves) != len(node.items):
            return None
    else:
        return None
    if not all(
        curve.ops == ("=",)
        and all(isinstance(side, EXPRESSIONS) for side in curve.sides)
        and len(symbols(curve) & _COORDINATES) > 1
        for curve in curves
    ):
        return None
    gaps = tuple(Sum((curve.sides[0], Neg(curve.sides[1]))) for curve in curves)
    return Relation((Product(gaps), Num(Fraction(0))), ("=",))


def same_linear_systems(gold: Listing, answer: Listing) -> bool | None:
    names = sorted(symbols(gold, answer))
    systems = _reduced(gold, names), _reduced(answer, names)
    return None if None in systems else systems[0] == systems[1]


def _reduced(system: Listing, names: list[str]) -> list[list[Fraction]] | None:
    origin = {name: Fraction(0) for name in names}
    rows = []
    for item in system.items:
        if not isinstance(item, Relation) or item.ops != ("=",):
            return None
        gap = Sum((item.sides[0], Neg(item.sides[1])))
        drawn = {name: Fraction(3 * at + 7, at + 2) for at, name in enumerate(names)}
        ats = [origin, *({**origin, name: Fraction(1)} for name in names), drawn]
        try:
            values = [Evaluator(at, DIGITS, real=True).value(gap) for at in ats]
        except (Undefined, Unreadable):
            return None
        if not all(isinstance(value, Fraction) for value in values):
            return None
        row = [*(value - values[0] for value in values[1:-1]), values[0]]
        if sum(a * b for a, b in zip(row, (*drawn.values(), 1), strict=True)) != values[-1]:
            return None
        rows.append(row)
    for column in range(len(names) + 1):
        done = sum(any(row[:column]) for row in rows)
        pivot = next((row for row in rows[done:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [value / pivot[column] for value in pivot]
        rows = [[a - row[column] * b for a, b in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(done, pivot)
    return [row for row in rows if any(row)]


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    fixed: dict[str, Fraction]


def _lines(names: list[str], domain: Domain, gold: Relation, answer: Relation) -> Iterator[_Line]:
    solved = [name for name in names if name not in domain.integers | domain.counts]
    for point in islice(points(domain, gold, answer), LINES if len(names) > 1 else 1):
        for name in solved:
            yield _Line(name, {other: point.at[other] for other in names if other != name})


def _lines_near(
    names: list[str], domain: Domain, gold: Relation, answer: Relation
) -> Iterator[_Line]:
    """Yield test lines near the literals of two relations, to find small curves."""
    if len(names) == 1:
        return
    sizes = {
        abs(part.value) for node in (gold, answer) for part in walk(node) if isinstance(part, Num)
    }
    point = next(points(domain, gold, answer)).at
    for size in sorted(sizes)[:NEAR]:
        for at in (size + Fraction(1, 7), Fraction(1, 7) - size):
            for name, other in zip(names, (*names[1:], names[0]), strict=True):
                fixed = {**point, other: at}
                yield _Line(name, {one: fixed[one] for one in names if one != name})


@dataclass(slots=True)
class _Work:
    left: int

    def spend(self, nodes: int) -> None:
        self.left -= nodes
        if self.left < 0:
            raise OutOfTime


class _Condition:
    """A relation as pairs of neighbouring sides, with the difference of each pair."""

    def __init__(self, node: Relation, work: _Work) -> None:
        self.pairs = [
            (Sum((left, Neg(right))), left, right, op)
            for (left, right), op in zip(pairwise(node.sides), node.ops, strict=True)
        ]
        self.work = work
        self.nodes = sum(1 for _ in walk(node))

    def places(self, line: _Line, orders: bool) -> list[Place]:
        """Return the points where the difference of two sides is zero, jumps or becomes undefined."""
        places = []
        for gap, *_ in self.pairs:
            if line.name not in symbols(gap):
                continue
            fraction = polynomial(gap, line.name, line.fixed)
            if fraction is None:
                places += self.scan(gap, line)
                continue
            for side in fraction if orders else fraction[:1]:
                self.work.spend(10 * len(side) ** 2)
                places += [Place(root, Fraction(1, 10**10)) for root in real_roots(side)]
        return places

    def holds(self, line: _Line, place: Place) -> bool | None:
        unclear = False
        for gap, left, right, op in self.pairs:
            value = self.value(gap, line, place.at)
            if value is None:
                return False
            zero = value == 0 or self.vanishes(gap, left, right, line, place, value)
            if zero is None:
                unclear = True
            elif (zero and op not in ("=", "<=", ">=")) or (
                not zero and (op == "=" or (op != "!=" and (value < 0) != (op[0] == "<")))
            ):
                return False
        return None if unclear else True

    def vanishes(
        self, gap: Node, left: Node, right: Node, line: _Line, place: Place, value: Any
    ) -> bool | None:
        sizes = [self.value(side, line, place.at) for side in (left, right)]
        scale = max((abs(size) for size in sizes if size is not None), default=0)
        if abs(value) <= scale * numbers(DIGITS).mpf(10) ** -30:
            return True
        steps = (place.width, -place.width)
        beside = [self.value(gap, line, Evaluator({}).total([place.at, step])) for step in steps]
        largest = max((abs(other) for other in beside if other is not None), default=None)
        if largest is None or abs(value) > largest / 1000:
            return False
        return True if abs(value) * 10**7 <= largest else None

    def value(self, node: Node, line: _Line, at: Any) -> Any | None:
        self.work.spend(self.nodes)
        evaluator = Evaluator({**line.fixed, line.name: at}, DIGITS, real=True)
        try:
            return evaluator.float(evaluator.value(node))
        except Undefined:
            return None

    def scan(self, gap: Node, line: _Line) -> list[Place]:
        literals = {abs(part.value) for part in walk(gap) if isinstance(part, Num)}
        moved = {sign * (size + Fraction(1, 7)) for size in literals for sign in (1, -1)}
        ats = [Evaluator({}).float(at) for at in sorted({*_GRID, *moved})]
        values: list[Any] = [self.value(gap, line, at) for at in ats]
        places = []
        for low, high in pairwise(range(len(ats))):
            ends = values[low], values[high]
            if (ends[0] is None) != (ends[1] is None):
                inside, outside = (ats[low], ats[high])[:: 1 if ends[1] is None else -1]
                edge = self.last(
                    lambda at: self.value(gap, line, at) is not None, inside, outside, 110
                )
                places.append(Place(edge, Fraction(1, 10**5)))
            elif ends[0] is not None and (ends[0] < 0) != (ends[1] < 0):
                crossing = sign_change(lambda at: self.value(gap, line, at), ats[low], ats[high])
                places.append(Place(crossing, Fraction(1, 10**10)))
        for at in range(1, len(ats) - 1):
            near = values[at - 1 : at + 2]
            if None in near or len({value < 0 for value in near}) > 1:
                continue
            if abs(near[1]) <= min(abs(near[0]), abs(near[2])):
                lowest = self.touching(gap, line, ats[at - 1], ats[at + 1], abs(near[1]))
                places += [] if lowest is None else [Place(lowest, Fraction(1, 10**5))]
        return places

    def touching(self, gap: Node, line: _Line, low: Any, high: Any, size: Any) -> Any | None:
        step = (high - low) / 10**25

        def falls(at: Any) -> bool:
            pair: list[Any] = [self.value(gap, line, at + turn * step) for turn in (1, -1)]
            return None not in pair and abs(pair[0]) < abs(pair[1])

        for steps in (10, 50):
            middle = self.last(falls, low, high, steps)
            width = (high - low) / 2**steps
            value = self.value(gap, line, middle)
            if value is None or abs(value) * steps > size:
                return None
            low, high = middle, middle + width
        return low

    @staticmethod
    def last(holds: Callable[[Any], bool], low: Any, high: Any, steps: int) -> Any:
        for _ in range(steps):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low


# ------------------------------------------------------------------------------------ isolated points

_FEWER_DIGITS = 30
_STARTS = (
    ("3.1", "-2.3", "1.7"),
    ("-4.7", "5.9", "-2.9"),
    ("0.31", "-0.43", "0.57"),
    ("0.23", "0.37", "-0.61"),
)
_FARTHEST = 60
"""Maximum coordinate in the search for isolated points."""
_SHORTENED = 60
"""Number of bisections in a search for a minimum."""
_LARGEST_DENOMINATOR = 1000
_LARGEST_RELATIONS = 150
"""Maximum nodes of two relations in the search for isolated points."""
Spot = Sequence[Any]
Size = Callable[[Spot], Any]


def _start(at: int, names: Sequence[str]) -> Spot:
    return [numbers(_FEWER_DIGITS).mpf(value) for value in _STARTS[at][: len(names)]]


def _ratio(gold: Relation, answer: Relation, names: Sequence[str]) -> Size:
    """Return ``|f/g|`` of two relations ``f = 0`` and ``g = 0``, as a function of a point."""
    gaps = _gap(gold), _gap(answer)

    def ratio(place: Spot) -> Any:
        at = dict(zip(names, place, strict=True))
        top, bottom = (_value(gap, at, _FEWER_DIGITS) for gap in gaps)
        return abs(top / bottom)

    return ratio


def _proportional(gold: Relation, answer: Relation, names: Sequence[str]) -> bool:
    """Return whether ``|f/g|`` of ``f = 0`` and ``g = 0`` is constant, or the relations are too large to compare."""
    if len(gold.ops) + len(answer.ops) > 2 or len(names) > len(_STARTS[0]):
        return True
    if sum(1 for node in (gold, answer) for _ in walk(node)) > _LARGEST_RELATIONS:
        return True
    ratio, sizes = _ratio(gold, answer, names), []
    for at in range(len(_STARTS)):
        with suppress(Undefined, Unreadable, ZeroDivisionError):
            sizes.append(ratio(_start(at, names)))
    return len(sizes) > 1 and bool(max(sizes) - min(sizes) <= max(sizes) * tiny(9))


def _has_extra_point(gold: Relation, answer: Relation, names: Sequence[str]) -> bool:
    """Return whether a relation has an isolated solution that the other lacks.

    For example ``(x^2+y^2)(x+y-1) = 0`` has ``(0, 0)``, and ``x+y = 1`` does not.
    """
    if len(names) not in (2, 3):
        return False
    ratio = _ratio(gold, answer, names)

    def inverse(place: Spot) -> Any:
        return 1 / ratio(place)

    for size in (ratio, inverse):
        for place in _lowest(size, _start(0, names)):
            near = [Fraction(str(value)).limit_denominator(_LARGEST_DENOMINATOR) for value in place]
            at = dict(zip(names, near, strict=True))
            if _holds_at(gold, at) != _holds_at(answer, at):
                return True
    return False


def _gap(node: Relation) -> Node:
    return Sum((node.sides[0], Neg(node.sides[1])))


def _value(node: Node, at: dict[str, Any], digits: int) -> Any:
    evaluator = Evaluator(at, digits, real=True)
    return evaluator.float(evaluator.value(node))


def _holds_at(node: Relation, at: dict[str, Any]) -> bool:
    try:
        gap = _value(_gap(node), at, DIGITS)
    except (Undefined, Unreadable):
        return False
    op = node.ops[0]
    if abs(gap) < numbers(_FEWER_DIGITS).mpf(10) ** -_FEWER_DIGITS:
        return op in ("=", "<=", ">=")
    return op == "!=" or (op != "=" and (gap < 0) == (op[0] == "<"))


def _lowest(size: Size, start: Spot) -> Iterator[Spot]:
    for search in (_vertex, _along_coordinates):
        with suppress(Undefined, Unreadable, ZeroDivisionError):
            yield search(size, start)


def _vertex(size: Size, start: Spot) -> Spot:
    count = range(len(start))

    def beside(*steps: tuple[int, int]) -> Any:
        return size(
            [
                value + sum(step for axis, step in steps if axis == at)
                for at, value in enumerate(start)
            ]
        )

    middle = beside()
    ahead = [beside((at, 1)) for at in count]
    behind = [beside((at, -1)) for at in count]
    context = numbers(_FEWER_DIGITS)
    slopes = context.matrix([(ahead[at] - behind[at]) / 2 for at in count])
    bends = context.matrix(len(start))
    for row in count:
        bends[row, row] = ahead[row] + behind[row] - 2 * middle
        for column in range(row):
            bend = beside((row, 1), (column, 1)) - ahead[row] - ahead[column] + middle
            bends[row, column] = bends[column, row] = bend
    steps: Any = context.lu_solve(bends, slopes)
    return [value - steps[at] for at, value in enumerate(start)]


def _along_coordinates(size: Size, start: Spot) -> Spot:
    place: list[Any] = list(start)
    for at in range(len(place)):
        low, high = numbers(_FEWER_DIGITS).mpf(-_FARTHEST), numbers(_FEWER_DIGITS).mpf(_FARTHEST)
        for _ in range(_SHORTENED):
            step = (high - low) * 3 / 8
            left, right = (
                size([*place[:at], end, *place[at + 1 :]]) for end in (low + step, high - step)
            )
            low, high = (low, high - step) if left < right else (low + step, high)
        place[at] = (low + high) / 2
    return place
