"""Problems on boxes, points, triangles and planes in space."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.geometry.writing import times_pi, unit
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.latex import listed, root
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _edges(rng: Random, most: int = 12) -> tuple[int, int, int]:
    return redrawn(
        lambda: (rng.randint(2, most), rng.randint(2, most), rng.randint(2, most)),
        lambda t: len(set(t)) == 3,
    )


def _box(rng: Random) -> Problem:
    a, b, c = _edges(rng)
    u = unit(rng)
    how = rng.choice(("diagonal", "surface", "wire"))
    if how == "diagonal":
        say = WORDINGS.draw(rng, "box, diagonal", a=a, u=u, b=b, c=c)
        return posed("box", say, root(a * a + b * b + c * c), how=how, edges=[a, b, c])
    if how == "surface":
        say = WORDINGS.draw(rng, "box, surface", a=a, u=u, b=b, c=c)
        return posed("box", say, 2 * (a * b + b * c + c * a), how=how, edges=[a, b, c])
    say = WORDINGS.draw(rng, "box", a=a, u=u, b=b, c=c)
    return posed("box", say, 4 * (a + b + c) + 2 * (a + b), how=how, edges=[a, b, c])


def _box_back(rng: Random) -> Problem:
    a, b, c = _edges(rng)
    how = rng.choice(("faces", "sums", "tank"))
    if how == "faces":
        say = WORDINGS.draw(
            rng, "box back, faces", a_times_b=a * b, b_times_c=b * c, a_times_c=a * c
        )
        return posed("box_back", say, a * b * c, how=how, values=[a * b, b * c, a * c])
    if how == "sums":
        say = WORDINGS.draw(
            rng,
            "box back, sums",
            all_edges=4 * (a + b + c),
            twice_a_times_b=2 * (a * b + b * c + c * a),
        )
        return posed(
            "box_back",
            say,
            root(a * a + b * b + c * c),
            how=how,
            values=[4 * (a + b + c), 2 * (a * b + b * c + c * a)],
        )
    p, q = rng.randint(20, 50), rng.randint(20, 50)
    high, spilled = rng.randint(20, 40), rng.randint(2, 20) * 25
    deep = high - rng.randint(1, 5)
    say = WORDINGS.draw(rng, "box back", p=p, q=q, high=high, deep=deep, spilled=spilled)
    return posed(
        "box_back",
        say,
        p * q * (high - deep) + spilled,
        how=how,
        values=[p, q, high, deep, spilled],
    )


def _painted(rng: Random) -> Problem:
    a, b, c = redrawn(
        lambda: (rng.randint(3, 9), rng.randint(3, 9), rng.randint(3, 9)), lambda t: len(set(t)) > 1
    )
    faces = rng.choice((0, 1, 2))
    count = {
        0: (a - 2) * (b - 2) * (c - 2),
        1: 2 * ((a - 2) * (b - 2) + (b - 2) * (c - 2) + (c - 2) * (a - 2)),
        2: 4 * (a + b + c - 6),
    }[faces]
    word = {0: "no painted face", 1: "exactly one painted face", 2: "exactly two painted faces"}
    say = WORDINGS.draw(
        rng, "painted", a_times_b_times_c=a * b * c, a=a, b=b, c=c, word_faces=word[faces]
    )
    return posed("painted", say, count, edges=[a, b, c], faces=faces)


_Spot = tuple[int, int, int]


def _spot(rng: Random, size: int = 6) -> _Spot:
    return rng.randint(-size, size), rng.randint(-size, size), rng.randint(-size, size)


def _at(p: _Spot | tuple[Fraction, ...]) -> str:
    return f"({', '.join(str(v) for v in p)})"


def _cross(p: _Spot, q: _Spot, r: _Spot) -> _Spot:
    u = [q[i] - p[i] for i in range(3)]
    v = [r[i] - p[i] for i in range(3)]
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def _apart(rng: Random) -> Problem:
    return _space_points(rng, ("distance", "sphere"))


def _on_an_axis(rng: Random) -> Problem:
    return _space_points(rng, ("axis",))


def _space_points(rng: Random, asked: tuple[str, ...]) -> Problem:
    p, q = redrawn(
        lambda: (_spot(rng), _spot(rng)), lambda t: all(t[0][i] != t[1][i] for i in range(3))
    )
    how = rng.choice(asked)
    square = sum((p[i] - q[i]) ** 2 for i in range(3))
    if how == "distance":
        say = WORDINGS.draw(rng, "space points, distance", at_p=_at(p), at_q=_at(q))
        return posed("space", say, root(square), how=how, p=p, q=q, axis="")
    if how == "sphere":
        say = WORDINGS.draw(rng, "space points, sphere", at_p=_at(p), at_q=_at(q))
        return posed("space", say, times_pi(square), how=how, p=p, q=q, axis="")
    axis = rng.choice("xyz")
    i = "xyz".index(axis)
    at = Fraction(sum(v * v for v in q) - sum(v * v for v in p), 2 * (q[i] - p[i]))
    say = WORDINGS.draw(rng, "space points", axis=axis, at_p=_at(p), at_q=_at(q))
    return posed("space", say, at, how=how, p=p, q=q, axis=axis)


def _space_figures(rng: Random) -> Problem:
    p, q, r, s = redrawn(
        lambda: tuple(_spot(rng, 5) for _ in range(4)),
        lambda t: sum(n * (t[3][i] - t[0][i]) for i, n in enumerate(_cross(t[0], t[1], t[2]))) != 0,
    )
    n = _cross(p, q, r)
    size = sum(v * v for v in n)
    how = rng.choice(("area", "volume", "plane"))
    if how == "area":
        say = WORDINGS.draw(
            rng,
            "space figures, area",
            at_p=_at(p),
            at_q=_at(q),
            at_r=_at(r),
            points_shown=listed([f"${_at(t)}$" for t in (p, q, r)]),
        )
        return posed("figures", say, root(size, Fraction(1, 2)), how=how, spots=[p, q, r])
    volume = abs(sum(n[i] * (s[i] - p[i]) for i in range(3)))
    if how == "volume":
        say = WORDINGS.draw(
            rng, "space figures, volume", at_p=_at(p), at_q=_at(q), at_r=_at(r), at_s=_at(s)
        )
        return posed("figures", say, Fraction(volume, 6), how=how, spots=[p, q, r, s])
    say = WORDINGS.draw(rng, "space figures", at_s=_at(s), at_p=_at(p), at_q=_at(q), at_r=_at(r))
    return posed("figures", say, root(size, Fraction(volume, size)), how=how, spots=[p, q, r, s])


FAMILIES = (
    of_kinds(
        "geometry_boxes",
        (_box,),
        (_painted, _box),
        (_box_back,),
        "edges, faces and diagonals of boxes",
    ),
    of_kinds(
        "geometry_points_in_space",
        (_apart,),
        (_on_an_axis,),
        (_space_figures,),
        "distances, areas and volumes by coordinates in space",
    ),
)
