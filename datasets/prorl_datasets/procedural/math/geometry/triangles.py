"""Right triangles, and general ones by the law of cosines."""

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
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


def _rooted(square: Fraction, factor: Fraction | int = 1) -> str:
    """The root of a rational number, times a factor."""
    return root(square.numerator * square.denominator, Fraction(factor) / square.denominator)


def _ladder(rng: Random) -> Problem:
    a, b, c = redrawn(lambda: right_triangle(rng), lambda t: t[2] <= 52)
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
    a, b, c = right_triangle(rng)
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
    p, q = redrawn(
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
    m, n, k = right_triangle(rng, 3)
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
    a, b, c = right_triangle(rng, 3)
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
    slide = redrawn(
        lambda: right_triangle(rng, 6),
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
    p, q = redrawn(lambda: (rng.randint(2, 16), rng.randint(2, 16)), lambda d: d[0] != d[1])
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
    p, q, r = redrawn(
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
    p, q = redrawn(
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
    m, n, p, q = redrawn(
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
)
