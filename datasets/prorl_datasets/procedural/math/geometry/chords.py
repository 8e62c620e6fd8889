"""Angles at a circle, and lengths of its chords, tangents and secants."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    letters,
    others,
    unit,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
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
        m, n = redrawn(
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
        p, q, r = redrawn(
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
    arcs = redrawn(
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
    x, y = redrawn(lambda: (rng.randint(20, 150), rng.randint(20, 150)), lambda t: t[0] != t[1])
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
    p, q, r = redrawn(
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
        x, y, z = redrawn(
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
        x, t = redrawn(
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
        x, y = redrawn(lambda: (rng.randint(1, 20), rng.randint(2, 30)), lambda v: v[1] < 2 * r)
        power = x * (x + y)
        if not any(n * n == power + r * r for n in range(1, 60)):
            return _secants(rng)
        far = next(n for n in range(1, 60) if n * n == power + r * r)
        say = (
            f"A secant from ${m}$ meets a circle of radius ${r}$ at ${a}$ and ${b}$, with "
            f"${m}{a} = {x}$ and ${a}{b} = {y}$. How far is ${m}$ from the center of the circle?"
        )
        return posed("secants", say, far, how=how, values=[r, x, y])
    x, t = redrawn(
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
)
