"""The decimals of fractions: their periods, single digits, and which of them end.

Leaves out: other bases (``bases``).
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wording import ordinal


def _decimals(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def period(n: int) -> int:
        for p in (2, 5):
            while n % p == 0:
                n //= p
        return next(k for k in range(1, 1000) if (10**k - 1) % n == 0)

    if level == 1:
        ask = rng.choice(("fraction", "digit"))
        if ask == "digit":
            m = rng.choice((7, 11, 13, 27, 37, 41, 33, 21, 14, 22, 26, 35))
            a = redrawn(lambda: rng.randint(1, m - 1), lambda a: gcd(a, m) == 1)
            place = rng.randint(20, 500)
            answer = a * 10**place // m % 10
            texts = phrasings(
                f"What is the {ordinal(place)} digit after the decimal point of "
                f"$\\frac{{{a}}}{{{m}}}$?",
                f"The fraction $\\frac{{{a}}}{{{m}}}$ is written as a decimal. Which digit "
                "stands in "
                f"place number {place} to the right of the decimal point?",
                f"{who} divides {a} by {m} by hand and writes down digit after digit behind the "
                f"decimal point. Which digit is the {ordinal(place)} one?",
                f"Find the digit in the ${place}$-th decimal place of the number ${a} \\div {m}$.",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "a": a, "m": m, "place": place}
            )
        repeat = redrawn(lambda: str(rng.randint(1, 98)).zfill(2), lambda r: r[0] != r[1])
        if rng.random() < 0.5:
            repeat = redrawn(lambda: str(rng.randint(10, 989)).zfill(3), lambda r: len(set(r)) > 1)
        whole = rng.choice((0, 0, 1, 2, 3))
        value = whole + Fraction(int(repeat), 10 ** len(repeat) - 1)
        texts = phrasings(
            f"Write the repeating decimal ${whole}.\\overline{{{repeat}}}$ as a fraction in lowest "
            "terms.",
            f"Express ${whole}.{repeat}{repeat}{repeat}\\ldots$, where the block ${repeat}$ "
            "repeats "
            "forever, as a common fraction.",
            f"A calculator with unlimited display shows ${whole}.\\overline{{{repeat}}}$ after "
            f"{who} "
            "divides one integer by another. Which reduced fraction of integers has this value?",
            f"Find the simplest fraction equal to the number ${whole}.\\overline{{{repeat}}}$.",
        )
        values = {"ask": ask, "whole": whole, "head": "", "repeat": repeat}
        return Problem(rng.choice(texts), fraction(value), values)
    if level == 2:
        ask = rng.choice(("fraction", "period", "sum of digits"))
        if ask == "fraction":
            head = str(rng.randint(0, 9)) if rng.random() < 0.6 else f"{rng.randint(0, 99):02d}"
            repeat = redrawn(
                lambda: str(rng.randint(1, 99)),
                lambda r: r[-1] != head[-1] and ((len(r) == 1 and r != "9") or len(set(r)) > 1),
            )
            value = Fraction(int(head), 10 ** len(head)) + Fraction(
                int(repeat), (10 ** len(repeat) - 1) * 10 ** len(head)
            )
            texts = phrasings(
                f"Express $0.{head}\\overline{{{repeat}}}$ as a fraction in lowest terms.",
                f"In the decimal $0.{head}\\overline{{{repeat}}}$ only the part under the bar "
                "repeats. "
                "Which reduced fraction does it equal?",
                f"Let $x = 0.{head}{repeat}{repeat}{repeat}\\ldots$, in which the digits "
                f"${repeat}$ recur without end after the initial ${head}$. Write $x$ in the form "
                "$\\frac{m}{n}$ with coprime positive integers $m$ and $n$.",
            )
            values = {"ask": ask, "whole": 0, "head": head, "repeat": repeat}
            return Problem(rng.choice(texts), fraction(value), values)
        m = redrawn(
            lambda: rng.randint(7, 150), lambda m: m % 2 > 0 and m % 5 > 0 and 1 < period(m) < 60
        )
        if ask == "period":
            texts = phrasings(
                f"How many digits does the shortest repeating block of the decimal expansion of "
                f"$\\frac{{1}}{{{m}}}$ have?",
                f"The decimal expansion of $\\frac{{1}}{{{m}}}$ is periodic from the first digit "
                "on. "
                "Find the length of its period.",
                f"{who} calculates $1 \\div {m}$ by long division and sees that from the decimal "
                "point on "
                "one block of digits is written again and again. How long is this block, if it is "
                "taken as short as possible?",
            )
            return Problem(rng.choice(texts), str(period(m)), {"ask": ask, "m": m})
        places = rng.randint(30, 200)
        total = sum(map(int, str(10**places // m)))
        texts = phrasings(
            f"Find the sum of the first {places} digits after the decimal point in the decimal "
            f"expansion of $\\frac{{1}}{{{m}}}$.",
            f"{who} writes out $1 \\div {m}$ to {places} places behind the decimal point, without "
            "rounding, and adds up those digits. What is the sum?",
        )
        return Problem(rng.choice(texts), str(total), {"ask": ask, "m": m, "places": places})
    ask = rng.choice(("terminating", "places", "numerators"))
    if ask == "terminating":
        top = rng.randint(100, 2000)
        low = rng.randint(2, 20)
        found = [n for n in range(low, top + 1) if _stripped(n) == 1]
        texts = phrasings(
            f"For how many integers $n$ with ${low} \\le n \\le {top}$ does the decimal "
            "expansion of "
            "$\\frac{1}{n}$ terminate?",
            f"Among the unit fractions $\\frac{{1}}{{{low}}}, \\frac{{1}}{{{low + 1}}}, \\ldots, "
            f"\\frac{{1}}{{{top}}}$, how many can be written as decimals with finitely many "
            "digits?",
            f"An integer $n$ from ${low}$ to ${top}$, inclusive, is called tame if "
            "$\\frac{1}{n}$ "
            "is a terminating decimal. How many tame integers are there?",
        )
        return Problem(rng.choice(texts), str(len(found)), {"ask": ask, "low": low, "top": top})
    if ask == "places":
        a, b = rng.randint(2, 30), rng.randint(2, 30)
        c = rng.choice((3, 7, 9, 11, 13, 17, 19, 21))
        texts = phrasings(
            f"How many digits are there to the right of the decimal point when "
            f"$\\frac{{{c}}}{{2^{{{a}}} \\cdot 5^{{{b}}}}}$ is written as a terminating decimal "
            "without superfluous zeros at the end?",
            f"The fraction $\\frac{{{c}}}{{2^{{{a}}} \\cdot 5^{{{b}}}}}$ equals a decimal with "
            "finitely "
            "many digits. At which place after the decimal point does its last nonzero digit "
            "stand?",
        )
        answer = max(a, b)
        lead = rng.random() < 0.5
        if lead:
            shown = str(c * 10 ** max(a, b) // (2**a * 5**b)).zfill(max(a, b))
            answer = len(shown) - len(shown.lstrip("0"))
            texts = phrasings(
                f"Written as a decimal, $\\frac{{{c}}}{{2^{{{a}}} \\cdot 5^{{{b}}}}}$ is less than "
                "$1$. How many zeros are there between the decimal point and the first nonzero "
                "digit?",
                f"How many zeros directly follow the decimal point, before any other digit, in the "
                f"decimal form of $\\frac{{{c}}}{{2^{{{a}}} \\cdot 5^{{{b}}}}}$?",
            )
            if c >= 2**a * 5**b:
                return _decimals(rng, level)
        text = rng.choice(texts)
        for e in (a, b):
            if e < 10:
                text = text.replace(f"^{{{e}}}", f"^{e}")
        values = {"ask": "zeros" if lead else ask, "a": a, "b": b, "c": c}
        return Problem(text, str(answer), values)
    m = rng.choice(
        (6, 7, 9, 12, 14, 15, 18, 21, 24, 27, 28, 30, 33, 35, 36, 42, 45, 48, 60, 63, 72)
    )
    top = rng.randint(m, 12 * m)
    found = [k for k in range(1, top + 1) if k % _stripped(m) == 0]
    if not found:
        return _decimals(rng, level)
    texts = phrasings(
        f"For how many integers $k$ from $1$ to ${top}$ can $\\frac{{k}}{{{m}}}$ be written as a "
        "terminating decimal?",
        f"Of the ${top}$ fractions $\\frac{{1}}{{{m}}}, \\frac{{2}}{{{m}}}, \\ldots, "
        f"\\frac{{{top}}}{{{m}}}$, how many have an infinite decimal expansion?",
        f"{who} divides each of the numbers $1, 2, \\ldots, {top}$ by ${m}$. How many of the "
        "results "
        "have infinitely many decimal places?",
    )
    pick = rng.randrange(3)
    answer = len(found) if pick == 0 else top - len(found)
    values = {"ask": "finite" if pick == 0 else "infinite", "m": m, "top": top}
    return Problem(texts[pick], str(answer), values)


def _stripped(n: int) -> int:
    for p in (2, 5):
        while n % p == 0:
            n //= p
    return n


FAMILIES = (math_family("numbers_decimals", _decimals, "periods, digits and lengths of decimals"),)
