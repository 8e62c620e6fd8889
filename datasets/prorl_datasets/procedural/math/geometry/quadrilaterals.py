"""Quadrilaterals, regular polygons, composite figures and folded sheets."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    TRIPLES,
    letters,
    others,
    right_triangle,
    unit,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, root
from prorl_datasets.procedural.math.problem import Problem


def _rhombus(rng: Random) -> Problem:
    a, b, c = right_triangle(rng)
    u = unit(rng)
    w, x, y, z = letters(rng, 4)
    how = rng.choice(("area", "perimeter", "diagonal"))
    if how == "area":
        say = rng.choice(
            (
                (
                    f"A rhombus has sides of {c} {u} and one diagonal of {2 * a} {u}. What is its area in "
                    f"square {u}?"
                ),
                (
                    f"In rhombus ${w}{x}{y}{z}$, ${w}{x} = {c}$ and ${w}{y} = {2 * a}$. Find the area of "
                    "the rhombus."
                ),
            )
        )
        return posed("rhombus", say, 2 * a * b, how=how, p=c, q=2 * a)
    if how == "perimeter":
        say = rng.choice(
            (
                (
                    f"The diagonals of a rhombus are {2 * a} {u} and {2 * b} {u} long. Find its perimeter "
                    f"in {u}."
                ),
                (
                    f"Four equal rods, hinged at their ends, form a frame whose opposite hinges are "
                    f"{2 * a} {u} and {2 * b} {u} apart. How many {u} of rod were used in all?"
                ),
            )
        )
        return posed("rhombus", say, 4 * c, how=how, p=2 * a, q=2 * b)
    say = (
        f"The perimeter of rhombus ${w}{x}{y}{z}$ is ${4 * c}$ and diagonal "
        f"$\\overline{{{w}{y}}}$ has length ${2 * a}$. How long is $\\overline{{{x}{z}}}$?"
    )
    return posed("rhombus", say, 2 * b, how=how, p=4 * c, q=2 * a)


def _trapezoid(rng: Random) -> Problem:
    a, h, c = right_triangle(rng, 3)
    top = rng.randint(2, 20)
    u = unit(rng)
    w, x, y, z = letters(rng, 4)
    how = rng.choice(("area", "height", "diagonal"))
    if how == "area":
        say = rng.choice(
            (
                (
                    f"An isosceles trapezoid has parallel sides of {top} {u} and {top + 2 * a} {u}, and "
                    f"each of its legs is {c} {u} long. Find the area in square {u}."
                ),
                (
                    f"In trapezoid ${w}{x}{y}{z}$ with $\\overline{{{w}{x}}} \\parallel "
                    f"\\overline{{{y}{z}}}$ we have ${w}{x} = {top}$, ${y}{z} = {top + 2 * a}$ and "
                    f"${x}{y} = {z}{w} = {c}$. What is the area of the trapezoid?"
                ),
                (
                    f"The cross-section of a dike is a symmetric trapezoid: {top} feet wide at the top, "
                    f"{top + 2 * a} feet wide at the bottom, with slopes {c} feet long on both sides. What "
                    f"is the area of the cross-section in square feet?"
                ),
            )
        )
        return posed("trapezoid", say, (top + a) * h, how=how, values=[top, top + 2 * a, c])
    if how == "height":
        area = (top + a) * h
        say = (
            f"The area of an isosceles trapezoid is {area} square {u}, and its parallel sides are "
            f"{top} {u} and {top + 2 * a} {u}. How long is each leg, in {u}?"
        )
        return posed("trapezoid", say, c, how=how, values=[top, top + 2 * a, area])
    square = (top + a) ** 2 + h * h
    say = (
        f"Find the exact length of a diagonal of an isosceles trapezoid with bases ${top}$ and "
        f"${top + 2 * a}$ and legs of length ${c}$."
    )
    return posed("trapezoid", say, root(square), how=how, values=[top, top + 2 * a, c])


def _right_trapezoid(rng: Random) -> Problem:
    a, h, c = right_triangle(rng, 3)
    top = rng.randint(2, 20)
    w, x, y, z = letters(rng, 4)
    unit(rng)
    how = rng.choice(("perimeter", "base"))
    if how == "perimeter":
        say = rng.choice(
            (
                (
                    f"Trapezoid ${w}{x}{y}{z}$ has right angles at ${w}$ and ${z}$. If ${w}{x} = {top}$, "
                    f"${w}{z} = {h}$ and ${x}{y} = {c}$, and $\\overline{{{z}{y}}}$ is longer than "
                    f"$\\overline{{{w}{x}}}$, find the perimeter of the trapezoid."
                ),
                (
                    f"A shed has a floor {h} feet wide, two vertical walls, and a straight sloping roof "
                    f"{c} feet long from the top of one wall to the top of the other, with no overhang. "
                    f"The lower wall is {top} feet high. How many feet is the perimeter of the shed's front?"
                ),
            )
        )
        return posed("right_trapezoid", say, 2 * top + a + h + c, how=how, values=[top, h, c])
    area = top * h + Fraction(a * h, 2)
    say = (
        f"The parallel sides of a trapezoid are ${top}$ and ${top + a}$, one of the other sides is "
        f"perpendicular to them, and the area is ${fraction(area)}$. What is the length of the "
        "fourth, slanted side?"
    )
    if area.denominator > 1:
        return _right_trapezoid(rng)
    return posed("right_trapezoid", say, c, how=how, values=[top, top + a, area.numerator])


def _four_right(rng: Random) -> Problem:
    """A convex quadrilateral of two right triangles over one diagonal."""

    def draw() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        return right_triangle(rng, 8), right_triangle(rng, 8)

    one, two = redrawn(
        draw,
        lambda d: (
            (d[0][2] == d[1][2] and {*d[0][:2]} != {*d[1][:2]})
            or (d[0][2] in d[1][:2] and d[1][2] < 80)
        ),
    )
    w, x, y, z = letters(rng, 4)
    if one[2] == two[2]:
        say = rng.choice(
            (
                (
                    f"Quadrilateral ${w}{x}{y}{z}$ has right angles at ${x}$ and ${z}$. If "
                    f"${w}{x} = {one[0]}$, ${x}{y} = {one[1]}$ and ${y}{z} = {two[0]}$, find its area."
                ),
                (
                    f"A garden ${w}{x}{y}{z}$ has right angles at the corners ${x}$ and ${z}$. Its sides "
                    f"${w}{x}$, ${x}{y}$ and ${y}{z}$ measure {one[0]} m, {one[1]} m and {two[0]} m. How "
                    "many square meters does it cover?"
                ),
            )
        )
        return posed(
            "four",
            say,
            (one[0] * one[1] + two[0] * two[1]) // 2,
            how="opposite",
            values=[one[0], one[1], two[0]],
        )
    other = two[0] if two[1] == one[2] else two[1]
    say = rng.choice(
        (
            (
                f"In convex quadrilateral ${w}{x}{y}{z}$, $\\angle {x} = 90^\\circ$ and "
                f"$\\angle {w}{y}{z} = 90^\\circ$. Find the area if ${w}{x} = {one[0]}$, "
                f"${x}{y} = {one[1]}$ and ${y}{z} = {other}$."
            ),
            (
                f"A convex quadrilateral plot ${w}{x}{y}{z}$ has ${w}{x} = {one[0]}$ m, "
                f"${x}{y} = {one[1]}$ m, ${y}{z} = {other}$ m and ${z}{w} = {two[2]}$ m, and the corner "
                f"${x}$ is a right angle. What is its area in square meters?"
            ),
        )
    )
    given = [one[0], one[1], other] + ([two[2]] if "plot" in say else [])
    return posed("four", say, (one[0] * one[1] + one[2] * other) // 2, how="diagonal", values=given)


def _hexagon(rng: Random) -> Problem:
    s = rng.randint(2, 14)
    how = rng.choice(("area", "width", "triangle", "short"))
    u = unit(rng)
    if how == "area":
        say = rng.choice(
            (
                f"A regular hexagon has sides of {s} {u}. Find its exact area in square {u}.",
                (
                    f"What is the exact area of a floor tile in the shape of a regular hexagon with a "
                    f"side of {s} {u}, in square {u}?"
                ),
            )
        )
        return posed("hexagon", say, root(3, Fraction(3 * s * s, 2)), how=how, s=s)
    if how == "width":
        say = (
            f"A nut has the outline of a regular hexagon with sides of {s} mm. What is the exact "
            "distance between two opposite sides, in mm?"
        )
        return posed("hexagon", say, root(3, s), how=how, s=s)
    if how == "triangle":
        say = rng.choice(
            (
                (
                    f"Every other vertex of a regular hexagon with side ${s}$ is joined to form an "
                    "equilateral triangle. Find the exact area of the triangle."
                ),
                (
                    f"In regular hexagon $ABCDEF$ with $AB = {s}$, what is the exact area of triangle "
                    "$ACE$?"
                ),
            )
        )
        return posed("hexagon", say, root(3, Fraction(3 * s * s, 4)), how=how, s=s)
    say = (
        f"The regular hexagon $ABCDEF$ has side length ${s}$, and $M$ is the midpoint of "
        "$\\overline{CD}$. Find $AM$ in simplest radical form."
    )
    return posed("hexagon", say, root(13, Fraction(s, 2)), how=how, s=s)


def _border(rng: Random) -> Problem:
    return _frame(rng, back=False)


def _border_width(rng: Random) -> Problem:
    return _frame(rng, back=True)


def _frame(rng: Random, back: bool) -> Problem:
    w, h, d = redrawn(
        lambda: (rng.randint(5, 40), rng.randint(4, 30), rng.randint(1, 6)), lambda t: t[0] != t[1]
    )
    border = (w + 2 * d) * (h + 2 * d) - w * h
    thing = rng.choice(("A rectangular lawn", "A swimming pool", "A rectangular flower bed"))
    if back:
        say = rng.choice(
            (
                (
                    f"{thing} {w} m long and {h} m wide is surrounded by a path of equal width on all "
                    f"four sides. The area of the path is {border} square meters. How wide is the path, "
                    "in meters?"
                ),
                (
                    f"A photo of {w} cm by {h} cm is framed by a border that is equally wide all around "
                    f"and covers {border} square cm. Find the width of the border in cm."
                ),
            )
        )
        return posed("frame", say, d, w=w, h=h, value=border, back=True)
    if d == 1:
        return _frame(rng, back)
    say = rng.choice(
        (
            (
                f"{thing} measures {w} m by {h} m. All around it, outside, runs a path {d} m wide with "
                "square corners. What is the area of the path, in square meters?"
            ),
            (
                f"A rectangular picture {w} cm wide and {h} cm high gets a frame {d} cm wide on every "
                "side. How many square cm of wall does the frame alone cover?"
            ),
        )
    )
    return posed("frame", say, border, w=w, h=h, value=d, back=False)


def _l_shape(rng: Random) -> Problem:
    w, h, a, b = redrawn(
        lambda: (rng.randint(6, 25), rng.randint(6, 25), rng.randint(2, 20), rng.randint(2, 20)),
        lambda t: t[0] != t[1] and t[2] < t[0] - 1 and t[3] < t[1] - 1 and t[2] != t[3],
    )
    how = rng.choice(("area", "perimeter", "back"))
    area = w * h - a * b
    if how == "back":
        say = (
            f"From a corner of a rectangular sheet, {w} cm by {h} cm, a smaller rectangle is cut away,"
            f" leaving an L-shaped piece of {area} square cm. Along the side of {w} cm the cut-away "
            f"rectangle measures {a} cm. How many cm does it measure the other way?"
        )
        return posed("l_shape", say, b, how=how, values=[w, h, area, a])
    what = "area in square meters" if how == "area" else "perimeter in meters"
    say = rng.choice(
        (
            (
                f"A room has the shape of a rectangle {w} m by {h} m with a {a} m by {b} m rectangle "
                f"missing from one corner; its sides are parallel to those of the room, the {a} m side "
                f"to the {w} m side. Find its {what}."
            ),
            (
                f"An L-shaped terrace has six sides that meet at right angles. Going around it, they "
                f"measure {w} m, {h} m, {w - a} m, {b} m, {a} m and {h - b} m. What is its {what}?"
            ),
        )
    )
    values = [w, h, w - a, b, a, h - b] if "L-shaped" in say else [w, h, a, b]
    return posed("l_shape", say, area if how == "area" else 2 * (w + h), how=how, values=values)


def _midpoint_square(rng: Random) -> Problem:
    s = rng.randint(2, 20) * 2
    how = rng.choice(("lines", "overlap", "corners"))
    a, b, c, d = letters(rng, 4)
    if how == "lines":
        k = rng.choice((2, 3, 4))
        say = rng.choice(
            (
                (
                    f"On the sides of square ${a}{b}{c}{d}$ with side ${s * k // 2}$, going around, one "
                    f"marks the point at $\\frac{{1}}{{{k}}}$ of each side, measured from ${a}$ on "
                    f"$\\overline{{{a}{b}}}$, from ${b}$ on $\\overline{{{b}{c}}}$, from ${c}$ on "
                    f"$\\overline{{{c}{d}}}$ and from ${d}$ on $\\overline{{{d}{a}}}$. What is the area of "
                    "the quadrilateral with these four vertices?"
                ),
            )
        )
        side = Fraction(s * k // 2)
        return posed(
            "midpoints",
            say,
            side * side * (1 + (k - 1) ** 2) / k**2,
            how=how,
            side=side.numerator,
            k=k,
        )
    (m, n) = others(rng, a + b + c + d, 2)
    if how == "overlap":
        say = (
            f"In square ${a}{b}{c}{d}$ with side ${s}$, ${m}$ is the midpoint of "
            f"$\\overline{{{b}{c}}}$. Segment $\\overline{{{a}{m}}}$ meets diagonal "
            f"$\\overline{{{b}{d}}}$ at ${n}$. Find the area of triangle ${a}{b}{n}$."
        )
        return posed("midpoints", say, Fraction(s * s, 6), how=how, side=s, k=2)
    say = (
        f"${m}$ and ${n}$ are the midpoints of sides $\\overline{{{b}{c}}}$ and "
        f"$\\overline{{{c}{d}}}$ of square ${a}{b}{c}{d}$, whose sides are ${s}$ long. What is the "
        f"area of triangle ${a}{m}{n}$?"
    )
    return posed("midpoints", say, Fraction(3 * s * s, 8), how=how, side=s, k=2)


def _crease(rng: Random) -> Problem:
    w, x, y, z = letters(rng, 4)
    p, q = redrawn(lambda: (rng.randint(4, 24), rng.randint(3, 20)), lambda d: d[0] > d[1])
    how = rng.choice(("crease", "overlap", "piece"))
    setting = rng.choice(
        (
            (
                f"A rectangular sheet of paper is {p} cm long and {q} cm wide. It is folded once so that "
                "two diagonally opposite corners lie on each other."
            ),
            (
                f"Rectangle ${w}{x}{y}{z}$ with ${w}{x} = {p}$ and ${x}{y} = {q}$ is folded so that "
                f"corner ${w}$ falls on corner ${y}$."
            ),
        )
    )
    square = p * p + q * q
    if how == "crease":
        say = f"{setting} Exactly how long is the crease?"
        return posed("crease", say, root(square, Fraction(q, p)), how=how, p=p, q=q)
    if how == "overlap":
        say = f"{setting} What is the area of the part where the paper lies double?"
        return posed("crease", say, Fraction(square, 2 * p) * q / 2, how=how, p=p, q=q)
    say = f"{setting} Find the area of the region that the folded sheet covers."
    return posed("crease", say, p * q - Fraction(square * q, 4 * p), how=how, p=p, q=q)


def _corner_lands(rng: Random) -> Problem:
    return _corner_fold(rng, ("reach",))


def _corner_crease(rng: Random) -> Problem:
    return _corner_fold(rng, ("rest", "area"))


def _corner_fold(rng: Random, asked: tuple[str, ...]) -> Problem:
    """ABCD with AB = p: D is folded onto BC, the crease through A."""
    k = rng.randint(1, 3)
    a, b, c = rng.choice(TRIPLES[:4])
    if rng.choice((True, False)):
        a, b = b, a
    # AD' = AD = c k, AB = b k, BD' = a k; height of the rectangle AB = b k
    wide, high, reach = c * k, b * k, a * k
    w, x, y, z = letters(rng, 4)
    (m, n) = others(rng, w + x + y + z, 2)
    how = rng.choice(asked)
    cz = Fraction((wide - reach) ** 2 + high**2, 2 * high)  # ZN = NM
    setting = (
        f"Rectangle ${w}{x}{y}{z}$ has ${w}{x} = {high}$ and ${x}{y} = {wide}$. The corner ${z}$ is "
        f"folded over, along a crease through ${w}$, so that it lands on a point ${m}$ of side "
        f"$\\overline{{{x}{y}}}$."
    )
    if how == "reach":
        return posed("corner", f"{setting} Find ${m}{y}$.", wide - reach, how=how, p=high, q=wide)
    setting += f" The crease meets $\\overline{{{y}{z}}}$ at ${n}$."
    if how == "rest":
        return posed("corner", f"{setting} Find ${n}{z}$.", cz, how=how, p=high, q=wide)
    return posed(
        "corner",
        f"{setting} What is the area of triangle ${w}{m}{n}$?",
        cz * wide / 2,
        how=how,
        p=high,
        q=wide,
    )


FAMILIES = (
    of_kinds(
        "geometry_quadrilaterals",
        (_rhombus,),
        (_trapezoid, _right_trapezoid),
        (_four_right,),
        "rhombi, trapezoids and quadrilaterals cut into right triangles",
    ),
    of_kinds(
        "geometry_composite_areas",
        (_border, _l_shape),
        (_hexagon, _border_width),
        (_midpoint_square,),
        "frames, L-shapes, hexagons and figures inside squares",
    ),
    of_kinds(
        "geometry_folded_paper",
        (_l_shape, _corner_lands),
        (_corner_crease,),
        (_crease,),
        "sheets cut and folded",
    ),
)
