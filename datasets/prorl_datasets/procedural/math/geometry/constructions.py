"""Constructions with ruler and compass, sightings, shortest ways."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    letters,
    point,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


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
        q, p = redrawn(lambda: (rng.randint(1, 12), rng.randint(2, 20)), lambda t: t[0] != t[1])
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
    angle = rng.choice((16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176))
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
    p = redrawn(lambda: rng.randint(1, total - 1), lambda v: v * 2 != total)
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
    a, b, c = redrawn(
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
