"""Problems on grid paths."""

from __future__ import annotations

from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _routes(width: int, height: int, closed: list[tuple[int, int]]) -> int:
    ways = {(0, 0): 1}
    for x in range(width + 1):
        for y in range(height + 1):
            if (x, y) != (0, 0):
                open_ = (x, y) not in closed
                ways[x, y] = open_ * (ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0))
    return ways[width, height]


def _lattice_paths(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    w, h = rng.randint(3, 8), rng.randint(3, 7)
    step = WORDINGS.draw(rng, "lattice paths")
    if level == 1:
        texts = WORDINGS.all(
            "lattice paths, level 1",
            w=w,
            h=h,
            step=step,
            who=who,
            w_plus_one=w + 1,
            h_plus_one=h + 1,
            w_plus_h=w + h,
            w_plus_two=w + 2,
        )
        return Problem(rng.choice(texts), str(comb(w + h, w)), {"ask": "plain", "w": w, "h": h})
    if level == 2:
        a, b = rng.randint(1, w - 1), rng.randint(1, h - 1)
        through = comb(a + b, a) * comb(w + h - a - b, w - a)
        avoid = rng.random() < 0.6
        answer = comb(w + h, w) - through if avoid else through
        if rng.random() < 0.3:
            # a closed street: the step from (a, b) to (a + 1, b)
            closed = comb(a + b, a) * comb(w - a - 1 + h - b, h - b)
            texts = WORDINGS.all(
                "lattice paths 9", who=who, w=w, h=h, a=a, b=b, a_plus_1=a + 1, step=step
            )
            values = {"ask": "street", "w": w, "h": h, "a": a, "b": b}
            return Problem(rng.choice(texts), str(comb(w + h, w) - closed), values)
        texts = WORDINGS.all(
            "lattice paths 10",
            w=w,
            h=h,
            step=step,
            do_not_pass_or_pass="do not pass" if avoid else "pass",
            a=a,
            b=b,
            who=who,
            must_keep="must keep away from" if avoid else "wants to stop at",
            avoid_or_visit="avoid" if avoid else "visit",
        )
        values = {"ask": "avoid" if avoid else "through", "w": w, "h": h, "a": a, "b": b}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("two closed", "turns", "diagonal", "kings"))
    if ask == "two closed":
        closed_points = redrawn(
            lambda: sorted((rng.randint(1, w - 1), rng.randint(1, h - 1)) for _ in range(2)),
            lambda c: c[0] != c[1],
        )
        (a, b), (c, d) = closed_points
        answer = _routes(w, h, closed_points)
        if answer < 2:
            return _lattice_paths(rng, level)
        texts = WORDINGS.all("lattice paths 11", w=w, h=h, a=a, b=b, c=c, d=d, step=step, who=who)
        values = {"ask": ask, "w": w, "h": h, "closed": [[a, b], [c, d]]}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "turns":
        turns = rng.randint(2, min(2 * min(w, h) - 1, 5))
        k = turns + 1
        # k runs in alternating directions
        answer = comb(w - 1, (k + 1) // 2 - 1) * comb(h - 1, k // 2 - 1)
        answer += comb(h - 1, (k + 1) // 2 - 1) * comb(w - 1, k // 2 - 1)
        texts = WORDINGS.all("lattice paths, turns", w=w, h=h, turns=turns, who=who)
        values = {"ask": ask, "w": w, "h": h, "turns": turns}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "diagonal":
        w, h = max(w, h), min(w, h)
        strict = rng.random() < 0.4
        w += strict and w == h
        closed_points = [
            (x, y) for x in range(w + 1) for y in range(h + 1)
            if (x, y) != (0, 0) and (y >= x if strict else y > x)
        ]  # fmt: skip
        answer = _routes(w, h, closed_points)
        sign = "\\ge" if strict else ">"
        lead = (
            "ahead of B from the first ballot on" if strict else "never behind B during the count"
        )
        texts = WORDINGS.all(
            "lattice paths 12",
            w=w,
            h=h,
            apart_from=", apart from the start," if strict else "",
            sign=sign,
            lead=lead,
        )
        values = {"ask": "ahead" if strict else "not behind", "w": w, "h": h}
        return Problem(rng.choice(texts), str(answer), values)
    w, h = rng.randint(2, 5), rng.randint(2, 5)
    ways = {(0, 0): 1}
    for x in range(w + 1):
        for y in range(h + 1):
            if x or y:
                ways[x, y] = sum(ways.get((x - i, y - j), 0) for i, j in ((1, 0), (0, 1), (1, 1)))
    texts = WORDINGS.all("lattice paths, 2", w_plus_one=w + 1, h_plus_one=h + 1, w=w, h=h)
    return Problem(rng.choice(texts), str(ways[w, h]), {"ask": ask, "w": w, "h": h})


FAMILIES = (
    math_family("counting_lattice_paths", _lattice_paths, "paths on a grid, with closed points"),
)
