"""Compares equations and inequalities by the points that satisfy them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

from prorl_verifiers.math.evaluating.domain import Domain, points
from prorl_verifiers.math.evaluating.equal import DIGITS, MAX_WORK, same_value
from prorl_verifiers.math.evaluating.polynomials import polynomial, real_roots, sign_change
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, numbers
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Const,
    Listing,
    Neg,
    Node,
    Num,
    Relation,
    Sum,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import Unreadable

ORDERS = frozenset(("=", "<", "<=", ">", ">=", "!="))
LINES, LEAST_SHARED = 4, 3
"""Number of test lines along each variable, and minimum number of solutions that two relations must share."""
_GRID = tuple(
    sign * Fraction(size)
    for sign in (1, -1)
    for size in "0.0137 0.113 0.377 0.713 1.31 1.93 2.71 3.57 5.13 7.71 11.3 19.7 47.3 131 1013".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Place:
    """A point on a test line, with its coordinate ``at``. ``width`` is a step much larger than the error of ``at``."""

    at: Any
    width: Fraction


class OutOfTime(Exception):
    """Raised if a comparison would have to evaluate too many nodes."""


def same_solutions(gold: Relation, answer: Relation, domain: Domain) -> bool | None:
    """Return whether two relations hold at the same points of the domain, or None if undecided."""
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
    sides = _Condition(gold, work), _Condition(answer, work)
    shared = refuted = unclear = 0
    try:
        for line in _lines(names, domain, gold, answer):
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
    return True if enough and not unclear else None


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


@dataclass(slots=True)
class _Work:
    left: int

    def spend(self, nodes: int) -> None:
        self.left -= nodes
        if self.left < 0:
            raise OutOfTime


class _Condition:
    """A relation, split into pairs of neighbouring sides. The gap of a pair is the difference of its sides."""

    def __init__(self, node: Relation, work: _Work) -> None:
        self.pairs = [
            (Sum((left, Neg(right))), left, right, op)
            for (left, right), op in zip(pairwise(node.sides), node.ops, strict=True)
        ]
        self.work = work
        self.nodes = sum(1 for _ in walk(node))

    def places(self, line: _Line, orders: bool) -> list[Place]:
        """Return where the truth of a pair may change: at zeros and jumps of its gap, and where it stops being defined."""
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
        """Return where the gap changes its sign, touches zero, or starts or stops being defined."""
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
