"""Problems on composed motions of the plane, and on loci."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import (
    circle,
    circle_form,
    grid_point,
    letters,
    line,
    line_form,
    point,
    times_pi,
)
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_Point = tuple[int, int]


def _turned(p: _Point, center: _Point, quarters: int) -> _Point:
    x, y = p[0] - center[0], p[1] - center[1]
    for _ in range(quarters % 4):
        x, y = -y, x
    return center[0] + x, center[1] + y


_TURNS = {1: "$90^\\circ$ counterclockwise", 2: "$180^\\circ$", 3: "$90^\\circ$ clockwise"}


def _rotation(rng: Random) -> Problem:
    p, c = redrawn(lambda: (grid_point(rng, 7), grid_point(rng, 5)), lambda t: t[0] != t[1])
    turn = rng.choice((1, 2, 3))
    n = letters(rng, 3)[0]
    say = WORDINGS.draw(rng, "rotation", p=point(*p), turns_turn=_TURNS[turn], c=point(*c), n=n)
    return posed("rotation", say, point(*_turned(p, c, turn)), p=p, center=c, turn=turn)


def _step(rng: Random) -> tuple[str, list[object]]:
    how = rng.choice(("shift", "x", "y", "turn", "diagonal"))
    if how == "shift":
        u, v = redrawn(lambda: grid_point(rng, 5), lambda t: 0 not in t)
        side = f"{abs(u)} {'unit' if abs(u) == 1 else 'units'} {'right' if u > 0 else 'left'}"
        high = f"{abs(v)} {'unit' if abs(v) == 1 else 'units'} {'up' if v > 0 else 'down'}"
        return f"translated {side} and {high}", [how, u, v]
    if how in "xy":
        k = rng.randint(-4, 4)
        return f"reflected in the line ${how} = {k}$", [how, k, 0]
    if how == "turn":
        q = rng.choice((1, 2, 3))
        return f"rotated {_TURNS[q]} about the origin", [how, q, 0]
    return "reflected in the line $y = x$", [how, 0, 0]


def _moved(p: _Point, step: list[object]) -> _Point:
    how, u, v = step[0], int(str(step[1])), int(str(step[2]))
    if how == "shift":
        return p[0] + u, p[1] + v
    if how == "x":
        return 2 * u - p[0], p[1]
    if how == "y":
        return p[0], 2 * u - p[1]
    return _turned(p, (0, 0), u) if how == "turn" else (p[1], p[0])


def _composed(rng: Random) -> Problem:
    p = grid_point(rng, 7)
    n = letters(rng, 3)[0]
    count = rng.choice((2, 3))
    steps = redrawn(
        lambda: [_step(rng) for _ in range(count)],
        lambda s: all(a[1][0] != b[1][0] for a, b in itertools.pairwise(s)),
    )
    end = p
    for _, step in steps:
        end = _moved(end, step)
    texts = [s[0] for s in steps]
    chain = ", then ".join(texts)
    back = rng.choice((True, False))
    if end == p:
        return _composed(rng)
    if back:
        say = WORDINGS.draw(rng, "composed, back", chain=chain, end=point(*end))
        return posed("composed", say, point(*p), p=end, steps=[s[1] for s in steps], back=True)
    say = WORDINGS.draw(rng, "composed", n=n, p=point(*p), chain=chain)
    return posed("composed", say, point(*end), p=p, steps=[s[1] for s in steps], back=False)


def _motion_center(rng: Random) -> Problem:
    how = rng.choice(("rotation", "dilation"))
    c = grid_point(rng, 5)
    p, q = redrawn(
        lambda: (grid_point(rng, 7), grid_point(rng, 7)), lambda t: t[0] != t[1] and c not in t
    )
    a, b, _ = letters(rng, 3)
    if how == "rotation":
        turn = rng.choice((1, 3))
        p2, q2 = _turned(p, c, turn), _turned(q, c, turn)
        say = WORDINGS.draw(
            rng,
            "motion center",
            turns=_TURNS[turn],
            a=a,
            point=point(*p),
            point_point=point(*p2),
            b=b,
            point_point_2=point(*q),
            point_point_3=point(*q2),
        )
        return posed(
            "center",
            say,
            point(*c),
            how=how,
            first=[p, p2],
            second=[] if "takes" in say else [q, q2],
            turn=turn if "takes" in say else 0,
        )
    k = rng.choice((2, 3, -2, -1))
    p2, q2 = ((c[0] + k * (t[0] - c[0]), c[1] + k * (t[1] - c[1])) for t in (p, q))
    if (p[0] - c[0]) * (q[1] - c[1]) == (p[1] - c[1]) * (q[0] - c[0]):
        return _motion_center(rng)
    say = WORDINGS.one(
        "motion center 2",
        a=a,
        point=point(*p),
        point_point=point(*p2),
        b=b,
        point_point_2=point(*q),
        point_point_3=point(*q2),
    )
    return posed("center", say, point(*c), how=how, first=[p, p2], second=[q, q2], turn=0)


def _stadium(rng: Random) -> Problem:
    return _locus_line(rng, ("circle_area", "squares"))


def _parallels(rng: Random) -> Problem:
    return _locus_line(rng, ("parallels", "squares"))


def _locus_line(rng: Random, asked: tuple[str, ...]) -> Problem:
    how = rng.choice(asked)
    p, q = redrawn(
        lambda: (grid_point(rng, 7), grid_point(rng, 7)),
        lambda t: t[0][0] != t[1][0] and t[0][1] != t[1][1],
    )
    form = line_form(rng)
    if how == "squares":
        k = rng.randint(-20, 20)
        a, b = 2 * (q[0] - p[0]), 2 * (q[1] - p[1])
        c = k + q[0] ** 2 + q[1] ** 2 - p[0] ** 2 - p[1] ** 2
        if k in (0, 1, -1):
            return _locus_line(rng, asked)
        say = WORDINGS.draw(
            rng,
            "locus line",
            point=point(*p),
            point_point=point(*q),
            k=k,
            form=form,
            exceeds_the=f"exceeds the square of its distance from ${point(*q)}$ by ${k}$. "
            if k > 0
            else f"is ${-k}$ less than the square of its distance from ${point(*q)}$. ",
        )
        return posed("line", say, line(a, b, c), how=how, p=p, q=q, k=k)
    if how == "circle_area":
        r = rng.randint(2, 12)
        length = redrawn(lambda: rng.randint(3, 25), lambda v: v != r)
        say = WORDINGS.draw(rng, "locus line, circle_area", r=r, length=length)
        return posed(
            "line",
            say,
            f"{2 * r * length} + {times_pi(r * r)}",
            how=how,
            p=(r, 0),
            q=(length, 0),
            k=0,
        )
    a, b, c = redrawn(
        lambda: (
            rng.choice((3, 4, 5, 8)),
            rng.choice((3, -4, 12, -15, 4, -12)),
            rng.randint(-20, 20),
        ),
        lambda t: (abs(t[0]), abs(t[1])) in ((3, 4), (4, 3), (5, 12), (8, 15)),
    )
    norm = {3: 5, 4: 5, 5: 13, 8: 17}[a]
    d = rng.randint(1, 4)
    upper = rng.choice((True, False))
    # by = c +- norm d - ax: the upper one has the larger intercept on the y-axis
    first, second = c + norm * d, c - norm * d
    take = (
        max(first, second, key=lambda v: Fraction(v, b))
        if upper
        else min(first, second, key=lambda v: Fraction(v, b))
    )
    say = WORDINGS.one(
        "locus line 2", d=d, a=line(a, b, c), higher="higher" if upper else "lower", form=form
    )
    if c == 0:
        return _locus_line(rng, asked)
    return posed("line", say, line(a, b, take), how=how, p=(a, b), q=(c, d), k=int(upper))


def _locus_circle(rng: Random) -> Problem:
    how = rng.choice(("apollonius", "squares", "midpoints"))
    form = circle_form(rng)
    if how == "apollonius":
        k = rng.choice((2, 3))
        c, (u, v) = grid_point(rng, 5), redrawn(lambda: grid_point(rng, 3), lambda t: t != (0, 0))
        # center C, A = C + k^2 w, B = C + w, radius k |w|
        a, b = (c[0] + k * k * u, c[1] + k * k * v), (c[0] + u, c[1] + v)
        times = "twice" if k == 2 else "three times"
        say = WORDINGS.draw(
            rng, "locus circle, apollonius", times=times, a=point(*a), b=point(*b), form=form
        )
        return posed("circle", say, circle(*c, k * k * (u * u + v * v)), how=how, p=a, q=b, k=k)
    if how == "squares":
        m, (u, v) = grid_point(rng, 5), redrawn(lambda: grid_point(rng, 5), lambda t: t != (0, 0))
        a, b = (m[0] - u, m[1] - v), (m[0] + u, m[1] + v)
        square = rng.randint(1, 40)
        total = 2 * square + 2 * (u * u + v * v)
        say = WORDINGS.one(
            "locus circle 2", point=point(*a), point_point=point(*b), total=total, form=form
        )
        return posed("circle", say, circle(*m, square), how=how, p=a, q=b, k=total)
    h, k = grid_point(rng, 3)
    r = rng.randint(1, 6) * 2
    c = (2 * h, 2 * k)
    p = redrawn(lambda: (2 * rng.randint(-4, 4), 2 * rng.randint(-4, 4)), lambda t: t != c)
    say = WORDINGS.draw(rng, "locus circle", c=circle(*c, r * r), p=point(*p), form=form)
    middle = h + p[0] // 2, k + p[1] // 2
    return posed("circle", say, circle(*middle, r * r // 4), how=how, p=p, q=c, k=r * r)


FAMILIES = (
    of_kinds(
        "geometry_motions",
        (_rotation,),
        (_composed,),
        (_motion_center, _composed),
        "rotations, reflections, translations and dilations, one after another",
    ),
    of_kinds(
        "geometry_loci",
        (_stadium,),
        (_parallels,),
        (_locus_circle,),
        "sets of points with a property",
    ),
)
