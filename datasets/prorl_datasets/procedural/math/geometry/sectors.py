"""Arcs, sectors and segments; circles inside, around and beside other figures."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    times_pi,
    unit,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


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
        p, q = redrawn(lambda: (rng.randint(2, 15), rng.randint(3, 20)), lambda t: t[0] < t[1])
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
    p = redrawn(lambda: rng.randint(1, a), lambda v: v < a)
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
    p, q = redrawn(
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
