"""Coprime numbers: how many there are, fractions in lowest terms, and sums over them.

Leaves out: common divisors of given numbers (``common_divisors``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family


def _phi(n: int) -> int:
    return sum(gcd(k, n) == 1 for k in range(1, n + 1))


def _coprime(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n = redrawn(lambda: rng.randint(18, 180 * level), lambda n: _phi(n) < n - 1)
    if level == 1:
        texts = phrasings(
            f"How many positive integers less than ${n}$ have no common divisor with ${n}$ other "
            "than "
            "$1$?",
            f"Find the number of integers $k$ with $1 \\le k \\le {n}$ and $\\gcd(k, {n}) = 1$.",
            f"How many of the fractions $\\frac{{1}}{{{n}}}, \\frac{{2}}{{{n}}}, \\ldots, "
            f"\\frac{{{n - 1}}}{{{n}}}$ are in lowest terms?",
            f"A wheel has {n} teeth numbered in order around it. {who} marks a tooth, moves $k$ "
            "teeth "
            "on, marks again, and so on, until a tooth would be marked a second time. For how many "
            f"numbers $k$ from $1$ to {n} does every tooth get marked?",
            "Two whole numbers are called relatively prime if $1$ is the only positive integer "
            "that "
            f"divides both. How many positive integers smaller than ${n}$ are relatively prime to "
            f"${n}$?",
        )
        return Problem(rng.choice(texts), str(_phi(n)), {"ask": "count", "n": n})
    if level == 2:
        ask = rng.choice(("interval", "sum", "reducible"))
        if ask == "interval":
            m = redrawn(lambda: rng.randint(6, 210), lambda m: _phi(m) < m - 1)
            low = rng.randint(20, 300)
            top = low + rng.randint(50, 600)
            answer = sum(gcd(k, m) == 1 for k in range(low, top + 1))
            texts = phrasings(
                f"How many integers from ${low}$ to ${top}$, inclusive, are relatively prime to "
                f"${m}$?",
                f"Count the integers $k$ with ${low} \\le k \\le {top}$ that share no prime factor "
                f"with ${m}$.",
                f"{who} goes through the house numbers from {low} to {top} and notes those whose "
                "greatest "
                f"common divisor with {m} is $1$. How many are noted?",
            )
            values = {"ask": ask, "m": m, "low": low, "top": top}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "sum":
            texts = phrasings(
                f"What is the sum of all positive integers less than ${n}$ that are relatively "
                "prime "
                f"to ${n}$?",
                f"The reduced fractions between $0$ and $1$ with denominator ${n}$ are added, "
                "where "
                "only fractions that cannot be simplified further are taken. Find the sum.",
                f"Find the sum of all integers $k$ with $0 < k < {n}$ and $\\gcd(k, {n}) = 1$.",
            )
            pick = rng.randrange(3)
            answer = n * _phi(n) // 2 if pick != 1 else _phi(n) // 2
            values = {"ask": "fractions" if pick == 1 else "sum", "n": n}
            return Problem(texts[pick], str(answer), values)
        d = rng.choice((6, 10, 12, 14, 15, 18, 20, 21, 22, 24, 26, 28, 30, 33, 35))
        top = rng.randint(60, 400)
        answer = sum(gcd(k, k + d) > 1 for k in range(1, top + 1))
        texts = phrasings(
            f"For how many positive integers $n \\le {top}$ can the fraction "
            f"$\\frac{{n}}{{n + {d}}}$ be reduced?",
            f"For each of $k = 1, 2, 3, \\ldots, {top}$ the fraction $\\frac{{k}}{{k + {d}}}$ is "
            "written "
            "down. How many of these fractions are not in lowest terms?",
            f"{who} is {d} years younger than a cousin. Count the whole numbers $n$ from $1$ to "
            f"${top}$ for which $n$ and $n + {d}$, taken as the two ages, would have a common "
            "divisor "
            "greater than $1$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "d": d, "top": top})
    ask = rng.choice(("farey", "both", "linear"))
    if ask == "farey":
        top = rng.randint(8, 40)
        low = rng.choice((2, 3, 4, 5))
        answer = sum(gcd(a, b) == 1 and low * a < b for b in range(1, top + 1) for a in range(1, b))
        texts = phrasings(
            "How many different rational numbers strictly between $0$ and "
            f"$\\frac{{1}}{{{low}}}$ can "
            f"be written as $\\frac{{a}}{{b}}$ with positive integers $a$ and $b \\le {top}$?",
            f"All fractions in lowest terms with denominators not greater than ${top}$ are "
            "marked on a "
            f"number line. How many marks lie strictly between $0$ and $\\frac{{1}}{{{low}}}$?",
            f"Find the number of reduced fractions $\\frac{{a}}{{b}}$ with $0 < \\frac{{a}}{{b}} < "
            f"\\frac{{1}}{{{low}}}$ and $b \\le {top}$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "low": low})
    if ask == "both":
        a, b = redrawn(
            lambda: (
                rng.choice((6, 10, 12, 14, 15, 21, 22, 26)),
                rng.choice((5, 7, 9, 10, 11, 14, 15, 33)),
            ),
            lambda p: p[0] % p[1] > 0 and gcd(*p) < min(p),
        )
        top = rng.randint(150, 1200)
        answer = sum(gcd(k, a) == 1 and gcd(k, b) > 1 for k in range(1, top + 1))
        if answer < 2:
            return _coprime(rng, level)
        texts = phrasings(
            f"How many positive integers $n \\le {top}$ are relatively prime to ${a}$ but not "
            f"relatively prime to ${b}$?",
            f"In the set $\\{{1, 2, 3, \\ldots, {top}\\}}$, find the number of elements that "
            "have no "
            f"prime factor in common with ${a}$ and at least one in common with ${b}$.",
            f"{who} writes down the integers from 1 to {top}, crosses out those that share a "
            "divisor "
            f"greater than 1 with {a}, and then circles, among the rest, those that share a "
            "divisor "
            f"greater than 1 with {b}. How many integers are circled?",
        )
        values = {"ask": ask, "a": a, "b": b, "top": top}
        return Problem(rng.choice(texts), str(answer), values)
    p, q = redrawn(lambda: (rng.randint(2, 9), rng.randint(1, 9)), lambda t: gcd(*t) == 1)
    r, s = redrawn(
        lambda: (rng.randint(2, 9), rng.randint(1, 9)),
        lambda t: gcd(*t) == 1 and abs(p * t[1] - q * t[0]) > 6,
    )
    top = rng.randint(100, 900)
    answer = sum(gcd(p * k + q, r * k + s) > 1 for k in range(1, top + 1))
    if answer < 2:
        return _coprime(rng, level)
    texts = phrasings(
        f"For how many positive integers $n \\le {top}$ is the fraction "
        f"$\\frac{{{p}n + {q}}}{{{r}n + {s}}}$ not in lowest terms?",
        f"Determine the number of integers $n$ from $1$ to ${top}$ such that ${p}n + {q}$ and "
        f"${r}n + {s}$ have a common divisor greater than $1$.",
        f"Let $f(n) = \\gcd({p}n + {q}, {r}n + {s})$. How many of the values $f(1), f(2), \\ldots, "
        f"f({top})$ are different from $1$?",
    )
    values = {"ask": ask, "p": p, "q": q, "r": r, "s": s, "top": top}
    return Problem(rng.choice(texts), str(answer), values)


FAMILIES = (
    math_family("numbers_coprime", _coprime, "coprime numbers and fractions in lowest terms"),
)
