"""Lengths in triangles: right triangles, the law of cosines, radii and heights, bisectors."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from random import Random

from prorl_datasets.procedural.math.geometry.writing import TRIPLES, letters, others, unit
from prorl_datasets.procedural.math.kinds import drawn, of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, root
from prorl_datasets.procedural.math.problem import Problem

_HERON = (
    (13, 14, 15), (10, 13, 13), (10, 17, 21), (13, 20, 21), (17, 25, 28), (15, 28, 41), (9, 10, 17),
    (7, 15, 20), (11, 13, 20), (12, 17, 25), (13, 37, 40), (25, 39, 40), (20, 37, 51), (17, 17, 16),
    (25, 25, 14), (8, 26, 30), (13, 40, 45), (26, 28, 30), (5, 29, 30), (25, 34, 39), (15, 34, 35),
    (6, 25, 29), (10, 35, 39), (15, 13, 4), (3, 25, 26), (25, 51, 52), (16, 25, 39), (29, 29, 40),
)  # fmt: skip


def _rooted(square: Fraction, factor: Fraction | int = 1) -> str:
    """The root of a rational number, times a factor."""
    return root(square.numerator * square.denominator, Fraction(factor) / square.denominator)


def _legs(rng: Random, most: int = 4) -> tuple[int, int, int]:
    a, b, c = rng.choice(TRIPLES[:5])
    f = rng.randint(1, most)
    if rng.choice((True, False)):
        a, b = b, a
    return a * f, b * f, c * f


def _ladder(rng: Random) -> Problem:
    a, b, c = drawn(lambda: _legs(rng), lambda t: t[2] <= 52)
    u = rng.choice(("feet", "meters", "dm"))
    how = rng.choice(("ladder", "mast", "screen", "walk"))
    if how == "ladder":
        say = rng.choice(
            (
                (
                    f"A {c}-{_single(u)} ladder leans against a vertical wall, its foot {a} {u} from the "
                    f"wall on level ground. How high up the wall does it reach, in {u}?"
                ),
                (
                    f"The foot of a ladder stands on level ground {a} {u} from the bottom of a vertical "
                    f"wall. If the ladder is {c} {u} long, at what height (in {u}) does its top touch "
                    "the wall?"
                ),
            )
        )
        return posed("right", say, b, long=c, short=a, other=0)
    if how == "mast":
        say = (
            f"A vertical mast is {a} {u} tall. A straight wire runs from its top to a hook in the "
            f"level ground {b} {u} away from the foot of the mast. Find the length of the wire in "
            f"{u}."
        )
        return posed("right", say, c, long=0, short=a, other=b)
    if how == "screen":
        say = (
            f"The diagonal of a rectangular garden measures {c} {u}, and one of its sides measures "
            f"{a} {u}. What is the area of the garden in square {u}?"
        )
        return posed("garden", say, a * b, long=c, short=a)
    first, second = rng.choice((("north", "east"), ("south", "west"), ("west", "north")))
    say = (
        f"A ship sails {a} miles {first}, then {b} miles {second}. It returns to its harbor along a "
        "straight line. How many miles long is the whole trip?"
    )
    return posed("trip", say, a + b + c, short=a, other=b)


def _single(u: str) -> str:
    return {"feet": "foot", "meters": "meter"}.get(u, u)


def _isosceles_height(rng: Random) -> Problem:
    a, b, c = _legs(rng)
    u = unit(rng)
    x, y, z = letters(rng, 3)
    how = rng.choice(("area", "height", "perimeter"))
    if how == "area":
        say = rng.choice(
            (
                (
                    f"An isosceles triangle has a base of {2 * a} {u} and two sides of {c} {u} each. Find "
                    f"its area in square {u}."
                ),
                (
                    f"In triangle ${x}{y}{z}$, ${x}{y} = {x}{z} = {c}$ and ${y}{z} = {2 * a}$. What is "
                    "the area of the triangle?"
                ),
            )
        )
        return posed("isosceles", say, a * b, how=how, base=2 * a, side=c)
    if how == "height":
        say = (
            f"The equal sides of an isosceles triangle are {c} {u} long, its base is {2 * a} {u}. "
            f"How long, in {u}, is the median drawn to the base?"
        )
        return posed("isosceles", say, b, how=how, base=2 * a, side=c)
    say = rng.choice(
        (
            (
                f"An isosceles triangle with base {2 * a} {u} has an area of {a * b} square {u}. What is "
                f"its perimeter in {u}?"
            ),
            (
                f"The area of triangle ${x}{y}{z}$, in which ${x}{y} = {x}{z}$, is ${a * b}$. If "
                f"${y}{z} = {2 * a}$, find the perimeter of the triangle."
            ),
        )
    )
    return posed("isosceles", say, 2 * a + 2 * c, how=how, base=2 * a, side=a * b)


def _hypotenuse_altitude(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    (foot,) = others(rng, a + b + c)
    p, q = drawn(
        lambda: (rng.randint(1, 20), rng.randint(1, 30)), lambda d: d[0] != d[1] and gcd(*d) < 12
    )
    how = rng.choice(("height", "leg", "sum"))
    if how == "height":
        say = rng.choice(
            (
                (
                    f"In right triangle ${a}{b}{c}$ with the right angle at ${c}$, the altitude from "
                    f"${c}$ splits the hypotenuse into pieces of lengths ${p}$ and ${q}$. Find the "
                    "length of the altitude, in simplest radical form."
                ),
                (
                    f"The foot of the altitude to the hypotenuse of a right triangle is ${p}$ from one "
                    f"end of the hypotenuse and ${q}$ from the other. Exactly how long is the altitude?"
                ),
            )
        )
        return posed("altitude", say, root(p * q), how=how, p=p, q=q)
    if how == "leg":
        say = (
            f"Triangle ${a}{b}{c}$ has a right angle at ${c}$, and ${foot}$ is the foot of the altitude "
            f"from ${c}$. If ${a}{foot} = {p}$ and ${foot}{b} = {q}$, what is the exact length of "
            f"$\\overline{{{a}{c}}}$?"
        )
        return posed("altitude", say, root(p * (p + q)), how=how, p=p, q=q)
    m, n, k = _legs(rng, 3)
    say = rng.choice(
        (
            (
                f"The legs of a right triangle are ${m}$ and ${n}$. Find the distance from the vertex of "
                "the right angle to the hypotenuse."
            ),
            (
                f"The legs ${a}{c}$ and ${b}{c}$ of right triangle ${a}{b}{c}$ have lengths ${m}$ and "
                f"${n}$. What is the length of the altitude from ${c}$? Give a fraction in lowest terms "
                "if it is not an integer."
            ),
        )
    )
    return posed("altitude", say, Fraction(m * n, k), how=how, p=m, q=n)


def _right_back(rng: Random) -> Problem:
    a, b, c = _legs(rng, 3)
    how = rng.choice(("perimeter_hypotenuse", "sum_hypotenuse", "difference", "slide"))
    u = rng.choice(("feet", "meters"))
    if how == "perimeter_hypotenuse":
        say = rng.choice(
            (
                (
                    f"A right triangle has perimeter ${a + b + c}$ and hypotenuse ${c}$. What is its "
                    "area?"
                ),
                (
                    f"A rope of length {a + b + c} {u} is laid around three stakes and makes a right "
                    f"triangle whose longest side is {c} {u}. How many square {u} does it enclose?"
                ),
            )
        )
        return posed("back", say, a * b // 2, how=how, p=a + b + c, q=c)
    if how == "sum_hypotenuse":
        say = (
            f"The hypotenuse of a right triangle is ${c}$ and the sum of the legs is ${a + b}$. "
            "Find the radius of the circle inscribed in it."
        )
        return posed("back", say, (a + b - c) // 2, how=how, p=a + b, q=c)
    if how == "difference":
        say = rng.choice(
            (
                (
                    f"In a right triangle the hypotenuse is ${c - a}$ longer than one leg. The other leg "
                    f"is ${b}$. Find the length of the hypotenuse."
                ),
                (
                    f"A flagpole breaks and its top touches the ground {b} {u} from the foot, still "
                    f"attached at the break. The fallen part is {c - a} {u} longer than the standing "
                    f"part. How long was the whole pole, in {u}?"
                ),
            )
        )
        return posed(
            "back", say, c if "hyp" in say else a + c, how=how, p=c - a, q=b, pole="pole" in say
        )
    low, high = sorted((a, b))
    slide = drawn(
        lambda: _legs(rng, 6),
        lambda t: (t[2] == c and t[0] > low) or (t[2] % c == 0 and t[0] > t[1]),
    )
    f = slide[2] // c
    low, high, c = low * f, high * f, c * f
    if slide[0] == low or slide[2] != c or high == slide[1] or slide[1] > high:
        return _right_back(rng)
    say = (
        f"A {c}-{_single(u)} ladder leans against a vertical wall with its foot {low} {u} from the "
        f"wall. Its top slides down {high - slide[1]} {u}. By how many {u} does the foot move away?"
    )
    return posed("back", say, slide[0] - low, how=how, p=c, q=low, drop=high - slide[1])


_COSINES = {60: Fraction(1, 2), 120: Fraction(-1, 2)}


def _third_side(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    angle = rng.choice((60, 120))
    p, q = drawn(lambda: (rng.randint(2, 16), rng.randint(2, 16)), lambda d: d[0] != d[1])
    square = int(p * p + q * q - 2 * p * q * _COSINES[angle])
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, ${a}{b} = {p}$, ${a}{c} = {q}$ and "
                f"$\\angle {a} = {angle}^\\circ$. Find ${b}{c}$, in simplest radical form."
            ),
            (
                f"Two straight roads leave a village at an angle of ${angle}^\\circ$. One leads to a mill "
                f"{p} km away, the other to a church {q} km away. What is the exact distance, in km, "
                "from the mill to the church?"
            ),
            (
                f"Two sides of a triangle have lengths ${p}$ and ${q}$, and the angle between them "
                f"measures ${angle}^\\circ$. What is the exact length of the third side?"
            ),
            (
                f"A boat leaves a pier and travels {p} miles, then changes its course by "
                f"${180 - angle}^\\circ$ and travels {q} more miles. Exactly how far from the pier is it?"
            ),
        )
    )
    return posed("third_side", say, root(square), p=p, q=q, angle=angle)


def _cosine(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    p, q, r = drawn(
        lambda: (rng.randint(3, 12), rng.randint(3, 12), rng.randint(3, 12)),
        lambda t: (
            2 * max(t) < sum(t) and len(set(t)) > 1 and 2 * max(t) ** 2 != sum(x * x for x in t)
        ),
    )
    how = rng.choice(("opposite", "median", "largest"))
    if how == "opposite":
        say = (
            f"In triangle ${a}{b}{c}$, ${b}{c} = {p}$, ${c}{a} = {q}$ and ${a}{b} = {r}$. Find "
            f"$\\cos {a}$ as a fraction in lowest terms."
        )
        return posed(
            "cosine", say, Fraction(q * q + r * r - p * p, 2 * q * r), how=how, sides=[p, q, r]
        )
    if how == "largest":
        x, y, z = sorted((p, q, r))
        if y == z:
            return _cosine(rng)
        say = rng.choice(
            (
                (
                    f"In a triangle with sides of lengths ${p}$, ${q}$ and ${r}$, the greatest angle is $\\theta$. Find "
                    "$\\cos \\theta$ as a fraction in lowest terms."
                ),
                (
                    f"The sides of a triangle are ${p}$, ${q}$ and ${r}$ long. What is the cosine of its "
                    "largest angle?"
                ),
                (
                    f"Sticks of lengths ${p}$, ${q}$ and ${r}$ are joined to a triangle. Find the cosine "
                    "of the greatest angle, as a fraction in lowest terms."
                ),
            )
        )
        return posed(
            "cosine", say, Fraction(x * x + y * y - z * z, 2 * x * y), how=how, sides=[p, q, r]
        )
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, ${a}{b} = {p}$, ${a}{c} = {q}$ and ${b}{c} = {r}$. Find the "
                f"exact length of the median from ${a}$."
            ),
            (
                f"A triangular kite has edges of {p} dm, {q} dm and {r} dm. A string is tied from the "
                f"corner where the {p} dm and {q} dm edges meet to the middle of the {r} dm edge. "
                "Exactly how long is the string, in dm?"
            ),
        )
    )
    if "kite" in say and len({p, q, r}) < 3:
        return _cosine(rng)
    square = 2 * p * p + 2 * q * q - r * r
    return posed("cosine", say, root(square, Fraction(1, 2)), how=how, sides=[p, q, r])


def _angle_back(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    angle = rng.choice((60, 120))
    p, q = drawn(
        lambda: (rng.randint(2, 40), rng.randint(2, 40)),
        lambda d: (
            d[0] != d[1]
            and isqrt(d[0] ** 2 + d[1] ** 2 - int(2 * d[0] * d[1] * _COSINES[angle])) ** 2
            == d[0] ** 2 + d[1] ** 2 - int(2 * d[0] * d[1] * _COSINES[angle])
        ),
    )
    r = isqrt(p * p + q * q - int(2 * p * q * _COSINES[angle]))
    how = rng.choice(("angle", "side", "difference"))
    if how == "angle":
        names = rng.choice(
            (
                (
                    f"Triangle ${a}{b}{c}$ has sides ${a}{b} = {p}$, ${b}{c} = {r}$ and ${c}{a} = {q}$. "
                    f"Find the measure of angle ${a}$ in degrees."
                ),
                (
                    f"The sides of a triangular park are {p} m, {q} m and {r} m long. How many degrees "
                    f"is the angle opposite the side of {r} m?"
                ),
            )
        )
        return posed("angle_back", names, angle, how=how, p=p, q=q, r=r)
    if how == "difference":
        say = (
            f"In triangle ${a}{b}{c}$, $\\angle {a} = {angle}^\\circ$, ${b}{c} = {r}$ and "
            f"${a}{b} + {a}{c} = {p + q}$. What is the product ${a}{b} \\cdot {a}{c}$?"
        )
        return posed("angle_back", say, p * q, how=how, p=p + q, q=angle, r=r)
    if angle == 60 and p > q:
        p, q = q, p
    # unique: for 60 degrees the given side is not longer than the side opposite the angle
    if angle == 60 and p >= r:
        return _angle_back(rng)
    say = (
        f"In triangle ${a}{b}{c}$, $\\angle {a} = {angle}^\\circ$, ${a}{b} = {p}$ and "
        f"${b}{c} = {r}$. Find ${a}{c}$."
    )
    return posed("angle_back", say, q, how=how, p=p, q=angle, r=r)


def _stewart(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    m, n, p, q = drawn(
        lambda: (
            tuple(rng.randint(1, 9) for _ in range(2)) + tuple(rng.randint(4, 14) for _ in "12")
        ),
        lambda d: d[0] != d[1] and abs(d[2] - d[3]) < d[0] + d[1] < d[2] + d[3],
    )
    square = Fraction(p * p * n + q * q * m, m + n) - m * n
    (d,) = others(rng, a + b + c)
    say = rng.choice(
        (
            (
                f"Point ${d}$ on side $\\overline{{{b}{c}}}$ of triangle ${a}{b}{c}$ satisfies "
                f"${b}{d} = {m}$ and ${d}{c} = {n}$. If ${a}{b} = {p}$ and ${a}{c} = {q}$, find the "
                f"exact length of $\\overline{{{a}{d}}}$."
            ),
            (
                f"A straight shore runs from ${b}$ to ${c}$. A lighthouse ${a}$ is {p} km from ${b}$ and "
                f"{q} km from ${c}$. A jetty on the shore is {m} km from ${b}$ and {n} km from ${c}$, "
                f"between the two. What is the exact distance, in km, from the lighthouse to the jetty?"
            ),
        )
    )
    return posed("stewart", say, _rooted(square), m=m, n=n, p=p, q=q)


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
    p, q = drawn(lambda: (rng.randint(3, 20), rng.randint(3, 20)), lambda d: d[0] != d[1])
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
    p, q = drawn(lambda: (rng.randint(3, 20), rng.randint(3, 20)), lambda d: d[0] != d[1])
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
    a, b, c = _legs(rng, 3)
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
        "geometry_right_triangles",
        (_ladder, _isosceles_height),
        (_hypotenuse_altitude, _isosceles_height),
        (_right_back,),
        "right triangles, alone and in pairs",
    ),
    of_kinds(
        "geometry_law_of_cosines",
        (_third_side,),
        (_cosine,),
        (_angle_back, _stewart),
        "sides, angles and cevians of general triangles",
    ),
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
