"""Divisors: how many there are, what they add up to, and numbers found from such facts.

Leaves out: common divisors of several numbers (``common_divisors``).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import fraction, power
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom

PRIMES = (2, 3, 5, 7, 11, 13)


def _factored(rng: Random, primes: int, top: int, limit: int) -> dict[int, int]:
    """Draw prime -> exponent with a product below ``limit``."""

    def draw() -> dict[int, int]:
        chosen = sorted(rng.sample(PRIMES[: primes + 2], primes))
        return {p: rng.randint(1, top) for p in chosen}

    return redrawn(draw, lambda f: _value(f) < limit and max(f.values()) > 1)


def _value(factors: dict[int, int]) -> int:
    return prod(p**e for p, e in factors.items())


def _written(factors: dict[int, int]) -> str:
    return " \\cdot ".join(power(str(p), e) for p, e in factors.items())


def _count(exponents: list[int]) -> int:
    return prod(e + 1 for e in exponents)


def _divisor_counts(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        factors = _factored(rng, rng.choice((2, 3, 3)), 5, 4000)
        n, answer = _value(factors), _count(list(factors.values()))
        texts = phrasings(
            f"How many positive divisors does ${n}$ have, counting $1$ and ${n}$ itself?",
            f"In how many ways can {who} lay out {n} square tiles as a full rectangle, if a "
            "rectangle with $a$ rows and $b$ columns counts as different from one with $b$ rows "
            "and $a$ columns?",
            f"Determine the number of positive integers that divide ${n}$ without remainder.",
            f"How many ordered pairs $(x, y)$ of positive integers satisfy $xy = {n}$?",
            f"The {n} players at a festival are to be split into teams of equal size. Teams of one "
            f"and a single team of all {n} are allowed. How many different team sizes are "
            "possible?",
            f"Find the number of positive factors of $n = {n} = {_written(factors)}$.",
            f"For how many positive integers $k$ is ${n}/k$ an integer?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "all", "n": n})
    if level == 2:
        factors = _factored(rng, rng.choice((2, 3, 4)), 6, 10**7)
        n, shown = _value(factors), _written(factors)
        p = rng.choice([q for q, e in factors.items() if e > 1])
        ask = rng.choice(("multiples", "square", "odd part"))
        if ask == "multiples":
            k = rng.randint(1, factors[p] - 1)
            answer = _count([e - k if q == p else e for q, e in factors.items()])
            texts = phrasings(
                f"How many of the positive divisors of $n = {shown}$ are multiples of ${p**k}$?",
                f"Let $n = {shown}$. Find the number of positive integers $d$ such that $d$ "
                "divides "
                f"$n$ and ${p**k}$ divides $d$.",
                f"{who} lists all positive divisors of ${shown}$ and keeps only those that are "
                f"divisible by ${p**k}$. How long is the remaining list?",
            )
            values = {"ask": ask, "factors": list(map(list, factors.items())), "k": p**k}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "square":
            answer = prod(e // 2 + 1 for e in factors.values())
            texts = phrasings(
                f"How many positive divisors of ${shown}$ are perfect squares?",
                f"Let $N = {shown}$. Count the perfect squares (including $1$) that divide $N$.",
                f"For how many positive integers $k$ is $\\frac{{{shown}}}{{k^2}}$ an integer?",
                f"The square $k^2$ of a positive integer $k$ is a divisor of ${shown}$. How many "
                "values "
                "of $k$ are possible?",
            )
        else:
            answer = _count([e for q, e in factors.items() if q != p])
            texts = phrasings(
                f"Find the number of positive divisors of ${shown}$ that are not divisible by "
                f"${p}$.",
                f"Of all the positive factors of $M = {shown}$, how many are not multiples of "
                f"${p}$?",
                f"{who} writes down the positive divisors of ${shown}$ and crosses out every "
                f"multiple of ${p}$. How many numbers are not crossed out?",
            )
            values = {"ask": ask, "factors": list(map(list, factors.items())), "k": p}
            return Problem(rng.choice(texts), str(answer), values)
        values = {"ask": ask, "factors": list(map(list, factors.items()))}
        return Problem(rng.choice(texts), str(answer), values)
    top = rng.randint(5, 14)
    primes = [q for q in PRIMES if q <= top]
    whole = {q: sum(top // q**i for i in range(1, 5)) for q in primes}
    ask = rng.choice(("factorial odd", "factorial square", "one not other", "square below"))
    if ask == "factorial odd":
        q = rng.choice(primes[:3])
        answer = _count([e for p, e in whole.items() if p != q])
        name = "odd" if q == 2 else f"not divisible by ${q}$"
        texts = phrasings(
            f"How many positive divisors of ${top}!$ are {name}?",
            f"Let $D$ be the set of all positive divisors of ${top}! = 1 \\cdot 2 \\cdots {top}$. "
            f"How many elements of $D$ are {name}?",
            f"{who} chooses a positive divisor of ${top}!$ that is {name}. How many choices are "
            "there?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "q": q})
    if ask == "factorial square":
        k = rng.choice((2, 3))
        name = ("perfect squares", "perfect cubes")[k - 2]
        answer = prod(e // k + 1 for e in whole.values())
        top2 = top
        texts = phrasings(
            f"How many {name} divide ${top2}!$? Only positive integers count, and $1$ is one of "
            "them.",
            f"Find the number of positive integers $m$ for which $m^{k}$ is a divisor of "
            f"${top2}!$.",
            f"Among the positive divisors of the factorial ${top2}!$, how many are {name}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "power": k})
    if ask == "one not other":
        low = rng.randint(4, 8)
        high = low + rng.randint(1, 4)
        up = {q: sum(high // q**i for i in range(1, 5)) for q in PRIMES}
        down = {q: sum(low // q**i for i in range(1, 5)) for q in PRIMES}
        answer = _count(list(up.values())) - _count(list(down.values()))
        texts = phrasings(
            f"How many positive integers divide ${high}!$ but do not divide ${low}!$?",
            f"Find the number of positive divisors of ${high}!$ that are not divisors of ${low}!$.",
            f"{who} writes all positive divisors of ${high}!$ on cards and then throws away the "
            f"cards with divisors of ${low}!$. How many cards are left?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": low, "high": high})
    factors = _factored(rng, 2, 6, 10**7)
    n, shown = _value(factors), _written(factors)
    answer = (
        (_count([2 * e for e in factors.values()]) - 1) // 2 + 1 - _count(list(factors.values()))
    )
    texts = phrasings(
        f"Let $n = {shown}$. How many positive divisors of $n^2$ are less than $n$ but do not "
        "divide "
        "$n$?",
        f"For $n = {shown}$, count the positive integers $d < n$ that divide $n^2$ without "
        "dividing "
        "$n$ itself.",
        f"{who} is looking for numbers below $n = {shown}$ which are divisors of $n^2$ and yet "
        "are no "
        "divisors of $n$. How many such positive integers are there?",
    )
    values = {"ask": ask, "factors": list(map(list, factors.items()))}
    return Problem(rng.choice(texts), str(answer), values)


def _divisor_sums(rng: Random, level: int) -> Problem:
    def sigma(factors: dict[int, int]) -> int:
        return prod((p ** (e + 1) - 1) // (p - 1) for p, e in factors.items())

    if level == 1:
        factors = _factored(rng, 2, 4, 1200)
        n, total = _value(factors), sigma(factors)
        ask = rng.choice(("sum", "proper"))
        texts = (
            phrasings(
                f"What is the sum of all positive divisors of ${n}$, including $1$ and ${n}$?",
                f"Find the sum of the positive integers that divide ${n}$.",
                f"Every positive divisor $d$ of ${n}$ is written on a card. What do the numbers on "
                "all the cards add up to?",
                f"Let $\\sigma(n)$ be the sum of the positive divisors of $n$. Calculate "
                f"$\\sigma({n})$.",
            )
            if ask == "sum"
            else phrasings(
                f"A proper divisor of an integer is a positive divisor smaller than the integer "
                f"itself. Find the sum of the proper divisors of ${n}$.",
                f"The positive divisors of ${n}$ other than ${n}$ are added. What is the result?",
                f"How much do all the positive factors of ${n}$ that are less than ${n}$ add up "
                "to?",
            )
        )
        return Problem(rng.choice(texts), str(total - n * (ask == "proper")), {"ask": ask, "n": n})
    factors = _factored(rng, 3 if level == 2 else 2, 4, 20000)
    n = _value(factors)
    if level == 2:
        ask = rng.choice(("even", "odd", "reciprocals"))
        factors = {2: rng.randint(1, 4)} | {p: e for p, e in factors.items() if p != 2}
        n = _value(factors)
        odd = sigma({p: e for p, e in factors.items() if p != 2})
        if ask == "reciprocals":
            texts = phrasings(
                f"Find the sum of the reciprocals of all positive divisors of ${n}$. Give a "
                "fraction "
                "in lowest terms, or an integer.",
                f"Let $d_1, d_2, \\ldots, d_k$ be the positive divisors of ${n}$. Compute "
                f"$\\frac{{1}}{{d_1}} + \\frac{{1}}{{d_2}} + \\cdots + \\frac{{1}}{{d_k}}$ as a "
                "reduced fraction.",
                f"For each positive divisor $d$ of ${n}$ the unit fraction $\\frac{{1}}{{d}}$ is "
                "written down. What is the sum of these fractions, in simplest form?",
            )
            return Problem(
                rng.choice(texts), fraction(Fraction(sigma(factors), n)), {"ask": ask, "n": n}
            )
        answer = odd if ask == "odd" else sigma(factors) - odd
        texts = phrasings(
            f"What is the sum of the {ask} positive divisors of ${n}$?",
            f"{rng.choice(PEOPLE)} adds up all positive divisors of ${n}$ that are {ask}. What is "
            "the total?",
            f"Consider the positive integers that divide ${n}$ evenly. Find the sum of those among "
            f"them that are {ask} numbers.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    ask = rng.choice(("product", "primes", "square divisors"))
    if ask == "product":
        count = prod(e + 1 for e in factors.values())
        p = rng.choice(list(factors))
        texts = phrasings(
            f"The product of all positive divisors of ${n}$ is written as a product of primes. "
            "What "
            f"is the exponent of ${p}$ in it?",
            f"Let $P$ be the product of the positive divisors of ${n}$. Find the largest integer "
            "$k$ "
            f"such that ${p}^k$ divides $P$.",
            f"All the positive divisors of ${n}$ are multiplied together. How many times can the "
            f"result be divided by ${p}$ before a number not divisible by ${p}$ is reached?",
        )
        return Problem(
            rng.choice(texts), str(factors[p] * count // 2), {"ask": ask, "n": n, "p": p}
        )
    if ask == "primes":
        total = sigma(factors)
        primes = [
            q
            for q in range(2, total + 1)
            if total % q == 0 and all(q % d for d in range(2, isqrt(q) + 1))
        ]
        texts = phrasings(
            f"If $A$ is the sum of all positive divisors of ${n}$, what is the sum of the distinct "
            "prime divisors of $A$?",
            f"The positive divisors of ${n}$ are added up. Find the sum of the different primes "
            "that divide the total.",
            f"Let $\\sigma$ denote the sum of the positive divisors of ${n}$. Factor $\\sigma$ "
            "into "
            "primes and add the distinct primes that occur.",
        )
        return Problem(rng.choice(texts), str(sum(primes)), {"ask": ask, "n": n})
    answer = prod(sum(p ** (2 * i) for i in range(e // 2 + 1)) for p, e in factors.items())
    texts = phrasings(
        f"What is the sum of all perfect squares that divide ${n}$?",
        f"Some of the positive divisors of ${n}$ are perfect squares, $1$ among them. Find their "
        "sum.",
        "Determine the sum of the squares $k^2$ over all positive integers $k$ for which $k^2$ "
        "is a "
        f"divisor of ${n}$.",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})


def _divisor_puzzles(rng: Random, level: int) -> Problem:
    def least(count: int) -> int:
        return next(n for n in range(1, 100_000) if divisors(n) == count)

    def divisors(n: int) -> int:
        return sum(2 - (d * d == n) for d in range(1, isqrt(n) + 1) if n % d == 0)

    if level == 1:
        ask = rng.choice(("least", "three"))
        if ask == "least":
            count = rng.choice((4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24))
            texts = phrasings(
                f"What is the smallest positive integer with exactly {count} positive divisors?",
                f"Find the least positive integer that has exactly ${count}$ positive factors, "
                "counting $1$ and itself.",
                f"A number can be arranged as a rectangle of dots in exactly {count} ways, if the "
                "order of rows and columns matters. What is the smallest such number?",
            )
            return Problem(rng.choice(texts), str(least(count)), {"ask": ask, "count": count})
        low = rng.randint(2, 90)
        top = rng.choice((150, 200, 300, 400, 500, 700, 900, 1000, 1500))
        fitting = [n for n in range(low, top + 1) if divisors(n) == 3]
        texts = phrasings(
            f"What is the sum of all integers from ${low}$ to ${top}$ that have exactly three "
            "positive divisors?",
            f"Find every integer $n$ with ${low} \\le n \\le {top}$ that has exactly $3$ positive "
            "factors, and give their sum.",
            f"Each whole number between ${low}$ and ${top}$, inclusive, is checked, and those with "
            "precisely three positive divisors are added. What is the total?",
        )
        values = {"ask": ask, "low": low, "top": top, "count": 3}
        return Problem(rng.choice(texts), str(sum(fitting)), values)
    if level == 2:
        a, b = sorted(rng.sample(range(1, 7), 2))
        k = rng.randint(2, 4)
        ask = rng.choice(("power", "times"))
        if ask == "power":
            answer = (k * a + 1) * (k * b + 1)
            texts = (
                f"Let $p$ and $q$ be different primes and $n = p^{b}q^{a}$. How many positive "
                f"divisors does $n^{k}$ have?".replace("q^1$", "q$"),
                f"For two distinct prime numbers $p$ and $q$, find the number of positive divisors "
                f"of $(p^{b}q^{a})^{k}$.".replace("q^1)", "q)"),
                f"The prime factorization of $m$ is $p^{b} \\cdot q^{a}$ with primes $p \\ne q$. "
                f"Determine how many positive integers divide $m^{k}$.".replace("q^1$", "q$"),
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b, "k": k})
        r = rng.choice((5, 7, 11, 13))
        count = rng.choice((4, 6, 8, 9, 10, 12, 15, 18, 20, 24))
        texts = phrasings(
            f"A positive integer $n$ has exactly ${count}$ positive divisors and is not "
            "divisible by "
            f"${r}$. How many positive divisors does ${r ** (k - 1)}n$ have?",
            f"The number $n$ is not a multiple of the prime ${r}$ and has ${count}$ positive "
            f"factors. Find the number of positive factors of ${r ** (k - 1)} \\cdot n$.",
            f"Suppose that $\\gcd(n, {r}) = 1$ and that $n$ has ${count}$ positive divisors. In "
            "how "
            f"many ways can ${r ** (k - 1)}n$ be written as an ordered product of two positive "
            "integers?",
        )
        values = {"ask": ask, "r": r, "multiplier": r ** (k - 1), "count": count}
        return Problem(rng.choice(texts), str(count * k), values)
    ask = rng.choice(("multiple", "odd count", "square"))
    if ask == "multiple":
        m = rng.choice((6, 10, 12, 14, 15, 18, 20, 21, 22, 24, 26, 28, 30, 35, 42, 45))
        count = redrawn(
            lambda: rng.randint(6, 24),
            lambda c: any(divisors(n) == c for n in range(m, 5000, m)),
        )
        answer = next(n for n in range(m, 5000, m) if divisors(n) == count)
        texts = phrasings(
            f"What is the smallest multiple of ${m}$ that has exactly ${count}$ positive divisors?",
            f"Find the least positive integer $n$ such that ${m}$ divides $n$ and $n$ has exactly "
            f"{count} positive factors.",
            f"Among the positive multiples of ${m}$, consider those with precisely ${count}$ "
            "positive "
            "divisors. Which is the smallest?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "m": m, "count": count})
    if ask == "odd count":
        m = rng.randint(2, 12)
        top = rng.randint(2000, 20000)
        answer = sum((k * k) % m == 0 for k in range(1, isqrt(top) + 1))
        texts = phrasings(
            f"How many multiples of ${m}$ between $1$ and ${top}$, inclusive, have an odd number "
            "of "
            "positive divisors?",
            f"In a corridor with lockers $1$ to ${top}$, all closed, student $k$ changes the "
            "state of "
            f"every $k$th locker, for $k = 1, 2, \\ldots, {top}$. At the end, how many lockers "
            "whose "
            f"number is a multiple of ${m}$ are open?",
            f"Count the positive integers not exceeding ${top}$ that are divisible by ${m}$ and "
            "have "
            "an odd number of positive factors.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "m": m, "top": top})
    a, b = redrawn(lambda: (rng.randint(1, 6), rng.randint(1, 6)), lambda p: p[0] != p[1])
    one, two = (2 * a + 1) * (2 * b + 1), (3 * a + 1) * (3 * b + 1)
    texts = phrasings(
        f"A positive integer $n$ has exactly two different prime factors, and $n^2$ has ${one}$ "
        f"positive divisors, while $n^3$ has ${two}$. How many positive divisors does $n$ have?",
        "The only primes that divide $n$ are $p$ and $q$, with $p \\ne q$, and both do. If "
        "$n^2$ has "
        f"exactly ${one}$ positive factors and $n^3$ exactly ${two}$, find the number of positive "
        "factors of $n$.",
        "Let $n = p^a q^b$ with distinct primes $p, q$ and positive integers $a, b$. The "
        "squares and "
        f"cubes of $n$ have ${one}$ and ${two}$ positive divisors, respectively. Determine the "
        "number of positive divisors of $n$.",
    )
    values = {"ask": ask, "one": one, "two": two}
    return Problem(rng.choice(texts), str((a + 1) * (b + 1)), values)


FAMILIES = (
    seldom(
        math_family("numbers_divisor_counts", _divisor_counts, "how many divisors of a kind"),
        "12",
        "24",
    ),
    math_family("numbers_divisor_sums", _divisor_sums, "sums and products of divisors"),
    math_family("numbers_divisor_puzzles", _divisor_puzzles, "numbers with so many divisors"),
)
