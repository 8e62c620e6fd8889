"""Points in the coordinate plane: on a segment, equally far from others, the missing vertex."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others, point, slope_form
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


def _spot(rng: Random, size: int = 9) -> tuple[int, int]:
    return rng.randint(-size, size), rng.randint(-size, size)


def _other_end(rng: Random) -> Problem:
    (a, b), (m, n) = redrawn(
        lambda: (_spot(rng, 12), _spot(rng)), lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1]
    )
    p, q, mid = letters(rng, 3)
    say = rng.choice(
        (
            (
                f"The midpoint of segment $\\overline{{{p}{q}}}$ is ${mid} = {point(m, n)}$, and ${p}$ "
                f"is the point ${point(a, b)}$. Find the coordinates of ${q}$ as an ordered pair."
            ),
            (
                f"One end of a diameter of a circle is ${point(a, b)}$. The center of the circle is at "
                f"${point(m, n)}$. At which point $(x, y)$ is the other end of the diameter?"
            ),
            (
                f"Point ${q}$ is the image of ${p}{point(a, b)}$ after a half-turn about "
                f"${mid}{point(m, n)}$. What is ${q}$? Answer as an ordered pair."
            ),
        )
    )
    return posed("other_end", say, point(2 * m - a, 2 * n - b), end=[a, b], middle=[m, n])


def _halfway_length(rng: Random) -> Problem:
    (a, b), (c, d) = redrawn(
        lambda: (_spot(rng), _spot(rng)), lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1]
    )
    p, q, mid = letters(rng, 3)
    say = rng.choice(
        (
            (
                f"Let ${p} = {point(a, b)}$ and ${q} = {point(c, d)}$. If ${mid}$ is the midpoint of "
                f"$\\overline{{{p}{q}}}$, how far is ${mid}$ from ${p}$? Give an exact answer in "
                "simplest form."
            ),
            (
                f"A segment joins ${point(a, b)}$ to ${point(c, d)}$. Find the exact distance from its "
                "midpoint to either of its ends."
            ),
            (
                f"The points ${point(a, b)}$ and ${point(c, d)}$ are the ends of a diameter of a circle. "
                "What is the radius of the circle, in simplest radical form?"
            ),
        )
    )
    square = (a - c) ** 2 + (b - d) ** 2
    return posed("half", say, root(square, Fraction(1, 2)), p=[a, b], q=[c, d])


def _section(rng: Random) -> Problem:
    m, n = redrawn(lambda: (rng.randint(1, 5), rng.randint(1, 5)), lambda d: d[0] != d[1])
    (a, b), (u, v) = _spot(rng), redrawn(lambda: _spot(rng, 3), lambda d: 0 not in d)
    c, d = a + u * (m + n), b + v * (m + n)
    p, q, x = letters(rng, 3)
    say = rng.choice(
        (
            (
                f"Point ${x}$ lies on the segment from ${p}{point(a, b)}$ to ${q}{point(c, d)}$ so that "
                f"${p}{x} : {x}{q} = {m} : {n}$. What are the coordinates of ${x}$?"
            ),
            (
                f"A hiker walks in a straight line from ${point(a, b)}$ to ${point(c, d)}$ on a map. "
                f"She rests when the part behind her and the part ahead of her are in the ratio "
                f"${m} : {n}$. At which point $(x, y)$ does she rest?"
            ),
            (
                f"Segment $\\overline{{{p}{q}}}$ has ends ${p} = {point(a, b)}$ and "
                f"${q} = {point(c, d)}$. Find the point ${x}$ of the segment for which "
                f"${n} \\cdot {p}{x} = {m} \\cdot {x}{q}$."
            ),
        )
    )
    return posed("section", say, point(a + u * m, b + v * m), p=[a, b], q=[c, d], ratio=[m, n])


def _beyond(rng: Random) -> Problem:
    k = rng.randint(2, 5)
    (a, b), (c, d) = redrawn(
        lambda: (_spot(rng), _spot(rng)), lambda d: d[0][0] != d[1][0] and d[0][1] != d[1][1]
    )
    p, q, x = letters(rng, 3)
    say = rng.choice(
        (
            (
                f"The segment from ${p}{point(a, b)}$ to ${q}{point(c, d)}$ is extended past ${q}$ to a "
                f"point ${x}$ with ${p}{x} = {k} \\cdot {p}{q}$. Find ${x}$ as an ordered pair."
            ),
            (
                f"Points ${p}$, ${q}$ and ${x}$ lie on a line in this order. If ${p} = {point(a, b)}$, "
                f"${q} = {point(c, d)}$ and $\\frac{{{p}{x}}}{{{p}{q}}} = {k}$, what is ${x}$?"
            ),
        )
    )
    return posed("beyond", say, point(a + k * (c - a), b + k * (d - b)), p=[a, b], q=[c, d], k=k)


def _vertex_from_centroid(rng: Random) -> Problem:
    p, q, g = redrawn(
        lambda: (_spot(rng), _spot(rng), _spot(rng, 6)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    a, b, c = letters(rng, 3)
    x, y = 3 * g[0] - p[0] - q[0], 3 * g[1] - p[1] - q[1]
    say = rng.choice(
        (
            (
                f"The medians of triangle ${a}{b}{c}$ meet at ${point(*g)}$. Two of its vertices are "
                f"${a} = {point(*p)}$ and ${b} = {point(*q)}$. Find vertex ${c}$."
            ),
            (
                f"In triangle ${a}{b}{c}$, ${a} = {point(*p)}$, ${b} = {point(*q)}$, and the centroid is "
                f"${point(*g)}$. What is the ordered pair of coordinates of ${c}$?"
            ),
            (
                f"A triangular plate has corners at ${point(*p)}$, ${point(*q)}$ and at one more point "
                f"${c}$. It balances on a pin under its centroid, ${point(*g)}$. Where is ${c}$? "
                "Answer with an ordered pair."
            ),
        )
    )
    return posed("centroid", say, point(x, y), p=p, q=q, g=g)


def _two_sections(rng: Random) -> Problem:
    m, n, r, s = (rng.randint(1, 4) for _ in range(4))
    p, q, t = redrawn(
        lambda: (_spot(rng), _spot(rng), _spot(rng)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    a, b, c = letters(rng, 3)
    d, e = others(rng, a + b + c, 2)
    foot = [Fraction(n * p[i] + m * q[i], m + n) for i in (0, 1)]
    end = [(s * t[i] + r * foot[i]) / (r + s) for i in (0, 1)]
    say = rng.choice(
        (
            (
                f"Triangle ${a}{b}{c}$ has vertices ${a} = {point(*p)}$, ${b} = {point(*q)}$ and "
                f"${c} = {point(*t)}$. Point ${d}$ divides side $\\overline{{{a}{b}}}$ with "
                f"${a}{d} : {d}{b} = {m} : {n}$, and point ${e}$ divides $\\overline{{{c}{d}}}$ with "
                f"${c}{e} : {e}{d} = {r} : {s}$. Find the coordinates of ${e}$."
            ),
            (
                f"On the segment from ${a}{point(*p)}$ to ${b}{point(*q)}$ mark ${d}$ so that "
                f"${a}{d} : {d}{b} = {m} : {n}$. Then join ${d}$ to ${c}{point(*t)}$ and mark ${e}$ on "
                f"this segment so that ${c}{e} : {e}{d} = {r} : {s}$. What ordered pair is ${e}$?"
            ),
        )
    )
    return posed("two_sections", say, point(*end), p=p, q=q, t=t, first=[m, n], second=[r, s])


def _perimeter(rng: Random) -> Problem:
    (a, b), (w, h) = (_spot(rng), (rng.randint(2, 12), rng.randint(2, 12)))
    corners = [(a, b), (a + w, b), (a, b + h)]
    rng.shuffle(corners)
    listed = ", ".join(f"${point(*c)}$" for c in corners[:2]) + f" and ${point(*corners[2])}$"
    hypotenuse = root(w * w + h * h)
    asked = rng.choice((0, 1))
    if asked:
        answer = str(w + h + int(hypotenuse)) if hypotenuse.isdigit() else f"{w + h} + {hypotenuse}"
        say = rng.choice(
            (
                (
                    f"What is the perimeter of the triangle with vertices at {listed}? Give an exact "
                    "answer."
                ),
                f"The points {listed} are joined to form a triangle. Find its exact perimeter.",
            )
        )
    else:
        answer = hypotenuse
        say = rng.choice(
            (
                (
                    f"A triangle has its vertices at {listed}. How long is its longest side? Leave "
                    "roots in simplest form."
                ),
                (
                    f"Find the exact length of the hypotenuse of the right triangle with vertices "
                    f"{listed}."
                ),
            )
        )
    return posed("perimeter", say, answer, corners=corners, whole=bool(asked))


def _on_axis(rng: Random) -> Problem:
    axis = rng.choice("xy")
    p, q = redrawn(
        lambda: (_spot(rng), _spot(rng)),
        lambda d: (
            d[0][axis == "y"] != d[1][axis == "y"]
            and abs(d[0][axis == "x"]) != abs(d[1][axis == "x"])
        ),
    )
    i = 0 if axis == "x" else 1
    at = Fraction(sum(v * v for v in q) - sum(v * v for v in p), 2 * (q[i] - p[i]))
    a, b, x = letters(rng, 3)
    say = rng.choice(
        (
            (
                f"Point ${x}$ lies on the ${axis}$-axis and is equally far from ${a}{point(*p)}$ and "
                f"${b}{point(*q)}$. Find the ${axis}$-coordinate of ${x}$."
            ),
            (
                f"A well is to be dug on the ${axis}$-axis of a map, at the same distance from two farms "
                f"at ${point(*p)}$ and ${point(*q)}$. What is the ${axis}$-coordinate of the well?"
            ),
            (
                f"For what value of $t$ is the point ${'(t, 0)' if axis == 'x' else '(0, t)'}$ "
                f"equidistant from ${point(*p)}$ and ${point(*q)}$?"
            ),
            (
                f"Let ${a} = {point(*p)}$ and ${b} = {point(*q)}$. Where does the perpendicular bisector "
                f"of $\\overline{{{a}{b}}}$ cross the ${axis}$-axis? Give the ${axis}$-coordinate."
            ),
        )
    )
    return posed("on_axis", say, at, p=p, q=q, axis=axis)


def _at_distance(rng: Random) -> Problem:
    u, v = rng.choice(((3, 4), (4, 3), (5, 12), (12, 5), (6, 8), (8, 6), (8, 15), (15, 8), (9, 12)))
    r = round((u * u + v * v) ** 0.5)
    x, h = _spot(rng)
    k = h + u * rng.choice((-1, 1))
    top, low = x + v, x - v
    bigger = rng.choice((True, False))
    say = rng.choice(
        (
            (
                f"A point on the line $y = {k}$ is at distance ${r}$ from ${point(x, h)}$. There are two "
                f"such points; what is the {'larger' if bigger else 'smaller'} of their "
                "$x$-coordinates?"
            ),
            (
                f"The distance between $(a, {k})$ and ${point(x, h)}$ is ${r}$. Find the "
                f"{'greater' if bigger else 'lesser'} of the two possible values of $a$."
            ),
            (
                f"A circle with center ${point(x, h)}$ and radius ${r}$ cuts the horizontal line "
                f"$y = {k}$ at two points. Give the $x$-coordinate of the one farther to the "
                f"{'right' if bigger else 'left'}."
            ),
        )
    )
    return posed("at_distance", say, top if bigger else low, center=[x, h], y=k, r=r, bigger=bigger)


def _circumcenter(rng: Random) -> Problem:
    o, pts = redrawn(
        lambda: (
            _spot(rng, 7),
            rng.sample(
                [
                    (x * i, y * j)
                    for x, y in rng.choice(
                        (
                            ((3, 4), (4, 3), (5, 0), (0, 5)),
                            ((1, 7), (7, 1), (5, 5)),
                            ((1, 8), (8, 1), (4, 7), (7, 4)),
                            ((2, 9), (9, 2), (6, 7), (7, 6)),
                        )
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
    say = rng.choice(
        (
            (
                f"A circle passes through ${a}{point(*p)}$, ${b}{point(*q)}$ and ${c}{point(*t)}$. Find "
                "its center."
            ),
            (
                f"Which point of the plane is equally far from ${point(*p)}$, ${point(*q)}$ and "
                f"${point(*t)}$? Answer with an ordered pair."
            ),
            (
                f"Three villages stand at ${point(*p)}$, ${point(*q)}$ and ${point(*t)}$ on a map. A "
                "radio mast is to be put up at the same distance from all three. At what coordinates "
                "$(x, y)$ must it stand?"
            ),
            (
                f"Find the point where the perpendicular bisectors of the sides of triangle "
                f"${a}{b}{c}$ meet, if ${a} = {point(*p)}$, ${b} = {point(*q)}$ and ${c} = {point(*t)}$."
            ),
        )
    )
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
    say = rng.choice(
        (
            (
                f"A point on the line ${slope_form(m, c)}$ is equidistant from ${point(*p)}$ and "
                f"${point(*q)}$. Find its coordinates."
            ),
            (
                f"The center of a circle lies on the line ${slope_form(m, c)}$, and the circle passes "
                f"through both ${point(*p)}$ and ${point(*q)}$. What is the center?"
            ),
            (
                f"A straight road runs along ${slope_form(m, c)}$. A bus stop on the road is to be "
                f"equally far from two houses, at ${point(*p)}$ and ${point(*q)}$. At which point "
                "$(x, y)$ should it be?"
            ),
        )
    )
    return posed("on_line", say, point(x, y), p=p, q=q, slope=m, intercept=c)


def _fourth_vertex(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (_spot(rng), _spot(rng), _spot(rng)),
        lambda t: (
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) != (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        ),
    )
    p, q, r, s = letters(rng, 4)
    x, y = a[0] + c[0] - b[0], a[1] + c[1] - b[1]
    say = rng.choice(
        (
            (
                f"Three vertices of parallelogram ${p}{q}{r}{s}$ are ${p}{point(*a)}$, ${q}{point(*b)}$ "
                f"and ${r}{point(*c)}$. Find the coordinates of ${s}$."
            ),
            (
                f"Quadrilateral ${p}{q}{r}{s}$ is a parallelogram with ${p} = {point(*a)}$, "
                f"${q} = {point(*b)}$ and ${r} = {point(*c)}$. Where do you find vertex ${s}$?"
            ),
            (
                f"The points ${p}{point(*a)}$, ${q}{point(*b)}$, ${r}{point(*c)}$ and ${s}$ are, in this "
                f"order around the figure, the corners of a parallelogram. Give ${s}$ as an ordered "
                "pair."
            ),
        )
    )
    return posed("fourth", say, point(x, y), a=a, b=b, c=c)


def _square_side(rng: Random) -> Problem:
    (a, b), (u, v) = _spot(rng), redrawn(lambda: _spot(rng, 7), lambda d: 0 not in d)
    p, q, r, s = letters(rng, 4)
    turn = rng.choice((1, -1))
    way = "counterclockwise" if turn == 1 else "clockwise"
    last = rng.choice((True, False))
    x, y = a - turn * v, b + turn * u
    if not last:
        x, y = x + u, y + v
    asked = s if last else r
    say = rng.choice(
        (
            (
                f"${p}{q}{r}{s}$ is a square whose vertices are named in {way} order. If "
                f"${p} = {point(a, b)}$ and ${q} = {point(a + u, b + v)}$, what are the coordinates of "
                f"${asked}$?"
            ),
            (
                f"Going {way} around a square one meets the corners ${p}$, ${q}$, ${r}$ and ${s}$. Given "
                f"${p}{point(a, b)}$ and ${q}{point(a + u, b + v)}$, find ${asked}$."
            ),
        )
    )
    return posed("square", say, point(x, y), p=[a, b], q=[a + u, b + v], turn=turn, last=last)


def _square_diagonal(rng: Random) -> Problem:
    m, n = _spot(rng, 7)
    u, v = redrawn(lambda: _spot(rng, 6), lambda d: 0 not in d and abs(d[0]) != abs(d[1]))
    p, q, r, s = letters(rng, 4)
    right = rng.choice((True, False))
    ends = sorted([(m - v, n + u), (m + v, n - u)])
    x, y = ends[1] if right else ends[0]
    side = "right" if right else "left"
    say = rng.choice(
        (
            (
                f"Two opposite vertices of a square are ${point(m - u, n - v)}$ and "
                f"${point(m + u, n + v)}$. Of the other two vertices, find the one farther to the "
                f"{side}."
            ),
            (
                f"The diagonal $\\overline{{{p}{r}}}$ of square ${p}{q}{r}{s}$ runs from "
                f"${p}{point(m - u, n - v)}$ to ${r}{point(m + u, n + v)}$. One of ${q}$ and ${s}$ has "
                f"the {'larger' if right else 'smaller'} $x$-coordinate. Which point $(x, y)$ is it?"
            ),
        )
    )
    return posed("diagonal", say, point(x, y), p=[m - u, n - v], r=[m + u, n + v], right=right)


def _all_fourths(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (_spot(rng), _spot(rng), _spot(rng)),
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
    say = rng.choice(
        (
            (
                f"The points ${point(*a)}$, ${point(*b)}$ and ${point(*c)}$ are three vertices of a "
                f"parallelogram, in no particular order. Find {asked}."
            ),
            (
                f"Three corners of a parallelogram have been marked on a grid, at ${point(*a)}$, "
                f"${point(*b)}$ and ${point(*c)}$, but it is not known which of them are opposite "
                f"each other. What is {asked}?"
            ),
        )
    )
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
