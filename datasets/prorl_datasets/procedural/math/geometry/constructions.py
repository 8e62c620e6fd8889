"""Problems on ruler and compass, angles of elevation, and shortest paths."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import TRIPLES, letters, point
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _compass(rng: Random) -> Problem:
    a, h, c = rng.choice(TRIPLES[:3])
    b2, _h2, d = rng.choice(((9, 12, 15), (5, 12, 13), (16, 12, 20), (35, 12, 37)))
    f = 12 // h if 12 % h == 0 else 0
    if not f or (a * f, c * f) == (b2, d):
        return _compass(rng)
    left, r, right, s = a * f, c * f, b2, d
    base = left + right
    how = rng.choice(("height", "area", "split"))
    n, m, k = letters(rng, 3)
    setting = WORDINGS.draw(rng, "compass", n=n, m=m, base=base, r=r, s=s, k=k)
    if how == "height":
        return posed(
            "compass",
            f"{setting} How far is ${k}$ from the line ${n}{m}$?",
            12,
            how=how,
            values=[base, r, s],
        )
    if how == "area":
        return posed(
            "compass",
            f"{setting} What is the area of triangle ${n}{m}{k}$?",
            base * 6,
            how=how,
            values=[base, r, s],
        )
    return posed(
        "compass",
        f"{setting} The perpendicular from ${k}$ to $\\overline{{{n}{m}}}$ is constructed; its foot is "
        f"$F'$. Find ${n}F'$.".replace("F'", "Z" if "Z" not in (n, m, k) else "D"),
        left,
        how=how,
        values=[base, r, s],
    )


def _bisecting(rng: Random) -> Problem:
    how = rng.choice(("kite", "repeat", "thales"))
    if how == "kite":
        a, b, c = rng.choice(TRIPLES[:4])
        f = rng.randint(1, 4)
        if rng.choice((True, False)):
            a, b = b, a
        a, b, c = a * f, b * f, c * f
        say = WORDINGS.draw(rng, "bisecting, kite", twice_a=2 * a, c=c)
        whole = "area" in say
        return posed(
            "construct", say, 2 * a * b if whole else 2 * b, how=how, values=[2 * a, c], area=whole
        )
    if how == "thales":
        q, p = redrawn(lambda: (rng.randint(1, 12), rng.randint(2, 20)), lambda t: t[0] != t[1])
        say = WORDINGS.draw(rng, "bisecting, thales", p=p, q=q)
        return posed("construct", say, root(p * q), how=how, values=[p, q], area=False)
    n = rng.randint(2, 5)
    angle = rng.choice((16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176))
    if angle % 2**n:
        return _bisecting(rng)
    say = WORDINGS.draw(rng, "bisecting", angle=angle, n=n)
    return posed("construct", say, angle + angle // 2**n, how=how, values=[angle, n], area=False)


def _bank(rng: Random) -> Problem:
    return _river(rng, ("river",))


def _on_the_axis(rng: Random) -> Problem:
    return _river(rng, ("axis", "place"))


def _river(rng: Random, asked: tuple[str, ...]) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    if rng.choice((True, False)):
        a, b = b, a
    along, total, way = a * f, b * f, c * f
    p = redrawn(lambda: rng.randint(1, total - 1), lambda v: v * 2 != total)
    q = total - p
    how = rng.choice(asked)
    if how == "river":
        say = WORDINGS.draw(rng, "river, river", p=p, q=q, along=along)
        return posed("river", say, way, how=how, values=[p, q, along])
    x = rng.randint(-6, 6)
    if how == "axis":
        say = WORDINGS.draw(rng, "river, axis", x=point(x, p), mirror_point=point(x + along, q))
        return posed("river", say, way, how=how, values=[x, p, x + along, q])
    at = x + Fraction(along * p, total)
    say = WORDINGS.draw(rng, "river", x=point(x, p), mirror_point=point(x + along, q))
    return posed("river", say, at, how=how, values=[x, p, x + along, q])


def _garland(rng: Random) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    around, high = a * f, b * f
    turns = rng.choice((1, 1, 2))
    if around % turns:
        turns = 1
    say = WORDINGS.draw(
        rng,
        "garland",
        turns=turns,
        times_word="time" if turns == 1 else "times",
        high=high,
        side_around=around // turns,
        turn_or_turns="turn" if turns == 1 else "turns",
    )
    return posed("surface", say, c * f, how="cylinder", values=[high, around // turns, turns])


def _box_path(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 12)),
        lambda t: len(set(t)) > 1 and max(t) > 2,
    )
    shortest = min((a + b) ** 2 + c * c, (b + c) ** 2 + a * a, (a + c) ** 2 + b * b)
    say = WORDINGS.draw(rng, "box path", a=a, b=b, c=c)
    return posed("surface", say, root(shortest), how="box", values=[a, b, c])


def _elevation(rng: Random) -> Problem:
    d = rng.randint(2, 30) * 3
    u = rng.choice(("m", "feet"))
    angle = rng.choice((30, 60))
    height = root(3, Fraction(d, 3)) if angle == 30 else root(3, d)
    say = WORDINGS.draw(rng, "elevation", d=d, u=u, angle=angle)
    return posed("heights", say, height, how="single", d=d, angles=[angle])


def _heights(rng: Random) -> Problem:
    how = rng.choice(("two", "pair"))
    d = rng.randint(2, 30) * 3
    u = rng.choice(("m", "feet"))
    low, high = rng.choice(((30, 60), (30, 45), (45, 60)))
    if how == "two":
        # (h cot low - h cot high) = d
        answer = {
            (30, 60): root(3, Fraction(d, 2)),
            (30, 45): _sum(Fraction(d, 2), Fraction(d, 2)),
            (45, 60): _sum(Fraction(3 * d, 2), Fraction(d, 2)),
        }[low, high]
        say = WORDINGS.draw(rng, "heights, two", low=low, d=d, u=u, high=high)
        return posed("heights", say, answer, how=how, d=d, angles=[low, high])
    say = WORDINGS.one("heights", d=d, u=u, low=low, high=high)
    answer = {
        (30, 60): root(3, Fraction(2 * d, 3)),
        (30, 45): f"{root(3, d)} - {d}",
        (45, 60): f"{d} - {root(3, Fraction(d, 3))}",
    }[low, high]
    return posed("heights", say, answer, how=how, d=d, angles=[low, high])


def _sum(whole: Fraction, threes: Fraction) -> str:
    r"""Return ``a + b\sqrt{3}``, or ``\frac{a + b\sqrt{3}}{2}``."""
    if whole.denominator == 1:
        return f"{whole} + {root(3, threes)}"
    top = "" if threes.numerator == 1 else str(threes.numerator)
    return f"\\frac{{{whole.numerator} + {top}\\sqrt{{3}}}}{{2}}"


FAMILIES = (
    of_kinds(
        "geometry_constructions",
        (_bisecting, _elevation),
        (_compass, _bisecting),
        (_compass, _heights),
        "what a construction with ruler and compass, or a sighting, yields",
    ),
    of_kinds(
        "geometry_shortest_ways",
        (_bank, _garland),
        (_on_the_axis, _bank),
        (_box_path,),
        "shortest paths by reflecting and unrolling",
    ),
)
