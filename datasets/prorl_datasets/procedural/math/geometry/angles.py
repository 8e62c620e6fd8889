"""Problems on angles."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction, terms
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _isosceles(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    (z,) = others(rng, a + b + c)
    apex = rng.randint(10, 75) * 2
    base = (180 - apex) // 2
    outside = rng.choice((True, False))
    if outside:
        say = WORDINGS.draw(rng, "isosceles, outside", a=a, b=b, c=c, apex=apex, z=z)
        return posed("isosceles", say, 180 - base, apex=apex, outside=True)
    say = WORDINGS.draw(rng, "isosceles", a=a, b=b, c=c, apex=apex)
    return posed("isosceles", say, base, apex=apex, outside=False)


def _ratio_angles(rng: Random) -> Problem:
    def draw() -> tuple[int, int, int]:
        return rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)

    p, q, r = redrawn(draw, lambda d: len(set(d)) == 3 and 180 % sum(d) == 0 and sum(d) > 5)
    step = 180 // (p + q + r)
    big = rng.choice((True, False))
    word = "largest" if big else "smallest"
    answer = (max if big else min)(p, q, r) * step
    say = pick(
        rng,
        WORDINGS.one("ratio angles", p=p, q=q, r=r, word=word),
        WORDINGS.one("ratio angles 2", p=p, q=q, r=r, word=word),
        WORDINGS.one("ratio angles 3", p=p, q=q, r=r, word=word),
        f"The three angles of a triangular sail measure ${p}x$, ${q}x$ and ${r}x$ degrees for "
        f"some number $x$. What is its {word} angle, in degrees?".replace("$1x$", "$x$"),
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
    say = WORDINGS.draw(rng, "linear angles", a=a, b=b, c=c, texts=texts, want=want)
    return posed("linear_angles", say, answer, parts=parts, asked=asked)


def _bisected(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    apex = rng.randint(15, 150)
    back = rng.choice((True, False))
    meet = Fraction(180 + apex, 2)
    text = fraction(meet) if meet.denominator == 1 else f"{meet.numerator / 2}"
    if back:
        say = WORDINGS.draw(rng, "bisected, back", b=b, c=c, a=a, text=text)
        return posed("bisected", say, apex, angle=text, back=True)
    say = WORDINGS.draw(rng, "bisected", a=a, b=b, c=c, apex=apex)
    return posed("bisected", say, meet, angle=str(apex), back=False)


def _altitude_bisector(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    h, m = others(rng, a + b + c, 2)
    p, q = redrawn(
        lambda: (rng.randint(20, 89), rng.randint(20, 89)),
        lambda d: d[0] - d[1] > 4 and d[0] + d[1] < 160,
    )
    say = WORDINGS.draw(rng, "altitude bisector", a=a, b=b, c=c, p=p, q=q, h=h, m=m)
    if p + q <= 90 and "acute" in say:
        return _altitude_bisector(rng)
    return posed("altitude_bisector", say, Fraction(p - q, 2), at_b=p, at_c=q)


def _isosceles_chain(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    (h,) = others(rng, a + b + c)
    apex = redrawn(lambda: rng.randint(8, 58), lambda v: v % 2 == 0 and v != 36)
    base = (180 - apex) // 2
    # BD = BC: angle BDC = base, angle CBD = apex, angle ABD = base - apex
    say = WORDINGS.draw(rng, "isosceles chain", a=a, b=b, c=c, apex=apex, h=h)
    return posed("isosceles_chain", say, base - apex, apex=apex)


def _equal_steps(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    steps, small = rng.randint(3, 5), rng.randint(7, 17)
    total = steps * small
    path = others(rng, a + b + c, steps)
    sides = " = ".join(f"{p}{q}" for p, q in zip([a, *path], path, strict=False))
    back = rng.choice((True, False))
    odd = ", ".join(f"${p}$" for p in path[0::2])
    even = ", ".join(f"${p}$" for p in path[1::2])
    tip, before = path[-1], path[-2]
    setting = WORDINGS.one("equal steps setting", a=a, b=b, c=c, odd=odd, even=even, sides=sides)
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
    say = WORDINGS.draw(rng, "parallel x", pair=pair, one=one, two=two, want=want)
    return posed("parallel_x", say, answer, pair=pair, first=[m, s], second=[n, t], asked=asked)


def _bent_between(rng: Random) -> Problem:
    up, down = rng.randint(20, 80), rng.randint(20, 80)
    back = rng.choice((True, False))
    a, b, c = letters(rng, 3)
    if back:
        say = WORDINGS.draw(rng, "bent between, back", a=a, c=c, b=b, up_plus_down=up + down, up=up)
        return posed("bent", say, down, known=[up, up + down], back=True)
    say = WORDINGS.draw(rng, "bent between", b=b, a=a, c=c, up=up, down=down)
    return posed("bent", say, up + down, known=[up, down], back=False)


def _bisected_same_side(rng: Random) -> Problem:
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
        say = WORDINGS.one("bisected same side", a=a, b=b, d=d, c=c, p=p, q=q, m=m, lean=lean)
        answer = 180 - (p * step - lean) - Fraction(q * step, 2)
        return posed("same_side", say, answer, how=how, p=p, q=q, lean=lean)
    top, low = 90 + x, redrawn(lambda: rng.randint(40, 85), lambda v: v != x)
    say = WORDINGS.one("bisected same side 2", a=a, b=b, c=c, d=d, top=top, low=low)
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
        say = WORDINGS.draw(rng, "polygon sides, interior", given=given)
    elif how == "exterior":
        given = 360 // n
        say = WORDINGS.draw(rng, "polygon sides, exterior", given=given)
    elif how == "sum":
        given = 180 * (n - 2)
        say = WORDINGS.draw(rng, "polygon sides, sum", given=given)
    else:
        given = (n - 2) // 2
        say = WORDINGS.draw(rng, "polygon sides", given=given)
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
    say = WORDINGS.draw(
        rng, "missing angle", names_n=_NAMES[n], shown=shown, n_minus_one=n - 1, n=n
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
        say = WORDINGS.draw(
            rng,
            "regular pieces, attached",
            regular_q=regular(q),
            article=article,
            regular_p=regular(p),
            capitalize_article=article.capitalize(),
        )
        return posed("pieces", say, gap, how=how, p=p, q=q)
    n = redrawn(
        lambda: rng.randint(7, 20), lambda v: 360 % v == 0 or 180 % v == 0 or how == "diagonals"
    )
    if how == "diagonals":
        say = WORDINGS.draw(rng, "regular pieces, diagonals", excess=n * (n - 3) // 2 - n)
        return posed("pieces", say, n * (n - 3) // 2, how=how, p=n * (n - 3) // 2 - n, q=0)
    k = redrawn(lambda: rng.randint(2, (n - 1) // 2), lambda v: v < n / 2 - 0.5)
    say = WORDINGS.draw(
        rng, "regular pieces", n=n, k=k, kth=f"{k}\\text{{{ {2: 'nd', 3: 'rd'}.get(k, 'th') }}}"
    )
    return posed("pieces", say, Fraction(180 * (n - 2 * k), n), how=how, p=n, q=k)


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
    say = WORDINGS.draw(
        rng,
        "arithmetic polygon",
        n=n,
        step=step,
        largest_or_smallest="largest" if big else "smallest",
        greatest_or_least="greatest" if big else "least",
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
