"""Paths on grids: through a point, around closed ones, with so many turns.

Leaves out: stairs, tilings and strings (``tilings``).
"""

from __future__ import annotations

from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family


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
    step = rng.choice((
        "each step goes one unit to the right or one unit up",
        "every move leads to the neighboring grid point on the right or to the one above",
        "only unit steps to the right or upward are allowed",
    ))  # fmt: skip
    if level == 1:
        texts = phrasings(
            f"How many paths lead from $(0, 0)$ to $({w}, {h})$ if {step}?",
            f"The streets of a town form a square grid. {who} lives {w} blocks west and {h} "
            "blocks south "
            "of the library and walks there by a shortest way along the streets. How many "
            "different ways "
            "are there?",
            f"A robot starts in the lower left corner of a grid of {w + 1} columns and {h + 1} "
            "rows of "
            "cells and moves to the upper right corner, always one cell to the right or one "
            "cell up. In "
            "how many ways can it do this?",
            f"A string of {w + h} letters consists of {w} letters R and {h} letters U, which "
            "tell a pen "
            "to draw a unit segment to the right or upward. How many different lines can be drawn?",
            "An ant crawls along the lines of a grid from the point $(2, 1)$ to the point "
            f"$({w + 2}, "
            f"{h + 1})$, and {step}. How many routes can it take?",
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
            texts = phrasings(
                f"In a town with a square grid of streets, {who} walks from the crossing $(0, "
                "0)$ to the "
                f"crossing $({w}, {h})$, going only right or up. The piece of street between "
                f"$({a}, {b})$ "
                f"and $({a + 1}, {b})$ is closed. How many ways remain?",
                f"Count the paths from $(0, 0)$ to $({w}, {h})$ in which {step}, and which do "
                "not use the "
                f"segment from $({a}, {b})$ to $({a + 1}, {b})$.",
            )
            values = {"ask": "street", "w": w, "h": h, "a": a, "b": b}
            return Problem(rng.choice(texts), str(comb(w + h, w) - closed), values)
        texts = phrasings(
            f"A path runs from $(0, 0)$ to $({w}, {h})$, and {step}. How many such paths "
            f"{'do not pass' if avoid else 'pass'} through the point $({a}, {b})$?",
            f"{who} has to get from the corner $(0, 0)$ of a street grid to the corner $({w}, "
            f"{h})$ by "
            "moving right or up only, and "
            f"{'must keep away from' if avoid else 'wants to stop at'} a "
            f"shop at $({a}, {b})$. How many routes are possible?",
            f"Find the number of shortest grid paths between $(0, 0)$ and $({w}, {h})$ that "
            f"{'avoid' if avoid else 'visit'} $({a}, {b})$.",
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
        texts = phrasings(
            f"How many paths from $(0, 0)$ to $({w}, {h})$ avoid both $({a}, {b})$ and $({c}, "
            f"{d})$, if "
            f"{step}?",
            f"Two crossings of a street grid, $({a}, {b})$ and $({c}, {d})$, are under repair. "
            f"{who} "
            f"drives from $(0, 0)$ to $({w}, {h})$, only right and up. In how many ways can the "
            "repair "
            "sites be avoided?",
        )
        values = {"ask": ask, "w": w, "h": h, "closed": [[a, b], [c, d]]}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "turns":
        turns = rng.randint(2, min(2 * min(w, h) - 1, 5))
        k = turns + 1
        # k runs in alternating directions
        answer = comb(w - 1, (k + 1) // 2 - 1) * comb(h - 1, k // 2 - 1)
        answer += comb(h - 1, (k + 1) // 2 - 1) * comb(w - 1, k // 2 - 1)
        texts = phrasings(
            f"A path from $(0, 0)$ to $({w}, {h})$ consists of unit steps to the right and "
            "upward. How "
            f"many such paths change direction exactly {turns} times?",
            f"{who} walks {w} blocks east and {h} blocks north in a city with a square grid of "
            "streets, "
            f"never going west or south. In how many ways can this be done with exactly {turns} "
            "corners "
            "(changes between walking east and walking north)?",
        )
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
        texts = phrasings(
            f"How many paths from $(0, 0)$ to $({w}, {h})$ have only unit steps to the right and "
            "upward "
            f"and contain{', apart from the start,' if strict else ''} no point $(x, y)$ with "
            f"$y {sign} x$?",
            f"In an election, A gets {w} votes and B gets {h}. The ballots are counted one by "
            "one. In how "
            f"many orders of the letters A and B is A {lead}?",
        )
        values = {"ask": "ahead" if strict else "not behind", "w": w, "h": h}
        return Problem(rng.choice(texts), str(answer), values)
    w, h = rng.randint(2, 5), rng.randint(2, 5)
    ways = {(0, 0): 1}
    for x in range(w + 1):
        for y in range(h + 1):
            if x or y:
                ways[x, y] = sum(ways.get((x - i, y - j), 0) for i, j in ((1, 0), (0, 1), (1, 1)))
    texts = phrasings(
        f"A king stands on the lower left square of a board with {w + 1} columns and {h + 1} "
        "rows. In each "
        "move he goes one square to the right, one square up, or one square diagonally to the "
        "right and "
        "up. In how many ways can he reach the upper right square?",
        f"Find the number of paths from $(0, 0)$ to $({w}, {h})$ whose steps are $(1, 0)$, $(0, "
        "1)$ or "
        "$(1, 1)$.",
    )
    return Problem(rng.choice(texts), str(ways[w, h]), {"ask": ask, "w": w, "h": h})


FAMILIES = (
    math_family("counting_lattice_paths", _lattice_paths, "paths on a grid, with closed points"),
)
