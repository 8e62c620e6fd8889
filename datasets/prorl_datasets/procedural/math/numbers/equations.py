"""Linear equations in integers, and sums that no coins make.

Leaves out: equations that factor (``factored``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family

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
        texts = phrasings(
            "Find the only pair $(x, y)$ of positive integers with "
            f"${terms([(a, 'x'), (b, 'y')])} = "
            f"{c}$.",
            f"{who} spends exactly {c} crowns on {cheap} at {a} crowns each and {dear} at {b} "
            "crowns "
            f"each, and buys at least one of both kinds. Give the pair $(x, y)$, where $x$ is the "
            f"number of {cheap} and $y$ the number of {dear}.",
            f"The equation ${terms([(a, 'm'), (b, 'n')])} = {c}$ has exactly one solution in "
            "positive "
            "integers. State it as an ordered pair $(m, n)$.",
            f"A rope of {c} meters is cut completely into pieces of {a} and of {b} meters, both "
            "lengths being used. If $s$ is the number of shorter pieces and $t$ the number of "
            "longer "
            "ones, what is $(s, t)$?",
        )
        return Problem(rng.choice(texts), f"({x}, {y})", {"ask": "pair", "a": a, "b": b, "c": c})
    if level == 2:
        ask = rng.choice(("count", "most", "least"))
        least = rng.choice((0, 1))
        a, b, c = redrawn(
            lambda: (rng.randint(2, 15), rng.randint(3, 21), rng.randint(100, 600)),
            lambda t: t[0] < t[1] and t[1] % t[0] > 0 and len(pairs(*t, least)) > 2,
        )
        found = pairs(a, b, c, least)
        kind = ("nonnegative", "positive")[least]
        equation = f"{terms([(a, 'x'), (b, 'y')])} = {c}"
        if ask == "count":
            texts = (
                f"How many ordered pairs $(x, y)$ of {kind} integers satisfy ${equation}$?",
                f"In how many ways can a total of exactly {c} points be collected if every hit "
                "on the "
                f"outer ring gives {a} points and every hit on the inner ring gives {b} points? "
                "Only "
                "the numbers of hits matter"
                + (
                    ", and both rings are hit at least once."
                    if least
                    else ", and they may be zero."
                ),
                f"{who} pays {c} crowns, without change, in coins of {a} and {b} crowns"
                + (", using both kinds" if least else "; it is allowed to use only one kind")
                + ". How many combinations of coins are possible?",
                f"Determine the number of {kind} integer solutions of ${equation}$.",
            )
            answer = len(found)
        elif ask == "most":
            answer = max(x + y for x, y in found)
            texts = (
                (
                    f"Let $x$ and $y$ be {kind} integers with ${equation}$. What is the largest "
                    "possible "
                    "value of $x + y$?"
                ),
                f"{who} buys {cheap} for {a} crowns each and {dear} for {b} crowns each, paying "
                f"exactly {c} crowns"
                + (
                    ", and takes at least one of both."
                    if least
                    else "; perhaps only one kind is bought."
                )
                + " At most how many things can be bought in all?",
            )
        else:
            answer = min(x + y for x, y in found)
            texts = (
                (
                    f"What is the minimum of $x + y$ over all pairs of {kind} integers $x, y$ with "
                    f"${equation}$?"
                ),
                f"Weights of {a} and {b} grams are available in any number. "
                + ("Both kinds must be used. " if least else "One kind alone is allowed. ")
                + f"Find the least number of weights that together weigh exactly {c} grams.",
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
        texts = phrasings(
            f"{who} fills a row of {total} parking spaces completely with vehicles of lengths "
            f"{a}, {b} and {c} spaces, using at least one of each. If only the numbers of "
            "vehicles of each length matter, how many fillings are there?",
            f"In how many ways can a score of {total} be made up of hits worth {a}, {b} and {c}, "
            "if each kind of hit occurs and the order is irrelevant?",
            f"How many ordered triples $(x, y, z)$ of positive integers satisfy "
            f"${terms([(a, 'x'), (b, 'y'), (c, 'z')])} = {total}$?",
            f"{who} has tickets worth {a}, {b} and {c} points, plenty of each, and wants to hand "
            "in "
            f"tickets worth exactly {total} points, at least one of each worth. How many "
            "combinations "
            "are possible?",
            f"Planks of length {a}, {b} and {c} decimeters are laid end to end to cover exactly "
            f"{total} decimeters, and each length is used at least once. Disregarding the order of "
            "the planks, in how many ways can this be done?",
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
    texts = phrasings(
        f"{who} buys exactly {heads} stamps, some for {a} cents, some for {b} cents and some for "
        f"{c} "
        f"cents, at least one of each kind, for {4 * total} cents in all. What is the greatest "
        f"possible number of {c}-cent stamps?",
        f"Positive integers $x$, $y$, $z$ satisfy both $x + y + z = {heads}$ and "
        f"${terms([(a, 'x'), (b, 'y'), (c, 'z')])} = {4 * total}$. How large can $z$ be at most?",
        f"In a quiz with {heads} questions every question is worth {a}, {b} or {c} points; all "
        "three "
        f"values occur, and the values of all the questions add up to {4 * total}. At most how "
        "many "
        f"questions can be worth {c} points?",
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
            lambda: sorted(rng.sample(range(3, 8 + 7 * level), 2)),
            lambda p: gcd(*p) == 1,
        )
        gaps = [n for n, ok in enumerate(reachable([a, b], a * b)) if not ok]
        if level == 1:
            texts = phrasings(
                f"A frog on the number line starts at $0$ and jumps {a} or {b} units to the "
                "right each time. Which is the greatest point with an integer coordinate that "
                "it can never land on?",
                f"Planks are {a} or {b} decimeters long and are laid end to end. What is the "
                "largest whole number of decimeters that cannot be covered exactly?",
                f"Every sum of numbers that are equal to ${a}$ or ${b}$, with repetition "
                "allowed, is called nice. Find the largest positive integer that is not nice.",
                f"Stamps are available for {a} cents and for {b} cents only. What is the largest "
                "whole number of cents that cannot be made up exactly with such stamps?",
                f"A shop sells buns in bags of {a} and in bags of {b}. Find the greatest number of "
                "buns that a customer cannot buy without opening a bag.",
                f"What is the largest integer that cannot be written in the form "
                f"${terms([(a, 'x'), (b, 'y')])}$ with nonnegative integers $x$ and $y$?",
                f"In a game every goal is worth {a} points or {b} points. Which is the highest "
                "score "
                "that a team can never have?",
                f"{who} can weigh out sugar with weights of {a} grams and {b} grams, always "
                "putting "
                "the weights on one pan and the sugar on the other. From some amount on, every "
                "whole "
                "number of grams is possible. What is the largest whole number of grams that is "
                "not?",
            )
            return Problem(rng.choice(texts), str(gaps[-1]), {"ask": "largest", "parts": [a, b]})
        if rng.random() < 0.5:
            texts = phrasings(
                f"A vending machine for water fills bottles from cans of {a} and of {b} liters, "
                "always emptying the cans used. How many positive whole numbers of liters can "
                "it not deliver exactly?",
                f"Let $S$ be the set of all sums of one or more numbers, each equal to ${a}$ or "
                f"${b}$. How many positive integers do not belong to $S$?",
                f"How many positive integers cannot be written as ${terms([(a, 'x'), (b, 'y')])}$ "
                "with nonnegative integers $x$ and $y$?",
                f"In a game every goal is worth {a} points or {b} points. How many positive "
                "integers "
                "are impossible as the score of a team?",
                f"A cash machine pays out notes of {a} crowns and of {b} crowns only. For how many "
                "positive whole numbers of crowns is it unable to pay out exactly that amount?",
            )
            return Problem(rng.choice(texts), str(len(gaps)), {"ask": "count", "parts": [a, b]})
        texts = phrasings(
            f"Find the largest integer that is not of the form ${terms([(a, 'x'), (b, 'y')])}$ "
            "with "
            "positive integers $x$ and $y$ (neither may be zero).",
            f"{who} buys pencils in packets of {a} and of {b}, and always takes at least one "
            "packet "
            "of each size. What is the greatest number of pencils that cannot be bought in this "
            "way?",
            f"Every bouquet contains some roses at {a} crowns and some lilies at {b} crowns, at "
            "least "
            "one of each. Which is the highest whole price that no bouquet has?",
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
        texts = phrasings(
            f"Chicken nuggets come in boxes of {a}, {b} and {c}. What is the largest number of "
            "nuggets that cannot be bought exactly with such boxes?",
            f"Determine the largest integer that cannot be expressed as "
            f"${terms([(a, 'x'), (b, 'y'), (c, 'z')])}$ with nonnegative integers $x, y, z$.",
            f"A country has coins of {a}, {b} and {c} pence only. Which is the greatest amount, in "
            "pence, that cannot be paid exactly without getting change?",
        )
        return Problem(rng.choice(texts), str(gaps[-1]), {"ask": "largest", "parts": parts})
    texts = phrasings(
        f"A country has coins of {a}, {b} and {c} pence only. How many positive whole numbers of "
        "pence cannot be paid exactly without change?",
        f"For how many positive integers $n$ is there no solution of "
        f"$n = {terms([(a, 'x'), (b, 'y'), (c, 'z')])}$ in nonnegative integers $x, y, z$?",
        f"{who} has a large supply of rods of length {a}, {b} and {c} and puts rods end to end. "
        "How "
        "many positive integers are not the total length of any such row?",
    )
    return Problem(rng.choice(texts), str(len(gaps)), {"ask": "count", "parts": parts})


FAMILIES = (
    math_family("numbers_linear_equations", _linear_equations, "integer solutions of ax + by = c"),
    math_family("numbers_coin_gaps", _coin_gaps, "sums that coins, boxes or goals never make"),
)
