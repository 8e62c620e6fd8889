"""Problems on figures in grids and on worst cases of blind draws."""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _figures(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    rows, columns = rng.randint(2, 7), rng.randint(3, 9)
    if level == 1:
        ask = rng.choice(("rectangles", "squares"))
        if ask == "rectangles":
            answer = comb(rows + 1, 2) * comb(columns + 1, 2)
            texts = WORDINGS.all(
                "figures, level 1, rectangles",
                rows=rows,
                columns=columns,
                who=who,
                rows_plus_one=rows + 1,
                columns_plus_one=columns + 1,
            )
            values = {"ask": ask, "rows": rows, "columns": columns}
            return Problem(rng.choice(texts), str(answer), values)
        answer = sum((rows - k) * (columns - k) for k in range(min(rows, columns)))
        texts = WORDINGS.all("figures, level 1", rows=rows, columns=columns)
        return Problem(
            rng.choice(texts), str(answer), {"ask": ask, "rows": rows, "columns": columns}
        )
    if level == 2:
        ask = rng.choice(("with cell", "area", "removed"))
        x, y = rng.randint(1, columns), rng.randint(1, rows)
        if ask == "with cell":
            answer = x * (columns - x + 1) * y * (rows - y + 1)
            texts = WORDINGS.all(
                "figures, level 2, with cell", y=y, x=x, rows=rows, columns=columns, who=who
            )
        elif ask == "removed":
            total = comb(rows + 1, 2) * comb(columns + 1, 2)
            answer = total - x * (columns - x + 1) * y * (rows - y + 1)
            texts = WORDINGS.all("figures, level 2, removed", rows=rows, columns=columns, y=y, x=x)
        else:
            cells = rng.choice((4, 6, 8, 9, 10, 12))
            answer = sum(
                max(rows - h + 1, 0) * max(columns - cells // h + 1, 0)
                for h in range(1, cells + 1)
                if cells % h == 0
            )
            if answer < 2:
                return _figures(rng, level)
            texts = WORDINGS.all("figures 4", cells=cells, rows=rows, columns=columns, who=who)
            values = {"ask": ask, "rows": rows, "columns": columns, "cells": cells}
            return Problem(rng.choice(texts), str(answer), values)
        values = {"ask": ask, "rows": rows, "columns": columns, "x": x, "y": y}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("tilted", "triangles", "distances"))
    w, h = rng.randint(3, 7), rng.randint(3, 6)
    if ask == "tilted":
        # a square with bounding box k x k stands in k positions
        answer = sum(k * (w - k) * (h - k) for k in range(1, min(w, h)))
        texts = WORDINGS.all("figures, tilted", h=h, w=w, w_times_h=w * h)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "w": w, "h": h})
    w, h = rng.randint(2, 6), rng.randint(2, 5)
    points = [(i, j) for i in range(w) for j in range(h)]
    if ask == "triangles":
        if w * h < 5:
            return _figures(rng, level)
        answer = sum(
            (q[0] - p[0]) * (r[1] - p[1]) != (r[0] - p[0]) * (q[1] - p[1])
            for p, q, r in combinations(points, 3)
        )
        texts = WORDINGS.all("figures, triangles", w_times_h=w * h, w=w, h=h)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "w": w, "h": h})
    w, h = rng.randint(3, 8), rng.randint(3, 6)
    distance = rng.choice((1, 2, 4, 5, 8, 9, 10, 13, 17, 18, 20, 25))
    answer = sum(
        (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 == distance
        for p, q in combinations([(i, j) for i in range(w) for j in range(h)], 2)
    )
    if answer < 2:
        return _figures(rng, level)
    root = round(distance**0.5)
    shown = str(root) if root * root == distance else f"\\sqrt{{{distance}}}"
    texts = WORDINGS.all("figures", w=w, h=h, shown=shown)
    values = {"ask": ask, "w": w, "h": h, "distance": shown}
    return Problem(rng.choice(texts), str(answer), values)


COLORS = ("red", "blue", "green", "white", "black")


def _worst_cases(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    k = rng.randint(3, 5)
    counts = [rng.randint(3, 20) for _ in range(k)]
    colors = COLORS[:k]
    things = rng.choice(("marbles", "socks", "balls", "buttons", "candies", "beads"))
    stock = listed([f"{n} {c}" for n, c in zip(counts, colors, strict=True)])
    lead = WORDINGS.draw(rng, "worst cases 2", stock=stock, things=things, who=who)
    many = WORDINGS.draw(rng, "worst cases", things=things)
    if level == 1:
        m = rng.randint(2, min(max(counts), 7))
        answer = sum(min(n, m - 1) for n in counts) + 1
        text = f"{lead} {many} {m} {things} of the same color?"
        return Problem(text, str(answer), {"ask": "same", "counts": counts, "m": m})
    if level == 2:
        ask = rng.choice(("each", "given", "colors", "pigeonhole"))
        if ask == "each":
            m = rng.randint(1, min(counts))
            answer = sum(counts) - min(counts) + m
            wish = f"at least {m} of every color" if m > 1 else "at least one of every color"
            return Problem(
                f"{lead} {many} {wish}?", str(answer), {"ask": ask, "counts": counts, "m": m}
            )
        if ask == "given":
            i = rng.randrange(k)
            m = rng.randint(1, counts[i])
            answer = sum(counts) - counts[i] + m
            text = f"{lead} {many} at least {m} {colors[i]} {things if m > 1 else things[:-1]}?"
            text = text.replace("candie?", "candy?")
            return Problem(
                text, str(answer), {"ask": ask, "counts": counts, "color": colors[i], "m": m}
            )
        if ask == "colors":
            m = rng.randint(2, k)
            answer = sum(sorted(counts)[k - m + 1 :]) + 1
            word = {2: "two", 3: "three", 4: "four", 5: "five"}[m]
            text = f"{lead} {many} {things} of at least {word} different colors?"
            return Problem(text, str(answer), {"ask": ask, "counts": counts, "m": m})
        groups, m = rng.choice((7, 10, 12, 26, 31, 50)), rng.randint(3, 9)
        people = groups * (m - 1) + 1
        what = WORDINGS.one(f"worst cases {groups}")
        texts = WORDINGS.all("worst cases, level 2", m=m, what=what)
        return Problem(rng.choice(texts), str(people), {"ask": ask, "groups": groups, "m": m})
    ask = rng.choice(("two kinds", "pairs", "sum", "difference"))
    if ask == "two kinds":
        m = rng.randint(2, max(2, min(sorted(counts)[-2], 8)))
        if sorted(counts)[-2] < m:
            return _worst_cases(rng, level)
        answer = (
            max(
                n + sum(min(c, m - 1) for j, c in enumerate(counts) if j != i)
                for i, n in enumerate(counts)
            )
            + 1
        )
        text = WORDINGS.one("worst cases 3", lead=lead, many=many, m=m, things=things)
        return Problem(text, str(answer), {"ask": ask, "counts": counts, "m": m})
    if ask == "pairs":
        pairs = rng.randint(2, 8)
        counts = [2 * rng.randint(4, 12) for _ in range(k)]
        stock = listed([f"{n} {c}" for n, c in zip(counts, colors, strict=True)])
        if 2 * pairs + k > sum(counts):
            return _worst_cases(rng, level)
        answer = 2 * (pairs - 1) + k + 1
        texts = WORDINGS.all("worst cases, pairs", stock=stock, pairs=pairs, who=who)
        values = {"ask": ask, "counts": counts, "pairs": pairs}
        return Problem(rng.choice(texts), str(answer), values)
    n = rng.randint(15, 80)
    if ask == "sum":
        total = redrawn(lambda: rng.randint(n // 2, 2 * n - 3), lambda t: t > 5)
        pairs = sum(1 for a in range(1, n + 1) if a < total - a <= n)
        answer = n - pairs + 1
        texts = WORDINGS.all("worst cases, sum", n=n, total=total)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "total": total})
    gap = rng.randint(2, 9)
    remaining = sum(1 for a in range(n) if a // gap % 2 == 0)
    answer = remaining + 1
    texts = WORDINGS.all("worst cases, 2", n=n, gap=gap)
    pick = rng.randrange(2)
    values = {"ask": "free of difference" if pick else ask, "n": n, "gap": gap}
    return Problem(texts[pick], str(answer - pick), values)


FAMILIES = (
    math_family("counting_figures", _figures, "rectangles, squares and triangles in grids"),
    math_family("counting_worst_cases", _worst_cases, "how many draws make something certain"),
)
