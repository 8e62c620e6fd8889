"""Problems on cylinders, cones, balls, pyramids and tetrahedra."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import TRIPLES, times_pi, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


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
        say = WORDINGS.draw(rng, "cylinder, volume", h=h, u=u, r=r, twice_r=2 * r)
        wide = "across" in say
        return posed(
            "cylinder", say, times_pi(r * r * h), how=how, r=2 * r if wide else r, h=h, wide=wide
        )
    if how == "surface":
        say = WORDINGS.draw(rng, "cylinder, surface", h=h, r=r)
        return posed("cylinder", say, times_pi(2 * r * (r + h)), how=how, r=r, h=h, wide=False)
    say = WORDINGS.draw(rng, "cylinder", twice_r=2 * r, h=h)
    return posed("cylinder", say, times_pi(2 * r * h), how=how, r=2 * r, h=h, wide=True)


def _cone(rng: Random) -> Problem:
    a, b, c = rng.choice(TRIPLES[:4])
    f = rng.randint(1, 3)
    r, h, s = a * f, b * f, c * f
    if rng.choice((True, False)):
        r, h = h, r
    how = rng.choice(("volume", "surface", "slant", "rolled"))
    if how == "volume":
        say = WORDINGS.draw(rng, "cone, volume", s=s, r=r, twice_r=2 * r)
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
        say = WORDINGS.draw(rng, "cone, surface", h=h, r=r)
        return posed("cone", say, times_pi(r * (r + s)), how=how, p=r, q=h, wide=False)
    if how == "slant":
        say = WORDINGS.draw(rng, "cone, slant", r=r, cone_volume=times_pi(Fraction(r * r * h, 3)))
        volume = Fraction(r * r * h, 3)
        if volume.denominator > 1:
            return _cone(rng)
        return posed("cone", say, s, how=how, p=r, q=volume.numerator, wide=False)
    angle = Fraction(360 * r, s)
    if angle.denominator > 1 or angle > 330:
        return _cone(rng)
    say = WORDINGS.draw(rng, "cone", s=s, angle=angle)
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
        say = WORDINGS.draw(rng, "melted, balls", count=count, small=small, twice_small=2 * small)
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
        say = WORDINGS.draw(
            rng,
            "melted, level",
            width=width,
            n=n,
            word=word,
            r=r,
            is_or_are="is" if n == 1 else "are",
            sinks_or_sink="sinks" if n == 1 else "sink",
        )
        return posed("melted", say, rise, how=how, values=[width, n, r])
    if how == "fit":
        r = rng.randint(2, 15)
        asked = rng.choice(("cylinder", "cube"))
        if asked == "cylinder":
            say = WORDINGS.draw(rng, "melted, fit, cylinder", r=r)
            answer = times_pi(Fraction(2 * r**3, 3))
        else:
            say = WORDINGS.draw(rng, "melted, fit", r=r)
            answer = str(8 * r * r)
        return posed("melted", say, answer, how=asked, values=[r])
    k, m = redrawn(lambda: (rng.randint(2, 6), rng.randint(1, 5)), lambda t: t[1] < t[0])
    r, h = k * rng.randint(1, 3), k * rng.randint(2, 5)
    low = Fraction(r * r * h, 3)
    part = Fraction(m, k)
    say = WORDINGS.draw(rng, "melted", r=r, h=h, m_times_h_over_k=m * h // k)
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
        say = WORDINGS.draw(rng, "pyramid, surface", h=h, side=side)
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
        say = WORDINGS.draw(rng, "pyramid, volume", side=side, slant=slant)
        return posed(
            "pyramid", say, Fraction(side * side * h, 3), how=how, p=side, q=slant, bare=False
        )
    say = WORDINGS.draw(
        rng,
        "pyramid",
        side=side,
        whole_volume=side * side * h // 3 if side * side * h % 3 == 0 else 0,
        whole_volume_text=side * side * h // 3,
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
        say = WORDINGS.draw(rng, "tetrahedron, corner", a=a, b=b, c=c)
        return posed("tetrahedron", say, Fraction(a * b * c, 6), how=how, values=[a, b, c])
    if how == "distance":
        inside = a * a * b * b + b * b * c * c + c * c * a * a
        say = WORDINGS.draw(rng, "tetrahedron, distance", a=a, b=b, c=c)
        return posed("tetrahedron", say, root(inside, Fraction(1, 2)), how=how, values=[a, b, c])
    s = rng.randint(1, 12) * 2
    if how == "regular":
        wanted = rng.choice(("volume", "height"))
        answer = root(2, Fraction(s**3, 12)) if wanted == "volume" else root(6, Fraction(s, 3))
        say = WORDINGS.draw(
            rng,
            "tetrahedron 2",
            s=s,
            volume="volume." if wanted == "volume" else "height above one of its faces.",
            volume_2="volume?" if wanted == "volume" else "height, when it stands on one of them?",
        )
        return posed("tetrahedron", say, answer, how=wanted, values=[s])
    say = WORDINGS.draw(rng, "tetrahedron", s=s)
    return posed("tetrahedron", say, root(3, 2 * s * s), how=how, values=[s])


FAMILIES = (
    of_kinds(
        "geometry_round_solids", (_cylinder,), (_cone,), (_melted,), "cylinders, cones and balls"
    ),
    of_kinds(
        "geometry_pyramids",
        (_pyramid,),
        (_pyramid, _corner),
        (_regular,),
        "pyramids and tetrahedra",
    ),
)
