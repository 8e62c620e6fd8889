"""Problems on quadrilaterals, regular polygons, composite figures and paper folding."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    letters,
    others,
    right_triangle,
    unit,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _rhombus(rng: Random) -> Problem:
    a, b, c = right_triangle(rng)
    u = unit(rng)
    w, x, y, z = letters(rng, 4)
    how = rng.choice(("area", "perimeter", "diagonal"))
    if how == "area":
        say = WORDINGS.draw(rng, "rhombus, area", c=c, u=u, twice_a=2 * a, w=w, x=x, y=y, z=z)
        return posed("rhombus", say, 2 * a * b, how=how, p=c, q=2 * a)
    if how == "perimeter":
        say = WORDINGS.draw(rng, "rhombus, perimeter", twice_a=2 * a, u=u, twice_b=2 * b)
        return posed("rhombus", say, 4 * c, how=how, p=2 * a, q=2 * b)
    say = WORDINGS.one("rhombus", w=w, x=x, y=y, z=z, c_times_4=4 * c, a_times_2=2 * a)
    return posed("rhombus", say, 2 * b, how=how, p=4 * c, q=2 * a)


def _trapezoid(rng: Random) -> Problem:
    a, h, c = right_triangle(rng, 3)
    top = rng.randint(2, 20)
    u = unit(rng)
    w, x, y, z = letters(rng, 4)
    how = rng.choice(("area", "height", "diagonal"))
    if how == "area":
        say = WORDINGS.draw(
            rng,
            "trapezoid, area",
            top=top,
            u=u,
            top_plus_twice_a=top + 2 * a,
            c=c,
            w=w,
            x=x,
            y=y,
            z=z,
        )
        return posed("trapezoid", say, (top + a) * h, how=how, values=[top, top + 2 * a, c])
    if how == "height":
        area = (top + a) * h
        say = WORDINGS.one("trapezoid", area=area, u=u, top=top, top_value=top + 2 * a)
        return posed("trapezoid", say, c, how=how, values=[top, top + 2 * a, area])
    square = (top + a) ** 2 + h * h
    say = WORDINGS.one("trapezoid 2", top=top, top_value=top + 2 * a, c=c)
    return posed("trapezoid", say, root(square), how=how, values=[top, top + 2 * a, c])


def _right_trapezoid(rng: Random) -> Problem:
    a, h, c = right_triangle(rng, 3)
    top = rng.randint(2, 20)
    w, x, y, z = letters(rng, 4)
    unit(rng)
    how = rng.choice(("perimeter", "base"))
    if how == "perimeter":
        say = WORDINGS.draw(
            rng, "right trapezoid, perimeter", w=w, x=x, y=y, z=z, top=top, h=h, c=c
        )
        return posed("right_trapezoid", say, 2 * top + a + h + c, how=how, values=[top, h, c])
    area = top * h + Fraction(a * h, 2)
    say = WORDINGS.one("right trapezoid", top=top, top_plus_a=top + a, area=fraction(area))
    if area.denominator > 1:
        return _right_trapezoid(rng)
    return posed("right_trapezoid", say, c, how=how, values=[top, top + a, area.numerator])


def _four_right(rng: Random) -> Problem:
    def draw() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        return right_triangle(rng, 8), right_triangle(rng, 8)

    one, two = redrawn(
        draw,
        lambda d: (
            (d[0][2] == d[1][2] and {*d[0][:2]} != {*d[1][:2]})
            or (d[0][2] in d[1][:2] and d[1][2] < 80)
        ),
    )
    w, x, y, z = letters(rng, 4)
    if one[2] == two[2]:
        say = WORDINGS.draw(rng, "four right", w=w, x=x, y=y, z=z, one=one, two=two)
        return posed(
            "four",
            say,
            (one[0] * one[1] + two[0] * two[1]) // 2,
            how="opposite",
            values=[one[0], one[1], two[0]],
        )
    other = two[0] if two[1] == one[2] else two[1]
    say = WORDINGS.draw(rng, "four right, 2", w=w, x=x, y=y, z=z, one=one, other=other, two=two)
    given = [one[0], one[1], other] + ([two[2]] if "plot" in say else [])
    return posed("four", say, (one[0] * one[1] + one[2] * other) // 2, how="diagonal", values=given)


def _hexagon(rng: Random) -> Problem:
    s = rng.randint(2, 14)
    how = rng.choice(("area", "width", "triangle", "short"))
    u = unit(rng)
    if how == "area":
        say = WORDINGS.draw(rng, "hexagon, area", s=s, u=u)
        return posed("hexagon", say, root(3, Fraction(3 * s * s, 2)), how=how, s=s)
    if how == "width":
        say = WORDINGS.one("hexagon", s=s)
        return posed("hexagon", say, root(3, s), how=how, s=s)
    if how == "triangle":
        say = WORDINGS.draw(rng, "hexagon, triangle", s=s)
        return posed("hexagon", say, root(3, Fraction(3 * s * s, 4)), how=how, s=s)
    say = WORDINGS.one("hexagon 2", s=s)
    return posed("hexagon", say, root(13, Fraction(s, 2)), how=how, s=s)


def _border(rng: Random) -> Problem:
    return _frame(rng, back=False)


def _border_width(rng: Random) -> Problem:
    return _frame(rng, back=True)


def _frame(rng: Random, back: bool) -> Problem:
    w, h, d = redrawn(
        lambda: (rng.randint(5, 40), rng.randint(4, 30), rng.randint(1, 6)), lambda t: t[0] != t[1]
    )
    border = (w + 2 * d) * (h + 2 * d) - w * h
    thing = rng.choice(("A rectangular lawn", "A swimming pool", "A rectangular flower bed"))
    if back:
        say = WORDINGS.draw(rng, "frame, back", thing=thing, w=w, h=h, border=border)
        return posed("frame", say, d, w=w, h=h, value=border, back=True)
    if d == 1:
        return _frame(rng, back)
    say = WORDINGS.draw(rng, "frame", thing=thing, w=w, h=h, d=d)
    return posed("frame", say, border, w=w, h=h, value=d, back=False)


def _l_shape(rng: Random) -> Problem:
    w, h, a, b = redrawn(
        lambda: (rng.randint(6, 25), rng.randint(6, 25), rng.randint(2, 20), rng.randint(2, 20)),
        lambda t: t[0] != t[1] and t[2] < t[0] - 1 and t[3] < t[1] - 1 and t[2] != t[3],
    )
    how = rng.choice(("area", "perimeter", "back"))
    area = w * h - a * b
    if how == "back":
        say = WORDINGS.one("l shape", w=w, h=h, area=area, a=a)
        return posed("l_shape", say, b, how=how, values=[w, h, area, a])
    what = "area in square meters" if how == "area" else "perimeter in meters"
    say = WORDINGS.draw(
        rng, "l shape 2", w=w, h=h, a=a, b=b, what=what, w_minus_a=w - a, h_minus_b=h - b
    )
    values = [w, h, w - a, b, a, h - b] if "L-shaped" in say else [w, h, a, b]
    return posed("l_shape", say, area if how == "area" else 2 * (w + h), how=how, values=values)


def _midpoint_square(rng: Random) -> Problem:
    s = rng.randint(2, 20) * 2
    how = rng.choice(("lines", "overlap", "corners"))
    a, b, c, d = letters(rng, 4)
    if how == "lines":
        k = rng.choice((2, 3, 4))
        say = WORDINGS.draw(rng, "midpoint square", a=a, b=b, c=c, d=d, s_value=s * k // 2, k=k)
        side = Fraction(s * k // 2)
        return posed(
            "midpoints",
            say,
            side * side * (1 + (k - 1) ** 2) / k**2,
            how=how,
            side=side.numerator,
            k=k,
        )
    (m, n) = others(rng, a + b + c + d, 2)
    if how == "overlap":
        say = WORDINGS.one("midpoint square 2", a=a, b=b, c=c, d=d, s=s, m=m, n=n)
        return posed("midpoints", say, Fraction(s * s, 6), how=how, side=s, k=2)
    say = WORDINGS.one("midpoint square 3", m=m, n=n, b=b, c=c, d=d, a=a, s=s)
    return posed("midpoints", say, Fraction(3 * s * s, 8), how=how, side=s, k=2)


def _crease(rng: Random) -> Problem:
    w, x, y, z = letters(rng, 4)
    p, q = redrawn(lambda: (rng.randint(4, 24), rng.randint(3, 20)), lambda d: d[0] > d[1])
    how = rng.choice(("crease", "overlap", "piece"))
    setting = WORDINGS.draw(rng, "crease", p=p, q=q, w=w, x=x, y=y, z=z)
    square = p * p + q * q
    if how == "crease":
        say = f"{setting} Exactly how long is the crease?"
        return posed("crease", say, root(square, Fraction(q, p)), how=how, p=p, q=q)
    if how == "overlap":
        say = f"{setting} What is the area of the part where the paper lies double?"
        return posed("crease", say, Fraction(square, 2 * p) * q / 2, how=how, p=p, q=q)
    say = f"{setting} Find the area of the region that the folded sheet covers."
    return posed("crease", say, p * q - Fraction(square * q, 4 * p), how=how, p=p, q=q)


def _corner_lands(rng: Random) -> Problem:
    return _corner_fold(rng, ("reach",))


def _corner_crease(rng: Random) -> Problem:
    return _corner_fold(rng, ("rest", "area"))


def _corner_fold(rng: Random, asked: tuple[str, ...]) -> Problem:
    k = rng.randint(1, 3)
    a, b, c = rng.choice(TRIPLES[:4])
    if rng.choice((True, False)):
        a, b = b, a
    # AD' = AD = c k, AB = b k, BD' = a k; height of the rectangle AB = b k
    wide, high, reach = c * k, b * k, a * k
    w, x, y, z = letters(rng, 4)
    (m, n) = others(rng, w + x + y + z, 2)
    how = rng.choice(asked)
    cz = Fraction((wide - reach) ** 2 + high**2, 2 * high)  # ZN = NM
    setting = WORDINGS.one("corner fold setting", w=w, x=x, y=y, z=z, high=high, wide=wide, m=m)
    if how == "reach":
        return posed("corner", f"{setting} Find ${m}{y}$.", wide - reach, how=how, p=high, q=wide)
    setting += f" The crease meets $\\overline{{{y}{z}}}$ at ${n}$."
    if how == "rest":
        return posed("corner", f"{setting} Find ${n}{z}$.", cz, how=how, p=high, q=wide)
    return posed(
        "corner",
        f"{setting} What is the area of triangle ${w}{m}{n}$?",
        cz * wide / 2,
        how=how,
        p=high,
        q=wide,
    )


FAMILIES = (
    of_kinds(
        "geometry_quadrilaterals",
        (_rhombus,),
        (_trapezoid, _right_trapezoid),
        (_four_right,),
        "rhombi, trapezoids and quadrilaterals cut into right triangles",
    ),
    of_kinds(
        "geometry_composite_areas",
        (_border, _l_shape),
        (_hexagon, _border_width),
        (_midpoint_square,),
        "frames, L-shapes, hexagons and figures inside squares",
    ),
    of_kinds(
        "geometry_folded_paper",
        (_l_shape, _corner_lands),
        (_corner_crease,),
        (_crease,),
        "sheets cut and folded",
    ),
)
