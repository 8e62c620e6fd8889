"""Compares expressions by value."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from prorl_verifiers.math.evaluating.domain import Domain, points
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, Value, numbers
from prorl_verifiers.math.reading.nodes import (
    Call,
    Const,
    Neg,
    Node,
    Num,
    Power,
    Product,
    Quotient,
    Root,
    Sym,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable

RELATIVE_TOLERANCE = 1e-6
"""Tolerance between an irrational gold and a decimal answer. Other numbers are compared exactly."""
LONG_DECIMAL = 10
"""Minimum significant digits of a decimal that is accepted for an irrational value."""
DIGITS, _CONFIRM = 60, 300
_STEADY = (Num, Const, Sym, Neg, Product, Quotient, Power, Root)
LEAST_AGREEING = 3
"""Minimum number of test points at which two formulas must agree."""
MAX_WORK = 60_000
"""Maximum number of nodes that a comparison evaluates."""


def same_value(gold: Node, answer: Node, domain: Domain) -> bool | None:
    """Return whether two expressions are equal on the domain, or None if undecided."""
    same = _same(gold, answer, domain, None)
    if same is False and _bare_logarithm(gold) != _bare_logarithm(answer):
        return _same(gold, answer, domain, 10)  # the text does not say which base it means
    return same


def _same(gold: Node, answer: Node, domain: Domain, bare_log: int | None) -> bool | None:
    ends = infinite(gold), infinite(answer)
    if ends != (0, 0):
        return ends[0] == ends[1]
    if not symbols(gold, answer):
        return _same_constant(gold, answer, bare_log)
    same, defined = _same_on(gold, answer, domain, bare_log, real=True)
    if same is None and not defined:
        same, _ = _same_on(gold, answer, domain, bare_log, real=False)
    return same


def _same_constant(gold: Node, answer: Node, bare_log: int | None) -> bool | None:
    left = _Side(gold, bare_log, real=False, counted=False)
    right = _Side(answer, bare_log, real=False, counted=False)
    try:
        gold_value = left.value({}, DIGITS)
    except (Undefined, Unreadable):
        return None
    try:
        answer_value = right.value({}, DIGITS)
        same = _agree(left, right, {}, (gold_value, answer_value), constant=True)
    except (Undefined, TooLarge):
        return False
    except Unreadable:
        return None
    decimal = isinstance(answer_value, Fraction) and not isinstance(gold_value, Fraction)
    if same is False and decimal and any(isinstance(n, Num) and n.decimal for n in walk(answer)):
        return bool(_relative(gold_value, answer_value) <= RELATIVE_TOLERANCE)
    return same


@dataclass(frozen=True, slots=True)
class _Side:
    node: Node
    bare_log: int | None
    real: bool
    counted: bool

    def value(self, at: dict[str, Fraction], digits: int) -> Value:
        return Evaluator(at, digits, self.bare_log, self.real, self.counted).value(self.node)

    def steady(self) -> bool:
        """Return whether the expression has no sum or function that could lose digits by cancellation."""
        return all(isinstance(part, _STEADY) for part in walk(self.node))


def _same_on(
    gold: Node, answer: Node, domain: Domain, bare_log: int | None, real: bool
) -> tuple[bool | None, int]:
    unreal = [any(part == Const("i") for part in walk(node)) for node in (gold, answer)]
    left = _Side(gold, bare_log, real and not unreal[0], bool(domain.counts))
    right = _Side(answer, bare_log, real and not any(unreal), False)
    agreed = defined = 0
    most = max(
        2 * LEAST_AGREEING, MAX_WORK // sum(1 for node in (gold, answer) for _ in walk(node))
    )
    for point in itertools.islice(points(domain, gold, answer), most):
        try:
            gold_value = left.value(point.at, DIGITS)
        except TooLarge:
            continue
        except Undefined:
            if domain.curve and real and not point.special and _has_value(right, point.at):
                return False, 1
            continue
        except Unreadable:
            return None, 1
        defined += 1
        try:
            same = _agree(left, right, point.at, (gold_value, right.value(point.at, DIGITS)))
        except Undefined:
            if point.special:
                continue
            return False, defined
        except TooLarge:
            return False, defined
        except Unreadable:
            return None, defined
        if same is False:
            return False, defined
        agreed += same is True
    return (True if agreed >= LEAST_AGREEING else None), defined


def _has_value(side: _Side, at: dict[str, Fraction]) -> bool:
    try:
        side.value(at, DIGITS)
    except (Undefined, Unreadable):
        return False
    return True


def _agree(
    left: _Side,
    right: _Side,
    at: dict[str, Fraction],
    pair: tuple[Value, Value],
    constant: bool = False,
) -> bool | None:
    if all(isinstance(value, Fraction) for value in pair):
        return bool(pair[0] == pair[1])
    close = near(*pair, DIGITS)
    if close and not constant:
        return True
    if not close and left.steady() and right.steady():
        return False
    sharp = left.value(at, _CONFIRM), right.value(at, _CONFIRM)
    if near(*sharp, _CONFIRM):
        return True
    if close:
        return False
    gaps = [_gap(*pair, DIGITS), _gap(*sharp, _CONFIRM)]
    if gaps[1] < gaps[0] * tiny(100):
        return True  # both are zero: the gap shrinks as digits are added
    return False if abs(gaps[1] - gaps[0]) < gaps[1] * tiny(9) else None


def rounds(exact: Node, decimal: Num) -> bool:
    """Return whether ``decimal`` is ``exact``, rounded or truncated to ten or more significant digits."""
    places = decimal_places(decimal)
    return len(str(abs(int(decimal.value * 10**places)))) >= LONG_DECIMAL and rounds_at(
        exact, decimal, places, cut=True
    )


def rounds_at(
    exact: Node, decimal: Num, places: int, cut: bool = False, rounded: bool = True
) -> bool:
    """Return whether ``decimal`` is ``exact`` with ``places`` decimal places, truncated (``cut``) or ``rounded``."""
    if symbols(exact) or decimal_places(decimal) > places or places > DIGITS:
        return False
    try:
        evaluator = Evaluator({}, 3 * DIGITS)
        value = evaluator.float(evaluator.value(exact))
    except (Undefined, Unreadable):
        return False
    if getattr(value, "imag", 0) != 0 or not 0 < abs(value) < 10**DIGITS:
        return False
    scaled, digits = value.real * 10**places, int(decimal.value * 10**places)
    floor = numbers(3 * DIGITS).floor
    whole = int(floor(abs(scaled)))
    near_by = [int(floor(abs(scaled) * 2 + 1)) // 2] * rounded + [whole] * cut
    return (digits >= 0) == (scaled >= 0) and abs(digits) in near_by


def decimal_places(number: Num) -> int:
    places, bottom = 0, number.value.denominator
    for factor in (10, 2, 5):
        while bottom % factor == 0:
            bottom //= factor
            places += 1
    return places


def infinite(node: Node) -> int:
    if isinstance(node, Neg):
        return -infinite(node.of)
    return 1 if node == Const("inf") else 0


def _bare_logarithm(node: Node) -> bool:
    return any(
        isinstance(part, Call) and part.name == "log" and len(part.args) == 1 for part in walk(node)
    )


# ------------------------------------------------------------------------------------------- constants


def near(left: Value, right: Value, digits: int) -> bool:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    return bool(_relative(left, right, digits) <= tiny(digits - 15))


@cache
def tiny(places: int) -> Value:
    return numbers(DIGITS).mpf(10) ** -places


def _relative(left: Value, right: Value, digits: int = DIGITS) -> Value:
    size = max(abs(Evaluator({}, digits).float(value)) for value in (left, right))
    return _gap(left, right, digits) / size if size else 0


def _gap(left: Value, right: Value, digits: int) -> Value:
    evaluator = Evaluator({}, digits)
    return numbers(DIGITS).mpf(abs(evaluator.float(left) - evaluator.float(right)))
