from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

Values = Mapping[str, Any]
Check = Callable[[Mapping[str, Any], str], object]


def formed(solve: Callable[[Values, str], Fraction]) -> Check:
    """Return a check that gives the fraction, or numerator plus denominator if the question asks for it."""

    def check(p: Values, question: str) -> object:
        value = Fraction(solve(p, question))
        if not re.search("expect|average|mean of|E\\(X", question):
            assert 0 < value < 1
        if p["form"] == "sum":
            assert "+ n" in question or "a + b" in question
            return value.numerator + value.denominator
        return value

    return check


def mean(outcomes: Iterable[Any], number: Callable[[Any], Any]) -> Fraction:
    values = [Fraction(number(outcome)) for outcome in outcomes]
    return sum(values, Fraction(0)) / len(values)


def chain(
    start: Hashable,
    moves: Callable[[Any], dict[Any, Fraction]],
    worth: Callable[[Any], Any],
    step: int,
) -> Fraction:
    """Return the mean of ``worth`` at the end plus ``step`` per move; a state is final if its ``worth`` is not None."""
    states = [start]
    for state in states:
        if worth(state) is None:
            states += [s for s in moves(state) if s not in states]
    rows = []
    for i, state in enumerate(states):
        row = [Fraction(0)] * (len(states) + 1)
        row[i] += 1
        end = worth(state)
        row[-1] = Fraction(step if end is None else end)
        if end is None:
            for to, part in moves(state).items():
                row[states.index(to)] -= part
        rows.append(row)
    for i in range(len(rows)):
        pivot = next(j for j in range(i, len(rows)) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(len(rows)):
            if j != i and rows[j][i]:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return rows[0][-1]


def merged(parts: Iterable[tuple[Any, Fraction]]) -> dict[Any, Fraction]:
    result: dict[Any, Fraction] = {}
    for state, part in parts:
        result[state] = result.get(state, Fraction(0)) + part
    return result


def given(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if "|" in ask:
        known, asked = ask.split("|")
        faces = range(1, p["faces"] + 1)
        left = [
            (x, y)
            for x in faces
            for y in faces
            if {
                "sum at least": x + y >= p.get("a", 0),
                "some": p.get("b") in (x, y),
                "sum": x + y == p.get("a"),
                "different": x != y,
            }[known]
        ]
        return mean(
            left,
            lambda o: {
                "six": p["faces"] in o,
                "equal": o[0] == o[1],
                "product even": o[0] % 2 == 0 or o[1] % 2 == 0,
                "sum high": sum(o) > p.get("c", 0),
            }[asked],
        )
    if "n" in p:
        tosses = list(product((0, 1), repeat=p["n"]))
        if ask == "at least":
            return mean([t for t in tosses if sum(t) >= p["j"]], lambda t: sum(t) >= p["k"])
        if ask == "first":
            return mean([t for t in tosses if sum(t) >= p["k"]], lambda t: t[0])
        return mean([t for t in tosses if sum(t) == p["k"]], lambda t: t[0] and t[-1])
    if ask in ("first red", "first blue"):
        x, y, z = p["counts"]
        balls = "r" * x + "b" * y + "g" * z
        left = [t for t in permutations(balls, 2) if t[1] == "r"]
        return mean(left, lambda t: t[0] == ask[6])
    if ask == "two aces":
        balls = "r" * p["red"] + "b" * p["blue"]
        left = [t for t in combinations(balls, p["k"]) if "r" in t]
        return mean(left, lambda t: t.count("r") > 1)
    if ask == "some pair":
        left = [t for t in combinations(range(1, p["m"] + 1), 2) if sum(t) >= p["s"]]
        return mean(left, lambda t: t[0] * t[1] % 2 == 0)
    whole = hit = Fraction(0)
    for bridges in product((0, 1), repeat=p["up"] + p["down"]):
        weight = math.prod(
            (Fraction(p["a"], p["b"]) if x else 1 - Fraction(p["a"], p["b"])) for x in bridges
        )
        up, down = all(bridges[: p["up"]]), all(bridges[p["up"] :])
        whole += weight * (up or down)
        hit += weight * (up if "the first way" in question else down)
    return hit / whole


def causes(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask in ("which", "red", "second draw"):
        joint: dict[tuple[int, str, str], Fraction] = {}
        for box, (r, b) in enumerate((p["first"], p["second"])):
            balls = "r" * r + "b" * b
            two = list(product(balls, repeat=2)) if p.get("back") else list(permutations(balls, 2))
            if len(balls) < 2:
                two = [(balls, balls)]
            for x, y in two:
                key = (box, x[0], y[0])
                joint[key] = joint.get(key, Fraction(0)) + Fraction(1, 2 * len(two))
        red = sum(v for (_, x, _), v in joint.items() if x == "r")
        if ask == "red":
            return Fraction(red)
        if ask == "which":
            return (
                Fraction(sum(v for (box, x, _), v in joint.items() if x == "r" and box == 0)) / red
            )
        return Fraction(sum(v for (_, x, y), v in joint.items() if x == y == "r")) / red
    if ask == "supplier":
        bad = [s * f for s, f in zip(p["shares"], p["rates"], strict=True)]  # of 10,000 items
        assert sum(p["shares"]) == 100
        return Fraction(bad[p["which"]], sum(bad))
    if ask in ("fair", "next"):
        worlds = []  # (fair, results), all equally likely
        for coin in range(p["fair"] + p["double"]):
            for results in product("HT", repeat=p["n"] + 1):
                fair = coin < p["fair"]
                worlds.append((fair, results if fair else ("H",) * (p["n"] + 1)))
        left = [w for w in worlds if set(w[1][: p["n"]]) == {"H"}]
        return mean(left, lambda w: w[0] if ask == "fair" else w[1][-1] == "H")
    if ask == "cards":
        a, b, c = p["counts"]
        cards = ["rr"] * a + ["bb"] * b + ["rb"] * c
        sides = [(card[i], card[1 - i]) for card in cards for i in (0, 1)]
        return mean([s for s in sides if s[0] == "r"], lambda s: s[1] == "r")
    # 100 taxis, and 100 equally likely cases per witness
    green = p["share"] * p["right"] ** p["witnesses"]
    yellow = (100 - p["share"]) * (100 - p["right"]) ** p["witnesses"]
    return Fraction(green, green + yellow)


def turns(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    chance = Fraction(p["good"], p["faces"]) if ask == "dice" else Fraction(p["p"])
    if ask in ("dice", "at try", "within"):
        total = Fraction(0)
        for results in product((0, 1), repeat=p["n"]):
            weight = math.prod(chance if x else 1 - chance for x in results)
            late = any(results[:-1])
            good = any(results) if ask == "within" else (results[-1] and not late)
            total += weight * bool(good)
        return Fraction(total)
    if ask == "circle":
        return chain(
            0,
            lambda s: merged([(("won", s), chance), ((s + 1) % p["n"], 1 - chance)]),
            lambda s: None if isinstance(s, int) else int(s[1] == p["i"] - 1),
            0,
        )
    other = Fraction(p["q"])
    if ask in ("first", "second"):
        return chain(
            0,
            lambda s: {f"end {s}": (chance, other)[s], 1 - s: 1 - (chance, other)[s]},
            lambda s: None if isinstance(s, int) else int(s == f"end {int(ask == 'second')}"),
            0,
        )

    def moves(state: tuple[int, int]) -> dict[Any, Fraction]:
        hits, turn = state
        if turn == 0:
            return {(hits + 1, 1): chance, (hits, 1): 1 - chance}
        return {(-1, 0): other, (hits, 0): 1 - other}

    return chain((0, 0), moves, lambda s: {2: 1, -1: 0}.get(s[0]), 0)


def series(p: Values, question: str) -> Fraction:
    ask, chance = p["ask"], Fraction(p["p"])
    if ask == "deuce":
        return chain(
            p["x"],
            lambda s: {s + 1: chance, s - 1: 1 - chance},
            lambda s: None if abs(s) < p["lead"] else int(s > 0),
            0,
        )
    need = p["need"]
    matches: list[tuple[Fraction, str]] = []

    def play(record: str, weight: Fraction) -> None:
        if record.count("a") == need or record.count("b") == need:
            matches.append((weight, record))
            return
        play(record + "a", weight * chance)
        play(record + "b", weight * (1 - chance))

    if ask == "from":
        play("a" * p["x"] + "b" * p["y"], Fraction(1))
    else:
        play("", Fraction(1))
    won = [(w, r) for w, r in matches if r[-1] == "a"]
    if ask in ("win", "from"):
        return sum((w for w, _ in won), Fraction(0))
    if ask == "length":
        return sum((w for w, r in matches if len(r) == p["n"]), Fraction(0))
    if ask == "mean":
        return sum((w * len(r) for w, r in matches), Fraction(0))
    if ask == "comeback":
        return sum((w for w, r in won if r[0] == "b"), Fraction(0))
    whole = sum((w for w, _ in won), Fraction(0))
    return sum((w for w, r in won if len(r) == p["n"]), Fraction(0)) / whole


GRAPHS = {
    "cube": {v: [v ^ 1, v ^ 2, v ^ 4] for v in range(8)},
    "tetrahedron": {v: [u for u in range(4) if u != v] for v in range(4)},
    "octahedron": {v: [u for u in range(6) if u != v and u + v != 5] for v in range(6)},
}


def walks(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask in ("at", "positive", "never left"):
        paths = product((1, -1), repeat=p["n"])
        if ask == "never left":
            return mean(paths, lambda t: all(sum(t[:i]) >= 0 for i in range(1, p["n"] + 1)))
        return mean(paths, lambda t: sum(t) == p["k"] if ask == "at" else abs(sum(t)) > p["k"])
    if ask == "ruin":
        chance = Fraction(p["p"])
        return chain(
            p["start"],
            lambda s: {s + 1: chance, s - 1: 1 - chance},
            lambda s: {0: 0, p["top"]: 1}.get(s),
            0,
        )
    if ask == "duration":
        whole = p["start"] + p["rest"]
        half = Fraction(1, 2)
        return chain(
            p["start"],
            lambda s: {s + 1: half, s - 1: half},
            lambda s: 0 if s in (0, whole) else None,
            1,
        )
    if ask == "plane":
        steps = product(((1, 0), (-1, 0), (0, 1), (0, -1)), repeat=p["n"])
        return mean(
            steps, lambda t: (sum(s[0] for s in t), sum(s[1] for s in t)) == (p["x"], p["y"])
        )
    if ask == "meet":
        half = p["half"]
        first = [(sum(t), half - sum(t)) for t in product((0, 1), repeat=half)]
        second = [(p["n"] - sum(t), p["m"] - half + sum(t)) for t in product((0, 1), repeat=half)]
        return Fraction(sum(x == y for x in first for y in second), 4**half)
    graph = (
        {v: [(v + 1) % p["sides"], (v - 1) % p["sides"]] for v in range(p["sides"])}
        if ask == "polygon"
        else GRAPHS[ask]
    )
    ways = {0: 1}
    for _ in range(p["n"]):
        longer: dict[int, int] = {}
        for v, times in ways.items():
            for u in graph[v]:
                longer[u] = longer.get(u, 0) + times
        ways = longer
    return Fraction(ways.get(p.get("goal", 0), 0), len(graph[0]) ** p["n"])


def patterns(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask in ("occurs", "absent"):
        rows = ("".join(t) for t in product("HT", repeat=p["n"]))
        return mean(rows, lambda s: (p["pattern"] in s) == (ask == "occurs"))
    if ask == "faces":
        return chain(
            0,
            lambda s: merged(
                [(s, Fraction(s, p["faces"])), (s + 1, Fraction(p["faces"] - s, p["faces"]))]
            ),
            lambda s: 0 if s == p["seen"] else None,
            1,
        )
    heads = Fraction(p["p"])
    goals = (p["pattern"],) if ask == "pattern" else (p["one"], p["two"])
    longest = max(map(len, goals))

    def moves(s: str) -> dict[str, Fraction]:
        return merged([((s + "H")[-longest:], heads), ((s + "T")[-longest:], 1 - heads)])

    def worth(s: str) -> int | None:
        for goal in goals:
            if s.endswith(goal):
                return 0 if ask == "pattern" else int(goal == goals[0])
        return None

    return chain("", moves, worth, int(ask == "pattern"))


def payments(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask == "wheel":
        one, two, none = p["parts"]
        return mean([p["prizes"][0]] * one + [p["prizes"][1]] * two + [0] * none, lambda x: x)
    if ask == "coins":
        n = p["n"]
        return mean(
            product((0, 1), repeat=n), lambda t: sum(t) * p["a"] + (p["b"] if sum(t) == n else 0)
        )
    if ask == "fair price":
        balls = "r" * p["red"] + "b" * p["blue"]
        return mean(permutations(balls, 2), lambda t: p["gain"] if t[0] == t[1] else -p["loss"])
    faces = range(1, p["faces"] + 1)
    if ask == "threshold":
        return mean(faces, lambda x: p["win"] if x >= p["k"] else -p["lose"])
    if ask == "face value":
        return mean(faces, lambda x: x if x >= p["k"] else p["lose"])
    if ask == "reroll":
        return mean(product(faces, repeat=2), lambda t: t[0] if t[0] >= p["k"] else t[1])
    if ask == "choice":
        rolls = 2 if p["rounds"] == "two" else 3
        # every rule "stop at the limit", one limit per roll; the best of them
        best = Fraction(0)
        for limits in product(faces, repeat=rolls - 1):

            def paid(t: tuple[int, ...], limits: tuple[int, ...] = limits) -> int:
                return next((x for x, limit in zip(t, limits, strict=False) if x >= limit), t[-1])

            best = max(best, mean(product(faces, repeat=rolls), paid))
        return best
    return mean(
        product(faces, repeat=2),
        lambda t: {
            "max": p["c"] * max(t),
            "difference": abs(t[0] - t[1]) + p["c"],
            "product": t[0] * t[1] - p["c"],
        }[ask],
    )


def counts(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask == "red":
        balls = [1] * p["red"] + [0] * p["blue"]
        return mean(combinations(balls, p["k"]), sum)
    if ask == "heads match":
        return sum((mean(range(p["faces"]), lambda x: x == 0) for _ in range(p["n"])), Fraction(0))
    if ask in ("sum", "smallest", "largest"):
        picks: dict[str, Callable[[Any], Any]] = {"sum": sum, "smallest": min, "largest": max}
        return mean(combinations(range(1, p["n"] + 1), p["k"]), picks[ask])
    if ask in ("row", "ring", "runs"):
        g, b = p.get("girls", p.get("red")), p.get("boys", p.get("blue"))
        rows = []
        for places in combinations(range(g + b), g):
            rows.append([int(i in places) for i in range(g + b)])
        if ask == "ring":
            return mean(rows, lambda r: sum(x != y for x, y in pairwise([*r, r[0]])))
        return mean(rows, lambda r: sum(x != y for x, y in pairwise(r)) + (ask == "runs"))
    if ask in ("distinct", "empty", "rises"):
        rolls = product(range(p["faces"]), repeat=p["n"])
        if ask == "rises":
            return mean(rolls, lambda t: sum(y > x for x, y in pairwise(t)))
        return mean(rolls, lambda t: len(set(t)) if ask == "distinct" else p["faces"] - len(set(t)))
    if ask == "shared":
        rolls = product(range(p["days"]), repeat=p["people"])
        return mean(rolls, lambda t: sum(t.count(d) > 1 for d in set(t)))
    if ask == "pairs left":
        socks = [i // 2 for i in range(2 * p["pairs"])]
        left = combinations(socks, 2 * p["pairs"] - p["taken"])
        return mean(left, lambda t: sum(t.count(s) == 2 for s in set(t)))
    n = p["n"]
    return mean(
        permutations(range(n)),
        lambda f: sum(f[i] > f[j] for i, j in combinations(range(n), 2) if j - i <= p["k"]),
    )


Point = tuple[Fraction, Fraction]


def cut(shape: list[Point], a: int, b: int, c: Fraction) -> list[Point]:
    """Return the part of a convex polygon where ax + by <= c."""
    kept: list[Point] = []
    for (x, y), (u, v) in zip(shape, shape[1:] + shape[:1], strict=True):
        here, there = a * x + b * y - c, a * u + b * v - c
        if here <= 0:
            kept.append((x, y))
        if here * there < 0:
            t = Fraction(here) / (here - there)
            kept.append((x + t * (u - x), y + t * (v - y)))
    return kept


def area(shape: list[Point]) -> Fraction:
    pairs = zip(shape, shape[1:] + shape[:1], strict=True)
    return abs(sum((x * v - u * y for (x, y), (u, v) in pairs), Fraction(0))) / 2


def box(w: Any, h: Any) -> list[Point]:
    w, h = Fraction(w), Fraction(h)
    return [(Fraction(0), Fraction(0)), (w, Fraction(0)), (w, h), (Fraction(0), h)]


def regions(p: Values, question: str) -> Fraction:
    ask, n = p["ask"], int(p.get("n", 0))
    if ask in ("near", "stick", "waiting", "two ends"):
        # between the points where it can change, the event holds everywhere or nowhere
        marks = sorted(
            {Fraction(0), Fraction(n)}
            | {
                Fraction(x)
                for x in (
                    p.get("c", 0) - p.get("d", 0),
                    p.get("c", 0) + p.get("d", 0),
                    p.get("d", 0),
                    n - p.get("d", 0),
                    p.get("wait", 0),
                    p.get("other", 0),
                )
                if 0 < x < n
            }
            | ({Fraction(n, p["k"] + 1), n - Fraction(n, p["k"] + 1)} if "k" in p else set())
        )
        total = Fraction(0)
        for low, high in pairwise(marks):
            x = (low + high) / 2
            holds = {
                "near": lambda x: abs(x - p["c"]) < p["d"],
                "stick": lambda x: max(x, n - x) > p["k"] * min(x, n - x),
                "waiting": lambda x: p["wait"] < x < p["other"],
                "two ends": lambda x: min(x, n - x) > p["d"],
            }[ask](x)
            total += (high - low) * holds
        return total / n
    if ask == "sum":
        share = area(cut(box(p["w"], p["h"]), 1, 1, Fraction(p["c"]))) / int(p["w"] * p["h"])
        return 1 - share if p["more"] else share
    if ask in ("above line", "smaller"):
        return area(cut(box(p["w"], p["h"]), p.get("m", 1), -1, Fraction(0))) / int(p["w"] * p["h"])
    square = box(n, n)
    if ask in ("meeting", "two waits"):
        stays = (p["d"], p.get("e", p["d"]))
        # the first arrives at x and stays d: they meet if x <= y + e and y <= x + d
        meet = cut(cut(square, 1, -1, Fraction(stays[1])), -1, 1, Fraction(stays[0]))
        return area(meet) / n**2
    if ask == "triangle":
        s = Fraction(p["s"])
        shape = cut(cut(cut(square, 1, -1, s), -1, 1, s), -1, -1, -s)
        return area(shape) / n**2
    if ask in ("both", "given"):
        d = Fraction(p["d"])
        strip = cut(cut(square, 1, -1, d), -1, 1, d)
        part = area(cut(strip, 1, 1, Fraction(p["c"])))
        return part / (n**2 if ask == "both" else area(strip))
    # break points x < y; the case y < x is its mirror image
    least = Fraction(n, p["share"])
    half = cut(square, 1, -1, Fraction(0))
    shape = cut(half, 1, -1, -least)
    if ask == "all pieces":
        shape = cut(cut(shape, -1, 0, -least), 0, 1, n - least)
    return area(shape) / area(half)


CHECKS = {
    "probability_given": formed(given),
    "probability_causes": formed(causes),
    "probability_turns": formed(turns),
    "probability_series": formed(series),
    "probability_walks": formed(walks),
    "probability_patterns": formed(patterns),
    "probability_payments": formed(payments),
    "probability_counts": formed(counts),
    "probability_regions": formed(regions),
}
