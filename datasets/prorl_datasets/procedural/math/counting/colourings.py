"""Problems on colourings of planar graphs and of rings that may be turned."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

Edges = list[tuple[int, int]]


def _colorings(n: int, edges: Edges, colors: int) -> int:
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
            texts = WORDINGS.all("graph colorings, level 1, flag", n=n, colors=colors, rule=rule)
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
            texts = WORDINGS.all("graph colorings, level 1, wheel", shape=shape, colors=colors)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "colors": colors})
        arms = rng.randint(2, 5)
        answer = colors * (colors - 1) ** arms
        extra = rng.randint(0, 2)
        answer *= (colors - 1) ** extra
        texts = (
            WORDINGS.one(
                "graph colorings 2",
                arms=arms,
                one_of=f"; one of these touches a chain of {extra} more {('field' if extra == 1 else 'fields')}"
                if extra
                else "",
                colors=colors,
            ),
            WORDINGS.one(
                "graph colorings 3",
                arms=arms,
                and_one=f", and one of these heads a chain of {extra} more {('person' if extra == 1 else 'people')}, each the boss of the next"
                if extra
                else "",
                colors=colors,
            ),
        )
        values = {"ask": ask, "arms": arms, "extra": extra, "colors": colors}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        ask = rng.choice(("cycle", "ladder", "used"))
        if ask == "cycle":
            n = rng.randint(4, 8)
            answer = (colors - 1) ** n + (-1) ** n * (colors - 1)
            texts = WORDINGS.all("graph colorings, level 2, cycle", n=n, colors=colors)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "colors": colors})
        if ask == "ladder":
            n = rng.randint(2, 5)
            answer = colors * (colors - 1) * (colors**2 - 3 * colors + 3) ** (n - 1)
            texts = WORDINGS.all(
                "graph colorings, level 2, ladder", n=n, colors=colors, twice_n=2 * n
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
        texts = WORDINGS.all("graph colorings, level 2", n=n, where=where, colors=colors, who=who)
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
    texts = WORDINGS.all("graph colorings", names=listed(names), shown=shown, colors=colors, n=n)
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
        texts = WORDINGS.all("necklaces, level 1", n=n, colors=colors, who=who)
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
        texts = WORDINGS.all("necklaces, level 2", n=n, colors=colors, who=who)
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
        texts = (
            WORDINGS.one("necklaces 2", shown=shown, how=how),
            WORDINGS.one(
                "necklaces 3", who=who, shown=shown, n=n, how=how.replace("the ring", "the frame")
            ),
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
        texts = WORDINGS.all(
            "necklaces, board", cells=size * size, size=size, colors=colors, how=how
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
    name = WORDINGS.one(f"necklaces {solid}")
    texts = WORDINGS.all("necklaces", name=name, colors=colors, who=who)
    values = {"ask": solid, "colors": colors}
    return Problem(rng.choice(texts), str(answer), values)


def _two_kinds(rng: Random, *, flips: bool) -> Problem:
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
        WORDINGS.one('two kinds', n=n, k=k, patterns_that='Patterns that become equal by a rotation or a reflection count as one.' if flips else 'Patterns that become equal by a rotation of the circle count as one, but mirror images may be different.'),
        WORDINGS.one('two kinds 2', n=n, k=k, n_minus_k=n - k, rule=rule),
        WORDINGS.one('two kinds 3', k=k, n=n, or_a=' or a reflection' if flips else ''),
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
    """Count the rings with these numbers of each colour, up to rotation and (``flips``) reflection."""
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
