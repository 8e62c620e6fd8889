"""Problems on angles, chords, tangents and secants of a circle."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import TRIPLES, letters, others, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _central(rng: Random) -> Problem:
    a, b, c = letters(rng, 3)
    arc = rng.randint(15, 85) * 2
    how = rng.choice(("inscribed", "central", "third"))
    if how == "inscribed":
        say = WORDINGS.draw(rng, "central, inscribed", a=a, b=b, c=c, arc=arc)
        return posed("central", say, arc // 2, how=how, arc=arc)
    if how == "central":
        say = WORDINGS.one("central 2", a=a, b=b, c=c, arc_by_2=arc // 2)
        return posed("central", say, arc, how=how, arc=arc // 2)
    say = WORDINGS.draw(rng, "central", a=a, b=b, c=c, arc=arc // 2)
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
        third = 180 - (m + n) * x
        if third == 0 or not 20 < n * x + third < 160 or abs(third) > 80:
            return _cyclic(rng)
        sign = "+" if third > 0 else "-"
        say = WORDINGS.one(
            "cyclic 2",
            a=a,
            b=b,
            c=c,
            d=d,
            value="" if m == 1 else m,
            value_2="" if n == 1 else n,
            sign=sign,
            rest=abs(third),
        )
        return posed("cyclic", say, n * x + third, how=how, values=[m, n, third])
    if how == "ratio":
        p, q, r = redrawn(
            lambda: (rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)),
            lambda t: len(set(t)) == 3 and t[0] + t[2] > t[1] and 180 % (t[0] + t[2]) == 0,
        )
        step = 180 // (p + r)
        say = WORDINGS.draw(rng, "cyclic, ratio", a=a, b=b, c=c, d=d, p=p, q=q, r=r)
        return posed("cyclic", say, 180 - q * step, how=how, values=[p, q, r])
    arcs = redrawn(
        lambda: [rng.randint(30, 150) for _ in range(3)], lambda t: 30 <= 360 - sum(t) <= 160
    )
    say = WORDINGS.draw(rng, "cyclic", a=a, b=b, c=c, d=d, arcs=arcs)
    return posed("cyclic", say, Fraction(360 - arcs[0] - arcs[1], 2), how=how, values=arcs)


def _two_chords(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    x, y = redrawn(lambda: (rng.randint(20, 150), rng.randint(20, 150)), lambda t: t[0] != t[1])
    how = rng.choice(("inside", "outside", "back", "tangents"))
    if how == "inside":
        if x + y > 300:
            return _two_chords(rng)
        say = WORDINGS.one("two chords", a=a, c=c, b=b, d=d, m=m, x=x, y=y)
        return posed("chords", say, Fraction(x + y, 2), how=how, x=x, y=y)
    if how == "tangents":
        say = WORDINGS.draw(rng, "two chords, tangents", a=a, b=b, m=m, x=x, c=c)
        return posed("chords", say, 90 - Fraction(x, 2), how=how, x=x, y=0)
    low, high = sorted((x, y))
    if low + high > 300 or (how == "back" and (high - low) % 2):
        return _two_chords(rng)
    if how == "outside":
        say = WORDINGS.one("two chords 2", m=m, high=high, low=low)
        return posed("chords", say, Fraction(high - low, 2), how=how, x=low, y=high)
    say = WORDINGS.one(
        "two chords 3", m=m, a=a, b=b, d=d, c=c, high_value=(high - low) // 2, high=high
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
        say = WORDINGS.draw(rng, "tangent radius, tangent", c=c, u=u, a=a)
        return posed("radius", say, b, how=how, p=a, q=c)
    if how == "chord":
        say = WORDINGS.draw(rng, "tangent radius, chord", a=a, u=u, c=c)
        return posed("radius", say, 2 * b, how=how, p=a, q=c)
    say = WORDINGS.draw(rng, "tangent radius", twice_b=2 * b, u=u, c=c)
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
        say = WORDINGS.draw(rng, "crossing chords, part", a=a, b=b, c=c, d=d, m=m, p=p, q=q, r=r)
        return posed("crossing", say, s, how=how, values=[p, q, r])
    if how == "whole":
        say = WORDINGS.one("crossing chords", a=a, b=b, c=c, d=d, p=p, q=q, r=r)
        return posed("crossing", say, r + s, how=how, values=[p, q, r])
    if r == s:
        return _crossing_chords(rng, asked)
    say = WORDINGS.draw(rng, "crossing chords 2", c=c, d=d, r_plus_s=r + s, a=a, b=b, m=m, p=p, q=q)
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
        say = WORDINGS.one("secants 2", m=m, a=a, b=b, c=c, d=d, x=x, y=y, z=z)
        return posed("secants", say, far - z, how=how, values=[x, y, z])
    if how == "tangent":
        x, t = redrawn(
            lambda: (rng.randint(1, 18), rng.randint(2, 24)),
            lambda v: v[1] > v[0] and v[1] * v[1] % v[0] == 0 and v[1] ** 2 // v[0] < 80,
        )
        say = WORDINGS.draw(rng, "secants, tangent", m=m, a=a, b=b, c=c, t=t, x=x)
        return posed("secants", say, t * t // x - x, how=how, values=[t, x])
    if how == "radius":
        r = rng.randint(2, 20)
        x, y = redrawn(lambda: (rng.randint(1, 20), rng.randint(2, 30)), lambda v: v[1] < 2 * r)
        power = x * (x + y)
        if not any(n * n == power + r * r for n in range(1, 60)):
            return _secants(rng)
        far = next(n for n in range(1, 60) if n * n == power + r * r)
        say = WORDINGS.one("secants 3", m=m, r=r, a=a, b=b, x=x, y=y)
        return posed("secants", say, far, how=how, values=[r, x, y])
    x, t = redrawn(
        lambda: (rng.randint(1, 18), rng.randint(2, 24)),
        lambda v: v[1] > v[0] and v[1] * v[1] % v[0] == 0 and v[1] ** 2 // v[0] < 80,
    )
    say = WORDINGS.draw(rng, "secants", m=m, t=t, outer_rest=t * t // x - x, b=b, c=c)
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
