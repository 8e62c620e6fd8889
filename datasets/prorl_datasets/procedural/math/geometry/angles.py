"""Angles: in triangles, between parallel lines, in polygons."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, terms
from prorl_datasets.procedural.math.problem import Problem


def _isosceles(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    (z,) = others(rng, a + b + c)
    apex = rng.randint(10, 75) * 2
    base = (180 - apex) // 2
    outside = rng.choice((True, False))
    if outside:
        say = rng.choice(
            (
                (
                    f"In triangle ${a}{b}{c}$, ${a}{b} = {a}{c}$ and $\\angle {a} = {apex}^\\circ$. Side "
                    f"$\\overline{{{b}{c}}}$ is extended past ${c}$ to a point ${z}$. How many degrees "
                    f"are in $\\angle {a}{c}{z}$?"
                ),
                (
                    f"The two equal sides of an isosceles triangle enclose an angle of "
                    f"${apex}^\\circ$. Find, in degrees, the exterior angle at one end of its base."
                ),
            )
        )
        return posed("isosceles", say, 180 - base, apex=apex, outside=True)
    say = rng.choice(
        (
            (
                f"Triangle ${a}{b}{c}$ is isosceles with ${a}{b} = {a}{c}$ and "
                f"$\\angle {a} = {apex}^\\circ$. What is the measure of $\\angle {b}$, in degrees?"
            ),
            (
                f"A tent seen from the front is an isosceles triangle. Its two sloping sides meet at the "
                f"top at an angle of ${apex}^\\circ$. What angle, in degrees, does a side make with the "
                "ground?"
            ),
            (
                f"In an isosceles triangle the angle between the equal sides measures "
                f"${apex}^\\circ$. How many degrees does each of the other two angles measure?"
            ),
        )
    )
    return posed("isosceles", say, base, apex=apex, outside=False)


def _ratio_angles(rng: Random) -> Problem:
    def draw() -> tuple[int, int, int]:
        return rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)

    p, q, r = redrawn(draw, lambda d: len(set(d)) == 3 and 180 % sum(d) == 0 and sum(d) > 5)
    step = 180 // (p + q + r)
    big = rng.choice((True, False))
    word = "largest" if big else "smallest"
    answer = (max if big else min)(p, q, r) * step
    say = rng.choice(
        (
            (
                f"A triangle's angles are to one another as ${p} : {q} : {r}$. Give the measure of its {word} angle in "
                "degrees."
            ),
            (
                f"Divide the angle sum of a triangle in the ratio ${p} : {q} : {r}$ to get its three angles. How many "
                f"degrees does the {word} one have?"
            ),
            (
                f"The angles of a triangle are in the ratio ${p} : {q} : {r}$. How many degrees are in "
                f"the {word} of them?"
            ),
            f"The three angles of a triangular sail measure ${p}x$, ${q}x$ and ${r}x$ degrees for "
            f"some number $x$. What is its {word} angle, in degrees?".replace("$1x$", "$x$"),
        )
    )
    return posed("ratio_angles", say, answer, parts=[p, q, r], big=big)


def _linear_angles(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    x = rng.randint(5, 25)

    def draw() -> list[tuple[int, int]]:
        m, n, k = (rng.randint(1, 5) for _ in range(3))
        s, t = rng.randint(-20, 40), rng.randint(-20, 40)
        return [(m, s), (n, t), (k, 180 - (m + n + k) * x - s - t)]

    parts = redrawn(
        draw, lambda d: all(m * x + s > 8 for m, s in d) and abs(d[2][1]) <= 60 and len(set(d)) == 3
    )
    values = [m * x + s for m, s in parts]
    texts = [f"({terms([(m, 'x'), (s, '')])})^\\circ" for m, s in parts]
    asked = rng.choice(("x", "greatest"))
    answer = x if asked == "x" else max(values)
    want = "the value of $x$" if asked == "x" else "the measure of its greatest angle, in degrees"
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, $\\angle {a} = {texts[0]}$, $\\angle {b} = {texts[1]}$ and "
                f"$\\angle {c} = {texts[2]}$. Find {want}."
            ),
            f"A triangle has angles of ${texts[0]}$, ${texts[1]}$ and ${texts[2]}$. What is {want}?",
        )
    )
    return posed("linear_angles", say, answer, parts=parts, asked=asked)


def _bisected(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    apex = rng.randint(15, 150)
    back = rng.choice((True, False))
    meet = Fraction(180 + apex, 2)
    text = fraction(meet) if meet.denominator == 1 else f"{meet.numerator / 2}"
    if back:
        say = rng.choice(
            (
                (
                    f"The bisectors of angles ${b}$ and ${c}$ of triangle ${a}{b}{c}$ meet at $I$. If "
                    f"$\\angle {b}I{c} = {text}^\\circ$, how many degrees is $\\angle {a}$?"
                ),
                (
                    f"Point $I$ is the center of the circle inscribed in triangle ${a}{b}{c}$, and "
                    f"$\\angle {b}I{c}$ measures ${text}^\\circ$. Find the measure of angle ${a}$ in "
                    "degrees."
                ),
            )
        )
        return posed("bisected", say, apex, angle=text, back=True)
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$ angle ${a}$ measures ${apex}^\\circ$. The bisectors of angles "
                f"${b}$ and ${c}$ cross at $I$. Find the number of degrees in $\\angle {b}I{c}$."
            ),
            (
                f"$I$ is the incenter of triangle ${a}{b}{c}$. What is $\\angle {b}I{c}$, in degrees, if "
                f"$\\angle {b}{a}{c} = {apex}^\\circ$?"
            ),
        )
    )
    return posed("bisected", say, meet, angle=str(apex), back=False)


def _altitude_bisector(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    h, m = others(rng, a + b + c, 2)
    p, q = redrawn(
        lambda: (rng.randint(20, 89), rng.randint(20, 89)),
        lambda d: d[0] - d[1] > 4 and d[0] + d[1] < 160,
    )
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, $\\angle {b} = {p}^\\circ$ and $\\angle {c} = {q}^\\circ$. The "
                f"altitude from ${a}$ and the bisector of angle ${a}$ are drawn. What is the angle "
                "between them, in degrees?"
            ),
            (
                f"Let ${h}$ be the foot of the altitude from ${a}$ in acute triangle ${a}{b}{c}$, and let "
                f"the bisector of $\\angle {b}{a}{c}$ meet $\\overline{{{b}{c}}}$ at ${m}$. If angles "
                f"${b}$ and ${c}$ measure ${p}^\\circ$ and ${q}^\\circ$, find $\\angle {h}{a}{m}$ in degrees."
            ),
        )
    )
    if p + q <= 90 and "acute" in say:
        return _altitude_bisector(rng)
    return posed("altitude_bisector", say, Fraction(p - q, 2), at_b=p, at_c=q)


def _isosceles_chain(rng: Random) -> Problem:
    """AB = AC, D on AC with BD = BC, angle A given: angle ABD; or AD = BD given: angle A."""
    a, b, c = letters(rng, 3)
    (h,) = others(rng, a + b + c)
    apex = redrawn(lambda: rng.randint(8, 58), lambda v: v % 2 == 0 and v != 36)
    base = (180 - apex) // 2
    # BD = BC: angle BDC = base, angle CBD = apex, angle ABD = base - apex
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, ${a}{b} = {a}{c}$ and $\\angle {a} = {apex}^\\circ$. A point "
                f"${h}$ on $\\overline{{{a}{c}}}$ satisfies ${b}{h} = {b}{c}$. Find $\\angle {a}{b}{h}$ in "
                "degrees."
            ),
            (
                f"Triangle ${a}{b}{c}$ is isosceles with ${a}{b} = {a}{c}$. The circle around ${b}$ "
                f"through ${c}$ meets side $\\overline{{{a}{c}}}$ again at ${h}$. Angle ${a}$ measures "
                f"${apex}^\\circ$; how many degrees are in angle ${a}{b}{h}$?"
            ),
        )
    )
    return posed("isosceles_chain", say, base - apex, apex=apex)


def _equal_steps(rng: Random) -> Problem:
    """A zigzag of equal segments inside an angle: the last outside angle is a multiple."""
    a, b, c = letters(rng, 3)
    steps, small = rng.randint(3, 5), rng.randint(7, 17)
    total = steps * small
    path = others(rng, a + b + c, steps)
    sides = " = ".join(f"{p}{q}" for p, q in zip([a, *path], path, strict=False))
    back = rng.choice((True, False))
    odd = ", ".join(f"${p}$" for p in path[0::2])
    even = ", ".join(f"${p}$" for p in path[1::2])
    tip, before = path[-1], path[-2]
    setting = (
        f"From the vertex ${a}$ of angle ${b}{a}{c}$ a zigzag of equal segments is drawn: "
        f"{odd} on ray $\\overrightarrow{{{a}{b}}}$, {even} on ray $\\overrightarrow{{{a}{c}}}$, "
        f"all points different, each farther from ${a}$ than the one before it on its ray, and "
        f"${sides}$."
    )
    angle = f"\\angle {tip}{before}{a}"
    value = 180 - total
    if back:
        return posed(
            "equal_steps",
            f"{setting} If ${angle} = {value}^\\circ$, what is angle ${b}{a}{c}$ in degrees?",
            small,
            steps=steps,
            angle=value,
            back=True,
        )
    return posed(
        "equal_steps",
        f"{setting} Angle ${b}{a}{c}$ measures ${small}^\\circ$. Find ${angle}$ in degrees.",
        value,
        steps=steps,
        angle=small,
        back=False,
    )


def _parallel_x(rng: Random) -> Problem:
    pair = rng.choice(("corresponding", "alternate interior", "same-side interior"))
    x = rng.randint(6, 30)
    m, n = redrawn(lambda: (rng.randint(1, 6), rng.randint(1, 6)), lambda d: d[0] != d[1])
    s = rng.randint(-15, 40)
    first = m * x + s
    second = 180 - first if pair == "same-side interior" else first
    t = second - n * x
    if not (20 < first < 160 and first != 90) or abs(t) > 90 or t == 0 or s == 0:
        return _parallel_x(rng)
    asked = rng.choice(("x", "angle"))
    one, two = (f"({terms([(k, 'x'), (c, '')])})^\\circ" for k, c in ((m, s), (n, t)))
    want = "the value of $x$"
    answer = x if asked == "x" else min(first, 180 - first)
    if asked == "angle":
        want = "how many degrees the acute angle between the transversal and the parallels measures"
    say = rng.choice(
        (
            (
                f"A transversal crosses two parallel lines. Two {pair} angles measure ${one}$ and "
                f"${two}$. Find {want}."
            ),
            (
                f"Lines $\\ell$ and $m$ are parallel, and line $t$ cuts both. A pair of {pair} angles is "
                f"labeled ${one}$ and ${two}$. Determine {want}."
            ),
            (
                f"Two parallel railway tracks are crossed by a straight road. The {pair} angles at the "
                f"two crossings are ${one}$ and ${two}$. Find {want}."
            ),
        )
    )
    return posed("parallel_x", say, answer, pair=pair, first=[m, s], second=[n, t], asked=asked)


def _bent_between(rng: Random) -> Problem:
    up, down = rng.randint(20, 80), rng.randint(20, 80)
    back = rng.choice((True, False))
    a, b, c = letters(rng, 3)
    if back:
        say = rng.choice(
            (
                (
                    f"Points ${a}$ and ${c}$ lie on two parallel lines, and ${b}$ lies between the lines. "
                    f"Both rays of $\\angle {a}{b}{c}$ lean to the right of ${b}$. If "
                    f"$\\angle {a}{b}{c} = {up + down}^\\circ$ and $\\overline{{{b}{a}}}$ makes an acute "
                    f"angle of ${up}^\\circ$ with the first line, what acute angle, in degrees, does "
                    f"$\\overline{{{b}{c}}}$ make with the second?"
                ),
                (
                    f"Two parallel walls are joined by two straight beams that meet in a corner between "
                    f"the walls; the corner points along the walls, to the left. The beams make an angle "
                    f"of ${up + down}^\\circ$ with each other, and the first makes an acute angle of "
                    f"${up}^\\circ$ with its wall. What acute angle, in degrees, does the second beam "
                    "make with the other wall?"
                ),
            )
        )
        return posed("bent", say, down, known=[up, up + down], back=True)
    say = rng.choice(
        (
            (
                f"Lines $\\ell$ and $m$ are parallel. Point ${b}$ lies between them, ${a}$ on $\\ell$ and "
                f"${c}$ on $m$, both to the right of ${b}$. The acute angle between "
                f"$\\overline{{{a}{b}}}$ and $\\ell$ is ${up}^\\circ$, and the acute angle between "
                f"$\\overline{{{b}{c}}}$ and $m$ is ${down}^\\circ$. Find $\\angle {a}{b}{c}$ in degrees."
            ),
            (
                f"Two beams start at the same point between two parallel walls and both lean to the "
                f"right. One meets the upper wall at an acute angle of ${up}^\\circ$, the other meets "
                f"the lower wall at an acute angle of ${down}^\\circ$. How many degrees is the angle "
                "between the beams?"
            ),
        )
    )
    return posed("bent", say, up + down, known=[up, down], back=False)


def _bisected_same_side(rng: Random) -> Problem:
    """Angle bisectors at two corners of a trapezoid or across a transversal."""
    x = rng.randint(8, 40)
    p, q = redrawn(
        lambda: (rng.randint(2, 6), rng.randint(2, 6)), lambda d: d[0] != d[1] and 180 % sum(d) == 0
    )
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    how = rng.choice(("ratio", "trapezoid"))
    step = 180 // (p + q)
    if how == "ratio":
        lean = redrawn(lambda: rng.randint(10, 80), lambda v: v < min(p, q) * step)
        say = (
            f"$\\overline{{{a}{b}}}$ and $\\overline{{{d}{c}}}$ are parallel sides of trapezoid "
            f"${a}{b}{c}{d}$, and $\\angle {a} : \\angle {d} = {p} : {q}$. A point ${m}$ inside the "
            f"trapezoid is such that $\\angle {b}{a}{m} = {lean}^\\circ$ and ray "
            f"$\\overrightarrow{{{d}{m}}}$ bisects angle ${d}$. Find $\\angle {a}{m}{d}$ in degrees."
        )
        answer = 180 - (p * step - lean) - Fraction(q * step, 2)
        return posed("same_side", say, answer, how=how, p=p, q=q, lean=lean)
    top, low = 90 + x, redrawn(lambda: rng.randint(40, 85), lambda v: v != x)
    say = (
        f"In trapezoid ${a}{b}{c}{d}$, $\\overline{{{a}{b}}} \\parallel \\overline{{{c}{d}}}$, "
        f"$\\angle {a} = {top}^\\circ$ and $\\angle {c} = {low}^\\circ$. The bisectors of angles "
        f"${b}$ and ${d}$ are extended until they meet or cross. What acute or right angle, in "
        "degrees, do they form?"
    )
    lines = abs(Fraction(180 - low, 2) - Fraction(180 - top, 2))
    return posed("same_side", say, lines, how=how, p=top, q=low, lean=0)


_NAMES = {5: "pentagon", 6: "hexagon", 7: "heptagon", 8: "octagon", 9: "nonagon", 10: "decagon"}


def _polygon_sides(rng: Random) -> Problem:
    how = rng.choice(("interior", "exterior", "sum", "times"))
    n = redrawn(
        lambda: rng.randint(5, 40),
        lambda v: how == "sum" or (360 % v == 0 if how != "times" else v % 2 == 0),
    )
    if how == "interior":
        given = 180 - 360 // n
        say = rng.choice(
            (
                (
                    f"Each interior angle of a regular polygon measures ${given}^\\circ$. How many sides "
                    "does it have?"
                ),
                (
                    f"Identical tiles are regular polygons whose angles are all ${given}^\\circ$. Find "
                    "the number of sides of a tile."
                ),
            )
        )
    elif how == "exterior":
        given = 360 // n
        say = rng.choice(
            (
                (
                    f"A robot walks 2 meters, turns ${given}^\\circ$ to the left, walks 2 meters, turns "
                    f"${given}^\\circ$ to the left again, and so on, until it is back where it began. "
                    "How many sides does the polygon that it has walked along have?"
                ),
                (
                    f"Every exterior angle of a regular polygon is ${given}^\\circ$. Find the number of "
                    "its vertices."
                ),
            )
        )
    elif how == "sum":
        given = 180 * (n - 2)
        say = rng.choice(
            (
                (
                    f"The interior angles of a convex polygon add up to ${given}^\\circ$. How many sides "
                    "has the polygon?"
                ),
                (
                    f"For which $n$ is the sum of the interior angles of a convex $n$-gon "
                    f"${given}^\\circ$?"
                ),
            )
        )
    else:
        given = (n - 2) // 2
        say = rng.choice(
            (
                (
                    f"An interior angle of a regular polygon is ${given}$ times as large as an exterior "
                    "angle. How many sides does the polygon have?"
                ),
                (
                    f"In a regular $n$-gon, the ratio of an interior angle to an exterior angle is "
                    f"${given} : 1$. What is $n$?"
                ),
            )
        )
        if given < 2:
            return _polygon_sides(rng)
    return posed("sides", say, n, how=how, value=given)


def _missing_angle(rng: Random) -> Problem:
    n = rng.randint(5, 7)
    total = 180 * (n - 2)
    known = redrawn(
        lambda: [rng.randint(85, 160) for _ in range(n - 1)], lambda d: 40 < total - sum(d) < 175
    )
    shown = ", ".join(f"${k}^\\circ$" for k in known[:-1]) + f" and ${known[-1]}^\\circ$"
    say = rng.choice(
        (
            (
                f"What is the last angle of a convex {_NAMES[n]}, in degrees, if the others measure {shown}?"
            ),
            (f"A convex {_NAMES[n]} has angles of {shown} and one more. Find its size in degrees."),
            (
                f"All but one of the interior angles of a convex {_NAMES[n]} are {shown}. How many "
                "degrees is the remaining angle?"
            ),
            (
                f"A surveyor measured {n - 1} of the {n} corners of a field shaped like a convex "
                f"{_NAMES[n]}: {shown}. What must the last angle be, in degrees?"
            ),
        )
    )
    return posed("missing", say, total - sum(known), known=known, n=n)


def _regular_pieces(rng: Random) -> Problem:
    how = rng.choice(("attached", "diagonals", "star"))
    if how == "attached":
        p, q = redrawn(
            lambda: (rng.choice((3, 4, 5, 6, 8, 9, 10, 12)), rng.choice((5, 6, 8, 9, 10, 12, 15))),
            lambda d: d[0] != d[1] and 720 / d[0] + 720 / d[1] > 0,
        )
        names = {3: "equilateral triangle", 4: "square", **_NAMES, 12: "12-gon", 15: "15-gon"}

        def regular(n: int) -> str:
            return names[n] if n < 5 else f"regular {names[n]}"

        article = "an" if regular(p).startswith("e") else "a"
        gap = 360 - (180 - 360 // p) - (180 - 360 // q)
        if gap == 180:
            return _regular_pieces(rng)
        say = rng.choice(
            (
                (
                    f"A {regular(q)} and {article} {regular(p)} share a side and lie on opposite sides of "
                    "it. At an end of the shared side, what is the angle, in degrees, between the two "
                    "other sides that meet there, measured outside both figures?"
                ),
                (
                    f"{article.capitalize()} {regular(p)} is built outward on one side of a {regular(q)}. "
                    "Find the number of degrees of the angle around a common vertex that belongs to "
                    "neither figure."
                ),
            )
        )
        return posed("pieces", say, gap, how=how, p=p, q=q)
    n = redrawn(
        lambda: rng.randint(7, 20), lambda v: 360 % v == 0 or 180 % v == 0 or how == "diagonals"
    )
    if how == "diagonals":
        say = rng.choice(
            (
                (
                    f"In a certain convex polygon the diagonals outnumber the sides by "
                    f"${n * (n - 3) // 2 - n}$. Find the number of its diagonals."
                ),
                (
                    f"Every two corners of a convex polygon are joined by a straight line, a side or "
                    f"a diagonal. There are ${n * (n - 3) // 2 - n}$ more diagonals than sides. How "
                    "many diagonals are there?"
                ),
                (
                    f"A convex polygon has ${n * (n - 3) // 2 - n}$ more diagonals than sides. How many "
                    "diagonals does it have?"
                ),
            )
        )
        return posed("pieces", say, n * (n - 3) // 2, how=how, p=n * (n - 3) // 2 - n, q=0)
    k = redrawn(lambda: rng.randint(2, (n - 1) // 2), lambda v: v < n / 2 - 0.5)
    say = rng.choice(
        (
            (
                f"${n}$ points divide a circle into equal arcs. From one of them, $P$, chords are drawn "
                f"to the two points that lie ${k}$ steps away from it on either side. Find the angle "
                "between the chords in degrees."
            ),
            (
                f"$V$ is a vertex of a regular ${n}$-gon. Counting along the polygon from $V$, the "
                f"${_ordinal(k)}$ vertex one way is $U$ and the ${_ordinal(k)}$ vertex the other way is "
                "$W$. How many degrees are in $\\angle UVW$?"
            ),
        )
    )
    return posed("pieces", say, Fraction(180 * (n - 2 * k), n), how=how, p=n, q=k)


def _ordinal(k: int) -> str:
    return f"{k}\\text{{{ {2: 'nd', 3: 'rd'}.get(k, 'th') }}}"


def _arithmetic_polygon(rng: Random) -> Problem:
    n, step = redrawn(
        lambda: (rng.randint(5, 12), rng.randint(2, 16)),
        lambda d: (
            180 * (d[0] - 2) * 2 % d[0] == 0
            and (180 * (d[0] - 2) * 2 // d[0] - (d[0] - 1) * d[1]) % 2 == 0
            and 180 * (d[0] - 2) / d[0] + (d[0] - 1) * d[1] / 2 < 176
            and 180 * (d[0] - 2) / d[0] - (d[0] - 1) * d[1] / 2 > 30
        ),
    )
    least = (180 * (n - 2) * 2 // n - (n - 1) * step) // 2
    most = least + (n - 1) * step
    big = rng.choice((True, False))
    say = rng.choice(
        (
            (
                f"The degree measures of the interior angles of a convex polygon with ${n}$ sides form "
                f"an arithmetic sequence with common difference ${step}$. What is the "
                f"{'largest' if big else 'smallest'} angle, in degrees?"
            ),
            (
                f"Sorted by size, each angle of a convex ${n}$-sided polygon is ${step}^\\circ$ larger "
                f"than the one before it. Find the {'greatest' if big else 'least'} of the angles in "
                "degrees."
            ),
        )
    )
    return posed("arithmetic", say, most if big else least, n=n, step=step, big=big)


FAMILIES = (
    of_kinds(
        "geometry_triangle_angles",
        (_isosceles, _ratio_angles),
        (_linear_angles, _bisected),
        (_altitude_bisector, _isosceles_chain, _equal_steps),
        "angles chased through triangles",
    ),
    of_kinds(
        "geometry_parallel_angles",
        (_parallel_x,),
        (_bent_between,),
        (_equal_steps, _bisected_same_side),
        "angles between parallel lines",
    ),
    of_kinds(
        "geometry_polygon_angles",
        (_polygon_sides, _missing_angle),
        (_regular_pieces,),
        (_arithmetic_polygon, _regular_pieces),
        "angles and diagonals of polygons",
    ),
)
