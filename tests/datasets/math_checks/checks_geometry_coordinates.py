from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy as sp  # type: ignore[import-untyped,unused-ignore]
from measuring import by_kind, one

X, Y, T = sp.symbols("x y t", real=True)


def tex(value: Any) -> str:
    if isinstance(value, (int, Fraction)) or value.is_Rational:
        return str(value)
    return str(sp.latex(sp.radsimp(sp.simplify(value))))


def pair(x: Any, y: Any) -> str:
    return f"({tex(x)}, {tex(y)})"


def solved(*equations: Any) -> str:
    """Return the only point (x, y) that satisfies the equations."""
    found = one(sp.solve(equations, (X, Y), dict=True))
    return pair(found[X], found[Y])


def far(p: Any, x: Any = X, y: Any = Y) -> Any:
    """Return the squared distance from (x, y) to p."""
    return (x - p[0]) ** 2 + (y - p[1]) ** 2


def other_end(end: Any, middle: Any) -> str:
    return solved(X + end[0] - 2 * middle[0], Y + end[1] - 2 * middle[1])


def half(p: Any, q: Any) -> str:
    mid = sp.Point(p).midpoint(sp.Point(q))
    assert mid.distance(sp.Point(p)) == mid.distance(sp.Point(q))
    return tex(mid.distance(sp.Point(q)))


def section(p: Any, q: Any, ratio: Any) -> str:
    at = one(s for s in sp.solve(T * ratio[1] - (1 - T) * ratio[0], T) if 0 < s < 1)
    return pair(p[0] + at * (q[0] - p[0]), p[1] + at * (q[1] - p[1]))


def beyond(p: Any, q: Any, k: int) -> str:
    x, y = p[0] + T * (q[0] - p[0]), p[1] + T * (q[1] - p[1])
    at = one(s for s in sp.solve(far(p, x, y) - k * k * far(p, *q), T) if s > 1)
    return pair(x.subs(T, at), y.subs(T, at))


def centroid(p: Any, q: Any, g: Any) -> str:
    # on the line from the midpoint of pq through g, twice as far from g
    mid = sp.Point(p).midpoint(sp.Point(q))
    found = sp.Point(g) + (sp.Point(g) - mid) * 2
    assert sp.Triangle(sp.Point(p), sp.Point(q), found).centroid == sp.Point(g)
    return pair(found.x, found.y)


def two_sections(p: Any, q: Any, t: Any, first: Any, second: Any) -> str:
    # masses at the vertices: those at p and q balance at d, that of d and of t at e
    at_p, at_q = first[1], first[0]
    at_t = Fraction((at_p + at_q) * second[1], second[0])
    whole = at_p + at_q + at_t
    x, y = ((at_p * p[i] + at_q * q[i] + at_t * t[i]) / whole for i in (0, 1))
    return f"({x}, {y})"


def perimeter(corners: Any, whole: bool) -> str:
    sides = [sp.Point(corners[i]).distance(sp.Point(corners[i - 1])) for i in range(3)]
    longest = max(sides, key=lambda s: float(s))
    assert sum(s**2 for s in sides) == 2 * longest**2
    return tex(sum(sides)) if whole else tex(longest)


def on_axis(p: Any, q: Any, axis: str) -> str:
    spot = (T, 0) if axis == "x" else (0, T)
    return tex(one(sp.solve(far(p, *spot) - far(q, *spot), T)))


def at_distance(center: Any, y: int, r: int, bigger: bool) -> str:
    both = sp.solve(far(center, T, y) - r * r, T)
    assert len(both) == 2
    return tex(max(both) if bigger else min(both))


def circumcenter(p: Any, q: Any, t: Any) -> str:
    found = sp.Triangle(*(sp.Point(c) for c in (p, q, t))).circumcenter
    return pair(found.x, found.y)


def on_line(p: Any, q: Any, slope: int, intercept: int) -> str:
    return solved(Y - slope * X - intercept, far(p) - far(q))


def fourth(a: Any, b: Any, c: Any) -> str:
    return solved(X - a[0] - (c[0] - b[0]), Y - c[1] - (a[1] - b[1]))


def square(p: Any, q: Any, turn: int, last: bool) -> str:
    u, v = q[0] - p[0], q[1] - p[1]
    spots = []
    for x in range(-60, 61):
        for y in range(-60, 61):  # the corner s: as far from p as q, at a right angle, on the side
            if (x * u + y * v, x * x + y * y) == (0, u * u + v * v) and turn * (u * y - v * x) > 0:
                spots.append((x, y))
    x, y = one(spots)
    return pair(p[0] + x, p[1] + y) if last else pair(q[0] + x, q[1] + y)


def diagonal(p: Any, r: Any, right: bool) -> str:
    mid = [Fraction(p[i] + r[i], 2) for i in (0, 1)]
    found = sp.solve((far(p) - far(r), far(mid) - far(mid, *p)), (X, Y))
    assert len(found) == 2 and found[0][0] != found[1][0]
    return pair(*(max(found) if right else min(found)))


def all_fourths(a: Any, b: Any, c: Any, axis: str, which: str) -> str:
    i = "xy".index(axis)
    found = {(p[0] + r[0] - q[0], p[1] + r[1] - q[1]) for p, q, r in permutations((a, b, c))}
    assert len(found) == 3
    values = [d[i] for d in found]
    return str(max(values) if which == "largest" else values[0] * values[1] * values[2])


def standard(made: Any) -> str:
    """Return a sympy line as ax + by = c in the form that the question asks for."""
    a, b, c = (Fraction(int(v.p), int(v.q)) for v in map(sp.nsimplify, made.coefficients))
    scale = 1
    while any((scale * v).denominator > 1 for v in (a, b, c)):
        scale += 1
    return f"{scale * a}x + {scale * b}y = {-scale * c}".replace("+ -", "- ")


def parallel(slope: Any, intercept: int, p: Any, perpendicular: bool) -> str:
    given = sp.Line(sp.Point(0, intercept), slope=sp.Rational(*slope))
    made = (given.perpendicular_line if perpendicular else given.parallel_line)(sp.Point(p))
    return tex(one(made.intersection(sp.Line((0, 0), (0, 1)))).y)


def collinear(p: Any, q: Any, x: int) -> str:
    rises = [
        k for k in range(-300, 301) if (q[0] - p[0]) * (k - p[1]) == (q[1] - p[1]) * (x - p[0])
    ]
    return str(one(rises))


def bisector(p: Any, q: Any) -> str:
    return standard(sp.Segment(sp.Point(p), sp.Point(q)).perpendicular_bisector())


def median(p: Any, q: Any, t: Any) -> str:
    return standard(sp.Line(sp.Point(p), sp.Point(q).midpoint(sp.Point(t))))


def altitude(p: Any, q: Any, t: Any) -> str:
    return standard(sp.Line(sp.Point(q), sp.Point(t)).perpendicular_line(sp.Point(p)))


def orthocenter(p: Any, q: Any, t: Any) -> str:
    # Euler's line: the orthocenter is the sum of the vertices less twice the circumcenter
    o = sp.Triangle(*(sp.Point(c) for c in (p, q, t))).circumcenter
    return pair(p[0] + q[0] + t[0] - 2 * o.x, p[1] + q[1] + t[1] - 2 * o.y)


def foot(a: int, b: int, c: int, p: Any) -> str:
    # the nearest point of the line by a derivative, not a projection
    y = (c - a * X) / sp.Integer(b)
    x = one(sp.solve(sp.diff(far(p, X, y), X), X))
    return pair(x, y.subs(X, x))


def _image(p: Any, a: int, b: int, c: int) -> tuple[Any, Any]:
    """Return the image of p when the plane is folded along ax + by = c."""
    found = one(
        sp.solve(
            (a * (X + p[0]) + b * (Y + p[1]) - 2 * c, b * (X - p[0]) - a * (Y - p[1])),
            (X, Y),
            dict=True,
        )
    )
    return found[X], found[Y]


def mirror(a: int, b: int, c: int, p: Any) -> str:
    return pair(*_image(p, a, b, c))


def _mirrors(how: str, k: int) -> tuple[int, int, int]:
    return {"x": (1, 0, k), "y": (0, 1, k), "diagonal": (1, -1, 0), "anti": (1, 1, 0)}[how]


def simple_mirror(how: str, k: int, p: Any) -> str:
    found = _image(p, *_mirrors(how, k))
    assert list(found) != list(p)
    return pair(*found)


def gap(a: int, b: int, c: int, p: Any) -> str:
    return tex(sp.Line(sp.Eq(a * X + b * Y, c)).distance(sp.Point(p)))


def mirrored_line(a: int, b: int, c: int, how: str, k: int) -> str:
    ends = [(0, sp.Rational(c, b)), (1, sp.Rational(c - a, b))]
    return standard(sp.Line(*(sp.Point(*_image(e, *_mirrors(how, k))) for e in ends)))


def polygon(corners: Any) -> Fraction:
    """Return the area by Pick's theorem from counted points."""
    turns = set()
    for i in range(len(corners)):
        (a, b), (c, d), (e, f) = corners[i - 2], corners[i - 1], corners[i]
        turns.add((c - a) * (f - d) - (d - b) * (e - c) > 0)
        assert (c - a) * (f - d) != (d - b) * (e - c), "three corners on a line"
    assert len(turns) == 1, "not convex, or the corners not in order"
    grid = [(x, y) for x in range(-24, 25) for y in range(-24, 25)]
    inside = sum(_within(x, y, corners) for x, y in grid)
    return inside + Fraction(sum(_on_border(x, y, corners) for x, y in grid), 2) - 1


def unknown_corner(p: Any, q: Any, axis: str, area: str) -> str:
    spot = (T, 0) if axis == "x" else (0, T)
    twice = sp.Matrix([[*p, 1], [*q, 1], [*spot, 1]]).det()
    wanted = 2 * sp.Rational(area)
    return tex(one(k for s in (1, -1) for k in sp.solve(twice - s * wanted, T) if k > 0))


def _sides(corners: Any) -> list[tuple[Any, Any]]:
    return [(corners[i - 1], corners[i]) for i in range(len(corners))]


def _on_border(x: int, y: int, corners: Any) -> bool:
    return any(
        (q[0] - p[0]) * (y - p[1]) == (q[1] - p[1]) * (x - p[0])
        and min(p[0], q[0]) <= x <= max(p[0], q[0])
        and min(p[1], q[1]) <= y <= max(p[1], q[1])
        for p, q in _sides(corners)
    )


def _within(x: int, y: int, corners: Any) -> bool:
    signs = {
        (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) > 0 for p, q in _sides(corners)
    }
    return len(signs) == 1 and not _on_border(x, y, corners)


def border(corners: Any) -> int:
    grid = range(-12, 13)
    return sum(_on_border(x, y, corners) for x in grid for y in grid)


def interior(corners: Any) -> int:
    polygon(corners)
    grid = range(-12, 13)
    return sum(_within(x, y, corners) for x in grid for y in grid)


def segment(p: Any, q: Any, inner: bool) -> int:
    count = 0
    for x in range(min(p[0], q[0]), max(p[0], q[0]) + 1):
        y = Fraction((q[1] - p[1]) * (x - p[0]), q[0] - p[0]) + p[1]
        count += y.denominator == 1
    return count - 2 if inner else count


def axes(a: int, b: int, c: int) -> str:
    made = sp.Line(sp.Eq(a * X + b * Y, c))
    x = one(made.intersection(sp.Line((0, 0), (1, 0))))
    y = one(made.intersection(sp.Line((0, 0), (0, 1))))
    return tex(abs(sp.Triangle(sp.Point(0, 0), x, y).area))


def three_lines(lines: Any, level: bool, at: int) -> str:
    first, second = (sp.Line(sp.Point(0, c), slope=m) for m, c in lines)
    third = sp.Line((0, at), (1, at)) if level else sp.Line((at, 0), (at, 1))
    corners = [
        one(p.intersection(q)) for p, q in ((first, second), (second, third), (third, first))
    ]
    return tex(abs(sp.Triangle(*corners).area))


def absolute(a: int, b: int, c: int, h: int, k: int) -> str:
    # four times the integral over a quadrant from the middle
    return tex(4 * sp.integrate((c - a * X) / sp.Integer(b), (X, 0, sp.Rational(c, a))))


def halving(corners: Any, slope: int) -> str:
    xs, ys = sorted({c[0] for c in corners}), sorted({c[1] for c in corners})
    found = []
    for twice in range(-400, 401):  # b in halves: cut the rectangle and measure both parts
        cut = sp.Rational(twice, 2)
        if _left_part(xs, ys, slope, Fraction(twice, 2)) * 2 == (xs[1] - xs[0]) * (ys[1] - ys[0]):
            found.append(cut)
    return tex(one(found))


def _left_part(xs: Any, ys: Any, slope: int, cut: Fraction) -> Any:
    """Return the area of the rectangle below y = slope x + cut by clipping its polygon."""
    corners = [(xs[0], ys[0]), (xs[1], ys[0]), (xs[1], ys[1]), (xs[0], ys[1])]
    below: list[tuple[Any, Any]] = []
    for p, q in _sides(corners):
        fp, fq = (slope * c[0] + cut - c[1] for c in (p, q))
        if fp * fq < 0:
            at = fp / (fp - fq)
            below.append((p[0] + at * (q[0] - p[0]), p[1] + at * (q[1] - p[1])))
        if fq >= 0:
            below.append(q)
    return abs(sum((p[0] * q[1] - p[1] * q[0] for p, q in _sides(below)), Fraction(0))) / 2


def _equation(h: Any, k: Any, square: Any) -> str:
    return f"(x - ({h}))^2 + (y - ({k}))^2 = {square}"


def center(h: int, k: int, rest: int, asked: str) -> str:
    x, y = sp.solve((sp.diff(X**2 + h * X, X), sp.diff(Y**2 + k * Y, Y)), (X, Y)).values()
    square = -(x**2 + y**2 + h * x + k * y + rest)
    assert square > 0
    return {"center": pair(x, y), "radius": tex(sp.sqrt(square)), "area": f"{square}\\pi"}[asked]


def diameter(p: Any, q: Any) -> object:
    # (x - x1)(x - x2) + (y - y1)(y - y2) = 0, the circle of Thales, multiplied out
    return sp.latex(sp.expand((X - p[0]) * (X - q[0]) + (Y - p[1]) * (Y - q[1]))) + " = 0"


def touching(center: Any, axis: str, asked: str) -> str:
    h, k = center
    other = far(center, T, 0) if axis == "x" else far(center, 0, T)
    # tangent: the axis meets the circle once, so the discriminant vanishes
    s = sp.symbols("s", positive=True)
    square = one(sp.solve(sp.discriminant(other - s, T), s))
    return _equation(h, k, square) if asked == "circle" else f"{square}\\pi"


def through(center: Any, p: Any) -> str:
    return _equation(center[0], center[1], sp.Point(center).distance(sp.Point(p)) ** 2)


def three_points(p: Any, q: Any, t: Any) -> object:
    rows = [[x * x + y * y, x, y, 1] for x, y in (p, q, t)]
    det = sp.Matrix([[X**2 + Y**2, X, Y, 1], *rows]).det()
    assert sp.Poly(det, X, Y).coeff_monomial(X**2) != 0
    return sp.latex(sp.expand(det)) + " = 0"


def chord(a: int, b: int, c: int, h: int, k: int, square: int) -> str:
    y = (c - a * X) / sp.Integer(b)
    ends = sp.solve(far((h, k), X, y) - square, X)
    assert len(ends) == 2
    return tex(sp.sqrt(far((ends[0], y.subs(X, ends[0])), ends[1], y.subs(X, ends[1]))))


def axis_cut(h: int, k: int, square: int, axis: str) -> str:
    ends = sp.solve(far((h, k), T, 0) - square if axis == "x" else far((h, k), 0, T) - square, T)
    assert len(ends) == 2
    return tex(abs(ends[0] - ends[1]))


def tangent_at(h: int, k: int, square: int, p: Any) -> str:
    curve = far((h, k)) - square
    at = {X: p[0], Y: p[1]}
    assert curve.subs(at) == 0
    dx, dy = sp.diff(curve, X).subs(at), sp.diff(curve, Y).subs(at)
    return standard(sp.Line(sp.Eq(dx * X + dy * Y, dx * p[0] + dy * p[1])))


def tangent_length(h: int, k: int, square: int, p: Any) -> str:
    # power of the point, along the line through the center
    d = sp.Point(h, k).distance(sp.Point(p))
    r = sp.sqrt(square)
    assert d > r
    return tex(sp.sqrt(sp.expand((d - r) * (d + r))))


def extreme(h: int, k: int, square: int, p: Any, far: bool) -> str:
    # where the line through the center and p meets the circle, p + t (center - p)
    u, v = h - p[0], k - p[1]
    values = [
        sp.sqrt(t * t * (u * u + v * v))
        for t in sp.solve((u * (T - 1)) ** 2 + (v * (T - 1)) ** 2 - square, T)
    ]
    assert len(values) == 2
    return tex(max(values) if far else min(values))


def common(a: Any, b: Any, asked: str) -> str:
    """Return the common chord's length or equation for circles x^2 + y^2 + c[0] x + c[1] y + c[2] = 0."""
    first, second = (X**2 + Y**2 + c[0] * X + c[1] * Y + c[2] for c in (a, b))
    ends = sp.solve((first, second), (X, Y))
    assert len(ends) == 2
    p, q = (sp.Point(*map(sp.nsimplify, e)) for e in ends)
    if asked == "length":
        return tex(p.distance(q))
    # the difference of the two equations holds at both points
    made = sp.expand(first - second)
    assert all(sp.simplify(made.subs({X: e.x, Y: e.y})) == 0 for e in (p, q))
    return f"{sp.latex(made)} = 0"


def between(h: int, k: int, square: int, center: Any, touching: bool, other: int) -> str:
    d = sp.Point(h, k).distance(sp.Point(center))
    r, s = sp.sqrt(square), sp.sqrt(other)
    rest = d - r - s
    assert rest > 0
    return tex(rest)


CHECKS = {
    "geometry_sections": by_kind(
        other_end=other_end,
        half=half,
        section=section,
        beyond=beyond,
        centroid=centroid,
        two_sections=two_sections,
    ),
    "geometry_equidistant_points": by_kind(
        perimeter=perimeter,
        at_distance=at_distance,
        on_axis=on_axis,
        circumcenter=circumcenter,
        on_line=on_line,
    ),
    "geometry_missing_vertices": by_kind(
        fourth=fourth, square=square, diagonal=diagonal, all_fourths=all_fourths
    ),
    "geometry_lines_of_triangles": by_kind(
        parallel=parallel,
        collinear=collinear,
        bisector=bisector,
        median=median,
        altitude=altitude,
        orthocenter=orthocenter,
    ),
    "geometry_feet_and_mirrors": by_kind(
        foot=foot, mirror=mirror, simple_mirror=simple_mirror, gap=gap, mirrored_line=mirrored_line
    ),
    "geometry_polygon_areas": by_kind(
        polygon=polygon, convex=polygon, unknown_corner=unknown_corner
    ),
    "geometry_lattice_points": by_kind(segment=segment, border=border, interior=interior),
    "geometry_regions_between_lines": by_kind(
        axes=axes, three_lines=three_lines, absolute=absolute, halving=halving
    ),
    "geometry_circle_equations": by_kind(
        center=center,
        diameter=diameter,
        touching=touching,
        through=through,
        three_points=three_points,
    ),
    "geometry_circles_and_lines": by_kind(
        chord=chord,
        axis_cut=axis_cut,
        tangent_at=tangent_at,
        tangent_length=tangent_length,
        extreme=extreme,
    ),
    "geometry_two_circles": by_kind(between=between, extreme=extreme, common=common),
}
