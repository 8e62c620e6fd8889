"""Problems on lines in the coordinate plane."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    grid_point,
    letters,
    line,
    line_form,
    point,
    slope_form,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _triangle(rng: Random) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Return three points with no side parallel to an axis."""
    return redrawn(
        lambda: (grid_point(rng, 8), grid_point(rng, 8), grid_point(rng, 8)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
            and all(t[i][k] != t[j][k] for i, j in ((0, 1), (0, 2), (1, 2)) for k in (0, 1))
        ),
    )


def _parallel(rng: Random) -> Problem:
    m = Fraction(*rng.choice(((2, 1), (-2, 1), (3, 1), (-3, 1), (1, 2), (-1, 2), (2, 3), (-3, 2))))
    c, (x, y) = rng.randint(-9, 9), redrawn(lambda: grid_point(rng, 8), lambda s: s[0] != 0)
    x *= m.denominator
    perpendicular = rng.choice((True, False))
    slope = -1 / m if perpendicular else m
    if perpendicular:
        x = x // m.denominator * m.numerator
    word = "perpendicular" if perpendicular else "parallel"
    answer = y - slope * x
    say = WORDINGS.draw(rng, "parallel", x=point(x, y), word=word, m=slope_form(m, c))
    return posed(
        "parallel",
        say,
        answer,
        slope=[m.numerator, m.denominator],
        intercept=c,
        p=[x, y],
        perpendicular=perpendicular,
    )


def _third_on_line(rng: Random) -> Problem:
    (a, b), (u, v) = grid_point(rng, 8), redrawn(lambda: grid_point(rng, 5), lambda s: 0 not in s)
    i, j = redrawn(lambda: (rng.randint(-4, 6), rng.randint(-4, 6)), lambda d: len({0, *d}) == 3)
    p, q, t = (a, b), (a + i * u, b + i * v), (a + j * u, b + j * v)
    say = WORDINGS.draw(rng, "third on line", p=point(*p), q=point(*q), t_one=point(t[0], "k"), t=t)
    return posed("collinear", say, t[1], p=p, q=q, x=t[0])


def _bisector(rng: Random) -> Problem:
    p, q = redrawn(
        lambda: (grid_point(rng, 8), grid_point(rng, 8)),
        lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1],
    )
    a, b = 2 * (q[0] - p[0]), 2 * (q[1] - p[1])
    c = sum(v * v for v in q) - sum(v * v for v in p)
    n, m = letters(rng, 3)[:2]
    say = WORDINGS.draw(
        rng,
        "bisector",
        point_p=point(*p),
        point_q=point(*q),
        line_form=line_form(rng),
        n=n,
        m=m,
        line_form_2=line_form(rng),
        line_form_3=line_form(rng),
    )
    return posed("bisector", say, line(a, b, c), p=p, q=q)


def _median(rng: Random) -> Problem:
    p, q, t = _triangle(rng)
    mx, my = q[0] + t[0] - 2 * p[0], q[1] + t[1] - 2 * p[1]
    if my == 0:
        return _median(rng)
    a, b, c = letters(rng, 3)
    say = WORDINGS.draw(
        rng,
        "median 2",
        a=a,
        b=b,
        c=c,
        point_p=point(*p),
        point_q=point(*q),
        point_t=point(*t),
        line_form=line_form(rng),
        line_form_2=line_form(rng),
    )
    return posed("median", say, line(my, -mx, my * p[0] - mx * p[1]), p=p, q=q, t=t)


def _altitude(rng: Random) -> Problem:
    p, q, t = _triangle(rng)
    u, v = t[0] - q[0], t[1] - q[1]
    a, b, c = letters(rng, 3)
    say = WORDINGS.draw(
        rng,
        "altitude 2",
        a=a,
        b=b,
        c=c,
        point=point(*p),
        point_point=point(*q),
        point_point_2=point(*t),
        line_form=line_form(rng),
        line_form_2=line_form(rng),
    )
    return posed("altitude", say, line(u, v, u * p[0] + v * p[1]), p=p, q=q, t=t)


def _orthocenter(rng: Random) -> Problem:
    def solve(p: tuple[int, int], q: tuple[int, int], t: tuple[int, int]) -> list[Fraction]:
        a1, b1 = t[0] - q[0], t[1] - q[1]
        a2, b2 = t[0] - p[0], t[1] - p[1]
        c1, c2 = a1 * p[0] + b1 * p[1], a2 * q[0] + b2 * q[1]
        det = a1 * b2 - a2 * b1
        return [Fraction(c1 * b2 - c2 * b1, det), Fraction(a1 * c2 - a2 * c1, det)]

    p, q, t = redrawn(
        lambda: _triangle(rng),
        lambda d: (
            all(v.denominator == 1 for v in solve(*d)) and solve(*d) not in [list(v) for v in d]
        ),
    )
    a, b, c = letters(rng, 3)
    say = WORDINGS.draw(
        rng,
        "orthocenter",
        point=point(*p),
        point_point=point(*q),
        point_point_2=point(*t),
        a=a,
        b=b,
        c=c,
    )
    x, y = solve(p, q, t)
    return posed("orthocenter", say, point(x, y), p=p, q=q, t=t)


def _slanted(rng: Random) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Return integers a, b, c of a line ax + by = c, a point off the line, and the point's foot on it."""
    a, b = rng.choice(((1, 2), (2, 1), (1, -2), (1, 3), (3, 1), (2, 3), (3, -2), (1, 1), (3, 4)))
    fx, fy = grid_point(rng, 6)
    k = rng.choice((-3, -2, -1, 1, 2, 3))
    return a, b, a * fx + b * fy, (fx + k * a, fy + k * b), (fx, fy)


def _foot(rng: Random) -> Problem:
    a, b, c, p, f = _slanted(rng)
    n = letters(rng, 3)[0]
    say = WORDINGS.draw(
        rng, "foot", p=point(*p), a=line(a, b, c), n=n, q_or_t="Q" if n != "Q" else "T"
    )
    return posed("foot", say, point(*f), a=a, b=b, c=c, p=p)


def _mirror(rng: Random) -> Problem:
    a, b, c, p, f = _slanted(rng)
    n = letters(rng, 3)[0]
    say = WORDINGS.draw(rng, "mirror", n=n, p=point(*p), a=line(a, b, c))
    return posed("mirror", say, point(2 * f[0] - p[0], 2 * f[1] - p[1]), a=a, b=b, c=c, p=p)


def _simple_mirror(rng: Random) -> Problem:
    k = rng.randint(-6, 6)
    p = grid_point(rng, 9)
    how = rng.choice(("x", "y", "diagonal", "anti"))
    text, image = {
        "x": (f"x = {k}", (2 * k - p[0], p[1])),
        "y": (f"y = {k}", (p[0], 2 * k - p[1])),
        "diagonal": ("y = x", (p[1], p[0])),
        "anti": ("y = -x", (-p[1], -p[0])),
    }[how]
    if image == p:
        return _simple_mirror(rng)
    n = letters(rng, 3)[0]
    if how in ("diagonal", "anti"):
        k = 0
    say = WORDINGS.draw(rng, "simple mirror", p=point(*p), text=text, n=n)
    return posed("simple_mirror", say, point(*image), how=how, k=k, p=p)


def _gap(rng: Random) -> Problem:
    a, b = rng.choice(((3, 4), (4, -3), (5, 12), (1, 1), (1, 2), (2, -1), (1, -3), (2, 3)))
    c = rng.randint(-12, 12)
    p = redrawn(lambda: grid_point(rng, 8), lambda s: a * s[0] + b * s[1] != c)
    size = a * a + b * b
    distance = root(size, Fraction(abs(a * p[0] + b * p[1] - c), size))
    say = WORDINGS.draw(rng, "gap", p=point(*p), a=line(a, b, c))
    return posed("gap", say, distance, a=a, b=b, c=c, p=p)


def _mirrored_line(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (rng.randint(1, 5), rng.choice((-5, -4, -3, -2, 2, 3, 4, 5)), rng.randint(-9, 9)),
        lambda d: abs(d[0]) != abs(d[1]) and d[2] != 0,
    )
    a, b, c = (v // gcd(a, b, c) for v in (a, b, c))  # as ``line`` writes them
    k = redrawn(lambda: rng.randint(-4, 4), lambda v: v != 0)
    how = rng.choice(("x", "y", "diagonal"))
    mirror, image = {
        "x": (f"x = {k}", (-a, b, c - 2 * a * k)),
        "y": (f"y = {k}", (a, -b, c - 2 * b * k)),
        "diagonal": ("y = x", (b, a, c)),
    }[how]
    say = WORDINGS.draw(
        rng,
        "mirrored line",
        line_a_b_c=line(a, b, c),
        mirror=mirror,
        line_form=line_form(rng),
        line_form_2=line_form(rng),
    )
    return posed(
        "mirrored_line", say, line(*image), a=a, b=b, c=c, how=how, k=0 if how == "diagonal" else k
    )


FAMILIES = (
    of_kinds(
        "geometry_lines_of_triangles",
        (_parallel, _third_on_line),
        (_bisector, _median, _altitude),
        (_orthocenter, _altitude),
        "equations of parallels, bisectors, medians and altitudes",
    ),
    of_kinds(
        "geometry_feet_and_mirrors",
        (_simple_mirror,),
        (_foot, _gap),
        (_mirror, _mirrored_line),
        "distance to a line and reflection in it",
    ),
)
