"""Circles without coordinates: angles, chords and secants, arcs and sectors, figures inside."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    letters,
    others,
    times_pi,
    unit,
)
from prorl_datasets.procedural.math.kinds import drawn, of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


def _central(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    arc = rng.randint(15, 85) * 2
    how = rng.choice(("inscribed", "central", "third"))
    if how == "inscribed":
        say = rng.choice(
            (
                (
                    f"Points ${a}$, ${b}$ and ${c}$ lie on a circle with center $O$. If "
                    f"$\\angle {a}O{c} = {arc}^\\circ$ and ${b}$ lies on the major arc from ${a}$ to ${c}$,"
                    f" how many degrees is $\\angle {a}{b}{c}$?"
                ),
                (
                    f"From a seat on the rim of a round arena, on the far side, the two ends of a stage "
                    f"on the rim are seen under a certain angle. From the center of the arena the stage "
                    f"is seen under an angle of ${arc}^\\circ$. What is the angle at the seat, in "
                    "degrees?"
                ),
            )
        )
        return posed("central", say, arc // 2, how=how, arc=arc)
    if how == "central":
        say = (
            f"Acute triangle ${a}{b}{c}$ is inscribed in a circle with center $O$. Angle ${b}$ "
            f"measures ${arc // 2}^\\circ$. Find the measure of $\\angle {a}O{c}$ in degrees."
        )
        return posed("central", say, arc, how=how, arc=arc // 2)
    say = rng.choice(
        (
            (
                f"$\\overline{{{a}{b}}}$ is a diameter of a circle and ${c}$ is another point of the "
                f"circle. If $\\angle {b}{a}{c} = {arc // 2}^\\circ$, find $\\angle {a}{b}{c}$ in degrees."
            ),
            (
                f"A triangle with one side along a diameter of a circle has its third corner ${c}$ on "
                f"the circle. One of its angles measures ${arc // 2}^\\circ$. "
                "What is the smallest angle of the triangle, in degrees?"
            ),
        )
    )
    if arc == 90:
        return _central(rng)
    answer = 90 - arc // 2
    if "smallest" in say:
        answer = min(arc // 2, answer)
    return posed("central", say, answer, how="smallest" if "smallest" in say else how, arc=arc // 2)


def _cyclic(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    how = rng.choice(("opposite", "ratio", "arcs"))
    if how == "opposite":
        x = rng.randint(8, 25)
        m, n = drawn(
            lambda: (rng.randint(1, 5), rng.randint(1, 5)), lambda t: 30 < (t[0] * x) < 150
        )
        rest = 180 - (m + n) * x
        if rest == 0 or not 20 < n * x + rest < 160 or abs(rest) > 80:
            return _cyclic(rng)
        sign = "+" if rest > 0 else "-"
        say = (
            f"Quadrilateral ${a}{b}{c}{d}$ is inscribed in a circle. If "
            f"$\\angle {a} = ({'' if m == 1 else m}x)^\\circ$ and "
            f"$\\angle {c} = ({'' if n == 1 else n}x {sign} {abs(rest)})^\\circ$, find $\\angle {c}$ in "
            "degrees."
        )
        return posed("cyclic", say, n * x + rest, how=how, values=[m, n, rest])
    if how == "ratio":
        p, q, r = drawn(
            lambda: (rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)),
            lambda t: len(set(t)) == 3 and t[0] + t[2] > t[1] and 180 % (t[0] + t[2]) == 0,
        )
        step = 180 // (p + r)
        say = rng.choice(
            (
                (
                    f"The angles ${a}$, ${b}$ and ${c}$ of cyclic quadrilateral ${a}{b}{c}{d}$ are in the "
                    f"ratio ${p} : {q} : {r}$. Find angle ${d}$ in degrees."
                ),
                (
                    f"A quadrilateral ${a}{b}{c}{d}$ has all its corners on one circle, and "
                    f"$\\angle {a} : \\angle {b} : \\angle {c} = {p} : {q} : {r}$. What is the degree "
                    f"measure of $\\angle {d}$?"
                ),
            )
        )
        return posed("cyclic", say, 180 - q * step, how=how, values=[p, q, r])
    arcs = drawn(
        lambda: [rng.randint(30, 150) for _ in range(3)], lambda t: 30 <= 360 - sum(t) <= 160
    )
    say = rng.choice(
        (
            (
                f"Points ${a}$, ${b}$, ${c}$ and ${d}$ lie on a circle in this order. The arcs "
                f"${a}{b}$, ${b}{c}$ and ${c}{d}$ that contain none of the other points measure "
                f"${arcs[0]}^\\circ$, ${arcs[1]}^\\circ$ and ${arcs[2]}^\\circ$. What angle of quadrilateral "
                f"${a}{b}{c}{d}$ is at ${b}$, in degrees?"
            ),
            (
                f"Going around a circle one passes ${a}$, ${b}$, ${c}$, ${d}$, and from one to the next "
                f"the arcs are ${arcs[0]}^\\circ$, ${arcs[1]}^\\circ$ and ${arcs[2]}^\\circ$. Find "
                f"$\\angle {a}{b}{c}$ in degrees."
            ),
        )
    )
    return posed("cyclic", say, Fraction(360 - arcs[0] - arcs[1], 2), how=how, values=arcs)


def _two_chords(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    x, y = drawn(lambda: (rng.randint(20, 150), rng.randint(20, 150)), lambda t: t[0] != t[1])
    how = rng.choice(("inside", "outside", "back", "tangents"))
    if how == "inside":
        if x + y > 300:
            return _two_chords(rng)
        say = (
            f"Chords $\\overline{{{a}{c}}}$ and $\\overline{{{b}{d}}}$ of a circle cross at ${m}$. Arc "
            f"${a}{b}$ measures ${x}^\\circ$ and arc ${c}{d}$ measures ${y}^\\circ$, neither containing "
            f"another of the four points. Find $\\angle {a}{m}{b}$ in degrees."
        )
        return posed("chords", say, Fraction(x + y, 2), how=how, x=x, y=y)
    if how == "tangents":
        say = rng.choice(
            (
                (
                    f"The tangents to a circle at ${a}$ and ${b}$ meet at ${m}$. If "
                    f"$\\angle {a}{m}{b} = {x}^\\circ$ and ${c}$ is a point of the major arc from ${a}$ to "
                    f"${b}$, find $\\angle {a}{c}{b}$ in degrees."
                ),
                (
                    f"From a point ${m}$ outside a circle, two tangent lines touch it at ${a}$ and ${b}$. "
                    f"They make an angle of ${x}^\\circ$ with each other. Point ${c}$ lies on the longer "
                    f"arc between ${a}$ and ${b}$. How many degrees does $\\angle {a}{c}{b}$ measure?"
                ),
            )
        )
        return posed("chords", say, 90 - Fraction(x, 2), how=how, x=x, y=0)
    low, high = sorted((x, y))
    if low + high > 300 or (how == "back" and (high - low) % 2):
        return _two_chords(rng)
    if how == "outside":
        say = (
            f"Two secants from a point ${m}$ outside a circle cut off arcs of ${high}^\\circ$ and "
            f"${low}^\\circ$ from the circle, the parts of it between the secants. Find the angle "
            f"between the secants at ${m}$, in degrees."
        )
        return posed("chords", say, Fraction(high - low, 2), how=how, x=low, y=high)
    say = (
        f"The angle at ${m}$ between the secants ${m}{a}{b}$ and ${m}{d}{c}$ of a circle is "
        f"${(high - low) // 2}^\\circ$; ${a}$ and ${d}$ are the points nearer to ${m}$. The minor arc "
        f"${b}{c}$ measures ${high}^\\circ$. What is the measure of the minor arc ${a}{d}$, in degrees?"
    )
    return posed("chords", say, low, how=how, x=(high - low) // 2, y=high)


def _tangent_radius(rng: Random) -> Problem:
    a, b, c = rng.choice(TRIPLES[:5])
    f = rng.randint(1, 3)
    a, b, c = a * f, b * f, c * f
    if rng.choice((True, False)):
        a, b = b, a
    u = unit(rng)
    how = rng.choice(("tangent", "chord", "distance"))
    if how == "tangent":
        say = rng.choice(
            (
                (
                    f"Point $P$ is {c} {u} from the center of a circle of radius {a} {u}. How long, in "
                    f"{u}, is a tangent segment from $P$ to the circle?"
                ),
                (
                    f"$\\overline{{PT}}$ touches a circle with center $O$ at $T$. If $OT = {a}$ and "
                    f"$OP = {c}$, what is $PT$?"
                ),
            )
        )
        return posed("radius", say, b, how=how, p=a, q=c)
    if how == "chord":
        say = rng.choice(
            (
                (
                    f"A chord lies {a} {u} from the center of a circle with radius {c} {u}. Find the "
                    f"length of the chord in {u}."
                ),
                (
                    f"A round tunnel with an inner radius of {c} feet has a flat floor {a} feet below its "
                    "center. How many feet wide is the floor?"
                ),
            )
        )
        return posed("radius", say, 2 * b, how=how, p=a, q=c)
    say = rng.choice(
        (
            (
                f"A chord of length {2 * b} {u} is drawn in a circle of radius {c} {u}. What is the "
                f"distance from the center to the chord, in {u}?"
            ),
            (
                f"The radius of a circle is ${c}$, and $\\overline{{AB}}$ is a chord with $AB = {2 * b}$. "
                "How far is the midpoint of $\\overline{AB}$ from the center?"
            ),
        )
    )
    return posed("radius", say, a, how=how, p=2 * b, q=c)


def _chord_parts(rng: Random) -> Problem:
    return _crossing_chords(rng, ("part", "whole"))


def _chord_whole(rng: Random) -> Problem:
    return _crossing_chords(rng, ("quadratic",))


def _crossing_chords(rng: Random, asked: tuple[str, ...]) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    p, q, r = drawn(
        lambda: (rng.randint(2, 15), rng.randint(2, 15), rng.randint(2, 15)),
        lambda t: t[0] * t[1] % t[2] == 0 and t[2] not in t[:2],
    )
    s = p * q // r
    how = rng.choice(asked)
    if how == "part":
        say = rng.choice(
            (
                (
                    f"Chords $\\overline{{{a}{b}}}$ and $\\overline{{{c}{d}}}$ of a circle intersect at "
                    f"${m}$. If ${a}{m} = {p}$, ${m}{b} = {q}$ and ${c}{m} = {r}$, find ${m}{d}$."
                ),
                (
                    f"Two straight paths cross inside a round park. From the crossing it is {p} m and {q} "
                    f"m along one path to the edge of the park, and {r} m one way along the other. How "
                    "many meters is it the other way?"
                ),
            )
        )
        return posed("crossing", say, s, how=how, values=[p, q, r])
    if how == "whole":
        say = (
            f"Inside a circle, chord $\\overline{{{a}{b}}}$ is cut by chord $\\overline{{{c}{d}}}$ into "
            f"pieces of ${p}$ and ${q}$. One piece of $\\overline{{{c}{d}}}$ is ${r}$. What is "
            f"${c}{d}$?"
        )
        return posed("crossing", say, r + s, how=how, values=[p, q, r])
    if r == s:
        return _crossing_chords(rng, asked)
    say = rng.choice(
        (
            (
                f"Chord $\\overline{{{c}{d}}}$ has length ${r + s}$ and meets chord "
                f"$\\overline{{{a}{b}}}$ at ${m}$, where ${a}{m} = {p}$ and ${b}{m} = {q}$. How long is the "
                f"shorter of the two parts of $\\overline{{{c}{d}}}$?"
            ),
            (
                f"A chord of length ${r + s}$ is cut by another chord of the same circle, which it "
                f"divides into segments of ${p}$ and ${q}$. Find the length of the longer segment of "
                "the first chord."
            ),
        )
    )
    longer = "longer" in say
    return posed(
        "crossing",
        say,
        max(r, s) if longer else min(r, s),
        how=how,
        values=[p, q, r + s],
        longer=longer,
    )


def _secants(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    how = rng.choice(("two", "tangent", "radius", "back"))
    if how == "two":
        x, y, z = drawn(
            lambda: (rng.randint(2, 12), rng.randint(2, 20), rng.randint(2, 14)),
            lambda t: (
                t[0] * (t[0] + t[1]) % t[2] == 0
                and t[0] * (t[0] + t[1]) // t[2] > t[2]
                and t[2] != t[0]
            ),
        )
        far = x * (x + y) // z
        say = (
            f"Two rays from ${m}$ cut a circle, the first at ${a}$ and then ${b}$, the second at "
            f"${c}$ and then ${d}$. If ${m}{a} = {x}$, ${a}{b} = {y}$ and ${m}{c} = {z}$, find "
            f"${c}{d}$."
        )
        return posed("secants", say, far - z, how=how, values=[x, y, z])
    if how == "tangent":
        x, t = drawn(
            lambda: (rng.randint(1, 18), rng.randint(2, 24)),
            lambda v: v[1] > v[0] and v[1] * v[1] % v[0] == 0 and v[1] ** 2 // v[0] < 80,
        )
        say = rng.choice(
            (
                (
                    f"From ${m}$ a tangent touches a circle at ${a}$ and a secant meets it at ${b}$ and "
                    f"${c}$, with ${b}$ between ${m}$ and ${c}$. If ${m}{a} = {t}$ and ${m}{b} = {x}$, "
                    f"what is ${b}{c}$?"
                ),
                (
                    f"A tangent segment from a point to a circle has length ${t}$. A line through the "
                    f"same point enters the circle at distance ${x}$ from the point. How long is the "
                    "chord that the circle cuts out of the line?"
                ),
            )
        )
        return posed("secants", say, t * t // x - x, how=how, values=[t, x])
    if how == "radius":
        r = rng.randint(2, 20)
        x, y = drawn(lambda: (rng.randint(1, 20), rng.randint(2, 30)), lambda v: v[1] < 2 * r)
        power = x * (x + y)
        if not any(n * n == power + r * r for n in range(1, 60)):
            return _secants(rng)
        far = next(n for n in range(1, 60) if n * n == power + r * r)
        say = (
            f"A secant from ${m}$ meets a circle of radius ${r}$ at ${a}$ and ${b}$, with "
            f"${m}{a} = {x}$ and ${a}{b} = {y}$. How far is ${m}$ from the center of the circle?"
        )
        return posed("secants", say, far, how=how, values=[r, x, y])
    x, t = drawn(
        lambda: (rng.randint(1, 18), rng.randint(2, 24)),
        lambda v: v[1] > v[0] and v[1] * v[1] % v[0] == 0 and v[1] ** 2 // v[0] < 80,
    )
    say = rng.choice(
        (
            (
                f"From a point ${m}$ outside a circle the tangent segment is ${t}$ long. A secant through "
                f"${m}$ has a chord of length ${t * t // x - x}$ inside the circle. What is the distance "
                f"from ${m}$ to the nearer end of the chord?"
            ),
            (
                f"The tangent from ${m}$ to a circle has length ${t}$; the secant ${m}{b}{c}$ has "
                f"${b}{c} = {t * t // x - x}$, with ${b}$ between ${m}$ and ${c}$. Find ${m}{b}$."
            ),
        )
    )
    return posed("secants", say, x, how=how, values=[t, t * t // x - x])


def _arc(rng: Random) -> Problem:
    angle = rng.choice((30, 36, 40, 45, 60, 72, 80, 90, 100, 120, 135, 144, 150, 160, 210, 240))
    r = rng.randint(3, 24)
    u = unit(rng)
    how = rng.choice(("length", "area", "perimeter"))
    part = Fraction(angle, 360)
    if how == "length":
        say = rng.choice(
            (
                (
                    f"In a circle of radius {r} {u}, how long is the arc of a ${angle}^\\circ$ central "
                    f"angle? Answer in terms of $\\pi$, in {u}."
                ),
                (
                    f"The tip of a clock hand {r} cm long moves through an angle of ${angle}^\\circ$. "
                    "Find the length of its path in cm, in terms of $\\pi$."
                ),
            )
        )
        return posed("arc", say, times_pi(2 * r * part), how=how, angle=angle, r=r)
    if how == "area":
        say = rng.choice(
            (
                (
                    f"A lawn sprinkler reaches {r} m and turns through an angle of ${angle}^\\circ$. What "
                    "area does it water, in square meters? Leave $\\pi$ in the answer."
                ),
                (
                    f"Find the area of a sector with radius {r} {u} and central angle ${angle}^\\circ$, in "
                    f"square {u} and in terms of $\\pi$."
                ),
            )
        )
        return posed("arc", say, times_pi(r * r * part), how=how, angle=angle, r=r)
    say = rng.choice(
        (
            (
                f"A slice of a round cake is a sector with an angle of ${angle}^\\circ$ and straight edges of "
                f"{r} {u}. What is the perimeter of the slice, seen from above, in {u}? Give an exact answer "
                "with $\\pi$."
            ),
            (
                f"Exactly how long is the boundary of a sector of radius {r} {u} with a central angle of "
                f"${angle}^\\circ$, in {u}?"
            ),
            (
                f"A wire is bent along the edge of a circular sector: two radii of {r} {u} and the arc between them, "
                f"which belongs to an angle of ${angle}^\\circ$. Find the length of the wire in {u}, exactly."
            ),
        )
    )
    return posed("arc", say, f"{2 * r} + {times_pi(2 * r * part)}", how=how, angle=angle, r=r)


def _arc_back(rng: Random) -> Problem:
    angle = rng.choice((30, 36, 40, 45, 60, 72, 80, 90, 100, 120, 135, 144, 150, 160))
    r = rng.randint(3, 24)
    part = Fraction(angle, 360)
    how = rng.choice(("radius", "angle", "area"))
    area, length = r * r * part, 2 * r * part
    if how == "radius":
        say = rng.choice(
            (
                (
                    f"A sector with a central angle of ${angle}^\\circ$ has area ${times_pi(area)}$. Find its "
                    "radius."
                ),
                (
                    f"How long is the radius of a circle in which a sector of ${angle}^\\circ$ covers an area of "
                    f"${times_pi(area)}$?"
                ),
                (
                    f"A windscreen wiper turns through ${angle}^\\circ$ about one of its ends and sweeps an area of "
                    f"${times_pi(area)}$ square dm. Find its length in dm."
                ),
            )
        )
        return posed("arc_back", say, r, how=how, values=[angle, area.numerator, area.denominator])
    if how == "angle":
        say = rng.choice(
            (
                (
                    f"A pendulum {r} cm long swings along an arc of ${times_pi(length)}$ cm. "
                    "Through how many degrees does it swing?"
                ),
                (
                    f"An arc of a circle with radius ${r}$ is ${times_pi(length)}$ long. What is its "
                    "central angle in degrees?"
                ),
            )
        )
        return posed(
            "arc_back", say, angle, how=how, values=[r, length.numerator, length.denominator]
        )
    say = rng.choice(
        (
            (
                f"The arc of a sector is ${times_pi(length)}$ long and its area is ${times_pi(area)}$. "
                "What is the radius of the circle?"
            ),
            (
                f"A fan opens to a sector of area ${times_pi(area)}$ whose curved edge measures "
                f"${times_pi(length)}$. How long is each straight edge?"
            ),
        )
    )
    return posed(
        "arc_back",
        say,
        r,
        how=how,
        values=[length.numerator, length.denominator, area.numerator, area.denominator],
    )


def _segment_area(rng: Random) -> Problem:
    r = rng.randint(2, 12) * 2
    how = rng.choice(("quarter", "sixth", "third", "lens"))
    if how == "quarter":
        say = rng.choice(
            (
                (
                    f"A chord of a circle with radius ${r}$ is seen from the center at a right angle. Find "
                    "the exact area of the smaller region between the chord and the circle."
                ),
                (
                    f"A round table top of radius {r} dm is trimmed along a straight line that joins two "
                    "ends of perpendicular radii. What is the exact area, in square dm, of the smaller "
                    "piece?"
                ),
            )
        )
        return posed("segment", say, f"{times_pi(Fraction(r * r, 4))} - {r * r // 2}", how=how, r=r)
    if how == "sixth":
        say = rng.choice(
            (
                (
                    f"In a circle of radius ${r}$ a chord of length ${r}$ is drawn. Find the exact area of the "
                    "smaller of the two parts into which it divides the disk."
                ),
                (
                    f"A chord of a circle is as long as its radius, ${r}$. It cuts the disk into two segments. What is the "
                    "exact area of the smaller one?"
                ),
            )
        )
        answer = f"{times_pi(Fraction(r * r, 6))} - {root(3, Fraction(r * r, 4))}"
        return posed("segment", say, answer, how=how, r=r)
    if how == "third":
        say = rng.choice(
            (
                (
                    f"An equilateral triangle is inscribed in a circle of radius ${r}$. What is the exact area "
                    "inside the circle but outside the triangle?"
                ),
                (
                    f"Three points divide a circle of radius ${r}$ into equal arcs and are joined by chords. Find the exact "
                    "total area of the three regions between the chords and the circle."
                ),
            )
        )
        answer = f"{times_pi(r * r)} - {root(3, Fraction(3 * r * r, 4))}"
        return posed("segment", say, answer, how=how, r=r)
    say = rng.choice(
        (
            (
                f"Inside a square of side ${r}$, two quarter circles of radius ${r}$ are drawn around "
                "opposite corners. Find the exact area of the region that lies inside both."
            ),
            (
                f"Two goats are tied to opposite corners inside a square pen with sides of {r} m, each on "
                f"a rope {r} m long. What is the exact area, in square meters, of the part of the pen "
                "that both can reach?"
            ),
        )
    )
    return posed("segment", say, f"{times_pi(Fraction(r * r, 2))} - {r * r}", how=how, r=r)


def _between(rng: Random) -> Problem:
    how = rng.choice(("annulus", "square", "inside", "chord"))
    u = unit(rng)
    if how == "annulus":
        p, q = drawn(lambda: (rng.randint(2, 15), rng.randint(3, 20)), lambda t: t[0] < t[1])
        say = rng.choice(
            (
                (
                    f"A washer is a metal ring with an inner radius of {p} mm and an outer radius of {q} mm. What is the area "
                    "of one of its flat sides, in square mm and in terms of $\\pi$?"
                ),
                (
                    f"Two circles with the same center have radii {p} {u} and {q} {u}. What is the area "
                    f"of the ring between them, in square {u} and in terms of $\\pi$?"
                ),
                (
                    f"A round pond of radius {p} m has a walkway {q - p} m wide around it. Find the area "
                    "of the walkway in square meters, in terms of $\\pi$."
                ),
            )
        )
        return posed(
            "between",
            say,
            times_pi(q * q - p * p),
            how=how,
            values=[p, q - p] if "pond" in say else [p, q],
            ring="pond" in say,
        )
    if how == "square":
        s = rng.randint(2, 15) * 2
        say = rng.choice(
            (
                (
                    f"A round plate just fits into a square box whose inner sides measure {s} cm. Seen from above, how many "
                    "square cm of the bottom of the box stay uncovered? Give an exact answer."
                ),
                (
                    f"The largest possible circle is cut out of a square sheet with sides of {s} {u}. What "
                    f"is the exact area of the waste, in square {u}?"
                ),
                (
                    f"A circle touches all four sides of a square of side ${s}$. Find the exact area of "
                    "the part of the square outside the circle."
                ),
            )
        )
        return posed(
            "between", say, f"{s * s} - {times_pi(s * s // 4)}", how=how, values=[s], ring=False
        )
    if how == "inside":
        r = rng.randint(2, 20)
        say = rng.choice(
            (
                (
                    f"A square is inscribed in a circle of radius ${r}$. Find the exact area of the region "
                    "inside the circle and outside the square."
                ),
                (
                    f"The four corners of a square lie on a circle of radius ${r}$. How much larger, exactly, is the area "
                    "of the disk than that of the square?"
                ),
                (
                    f"The largest possible square is sawn from a round log whose cross-section has a radius of {r} cm. Find "
                    "the exact area, in square cm, of the part of the cross-section that is cut away."
                ),
            )
        )
        return posed(
            "between", say, f"{times_pi(r * r)} - {2 * r * r}", how=how, values=[r], ring=False
        )
    half = rng.randint(2, 15)
    say = rng.choice(
        (
            (
                f"A chord of the larger of two concentric circles is tangent to the smaller one and has "
                f"length ${2 * half}$. What is the area of the ring between the circles, in terms of "
                "$\\pi$?"
            ),
            (
                f"Around a round island runs a ring-shaped canal. The longest straight line that a boat "
                f"can sail on the canal is {2 * half} km. Find the area of the canal in square km, in "
                "terms of $\\pi$."
            ),
        )
    )
    return posed("between", say, times_pi(half * half), how=how, values=[2 * half], ring=False)


def _common_tangent(rng: Random) -> Problem:
    how = rng.choice(("touching", "apart", "inner"))
    if how == "touching":
        m, n, k = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 3)
        p, q = m * m * k, n * n * k
        if p == q:
            return _common_tangent(rng)
        say = rng.choice(
            (
                (
                    f"A coin of radius {p} mm and a coin of radius {q} mm stand upright on a table, edge to edge in one "
                    "plane. How many mm apart are the points where they touch the table?"
                ),
                (
                    f"Circles of radii ${p}$ and ${q}$ touch each other externally and stand on the same "
                    "line, which they touch at two different points. How far apart are these points?"
                ),
                (
                    f"Two pipes with radii {p} cm and {q} cm lie side by side on a flat floor, touching. "
                    "What is the distance, in cm, between the lines along which they rest on the floor?"
                ),
            )
        )
        return posed("tangent", say, 2 * m * n * k, how=how, values=[p, q])
    a, b, c = rng.choice(TRIPLES[:5])
    f = rng.randint(1, 3)
    a, b, c = a * f, b * f, c * f
    if how == "apart":
        p = rng.randint(1, 9)
        if c <= 2 * p + a:
            return _common_tangent(rng)
        say = rng.choice(
            (
                (
                    f"The distance between the centers of two circles is ${c}$; their radii are ${p + a}$ and ${p}$. How long "
                    "is a common outer tangent, measured between the points of contact?"
                ),
                (
                    f"Two circles have radii ${p}$ and ${p + a}$, and their centers are ${c}$ apart. A line "
                    "touches both circles at different points and leaves both on the same side. Find the "
                    "distance between the points of contact."
                ),
                (
                    f"Two wheels with radii {p} cm and {p + a} cm are mounted {c} cm apart, measured from "
                    "axle to axle, and connected by a belt that is not crossed. How many cm long is each "
                    "straight part of the belt?"
                ),
            )
        )
        return posed("tangent", say, b, how=how, values=[p, p + a, c])
    p = drawn(lambda: rng.randint(1, a), lambda v: v < a)
    say = rng.choice(
        (
            (
                f"The centers of two circles with radii ${p}$ and ${a - p}$ are ${c}$ apart. A line touches "
                "both circles and separates them. How long is its part between the points of contact?"
            ),
            (
                f"A crossed belt runs around two wheels of radii {p} cm and {a - p} cm whose axles are {c} cm apart. "
                "Each of its straight parts leads from one wheel to the other, crossing between them. How many cm long "
                "is such a part?"
            ),
        )
    )
    return posed("tangent", say, b, how=how, values=[p, a - p, c])


def _nested(rng: Random) -> Problem:
    how = rng.choice(("semicircle", "quarter", "three", "arch"))
    if how == "semicircle":
        r = rng.randint(1, 20)
        say = rng.choice(
            (
                (
                    f"A square has one side on the diameter of a semicircle of radius ${r}$ and two corners "
                    "on the arc. What is the area of the square?"
                ),
                (
                    f"A tunnel has the cross-section of a semicircle with a radius of {r} m. A box with a "
                    "square front just passes through it, standing on the floor. Find the area of the "
                    "front in square meters."
                ),
            )
        )
        if r == 1:
            return _nested(rng)
        return posed("nested", say, Fraction(4 * r * r, 5), how=how, values=[r])
    if how == "quarter":
        r = rng.randint(2, 12)
        say = rng.choice(
            (
                (
                    f"A circle touches both straight edges of a quarter disk of radius ${r}$ and its arc. "
                    "Find the exact radius of the circle. Write it without a root in the denominator."
                ),
                (
                    f"A quarter of a round pizza of radius ${r}$ lies on a board. The largest possible round plate that fits "
                    "inside its outline is drawn. What is the exact radius of the plate, without a root in a denominator?"
                ),
            )
        )
        return posed("nested", say, f"{root(2, r)} - {r}", how=how, values=[r])
    if how == "three":
        r = rng.randint(2, 20)
        say = rng.choice(
            (
                (
                    f"Three circles of radius ${r}$ touch each other. Find the exact area of the curved "
                    "triangular gap between them."
                ),
                (
                    f"Three round logs, each with a radius of {r} cm, are tied into a bundle so that each "
                    "touches the other two. Looking at their ends, what is the exact area of the gap "
                    "between them, in square cm?"
                ),
            )
        )
        return posed(
            "nested", say, f"{root(3, r * r)} - {times_pi(Fraction(r * r, 2))}", how=how, values=[r]
        )
    p, q = drawn(
        lambda: (rng.randint(1, 12), rng.randint(1, 12)), lambda t: t[0] != t[1] and gcd(*t) == 1
    )
    say = rng.choice(
        (
            (
                f"Point $C$ divides diameter $\\overline{{AB}}$ of a semicircle so that $AC = {2 * p}$ and "
                f"$CB = {2 * q}$. Semicircles with diameters $\\overline{{AC}}$ and $\\overline{{CB}}$ are cut "
                "out of it. What area is left, in terms of $\\pi$?"
            ),
            (
                f"A semicircle stands on $\\overline{{AB}}$, and smaller semicircles on $\\overline{{AC}}$ and "
                f"$\\overline{{CB}}$ lie inside it, where $C$ is on $\\overline{{AB}}$ with $AC = {2 * p}$ and "
                f"$CB = {2 * q}$. Find the area between the three arcs, in terms of $\\pi$."
            ),
        )
    )
    return posed("nested", say, times_pi(p * q), how=how, values=[2 * p, 2 * q])


FAMILIES = (
    of_kinds(
        "geometry_circle_angles",
        (_central,),
        (_cyclic,),
        (_two_chords,),
        "inscribed angles, cyclic quadrilaterals, chords and tangents",
    ),
    of_kinds(
        "geometry_chords_and_secants",
        (_tangent_radius,),
        (_chord_parts,),
        (_secants, _chord_whole),
        "lengths of chords, tangents and secants",
    ),
    of_kinds(
        "geometry_sectors",
        (_arc,),
        (_arc_back,),
        (_segment_area,),
        "arcs, sectors and segments of circles",
    ),
    of_kinds(
        "geometry_circles_in_figures",
        (_between,),
        (_common_tangent,),
        (_nested,),
        "circles inside, around and beside other figures",
    ),
)
