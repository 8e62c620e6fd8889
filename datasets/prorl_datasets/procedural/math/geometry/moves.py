"""Motions of the plane, loci, constructions with ruler and compass, shortest ways."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    circle,
    circle_form,
    letters,
    line,
    line_form,
    point,
    times_pi,
)
from prorl_datasets.procedural.math.kinds import drawn, of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem

_Point = tuple[int, int]


def _spot(rng: Random, size: int = 7) -> _Point:
    return rng.randint(-size, size), rng.randint(-size, size)


def _turned(p: _Point, center: _Point, quarters: int) -> _Point:
    x, y = p[0] - center[0], p[1] - center[1]
    for _ in range(quarters % 4):
        x, y = -y, x
    return center[0] + x, center[1] + y


_TURNS = {
    1: "$90^\\circ$ counterclockwise",
    2: "$180^\\circ$",
    3: "$90^\\circ$ clockwise",
}


def _rotation(rng: Random) -> Problem:
    p, c = drawn(lambda: (_spot(rng), _spot(rng, 5)), lambda t: t[0] != t[1])
    turn = rng.choice((1, 2, 3))
    n = letters(rng, 3)[0]
    say = rng.choice(
        (
            (
                f"The point ${point(*p)}$ is rotated {_TURNS[turn]} about ${point(*c)}$. What are the "
                "coordinates of the image?"
            ),
            (
                f"A windmill's axle is at ${point(*c)}$ and the tip of one of its sails at "
                f"${point(*p)}$. The wheel turns {_TURNS[turn]}. At which point is the tip now?"
            ),
            (
                f"Find the image of ${n}{point(*p)}$ under the rotation about ${point(*c)}$ by "
                f"{_TURNS[turn]}."
            ),
        )
    )
    return posed("rotation", say, point(*_turned(p, c, turn)), p=p, center=c, turn=turn)


def _step(rng: Random) -> tuple[str, list[object]]:
    how = rng.choice(("shift", "x", "y", "turn", "diagonal"))
    if how == "shift":
        u, v = drawn(lambda: _spot(rng, 5), lambda t: 0 not in t)
        side = f"{abs(u)} {'unit' if abs(u) == 1 else 'units'} {'right' if u > 0 else 'left'}"
        high = f"{abs(v)} {'unit' if abs(v) == 1 else 'units'} {'up' if v > 0 else 'down'}"
        return f"translated {side} and {high}", [how, u, v]
    if how in "xy":
        k = rng.randint(-4, 4)
        return f"reflected in the line ${how} = {k}$", [how, k, 0]
    if how == "turn":
        q = rng.choice((1, 2, 3))
        return f"rotated {_TURNS[q]} about the origin", [how, q, 0]
    return "reflected in the line $y = x$", [how, 0, 0]


def _moved(p: _Point, step: list[object]) -> _Point:
    how, u, v = step[0], int(str(step[1])), int(str(step[2]))
    if how == "shift":
        return p[0] + u, p[1] + v
    if how == "x":
        return 2 * u - p[0], p[1]
    if how == "y":
        return p[0], 2 * u - p[1]
    return _turned(p, (0, 0), u) if how == "turn" else (p[1], p[0])


def _composed(rng: Random) -> Problem:
    p = _spot(rng)
    n = letters(rng, 3)[0]
    count = rng.choice((2, 3))
    steps = drawn(
        lambda: [_step(rng) for _ in range(count)],
        lambda s: all(a[1][0] != b[1][0] for a, b in itertools.pairwise(s)),
    )
    end = p
    for _, step in steps:
        end = _moved(end, step)
    texts = [s[0] for s in steps]
    chain = ", then ".join(texts)
    back = rng.choice((True, False))
    if end == p:
        return _composed(rng)
    if back:
        say = rng.choice(
            (
                f"A point is {chain}. It ends up at ${point(*end)}$. Where was it at the start?",
                (
                    f"After being {chain}, a chess piece on a coordinate board stands at ${point(*end)}$. "
                    "Find the point at which it started."
                ),
            )
        )
        return posed("composed", say, point(*p), p=end, steps=[s[1] for s in steps], back=True)
    say = rng.choice(
        (
            f"The point ${n}{point(*p)}$ is {chain}. Find its final position.",
            (
                f"Starting from ${point(*p)}$, a point is {chain}. What ordered pair gives the place where "
                "it ends?"
            ),
        )
    )
    return posed("composed", say, point(*end), p=p, steps=[s[1] for s in steps], back=False)


def _motion_center(rng: Random) -> Problem:
    how = rng.choice(("rotation", "dilation"))
    c = _spot(rng, 5)
    p, q = drawn(lambda: (_spot(rng), _spot(rng)), lambda t: t[0] != t[1] and c not in t)
    a, b, _ = letters(rng, 3)
    if how == "rotation":
        turn = rng.choice((1, 3))
        p2, q2 = _turned(p, c, turn), _turned(q, c, turn)
        say = rng.choice(
            (
                (
                    f"A rotation by {_TURNS[turn]} takes ${a}{point(*p)}$ to ${a}'{point(*p2)}$. Find "
                    "the center of the rotation."
                ),
                (
                    f"Segment $\\overline{{{a}{b}}}$ with ${a} = {point(*p)}$ and ${b} = {point(*q)}$ is "
                    f"carried to ${a}' = {point(*p2)}$ and ${b}' = {point(*q2)}$ by a rotation. About "
                    "which point was it rotated?"
                ),
            )
        )
        return posed(
            "center",
            say,
            point(*c),
            how=how,
            first=[p, p2],
            second=[] if "takes" in say else [q, q2],
            turn=turn if "takes" in say else 0,
        )
    k = rng.choice((2, 3, -2, -1))
    p2, q2 = ((c[0] + k * (t[0] - c[0]), c[1] + k * (t[1] - c[1])) for t in (p, q))
    if (p[0] - c[0]) * (q[1] - c[1]) == (p[1] - c[1]) * (q[0] - c[0]):
        return _motion_center(rng)
    say = (
        f"A dilation takes ${a}{point(*p)}$ to ${a}'{point(*p2)}$ and ${b}{point(*q)}$ to "
        f"${b}'{point(*q2)}$. What is the center of the dilation?"
    )
    return posed("center", say, point(*c), how=how, first=[p, p2], second=[q, q2], turn=0)


def _stadium(rng: Random) -> Problem:
    return _locus_line(rng, ("circle_area", "squares"))


def _parallels(rng: Random) -> Problem:
    return _locus_line(rng, ("parallels", "squares"))


def _locus_line(rng: Random, asked: tuple[str, ...]) -> Problem:
    how = rng.choice(asked)
    p, q = drawn(
        lambda: (_spot(rng), _spot(rng)), lambda t: t[0][0] != t[1][0] and t[0][1] != t[1][1]
    )
    form = line_form(rng)
    if how == "squares":
        k = rng.randint(-20, 20)
        a, b = 2 * (q[0] - p[0]), 2 * (q[1] - p[1])
        c = k + q[0] ** 2 + q[1] ** 2 - p[0] ** 2 - p[1] ** 2
        if k in (0, 1, -1):
            return _locus_line(rng, asked)
        say = rng.choice(
            (
                (
                    f"Let $A = {point(*p)}$ and $B = {point(*q)}$. All points $P$ with "
                    f"$PA^2 - PB^2 = {k}$ lie on one line. Find its equation. {form}"
                ),
                f"A point moves so that the square of its distance from ${point(*p)}$ "
                + (
                    f"exceeds the square of its distance from ${point(*q)}$ by ${k}$. "
                    if k > 0
                    else f"is ${-k}$ less than the square of its distance from ${point(*q)}$. "
                )
                + f"What is the equation of the line that it moves along? {form}",
            )
        )
        return posed("line", say, line(a, b, c), how=how, p=p, q=q, k=k)
    if how == "circle_area":
        r = rng.randint(2, 12)
        length = drawn(lambda: rng.randint(3, 25), lambda v: v != r)
        say = rng.choice(
            (
                (
                    f"A point keeps a distance of at most ${r}$ from some point of a segment of length "
                    f"${length}$. What is the area of the region in which it can be, in terms of $\\pi$?"
                ),
                (
                    f"A dog's leash, {r} m long, slides along a straight rail of length {length} m. Find the "
                    "area, in square meters and in terms of $\\pi$, that the dog can reach on both sides "
                    "of the rail."
                ),
            )
        )
        return posed(
            "line",
            say,
            f"{2 * r * length} + {times_pi(r * r)}",
            how=how,
            p=(r, 0),
            q=(length, 0),
            k=0,
        )
    a, b, c = drawn(
        lambda: (
            rng.choice((3, 4, 5, 8)),
            rng.choice((3, -4, 12, -15, 4, -12)),
            rng.randint(-20, 20),
        ),
        lambda t: (abs(t[0]), abs(t[1])) in ((3, 4), (4, 3), (5, 12), (8, 15)),
    )
    norm = {3: 5, 4: 5, 5: 13, 8: 17}[a]
    d = rng.randint(1, 4)
    upper = rng.choice((True, False))
    # by = c +- norm d - ax: the upper one has the larger intercept on the y-axis
    first, second = c + norm * d, c - norm * d
    take = (
        max(first, second, key=lambda v: Fraction(v, b))
        if upper
        else min(first, second, key=lambda v: Fraction(v, b))
    )
    say = (
        f"The points at distance ${d}$ from the line ${line(a, b, c)}$ form two lines. Find the one that "
        f"meets the $y$-axis at the {'higher' if upper else 'lower'} point. {form}"
    )
    if c == 0:
        return _locus_line(rng, asked)
    return posed("line", say, line(a, b, take), how=how, p=(a, b), q=(c, d), k=int(upper))


def _locus_circle(rng: Random) -> Problem:
    how = rng.choice(("apollonius", "squares", "midpoints"))
    form = circle_form(rng)
    if how == "apollonius":
        k = rng.choice((2, 3))
        c, (u, v) = _spot(rng, 5), drawn(lambda: _spot(rng, 3), lambda t: t != (0, 0))
        # center C, A = C + k^2 w, B = C + w, radius k |w|
        a, b = (c[0] + k * k * u, c[1] + k * k * v), (c[0] + u, c[1] + v)
        times = "twice" if k == 2 else "three times"
        say = rng.choice(
            (
                (
                    f"Find the circle formed by all points that are {times} as far from ${point(*a)}$ as "
                    f"from ${point(*b)}$. {form}"
                ),
                (
                    f"A ship keeps {times} as far from a lighthouse at ${point(*a)}$ as from a buoy at "
                    f"${point(*b)}$. Its course is a circle; what is its equation? {form}"
                ),
            )
        )
        return posed("circle", say, circle(*c, k * k * (u * u + v * v)), how=how, p=a, q=b, k=k)
    if how == "squares":
        m, (u, v) = _spot(rng, 5), drawn(lambda: _spot(rng, 5), lambda t: t != (0, 0))
        a, b = (m[0] - u, m[1] - v), (m[0] + u, m[1] + v)
        square = rng.randint(1, 40)
        total = 2 * square + 2 * (u * u + v * v)
        say = (
            f"For which points is the sum of the squares of the distances from ${point(*a)}$ and "
            f"${point(*b)}$ equal to ${total}$? They form a circle. {form}"
        )
        return posed("circle", say, circle(*m, square), how=how, p=a, q=b, k=total)
    h, k = _spot(rng, 3)
    r = rng.randint(1, 6) * 2
    c = (2 * h, 2 * k)
    p = drawn(lambda: (2 * rng.randint(-4, 4), 2 * rng.randint(-4, 4)), lambda t: t != c)
    say = rng.choice(
        (
            (
                f"Point $Q$ runs around the circle ${circle(*c, r * r)}$, and $M$ is the midpoint of the "
                f"segment from ${point(*p)}$ to $Q$. Then $M$ runs around a circle, too. Find its "
                f"equation. {form}"
            ),
            (
                f"The circle ${circle(*c, r * r)}$ is shrunk by a dilation with center ${point(*p)}$ and "
                f"scale factor $\\frac{{1}}{{2}}$. What is the equation of the image? {form}"
            ),
        )
    )
    middle = h + p[0] // 2, k + p[1] // 2
    return posed("circle", say, circle(*middle, r * r // 4), how=how, p=p, q=c, k=r * r)


def _compass(rng: Random) -> Problem:
    """Two arcs meet above AB: the third corner of a triangle by its sides."""
    a, h, c = rng.choice(TRIPLES[:3])
    b2, _h2, d = rng.choice(((9, 12, 15), (5, 12, 13), (16, 12, 20), (35, 12, 37)))
    f = 12 // h if 12 % h == 0 else 0
    if not f or (a * f, c * f) == (b2, d):
        return _compass(rng)
    left, r, right, s = a * f, c * f, b2, d
    base = left + right
    how = rng.choice(("height", "area", "split"))
    n, m, k = letters(rng, 3)
    setting = rng.choice(
        (
            (
                f"Segment $\\overline{{{n}{m}}}$ is ${base}$ long. With a compass, an arc of radius ${r}$ is "
                f"drawn around ${n}$ and an arc of radius ${s}$ around ${m}$; they meet at ${k}$ on one side "
                "of the segment."
            ),
            (
                f"To construct triangle ${n}{m}{k}$, Ida draws $\\overline{{{n}{m}}}$ with length ${base}$, "
                f"sets her compass to ${r}$ and strikes an arc from ${n}$, then sets it to ${s}$ and strikes "
                f"one from ${m}$. The arcs cross at ${k}$."
            ),
        )
    )
    if how == "height":
        return posed(
            "compass",
            f"{setting} How far is ${k}$ from the line ${n}{m}$?",
            12,
            how=how,
            values=[base, r, s],
        )
    if how == "area":
        return posed(
            "compass",
            f"{setting} What is the area of triangle ${n}{m}{k}$?",
            base * 6,
            how=how,
            values=[base, r, s],
        )
    return posed(
        "compass",
        f"{setting} The perpendicular from ${k}$ to $\\overline{{{n}{m}}}$ is constructed; its foot is "
        f"$F'$. Find ${n}F'$.".replace("F'", "Z" if "Z" not in (n, m, k) else "D"),
        left,
        how=how,
        values=[base, r, s],
    )


def _bisecting(rng: Random) -> Problem:
    how = rng.choice(("kite", "repeat", "thales"))
    if how == "kite":
        a, b, c = rng.choice(TRIPLES[:4])
        f = rng.randint(1, 4)
        if rng.choice((True, False)):
            a, b = b, a
        a, b, c = a * f, b * f, c * f
        say = rng.choice(
            (
                (
                    f"To bisect a segment of length ${2 * a}$, arcs of radius ${c}$ are drawn around both of "
                    "its ends. They cross at two points. How far apart are the two points?"
                ),
                (
                    f"Points $A$ and $B$ are ${2 * a}$ apart. The circles of radius ${c}$ around $A$ and "
                    "around $B$ meet at $C$ and $D$. Find the area of quadrilateral $ACBD$."
                ),
            )
        )
        whole = "area" in say
        return posed(
            "construct", say, 2 * a * b if whole else 2 * b, how=how, values=[2 * a, c], area=whole
        )
    if how == "thales":
        q, p = drawn(lambda: (rng.randint(1, 12), rng.randint(2, 20)), lambda t: t[0] != t[1])
        say = rng.choice(
            (
                (
                    f"On a line, points $A$, $B$ and $C$ follow one another with $AB = {p}$ and $BC = {q}$. "
                    "A semicircle is drawn on diameter $\\overline{AC}$, and the perpendicular to the line "
                    "at $B$ meets it at $D$. What is the exact length of $\\overline{BD}$?"
                ),
                (
                    f"Ines constructs a square of the same area as a {p} by {q} rectangle: she puts the two "
                    "sides end to end, draws a semicircle over the whole, and erects a perpendicular "
                    "where the sides meet, up to the semicircle. How long, exactly, is this perpendicular?"
                ),
            )
        )
        return posed("construct", say, root(p * q), how=how, values=[p, q], area=False)
    n = rng.randint(2, 5)
    angle = rng.choice((16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176)) * rng.choice((1,))
    if angle % 2**n:
        return _bisecting(rng)
    say = rng.choice(
        (
            (
                f"An angle of ${angle}^\\circ$ is bisected with ruler and compass, one of the halves is "
                f"bisected again, and so on, ${n}$ bisections in all. The smallest of the angles obtained "
                "is then laid off once outside the original angle, next to one of its sides. How many "
                "degrees has the enlarged angle?"
            ),
        )
    )
    return posed("construct", say, angle + angle // 2**n, how=how, values=[angle, n], area=False)


def _bank(rng: Random) -> Problem:
    return _river(rng, ("river",))


def _on_the_axis(rng: Random) -> Problem:
    return _river(rng, ("axis", "place"))


def _river(rng: Random, asked: tuple[str, ...]) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    if rng.choice((True, False)):
        a, b = b, a
    along, total, way = a * f, b * f, c * f
    p = drawn(lambda: rng.randint(1, total - 1), lambda v: v * 2 != total)
    q = total - p
    how = rng.choice(asked)
    if how == "river":
        say = rng.choice(
            (
                (
                    f"A shepherd leads a flock from a hut to water at a straight river bank and from there to a pen. The "
                    f"hut is {p} km from the bank, the pen {q} km on the same side, and the two are {along} km apart "
                    "measured along the bank. What is the least number of km the flock has to walk?"
                ),
                (
                    f"A cable must run from the top of a {p} m mast to some point of the level ground and on to the top of "
                    f"a {q} m mast that stands {along} m away from the first. What is its least possible length in meters?"
                ),
                (
                    f"Two cabins stand on the same side of a straight river, {p} km and {q} km from it. The "
                    f"points of the bank nearest to them are {along} km apart. What is the length, in km, of "
                    "the shortest walk from one cabin to the river and on to the other cabin?"
                ),
                (
                    f"A billiard ball lies {p} dm from a straight cushion and another lies {q} dm from it; "
                    f"measured along the cushion they are {along} dm apart. One ball is shot so that it "
                    "bounces once off the cushion and hits the other. How many dm does it travel, ball "
                    "sizes ignored?"
                ),
            )
        )
        return posed("river", say, way, how=how, values=[p, q, along])
    x = rng.randint(-6, 6)
    if how == "axis":
        say = rng.choice(
            (
                (
                    f"Among all points $P$ of the $x$-axis, one makes the path from ${point(x, p)}$ to $P$ and on to "
                    f"${point(x + along, q)}$ as short as it can be. How long is this path?"
                ),
                (
                    f"A light ray starts at ${point(x, p)}$, is reflected by the $x$-axis and arrives at "
                    f"${point(x + along, q)}$. What distance has it traveled?"
                ),
                (
                    f"Point $P$ moves on the $x$-axis. Find the smallest value of $PA + PB$ for "
                    f"$A = {point(x, p)}$ and $B = {point(x + along, q)}$."
                ),
                (
                    f"What is the length of the shortest path from ${point(x, p)}$ to "
                    f"${point(x + along, q)}$ that touches the $x$-axis?"
                ),
            )
        )
        return posed("river", say, way, how=how, values=[x, p, x + along, q])
    at = x + Fraction(along * p, total)
    say = rng.choice(
        (
            (
                f"A pump is to be put on a straight pipeline along the $x$-axis so that the pipes from it to villages at "
                f"${point(x, p)}$ and ${point(x + along, q)}$ are as short as possible in total. At which "
                "$x$-coordinate should it stand?"
            ),
            (
                f"For which number $t$ is the sum of the distances from $(t, 0)$ to ${point(x, p)}$ and to "
                f"${point(x + along, q)}$ as small as possible?"
            ),
            (
                f"A ray of light from ${point(x, p)}$ is reflected by a mirror on the $x$-axis and then "
                f"passes through ${point(x + along, q)}$. At which $x$-coordinate does it hit the mirror?"
            ),
        )
    )
    return posed("river", say, at, how=how, values=[x, p, x + along, q])


def _garland(rng: Random) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    around, high = a * f, b * f
    turns = rng.choice((1, 1, 2))
    if around % turns:
        turns = 1
    say = rng.choice(
        (
            (
                f"Lights are wound {turns} {'time' if turns == 1 else 'times'} in an even spiral around a "
                f"cylindrical pillar {high} feet tall with a circumference of {around // turns} feet, from the base to a "
                "point of the rim straight above the start. What length of lights, in feet, is needed?"
            ),
            (
                f"A column is {high} feet high and {around // turns} feet around. A garland winds "
                f"evenly {turns} {'time' if turns == 1 else 'times'} around it from the bottom to the "
                "top, ending right above where it began. How long is the garland, in feet?"
            ),
            (
                f"A vine climbs a round tree trunk with a circumference of {around // turns} feet. It "
                f"makes {turns} full {'turn' if turns == 1 else 'turns'} at a steady slope while "
                f"climbing {high} feet. Find the length of the vine in feet."
            ),
        )
    )
    return posed("surface", say, c * f, how="cylinder", values=[high, around // turns, turns])


def _box_path(rng: Random) -> Problem:
    a, b, c = drawn(
        lambda: (rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 12)),
        lambda t: len(set(t)) > 1 and max(t) > 2,
    )
    shortest = min((a + b) ** 2 + c * c, (b + c) ** 2 + a * a, (a + c) ** 2 + b * b)
    say = rng.choice(
        (
            (
                f"A spider sits in a corner of a closed box with edges ${a}$, ${b}$ and ${c}$, and a fly in the corner "
                "diagonally opposite, so that the longest diagonal of the box joins them. Exactly how far must the "
                "spider crawl along the faces, at least?"
            ),
            (
                f"Find the exact length of the shortest path on the faces of a ${a} \\times {b} \\times {c}$ block from "
                "one vertex to the opposite vertex, the one with which it shares no face."
            ),
            (
                f"An ant walks on the surface of a box that measures {a} by {b} by {c}, from one corner to "
                "the corner farthest from it, opposite through the middle of the box. What is the exact "
                "length of its shortest path?"
            ),
            (
                f"A cable is to be laid on the walls, floor or ceiling of a room {a} m long, {b} m wide and "
                f"{c} m high, from a lower corner to the diagonally opposite upper corner. Exactly how many "
                "meters long is the shortest possible cable?"
            ),
        )
    )
    return posed("surface", say, root(shortest), how="box", values=[a, b, c])


def _elevation(rng: Random) -> Problem:
    d = rng.randint(2, 30) * 3
    u = rng.choice(("m", "feet"))
    angle = rng.choice((30, 60))
    height = root(3, Fraction(d, 3)) if angle == 30 else root(3, d)
    say = rng.choice(
        (
            (
                f"From a point on level ground {d} {u} from the foot of a tower, the top is seen at an "
                f"angle of elevation of ${angle}^\\circ$. What is the exact height of the tower, in {u}?"
            ),
            (
                f"The shadow of a vertical pole on level ground is {d} {u} long when the sun stands "
                f"${angle}^\\circ$ above the horizon. Exactly how tall is the pole, in {u}?"
            ),
        )
    )
    return posed("heights", say, height, how="single", d=d, angles=[angle])


def _heights(rng: Random) -> Problem:
    """Angles of 30, 45 and 60 degrees of elevation."""
    how = rng.choice(("two", "pair"))
    d = rng.randint(2, 30) * 3
    u = rng.choice(("m", "feet"))
    low, high = rng.choice(((30, 60), (30, 45), (45, 60)))
    if how == "two":
        # (h cot low - h cot high) = d
        answer = {
            (30, 60): root(3, Fraction(d, 2)),
            (30, 45): _sum(Fraction(d, 2), Fraction(d, 2)),
            (45, 60): _sum(Fraction(3 * d, 2), Fraction(d, 2)),
        }[low, high]
        say = rng.choice(
            (
                (
                    f"Walking straight toward a tower on level ground, one sees its top at an angle of "
                    f"elevation of ${low}^\\circ$, and after {d} {u} more at ${high}^\\circ$. What is the "
                    f"exact height of the tower above eye level, in {u}?"
                ),
                (
                    f"From two points on level ground, in line with the foot of a vertical cliff and on the "
                    f"same side of it, {d} {u} apart, the angles of elevation of its top are "
                    f"${low}^\\circ$ and ${high}^\\circ$. Find the exact height of the cliff in {u}."
                ),
            )
        )
        return posed("heights", say, answer, how=how, d=d, angles=[low, high])
    say = (
        f"A lookout at the top of a vertical cliff {d} {u} above the sea sees two boats straight ahead, "
        f"one behind the other, at angles of depression of ${low}^\\circ$ and ${high}^\\circ$. Exactly how "
        f"far apart are the boats, in {u}?"
    )
    answer = {
        (30, 60): root(3, Fraction(2 * d, 3)),
        (30, 45): f"{root(3, d)} - {d}",
        (45, 60): f"{d} - {root(3, Fraction(d, 3))}",
    }[low, high]
    return posed("heights", say, answer, how=how, d=d, angles=[low, high])


def _sum(whole: Fraction, threes: Fraction) -> str:
    r"""``a + b\sqrt{3}``, over 2 where a fraction."""
    if whole.denominator == 1:
        return f"{whole} + {root(3, threes)}"
    top = "" if threes.numerator == 1 else str(threes.numerator)
    return f"\\frac{{{whole.numerator} + {top}\\sqrt{{3}}}}{{2}}"


FAMILIES = (
    of_kinds(
        "geometry_motions",
        (_rotation,),
        (_composed,),
        (_motion_center, _composed),
        "rotations, reflections, translations and dilations, one after another",
    ),
    of_kinds(
        "geometry_loci",
        (_stadium,),
        (_parallels,),
        (_locus_circle,),
        "sets of points with a property",
    ),
    of_kinds(
        "geometry_constructions",
        (_bisecting, _elevation),
        (_compass, _bisecting),
        (_compass, _heights),
        "what a construction with ruler and compass, or a sighting, yields",
    ),
    of_kinds(
        "geometry_shortest_ways",
        (_bank, _garland),
        (_on_the_axis, _bank),
        (_box_path,),
        "shortest paths by reflecting and unrolling",
    ),
)
