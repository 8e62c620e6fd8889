"""Formats points, lines, circles, multiples of pi, letters and units."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.latex import fraction, terms
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (9, 40, 41))
"""Primitive Pythagorean triples, hypotenuse last."""

_LETTERS = {
    3: ("ABC", "PQR", "XYZ", "DEF", "KLM", "RST", "JKL", "UVW"),
    4: ("ABCD", "PQRS", "EFGH", "WXYZ", "KLMN", "JKLM", "RSTU"),
}


def grid_point(rng: Random, size: int) -> tuple[int, int]:
    return rng.randint(-size, size), rng.randint(-size, size)


def right_triangle(rng: Random, most: int = 4) -> tuple[int, int, int]:
    """Draw two integer legs, in any order, and the hypotenuse: at most ``most`` times a primitive triple."""
    a, b, c = rng.choice(TRIPLES[:5])
    f = rng.randint(1, most)
    if rng.choice((True, False)):
        a, b = b, a
    return a * f, b * f, c * f


def letters(rng: Random, count: int) -> list[str]:
    return list(rng.choice(_LETTERS[count]))


def others(rng: Random, taken: str, count: int = 1) -> list[str]:
    """Draw names of further points, in alphabetical order, other than ``O`` and ``taken``."""
    return sorted(rng.sample([c for c in "ADEFGHKLMNPQRSTXYZ" if c not in taken], count))


def line_form(rng: Random) -> str:
    """Ask for a line as ``ax + by = c`` in lowest terms."""
    return WORDINGS.draw(rng, "line form")


def circle_form(rng: Random) -> str:
    return WORDINGS.draw(rng, "circle form")


def unit(rng: Random) -> str:
    """Draw a unit of length, an abbreviation or a plural."""
    return rng.choice(("cm", "cm", "m", "mm", "inches", "feet", "units"))


def point(x: Fraction | int | str, y: Fraction | int | str) -> str:
    return f"({', '.join(v if isinstance(v, str) else fraction(v) for v in (x, y))})"


def line(a: int, b: int, c: int) -> str:
    """Write a line as ``ax + by = c`` in lowest terms with a positive first coefficient."""
    scale = gcd(a, b, c)
    if a < 0 or (a == 0 and b < 0):
        scale = -scale
    return f"{terms([(a // scale, 'x'), (b // scale, 'y')])} = {c // scale}"


def slope_form(slope: Fraction | int, intercept: Fraction | int) -> str:
    return f"y = {terms([(slope, 'x'), (intercept, '')])}"


def circle(h: int, k: int, square: Fraction | int) -> str:
    """Write a circle as ``(x - h)^2 + (y - k)^2 = square``."""
    sides = [
        f"{name}^2" if at == 0 else f"({terms([(1, name), (-at, '')])})^2"
        for name, at in (("x", h), ("y", k))
    ]
    return f"{sides[0]} + {sides[1]} = {fraction(square)}"


def times_pi(value: Fraction | int) -> str:
    r"""Return ``12\pi``, ``\frac{4\pi}{3}`` or ``\pi``."""
    value = Fraction(value)
    above = "\\pi" if value.numerator == 1 else f"{value.numerator}\\pi"
    return above if value.denominator == 1 else f"\\frac{{{above}}}{{{value.denominator}}}"
