from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

Values = Mapping[str, Any]


def proper(n: int, edges: list[tuple[int, int]], colors: int) -> list[tuple[int, ...]]:
    return [c for c in product(range(colors), repeat=n) if all(c[a] != c[b] for a, b in edges)]


def colorings(p: Values, question: str) -> object:
    ask, colors = p["ask"], p["colors"]
    if ask == "graph":
        names = sorted(set("".join(p["edges"])))
        assert len(names) == p["n"]
        assert all(edge in question for edge in p["edges"])
        edges = [(names.index(a), names.index(b)) for a, b in p["edges"]]
        return len(proper(p["n"], edges, colors))
    if ask == "tree":
        edges = [(0, i) for i in range(1, p["arms"] + 1)]
        last = 1
        for i in range(p["extra"]):
            edges.append((last, p["arms"] + 1 + i))
            last = p["arms"] + 1 + i
        n = p["arms"] + p["extra"] + 1
        if colors**n <= 300_000:
            return len(proper(n, edges, colors))
        ways = 1  # leaves first: each vertex has exactly one neighbour nearer to the middle
        for _ in edges:
            ways *= colors - 1
        return ways * colors
    n = p["n"]
    row = [(i, i + 1) for i in range(n - 1)]
    if ask == "wheel":
        rim = [(i, i % n + 1) for i in range(1, n + 1)]
        return len(proper(n + 1, rim + [(0, i) for i in range(1, n + 1)], colors))
    if ask == "ladder" or colors**n > 300_000:
        # place by place, keeping the last colors
        cells = [(x, y) for x in range(n) for y in range(2 if ask == "ladder" else 1)]
        states: dict[tuple[int, ...], int] = {(): 1}
        for i, (x, y) in enumerate(cells):
            width = 2 if ask == "ladder" else 1
            longer: dict[tuple[int, ...], int] = {}
            for state, times in states.items():
                for c in range(colors):
                    left = x > 0 and state[-width] == c
                    below = y > 0 and state[-1] == c
                    first = i and ask == "cycle" and i == len(cells) - 1 and state[0] == c
                    if not (left or below or first):
                        kept = (*state, c)
                        kept = (kept[0], *kept[-1:]) if ask == "cycle" and i else kept[-width:]
                        longer[kept] = longer.get(kept, 0) + times
            states = longer
        return sum(states.values())
    if ask in ("flag", "row used"):
        found = proper(n, row, colors)
    elif ask == "same ends":
        found = [c for c in proper(n, row, colors) if c[0] == c[-1]]
    else:
        found = proper(n, [*row, (0, n - 1)], colors)
    if ask.endswith("used"):
        found = [c for c in found if len(set(c)) == colors]
    return len(found)


def classes(things: set[tuple[int, ...]], moves: list[list[int]]) -> int:
    count = 0
    left = set(things)
    while left:
        one = left.pop()
        count += 1
        reach = [one]
        while reach:
            thing = reach.pop()
            for move in moves:
                other = tuple(thing[i] for i in move)
                if other in left:
                    left.remove(other)
                    reach.append(other)
    return count


SOLIDS = {
    # two rotations generate the symmetries of a tetrahedron's faces
    "tetrahedron": (4, [[0, 2, 3, 1], [1, 0, 3, 2]]),
    # cube: top, bottom, front, right, back, left
    "cube": (6, [[0, 1, 3, 4, 5, 2], [2, 4, 1, 3, 0, 5]]),
    "pyramid": (5, [[0, 2, 3, 4, 1]]),
    "prism": (5, [[0, 1, 3, 4, 2], [1, 0, 2, 4, 3]]),
}


def necklaces(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "two kinds":
        n = p["n"]
        chosen = {
            tuple(int(i in marked) for i in range(n)) for marked in combinations(range(n), p["k"])
        }
        return classes(chosen, [[*range(1, n), 0], *([list(range(n))[::-1]] if p["flips"] else [])])
    if ask in SOLIDS:
        faces, moves = SOLIDS[ask]
        if p["colors"] ** faces <= 20_000:
            return classes(set(product(range(p["colors"]), repeat=faces)), moves)
        # the count is a polynomial in the number of colors: interpolate it
        points = [
            (c, classes(set(product(range(c), repeat=faces)), moves)) for c in range(faces + 1)
        ]

        total = Fraction(0)
        for x, y in points:
            part = Fraction(y)
            for other, _ in points:
                if other != x:
                    part *= Fraction(p["colors"] - other, x - other)
            total += part
        return total
    if ask == "board":
        size = p["size"]
        cells = [(x, y) for x in range(size) for y in range(size)]
        moves = [[cells.index((y, size - 1 - x)) for x, y in cells]]
        if p["flips"]:
            moves.append([cells.index((y, x)) for x, y in cells])
        return classes(set(product(range(p["colors"]), repeat=len(cells))), moves)
    if ask == "counts":
        beads = [kind for kind, times in enumerate(p["counts"]) for _ in range(times)]
        n, things, flips = len(beads), set(permutations(beads)), p["flips"]
    else:
        n, flips = p["n"], ask == "flips"
        things = set(product(range(p["colors"]), repeat=n))
    moves = [[*range(1, n), 0]]
    if flips:
        moves.append(list(range(n))[::-1])
    return classes(things, moves)


def rounds(p: tuple[int, ...]) -> int:
    left, count = set(range(len(p))), 0
    while left:
        place = left.pop()
        count += 1
        while p[place] in left:
            place = p[place]
            left.remove(place)
    return count


def fixed_points(p: Values, question: str) -> object:
    ask, n = p["ask"], p["n"]
    found = 0
    if ask in ("involutions", "nontrivial") or n > 8:
        return _by_places(p)
    for f in permutations(range(n)):
        own = sum(x == i for i, x in enumerate(f))
        if ask == "exactly":
            found += own == p["j"]
        elif ask == "named":
            found += f[0] == 0 and own == p["j"] + 1
        elif ask == "at least":
            found += own >= p["j"]
        elif ask == "some":
            found += all(f[i] != i for i in range(p["bound"]))
        elif ask in ("one way", "each other"):
            found += own == 0 and f[0] == 1 and (ask == "one way" or f[1] == 0)
        elif ask == "near":
            found += all(abs(x - i) <= p["reach"] for i, x in enumerate(f))
        elif ask == "parity":
            found += all((x + i + 2) % p["m"] for i, x in enumerate(f))
        elif ask == "cycle":
            found += rounds(f) == p["number"]
    return found


def _by_places(p: Values) -> Any:
    """Fill the places in order; a state is the set of used things and the number of matches."""
    ask, n = p["ask"], p["n"]
    if ask in ("involutions", "nontrivial"):

        def pair(free: tuple[int, ...]) -> int:
            if not free:
                return 1
            rest = free[1:]
            return pair(rest) + sum(pair(tuple(y for y in rest if y != x)) for x in rest)

        return pair(tuple(range(n))) - (ask == "nontrivial")
    states = {(0, 0): 1}
    for place in range(n):
        longer: dict[tuple[int, int], int] = {}
        for (used, right), times in states.items():
            for thing in range(n):
                if used >> thing & 1 or (ask == "some" and thing == place < p["bound"]):
                    continue
                if ask == "named" and place == 0 and thing:
                    continue
                state = (used | 1 << thing, right + (thing == place))
                longer[state] = longer.get(state, 0) + times
        states = longer
    counts = {right: times for (_, right), times in states.items()}
    if ask == "some":
        return sum(counts.values())
    if ask == "at least":
        return sum(times for right, times in counts.items() if right >= p["j"])
    return counts[p["j"] + (ask == "named")]


def functions(p: Values, question: str) -> object:
    ask, n = p["ask"], p["n"]
    if ask == "gap":
        total = 0
        for t in product(range(1, p["m"] + 1), repeat=n):
            total += all(y - x >= p["gap"] for x, y in pairwise(t))
        return total
    own = ask in ("idempotent", "idempotent image", "no fixed")
    m = n if own else p["m"]
    total = 0
    tests: dict[str, Callable[[Any], Any]] = {
        "increasing": lambda f: all(x < y for x, y in pairwise(f)),
        "nondecreasing": lambda f: all(x <= y for x, y in pairwise(f)),
        "injective": lambda f: len(set(f)) == n,
        "sum": lambda f: sum(f) == p["total"],
        "with value": lambda f: f.count(p["v"]) > 1,
        "max": lambda f: max(f) == p["top"],
        "idempotent": lambda f: all(f[x - 1] == x for x in f),
        "idempotent image": lambda f: all(f[x - 1] == x for x in f) and len(set(f)) == p["size"],
        "no fixed": lambda f: sum(x == i for i, x in enumerate(f, 1)) == p["m"],
        "step": lambda f: all(abs(x - y) <= p["reach"] for x, y in pairwise(f)),
        "image size": lambda f: len(set(f)) == p["k"],
    }
    return sum(bool(tests[ask](f)) for f in product(range(1, m + 1), repeat=n))


def digit_numbers(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "sum of all":
        return sum(int("".join(map(str, t))) for t in permutations(p["digits"]))
    if ask == "middle":
        return sum(2 * (n // 10 % 10 - p["r"]) == n // 100 + n % 10 for n in range(p["low"], 1000))
    total = 0
    for d in product(range(10), repeat=p["places"]):
        if d[0] == 0:
            continue
        n = 0
        for digit in d:
            n = 10 * n + digit
        if ask == "from digits":
            total += set(d) <= set(p["digits"]) and (p["repeat"] or len(set(d)) == len(d))
        elif ask == "distinct above":
            total += len(set(d)) == len(d) and n > p["low"]
        elif ask == "parity":
            total += len(set(d)) == len(d) and n % p["d"] == 0 and d[0] >= p["lead"]
        elif ask in ("increasing", "decreasing", "nondecreasing"):
            inside = min(d) >= p["low"] and max(d) <= p["high"]
            steps = [y - x for x, y in pairwise(d)]
            total += (
                inside
                and {
                    "increasing": min(steps) > 0,
                    "decreasing": max(steps) < 0,
                    "nondecreasing": min(steps) >= 0,
                }[ask]
            )
        elif ask == "contains":
            total += p["d"] in d and p["e"] not in d
        elif ask == "product":
            value = 1
            for digit in d:
                value *= digit
            total += value == p["target"]
        elif ask == "times":
            total += d.count(p["d"]) == p["times"]
        elif ask == "two digits":
            total += len(set(d)) == p["k"] and d[0] >= p["lead"]
        else:
            steps = [y - x for x, y in pairwise(d)]
            total += (
                max(d) <= p["top"] and all(steps) and all(x * y < 0 for x, y in pairwise(steps))
            )
    return total


CHECKS = {
    "counting_colorings": colorings,
    "counting_necklaces": necklaces,
    "counting_fixed_points": fixed_points,
    "counting_functions": functions,
    "counting_digit_numbers": digit_numbers,
}
