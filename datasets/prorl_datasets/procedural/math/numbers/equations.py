"""Problems on linear Diophantine equations and sums of coins."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

PRICED = (
    ("pens", "notebooks"), ("apples", "melons"), ("child tickets", "adult tickets"),
    ("bolts", "hinges"), ("tulips", "roses"), ("postcards", "posters"), ("teas", "sandwiches"),
)  # fmt: skip


def _linear_equations(rng: Random, level: int) -> Problem:
    who, (cheap, dear) = rng.choice(PEOPLE), rng.choice(PRICED)

    def pairs(a: int, b: int, c: int, least: int) -> list[tuple[int, int]]:
        return [
            (x, (c - a * x) // b)
            for x in range(least, c // a + 1)
            if (c - a * x) % b == 0 and (c - a * x) // b >= least
        ]

    if level == 1:
        a, b, c = redrawn(
            lambda: (rng.randint(3, 19), rng.randint(4, 23), rng.randint(60, 240)),
            lambda t: t[0] < t[1] and gcd(t[0], t[1]) == 1 and len(pairs(*t, 1)) == 1,
        )
        x, y = pairs(a, b, c, 1)[0]
        texts = WORDINGS.all(
            "linear equations, level 1",
            left_side=terms([(a, "x"), (b, "y")]),
            c=c,
            who=who,
            cheap=cheap,
            a=a,
            dear=dear,
            b=b,
            terms_left_side=terms([(a, "m"), (b, "n")]),
        )
        return Problem(rng.choice(texts), f"({x}, {y})", {"ask": "pair", "a": a, "b": b, "c": c})
    if level == 2:
        ask = rng.choice(("count", "most", "least"))
        least = rng.choice((0, 1))
        a, b, c = redrawn(
            lambda: (rng.randint(2, 15), rng.randint(3, 21), rng.randint(100, 600)),
            lambda t: t[0] < t[1] and t[1] % t[0] > 0 and len(pairs(*t, least)) > 2,
        )
        solutions = pairs(a, b, c, least)
        kind = ("nonnegative", "positive")[least]
        equation = f"{terms([(a, 'x'), (b, 'y')])} = {c}"
        if ask == "count":
            texts = (
                f"How many ordered pairs $(x, y)$ of {kind} integers satisfy ${equation}$?",
                WORDINGS.one("linear equations, level 2, count", c=c, a=a, b=b)
                + (
                    ", and both rings are hit at least once."
                    if least
                    else ", and they may be zero."
                ),
                WORDINGS.one(
                    "linear equations 2",
                    who=who,
                    c=c,
                    a=a,
                    b=b,
                    using_both=", using both kinds"
                    if least
                    else "; it is allowed to use only one kind",
                ),
                f"Determine the number of {kind} integer solutions of ${equation}$.",
            )
            answer = len(solutions)
        elif ask == "most":
            answer = max(x + y for x, y in solutions)
            texts = (
                WORDINGS.one("linear equations 3", kind=kind, equation=equation),
                WORDINGS.one(
                    "linear equations 4",
                    who=who,
                    cheap=cheap,
                    a=a,
                    dear=dear,
                    b=b,
                    c=c,
                    and_takes=", and takes at least one of both."
                    if least
                    else "; perhaps only one kind is bought.",
                ),
            )
        else:
            answer = min(x + y for x, y in solutions)
            texts = WORDINGS.all(
                "linear equations 6",
                kind=kind,
                equation=equation,
                a=a,
                b=b,
                both_kinds="Both kinds must be used. " if least else "One kind alone is allowed. ",
                c=c,
            )
        values = {"ask": ask, "a": a, "b": b, "c": c, "least": least}
        return Problem(rng.choice(texts), str(answer), values)
    a, b, c = redrawn(
        lambda: tuple(sorted(rng.sample(range(2, 16), 3))),
        lambda t: gcd(gcd(t[0], t[1]), t[2]) == 1,
    )
    total = rng.randint(40, 150)
    if rng.random() < 0.5:
        answer = sum(
            (total - c * z - b * y) % a == 0
            for z in range(1, total // c + 1)
            for y in range(1, (total - c * z) // b + 1)
            if total - c * z - b * y >= a
        )
        if answer < 2:
            return _linear_equations(rng, level)
        texts = WORDINGS.all(
            "linear equations",
            who=who,
            total=total,
            a=a,
            b=b,
            c=c,
            left_side=terms([(a, "x"), (b, "y"), (c, "z")]),
        )
        values = {"ask": "triples", "a": a, "b": b, "c": c, "total": total}
        return Problem(rng.choice(texts), str(answer), values)
    heads = rng.randint(20, 60)
    found3 = [
        (heads - y - z, y, z)
        for y in range(1, heads)
        for z in range(1, heads - y)
        if a * (heads - y - z) + b * y + c * z == total * 4
    ]
    if not 2 <= len(found3) <= 12:
        return _linear_equations(rng, level)
    answer = max(z for _, _, z in found3)
    texts = WORDINGS.all(
        "linear equations, 2",
        who=who,
        heads=heads,
        a=a,
        b=b,
        c=c,
        total=4 * total,
        left_side=terms([(a, "x"), (b, "y"), (c, "z")]),
    )
    values = {"ask": "heads", "a": a, "b": b, "c": c, "heads": heads, "total": 4 * total}
    return Problem(rng.choice(texts), str(answer), values)


def _coin_gaps(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def reachable(parts: list[int], top: int) -> list[bool]:
        made = [True] + [False] * top
        for n in range(1, top + 1):
            made[n] = any(n >= p and made[n - p] for p in parts)
        return made

    if level < 3:
        a, b = redrawn(
            lambda: sorted(rng.sample(range(3, 8 + 7 * level), 2)), lambda p: gcd(*p) == 1
        )
        gaps = [n for n, ok in enumerate(reachable([a, b], a * b)) if not ok]
        if level == 1:
            texts = WORDINGS.all(
                "coin gaps, level 1", a=a, b=b, left_side=terms([(a, "x"), (b, "y")]), who=who
            )
            return Problem(rng.choice(texts), str(gaps[-1]), {"ask": "largest", "parts": [a, b]})
        if rng.random() < 0.5:
            texts = WORDINGS.all("coin gaps", a=a, b=b, left_side=terms([(a, "x"), (b, "y")]))
            return Problem(rng.choice(texts), str(len(gaps)), {"ask": "count", "parts": [a, b]})
        texts = WORDINGS.all(
            "coin gaps, positive", left_side=terms([(a, "x"), (b, "y")]), who=who, a=a, b=b
        )
        return Problem(rng.choice(texts), str(a * b), {"ask": "positive", "parts": [a, b]})
    parts = redrawn(
        lambda: sorted(rng.sample(range(4, 24), 3)),
        lambda p: gcd(gcd(p[0], p[1]), p[2]) == 1 and not reachable(p[:2], p[2])[p[2]]
        and p[1] % p[0] > 0,
    )  # fmt: skip
    gaps = [n for n, ok in enumerate(reachable(parts, parts[0] * parts[2])) if not ok]
    a, b, c = parts
    if rng.random() < 0.5:
        texts = WORDINGS.all(
            "coin gaps 3", a=a, b=b, c=c, left_side=terms([(a, "x"), (b, "y"), (c, "z")])
        )
        return Problem(rng.choice(texts), str(gaps[-1]), {"ask": "largest", "parts": parts})
    texts = (
        WORDINGS.one("coin gaps 4", a=a, b=b, c=c),
        WORDINGS.one("coin gaps 5", left_side=terms([(a, "x"), (b, "y"), (c, "z")])),
        WORDINGS.one("coin gaps 2", who=who, a=a, b=b, c=c),
    )
    return Problem(rng.choice(texts), str(len(gaps)), {"ask": "count", "parts": parts})


FAMILIES = (
    math_family("numbers_linear_equations", _linear_equations, "integer solutions of ax + by = c"),
    math_family("numbers_coin_gaps", _coin_gaps, "sums that coins, boxes or goals never make"),
)
