"""Problems on areas in the coordinate plane."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    grid_point,
    letters,
    line,
    point,
    slope_form,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import listed, terms
from prorl_datasets.procedural.math.problem import Problem, seldom
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_Point = tuple[int, int]


def _double_area(corners: list[_Point]) -> int:
    return sum(
        p[0] * q[1] - p[1] * q[0] for p, q in zip(corners, corners[1:] + corners[:1], strict=True)
    )


def _convex_polygon(rng: Random, count: int, size: int) -> list[_Point]:
    def draw() -> list[_Point]:
        spots = sorted({grid_point(rng, size) for _ in range(count + 3)})
        hull: list[_Point] = []
        for ordered in (spots, spots[::-1]):
            start = len(hull)
            for spot in ordered:
                while len(hull) >= start + 2 and _double_area([hull[-2], hull[-1], spot]) <= 0:
                    hull.pop()
                hull.append(spot)
            hull.pop()
        return hull

    hull = redrawn(draw, lambda h: len(h) == count)
    turn = rng.randrange(count)
    return hull[turn:] + hull[:turn]


def _triangle_area(rng: Random) -> Problem:
    along = rng.choice((True, False))
    (a, b), w, h = grid_point(rng, 9), rng.randint(3, 14), rng.randint(2, 12)
    top = a + rng.randint(-3, 9), b + h * rng.choice((-1, 1))
    corners = [(a, b), (a + w, b), top]
    if not along:
        corners = [(y, x) for x, y in corners]
    rng.shuffle(corners)
    p, q, r = letters(rng, 3)
    texts = [f"${n}{point(*c)}$" for n, c in zip((p, q, r), corners, strict=True)]
    say = WORDINGS.draw(
        rng, "triangle area", corner_list=listed(list(texts)), p=p, q=q, r=r, texts=listed(texts)
    )
    return posed("polygon", say, Fraction(w * h, 2), corners=corners)


def _polygon_area(rng: Random) -> Problem:
    count = rng.choice((4, 4, 5))
    corners = _convex_polygon(rng, count, 8)
    if rng.choice((True, False)):
        corners.reverse()
    figure = "quadrilateral" if count == 4 else "pentagon"
    texts = [f"${point(*c)}$" for c in corners]
    say = WORDINGS.draw(rng, "polygon area", figure=figure, texts=listed(texts))
    return posed("convex", say, Fraction(abs(_double_area(corners)), 2), corners=corners)


def _unknown_corner(rng: Random) -> Problem:
    axis = rng.choice("xy")
    p, q, k = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9), rng.randint(2, 15)),
        lambda d: (
            d[0][axis == "x"] != d[1][axis == "x"]
            and abs(_double_area([d[0], d[1], (d[2], 0) if axis == "x" else (0, d[2])])) > 3
        ),
    )
    corner = (k, 0) if axis == "x" else (0, k)
    twice = _double_area([p, q, corner])
    # the same area on the other side of the line: its parameter must not be positive
    slope = _double_area([p, q, (1, 0) if axis == "x" else (0, 1)]) - _double_area([p, q, (0, 0)])
    other = Fraction(-twice - _double_area([p, q, (0, 0)]), slope)
    if other > 0:
        return _unknown_corner(rng)
    free = "(k, 0)" if axis == "x" else "(0, k)"
    area = Fraction(abs(twice), 2)
    text = str(area.numerator) if area.denominator == 1 else f"{area.numerator / 2:.1f}"
    say = WORDINGS.draw(
        rng, "unknown corner", p=point(*p), q=point(*q), free=free, text=text, axis=axis
    )
    return posed("unknown_corner", say, k, p=p, q=q, axis=axis, area=text)


def _boundary_points(rng: Random) -> Problem:
    corners = _convex_polygon(rng, 3, 10)
    count = sum(
        gcd(p[0] - q[0], p[1] - q[1])
        for p, q in zip(corners, corners[1:] + corners[:1], strict=True)
    )
    if count < 6:
        return _boundary_points(rng)
    texts = [f"${point(*c)}$" for c in corners]
    say = WORDINGS.draw(rng, "boundary points", texts=listed(texts))
    return posed("border", say, count, corners=corners)


def _segment_points(rng: Random) -> Problem:
    (a, b), (u, v) = grid_point(rng, 15), redrawn(lambda: grid_point(rng, 6), lambda s: 0 not in s)
    k = rng.randint(3, 9)
    scale = gcd(u, v)
    u, v = u // scale, v // scale
    end = a + k * u, b + k * v
    inner = rng.choice((True, False))
    ends = "not counting its ends" if inner else "counting both of its ends"
    say = WORDINGS.draw(
        rng,
        "segment points",
        a=point(a, b),
        point=point(*end),
        ends=ends,
        how_many="How many other pegs lie between them on the path of the beam?"
        if inner
        else "How many pegs lie on its path, the first and the last included?",
    )
    return posed("segment", say, k - 1 if inner else k + 1, p=[a, b], q=end, inner=inner)


def _interior_points(rng: Random) -> Problem:
    corners = _convex_polygon(rng, rng.choice((3, 4)), 9)
    border = sum(
        gcd(p[0] - q[0], p[1] - q[1])
        for p, q in zip(corners, corners[1:] + corners[:1], strict=True)
    )
    inside = (abs(_double_area(corners)) - border + 2) // 2
    if inside < 5:
        return _interior_points(rng)
    figure = "triangle" if len(corners) == 3 else "convex quadrilateral"
    texts = [f"${point(*c)}$" for c in corners]
    say = WORDINGS.draw(rng, "interior points", figure=figure, texts=listed(texts))
    return posed("interior", say, inside, corners=corners)


def _axes_triangle(rng: Random) -> Problem:
    a, b = redrawn(
        lambda: (rng.choice((-1, 1)) * rng.randint(1, 9), rng.choice((-1, 1)) * rng.randint(1, 9)),
        lambda d: d[0] != d[1] and gcd(*d) == 1,
    )
    c = abs(a * b) * rng.randint(1, 4) if abs(a * b) < 25 else abs(a * b)
    if c < 4:
        return _axes_triangle(rng)
    say = WORDINGS.draw(rng, "axes triangle", a=line(a, b, c))
    scale = gcd(a, b, c) * (1 if a > 0 else -1)
    return posed(
        "axes", say, Fraction(c * c, 2 * abs(a * b)), a=a // scale, b=b // scale, c=c // scale
    )


def _three_lines(rng: Random) -> Problem:
    vertex = x, y = grid_point(rng, 5)
    m, n = redrawn(lambda: (rng.randint(-4, 4), rng.randint(-4, 4)), lambda d: len({0, *d}) == 3)
    gap = rng.choice((-1, 1)) * rng.randint(2, 9)
    level = rng.choice((True, False))
    if level:  # a horizontal third line
        h = y + gap
        base = abs(Fraction(gap, m) - Fraction(gap, n))
        third = f"y = {h}"
    else:
        h = x + gap
        base = Fraction(abs(gap * (m - n)))
        third = f"x = {h}"
    first, second = (slope_form(s, y - s * vertex[0]) for s in (m, n))
    say = WORDINGS.draw(rng, "three lines", first=first, second=second, third=third)
    return posed(
        "three_lines",
        say,
        base * abs(gap) / 2,
        lines=[[m, y - m * x], [n, y - n * x]],
        level=level,
        at=h,
    )


def _absolute(rng: Random) -> Problem:
    a, b = redrawn(lambda: (rng.randint(1, 6), rng.randint(1, 6)), lambda d: gcd(*d) == 1)
    c = a * b * rng.randint(1, 5)
    h, k = grid_point(rng, 5)
    if c < 4:
        return _absolute(rng)

    def size(coefficient: int, name: str, at: int) -> str:
        shift = "" if at == 0 else f" - {at}" if at > 0 else f" + {-at}"
        return f"{'' if coefficient == 1 else coefficient}|{name}{shift}|"

    left = f"{size(a, 'x', h)} + {size(b, 'y', k)}"
    say = WORDINGS.draw(rng, "absolute", left=left, c=c)
    return posed("absolute", say, Fraction(2 * c * c, a * b), a=a, b=b, c=c, h=h, k=k)


def _halving(rng: Random) -> Problem:
    w, h = rng.randint(4, 14), rng.randint(4, 14)
    x, y = grid_point(rng, 4)
    corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    slope = rng.choice((2, 3, -2, -3, 1, -1))
    middle = Fraction(2 * x + w, 2), Fraction(2 * y + h, 2)
    answer = middle[1] - slope * middle[0]
    texts = [f"${point(*c)}$" for c in corners]
    say = WORDINGS.draw(
        rng, "halving", slope_x=terms([(slope, "x")]), texts=listed(texts), slope=slope
    )
    return posed("halving", say, answer, corners=corners, slope=slope)


FAMILIES = (
    of_kinds(
        "geometry_polygon_areas",
        (_triangle_area,),
        (_polygon_area,),
        (_unknown_corner,),
        "areas of polygons from coordinates",
    ),
    seldom(
        of_kinds(
            "geometry_lattice_points",
            (_segment_points,),
            (_boundary_points,),
            (_interior_points,),
            "lattice points on segments and in polygons",
        ),
        "6",
    ),
    of_kinds(
        "geometry_regions_between_lines",
        (_axes_triangle,),
        (_three_lines, _halving),
        (_absolute, _three_lines),
        "areas of regions bounded by lines",
    ),
)
