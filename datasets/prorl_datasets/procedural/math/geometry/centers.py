"""Problems on heights, circles and angle bisectors of a triangle."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others, right_triangle, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_HERON = (
    (13, 14, 15), (10, 13, 13), (10, 17, 21), (13, 20, 21), (17, 25, 28), (15, 28, 41), (9, 10, 17),
    (7, 15, 20), (11, 13, 20), (12, 17, 25), (13, 37, 40), (25, 39, 40), (20, 37, 51), (17, 17, 16),
    (25, 25, 14), (8, 26, 30), (13, 40, 45), (26, 28, 30), (5, 29, 30), (25, 34, 39), (15, 34, 35),
    (6, 25, 29), (10, 35, 39), (15, 13, 4), (3, 25, 26), (25, 51, 52), (16, 25, 39), (29, 29, 40),
)  # fmt: skip


def _scaled(rng: Random) -> tuple[list[int], int]:
    sides = list(rng.choice(_HERON))
    f = rng.choice((1, 1, 1, 2, 3))
    rng.shuffle(sides)
    sides = [s * f for s in sides]
    s = sum(sides)
    square = s * (s - 2 * sides[0]) * (s - 2 * sides[1]) * (s - 2 * sides[2]) // 16
    return sides, isqrt(square)


def _heron(rng: Random) -> Problem:
    (p, q, r), area = _scaled(rng)
    x, y, z = letters(rng, 3)
    u = unit(rng)
    say = WORDINGS.draw(rng, "heron", p=p, u=u, q=q, r=r, x=x, y=y, z=z)
    return posed("heron", say, area, sides=[p, q, r])


def _radii(rng: Random) -> Problem:
    (p, q, r), area = _scaled(rng)
    x, y, z = letters(rng, 3)
    how = rng.choice(("inradius", "circumradius", "altitude", "shortest"))
    if how == "inradius":
        say = WORDINGS.draw(rng, "radii, inradius", p=p, q=q, r=r)
        return posed("radii", say, Fraction(2 * area, p + q + r), how=how, sides=[p, q, r])
    if how == "circumradius":
        say = WORDINGS.draw(rng, "radii, circumradius", x=x, y=y, z=z, p=p, q=q, r=r)
        return posed("radii", say, Fraction(p * q * r, 4 * area), how=how, sides=[p, q, r])
    if how == "altitude":
        say = WORDINGS.one("radii", x=x, y=y, z=z, p=p, q=q, r=r)
        return posed("radii", say, Fraction(2 * area, q), how=how, sides=[p, q, r])
    say = WORDINGS.one("radii 2", p=p, q=q, r=r)
    return posed("radii", say, Fraction(2 * area, max(p, q, r)), how=how, sides=[p, q, r])


def _radii_back(rng: Random) -> Problem:
    (p, q, r), area = _scaled(rng)
    how = rng.choice(("tangent", "area", "third"))
    x, y, z = letters(rng, 3)
    (foot,) = others(rng, x + y + z)
    if how == "tangent":
        if (p + q + r) % 2:
            return _radii_back(rng)
        say = WORDINGS.draw(rng, "radii back, tangent", x=x, y=y, z=z, foot=foot, p=p, q=q, r=r)
        return posed("radii_back", say, (p + r - q) // 2, how=how, values=[p, q, r])
    if how == "area":
        inner = Fraction(2 * area, p + q + r)
        say = WORDINGS.one("radii back", r_value=p + q + r, inner=fraction(inner))
        return posed(
            "radii_back", say, area, how=how, values=[p + q + r, inner.numerator, inner.denominator]
        )
    around = Fraction(p * q * r, 4 * area)
    say = WORDINGS.one("radii back 2", x=x, y=y, z=z, p=p, q=q, around=fraction(around))
    return posed(
        "radii_back",
        say,
        Fraction(p * q, 1) / (2 * around),
        how=how,
        values=[p, q, around.numerator, around.denominator],
    )


def _bisector_parts(rng: Random) -> Problem:
    x, y, z = letters(rng, 3)
    (foot,) = others(rng, x + y + z)
    p, q = redrawn(lambda: (rng.randint(3, 20), rng.randint(3, 20)), lambda d: d[0] != d[1])
    f = rng.randint(1, 3)
    g = gcd(p, q)
    m, n = p // g * f, q // g * f
    if not abs(p - q) < m + n < p + q or m + n in (p, q):
        return _bisector_parts(rng)
    back = rng.choice((True, False))
    if back:
        say = WORDINGS.draw(rng, "bisector parts, back", x=x, y=y, z=z, foot=foot, m=m, n=n, p=p)
        whole = "perimeter" in say
        return posed("parts_back", say, p + q + m + n if whole else q, m=m, n=n, p=p, whole=whole)
    say = WORDINGS.draw(rng, "bisector parts", x=x, y=y, z=z, p=p, q=q, m_plus_n=m + n, foot=foot)
    return posed("parts", say, m, p=p, q=q, r=m + n)


def _bisector_length(rng: Random) -> Problem:
    x, y, z = letters(rng, 3)
    p, q = redrawn(lambda: (rng.randint(3, 20), rng.randint(3, 20)), lambda d: d[0] != d[1])
    g = gcd(p, q)
    f = rng.randint(1, 4)
    m, n = p // g * f, q // g * f
    if not abs(p - q) < m + n < p + q:
        return _bisector_length(rng)
    say = WORDINGS.draw(rng, "bisector length", x=x, y=y, z=z, p=p, q=q, m_plus_n=m + n)
    if p == m + n or q == m + n:
        return _bisector_length(rng)
    return posed("length", say, root(p * q - m * n), p=p, q=q, r=m + n)


def _right_bisector(rng: Random) -> Problem:
    x, y, z = letters(rng, 3)
    (foot,) = others(rng, x + y + z)
    a, b, c = right_triangle(rng, 3)
    how = rng.choice(("leg", "right", "area"))
    if how == "leg":
        say = WORDINGS.one("right bisector", x=x, y=y, z=z, a=a, b=b, foot=foot)
        return posed("right_bisector", say, Fraction(a * b, a + c), how=how, a=a, b=b)
    if how == "right":
        say = WORDINGS.draw(rng, "right bisector, right", a=a, b=b)
        return posed("right_bisector", say, root(2, Fraction(a * b, a + b)), how=how, a=a, b=b)
    say = WORDINGS.one("right bisector 2", x=x, y=y, z=z, a=a, b=b, foot=foot)
    return posed(
        "right_bisector", say, Fraction(a, 2) * (b - Fraction(a * b, a + c)), how=how, a=a, b=b
    )


FAMILIES = (
    of_kinds(
        "geometry_triangle_radii",
        (_heron,),
        (_radii,),
        (_radii_back,),
        "areas, heights and the two circles of a triangle",
    ),
    of_kinds(
        "geometry_angle_bisectors",
        (_bisector_parts,),
        (_right_bisector,),
        (_bisector_length, _right_bisector),
        "angle bisectors and what they cut off",
    ),
)
