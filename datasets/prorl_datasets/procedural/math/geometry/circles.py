"""Problems on circles in the coordinate plane."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    circle,
    circle_form,
    grid_point,
    line,
    line_form,
    point,
    times_pi,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root, terms
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _spread(h: int, k: int, square: int) -> str:
    constant = h * h + k * k - square
    return terms([(1, "x^2"), (1, "y^2"), (-2 * h, "x"), (-2 * k, "y"), (constant, "")]) + " = 0"


def _spread_terms(c: tuple[int, int, int]) -> list[int]:
    return [-2 * c[0], -2 * c[1], c[0] ** 2 + c[1] ** 2 - c[2]]


def _center(rng: Random) -> Problem:
    h, k = redrawn(lambda: grid_point(rng, 8), lambda s: 0 not in s)
    square = rng.randint(2, 60)
    asked = rng.choice(("center", "radius", "area"))
    answer = {"center": point(h, k), "radius": root(square), "area": times_pi(square)}[asked]
    equation = _spread(h, k, square)
    say = {
        "center": WORDINGS.all("center, center", equation=equation),
        "radius": WORDINGS.all("center, radius", equation=equation),
        "area": WORDINGS.all("center, area", equation=equation),
    }[asked]
    return posed(
        "center",
        rng.choice(say),
        answer,
        h=-2 * h,
        k=-2 * k,
        rest=h * h + k * k - square,
        asked=asked,
    )


def _from_diameter(rng: Random) -> Problem:
    (h, k), (u, v) = grid_point(rng, 8), redrawn(lambda: grid_point(rng, 6), lambda s: s != (0, 0))
    p, q = (h - u, k - v), (h + u, k + v)
    say = WORDINGS.draw(
        rng,
        "from diameter 2",
        point_p=point(*p),
        point_q=point(*q),
        circle_form=circle_form(rng),
        circle_form_2=circle_form(rng),
        circle_form_3=circle_form(rng),
    )
    return posed("diameter", say, circle(h, k, u * u + v * v), p=p, q=q)


def _touching_axis(rng: Random) -> Problem:
    axis = rng.choice("xy")
    h, k = redrawn(lambda: grid_point(rng, 9), lambda s: 0 not in s and abs(s[0]) != abs(s[1]))
    r = abs(k) if axis == "x" else abs(h)
    asked = rng.choice((True, False))
    if asked:
        say = WORDINGS.draw(
            rng,
            "touching axis 2",
            point_h_k=point(h, k),
            axis=axis,
            circle_form=circle_form(rng),
            circle_form_2=circle_form(rng),
        )
        return posed("touching", say, circle(h, k, r * r), center=[h, k], axis=axis, asked="circle")
    say = WORDINGS.draw(rng, "touching axis", h=point(h, k), axis=axis)
    return posed("touching", say, times_pi(r * r), center=[h, k], axis=axis, asked="area")


def _through_point(rng: Random) -> Problem:
    (h, k), (u, v) = grid_point(rng, 8), redrawn(lambda: grid_point(rng, 7), lambda s: 0 not in s)
    p = h + u, k + v
    say = WORDINGS.draw(
        rng,
        "through point",
        point_h_k=point(h, k),
        point_p=point(*p),
        circle_form=circle_form(rng),
        circle_form_2=circle_form(rng),
    )
    return posed("through", say, circle(h, k, u * u + v * v), center=[h, k], p=p)


def _three_points(rng: Random) -> Problem:
    h, k = grid_point(rng, 5)
    u, v, far = rng.choice(((3, 4, 5), (4, 3, 5), (6, 8, 10), (5, 12, 13), (1, 7, 0), (2, 1, 0)))
    ring = [
        (x, y)
        for a, b in ((u, v), (v, u), (far, 0), (0, far))
        for x in (-a, a)
        for y in (-b, b)
        if x * x + y * y == u * u + v * v
    ]
    spots = rng.sample(sorted(set(ring)), 3)
    p, q, t = ((h + x, k + y) for x, y in spots)
    texts = [f"${point(*s)}$" for s in (p, q, t)]
    say = WORDINGS.draw(
        rng,
        "three points",
        texts=texts,
        circle_form=circle_form(rng),
        circle_form_2=circle_form(rng),
    )
    return posed("three_points", say, circle(h, k, u * u + v * v), p=p, q=q, t=t)


def _chord(rng: Random) -> Problem:
    h, k = grid_point(rng, 5)
    a, b, norm = rng.choice(((3, 4, 5), (4, -3, 5), (4, 3, 5), (5, 12, 13), (3, -4, 5)))
    near = rng.randint(1, 6)
    square = near * near + rng.choice((near, near + 1, 4, 9, 16, 5, 8, 12, 20, 7))
    c = a * h + b * k + rng.choice((-1, 1)) * near * norm
    say = WORDINGS.draw(rng, "chord", a=line(a, b, c), h=circle(h, k, square))
    return posed(
        "chord", say, root(square - near * near, 2), a=a, b=b, c=c, h=h, k=k, square=square
    )


def _axis_cut(rng: Random) -> Problem:
    axis = rng.choice("xy")
    h, k = redrawn(lambda: grid_point(rng, 7), lambda s: 0 not in s)
    off = abs(k) if axis == "x" else abs(h)
    square = off * off + rng.randint(1, 40)
    say = WORDINGS.draw(rng, "axis cut", axis=axis, h=circle(h, k, square))
    return posed("axis_cut", say, root(square - off * off, 2), h=h, k=k, square=square, axis=axis)


def _tangent_at(rng: Random) -> Problem:
    (h, k), (u, v) = grid_point(rng, 6), redrawn(lambda: grid_point(rng, 6), lambda s: 0 not in s)
    p = h + u, k + v
    square = u * u + v * v
    shape = rng.choice((circle(h, k, square), _spread(h, k, square)))
    form = line_form(rng)
    say = WORDINGS.draw(rng, "tangent at", shape=shape, p=point(*p), form=form)
    return posed("tangent_at", say, line(u, v, u * p[0] + v * p[1]), h=h, k=k, square=square, p=p)


def _tangent_length(rng: Random) -> Problem:
    (h, k), (u, v) = (
        grid_point(rng, 6),
        redrawn(lambda: grid_point(rng, 9), lambda s: s[0] ** 2 + s[1] ** 2 > 8),
    )
    d = u * u + v * v
    square = rng.randint(2, d - 3)
    p = h + u, k + v
    say = WORDINGS.draw(rng, "tangent length", p=point(*p), h=circle(h, k, square))
    return posed("tangent_length", say, root(d - square), h=h, k=k, square=square, p=p)


def _extreme(rng: Random) -> Problem:
    (h, k), (u, v, w) = grid_point(rng, 6), rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    u, v, w = u * f, v * f, w * f
    if rng.choice((True, False)):
        u, v = v, u
    p = h + u * rng.choice((-1, 1)), k + v * rng.choice((-1, 1))
    r = redrawn(lambda: rng.randint(1, w + 6), lambda n: n != w)
    far = rng.choice((True, False))
    answer = w + r if far else abs(w - r)
    word = "greatest" if far else "smallest"
    say = pick(
        rng,
        WORDINGS.one(
            "extreme 2", circle_h_k_r_times_r=circle(h, k, r * r), word=word, point_p=point(*p)
        ),
        f"Find the {word} value of $\\sqrt{{(x {_minus(p[0])})^2 + (y {_minus(p[1])})^2}}$ if "
        f"$(x, y)$ lies on the circle ${circle(h, k, r * r)}$."
        if 0 not in p
        else f"Find the {word} distance between the point ${point(*p)}$ and a point of the "
        f"circle ${circle(h, k, r * r)}$.",
        WORDINGS.one(
            "extreme",
            point=point(*p),
            h=circle(h, k, r * r),
            farthest="farthest" if far else "nearest",
        ),
    )
    return posed("extreme", say, answer, h=h, k=k, square=r * r, p=p, far=far)


def _minus(value: int) -> str:
    return f"- {value}" if value > 0 else f"+ {-value}"


def _common_chord(rng: Random) -> Problem:
    def line_of(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
        constants = [h * h + k * k - s for h, k, s in (a, b)]
        return 2 * (b[0] - a[0]), 2 * (b[1] - a[1]), constants[1] - constants[0]

    def draw() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        m, n = grid_point(rng, 3)
        centers = [grid_point(rng, 4) for _ in range(2)]
        a, b = ((h, k, (h - m) ** 2 + (k - n) ** 2) for h, k in centers)
        return a, b

    def good(d: tuple[tuple[int, int, int], tuple[int, int, int]]) -> bool:
        (h, k, s), (g, j, t) = d
        gap = (h - g) ** 2 + (k - j) ** 2
        if gap == 0 or h == g or k == j or not s or not t:
            return False
        # the radii's squares and the distance make a real triangle
        return 4 * gap * s > (gap + s - t) ** 2

    a, b = redrawn(draw, good)
    asked = rng.choice(("line", "length"))
    first, second = _spread(*a), _spread(*b)
    if asked == "line":
        say = WORDINGS.draw(rng, "common chord, line", first=first, second=second)
        return posed(
            "common", say, line(*line_of(a, b)), a=_spread_terms(a), b=_spread_terms(b), asked=asked
        )
    u, v, c = line_of(a, b)
    gap = Fraction((u * a[0] + v * a[1] - c) ** 2, u * u + v * v)
    half = a[2] - gap
    inside = half.numerator * half.denominator
    say = WORDINGS.draw(rng, "common chord", first=first, second=second)
    return posed(
        "common",
        say,
        root(inside, Fraction(2, half.denominator)),
        a=_spread_terms(a),
        b=_spread_terms(b),
        asked=asked,
    )


def _between_circles(rng: Random) -> Problem:
    (u, v, w) = rng.choice(TRIPLES[:4])
    h, k = grid_point(rng, 5)
    g, j = h + u * rng.choice((-1, 1)), k + v * rng.choice((-1, 1))
    touching = rng.choice((True, False))
    if touching:
        r = rng.randint(1, w - 1)
        say = WORDINGS.draw(rng, "between circles, touching", h=circle(h, k, r * r), g=point(g, j))
        return posed(
            "between", say, w - r, h=h, k=k, square=r * r, center=[g, j], touching=True, other=0
        )
    r = rng.randint(1, w // 2)
    s = rng.randint(1, w - r - 1) if w - r > 1 else 1
    if r + s >= w:
        return _between_circles(rng)
    say = WORDINGS.draw(rng, "between circles", h=circle(h, k, r * r), g=circle(g, j, s * s))
    return posed(
        "between",
        say,
        w - r - s,
        h=h,
        k=k,
        square=r * r,
        center=[g, j],
        touching=False,
        other=s * s,
    )


FAMILIES = (
    of_kinds(
        "geometry_circle_equations",
        (_center, _through_point),
        (_from_diameter, _touching_axis),
        (_three_points,),
        "circles by center, diameter, tangency or three points",
    ),
    of_kinds(
        "geometry_circles_and_lines",
        (_axis_cut, _extreme),
        (_chord, _tangent_length),
        (_tangent_at, _chord),
        "chords, tangents and extreme distances of circles with equations",
    ),
    of_kinds(
        "geometry_two_circles",
        (_between_circles,),
        (_extreme, _between_circles),
        (_common_chord,),
        "gaps, contact and common chords of two circles",
    ),
)
