"""Factorials: the zeros they end in, the primes they hold, and binomial coefficients likewise.

Leaves out: divisors of factorials (``divisors``) and sums of factorials (``congruences``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family


def _legendre(n: int, p: int) -> int:
    total = 0
    while n:
        n //= p
        total += n
    return total


def _trailing_zeros(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        n = rng.randint(24, 700)
        texts = phrasings(
            f"In how many zeros does ${n}!$ end when it is written in decimal notation?",
            f"The product $1 \\cdot 2 \\cdot 3 \\cdots {n}$ is calculated exactly. How many zeros "
            "stand at its end?",
            f"What is the largest integer $k$ such that $10^k$ divides ${n}!$?",
            f"{who} divides ${n}!$ by 10 again and again, as long as the result is an integer. How "
            "many divisions are possible?",
            f"Let $N = {n}!$. Counting from the right, find the number of zeros before the first "
            "nonzero digit of $N$.",
            f"A computer prints all the digits of the factorial of {n}. After the last digit "
            "that is "
            "not zero, how many digits are still to come?",
        )
        return Problem(rng.choice(texts), str(_legendre(n, 5)), {"ask": "zeros", "n": n})
    if level == 2:
        ask = rng.choice(("least", "quotient", "range", "power"))
        if ask == "least":
            n = 5 * rng.randint(5, 90)
            zeros = _legendre(n, 5)
            texts = phrasings(
                "What is the smallest positive integer $n$ for which $n!$ ends in at least "
                f"{zeros} "
                "zeros?",
                f"Find the least $n$ such that $n!$ is divisible by $10^{{{zeros}}}$.",
                f"{who} multiplies $1 \\cdot 2 \\cdot 3 \\cdots$ and stops as soon as the product "
                f"has {zeros} or more zeros at its end. What is the last factor?",
            )
            return Problem(rng.choice(texts), str(n), {"ask": ask, "zeros": zeros})
        if ask == "quotient":
            k = rng.randint(10, 120)
            n = k + rng.randint(20, 300)
            answer = min(_legendre(n, p) - _legendre(k, p) for p in (2, 5))
            texts = phrasings(
                f"How many zeros does the number $\\frac{{{n}!}}{{{k}!}}$ end in?",
                f"All the integers greater than ${k}$ and not greater than ${n}$ are multiplied "
                "together. With how many zeros does the product end?",
                f"Determine the greatest power of $10$ that divides $\\frac{{{n}!}}{{{k}!}}$; give "
                "its exponent.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "range":
            m = rng.choice((15, 20, 25, 30, 35, 40, 45, 50, 60, 75))
            count = rng.randint(8, 60)
            fives = sum(_legendre_one(m * i, 5) for i in range(1, count + 1))
            twos = sum(_legendre_one(m * i, 2) for i in range(1, count + 1))
            texts = phrasings(
                f"The multiples of ${m}$ from ${m}$ to ${count * m}$ are multiplied together. "
                "How many "
                "zeros are at the end of the product?",
                f"Let $P = {m} \\cdot {2 * m} \\cdot {3 * m} \\cdots {count * m}$ be the product "
                "of "
                f"the positive multiples of ${m}$ up to ${count * m}$. How many times is $P$ "
                "divisible by $10$?",
                f"Find the number of trailing zeros of the product of all positive multiples of "
                f"${m}$ that do not exceed ${m * count}$.",
            )
            values = {"ask": ask, "m": m, "last": count * m}
            return Problem(rng.choice(texts), str(min(fives, twos)), values)
        n, k = rng.randint(60, 400), rng.randint(2, 4)
        texts = phrasings(
            f"How many trailing zeros does the number $({n}!)^{k}$ have?",
            f"The factorial of {n} is raised to the power {k}. How many zeros are there at the end "
            "of the result?",
            f"Find the largest integer $e$ for which $10^e$ is a divisor of $({n}!)^{k}$.",
        )
        return Problem(
            rng.choice(texts), str(k * _legendre(n, 5)), {"ask": "power", "n": n, "k": k}
        )
    ask = rng.choice(("base", "binomial", "skipped"))
    if ask == "base":
        base, parts = rng.choice(
            (
                (6, ((3, 1),)), (12, ((2, 2), (3, 1))), (15, ((5, 1),)), (14, ((7, 1),)),
                (18, ((2, 1), (3, 2))), (9, ((3, 2),)), (8, ((2, 3),)), (16, ((2, 4),)),
                (24, ((2, 3), (3, 1))), (20, ((2, 2), (5, 1))),
            )
        )  # fmt: skip
        n = rng.randint(30, 400)
        answer = min(_legendre(n, p) // e for p, e in parts)
        texts = phrasings(
            f"The number ${n}!$ is written in base ${base}$. In how many zeros does it end?",
            f"How many consecutive zeros are at the end of the base-${base}$ representation of "
            f"${n}!$?",
            f"What is the largest integer $k$ for which ${base}^k$ divides ${n}!$?",
            f"{who} keeps dividing ${n}!$ by {base} until the quotient is no longer an integer. "
            "How "
            "many of the divisions gave an integer?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "base": base})
    if ask == "binomial":
        n, k = redrawn(
            lambda: (rng.randint(50, 400), rng.randint(12, 200)),
            lambda c: c[1] < c[0] and _binomial_zeros(*c) > 0,
        )
        answer = _binomial_zeros(n, k)
        texts = phrasings(
            f"How many zeros does the binomial coefficient $\\binom{{{n}}}{{{k}}}$ end in?",
            f"The number of ways to choose {k} people out of {n} is written out in decimal. With "
            "how "
            "many zeros does it end?",
            f"Find the largest $m$ such that $10^m$ divides $\\frac{{{n}!}}{{{k}! \\cdot "
            f"{n - k}!}}$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "binomial", "n": n, "k": k})
    top = rng.randint(30, 300)
    reached = set()
    n = 0
    while _legendre(n, 5) <= top:
        reached.add(_legendre(n, 5))
        n += 5
    answer = top - len([z for z in reached if 1 <= z <= top])
    texts = phrasings(
        f"How many of the integers $1, 2, \\ldots, {top}$ are not equal to the number of zeros "
        "at the "
        "end of $n!$ for any positive integer $n$?",
        "Some numbers never occur as the number of trailing zeros of a factorial. How many of "
        "these "
        f"numbers are among the positive integers up to and including ${top}$?",
        "For a positive integer $n$ let $z(n)$ be the number of zeros in which $n!$ ends. Find "
        "the "
        f"number of positive integers not greater than ${top}$ that are not values of $z$.",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top})


def _binomial_zeros(n: int, k: int) -> int:
    return min(_legendre(n, p) - _legendre(k, p) - _legendre(n - k, p) for p in (2, 5))


def _legendre_one(n: int, p: int) -> int:
    return _legendre(n, p) - _legendre(n - 1, p)


def _prime_powers(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    p = rng.choice((2, 3, 5, 7, 11))
    if level == 1:
        n = rng.randint(3 * p, 40 * p)
        texts = phrasings(
            f"All the integers from $1$ to ${n}$ are broken up into primes. How many times does "
            f"the prime ${p}$ occur altogether?",
            f"Let $v$ be the number of times that {p} can be canceled from ${n}!$. Compute $v$.",
            f"What is the largest integer $k$ for which ${p}^k$ divides ${n}!$?",
            f"The number ${n}!$ is written as a product of primes. How often does the factor ${p}$ "
            "occur?",
            f"Find the exponent of ${p}$ in the prime factorization of ${n}!$.",
            f"{who} writes the factorial {n}! and divides it by {p} as many times as possible "
            "without "
            "a remainder. How many times is that?",
            f"Let $M = 1 \\cdot 2 \\cdot 3 \\cdots {n}$. Determine the greatest integer $e$ such "
            "that "
            f"$M$ is a multiple of ${p}^e$.",
        )
        return Problem(
            rng.choice(texts), str(_legendre(n, p)), {"ask": "factorial", "n": n, "p": p}
        )
    if level == 2:
        ask = rng.choice(("evens", "odds", "squares"))
        n = rng.randint(20, 150)
        if ask == "odds":
            p = rng.choice((3, 5, 7))
            answer = _legendre(2 * n, p) - _legendre(n, p)
            name = f"odd integers from $1$ to ${2 * n - 1}$"
        elif ask == "evens":
            answer = _legendre(n, p) + (n if p == 2 else 0)
            name = f"even integers from $2$ to ${2 * n}$"
        else:
            answer = 2 * _legendre(n, p)
            name = f"perfect squares from $1$ to ${n * n}$"
        texts = phrasings(
            f"The product of all the {name} is divided by ${p}$ as long as this leaves an "
            "integer. After how many divisions does the process stop?",
            f"How many factors ${p}$ does the product of all the {name} contain when it is "
            "completely broken up into primes?",
            f"Determine the largest $k$ such that the product of all the {name} is a multiple of "
            f"${p}^k$.",
            f"Find the exponent of ${p}$ in the prime factorization of the product of all the "
            f"{name}.",
            f"Let $Q$ be the product of all the {name}. What is the greatest integer $k$ such that "
            f"${p}^k$ divides $Q$?",
            f"{who} multiplies all the {name} together. How many times can the result be divided "
            "by "
            f"${p}$ before a number is reached that is not a multiple of ${p}$?",
            f"All the {name} are written in a row and multiplied. The product equals ${p}^e "
            "\\cdot m$ "
            f"with $m$ not divisible by ${p}$. What is $e$?",
        )
        last = {"evens": 2 * n, "odds": 2 * n - 1, "squares": n * n}[ask]
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "last": last, "p": p})
    ask = rng.choice(("composite", "least", "binomial"))
    if ask == "composite":
        base, parts = rng.choice(
            (
                (12, ((2, 2), (3, 1))), (18, ((2, 1), (3, 2))), (24, ((2, 3), (3, 1))),
                (45, ((3, 2), (5, 1))), (48, ((2, 4), (3, 1))), (72, ((2, 3), (3, 2))),
                (98, ((2, 1), (7, 2))), (75, ((3, 1), (5, 2))), (54, ((2, 1), (3, 3))),
            )
        )  # fmt: skip
        n = rng.randint(30, 300)
        answer = min(_legendre(n, q) // e for q, e in parts)
        texts = phrasings(
            f"What is the greatest integer $k$ such that ${base}^k$ is a divisor of ${n}!$?",
            f"{who} divides ${n}!$ by ${base}$ repeatedly. How many times in a row is the "
            "quotient an "
            "integer?",
            f"Suppose ${n}! = {base}^k \\cdot m$ with positive integers $k$ and $m$. What is the "
            "largest value that $k$ can have?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "base": base})
    if ask == "least":
        p = rng.choice((2, 3, 5, 7))
        k = rng.randint(5, 60)
        n = next(m for m in range(1, 1000) if _legendre(m, p) >= k)
        texts = phrasings(
            f"Find the smallest positive integer $n$ for which $n!$ is divisible by ${p}^{{{k}}}$.",
            f"What is the least $n$ such that ${p}^{{{k}}}$ divides the product of the first $n$ "
            "positive integers?",
            f"The fraction $\\frac{{n!}}{{{p}^{{{k}}}}}$ is to be an integer. How small can the "
            "positive integer $n$ be?",
        )
        text = rng.choice(texts)
        if k < 10:
            text = text.replace(f"^{{{k}}}", f"^{k}")
        return Problem(text, str(n), {"ask": ask, "p": p, "k": k})
    p = rng.choice((2, 3, 5))
    n, k = redrawn(
        lambda: (rng.randint(30, 300), rng.randint(8, 150)),
        lambda c: c[1] < c[0] and _binomial(c[0], c[1], p) > 1,
    )
    texts = phrasings(
        f"What is the exponent of ${p}$ in the prime factorization of $\\binom{{{n}}}{{{k}}}$?",
        f"Find the greatest integer $e$ for which ${p}^e$ divides the binomial coefficient "
        f"$\\binom{{{n}}}{{{k}}}$.",
        f"A club of {n} members elects a board of {k}. The number of possible boards is divided by "
        f"{p} as often as possible without a remainder. How often is that?",
    )
    return Problem(rng.choice(texts), str(_binomial(n, k, p)), {"ask": ask, "p": p, "n": n, "k": k})


def _binomial(n: int, k: int, p: int) -> int:
    return _legendre(n, p) - _legendre(k, p) - _legendre(n - k, p)


FAMILIES = (
    math_family("numbers_trailing_zeros", _trailing_zeros, "zeros at the end of factorials"),
    math_family("numbers_prime_powers", _prime_powers, "powers of a prime in products"),
)
