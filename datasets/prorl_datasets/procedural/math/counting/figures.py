"""Figures counted in grids, and worst cases of drawing things blindly.

Leaves out: paths on grids (``paths``) and points in general position (``meetings``).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family


def _figures(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    rows, columns = rng.randint(2, 7), rng.randint(3, 9)
    if level == 1:
        ask = rng.choice(("rectangles", "squares"))
        if ask == "rectangles":
            answer = comb(rows + 1, 2) * comb(columns + 1, 2)
            texts = phrasings(
                f"A spreadsheet shows {rows} rows and {columns} columns. {who} selects a "
                "rectangular block of cells with the mouse; a single cell is allowed. How many "
                "selections are possible?",
                f"In how many ways can one pick two different horizontal lines out of {rows + 1} "
                f"and two different vertical lines out of {columns + 1}, in order to bound a "
                f"rectangle in a grid with {rows} rows and {columns} columns?",
                f"A window consists of {rows} by {columns} equal panes. How many rectangles made "
                "up of one or more whole panes can be found in it?",
                "How many rectangles, squares included, are formed by the lines of a grid with "
                f"{rows} rows "
                f"and {columns} columns of unit squares?",
                f"{rows + 1} horizontal and {columns + 1} vertical lines are drawn. In how many "
                "ways can four "
                "of the lines be chosen so that they enclose a rectangle?",
                f"A chocolate bar consists of {rows} rows and {columns} columns of pieces. {who} "
                "looks at all "
                "rectangular blocks of whole pieces that can be seen in the bar, from single "
                "pieces to the "
                "whole bar. How many blocks are there?",
            )
            values = {"ask": ask, "rows": rows, "columns": columns}
            return Problem(rng.choice(texts), str(answer), values)
        answer = sum((rows - k) * (columns - k) for k in range(min(rows, columns)))
        texts = phrasings(
            f"A field of {rows} by {columns} unit squares is photographed; the picture must show "
            "a full square block of unit squares. How many different pictures can be taken?",
            f"For each $k$, count the $k \\times k$ blocks in a board with {rows} rows and "
            f"{columns} columns. What is the sum of these counts over all possible $k$?",
            "How many squares of all sizes, with sides along the grid lines, does a grid of "
            f"{rows} by "
            f"{columns} unit squares contain?",
            f"A wall is tiled with {rows} rows of {columns} square tiles. Count all the squares "
            "formed by one "
            "or more whole tiles, of any size.",
            f"A rectangle of {rows} by {columns} centimeters is divided into squares of one "
            "centimeter by "
            "straight lines. Find the number of squares, small and large, that can be seen in "
            "the drawing.",
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": ask, "rows": rows, "columns": columns}
        )
    if level == 2:
        ask = rng.choice(("with cell", "area", "removed"))
        x, y = rng.randint(1, columns), rng.randint(1, rows)
        if ask == "with cell":
            answer = x * (columns - x + 1) * y * (rows - y + 1)
            texts = phrasings(
                f"A treasure lies under the cell in row {y}, column {x} of a map with {rows} "
                f"rows and {columns} columns. Pirates rope off a rectangle of whole cells. In "
                "how many ways can they do it so that the treasure is inside?",
                f"How many rectangular blocks of cells of an array with {rows} rows and "
                f"{columns} columns include the entry in row {y} and column {x}?",
                f"In a grid of {rows} rows and {columns} columns, the cell in row {y} and column "
                f"{x} is black. "
                "How many rectangles formed by whole cells contain the black cell?",
                f"{who} puts a coin on one square of a board with {rows} rows and {columns} "
                "columns, namely in "
                f"row {y} and column {x}. How many rectangles made of squares of the board have "
                "the coin "
                "inside?",
            )
        elif ask == "removed":
            total = comb(rows + 1, 2) * comb(columns + 1, 2)
            answer = total - x * (columns - x + 1) * y * (rows - y + 1)
            texts = phrasings(
                f"From a sheet of stamps with {rows} rows and {columns} columns, the stamp in "
                f"row {y} and "
                f"column {x} has been torn out. How many rectangular blocks of one or more "
                "stamps can still be "
                "found in the sheet (without a hole)?",
                f"One cell of a grid with {rows} rows and {columns} columns is occupied: it lies "
                f"in row {y} and "
                f"column {x}. Count the rectangles of whole cells that do not contain the "
                "occupied cell.",
            )
        else:
            cells = rng.choice((4, 6, 8, 9, 10, 12))
            answer = sum(
                max(rows - h + 1, 0) * max(columns - cells // h + 1, 0)
                for h in range(1, cells + 1)
                if cells % h == 0
            )
            if answer < 2:
                return _figures(rng, level)
            texts = phrasings(
                f"How many rectangles that consist of exactly {cells} unit squares are there in "
                "a grid with "
                f"{rows} rows and {columns} columns?",
                f"A garden is divided into {rows} rows of {columns} equal square beds. {who} "
                "wants to rent a "
                f"rectangular block of exactly {cells} beds. How many blocks are there to choose "
                "from?",
            )
            values = {"ask": ask, "rows": rows, "columns": columns, "cells": cells}
            return Problem(rng.choice(texts), str(answer), values)
        values = {"ask": ask, "rows": rows, "columns": columns, "x": x, "y": y}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("tilted", "triangles", "distances"))
    w, h = rng.randint(3, 7), rng.randint(3, 6)
    if ask == "tilted":
        # a square with bounding box k x k stands in k positions
        answer = sum(k * (w - k) * (h - k) for k in range(1, min(w, h)))
        texts = phrasings(
            f"A geoboard has {h} rows of {w} nails at unit distances. How many squares can be "
            "spanned with a rubber band around four nails as corners, slanted squares included?",
            "Count all squares, whatever their size and direction, whose vertices belong to a "
            f"lattice of {w} by {h} points.",
            f"{w * h} dots form a rectangular pattern of {h} rows and {w} columns with equal "
            "distances between "
            "neighboring dots in both directions. How many squares have all four corners at "
            "dots? The sides "
            "may be slanted.",
            f"Consider the points $(x, y)$ with integers $1 \\le x \\le {w}$ and $1 \\le y \\le "
            f"{h}$. How many "
            "squares, in any position, have their corners among these points?",
        )
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
        texts = phrasings(
            f"How many triangles have their corners at three of the {w * h} points $(x, y)$ with "
            "integers "
            f"$1 \\le x \\le {w}$ and $1 \\le y \\le {h}$?",
            f"A pegboard has {h} rows of {w} pegs at equal distances. A rubber band is stretched "
            "around three "
            "pegs so that it forms a triangle with positive area. How many choices of the three "
            "pegs are "
            "possible?",
        )
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
    texts = phrasings(
        f"Among the points $(x, y)$ with integers $1 \\le x \\le {w}$ and $1 \\le y \\le {h}$, "
        "how many unordered "
        f"pairs of points have distance exactly ${shown}$?",
        f"Nails are hammered into a board in {h} rows and {w} columns, one centimeter from each "
        "nail to the next "
        f"in its row and column. How many pairs of nails are exactly ${shown}$ centimeters apart?",
    )
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
    lead = rng.choice((
        f"A bag contains {stock} {things}.",
        f"In a dark cellar stands a box with {stock} {things}.",
        f"{who} has a drawer with {stock} {things} and takes {things} out without looking.",
    ))  # fmt: skip
    many = rng.choice((
        f"What is the smallest number of {things} that must be taken out to be certain of having",
        (f"How many {things} have to be drawn blindly, at least, so that among them there are "
        "surely"),
        (f"Without looking, how many {things} must one take, at the least, in order to be sure to "
        "get"),
    ))  # fmt: skip
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
        what = {
            7: "were born on the same day of the week", 12: "have their birthdays in the same month",
            26: "have first names that begin with the same of the 26 letters",
            10: "have telephone numbers that end in the same digit",
            31: "were born on the same day of a month (the 1st, 2nd, ..., 31st)",
            50: "live in the same of the country's 50 districts",
        }[groups]  # fmt: skip
        texts = phrasings(
            "What is the least number of people in a group for which it is certain that at "
            f"least {m} of them "
            f"{what}?",
            f"A school wants to be sure that {m} or more of its pupils {what}. How many pupils "
            "must it have at "
            "least?",
        )
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
        text = (
            f"{lead} {many} two different colors of each of which there are at least {m} "
            f"{things} among those "
            "taken?"
        )
        return Problem(text, str(answer), {"ask": ask, "counts": counts, "m": m})
    if ask == "pairs":
        pairs = rng.randint(2, 8)
        counts = [2 * rng.randint(4, 12) for _ in range(k)]
        stock = listed([f"{n} {c}" for n, c in zip(counts, colors, strict=True)])
        if 2 * pairs + k > sum(counts):
            return _worst_cases(rng, level)
        answer = 2 * (pairs - 1) + k + 1
        texts = phrasings(
            f"A drawer holds {stock} socks, and two socks of one color make a pair. How many "
            "socks have to be "
            f"taken out in the dark, at least, to be certain of having {pairs} pairs (of the "
            "same or of "
            "different colors, no sock being used twice)?",
            f"{who} pulls single gloves out of a sack without looking. The sack holds {stock} "
            "gloves, which fit "
            "either hand, and any two gloves of one color form a pair. What is the least number "
            "of gloves that "
            f"guarantees {pairs} disjoint pairs?",
        )
        values = {"ask": ask, "counts": counts, "pairs": pairs}
        return Problem(rng.choice(texts), str(answer), values)
    n = rng.randint(15, 80)
    if ask == "sum":
        total = redrawn(lambda: rng.randint(n // 2, 2 * n - 3), lambda t: t > 5)
        pairs = sum(1 for a in range(1, n + 1) if a < total - a <= n)
        answer = n - pairs + 1
        texts = phrasings(
            "What is the smallest $k$ such that any $k$ different numbers chosen from $1, 2, "
            f"\\ldots, {n}$ "
            f"include two whose sum is ${total}$?",
            f"{n} cards are numbered 1 to {n} and lie face down. How many cards must be turned "
            "over, at least, "
            f"to be certain that two of the open cards add up to {total}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "total": total})
    gap = rng.randint(2, 9)
    kept = sum(1 for a in range(n) if a // gap % 2 == 0)
    answer = kept + 1
    texts = phrasings(
        "What is the smallest $k$ such that any $k$ different numbers chosen from $1, 2, "
        f"\\ldots, {n}$ include "
        f"two whose difference is exactly ${gap}$?",
        f"From the houses numbered 1 to {n} along one street, some are chosen so that no two of "
        "their numbers "
        f"differ by exactly {gap}. What is the largest possible number of chosen houses?",
    )
    pick = rng.randrange(2)
    values = {"ask": "free of difference" if pick else ask, "n": n, "gap": gap}
    return Problem(texts[pick], str(answer - pick), values)


FAMILIES = (
    math_family("counting_figures", _figures, "rectangles, squares and triangles in grids"),
    math_family("counting_worst_cases", _worst_cases, "how many draws make something certain"),
)
