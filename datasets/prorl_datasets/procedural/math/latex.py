"""Writes LaTeX formulas as in textbooks: no ``1x``, ``+-3`` or ``0x``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt


def fraction(value: Fraction | int) -> str:
    r"""Return ``\frac{3}{4}``, ``-\frac{3}{4}`` or ``5``."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def terms(parts: Sequence[tuple[Fraction | int, str]]) -> str:
    """Return the sum of (coefficient, symbol) without zero terms; constants have the symbol ""."""
    text = ""
    for coefficient, symbol in parts:
        if coefficient == 0:
            continue
        size = fraction(abs(Fraction(coefficient)))
        body = symbol if symbol and size == "1" else f"{size}{symbol}"
        if not text:
            text = f"-{body}" if coefficient < 0 else body
        else:
            text += f" - {body}" if coefficient < 0 else f" + {body}"
    return text or "0"


def power(base: str, exponent: int) -> str:
    """Write a power, as in ``x^2`` or ``x^{11}``; exponent 1 gives ``x``, and exponent 0 gives ""."""
    if exponent in (0, 1):
        return base if exponent else ""
    return f"{base}^{exponent}" if 0 < exponent < 10 else f"{base}^{{{exponent}}}"


def polynomial(coefficients: Sequence[Fraction | int], variable: str = "x") -> str:
    """Return a polynomial, highest power first: (2, 0, -1) is ``2x^2 - 1``."""
    top = len(coefficients) - 1
    return terms([(c, power(variable, top - i)) for i, c in enumerate(coefficients)])


def root(radicand: int, factor: Fraction | int = 1) -> str:
    r"""Return ``factor * sqrt(radicand)`` simplified: ``6\sqrt{2}``, ``\frac{\sqrt{3}}{2}`` or a rational.

    Raises ValueError for negative radicands.
    """
    if radicand < 0:
        raise ValueError(f"{radicand} has no real square root")
    factor = Fraction(factor)
    inside = radicand
    divisor = isqrt(radicand) if radicand else 1
    while divisor > 1:
        if inside % (divisor * divisor) == 0:
            inside //= divisor * divisor
            factor *= divisor
        divisor = min(divisor - 1, isqrt(inside))
    if radicand == 0 or factor == 0:
        return "0"
    if inside == 1:
        return fraction(factor)
    sign = "-" if factor < 0 else ""
    above = abs(factor.numerator)
    body = f"\\sqrt{{{inside}}}" if above == 1 else f"{above}\\sqrt{{{inside}}}"
    return (
        f"{sign}{body}"
        if factor.denominator == 1
        else f"{sign}\\frac{{{body}}}{{{factor.denominator}}}"
    )


def listed(items: Sequence[object], last: str = "and") -> str:
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def tidy(question: str) -> str:
    """Move a period or comma that follows a display formula into it, except at the question's end."""
    return re.sub(r"(?<![.,])\\\]([.,])(?=.)", r"\1\\]", question)
