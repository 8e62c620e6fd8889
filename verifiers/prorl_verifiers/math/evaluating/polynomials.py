"""Finds the real roots of rational functions of one variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, numbers
from prorl_verifiers.math.reading.nodes import (
    Neg,
    Node,
    Num,
    Power,
    Product,
    Quotient,
    Sum,
    Sym,
    symbols,
)

MAX_DEGREE = 12
_DIGITS, _STEPS = 60, 240
Polynomial: TypeAlias = tuple[Any, ...]
"""The coefficients, with the constant term first."""


def polynomial(
    node: Node, name: str, fixed: Mapping[str, Any]
) -> tuple[Polynomial, Polynomial] | None:
    """Return the numerator and denominator of a rational function as polynomials in ``name``, or None.

    ``fixed`` maps the other variables to values. Raises Unreadable or TooLarge.
    """
    if name not in symbols(node):
        try:
            return (Evaluator(fixed, _DIGITS, real=True).value(node),), (Fraction(1),)
        except Undefined:
            return None
    match node:
        case Sym():
            return (Fraction(0), Fraction(1)), (Fraction(1),)
        case Neg(of=of):
            parts = polynomial(of, name, fixed)
            return parts and (_times(parts[0], (Fraction(-1),)), parts[1])
        case Sum(terms=terms):
            total: tuple[Polynomial, Polynomial] = (Fraction(0),), (Fraction(1),)
            for term in terms:
                parts = polynomial(term, name, fixed)
                if parts is None:
                    return None
                if parts[1] == total[1]:
                    total = _plus(total[0], parts[0]), total[1]
                else:
                    top = _plus(_times(total[0], parts[1]), _times(parts[0], total[1]))
                    total = top, _times(total[1], parts[1])
                if _bounded(total) is None:
                    return None
            return total
        case Product(factors=factors):
            return _product(polynomial(factor, name, fixed) for factor in factors)
        case Quotient(top=top_node, bottom=bottom_node):
            over, under = polynomial(top_node, name, fixed), polynomial(bottom_node, name, fixed)
            if over is None or under is None:
                return None
            return _bounded((_times(over[0], under[1]), _times(over[1], under[0])))
        case Power(base=base, exponent=Num(value=value)) if value.denominator == 1 and (
            1 <= value <= MAX_DEGREE
        ):
            parts = polynomial(base, name, fixed)
            return parts and _product([parts] * int(value))
    return None


def _product(
    factors: Iterable[tuple[Polynomial, Polynomial] | None],
) -> tuple[Polynomial, Polynomial] | None:
    total: tuple[Polynomial, Polynomial] = (Fraction(1),), (Fraction(1),)
    for parts in factors:
        if parts is None:
            return None
        total = _times(total[0], parts[0]), _times(total[1], parts[1])
        if _bounded(total) is None:
            return None
    return total


def _bounded(parts: tuple[Polynomial, Polynomial]) -> tuple[Polynomial, Polynomial] | None:
    return parts if max(map(len, parts)) <= MAX_DEGREE + 1 else None


def _number(value: Any) -> Any:
    return value if isinstance(value, Fraction) else Evaluator({}, _DIGITS).float(value)


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    size = max(len(left), len(right))
    padded = [(*side, *[Fraction(0)] * (size - len(side))) for side in (left, right)]
    return _trimmed([_added(a, b) for a, b in zip(*padded, strict=True)])


def _added(left: Any, right: Any) -> Any:
    return Evaluator({}, _DIGITS).total([left, right])


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    result: list[Any] = [Fraction(0)] * (len(left) + len(right) - 1)
    evaluator = Evaluator({}, _DIGITS)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] = _added(result[i + j], evaluator.product([a, b]))
    return _trimmed(result)


def _trimmed(coefficients: list[Any]) -> Polynomial:
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def real_roots(coefficients: Polynomial) -> list[Any]:
    size = len(coefficients) - 1
    if size < 1:
        return []
    if coefficients[0] == 0:
        return list(dict.fromkeys((Fraction(0), *real_roots(coefficients[1:]))))
    if size == 1:
        return [Evaluator({}, _DIGITS).divide(-coefficients[0], coefficients[1])]
    floats = [Evaluator({}, _DIGITS).float(value) for value in coefficients]
    bound = 1 + max(abs(value / floats[-1]) for value in floats)
    slopes = tuple(value * power for power, value in enumerate(coefficients))[1:]
    turns = [-bound, *sorted(map(Evaluator({}, _DIGITS).float, real_roots(slopes))), bound]
    scale = numbers(_DIGITS).mpf(10) ** -25
    roots: list[Any] = []

    def value(at: Any) -> Any:
        total = floats[-1]
        for coefficient in reversed(floats[:-1]):
            total = total * at + coefficient
        return total

    def touches(at: Any) -> bool:
        terms = sum(abs(coefficient * at**power) for power, coefficient in enumerate(floats))
        return bool(abs(value(at)) <= terms * scale)

    for low, high in pairwise(turns):
        ends = value(low), value(high)
        if touches(low):
            roots.append(low)
        elif not touches(high) and (ends[0] < 0) != (ends[1] < 0):
            for _ in range(_STEPS):
                middle = (low + high) / 2
                low, high = (
                    (low, middle) if (value(middle) < 0) != (ends[0] < 0) else (middle, high)
                )
            roots.append(_exact(low, coefficients))
    return list(dict.fromkeys(_exact(root, coefficients) for root in roots))


def sign_change(function: Callable[[Any], Any], low: Any, high: Any) -> Any:
    ends = [function(low), function(high)]
    close = numbers(_DIGITS).mpf(10) ** (5 - _DIGITS)
    for step in range(_STEPS):
        at = (
            (low + high) / 2
            if step % 4 == 0
            else (low * ends[1] - high * ends[0]) / (ends[1] - ends[0])
        )
        value = function(at)
        if value is None or value == 0 or abs(high - low) <= close * max(1, abs(at)):
            return at
        if (value < 0) == (ends[0] < 0):
            low, ends = at, [value, ends[1] / (2 if step % 4 > 1 else 1)]
        else:
            high, ends = at, [ends[0] / (2 if step % 4 > 1 else 1), value]
    return low


def _exact(root: Any, coefficients: Polynomial) -> Any:
    if not all(isinstance(value, Fraction) for value in coefficients):
        return root
    near = Fraction(str(numbers(_DIGITS).nstr(root, 50))).limit_denominator(10**9)
    total = Fraction(0)
    for coefficient in reversed(coefficients):
        total = total * near + coefficient
    return near if total == 0 else root
