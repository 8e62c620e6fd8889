"""Dispatch by kind, and a plane of complex numbers with 50 digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import mpmath as mp  # type: ignore[import-untyped,unused-ignore]

mp.mp.dps = 50
_T = TypeVar("_T")


def by_kind(**kinds: Callable[..., object]) -> Callable[[Mapping[str, Any], str], object]:
    def check(parameters: Mapping[str, Any], question: str) -> object:
        return kinds[parameters["kind"]](**{k: v for k, v in parameters.items() if k != "kind"})

    return check


def one(values: Iterable[_T]) -> _T:
    """Return the only one of the values; raise AssertionError if there are none or several."""
    found = list(values)
    assert len(found) == 1, found
    return found[0]


def rational(value: Any) -> Fraction:
    """Return the fraction with a small denominator equal to the number to 30 digits."""
    found = Fraction(str(mp.nstr(value, 45))).limit_denominator(100_000)
    assert abs(mp.mpf(found.numerator) / found.denominator - value) < mp.mpf(10) ** -30, value
    return found


def surd(value: Any) -> str:
    """Return the number as the square root of a fraction."""
    return f"\\sqrt{{{rational(value**2)}}}"


def angle(a: Any, b: Any, c: Any) -> Any:
    """Return the angle abc in degrees."""
    return abs(mp.degrees(mp.arg((a - b) / (c - b))))


def ray(degrees: Any) -> Any:
    return mp.expjpi(mp.mpf(degrees) / 180)


def cross(p: Any, u: Any, q: Any, v: Any) -> Any:
    """Return the intersection of the lines p + tu and q + sv."""
    t = mp.im((q - p) * mp.conj(v)) / mp.im(u * mp.conj(v))
    return p + t * u


def triangle(p: Any, q: Any, r: Any) -> tuple[Any, Any, Any]:
    """Return A, B, C with BC = p, CA = q, AB = r."""
    assert 2 * max(p, q, r) < p + q + r, "no triangle"
    x = mp.mpf(q * q + r * r - p * p) / (2 * r)
    return mp.mpc(0), mp.mpc(r), mp.mpc(x, mp.sqrt(q * q - x * x))


def bisecting(a: Any, b: Any, c: Any) -> Any:
    """Return the direction of the bisector of the angle abc."""
    return (a - b) / abs(a - b) + (c - b) / abs(c - b)
