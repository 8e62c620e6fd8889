"""Boxes, and points, triangles and planes by their coordinates in space."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import times_pi, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import listed, root
from prorl_datasets.procedural.math.problem import Problem


def _edges(rng: Random, most: int = 12) -> tuple[int, int, int]:
    return redrawn(
        lambda: (rng.randint(2, most), rng.randint(2, most), rng.randint(2, most)),
        lambda t: len(set(t)) == 3,
    )


def _box(rng: Random) -> Problem:
    a, b, c = _edges(rng)
    u = unit(rng)
    how = rng.choice(("diagonal", "surface", "wire"))
    if how == "diagonal":
        say = rng.choice(
            (
                (
                    f"Two opposite corners of a rectangular aquarium, {a} {u} long, {b} {u} wide and {c} {u} high, are "
                    f"joined by a string through its middle. What is the exact length of the string in {u}?"
                ),
                (
                    f"From a corner of a room with edges of {a} {u}, {b} {u} and {c} {u}, how far is it, exactly and as "
                    f"the fly flies, to the opposite corner at the ceiling? Answer in {u}."
                ),
                (
                    f"A box measures {a} {u} by {b} {u} by {c} {u} inside. How long, in {u}, is the "
                    "longest straight thin rod that fits into it? Give an exact answer."
                ),
                (
                    f"Find the exact length of the space diagonal of a rectangular block with edges ${a}$,"
                    f" ${b}$ and ${c}$."
                ),
            )
        )
        return posed("box", say, root(a * a + b * b + c * c), how=how, edges=[a, b, c])
    if how == "surface":
        say = rng.choice(
            (
                (
                    f"A gift in a {a} {u} by {b} {u} by {c} {u} box is wrapped in paper without any overlap. How much "
                    f"paper, in square {u}, does it take?"
                ),
                (
                    f"Find the total area of the six faces of a brick whose edges measure {a} {u}, {b} {u} and {c} {u}. "
                    f"Answer in square {u}."
                ),
                (
                    f"A wooden block is {a} {u} long, {b} {u} wide and {c} {u} high. All of its faces are "
                    f"painted. How many square {u} are painted?"
                ),
                (
                    f"What is the surface area of a closed box with edges of {a} {u}, {b} {u} and {c} {u},"
                    f" in square {u}?"
                ),
            )
        )
        return posed("box", say, 2 * (a * b + b * c + c * a), how=how, edges=[a, b, c])
    say = rng.choice(
        (
            (
                f"The frame of a lantern is made of wire along the edges of a box {a} {u} by {b} {u} by {c} "
                f"{u}. Besides, one wire runs around the middle, parallel to the {a} {u} by {b} {u} faces. "
                f"How many {u} of wire are needed?"
            ),
            (
                f"Wooden rods are glued together along all edges of a box of {a} {u} by {b} {u} by {c} {u}. A ribbon "
                f"is then tied once around it, parallel to the {a} {u} by {b} {u} faces, with no extra for a knot. "
                f"How long are rods and ribbon together, in {u}?"
            ),
        )
    )
    return posed("box", say, 4 * (a + b + c) + 2 * (a + b), how=how, edges=[a, b, c])


def _box_back(rng: Random) -> Problem:
    a, b, c = _edges(rng)
    how = rng.choice(("faces", "sums", "tank"))
    if how == "faces":
        say = rng.choice(
            (
                (
                    f"Looking at a box from the front one sees a rectangle of area ${a * b}$, from the side one of area "
                    f"${b * c}$ and from above one of area ${a * c}$. Find the volume of the box."
                ),
                (
                    f"A rectangular prism has faces with areas ${a * b}$, ${a * c}$ and ${b * c}$. How many unit cubes "
                    "would fill it?"
                ),
                (
                    f"Three faces of a rectangular box that meet at a corner have areas ${a * b}$, "
                    f"${b * c}$ and ${a * c}$. What is the volume of the box?"
                ),
                (
                    f"The top, the front and one side of a rectangular crate have areas of {a * b}, "
                    f"{b * c} and {a * c} square dm. How many cubic dm does the crate hold?"
                ),
            )
        )
        return posed("box_back", say, a * b * c, how=how, values=[a * b, b * c, a * c])
    if how == "sums":
        say = rng.choice(
            (
                (
                    f"The twelve edges of a rectangular box have a total length of ${4 * (a + b + c)}$, and "
                    f"the surface area of the box is ${2 * (a * b + b * c + c * a)}$. Find the exact "
                    "length of a space diagonal."
                ),
                (
                    f"A rectangular block has a surface area of {2 * (a * b + b * c + c * a)} square cm, "
                    f"and its edges add up to {4 * (a + b + c)} cm. Exactly how far apart, in cm, are two "
                    "opposite corners of the block?"
                ),
            )
        )
        return posed(
            "box_back",
            say,
            root(a * a + b * b + c * c),
            how=how,
            values=[4 * (a + b + c), 2 * (a * b + b * c + c * a)],
        )
    p, q = rng.randint(20, 50), rng.randint(20, 50)
    high, spilled = rng.randint(20, 40), rng.randint(2, 20) * 25
    deep = high - rng.randint(1, 5)
    say = rng.choice(
        (
            (
                f"A fish tank with a rectangular base of {p} cm by {q} cm is {high} cm high and filled with "
                f"water to a depth of {deep} cm. A stone is sunk in it, and {spilled} cubic cm of water "
                "spill over the edge. What is the volume of the stone in cubic cm?"
            ),
            (
                f"Water stands {deep} cm deep in an open box of inner length {p} cm, width {q} cm and height "
                f"{high} cm. After a heavy solid block has been put in and has sunk completely, the box is "
                f"full to the brim and {spilled} cubic cm of water have run out. How many cubic cm does the "
                "block measure?"
            ),
        )
    )
    return posed(
        "box_back",
        say,
        p * q * (high - deep) + spilled,
        how=how,
        values=[p, q, high, deep, spilled],
    )


def _painted(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (rng.randint(3, 9), rng.randint(3, 9), rng.randint(3, 9)), lambda t: len(set(t)) > 1
    )
    faces = rng.choice((0, 1, 2))
    count = {
        0: (a - 2) * (b - 2) * (c - 2),
        1: 2 * ((a - 2) * (b - 2) + (b - 2) * (c - 2) + (c - 2) * (a - 2)),
        2: 4 * (a + b + c - 6),
    }[faces]
    word = {0: "no painted face", 1: "exactly one painted face", 2: "exactly two painted faces"}
    say = rng.choice(
        (
            (
                f"{a * b * c} small cubes are stacked to a solid box, {a} along one edge, {b} along another and {c} "
                f"along the third. Its whole surface, the bottom too, is painted red. How many small cubes have "
                f"{word[faces]}?"
            ),
            (
                f"After a wooden {a} by {b} by {c} box has been painted on all sides, it is sawn into cubes with edges "
                f"of length 1. Find the number of these cubes with {word[faces]}."
            ),
            (
                f"A block of {a} by {b} by {c} unit cubes is painted on the outside and then taken apart. "
                f"How many unit cubes have {word[faces]}?"
            ),
            (
                f"A cheese in the shape of a box, {a} cm by {b} cm by {c} cm, is dipped in red wax and cut "
                f"into cubes of 1 cm. Calling the waxed faces painted, find the number of cubes with "
                f"{word[faces]}."
            ),
        )
    )
    return posed("painted", say, count, edges=[a, b, c], faces=faces)


_Spot = tuple[int, int, int]


def _spot(rng: Random, size: int = 6) -> _Spot:
    return rng.randint(-size, size), rng.randint(-size, size), rng.randint(-size, size)


def _at(p: _Spot | tuple[Fraction, ...]) -> str:
    return f"({', '.join(str(v) for v in p)})"


def _cross(p: _Spot, q: _Spot, r: _Spot) -> _Spot:
    u = [q[i] - p[i] for i in range(3)]
    v = [r[i] - p[i] for i in range(3)]
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def _apart(rng: Random) -> Problem:
    return _space_points(rng, ("distance", "sphere"))


def _on_an_axis(rng: Random) -> Problem:
    return _space_points(rng, ("axis",))


def _space_points(rng: Random, asked: tuple[str, ...]) -> Problem:
    p, q = redrawn(
        lambda: (_spot(rng), _spot(rng)), lambda t: all(t[0][i] != t[1][i] for i in range(3))
    )
    how = rng.choice(asked)
    square = sum((p[i] - q[i]) ** 2 for i in range(3))
    if how == "distance":
        say = rng.choice(
            (
                f"Find the exact distance between the points ${_at(p)}$ and ${_at(q)}$.",
                (
                    f"A drone flies straight from ${_at(p)}$ to ${_at(q)}$, coordinates in meters. Exactly "
                    "how many meters does it fly?"
                ),
            )
        )
        return posed("space", say, root(square), how=how, p=p, q=q, axis="")
    if how == "sphere":
        say = rng.choice(
            (
                (
                    f"${_at(p)}$ and ${_at(q)}$ are the ends of a diameter of a sphere. What is the surface area "
                    "of the sphere, in terms of $\\pi$?"
                ),
                (
                    f"A sphere has the segment from ${_at(p)}$ to ${_at(q)}$ as a diameter. Find its surface area, leaving "
                    "$\\pi$ in the answer."
                ),
            )
        )
        return posed("space", say, times_pi(square), how=how, p=p, q=q, axis="")
    axis = rng.choice("xyz")
    i = "xyz".index(axis)
    at = Fraction(sum(v * v for v in q) - sum(v * v for v in p), 2 * (q[i] - p[i]))
    say = rng.choice(
        (
            (
                f"Which point of the ${axis}$-axis is equidistant from ${_at(p)}$ and ${_at(q)}$? Give its "
                f"${axis}$-coordinate."
            ),
            (
                f"A sphere with its center on the ${axis}$-axis passes through ${_at(p)}$ and ${_at(q)}$. "
                f"Find the ${axis}$-coordinate of the center."
            ),
        )
    )
    return posed("space", say, at, how=how, p=p, q=q, axis=axis)


def _space_figures(rng: Random) -> Problem:
    p, q, r, s = redrawn(
        lambda: tuple(_spot(rng, 5) for _ in range(4)),
        lambda t: sum(n * (t[3][i] - t[0][i]) for i, n in enumerate(_cross(t[0], t[1], t[2]))) != 0,
    )
    n = _cross(p, q, r)
    size = sum(v * v for v in n)
    how = rng.choice(("area", "volume", "plane"))
    if how == "area":
        say = rng.choice(
            (
                (
                    f"Find the exact area of the triangle with vertices ${_at(p)}$, ${_at(q)}$ and "
                    f"${_at(r)}$."
                ),
                (
                    f"A triangular sail is stretched between three hooks at {listed([f'${_at(t)}$' for t in (p, q, r)])} "
                    "(coordinates in meters). What is its exact area in square meters?"
                ),
            )
        )
        return posed("figures", say, root(size, Fraction(1, 2)), how=how, spots=[p, q, r])
    volume = abs(sum(n[i] * (s[i] - p[i]) for i in range(3)))
    if how == "volume":
        say = rng.choice(
            (
                (
                    f"What is the volume of the tetrahedron whose vertices are ${_at(p)}$, ${_at(q)}$, "
                    f"${_at(r)}$ and ${_at(s)}$?"
                ),
                (
                    f"The points ${_at(p)}$, ${_at(q)}$, ${_at(r)}$ and ${_at(s)}$ are joined in pairs. Find "
                    "the volume of the solid with these corners."
                ),
            )
        )
        return posed("figures", say, Fraction(volume, 6), how=how, spots=[p, q, r, s])
    say = rng.choice(
        (
            (
                f"How far is the point ${_at(s)}$ from the plane through ${_at(p)}$, ${_at(q)}$ and ${_at(r)}$? "
                "Give an exact answer."
            ),
            (
                f"The points ${_at(p)}$, ${_at(q)}$ and ${_at(r)}$ determine a plane. Find the exact distance of "
                f"${_at(s)}$ from this plane."
            ),
            (
                f"In tetrahedron $ABCD$ with $A = {_at(p)}$, $B = {_at(q)}$, $C = {_at(r)}$ and $D = {_at(s)}$, exactly "
                "how long is the altitude from $D$ to face $ABC$?"
            ),
        )
    )
    return posed("figures", say, root(size, Fraction(volume, size)), how=how, spots=[p, q, r, s])


FAMILIES = (
    of_kinds(
        "geometry_boxes",
        (_box,),
        (_painted, _box),
        (_box_back,),
        "edges, faces and diagonals of boxes",
    ),
    of_kinds(
        "geometry_points_in_space",
        (_apart,),
        (_on_an_axis,),
        (_space_figures,),
        "distances, areas and volumes by coordinates in space",
    ),
)
