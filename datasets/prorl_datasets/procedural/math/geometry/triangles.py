"""Problems on right triangles and the law of cosines."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others, right_triangle, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _rooted(square: Fraction, factor: Fraction | int = 1) -> str:
    return root(square.numerator * square.denominator, Fraction(factor) / square.denominator)


def _ladder(rng: Random) -> Problem:
    a, b, c = redrawn(lambda: right_triangle(rng), lambda t: t[2] <= 52)
    u = rng.choice(("feet", "meters", "dm"))
    how = rng.choice(("ladder", "mast", "screen", "walk"))
    if how == "ladder":
        say = WORDINGS.draw(rng, "ladder, ladder", c=c, single_u=_single(u), a=a, u=u)
        return posed("right", say, b, long=c, short=a, other=0)
    if how == "mast":
        say = WORDINGS.one("ladder, mast", a=a, u=u, b=b)
        return posed("right", say, c, long=0, short=a, other=b)
    if how == "screen":
        say = WORDINGS.one("ladder", c=c, u=u, a=a)
        return posed("garden", say, a * b, long=c, short=a)
    first, second = rng.choice((("north", "east"), ("south", "west"), ("west", "north")))
    say = WORDINGS.one("ladder 2", a=a, first=first, b=b, second=second)
    return posed("trip", say, a + b + c, short=a, other=b)


def _single(u: str) -> str:
    return {"feet": "foot", "meters": "meter"}.get(u, u)


def _isosceles_height(rng: Random) -> Problem:
    a, b, c = right_triangle(rng)
    u = unit(rng)
    x, y, z = letters(rng, 3)
    how = rng.choice(("area", "height", "perimeter"))
    if how == "area":
        say = WORDINGS.draw(rng, "isosceles height, area", base=2 * a, u=u, c=c, x=x, y=y, z=z)
        return posed("isosceles", say, a * b, how=how, base=2 * a, side=c)
    if how == "height":
        say = WORDINGS.one("isosceles height", c=c, u=u, a_times_2=2 * a)
        return posed("isosceles", say, b, how=how, base=2 * a, side=c)
    say = WORDINGS.draw(
        rng, "isosceles height 2", a_times_2=2 * a, u=u, a_times_b=a * b, x=x, y=y, z=z
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
        say = WORDINGS.draw(rng, "hypotenuse altitude, height", a=a, b=b, c=c, p=p, q=q)
        return posed("altitude", say, root(p * q), how=how, p=p, q=q)
    if how == "leg":
        say = WORDINGS.one("hypotenuse altitude 2", a=a, b=b, c=c, foot=foot, p=p, q=q)
        return posed("altitude", say, root(p * (p + q)), how=how, p=p, q=q)
    m, n, k = right_triangle(rng, 3)
    say = WORDINGS.draw(rng, "hypotenuse altitude", m=m, n=n, a=a, c=c, b=b)
    return posed("altitude", say, Fraction(m * n, k), how=how, p=m, q=n)


def _right_back(rng: Random) -> Problem:
    a, b, c = right_triangle(rng, 3)
    how = rng.choice(("perimeter_hypotenuse", "sum_hypotenuse", "difference", "slide"))
    u = rng.choice(("feet", "meters"))
    if how == "perimeter_hypotenuse":
        say = WORDINGS.draw(
            rng, "right back, perimeter_hypotenuse", a_plus_b_plus_c=a + b + c, c=c, u=u
        )
        return posed("back", say, a * b // 2, how=how, p=a + b + c, q=c)
    if how == "sum_hypotenuse":
        say = WORDINGS.one("right back", c=c, a_plus_b=a + b)
        return posed("back", say, (a + b - c) // 2, how=how, p=a + b, q=c)
    if how == "difference":
        say = WORDINGS.draw(rng, "right back, difference", c_minus_a=c - a, b=b, u=u)
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
    say = WORDINGS.one(
        "right back 2", c=c, u=_single(u), low=low, u_2=u, high_value=high - slide[1]
    )
    return posed("back", say, slide[0] - low, how=how, p=c, q=low, drop=high - slide[1])


_COSINES = {60: Fraction(1, 2), 120: Fraction(-1, 2)}


def _third_side(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    angle = rng.choice((60, 120))
    p, q = redrawn(lambda: (rng.randint(2, 16), rng.randint(2, 16)), lambda d: d[0] != d[1])
    square = int(p * p + q * q - 2 * p * q * _COSINES[angle])
    say = WORDINGS.draw(
        rng, "third side", a=a, b=b, c=c, p=p, q=q, angle=angle, other_angle=180 - angle
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
        say = WORDINGS.one("cosine 2", a=a, b=b, c=c, p=p, q=q, r=r)
        return posed(
            "cosine", say, Fraction(q * q + r * r - p * p, 2 * q * r), how=how, sides=[p, q, r]
        )
    if how == "largest":
        x, y, z = sorted((p, q, r))
        if y == z:
            return _cosine(rng)
        say = WORDINGS.draw(rng, "cosine, largest", p=p, q=q, r=r)
        return posed(
            "cosine", say, Fraction(x * x + y * y - z * z, 2 * x * y), how=how, sides=[p, q, r]
        )
    say = WORDINGS.draw(rng, "cosine", a=a, b=b, c=c, p=p, q=q, r=r)
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
        names = WORDINGS.draw(rng, "angle back, angle", a=a, b=b, c=c, p=p, r=r, q=q)
        return posed("angle_back", names, angle, how=how, p=p, q=q, r=r)
    if how == "difference":
        say = WORDINGS.one("angle back", a=a, b=b, c=c, angle=angle, r=r, p_plus_q=p + q)
        return posed("angle_back", say, p * q, how=how, p=p + q, q=angle, r=r)
    if angle == 60 and p > q:
        p, q = q, p
    # unique: for 60 degrees the given side is not longer than the side opposite the angle
    if angle == 60 and p >= r:
        return _angle_back(rng)
    say = WORDINGS.one("angle back 2", a=a, b=b, c=c, angle=angle, p=p, r=r)
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
    say = WORDINGS.draw(rng, "stewart", d=d, b=b, c=c, a=a, m=m, n=n, p=p, q=q)
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
