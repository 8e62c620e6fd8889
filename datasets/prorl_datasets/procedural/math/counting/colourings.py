"""Colourings: of graphs in the plane, and of rings that may be turned.

Leaves out: strings of colours in a row (``paths``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family

Edges = list[tuple[int, int]]


def _colorings(n: int, edges: Edges, colors: int) -> int:
    """Count the proper colourings by giving the vertices their colours one after another."""
    lower = [[b for b in range(v) if (b, v) in edges] for v in range(n)]

    def grow(given: list[int]) -> int:
        v = len(given)
        if v == n:
            return 1
        taken = {given[b] for b in lower[v]}
        return sum(grow([*given, c]) for c in range(colors) if c not in taken)

    return grow([])


def _cycle(n: int) -> Edges:
    return [(i, i + 1) for i in range(n - 1)] + [(0, n - 1)]


def _graph_colorings(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    colors = rng.randint(3, 6)
    if level == 1:
        ask = rng.choice(("flag", "wheel", "tree"))
        if ask == "flag":
            n = rng.randint(3, 6)
            same_ends = rng.random() < 0.4
            answer = colors * (colors - 1) ** (n - 1)
            rule = ""
            if same_ends:
                answer = (
                    _colorings(n - 1, _cycle(n - 1), colors) if n > 3 else colors * (colors - 1)
                )
                rule = " and the first and the last stripe have the same color"
            texts = phrasings(
                f"A flag has {n} vertical stripes. Each stripe gets one of {colors} colors so that "
                f"neighboring stripes differ{rule}. How many flags are possible? A flag and its "
                "mirror "
                "image count as different unless they are equal.",
                f"{n} stripes, one beside the other, are painted with {colors} available colors; "
                "stripes "
                f"that touch have different colors{rule}. Not all colors have to be used. In how "
                "many "
                "ways can the stripes be painted?",
            )
            values = {"ask": "same ends" if same_ends else ask, "n": n, "colors": colors}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "wheel":
            n = rng.choice((3, 4))
            edges = [(i + 1, j + 1) for i, j in _cycle(n)] + [(0, i + 1) for i in range(n)]
            edges = [(min(e), max(e)) for e in edges]
            answer = _colorings(n + 1, edges, colors)
            if not answer:
                return _graph_colorings(rng, level)
            shape = {3: "three", 4: "four"}[n]
            texts = phrasings(
                "A round window has a circular pane in the middle and a ring around it that is "
                "divided "
                f"into {shape} equal panes. There is glass in {colors} colors, and panes with a "
                "common "
                "edge get different colors. In how many ways can the window be glazed? Windows "
                "that "
                "differ by a rotation count as different.",
                f"An island lies in a lake whose shore is divided among {shape} countries, "
                "arranged in a "
                "circle so that each borders on the next. A map colors the lake with its island "
                "in one "
                f"color and each country in one color, out of {colors}; the lake differs from "
                "all the "
                "countries, and neighboring countries differ. How many colorings are possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "colors": colors})
        arms = rng.randint(2, 5)
        answer = colors * (colors - 1) ** arms
        extra = rng.randint(0, 2)
        answer *= (colors - 1) ** extra
        texts = (
            f"A square in the center of a pattern touches {arms} other fields, none of which "
            "touch each "
            f"other"
            + (
                f"; one of these touches a chain of {extra} more "
                f"{'field' if extra == 1 else 'fields'}"
                if extra
                else ""
            )
            + f". Fields that touch get different colors out of {colors}. How many colorings are "
            "there?",
            f"A manager has {arms} direct assistants"
            + (
                f", and one of these heads a chain of {extra} more "
                f"{'person' if extra == 1 else 'people'}, each the boss of the next"
                if extra
                else ""
            )
            + f". Everyone gets a badge in one of {colors} colors, and nobody has the same color "
            "as his or her "
            "direct boss. In how many ways can the badges be given out?",
        )
        values = {"ask": ask, "arms": arms, "extra": extra, "colors": colors}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        ask = rng.choice(("cycle", "ladder", "used"))
        if ask == "cycle":
            n = rng.randint(4, 8)
            answer = (colors - 1) ** n + (-1) ** n * (colors - 1)
            texts = phrasings(
                f"A ring is divided into {n} sections. Each section is painted in one of "
                f"{colors} colors so "
                "that neighboring sections differ. In how many ways can this be done? The "
                "sections are "
                "numbered, so that rotated paintings are different.",
                f"{n} people sit around a round table, each with a hat in one of {colors} "
                "colors, and no two "
                "neighbors wear the same color. How many distributions of hat colors to these "
                "people are "
                "possible?",
                f"The corners of a regular polygon with {n} corners, labeled $1$ to ${n}$, are "
                "colored with "
                f"{colors} colors, of which some may stay unused. The ends of every side have "
                "different "
                "colors. How many colorings are there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "colors": colors})
        if ask == "ladder":
            n = rng.randint(2, 5)
            answer = colors * (colors - 1) * (colors**2 - 3 * colors + 3) ** (n - 1)
            texts = phrasings(
                f"The squares of a board with 2 rows and {n} columns are painted with {colors} "
                "colors so "
                "that squares with a common side have different colors. How many ways are there?",
                f"{2 * n} plots form two rows of {n}. On each plot one of {colors} kinds of "
                "vegetables is "
                "grown, and plots that share a border carry different kinds. Find the number of "
                "planting "
                "plans.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "colors": colors})
        n, colors = rng.randint(4, 7), rng.choice((3, 4))
        if rng.random() < 0.5:
            edges, ring = [(i, i + 1) for i in range(n - 1)], False
        else:
            edges, ring = _cycle(n), True
        answer = sum(
            (-1) ** (colors - used) * _binomial(colors, used) * _colorings(n, edges, used)
            for used in range(1, colors + 1)
        )
        where = "in a closed ring" if ring else "in a straight row"
        texts = phrasings(
            f"{n} numbered fields lie {where}. Each is painted in one of {colors} colors such "
            "that fields "
            f"next to each other differ and all {colors} colors occur. In how many ways can this "
            "be done?",
            f"{who} hangs {n} lanterns {where} at {n} fixed, different places, each lantern in "
            "one of "
            f"{colors} colors. Neighboring lanterns differ in color, and every one of the colors "
            "is used. "
            "How many arrangements of colors are possible?",
        )
        if not answer:
            return _graph_colorings(rng, level)
        values = {"ask": "ring used" if ring else "row used", "n": n, "colors": colors}
        return Problem(rng.choice(texts), str(answer), values)
    n = rng.randint(5, 7)
    every = [(i, j) for j in range(n) for i in range(j)]
    edges = sorted(
        redrawn(
            lambda: set(rng.sample(every, rng.randint(n, n + 3))),
            lambda e: all(any(v in pair for pair in e) for v in range(n)),
        )
    )
    colors = rng.choice((3, 4, 5))
    answer = _colorings(n, edges, colors)
    if answer < 2:
        return _graph_colorings(rng, level)
    names = "ABCDEFG"[:n]
    shown = listed([names[i] + names[j] for i, j in edges])
    texts = phrasings(
        f"Towns {listed(names)} are joined by the roads {shown}. Each town is given one of "
        f"{colors} colors so "
        "that towns joined by a road have different colors. How many colorings are possible?",
        f"A graph has the vertices {listed(names)} and the edges {shown}. In how many ways can "
        "its vertices "
        f"be colored with {colors} colors, not all of which have to be used, such that the two "
        "ends of every "
        "edge get different colors?",
        f"{n} lectures {listed(names)} are to be put into {colors} time slots. The following "
        "pairs have "
        f"common listeners and must not be at the same time: {shown}. Any number of other "
        "lectures may run "
        "in parallel. How many timetables are there?",
    )
    values = {
        "ask": "graph",
        "n": n,
        "edges": [names[i] + names[j] for i, j in edges],
        "colors": colors,
    }
    return Problem(rng.choice(texts), str(answer), values)


def _binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else _binomial(n - 1, k - 1) + _binomial(n - 1, k)


def _necklaces(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level < 3 and rng.random() < 0.5:
        return _two_kinds(rng, flips=level == 2)
    if level == 1:
        n, colors = redrawn(
            lambda: (rng.randint(3, 9), rng.randint(2, 9)), lambda p: p[1] ** p[0] < 20_000
        )
        answer = sum(colors ** gcd(i, n) for i in range(n)) // n
        texts = phrasings(
            f"How many classes of colorings of the {n} corners of a regular polygon with "
            f"{colors} colors are there, if two colorings belong to the same class exactly when "
            "a rotation turns one into the other?",
            f"A merry-go-round has {n} seats, evenly spaced in a circle, and every seat is "
            f"covered with cloth of one of {colors} colors. Since the ride turns, colorings that "
            "differ by a rotation look alike. How many kinds of ride are possible?",
            f"A password wheel shows {n} symbols in a circle, each taken from a stock of "
            f"{colors} symbols with repetition allowed. The wheel has no marked starting point, "
            "but it is always read clockwise. How many different wheels are there?",
            f"A round tray is divided into {n} equal sectors, and each is painted in one of "
            f"{colors} colors. "
            "Trays that can be turned into one another by a rotation are the same; the trays "
            "cannot be "
            "flipped over. How many different trays are possible?",
            f"{who} places {n} candles at equal distances around a cake; each candle has one of "
            f"{colors} "
            "colors, and equally colored candles look alike. Two arrangements are the same if "
            "one becomes "
            "the other when the cake is turned. Find the number of different arrangements.",
            f"In how many essentially different ways can the {n} sides of a regular polygon be "
            "colored with "
            f"{colors} colors, if colorings that differ only by a rotation count as one "
            "(reflections are not "
            "allowed) and colors may be repeated or left out?",
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": "rotations", "n": n, "colors": colors}
        )
    if level == 2:
        n, colors = redrawn(
            lambda: (rng.randint(3, 9), rng.randint(2, 9)), lambda p: p[1] ** p[0] < 20_000
        )
        turns = sum(colors ** gcd(i, n) for i in range(n))
        flips = (
            n * colors ** ((n + 1) // 2)
            if n % 2
            else n // 2 * (colors ** (n // 2) + colors ** (n // 2 + 1))
        )
        answer = (turns + flips) // (2 * n)
        texts = phrasings(
            f"A glass table in the shape of a regular polygon with {n} sides can be seen from "
            f"above and from below. Each side is edged in one of {colors} colors. Tables that "
            "look the same from some position, above or below, are not distinguished. How many "
            "tables are there?",
            f"{n} lanterns, each in one of {colors} colors, hang at equal distances on a hoop. "
            "Hoops that can be made to agree by turning or flipping are equal. Count the hoops.",
            f"A necklace is a closed ring of {n} beads, each in one of {colors} colors. Two "
            "necklaces are the "
            "same if one can be rotated or flipped over to look like the other. How many "
            "different necklaces "
            "are there?",
            f"The corners of a regular polygon with {n} corners are each marked with one of "
            f"{colors} symbols. "
            "Two markings count as one if a rotation or a reflection of the polygon carries one "
            "into the "
            "other. How many markings are there?",
            f"{who} bends wire into a regular ring with {n} equally spaced hooks and hangs one "
            f"of {colors} "
            "kinds of charms on each hook. The ring may be turned and turned over. How many "
            "really different "
            "rings can be made?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "flips", "n": n, "colors": colors})
    ask = rng.choice(("counts", "board", "tetrahedron"))
    if ask == "counts":
        counts = redrawn(
            lambda: [rng.randint(1, 4) for _ in range(rng.choice((2, 3)))],
            lambda c: 5 <= sum(c) <= 8,
        )
        n = sum(counts)
        flips = rng.random() < 0.5
        answer = _orbits(counts, flips)
        if answer < 3:
            return _necklaces(rng, level)
        kinds = ("red", "blue", "white")[: len(counts)]
        shown = listed([f"{c} {k}" for c, k in zip(counts, kinds, strict=True)])
        how = (
            "rotating or flipping the ring over"
            if flips
            else "rotating the ring (it cannot be flipped over)"
        )
        texts = phrasings(
            f"{shown} beads are threaded on a closed ring. Two rings are the same if {how} turns "
            "one into the "
            "other. How many different rings are possible?",
            f"{who} has {shown} stones and sets them, all {n} of them, at equal distances into a "
            "circular "
            f"frame. Results that become equal by {how.replace('the ring', 'the frame')} count "
            "as one. How "
            "many different results are there?",
        )
        values = {"ask": ask, "counts": counts, "flips": flips}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "board":
        size = rng.choice((2, 3))
        colors = rng.randint(2, 6) if size == 2 else 2
        flips = rng.random() < 0.5
        cells = [(x, y) for x in range(size) for y in range(size)]
        fixed = 0
        moves = [(turn, f) for turn in range(4) for f in range(2 if flips else 1)]
        for turn, flip in moves:
            where = {}
            for x, y in cells:
                i, j = (size - 1 - x, y) if flip else (x, y)
                for _ in range(turn):
                    i, j = j, size - 1 - i
                where[x, y] = (i, j)
            fixed += colors ** _cycles(where)
        answer = fixed // len(moves)
        how = "rotated or reflected" if flips else "rotated (but not reflected)"
        texts = phrasings(
            f"Each of the {size * size} cells of a {size} by {size} board is painted in one of "
            f"{colors} colors. "
            f"Two paintings are the same if the board can be {how} so that one looks like the "
            "other. How many "
            "different paintings are there?",
            f"A square window has {size} rows of {size} panes, each made of glass in one of "
            f"{colors} colors. "
            f"Windows that look alike after being {how} are counted once. Find the number of "
            "different "
            "windows.",
        )
        values = {"ask": ask, "size": size, "colors": colors, "flips": flips}
        return Problem(rng.choice(texts), str(answer), values)
    colors = rng.randint(2, 9)
    solid = rng.choice(("tetrahedron", "cube", "pyramid", "prism"))
    c = colors
    answer = {
        "tetrahedron": (c**4 + 11 * c**2) // 12,
        "cube": (c**6 + 3 * c**4 + 12 * c**3 + 8 * c**2) // 24,
        "pyramid": c * (c**4 + c**2 + 2 * c) // 4,
        "prism": (c**5 + 2 * c**3 + 3 * c**3) // 6,
    }[solid]
    name = {
        "tetrahedron": "a regular tetrahedron", "cube": "a cube",
        "pyramid": "a pyramid with a square base and four equal side faces",
        "prism": "a right prism whose bases are equilateral triangles and whose three side "
                 "faces are "
        "equal rectangles",
    }[solid]  # fmt: skip
    texts = phrasings(
        f"The faces of {name} are painted, each in one of {colors} colors; colors may be "
        "repeated. Two painted "
        "solids are the same if one can be turned in space to look like the other. How many "
        "different ones "
        "are there?",
        f"{who} glues colored paper on the faces of {name}, one color out of {colors} on each "
        "face. How many "
        "solids can be produced, no two of which look alike when turned suitably in space?",
    )
    values = {"ask": solid, "colors": colors}
    return Problem(rng.choice(texts), str(answer), values)


def _two_kinds(rng: Random, *, flips: bool) -> Problem:
    """Rings with so many things of one kind, the others of a second kind."""
    n = rng.randint(6, 14)
    k = rng.randint(2, n // 2)
    rule = (
        "Results that become equal by turning the ring or turning it over count as one."
        if flips
        else "Results that become equal by turning the ring count as one; it cannot be turned over."
    )
    texts = (
f"A clock face without numbers has {n} equally spaced marks. {k} of the marks are lit. " + ("Faces that agree after a turn or after being looked at in a mirror are the same." if flips else "Faces that agree after a turn are the same; looking in a mirror is not allowed.") + " How many different faces are there?",
(f"In how many essentially different ways can {k} of {n} places around a circle be occupied, "
f"where {'rotations and reflections' if flips else 'only rotations'} are disregarded?"),
        f"{n} chairs stand in a circle at equal distances, and {k} of them are to be painted red. "
        + ("Patterns that become equal by a rotation or a reflection count as one."
           if flips else "Patterns that become equal by a rotation of the circle count as one, "
                         "but mirror "
           "images may be different.")
        + " How many different patterns are possible?",
        (f"A ring with {n} equal places gets {k} diamonds and {n - k} pearls, one stone in each "
         "place. "
        f"Diamonds look alike, and so do pearls. {rule} How many results are there?"),
        (f"{k} corners of a regular polygon with {n} corners are marked. Two markings are "
         "regarded as equal if "
        f"a rotation{' or a reflection' if flips else ''} carries one into the other. Find the "
        "number of "
        "different markings."),
    )  # fmt: skip
    values = {"ask": "two kinds", "n": n, "k": k, "flips": flips}
    return Problem(rng.choice(texts), str(_orbits([k, n - k], flips)), values)


def _cycles(where: dict[tuple[int, int], tuple[int, int]]) -> int:
    left, count = set(where), 0
    while left:
        start = cell = left.pop()
        count += 1
        while (cell := where[cell]) != start:
            left.discard(cell)
    return count


def _orbits(counts: list[int], flips: bool) -> int:
    """Return how many rings hold so many beads of each colour (Burnside)."""
    n = sum(counts)
    turns = [[(i + t) % n for i in range(n)] for t in range(n)]
    if flips:
        turns += [[(t - i) % n for i in range(n)] for t in range(n)]
    fixed = 0
    for move in turns:
        left, lengths = set(range(n)), []
        while left:
            start = place = left.pop()
            length = 1
            while (place := move[place]) != start:
                left.discard(place)
                length += 1
            lengths.append(length)
        ways = {(0,) * len(counts): 1}
        for length in lengths:
            grown: dict[tuple[int, ...], int] = {}
            for used, times in ways.items():
                for c in range(len(counts)):
                    new = tuple(u + length * (i == c) for i, u in enumerate(used))
                    grown[new] = grown.get(new, 0) + times
            ways = grown
        fixed += ways.get(tuple(counts), 0)
    return fixed // len(turns)


FAMILIES = (
    math_family("counting_colorings", _graph_colorings, "colours with neighbours different"),
    math_family("counting_necklaces", _necklaces, "rings, boards and solids that may be turned"),
)
