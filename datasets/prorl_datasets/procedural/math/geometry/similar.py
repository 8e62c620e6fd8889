"""Problems on similar triangles and ratios of areas."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import letters, others, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


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
        say = WORDINGS.one(
            "shadow 2",
            stick=stick,
            p_times_small=p * small,
            u=u,
            q_times_small=q * small,
            thing=thing,
            p_times_big=p * big,
        )
        if small == 1 and 1 in (p, q):
            return _shadow(rng)
        return posed(
            "shadow", say, q * big, height=p * small, shadow=q * small, other=p * big, back=True
        )
    if small == 1 and 1 in (p, q):
        return _shadow(rng)
    say = WORDINGS.draw(
        rng,
        "shadow",
        thing=thing,
        other=q * big,
        u=u,
        stick=stick,
        height=p * small,
        shadow=q * small,
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
    setting = WORDINGS.one("parallel cut setting", a=a, b=b, c=c, d=d, e=e)
    how = rng.choice(("piece", "side", "base"))
    if how == "piece":
        say = WORDINGS.draw(
            rng, "parallel cut", setting=setting, a=a, d=d, ad=ad, b=b, db=db, e=e, ae=ae, c=c
        )
        return posed("cut", say, ec, how=how, values=[ad, db, ae])
    if how == "side":
        say = WORDINGS.one(
            "parallel cut 2",
            setting=setting,
            a=a,
            e=e,
            ae=ae,
            c=c,
            ae_plus_ec=ae + ec,
            b=b,
            ad_plus_db=ad + db,
            d=d,
        )
        return posed("cut", say, db, how=how, values=[ae, ae + ec, ad + db])
    base = (p + q) * rng.randint(2, 6)
    say = WORDINGS.draw(
        rng, "parallel cut 3", setting=setting, a=a, d=d, ad=ad, b=b, db=db, c=c, base=base, e=e
    )
    return posed("cut", say, base * p // (p + q), how=how, values=[ad, db, base])


def _lamp(rng: Random) -> Problem:
    tall, low = redrawn(lambda: (rng.randint(8, 24), rng.randint(4, 6)), lambda d: d[0] > d[1] + 2)
    away = redrawn(lambda: rng.randint(6, 40), lambda v: v * low % (tall - low) == 0)
    shadow = away * low // (tall - low)
    how = rng.choice(("shadow", "height", "walk"))
    if how == "shadow":
        say = WORDINGS.draw(rng, "lamp, shadow", tall=tall, low=low, away=away)
        if say[0].isdigit():
            say = f"Marek is {low} feet tall. He{say.split('Marek')[1]}"
        return posed("lamp", say, shadow, how=how, values=[tall, low, away])
    if how == "height":
        say = WORDINGS.one(
            "lamp", low=low, away=away, shadow=shadow, foot="foot" if shadow == 1 else "feet"
        )
        return posed("lamp", say, tall, how=how, values=[low, away, shadow])
    say = WORDINGS.one("lamp 2", tall=tall, low=low, away=away)
    return posed("lamp", say, away + shadow, how=how, values=[tall, low, away])


def _trapezoid_diagonals(rng: Random) -> Problem:
    a, b, c, d = letters(rng, 4)
    (m,) = others(rng, a + b + c + d)
    p, q = _coprime(rng, 9)
    f = rng.randint(1, 4)
    how = rng.choice(("segment", "area", "parallel"))
    setting = WORDINGS.one(
        "trapezoid diagonals setting", a=a, b=b, c=c, d=d, p_times_f=p * f, q_times_f=q * f, m=m
    )
    if how == "segment":
        whole = (p + q) * rng.randint(1, 4)
        say = WORDINGS.draw(
            rng,
            "trapezoid diagonals",
            setting=setting,
            a=a,
            c=c,
            whole=whole,
            m=m,
            p_times_f=p * f,
            q_times_f=q * f,
        )
        return posed("trapezoid", say, whole * p // (p + q), how=how, values=[p * f, q * f, whole])
    if how == "area":
        k = rng.randint(1, 4)
        say = WORDINGS.draw(
            rng,
            "trapezoid diagonals 2",
            setting=setting,
            a=a,
            b=b,
            m=m,
            k_value=p * p * k,
            p=p,
            q=q,
        )
        values = [p, q] if "ratio" in say else [p * f, q * f]
        return posed("trapezoid", say, (p + q) ** 2 * k, how=how, values=[*values, p * p * k])
    say = WORDINGS.one("trapezoid diagonals 3", setting=setting, m=m, a=a, b=b)
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
        say = WORDINGS.draw(rng, "inscribed square, square", base=base, height=height, u=u)
        return posed(
            "inscribed", say, Fraction(base * height, base + height), how=how, values=[base, height]
        )
    if how == "rectangle":
        times = rng.choice((2, 3))
        say = WORDINGS.one("inscribed square", base=base, height=height, times=times)
        short = Fraction(base * height, base + times * height)
        return posed(
            "inscribed", say, 2 * (times + 1) * short, how=how, values=[base, height, times]
        )
    x = rng.randint(1, height - 1)
    say = WORDINGS.one("inscribed square 2", x=x, base=base, height=height)
    return posed(
        "inscribed", say, Fraction(base * (height - x), height), how=how, values=[base, height, x]
    )


def _scale_area(rng: Random) -> Problem:
    p, q = redrawn(lambda: _coprime(rng, 9), lambda d: d[0] < d[1])
    k = rng.randint(1, 9)
    how = rng.choice(("area", "perimeter", "map"))
    if how == "area":
        say = WORDINGS.draw(rng, "scale area, area", p=p, q=q, first_area=p * p * k)
        return posed("scale", say, q * q * k, how=how, values=[p, q, p * p * k])
    if how == "perimeter":
        f = rng.randint(3, 9)
        say = WORDINGS.draw(
            rng,
            "scale area, perimeter",
            first_area=p * p * k,
            q_times_q_times_k=q * q * k,
            p_times_f=p * f,
        )
        return posed("scale", say, q * f, how=how, values=[p * p * k, q * q * k, p * f])
    say = WORDINGS.one(
        "scale area", p_times_k=p * k, p_value=p * (k + 1), p_value_2=p * (k + 2), q_times_k=q * k
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
    setting = WORDINGS.draw(
        rng, "strip area", d=d, e=e, a=a, b=b, c=c, p=p, q=q, fraction_p=fraction(Fraction(p, q))
    )
    if how == "trapezoid":
        given = ((p + q) ** 2 - p * p) * k
        say = WORDINGS.one("strip area 2", setting=setting, b=b, c=c, e=e, d=d, given=given, a=a)
        return posed("strip", say, (p + q) ** 2 * k, how=how, values=[p, q, given])
    say = WORDINGS.one("strip area 3", setting=setting, a=a, b=b, c=c, e=e, d=d)
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
        say = WORDINGS.draw(
            rng, "side points", d=d, a=a, b=b, c=c, p=p, q=q, e=e, r=r, s=s, area=area
        )
        return posed("points", say, p * r * k, how=how, first=[p, q], second=[r, s], area=area)
    say = WORDINGS.draw(
        rng, "side points 2", a=a, b=b, c=c, area=area, d=d, p=p, q=q, e=e, r=r, s=s
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
    setting = WORDINGS.draw(rng, "crossing", a=a, b=b, c=c, d=d, p=p, q=q, e=e, r=r, s=s, m=m)
    if how == "ratio":
        say = f"{setting} Find $\\frac{{{a}{m}}}{{{m}{d}}}$."
        return posed("crossing", say, (at_b + at_c) / at_a, how=how, first=[p, q], second=[r, s])
    say = WORDINGS.one("crossing 2", setting=setting, a=a, b=b, c=c, m=m)
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
