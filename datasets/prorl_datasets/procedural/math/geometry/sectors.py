"""Problems on arcs, sectors and segments of circles."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import TRIPLES, times_pi, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _arc(rng: Random) -> Problem:
    angle = rng.choice((30, 36, 40, 45, 60, 72, 80, 90, 100, 120, 135, 144, 150, 160, 210, 240))
    r = rng.randint(3, 24)
    u = unit(rng)
    how = rng.choice(("length", "area", "perimeter"))
    part = Fraction(angle, 360)
    if how == "length":
        say = WORDINGS.draw(rng, "arc, length", r=r, u=u, angle=angle)
        return posed("arc", say, times_pi(2 * r * part), how=how, angle=angle, r=r)
    if how == "area":
        say = WORDINGS.draw(rng, "arc, area", r=r, angle=angle, u=u)
        return posed("arc", say, times_pi(r * r * part), how=how, angle=angle, r=r)
    say = WORDINGS.draw(rng, "arc", angle=angle, r=r, u=u)
    return posed("arc", say, f"{2 * r} + {times_pi(2 * r * part)}", how=how, angle=angle, r=r)


def _arc_back(rng: Random) -> Problem:
    angle = rng.choice((30, 36, 40, 45, 60, 72, 80, 90, 100, 120, 135, 144, 150, 160))
    r = rng.randint(3, 24)
    part = Fraction(angle, 360)
    how = rng.choice(("radius", "angle", "area"))
    area, length = r * r * part, 2 * r * part
    if how == "radius":
        say = WORDINGS.draw(rng, "arc back, radius", angle=angle, area=times_pi(area))
        return posed("arc_back", say, r, how=how, values=[angle, area.numerator, area.denominator])
    if how == "angle":
        say = WORDINGS.draw(rng, "arc back, angle", r=r, length=times_pi(length))
        return posed(
            "arc_back", say, angle, how=how, values=[r, length.numerator, length.denominator]
        )
    say = WORDINGS.draw(rng, "arc back", length=times_pi(length), area=times_pi(area))
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
        say = WORDINGS.draw(rng, "segment area, quarter", r=r)
        return posed("segment", say, f"{times_pi(Fraction(r * r, 4))} - {r * r // 2}", how=how, r=r)
    if how == "sixth":
        say = WORDINGS.draw(rng, "segment area, sixth", r=r)
        answer = f"{times_pi(Fraction(r * r, 6))} - {root(3, Fraction(r * r, 4))}"
        return posed("segment", say, answer, how=how, r=r)
    if how == "third":
        say = WORDINGS.draw(rng, "segment area, third", r=r)
        answer = f"{times_pi(r * r)} - {root(3, Fraction(3 * r * r, 4))}"
        return posed("segment", say, answer, how=how, r=r)
    say = WORDINGS.draw(rng, "segment area", r=r)
    return posed("segment", say, f"{times_pi(Fraction(r * r, 2))} - {r * r}", how=how, r=r)


def _between(rng: Random) -> Problem:
    how = rng.choice(("annulus", "square", "inside", "chord"))
    u = unit(rng)
    if how == "annulus":
        p, q = redrawn(lambda: (rng.randint(2, 15), rng.randint(3, 20)), lambda t: t[0] < t[1])
        say = WORDINGS.draw(rng, "between, annulus", p=p, q=q, u=u, q_minus_p=q - p)
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
        say = WORDINGS.draw(rng, "between, square", s=s, u=u)
        return posed(
            "between", say, f"{s * s} - {times_pi(s * s // 4)}", how=how, values=[s], ring=False
        )
    if how == "inside":
        r = rng.randint(2, 20)
        say = WORDINGS.draw(rng, "between, inside", r=r)
        return posed(
            "between", say, f"{times_pi(r * r)} - {2 * r * r}", how=how, values=[r], ring=False
        )
    half = rng.randint(2, 15)
    say = WORDINGS.draw(rng, "between", twice_half=2 * half)
    return posed("between", say, times_pi(half * half), how=how, values=[2 * half], ring=False)


def _common_tangent(rng: Random) -> Problem:
    how = rng.choice(("touching", "apart", "inner"))
    if how == "touching":
        m, n, k = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 3)
        p, q = m * m * k, n * n * k
        if p == q:
            return _common_tangent(rng)
        say = WORDINGS.draw(rng, "common tangent, touching", p=p, q=q)
        return posed("tangent", say, 2 * m * n * k, how=how, values=[p, q])
    a, b, c = rng.choice(TRIPLES[:5])
    f = rng.randint(1, 3)
    a, b, c = a * f, b * f, c * f
    if how == "apart":
        p = rng.randint(1, 9)
        if c <= 2 * p + a:
            return _common_tangent(rng)
        say = WORDINGS.draw(rng, "common tangent, apart", c=c, p_plus_a=p + a, p=p)
        return posed("tangent", say, b, how=how, values=[p, p + a, c])
    p = redrawn(lambda: rng.randint(1, a), lambda v: v < a)
    say = WORDINGS.draw(rng, "common tangent", p=p, a_minus_p=a - p, c=c)
    return posed("tangent", say, b, how=how, values=[p, a - p, c])


def _nested(rng: Random) -> Problem:
    how = rng.choice(("semicircle", "quarter", "three", "arch"))
    if how == "semicircle":
        r = rng.randint(1, 20)
        say = WORDINGS.draw(rng, "nested, semicircle", r=r)
        if r == 1:
            return _nested(rng)
        return posed("nested", say, Fraction(4 * r * r, 5), how=how, values=[r])
    if how == "quarter":
        r = rng.randint(2, 12)
        say = WORDINGS.draw(rng, "nested, quarter", r=r)
        return posed("nested", say, f"{root(2, r)} - {r}", how=how, values=[r])
    if how == "three":
        r = rng.randint(2, 20)
        say = WORDINGS.draw(rng, "nested, three", r=r)
        return posed(
            "nested", say, f"{root(3, r * r)} - {times_pi(Fraction(r * r, 2))}", how=how, values=[r]
        )
    p, q = redrawn(
        lambda: (rng.randint(1, 12), rng.randint(1, 12)), lambda t: t[0] != t[1] and gcd(*t) == 1
    )
    say = WORDINGS.draw(rng, "nested", twice_p=2 * p, twice_q=2 * q)
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
