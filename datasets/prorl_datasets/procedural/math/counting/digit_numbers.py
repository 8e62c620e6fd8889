"""Problems that count numbers by properties of their digits."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


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
            texts = WORDINGS.all(
                "digit numbers 9", word=word, digits=listed(digits), rule=rule, who=who
            )
            values = {"ask": ask, "digits": digits, "repeat": repeat, "places": places}
            return Problem(rng.choice(texts), str(answer), values)
        distinct = [n for n in range(10 ** (places - 1), 10**places) if len(set(str(n))) == places]
        if ask == "distinct above":
            low = rng.randint(10 ** (places - 1) + 100, 10**places - 10 ** (places - 1))
            low -= low % 100
            answer = sum(n > low for n in distinct)
            texts = WORDINGS.all("digit numbers, level 1, distinct above", word=word, low=low)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "low": low}
            )
        d = rng.choice((2, 4, 5, 10, 25))
        low = rng.randint(1, 8)
        answer = sum(n % d == 0 and n >= low * 10 ** (places - 1) for n in distinct)
        name = WORDINGS.one(f"digit numbers of {d}")
        texts = WORDINGS.all("digit numbers, level 1", word=word, low=low, name=name)
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
            rule = WORDINGS.one(f"digit numbers {kind}")
            texts = WORDINGS.all(
                "digit numbers 10", word=word, rule=rule, low=low, high=high, who=who
            )
            values = {"ask": kind, "places": places, "low": low, "high": high}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "contains":
            d, e = rng.sample(range(10), 2)
            answer = sum(str(d) in str(n) and str(e) not in str(n) for n in every)
            texts = WORDINGS.all("digit numbers, level 2, contains", word=word, d=d, e=e)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "d": d, "e": e}
            )
        if ask == "product":
            counts = _products(places)
            target = rng.choice([t for t, times in counts.items() if t and 3 < times < 80])
            answer = counts[target]
            texts = WORDINGS.all("digit numbers, level 2, product", word=word, target=target)
            values = {"ask": ask, "places": places, "target": target}
            return Problem(rng.choice(texts), str(answer), values)
        d, times = rng.randint(0, 9), rng.randint(1, places - 1)
        answer = sum(str(n).count(str(d)) == times for n in every)
        texts = (
            (
                f"How many {word}-digit positive integers contain the digit ${d}$ exactly "
                f"{('once', 'twice', 'three times')[times - 1]}?"
            ),
            WORDINGS.one("digit numbers 6", word=word, d=d, times=times, places=places),
        )
        values = {"ask": "times", "places": places, "d": d, "times": times}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("zigzag", "middle", "two digits", "sum of all"))
    if ask == "sum of all":
        digits = sorted(rng.sample(range(1, 10), places))
        answer = sum(digits) * factorial(places - 1) * int("1" * places)
        texts = WORDINGS.all("digit numbers 11", word=word, digits=listed(digits), who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "digits": digits})
    if ask == "two digits":
        k = rng.choice((2, 3)) if places > 3 else 2
        low = rng.randint(2, 9)
        answer = sum(len(set(str(n))) == k and str(n)[0] >= str(low) for n in every)
        texts = WORDINGS.all("digit numbers, two digits", word=word, k=k, low=low)
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
        texts = WORDINGS.all("digit numbers, middle", low=100 * low, more=more)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": 100 * low, "r": r})
    answer = sum(_zigzag(str(n)) and max(str(n)) <= str(top) for n in every)
    texts = WORDINGS.all("digit numbers", word=word, top=top)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "places": places, "top": top})


@cache
def _products(places: int) -> Counter[int]:
    digits = ([int(d) for d in str(n)] for n in range(10 ** (places - 1), 10**places))
    return Counter(prod(d) for d in digits)


def _zigzag(text: str) -> bool:
    steps = [b > a for a, b in itertools.pairwise(text) if a != b]
    return len(steps) == len(text) - 1 and all(x != y for x, y in itertools.pairwise(steps))


FAMILIES = (
    math_family("counting_digit_numbers", _digit_numbers, "numbers with conditions on the digits"),
)
