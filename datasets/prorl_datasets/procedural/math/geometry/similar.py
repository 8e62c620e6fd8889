"""Similar triangles and ratios of areas."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem


def _coprime(rng: Random, most: int) -> tuple[int, int]:
    return redrawn(
        lambda: (rng.randint(1, most), rng.randint(1, most)),
        lambda d: d[0] != d[1] and gcd(*d) == 1,
    )


def _shadow(rng: Random) -> Problem:
    p, q = redrawn(lambda: _coprime(rng, 9), lambda d: max(d) > 2)
    small, big = rng.randint(1, 4), rng.randint(5, 14)
    u = rng.choice(("feet", "meters"))
    thing = rng.choice(("tree", "flagpole", "chimney", "lamp post", "statue"))
    stick = rng.choice(("pole", "fence post", "bush", "signpost"))
    back = rng.choice((True, False))
    if back:
        say = (
            f"A {stick} {p * small} {u} tall casts a shadow {q * small} {u} long. At the same moment "
            f"a {thing} nearby is {p * big} {u} tall. How many {u} long is the shadow of the {thing}?"
        )
        if small == 1 and 1 in (p, q):
            return _shadow(rng)
        return posed(
            "shadow", say, q * big, height=p * small, shadow=q * small, other=p * big, back=True
        )
    if small == 1 and 1 in (p, q):
        return _shadow(rng)
    say = rng.choice(
        (
            (
                f"On a sunny day a {thing} throws a shadow of {q * big} {u} on level ground while a "
                f"{stick} with a height of {p * small} {u} throws a shadow of {q * small} {u}. What is "
                f"the height of the {thing} in {u}?"
            ),
            (
                f"To find the height of a {thing}, Lena measures its shadow: {q * big} {u}. A {stick} "
                f"next to it, {p * small} {u} high, has a shadow of {q * small} {u}. How high, in {u}, is "
                f"the {thing}?"
            ),
        )
    )
    return posed(
        "shadow", say, p * big, height=p * small, shadow=q * small, other=q * big, back=False
    )


def _parallel_cut(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    d, e = others(rng, a + b + c, 2)
    p, q = _coprime(rng, 7)  # AD : DB
    f, g = rng.randint(1, 5), rng.randint(1, 5)
    ad, db, ae, ec = p * f, q * f, p * g, q * g
    setting = (
        f"In triangle ${a}{b}{c}$, point ${d}$ lies on $\\overline{{{a}{b}}}$ and ${e}$ on "
        f"$\\overline{{{a}{c}}}$ so that $\\overline{{{d}{e}}}$ is parallel to "
        f"$\\overline{{{b}{c}}}$."
    )
    how = rng.choice(("piece", "side", "base"))
    if how == "piece":
        say = rng.choice(
            (
                (
                    f"{setting} If ${a}{d} = {ad}$, ${d}{b} = {db}$ and ${a}{e} = {ae}$, what is "
                    f"${e}{c}$?"
                ),
                (
                    f"A line parallel to side $\\overline{{{b}{c}}}$ of triangle ${a}{b}{c}$ meets the "
                    f"other two sides, $\\overline{{{a}{b}}}$ at ${d}$ and $\\overline{{{a}{c}}}$ at "
                    f"${e}$. Given ${d}{b} = {db}$, ${a}{d} = {ad}$ and ${a}{e} = {ae}$, find the length "
                    f"of $\\overline{{{e}{c}}}$."
                ),
            )
        )
        return posed("cut", say, ec, how=how, values=[ad, db, ae])
    if how == "side":
        say = (
            f"{setting} Given that ${a}{e} = {ae}$, ${a}{c} = {ae + ec}$ and ${a}{b} = {ad + db}$, "
            f"find ${d}{b}$."
        )
        return posed("cut", say, db, how=how, values=[ae, ae + ec, ad + db])
    base = (p + q) * rng.randint(2, 6)
    say = rng.choice(
        (
            (
                f"{setting} If ${a}{d} = {ad}$, ${d}{b} = {db}$ and ${b}{c} = {base}$, how long is "
                f"$\\overline{{{d}{e}}}$?"
            ),
            (
                f"The crossbar $\\overline{{{d}{e}}}$ of a letter A is parallel to the line "
                f"$\\overline{{{b}{c}}}$ through the feet ${b}$ and ${c}$ of its legs, which meet at "
                f"the top ${a}$. Along the left leg, ${a}{d} = {ad}$ cm and ${d}{b} = {db}$ cm. The feet "
                f"are {base} cm apart. How many cm long is the crossbar?"
            ),
        )
    )
    return posed("cut", say, base * p // (p + q), how=how, values=[ad, db, base])


def _lamp(rng: Random) -> Problem:
    tall, low = redrawn(lambda: (rng.randint(8, 24), rng.randint(4, 6)), lambda d: d[0] > d[1] + 2)
    away = redrawn(lambda: rng.randint(6, 40), lambda v: v * low % (tall - low) == 0)
    shadow = away * low // (tall - low)
    how = rng.choice(("shadow", "height", "walk"))
    if how == "shadow":
        say = rng.choice(
            (
                (
                    f"A street lamp hangs {tall} feet above level ground. A {low}-foot-tall person stands "
                    f"{away} feet from the point below the lamp. How long is the person's shadow, in feet?"
                ),
                (
                    f"{low} feet tall, Marek stands {away} feet from the foot of a vertical lamp post "
                    f"with a light at its top, {tall} feet up. Find the length of his shadow in feet."
                ),
            )
        )
        if say[0].isdigit():
            say = f"Marek is {low} feet tall. He{say.split('Marek')[1]}"
        return posed("lamp", say, shadow, how=how, values=[tall, low, away])
    if how == "height":
        say = (
            f"A {low}-foot-tall child standing {away} feet from the foot of a lamp post casts a "
            f"shadow {shadow} {'foot' if shadow == 1 else 'feet'} long. How high above the ground, in "
            "feet, is the lamp?"
        )
        return posed("lamp", say, tall, how=how, values=[low, away, shadow])
    say = (
        f"A lamp hangs {tall} feet above a straight level path. A dog handler {low} feet tall walks "
        f"away from the point right below the lamp. How far from that point is the tip of the "
        f"handler's shadow, in feet, once the handler has walked {away} feet?"
    )
    return posed("lamp", say, away + shadow, how=how, values=[tall, low, away])


def _trapezoid_diagonals(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    p, q = _coprime(rng, 9)
    f = rng.randint(1, 4)
    how = rng.choice(("segment", "area", "parallel"))
    setting = (
        f"In trapezoid ${a}{b}{c}{d}$, $\\overline{{{a}{b}}} \\parallel \\overline{{{c}{d}}}$, "
        f"${a}{b} = {p * f}$ and ${c}{d} = {q * f}$. The diagonals meet at ${m}$."
    )
    if how == "segment":
        whole = (p + q) * rng.randint(1, 4)
        say = rng.choice(
            (
                f"{setting} If ${a}{c} = {whole}$, find ${a}{m}$.",
                (
                    f"Two parallel sides of a trapezoid measure ${p * f}$ and ${q * f}$. One of its "
                    f"diagonals is ${whole}$ long. How long is the part of this diagonal between the "
                    f"side of length ${p * f}$ and the other diagonal?"
                ),
            )
        )
        return posed("trapezoid", say, whole * p // (p + q), how=how, values=[p * f, q * f, whole])
    if how == "area":
        k = rng.randint(1, 4)
        say = rng.choice(
            (
                (
                    f"{setting} The area of triangle ${a}{b}{m}$ is ${p * p * k}$. What is the area of "
                    f"the whole trapezoid?"
                ),
                (
                    f"The parallel sides of a trapezoid are in the ratio ${p} : {q}$. Its diagonals cut "
                    f"it into four triangles, and the one at the side that corresponds to ${p}$ has "
                    f"area ${p * p * k}$. Find the area of the trapezoid."
                ),
            )
        )
        values = [p, q] if "ratio" in say else [p * f, q * f]
        return posed("trapezoid", say, (p + q) ** 2 * k, how=how, values=[*values, p * p * k])
    say = (
        f"{setting} A line through ${m}$ parallel to $\\overline{{{a}{b}}}$ cuts the legs of the "
        "trapezoid at two points. What is the distance between these points?"
    )
    return posed("trapezoid", say, Fraction(2 * p * q * f, p + q), how=how, values=[p * f, q * f])


def _inscribed_square(rng: Random) -> Problem:
    base, height = redrawn(
        lambda: (rng.randint(4, 40), rng.randint(3, 40)),
        lambda d: (d[0] != d[1] and d[0] * d[1] % (d[0] + d[1]) == 0) or rng.random() < 0.1,
    )
    if base == height:
        return _inscribed_square(rng)
    how = rng.choice(("square", "rectangle", "back"))
    u = unit(rng)
    if how == "square":
        say = rng.choice(
            (
                (
                    f"An acute triangle has a side of length ${base}$, and the altitude to this side is "
                    f"${height}$. A square has two corners on this side and one corner on each of the "
                    "other two sides. Find the side length of the square."
                ),
                (
                    f"A carpenter has a board in the shape of an acute triangle with base {base} {u} and "
                    f"height {height} {u}. She saws out the largest square that has one side along "
                    f"the base. How long, in {u}, is the side of the square?"
                ),
            )
        )
        return posed(
            "inscribed", say, Fraction(base * height, base + height), how=how, values=[base, height]
        )
    if how == "rectangle":
        times = rng.choice((2, 3))
        say = (
            f"A rectangle stands in a triangle of base ${base}$ and height ${height}$, with one side "
            f"on the base and the two other corners on the remaining sides. The side along the base "
            f"is ${times}$ times as long as the side perpendicular to it. What is the perimeter of "
            "the rectangle?"
        )
        short = Fraction(base * height, base + times * height)
        return posed(
            "inscribed", say, 2 * (times + 1) * short, how=how, values=[base, height, times]
        )
    x = rng.randint(1, height - 1)
    say = (
        f"A line parallel to the base of a triangle lies ${x}$ above the base. The base is ${base}$ "
        f"long and the height of the triangle is ${height}$. How long is the part of the line inside "
        "the triangle?"
    )
    return posed(
        "inscribed", say, Fraction(base * (height - x), height), how=how, values=[base, height, x]
    )


def _scale_area(rng: Random) -> Problem:
    p, q = redrawn(lambda: _coprime(rng, 9), lambda d: d[0] < d[1])
    k = rng.randint(1, 9)
    how = rng.choice(("area", "perimeter", "map"))
    if how == "area":
        say = rng.choice(
            (
                (
                    f"Two similar triangles have corresponding sides in the ratio ${p} : {q}$. The area "
                    f"of the smaller is ${p * p * k}$. Find the area of the larger."
                ),
                (
                    f"A photograph is enlarged so that every length grows in the ratio ${p} : {q}$. The "
                    f"small print has an area of {p * p * k} square cm. What is the area of the large "
                    "one, in square cm?"
                ),
            )
        )
        return posed("scale", say, q * q * k, how=how, values=[p, q, p * p * k])
    if how == "perimeter":
        f = rng.randint(3, 9)
        say = rng.choice(
            (
                (
                    f"The areas of two similar polygons are ${p * p * k}$ and ${q * q * k}$. The "
                    f"perimeter of the smaller one is ${p * f}$. What is the perimeter of the larger one?"
                ),
                (
                    f"A pond and its picture on a plan are similar figures. The picture covers "
                    f"{p * p * k} square cm of the plan; on a second plan it covers {q * q * k} square "
                    f"cm. On the first plan the shore is {p * f} cm long. How many cm long is it on the "
                    "second plan?"
                ),
            )
        )
        return posed("scale", say, q * f, how=how, values=[p * p * k, q * q * k, p * f])
    say = (
        f"The sides of a triangle are ${p * k}$, ${p * (k + 1)}$ and ${p * (k + 2)}$. A similar "
        f"triangle has a shortest side of ${q * k}$. What is the perimeter of the second triangle?"
    )
    if k == 1:
        return _scale_area(rng)
    return posed(
        "scale", say, q * (3 * k + 3), how=how, values=[p * k, p * (k + 1), p * (k + 2), q * k]
    )


def _strip_area(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    d, e = others(rng, a + b + c, 2)
    p, q = _coprime(rng, 7)
    k = rng.randint(1, 5)
    how = rng.choice(("trapezoid", "ratio"))
    setting = rng.choice(
        (
            (
                f"Points ${d}$ and ${e}$ lie on sides $\\overline{{{a}{b}}}$ and $\\overline{{{a}{c}}}$ "
                f"of triangle ${a}{b}{c}$, $\\overline{{{d}{e}}} \\parallel \\overline{{{b}{c}}}$ and "
                f"${a}{d} : {d}{b} = {p} : {q}$."
            ),
            (
                f"A line parallel to $\\overline{{{b}{c}}}$ meets $\\overline{{{a}{b}}}$ at ${d}$ and "
                f"$\\overline{{{a}{c}}}$ at ${e}$, where ${a}{b}{c}$ is a triangle and "
                f"$\\frac{{{a}{d}}}{{{d}{b}}} = {fraction(Fraction(p, q))}$."
            ),
        )
    )
    if how == "trapezoid":
        given = ((p + q) ** 2 - p * p) * k
        say = (
            f"{setting} The area of quadrilateral ${b}{c}{e}{d}$ is ${given}$. Find the area of "
            f"triangle ${a}{b}{c}$."
        )
        return posed("strip", say, (p + q) ** 2 * k, how=how, values=[p, q, given])
    say = (
        f"{setting} What fraction of the area of triangle ${a}{b}{c}$ belongs to quadrilateral "
        f"${b}{c}{e}{d}$?"
    )
    return posed("strip", say, 1 - Fraction(p * p, (p + q) ** 2), how=how, values=[p, q])


def _side_points(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    d, e = others(rng, a + b + c, 2)
    p, q = _coprime(rng, 6)
    r, s = _coprime(rng, 6)
    k = rng.randint(1, 4)
    how = rng.choice(("corner", "cevian"))
    area = (p + q) * (r + s) * k
    if how == "corner":
        say = rng.choice(
            (
                (
                    f"Point ${d}$ divides side $\\overline{{{a}{b}}}$ of triangle ${a}{b}{c}$ so that "
                    f"${a}{d} : {d}{b} = {p} : {q}$, and ${e}$ divides side $\\overline{{{a}{c}}}$ so that "
                    f"${a}{e} : {e}{c} = {r} : {s}$. The area of triangle ${a}{b}{c}$ is ${area}$. Find "
                    f"the area of triangle ${a}{d}{e}$."
                ),
                (
                    f"A triangular field ${a}{b}{c}$ covers {area} hectares. A straight ditch joins a "
                    f"point ${d}$ of $\\overline{{{a}{b}}}$ to a point ${e}$ of $\\overline{{{a}{c}}}$, "
                    f"where ${a}{d} : {d}{b} = {p} : {q}$ and ${a}{e} : {e}{c} = {r} : {s}$. How many "
                    f"hectares is the piece ${a}{d}{e}$ that it cuts off?"
                ),
            )
        )
        return posed("points", say, p * r * k, how=how, first=[p, q], second=[r, s], area=area)
    say = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$ of area ${area}$, point ${d}$ on $\\overline{{{b}{c}}}$ satisfies "
                f"${b}{d} : {d}{c} = {p} : {q}$, and point ${e}$ on $\\overline{{{a}{d}}}$ satisfies "
                f"${a}{e} : {e}{d} = {r} : {s}$. What is the area of triangle ${a}{b}{e}$?"
            ),
            (
                f"${d}$ is a point of side $\\overline{{{b}{c}}}$ of triangle ${a}{b}{c}$ with "
                f"${b}{d} : {d}{c} = {p} : {q}$. ${e}$ is a point of the segment $\\overline{{{a}{d}}}$ "
                f"with ${a}{e} : {e}{d} = {r} : {s}$. If triangle ${a}{b}{c}$ has area ${area}$, find the "
                f"area of triangle ${a}{b}{e}$."
            ),
        )
    )
    return posed("points", say, p * r * k, how=how, first=[p, q], second=[r, s], area=area)


def _crossing(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    d, e, m = others(rng, a + b + c, 3)
    p, q = rng.randint(1, 5), rng.randint(1, 5)
    r, s = rng.randint(1, 5), rng.randint(1, 5)
    if p == q == r == s or gcd(p, q) > 1 or gcd(r, s) > 1:
        return _crossing(rng)
    # BD : DC = p : q, CE : EA = r : s; weights B: q, C: p, A: pr / s
    how = rng.choice(("ratio", "ratio", "area"))
    at_a, at_b, at_c = Fraction(p * r, s), Fraction(q), Fraction(p)
    setting = rng.choice(
        (
            (
                f"In triangle ${a}{b}{c}$, point ${d}$ lies on $\\overline{{{b}{c}}}$ with "
                f"${b}{d} : {d}{c} = {p} : {q}$ and point ${e}$ lies on $\\overline{{{c}{a}}}$ with "
                f"${c}{e} : {e}{a} = {r} : {s}$. Segments $\\overline{{{a}{d}}}$ and "
                f"$\\overline{{{b}{e}}}$ intersect at ${m}$."
            ),
            (
                f"Side $\\overline{{{b}{c}}}$ of triangle ${a}{b}{c}$ is divided by ${d}$ in the ratio "
                f"${b}{d} : {d}{c} = {p} : {q}$, side $\\overline{{{c}{a}}}$ by ${e}$ in the ratio "
                f"${c}{e} : {e}{a} = {r} : {s}$. Let ${m}$ be the point where $\\overline{{{a}{d}}}$ "
                f"crosses $\\overline{{{b}{e}}}$."
            ),
        )
    )
    if how == "ratio":
        say = f"{setting} Find $\\frac{{{a}{m}}}{{{m}{d}}}$."
        return posed("crossing", say, (at_b + at_c) / at_a, how=how, first=[p, q], second=[r, s])
    say = (
        f"{setting} What fraction of the area of triangle ${a}{b}{c}$ is the area of triangle "
        f"${a}{b}{m}$?"
    )
    return posed("crossing", say, at_c / (at_a + at_b + at_c), how=how, first=[p, q], second=[r, s])


FAMILIES = (
    of_kinds(
        "geometry_similar_triangles",
        (_shadow, _parallel_cut),
        (_lamp, _parallel_cut),
        (_inscribed_square, _trapezoid_diagonals),
        "lengths from similar triangles",
    ),
    of_kinds(
        "geometry_area_ratios",
        (_scale_area,),
        (_strip_area, _side_points),
        (_crossing,),
        "areas and segments by ratios",
    ),
)
