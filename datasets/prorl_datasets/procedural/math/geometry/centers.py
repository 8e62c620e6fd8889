"""Heights, the two circles and the angle bisectors of a triangle."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    letters,
    others,
    right_triangle,
    unit,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, root
from prorl_datasets.procedural.math.problem import Problem

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
    say = rng.choice(
        (
            (
                f"Three rods of {p} {u}, {q} {u} and {r} {u} are joined at their ends. How many square {u} does the "
                "triangle that they form enclose?"
            ),
            (
                f"The sides of a triangle measure {p} {u}, {q} {u} and {r} {u}. Find its area in square "
                f"{u}."
            ),
            (
                f"What is the area of triangle ${x}{y}{z}$ if ${x}{y} = {p}$, ${y}{z} = {q}$ and "
                f"${z}{x} = {r}$?"
            ),
            (
                f"A triangular meadow is fenced along its three sides with {p} m, {q} m and {r} m of "
                "wire. How many square meters of grass are inside?"
            ),
        )
    )
    return posed("heron", say, area, sides=[p, q, r])


def _radii(rng: Random) -> Problem:
    (p, q, r), area = _scaled(rng)
    x, y, z = letters(rng, 3)
    how = rng.choice(("inradius", "circumradius", "altitude", "shortest"))
    if how == "inradius":
        say = rng.choice(
            (
                (
                    f"Find the radius of the circle inscribed in a triangle with sides ${p}$, ${q}$ and "
                    f"${r}$."
                ),
                (
                    f"The largest circular disk that fits into a triangular frame with inner sides of {p}"
                    f" cm, {q} cm and {r} cm is cut out. What is its radius in cm?"
                ),
            )
        )
        return posed("radii", say, Fraction(2 * area, p + q + r), how=how, sides=[p, q, r])
    if how == "circumradius":
        say = rng.choice(
            (
                (
                    f"The sides of triangle ${x}{y}{z}$ are ${x}{y} = {p}$, ${y}{z} = {q}$ and "
                    f"${z}{x} = {r}$. What is the radius of the circle through its vertices?"
                ),
                (
                    f"A circle passes through the three corners of a triangle with side lengths ${p}$, "
                    f"${q}$ and ${r}$. Find its radius as a fraction in lowest terms or an integer."
                ),
            )
        )
        return posed("radii", say, Fraction(p * q * r, 4 * area), how=how, sides=[p, q, r])
    if how == "altitude":
        say = (
            f"In triangle ${x}{y}{z}$, ${x}{y} = {p}$, ${y}{z} = {q}$ and ${z}{x} = {r}$. Find the "
            f"length of the altitude from ${x}$."
        )
        return posed("radii", say, Fraction(2 * area, q), how=how, sides=[p, q, r])
    say = (
        f"A triangle has sides of lengths ${p}$, ${q}$ and ${r}$. How long is the shortest of its "
        "three altitudes?"
    )
    return posed("radii", say, Fraction(2 * area, max(p, q, r)), how=how, sides=[p, q, r])


def _radii_back(rng: Random) -> Problem:
    (p, q, r), area = _scaled(rng)
    how = rng.choice(("tangent", "area", "third"))
    x, y, z = letters(rng, 3)
    (foot,) = others(rng, x + y + z)
    if how == "tangent":
        if (p + q + r) % 2:
            return _radii_back(rng)
        say = rng.choice(
            (
                (
                    f"The circle inscribed in triangle ${x}{y}{z}$ touches $\\overline{{{x}{y}}}$ at ${foot}$."
                    f" If ${x}{y} = {p}$, ${y}{z} = {q}$ and ${z}{x} = {r}$, find ${x}{foot}$."
                ),
                (
                    f"Three circles with centers ${x}$, ${y}$ and ${z}$ touch each other externally. The "
                    f"distances between the centers are ${x}{y} = {p}$, ${y}{z} = {q}$ and "
                    f"${z}{x} = {r}$. What is the radius of the circle around ${x}$?"
                ),
            )
        )
        return posed("radii_back", say, (p + r - q) // 2, how=how, values=[p, q, r])
    if how == "area":
        inner = Fraction(2 * area, p + q + r)
        say = (
            f"A triangle with perimeter ${p + q + r}$ has an inscribed circle of radius "
            f"${fraction(inner)}$. Find the area of the triangle."
        )
        return posed(
            "radii_back", say, area, how=how, values=[p + q + r, inner.numerator, inner.denominator]
        )
    around = Fraction(p * q * r, 4 * area)
    say = (
        f"Triangle ${x}{y}{z}$ has ${x}{y} = {p}$ and ${x}{z} = {q}$, and the radius of its "
        f"circumscribed circle is ${fraction(around)}$. Find the length of the altitude from ${x}$."
    )
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
        say = rng.choice(
            (
                (
                    f"The bisector of angle ${x}$ in triangle ${x}{y}{z}$ meets $\\overline{{{y}{z}}}$ at "
                    f"${foot}$. Given ${y}{foot} = {m}$, ${foot}{z} = {n}$ and ${x}{y} = {p}$, find ${x}{z}$."
                ),
                (
                    f"The bisector of one angle of a triangle cuts the opposite side into pieces of "
                    f"${m}$ and ${n}$. The side next to the piece of length ${m}$ is ${p}$ long. What is "
                    "the perimeter of the triangle?"
                ),
            )
        )
        whole = "perimeter" in say
        return posed("parts_back", say, p + q + m + n if whole else q, m=m, n=n, p=p, whole=whole)
    say = rng.choice(
        (
            (
                f"In triangle ${x}{y}{z}$, ${x}{y} = {p}$, ${x}{z} = {q}$ and ${y}{z} = {m + n}$. The "
                f"bisector of angle ${x}$ meets side $\\overline{{{y}{z}}}$ at ${foot}$. Find ${y}{foot}$."
            ),
            (
                f"A triangle has sides ${p}$, ${q}$ and ${m + n}$. Into which two parts does the bisector "
                f"of the angle between the sides ${p}$ and ${q}$ cut the third side? Give the length of "
                f"the part next to the side of length ${p}$."
            ),
        )
    )
    return posed("parts", say, m, p=p, q=q, r=m + n)


def _bisector_length(rng: Random) -> Problem:
    x, y, z = letters(rng, 3)
    p, q = redrawn(lambda: (rng.randint(3, 20), rng.randint(3, 20)), lambda d: d[0] != d[1])
    g = gcd(p, q)
    f = rng.randint(1, 4)
    m, n = p // g * f, q // g * f
    if not abs(p - q) < m + n < p + q:
        return _bisector_length(rng)
    say = rng.choice(
        (
            (
                f"In triangle ${x}{y}{z}$, ${x}{y} = {p}$, ${x}{z} = {q}$ and ${y}{z} = {m + n}$. Find "
                f"the exact length of the bisector of angle ${x}$, from ${x}$ to side "
                f"$\\overline{{{y}{z}}}$."
            ),
            (
                f"The sides of a triangle are ${p}$, ${q}$ and ${m + n}$. How long is the segment of the "
                f"bisector of the angle between the sides ${p}$ and ${q}$ that lies inside the "
                "triangle? Answer in simplest radical form."
            ),
        )
    )
    if p == m + n or q == m + n:
        return _bisector_length(rng)
    return posed("length", say, root(p * q - m * n), p=p, q=q, r=m + n)


def _right_bisector(rng: Random) -> Problem:
    x, y, z = letters(rng, 3)
    (foot,) = others(rng, x + y + z)
    a, b, c = right_triangle(rng, 3)
    how = rng.choice(("leg", "right", "area"))
    if how == "leg":
        say = (
            f"Triangle ${x}{y}{z}$ has a right angle at ${z}$, with ${x}{z} = {a}$ and ${y}{z} = {b}$."
            f" The bisector of angle ${x}$ meets $\\overline{{{y}{z}}}$ at ${foot}$. Find ${z}{foot}$."
        )
        return posed("right_bisector", say, Fraction(a * b, a + c), how=how, a=a, b=b)
    if how == "right":
        say = rng.choice(
            (
                (
                    f"The legs of a right triangle are ${a}$ and ${b}$. How long is the bisector of the "
                    "right angle, from its vertex to the hypotenuse? Give an exact answer."
                ),
                (
                    f"A square has one corner at the right angle of a right triangle with legs ${a}$ and "
                    f"${b}$, two sides along the legs, and the opposite corner on the hypotenuse. Find "
                    "the exact length of the square's diagonal."
                ),
            )
        )
        return posed("right_bisector", say, root(2, Fraction(a * b, a + b)), how=how, a=a, b=b)
    say = (
        f"In right triangle ${x}{y}{z}$ the legs are ${x}{z} = {a}$ and ${y}{z} = {b}$. The bisector "
        f"of angle ${x}$ meets leg $\\overline{{{y}{z}}}$ at ${foot}$. What is the area of triangle "
        f"${x}{y}{foot}$?"
    )
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
