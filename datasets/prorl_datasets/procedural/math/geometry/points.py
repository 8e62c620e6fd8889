"""Problems on points in the coordinate plane."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    grid_point,
    letters,
    others,
    point,
    slope_form,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _other_end(rng: Random) -> Problem:
    (a, b), (m, n) = redrawn(
        lambda: (grid_point(rng, 12), grid_point(rng, 9)),
        lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1],
    )
    p, q, mid = letters(rng, 3)
    say = WORDINGS.draw(rng, "other end", p=p, q=q, mid=mid, m=point(m, n), a=point(a, b))
    return posed("other_end", say, point(2 * m - a, 2 * n - b), end=[a, b], middle=[m, n])


def _halfway_length(rng: Random) -> Problem:
    (a, b), (c, d) = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9)),
        lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1],
    )
    p, q, mid = letters(rng, 3)
    say = WORDINGS.draw(rng, "halfway length", p=p, a=point(a, b), q=q, c=point(c, d), mid=mid)
    square = (a - c) ** 2 + (b - d) ** 2
    return posed("half", say, root(square, Fraction(1, 2)), p=[a, b], q=[c, d])


def _section(rng: Random) -> Problem:
    m, n = redrawn(lambda: (rng.randint(1, 5), rng.randint(1, 5)), lambda d: d[0] != d[1])
    (a, b), (u, v) = grid_point(rng, 9), redrawn(lambda: grid_point(rng, 3), lambda d: 0 not in d)
    c, d = a + u * (m + n), b + v * (m + n)
    p, q, x = letters(rng, 3)
    say = WORDINGS.draw(rng, "section", x=x, p=p, a=point(a, b), q=q, c=point(c, d), m=m, n=n)
    return posed("section", say, point(a + u * m, b + v * m), p=[a, b], q=[c, d], ratio=[m, n])


def _beyond(rng: Random) -> Problem:
    k = rng.randint(2, 5)
    (a, b), (c, d) = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9)),
        lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1],
    )
    p, q, x = letters(rng, 3)
    say = WORDINGS.draw(rng, "beyond", p=p, a=point(a, b), q=q, c=point(c, d), x=x, k=k)
    return posed("beyond", say, point(a + k * (c - a), b + k * (d - b)), p=[a, b], q=[c, d], k=k)


def _vertex_from_centroid(rng: Random) -> Problem:
    p, q, g = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9), grid_point(rng, 6)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    a, b, c = letters(rng, 3)
    x, y = 3 * g[0] - p[0] - q[0], 3 * g[1] - p[1] - q[1]
    say = WORDINGS.draw(
        rng, "vertex from centroid", a=a, b=b, c=c, g=point(*g), p=point(*p), q=point(*q)
    )
    return posed("centroid", say, point(x, y), p=p, q=q, g=g)


def _two_sections(rng: Random) -> Problem:
    m, n, r, s = (rng.randint(1, 4) for _ in range(4))
    p, q, t = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9), grid_point(rng, 9)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    a, b, c = letters(rng, 3)
    d, e = others(rng, a + b + c, 2)
    foot = [Fraction(n * p[i] + m * q[i], m + n) for i in (0, 1)]
    end = [(s * t[i] + r * foot[i]) / (r + s) for i in (0, 1)]
    say = WORDINGS.draw(
        rng,
        "two sections",
        a=a,
        b=b,
        c=c,
        point=point(*p),
        point_point=point(*q),
        point_point_2=point(*t),
        d=d,
        m=m,
        n=n,
        e=e,
        r=r,
        s=s,
    )
    return posed("two_sections", say, point(*end), p=p, q=q, t=t, first=[m, n], second=[r, s])


def _perimeter(rng: Random) -> Problem:
    (a, b), (w, h) = (grid_point(rng, 9), (rng.randint(2, 12), rng.randint(2, 12)))
    corners = [(a, b), (a + w, b), (a, b + h)]
    rng.shuffle(corners)
    listed = ", ".join(f"${point(*c)}$" for c in corners[:2]) + f" and ${point(*corners[2])}$"
    hypotenuse = root(w * w + h * h)
    asked = rng.choice((0, 1))
    if asked:
        answer = str(w + h + int(hypotenuse)) if hypotenuse.isdigit() else f"{w + h} + {hypotenuse}"
        say = WORDINGS.draw(rng, "perimeter, asked", listed=listed)
    else:
        answer = hypotenuse
        say = WORDINGS.draw(rng, "perimeter", listed=listed)
    return posed("perimeter", say, answer, corners=corners, whole=bool(asked))


def _on_axis(rng: Random) -> Problem:
    axis = rng.choice("xy")
    p, q = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9)),
        lambda d: (
            d[0][axis == "y"] != d[1][axis == "y"]
            and abs(d[0][axis == "x"]) != abs(d[1][axis == "x"])
        ),
    )
    i = 0 if axis == "x" else 1
    at = Fraction(sum(v * v for v in q) - sum(v * v for v in p), 2 * (q[i] - p[i]))
    a, b, x = letters(rng, 3)
    say = WORDINGS.draw(
        rng,
        "on axis",
        x=x,
        axis=axis,
        a=a,
        p=point(*p),
        b=b,
        q=point(*q),
        free_point="(t, 0)" if axis == "x" else "(0, t)",
    )
    return posed("on_axis", say, at, p=p, q=q, axis=axis)


def _at_distance(rng: Random) -> Problem:
    u, v = rng.choice(((3, 4), (4, 3), (5, 12), (12, 5), (6, 8), (8, 6), (8, 15), (15, 8), (9, 12)))
    r = round((u * u + v * v) ** 0.5)
    x, h = grid_point(rng, 9)
    k = h + u * rng.choice((-1, 1))
    top, low = x + v, x - v
    bigger = rng.choice((True, False))
    say = WORDINGS.draw(
        rng,
        "at distance",
        k=k,
        r=r,
        x=point(x, h),
        larger_or_smaller="larger" if bigger else "smaller",
        greater_or_lesser="greater" if bigger else "lesser",
        right_or_left="right" if bigger else "left",
    )
    return posed("at_distance", say, top if bigger else low, center=[x, h], y=k, r=r, bigger=bigger)


def _circumcenter(rng: Random) -> Problem:
    o, pts = redrawn(
        lambda: (
            grid_point(rng, 7),
            rng.sample(
                [
                    (x * i, y * j)
                    for x, y in pick(
                        rng,
                        ((3, 4), (4, 3), (5, 0), (0, 5)),
                        ((1, 7), (7, 1), (5, 5)),
                        ((1, 8), (8, 1), (4, 7), (7, 4)),
                        ((2, 9), (9, 2), (6, 7), (7, 6)),
                    )
                    for i in (-1, 1)
                    for j in (-1, 1)
                ],
                3,
            ),
        ),
        lambda d: len(set(d[1])) == 3,
    )
    p, q, t = ([o[0] + x, o[1] + y] for x, y in pts)
    a, b, c = letters(rng, 3)
    say = WORDINGS.draw(rng, "circumcenter", a=a, p=point(*p), b=b, q=point(*q), c=c, t=point(*t))
    return posed("circumcenter", say, point(*o), p=p, q=q, t=t)


def _on_line(rng: Random) -> Problem:
    m, c = redrawn(lambda: (rng.randint(-3, 3), rng.randint(-6, 6)), lambda d: d[0] != 0)
    x = rng.randint(-6, 6)
    y = m * x + c
    u, v = rng.choice(((1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (2, 5), (1, 7)))
    first, second = redrawn(
        lambda: tuple(
            [s * rng.choice((-1, 1)), t * rng.choice((-1, 1))]
            for s, t in rng.choice((((u, v), (v, u)), ((u, v), (u, v))))
        ),
        lambda d: d[0] != d[1] and (d[0][0] - d[1][0]) + m * (d[0][1] - d[1][1]) != 0,
    )
    p, q = [x + first[0], y + first[1]], [x + second[0], y + second[1]]
    say = WORDINGS.draw(rng, "on line", m=slope_form(m, c), p=point(*p), q=point(*q))
    return posed("on_line", say, point(x, y), p=p, q=q, slope=m, intercept=c)


def _fourth_vertex(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9), grid_point(rng, 9)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    p, q, r, s = letters(rng, 4)
    x, y = a[0] + c[0] - b[0], a[1] + c[1] - b[1]
    say = WORDINGS.draw(
        rng, "fourth vertex", p=p, q=q, r=r, s=s, a=point(*a), b=point(*b), c=point(*c)
    )
    return posed("fourth", say, point(x, y), a=a, b=b, c=c)


def _square_side(rng: Random) -> Problem:
    (a, b), (u, v) = grid_point(rng, 9), redrawn(lambda: grid_point(rng, 7), lambda d: 0 not in d)
    p, q, r, s = letters(rng, 4)
    turn = rng.choice((1, -1))
    way = "counterclockwise" if turn == 1 else "clockwise"
    last = rng.choice((True, False))
    x, y = a - turn * v, b + turn * u
    if not last:
        x, y = x + u, y + v
    asked = s if last else r
    say = WORDINGS.draw(
        rng,
        "square side",
        p=p,
        q=q,
        r=r,
        s=s,
        way=way,
        a=point(a, b),
        a_plus_u=point(a + u, b + v),
        asked=asked,
    )
    return posed("square", say, point(x, y), p=[a, b], q=[a + u, b + v], turn=turn, last=last)


def _square_diagonal(rng: Random) -> Problem:
    m, n = grid_point(rng, 7)
    u, v = redrawn(lambda: grid_point(rng, 6), lambda d: 0 not in d and abs(d[0]) != abs(d[1]))
    p, q, r, s = letters(rng, 4)
    right = rng.choice((True, False))
    ends = sorted([(m - v, n + u), (m + v, n - u)])
    x, y = ends[1] if right else ends[0]
    side = "right" if right else "left"
    say = WORDINGS.draw(
        rng,
        "square diagonal",
        m_minus_u=point(m - u, n - v),
        m_plus_u=point(m + u, n + v),
        side=side,
        p=p,
        r=r,
        q=q,
        s=s,
        larger="larger" if right else "smaller",
    )
    return posed("diagonal", say, point(x, y), p=[m - u, n - v], r=[m + u, n + v], right=right)


def _all_fourths(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (grid_point(rng, 9), grid_point(rng, 9), grid_point(rng, 9)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    axis = rng.choice("xy")
    i = "xy".index(axis)
    every = [a[i] + b[i] - c[i], a[i] + c[i] - b[i], b[i] + c[i] - a[i]]
    which = rng.choice(("largest", "product"))
    answer = max(every) if which == "largest" else every[0] * every[1] * every[2]
    asked = (
        f"the largest possible ${axis}$-coordinate of the fourth vertex"
        if which == "largest"
        else f"the product of the ${axis}$-coordinates of all possible fourth vertices"
    )
    say = WORDINGS.draw(rng, "all fourths", a=point(*a), b=point(*b), c=point(*c), asked=asked)
    return posed("all_fourths", say, answer, a=a, b=b, c=c, axis=axis, which=which)


FAMILIES = (
    of_kinds(
        "geometry_sections",
        (_other_end, _halfway_length),
        (_section, _beyond),
        (_vertex_from_centroid, _two_sections),
        "points that divide a segment",
    ),
    of_kinds(
        "geometry_equidistant_points",
        (_perimeter, _at_distance),
        (_on_axis, _at_distance),
        (_circumcenter, _on_line),
        "points at equal or given distances",
    ),
    of_kinds(
        "geometry_missing_vertices",
        (_fourth_vertex,),
        (_square_side, _square_diagonal),
        (_all_fourths, _square_diagonal),
        "the missing vertex of a parallelogram or a square",
    ),
)
