"""Cylinders, cones, balls, pyramids and tetrahedra."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import TRIPLES, times_pi, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem


def _edges(rng: Random, most: int = 12) -> tuple[int, int, int]:
    return redrawn(
        lambda: (rng.randint(2, most), rng.randint(2, most), rng.randint(2, most)),
        lambda t: len(set(t)) == 3,
    )


def _cylinder(rng: Random) -> Problem:
    r, h = rng.randint(2, 12), rng.randint(3, 20)
    u = unit(rng)
    how = rng.choice(("volume", "surface", "label"))
    if how == "volume":
        say = rng.choice(
            (
                (
                    f"A candle has the shape of a cylinder, {h} {u} tall and with a base of radius {r} {u}. In terms of "
                    f"$\\pi$, how many cubic {u} of wax is it made of?"
                ),
                (
                    f"A cylinder has radius {r} {u} and height {h} {u}. Find its volume in cubic {u}, in "
                    "terms of $\\pi$."
                ),
                (
                    f"How many cubic {u} of water does a cylindrical tank hold that is {2 * r} {u} across "
                    f"and {h} {u} deep? Leave $\\pi$ in your answer."
                ),
            )
        )
        wide = "across" in say
        return posed(
            "cylinder", say, times_pi(r * r * h), how=how, r=2 * r if wide else r, h=h, wide=wide
        )
    if how == "surface":
        say = rng.choice(
            (
                (
                    f"A closed can is {h} cm high and its lid has a radius of {r} cm. How many square cm of "
                    "tin does its surface have, in terms of $\\pi$?"
                ),
                (
                    f"What is the total surface area of a cylinder whose base has radius ${r}$ and whose height is ${h}$? "
                    "Leave $\\pi$ in the answer."
                ),
                (
                    f"A drum is a closed cylinder of height {h} cm; its two round ends have a radius of {r} cm each. Find, "
                    "in terms of $\\pi$, how many square cm of leather and wood it is covered with in all."
                ),
            )
        )
        return posed("cylinder", say, times_pi(2 * r * (r + h)), how=how, r=r, h=h, wide=False)
    say = rng.choice(
        (
            (
                f"A paper label covers the curved surface of a jar exactly once, without overlap. The jar is "
                f"{2 * r} cm in diameter and the label is {h} cm high. Find the area of the label in square "
                "cm, in terms of $\\pi$."
            ),
            (
                f"A garden roller is a cylinder {h} cm wide with a diameter of {2 * r} cm. How much ground, in square "
                "cm and in terms of $\\pi$, does it roll over in one full turn?"
            ),
        )
    )
    return posed("cylinder", say, times_pi(2 * r * h), how=how, r=2 * r, h=h, wide=True)


def _cone(rng: Random) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    r, h, s = a * f, b * f, c * f
    if rng.choice((True, False)):
        r, h = h, r
    how = rng.choice(("volume", "surface", "slant", "rolled"))
    if how == "volume":
        say = rng.choice(
            (
                (
                    f"The distance from the tip of a cone to the edge of its base is ${s}$, and the base has radius "
                    f"${r}$. Determine the volume. Leave $\\pi$ in the answer."
                ),
                (
                    f"A cone has base radius ${r}$ and slant height ${s}$. What is its volume, in terms of "
                    "$\\pi$?"
                ),
                (
                    f"Sand is piled up in a cone. From the edge of the pile to its tip it is {s} dm along "
                    f"the slope, and the pile is {2 * r} dm across. How many cubic dm of sand are in it? "
                    "Answer in terms of $\\pi$."
                ),
            )
        )
        return posed(
            "cone",
            say,
            times_pi(Fraction(r * r * h, 3)),
            how=how,
            p=2 * r if "Sand" in say else r,
            q=s,
            wide="Sand" in say,
        )
    if how == "surface":
        say = rng.choice(
            (
                (
                    f"The height of a cone is ${h}$ and the radius of its base is ${r}$. Find the total "
                    "surface area, base included, in terms of $\\pi$."
                ),
                (
                    f"A solid cone stands ${h}$ high on a round base of radius ${r}$. How large is its whole surface, in "
                    "terms of $\\pi$?"
                ),
                (
                    f"A right triangle with legs ${h}$ and ${r}$ is spun around the leg of length ${h}$. Give the surface "
                    "area of the solid it sweeps out, in terms of $\\pi$."
                ),
            )
        )
        return posed("cone", say, times_pi(r * (r + s)), how=how, p=r, q=h, wide=False)
    if how == "slant":
        say = rng.choice(
            (
                (
                    f"A cone with base radius ${r}$ has a volume of ${times_pi(Fraction(r * r * h, 3))}$. How "
                    "long is the shortest path on its surface from the tip to the edge of the base?"
                ),
                (
                    f"Find the slant height of a cone whose base has radius ${r}$ and whose volume is "
                    f"${times_pi(Fraction(r * r * h, 3))}$."
                ),
            )
        )
        volume = Fraction(r * r * h, 3)
        if volume.denominator > 1:
            return _cone(rng)
        return posed("cone", say, s, how=how, p=r, q=volume.numerator, wide=False)
    angle = Fraction(360 * r, s)
    if angle.denominator > 1 or angle > 330:
        return _cone(rng)
    say = rng.choice(
        (
            (
                f"A sector with radius ${s}$ and a central angle of ${angle}^\\circ$ is rolled up, edge to "
                "edge, to make the side of a cone. How high is the cone?"
            ),
            (
                f"A paper cup is made from a sector of a disk of radius {s} cm, its angle being "
                f"${angle}^\\circ$, by joining the two straight edges. What volume, in cubic cm and in terms "
                "of $\\pi$, does the cup hold?"
            ),
        )
    )
    cup = "cup" in say
    return posed(
        "cone",
        say,
        times_pi(Fraction(r * r * h, 3)) if cup else h,
        how=how,
        p=s,
        q=int(angle),
        wide=cup,
    )


def _melted(rng: Random) -> Problem:
    how = rng.choice(("balls", "level", "fit", "frustum"))
    if how == "balls":
        small, k = rng.randint(1, 4), rng.randint(2, 6)
        count = k**3
        say = rng.choice(
            (
                (
                    f"{count} equal metal balls of radius {small} cm are melted down and cast into a single "
                    "ball, without loss. What is its radius in cm?"
                ),
                (
                    f"A metal ball is to be made from {count} smaller ones, each with a diameter of "
                    f"{2 * small} cm, by melting them. What will be its diameter in cm?"
                ),
            )
        )
        wide = "diameter" in say
        if small == 1 and not wide and k > 5:
            return _melted(rng)
        return posed(
            "melted",
            say,
            (2 if wide else 1) * small * k,
            how=how,
            values=[count, (2 if wide else 1) * small],
        )
    if how == "level":
        r, n = rng.randint(2, 6), rng.randint(1, 6)
        width = redrawn(
            lambda: rng.randint(r + 1, 14),
            lambda v: 4 * r**3 * n % (3 * v * v) == 0 or rng.random() < 0.2,
        )
        rise = Fraction(4 * r**3 * n, 3 * width * width)
        word = "ball" if n == 1 else "balls"
        say = rng.choice(
            (
                (
                    f"A cylindrical glass with an inner radius of {width} cm is partly filled with water. "
                    f"{n} steel {word} of radius {r} cm {'is' if n == 1 else 'are'} put in and fully "
                    "covered, and no water spills. By how many cm does the water level rise?"
                ),
                (
                    f"Into a cylindrical jar of radius {width} cm, half full of water, {n} solid {word} of "
                    f"radius {r} cm {'sinks' if n == 1 else 'sink'} completely, without any water running "
                    "over. Find the rise of the water in cm."
                ),
            )
        )
        return posed("melted", say, rise, how=how, values=[width, n, r])
    if how == "fit":
        r = rng.randint(2, 15)
        asked = rng.choice(("cylinder", "cube"))
        if asked == "cylinder":
            say = rng.choice(
                (
                    (
                        f"A ball of radius {r} cm fits exactly into a closed cylinder, touching the top, the "
                        "bottom and the side all around. How much of the cylinder's volume, in cubic cm and "
                        "in terms of $\\pi$, is not filled by the ball?"
                    ),
                    (
                        f"A closed can holds one ball of radius {r} cm, which touches the lid, the bottom and the wall all "
                        "around. What volume of air, in cubic cm and in terms of $\\pi$, surrounds the ball?"
                    ),
                )
            )
            answer = times_pi(Fraction(2 * r**3, 3))
        else:
            say = rng.choice(
                (
                    (
                        f"A cube is inscribed in a sphere of radius ${r}$, all eight corners on the sphere. "
                        "What is the surface area of the cube?"
                    ),
                    (
                        f"The eight corners of a cube lie on a ball of radius ${r}$. Find the total area of the six faces of "
                        "the cube."
                    ),
                    (
                        f"From a solid ball of radius ${r}$ the largest possible cube is carved. How large is its surface?"
                    ),
                )
            )
            answer = str(8 * r * r)
        return posed("melted", say, answer, how=asked, values=[r])
    k, m = redrawn(lambda: (rng.randint(2, 6), rng.randint(1, 5)), lambda t: t[1] < t[0])
    r, h = k * rng.randint(1, 3), k * rng.randint(2, 5)
    low = Fraction(r * r * h, 3)
    part = Fraction(m, k)
    say = rng.choice(
        (
            (
                f"A conical glass, tip down, has a rim of radius {r} cm and is {h} cm deep. It is filled "
                f"with water to a depth of {m * h // k} cm. How many cubic cm of water, in terms of "
                "$\\pi$, must be added to fill it to the rim?"
            ),
            (
                f"A cone with base radius ${r}$ and height ${h}$ is cut by a plane parallel to its base "
                f"at distance ${m * h // k}$ from the tip. Find the volume of the part next to the base, "
                "in terms of $\\pi$."
            ),
        )
    )
    return posed("melted", say, times_pi(low * (1 - part**3)), how=how, values=[r, h, m * h // k])


def _pyramid(rng: Random) -> Problem:
    half, h, slant = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    half, h, slant = half * f, h * f, slant * f
    if rng.choice((True, False)):
        half, h = h, half
    side = 2 * half
    how = rng.choice(("surface", "volume", "edge"))
    if how == "surface":
        say = rng.choice(
            (
                (
                    f"The apex of a pyramid lies ${h}$ above the center of its square base, whose sides measure ${side}$. "
                    "Find the area of all five faces together."
                ),
                (
                    f"A regular square pyramid has base edges of length ${side}$ and height ${h}$. Find "
                    "its total surface area."
                ),
                (
                    f"The roof of a tower is a square pyramid, {side} feet along each edge of its base and "
                    f"{h} feet high. How many square feet of copper cover its four triangular faces?"
                ),
            )
        )
        tower = "tower" in say
        return posed(
            "pyramid",
            say,
            2 * side * slant + (0 if tower else side * side),
            how=how,
            p=side,
            q=h,
            bare=tower,
        )
    if how == "volume":
        say = rng.choice(
            (
                (
                    f"Four congruent isosceles triangles with base ${side}$ and height ${slant}$ are the side faces of a "
                    "pyramid on a square. Find its volume."
                ),
                (
                    f"Each triangular face of a regular square pyramid has a height of ${slant}$, measured "
                    f"from the base edge, and the base edges are ${side}$. What is the volume?"
                ),
                (
                    f"A glass paperweight is a regular pyramid on a square base of side {side} mm. The "
                    f"distance from its tip to the middle of a base edge is {slant} mm. How many cubic mm "
                    "of glass does it contain?"
                ),
            )
        )
        return posed(
            "pyramid", say, Fraction(side * side * h, 3), how=how, p=side, q=slant, bare=False
        )
    say = rng.choice(
        (
            (
                f"A regular square pyramid has a base of side ${side}$ and volume "
                f"${side * side * h // 3 if side * side * h % 3 == 0 else 0}$. Exactly how long is one of its "
                "slanted edges?"
            ),
            (
                f"A pyramid stands on a square of side ${side}$, with its apex above the middle of the square. Its "
                f"volume is ${side * side * h // 3}$. Find the exact distance from the apex to a corner of the base."
            ),
            (
                f"How far, exactly, is the tip of a regular pyramid from a corner of its square base, if the base has "
                f"sides of ${side}$ and the pyramid a volume of ${side * side * h // 3}$?"
            ),
        )
    )
    if side * side * h % 3:
        return _pyramid(rng)
    return posed(
        "pyramid",
        say,
        root(2 * half * half + h * h),
        how=how,
        p=side,
        q=side * side * h // 3,
        bare=False,
    )


def _corner(rng: Random) -> Problem:
    return _tetrahedron(rng, ("corner", "distance"))


def _regular(rng: Random) -> Problem:
    return _tetrahedron(rng, ("regular", "cube", "distance"))


def _tetrahedron(rng: Random, asked: tuple[str, ...]) -> Problem:
    how = rng.choice(asked)
    a, b, c = _edges(rng, 12)
    if how == "corner":
        say = rng.choice(
            (
                (
                    f"Three edges of a pyramid meet at a vertex at right angles to one another and are ${a}$, ${b}$ and "
                    f"${c}$ long. Compute the volume of the pyramid."
                ),
                (
                    f"A corner is sawn off a cube by a plane that meets the three edges at that corner "
                    f"${a}$, ${b}$ and ${c}$ away from it. Find the volume of the piece."
                ),
                (
                    f"The edges $OA$, $OB$ and $OC$ of tetrahedron $OABC$ are perpendicular to each other "
                    f"and have lengths ${a}$, ${b}$ and ${c}$. What is its volume?"
                ),
            )
        )
        return posed("tetrahedron", say, Fraction(a * b * c, 6), how=how, values=[a, b, c])
    if how == "distance":
        inside = a * a * b * b + b * b * c * c + c * c * a * a
        say = rng.choice(
            (
                (
                    f"The points $({a}, 0, 0)$, $(0, {b}, 0)$ and $(0, 0, {c})$ are joined by segments. What is the "
                    "exact area of the triangle?"
                ),
                (
                    f"In tetrahedron $OABC$ the edges $OA = {a}$, $OB = {b}$ and $OC = {c}$ are mutually "
                    "perpendicular. Find the exact area of triangle $ABC$."
                ),
                (
                    f"A plane cuts off a corner $O$ of a box and meets the edges from $O$ at distances "
                    f"${a}$, ${b}$ and ${c}$ from it. What is the exact area of the triangular cut?"
                ),
            )
        )
        return posed("tetrahedron", say, root(inside, Fraction(1, 2)), how=how, values=[a, b, c])
    s = rng.randint(1, 12) * 2
    if how == "regular":
        wanted = rng.choice(("volume", "height"))
        answer = root(2, Fraction(s**3, 12)) if wanted == "volume" else root(6, Fraction(s, 3))
        say = rng.choice(
            (
                (
                    f"All six edges of a tetrahedron are ${s}$ long. Find its exact "
                    + ("volume." if wanted == "volume" else "height above one of its faces.")
                ),
                (
                    f"Four equilateral triangles with sides of length ${s}$ enclose a solid. What is its exact "
                    + (
                        "volume?"
                        if wanted == "volume"
                        else "height, when it stands on one of them?"
                    )
                ),
            )
        )
        return posed("tetrahedron", say, answer, how=wanted, values=[s])
    say = rng.choice(
        (
            (
                f"Four vertices of a cube with edge ${s}$, no two of them joined by an edge, are the corners "
                "of a tetrahedron. What is the exact surface area of the tetrahedron?"
            ),
            (
                f"In a cube with edges of length ${s}$ one chooses four corners so that any two of them are the ends "
                "of a face diagonal. They span a tetrahedron; find the exact total area of its faces."
            ),
        )
    )
    return posed("tetrahedron", say, root(3, 2 * s * s), how=how, values=[s])


FAMILIES = (
    of_kinds(
        "geometry_round_solids",
        (_cylinder,),
        (_cone,),
        (_melted,),
        "cylinders, cones and balls",
    ),
    of_kinds(
        "geometry_pyramids",
        (_pyramid,),
        (_pyramid, _corner),
        (_regular,),
        "pyramids and tetrahedra",
    ),
)
