"""Numerical search for extreme values by compass steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import sympy


def shown(value: Any, limit: int = 400, near_by: float = 1e-11) -> str:
    """Return the simple fraction nearest to ``value``, or its decimals."""
    near = Fraction(float(value)).limit_denominator(limit)
    if abs(float(near) - float(value)) < near_by * max(1.0, abs(float(value))):
        return str(near)
    return str(mpmath.nstr(mpmath.mpf(value), 13))


def recognised(value: Any, limit: int = 10**8) -> str:
    """Return the fraction equal to a value of 40 digits; raise AssertionError if there is none."""
    near = Fraction(str(mpmath.nstr(value, 40))).limit_denominator(limit)
    assert abs(mpmath.mpf(near.numerator) / near.denominator - value) < mpmath.mpf(10) ** -25, value
    return str(near)


def compass(
    call: Callable[..., float | None], starts: Sequence[Sequence[float]]
) -> tuple[float, list[float]]:
    """Return the minimum of ``call`` (None outside its domain) and its place, by compass search from ``starts``."""
    best: tuple[float, list[float]] | None = None
    ways = [way for way in product((-1, 0, 1), repeat=len(starts[0])) if any(way)]
    for start in starts:
        at, value = list(start), call(*start)
        if value is None:
            continue
        step = 1.0
        while step > 1e-10:
            for way in ways:
                there = [a + step * w for a, w in zip(at, way, strict=True)]
                new = call(*there)
                if new is not None and new < value:
                    at, value = there, new
                    break
            else:
                step /= 2
        if best is None or value < best[0]:
            best = value, at
    assert best is not None, "no start lies in the domain"
    return best


def extreme(
    shown_: Any,
    fact: Any | None,
    sign: int,
    allowed: Callable[[dict[str, float]], bool] = lambda values: True,
) -> tuple[float, dict[str, float]]:
    """Return the least (sign 1) or greatest (-1) value of an expression where ``fact`` is zero."""
    letters = sorted(
        shown_.free_symbols | (fact.free_symbols if fact is not None else set()), key=str
    )
    branches: list[Any] = [None]
    if fact is not None:
        last = letters.pop()
        branches = sympy.solve(fact, last)
    found = []
    for branch in branches:
        value = sympy.lambdify(
            letters, shown_ if branch is None else shown_.subs(last, branch), "math"
        )
        other = None if branch is None else sympy.lambdify(letters, branch, "math")

        def call(*at: float, value: Any = value, other: Any = other) -> float | None:
            try:
                values = dict(zip(map(str, letters), at, strict=True))
                if other is not None:
                    values[str(last)] = other(*at)
                made = float(value(*at)) if allowed(values) else None
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                return None
            return None if made is None else sign * made

        grid = [-7.3, -2.9, -0.83, 0.21, 0.63, 1.9, 4.3, 9.7]
        if len(letters) == 1:
            grid += [n / 2 + 0.13 for n in range(-40, 60)]
        starts = [at for at in product(grid, repeat=len(letters)) if call(*at) is not None]
        starts.sort(key=lambda at: call(*at) or 0.0)
        if starts:
            best, place = compass(call, starts[:4])
            values = dict(zip(map(str, letters), place, strict=True))
            if other is not None:
                values[str(last)] = other(*place)
            found.append((best, values))
    best, values = min(found, key=lambda pair: pair[0])
    return sign * best, values
