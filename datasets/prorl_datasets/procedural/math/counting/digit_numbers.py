"""How many numbers have digits with a property: different, in order, of a given product.

Leaves out: sums of digits (``numbers.digits``).
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family


def _digit_numbers(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    places = rng.choice((3, 4) if level < 3 else (3, 4, 4, 5))
    word = {3: "three", 4: "four", 5: "five"}[places]
    if level == 1:
        ask = rng.choice(("distinct above", "from digits", "parity"))
        if ask == "from digits":
            digits = sorted(rng.sample(range(10), rng.randint(places, 7)))
            repeat = rng.random() < 0.4
            first = len(digits) - (0 in digits)
            rest = len(digits) - (not repeat)
            answer = first
            for i in range(places - 1):
                answer *= len(digits) if repeat else rest - i
            rule = "digits may be repeated" if repeat else "no digit is used twice"
            texts = phrasings(
                f"How many {word}-digit numbers can be formed with the digits {listed(digits)} "
                f"if {rule}? "
                "A number does not begin with $0$.",
                f"{who} writes {word}-digit numbers using only digits from the list "
                f"{listed(digits)}; {rule}, "
                "and the first digit is not $0$. How many numbers are possible?",
            )
            values = {"ask": ask, "digits": digits, "repeat": repeat, "places": places}
            return Problem(rng.choice(texts), str(answer), values)
        distinct = [n for n in range(10 ** (places - 1), 10**places) if len(set(str(n))) == places]
        if ask == "distinct above":
            low = rng.randint(10 ** (places - 1) + 100, 10**places - 10 ** (places - 1))
            low -= low % 100
            answer = sum(n > low for n in distinct)
            texts = (
                (
                    f"How many {word}-digit integers greater than ${low}$ have digits that are all "
                    "different?"
                ),
                (
                    f"Find the number of {word}-digit numbers above ${low}$ in which no digit "
                    "occurs "
                    "twice."
                ),
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "low": low}
            )
        d = rng.choice((2, 4, 5, 10, 25))
        low = rng.randint(1, 8)
        answer = sum(n % d == 0 and n >= low * 10 ** (places - 1) for n in distinct)
        name = {
            2: "even",
            5: "multiples of $5$",
            4: "multiples of $4$",
            10: "multiples of $10$",
            25: "multiples of $25$",
        }[d]
        texts = phrasings(
            f"How many {word}-digit integers with first digit at least ${low}$ are {name} and "
            "have no "
            "repeated digit?",
            f"Of all the {word}-digit numbers with pairwise different digits whose leading digit "
            f"is ${low}$ "
            f"or more, how many are {name}?",
        )
        values = {"ask": ask, "places": places, "d": d, "lead": low}
        return Problem(rng.choice(texts), str(answer), values)
    every = range(10 ** (places - 1), 10**places)
    if level == 2:
        ask = rng.choice(("order", "contains", "product", "exactly"))
        if ask == "order":
            kind = rng.choice(("increasing", "decreasing", "nondecreasing"))
            low, high = sorted(rng.sample(range(10), 2))
            low = min(low, 9 - places)
            high = max(high, low + places)
            size = high + 1 - low
            lead = size - (low == 0)
            answer = {
                "increasing": comb(lead, places), "decreasing": comb(size, places),
                "nondecreasing": comb(lead + places - 1, places),
            }[kind]  # fmt: skip
            if answer < 2:
                return _digit_numbers(rng, level)
            rule = {
                "increasing": "each digit is greater than the digit to its left",
                "decreasing": "each digit is smaller than the digit to its left",
                "nondecreasing": "no digit is smaller than the digit to its left",
            }[kind]
            texts = phrasings(
                f"How many {word}-digit positive integers are there in which {rule} and all "
                "digits are between "
                f"${low}$ and ${high}$, inclusive? The first digit is not $0$.",
                f"{who} looks for {word}-digit numbers (not starting with $0$) that use only "
                "digits from "
                f"${low}$ to ${high}$ and in which {rule}. How many are there?",
            )
            values = {"ask": kind, "places": places, "low": low, "high": high}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "contains":
            d, e = rng.sample(range(10), 2)
            answer = sum(str(d) in str(n) and str(e) not in str(n) for n in every)
            texts = phrasings(
                f"How many {word}-digit positive integers contain the digit ${d}$ at least once "
                "but do not "
                f"contain the digit ${e}$?",
                f"Count the {word}-digit numbers without any digit ${e}$ in which at least one "
                "digit is "
                f"${d}$.",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "d": d, "e": e}
            )
        if ask == "product":
            counts = _products(places)
            target = rng.choice([t for t, times in counts.items() if t and 3 < times < 80])
            answer = counts[target]
            texts = phrasings(
                f"How many {word}-digit positive integers have digits whose product is ${target}$?",
                f"The digits of a {word}-digit number are multiplied, and the result is "
                f"${target}$. How many "
                "numbers are possible?",
            )
            values = {"ask": ask, "places": places, "target": target}
            return Problem(rng.choice(texts), str(answer), values)
        d, times = rng.randint(0, 9), rng.randint(1, places - 1)
        answer = sum(str(n).count(str(d)) == times for n in every)
        texts = phrasings(
            f"How many {word}-digit positive integers contain the digit ${d}$ exactly "
            f"{('once', 'twice', 'three times')[times - 1]}?",
            f"Among all {word}-digit numbers, how many have the digit ${d}$ in exactly {times} "
            "of their "
            f"{places} places?",
        )
        values = {"ask": "times", "places": places, "d": d, "times": times}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("zigzag", "middle", "two digits", "sum of all"))
    if ask == "sum of all":
        digits = sorted(rng.sample(range(1, 10), places))
        answer = sum(digits) * factorial(places - 1) * int("1" * places)
        texts = phrasings(
            f"All {word}-digit numbers that use each of the digits {listed(digits)} exactly once "
            "are added. "
            "What is the sum?",
            f"{who} lays the digit cards {listed(digits)} in a row in every possible order, "
            "reads each row as "
            f"a {word}-digit number, and adds up all the numbers read. Find the total.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "digits": digits})
    if ask == "two digits":
        k = rng.choice((2, 3)) if places > 3 else 2
        low = rng.randint(2, 9)
        answer = sum(len(set(str(n))) == k and str(n)[0] >= str(low) for n in every)
        texts = phrasings(
            f"How many {word}-digit integers have exactly {k} different digits and a first digit "
            "of at least "
            f"${low}$?",
            f"Find the number of {word}-digit numbers with leading digit ${low}$ or higher that "
            "are written "
            f"with exactly {k} distinct digits.",
        )
        values = {"ask": ask, "places": places, "k": k, "lead": low}
        return Problem(rng.choice(texts), str(answer), values)
    places, word = (3, "three") if ask == "middle" else (places, word)
    every = range(10 ** (places - 1), 10**places)
    top = rng.randint(5, 9)
    if ask == "middle":
        low, r = rng.randint(1, 6), rng.randint(0, 3)
        answer = sum(
            2 * (int(str(n)[1]) - r) == int(str(n)[0]) + int(str(n)[2])
            for n in range(100 * low, 1000)
        )
        if answer < 3:
            return _digit_numbers(rng, level)
        more = f"${r}$ more than the average" if r else "equal to the average"
        texts = phrasings(
            f"How many integers from ${100 * low}$ to $999$ have a middle digit that is {more} "
            "of the first "
            "and the last digit?",
            f"Let $\\overline{{abc}}$ be a three-digit number that is at least ${100 * low}$. "
            "For how many such "
            f"numbers is $b$ {more} of $a$ and $c$?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": 100 * low, "r": r})
    answer = sum(_zigzag(str(n)) and max(str(n)) <= str(top) for n in every)
    texts = phrasings(
        "A number is called a zigzag number if its digits alternately rise and fall: each digit "
        "is greater or "
        "smaller than the one before, and directly after a rise comes a fall and after a fall a "
        "rise. How many "
        f"{word}-digit zigzag numbers have no digit greater than ${top}$?",
        f"How many {word}-digit integers with digits from $0$ to ${top}$ (not beginning with "
        "$0$) have no two "
        "equal neighboring digits and no three neighboring digits in increasing or in "
        "decreasing order?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "places": places, "top": top})


@cache
def _products(places: int) -> Counter[int]:
    """Count the numbers with so many digits by the product of their digits."""
    digits = ([int(d) for d in str(n)] for n in range(10 ** (places - 1), 10**places))
    return Counter(prod(d) for d in digits)


def _zigzag(text: str) -> bool:
    steps = [b > a for a, b in itertools.pairwise(text) if a != b]
    return len(steps) == len(text) - 1 and all(x != y for x, y in itertools.pairwise(steps))


FAMILIES = (
    math_family("counting_digit_numbers", _digit_numbers, "numbers with conditions on the digits"),
)
