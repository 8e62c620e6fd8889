"""Numbers written as sums, in order or not.

Leaves out: sharing things out (``distributions``).
"""

from __future__ import annotations

from itertools import product
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family


def _sums(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def partitions(n: int, parts: list[int]) -> int:
        ways = [1] + [0] * n
        for part in parts:
            for total in range(part, n + 1):
                ways[total] += ways[total - part]
        return ways[n]

    if level == 1:
        coins = redrawn(
            lambda: sorted(rng.sample((1, 2, 3, 4, 5, 6, 8, 10, 12), rng.choice((2, 3)))),
            lambda c: c[0] < 4,
        )
        n = rng.randint(15, 45)
        answer = partitions(n, coins)
        if answer < 3:
            return _sums(rng, level)
        texts = phrasings(
            f"A vending machine accepts coins of {listed(coins)} cents only, and a drink costs "
            f"{n} cents. Paying exactly, how many different sets of coins can a customer throw "
            "in?",
            "Let $A(n)$ be the number of ways to write $n$ as a sum of numbers from the list "
            f"{listed(coins)}, where repetitions are allowed and the order is disregarded. Find "
            f"$A({n})$.",
            f"Boards are sold in lengths of {listed(coins)} feet. {who} needs a total of exactly "
            f"{n} feet and does not care in which order the boards are delivered. How many "
            "orders can be placed?",
            "Two shopping lists are the same if they contain the same number of packs of each "
            f"size. Pens come in packs of {listed(coins)}. How many different lists give exactly "
            f"{n} pens?",
            f"In how many ways can {n} cents be paid with coins of {listed(coins)} cents? The "
            "order of "
            "the coins does not matter, and not every kind has to be used.",
            f"How many ways are there to make {n} points with throws that score "
            f"{listed(coins, 'or')} "
            "points each, if only the number of throws of each kind counts?",
            f"{who} has plenty of weights of {listed(coins)} grams. How many combinations of "
            "weights have "
            f"a total of exactly {n} grams?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "coins", "n": n, "coins": coins})
    if level == 2:
        ask = rng.choice(("parts", "distinct", "largest"))
        n = rng.randint(8, 20)
        if ask == "parts":
            k = rng.randint(2, 4)
            answer = partitions(n - k, list(range(1, k + 1)))
            texts = phrasings(
                f"Find the number of ways to split a team of {n} equally skilled players into "
                f"{k} groups, where only the sizes of the groups are of interest and no group is "
                "empty.",
                f"How many multisets of ${k}$ positive integers have the sum ${n}$?",
                f"A rope of {n} meters is cut into {k} pieces whose lengths are whole numbers of "
                "meters. Only the lengths count, not their order. How many outcomes are there?",
                f"In how many ways can ${n}$ be written as a sum of exactly ${k}$ positive "
                "integers, if "
                "the order of the summands does not matter?",
                f"{n} identical balls are put into {k} identical bags, none of which stays "
                "empty. How "
                "many different results are possible?",
                f"{who} sorts {n} equal coins into {k} piles with at least one coin each. Two "
                "results "
                "that differ only in the order of the piles are the same. How many results are "
                "there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "distinct":
            ways = [1] + [0] * n
            for part in range(1, n + 1):
                for total in range(n, part - 1, -1):
                    ways[total] += ways[total - part]
            texts = phrasings(
                "A merchant owns one weight of each whole number of grams: 1 gram, 2 grams, 3 "
                f"grams and so on. In how many ways can a load of {n} grams be balanced with "
                "weights on the other pan?",
                "Count the strictly increasing sequences of positive integers, of any length, "
                f"whose terms add up to ${n}$.",
                f"In how many ways can ${n}$ be written as a sum of different positive integers? "
                "The "
                "order of the summands is irrelevant, and the single number counts as a sum.",
                f"How many sets of positive integers have elements that add up to ${n}$?",
                f"{who} divides {n} equal stones into heaps no two of which have the same size; "
                "one heap "
                "alone is allowed. In how many ways can the sizes of the heaps be chosen?",
            )
            return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n})
        top = rng.randint(3, 6)
        answer = partitions(n, list(range(1, top + 1)))
        texts = phrasings(
            f"{who} pays a bill of {n} dollars with notes of which there is one kind for each "
            f"whole value from 1 to {top} dollars. In how many ways can this be done, if only "
            "the numbers of notes of each kind matter?",
            "How many solutions in nonnegative integers has the equation "
            f"${' + '.join(('' if i == 1 else str(i)) + 'x_' + str(i) for i in range(1, top + 1))} "
            f"= {n}$?",
            f"How many partitions of ${n}$ into positive integers have no part greater than "
            f"${top}$? A "
            "partition is a way of writing the number as a sum, where the order is irrelevant.",
            f"In how many ways can {n} equal bricks be arranged in columns of nonincreasing "
            "height from "
            f"left to right, if no column is higher than {top} bricks?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "top": top})
    ask = rng.choice(("compositions", "forbidden", "odd compositions"))
    if ask == "compositions":
        n, k, top = rng.randint(8, 16), rng.randint(3, 4), rng.randint(4, 6)
        answer = sum(sum(t) == n for t in product(range(1, top + 1), repeat=k))
        if answer < 3:
            return _sums(rng, level)
        texts = phrasings(
            f"A password is made of {k} positive integers in a certain order, each at most "
            f"{top}, with the total {n}. How many passwords are there?",
            f"{k} dice with faces from 1 to {top}, each of a different color, show a total of "
            f"{n}. In how many ways is this possible?",
            f"In how many ways can ${n}$ be written as an ordered sum of ${k}$ positive "
            "integers, none of "
            f"which exceeds ${top}$?",
            f"{who} wants to eat {n} plums within {k} days, on each day at least one and at most "
            f"{top}. "
            "How many daily plans are possible?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "top": top})
    n = rng.randint(8, 15)
    if ask == "odd compositions":
        low = rng.choice((1, 2))
        ways = [1] + [0] * n
        for total in range(1, n + 1):
            ways[total] = sum(
                ways[total - p] for p in range(1, total + 1) if (p % 2 == 1 if low == 1 else p >= 2)
            )
        name = "odd positive integers" if low == 1 else "integers that are all at least $2$"
        texts = phrasings(
            f"A train of total length {n} is coupled together from wagons whose lengths are "
            f"{name}; wagons of one length look alike. How many different trains are possible, "
            "if the front end is fixed?",
            f"Consider all ordered lists of {name} whose terms add up to ${n}$. How many lists "
            "are there, the one with a single term counted if it is allowed?",
            f"In how many ways can ${n}$ be written as a sum of one or more {name}, if sums with a "
            "different order of the summands count as different?",
            f"How many finite sequences of {name} have the sum ${n}$?",
        )
        return Problem(
            rng.choice(texts), str(ways[n]), {"ask": "odd" if low == 1 else "two up", "n": n}
        )
    bad = rng.randint(1, 4)
    ways = [1] + [0] * n
    for total in range(1, n + 1):
        ways[total] = sum(ways[total - p] for p in range(1, total + 1) if p != bad)
    texts = phrasings(
        f"How many finite sequences of positive integers have the sum ${n}$ and no term equal to "
        f"${bad}$?",
        f"Rhythms of {n} beats are built from notes that last a whole number of beats, one after "
        f"another, but notes of {bad} {'beat' if bad == 1 else 'beats'} are not used. How many "
        "rhythms are there?",
        "A composition of a positive integer is a way of writing it as an ordered sum of one or "
        "more "
        f"positive integers. How many compositions of ${n}$ do not contain the summand ${bad}$?",
        f"{who} cuts a stick of {n} centimeters into one or more pieces of whole centimeters and "
        "lays "
        f"them in a row; no piece may be {bad} cm long. Counting different orders of lengths "
        "separately, "
        "how many rows are possible?",
    )
    return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n, "bad": bad})


FAMILIES = (math_family("counting_sums", _sums, "numbers written as sums"),)
