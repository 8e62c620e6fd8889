"""Powers: their last digits, their remainders, and when they come back to 1.

Leaves out: linear congruences (``congruences``) and factorials (``factorials``).
"""

from __future__ import annotations

from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import power
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wording import ordinal


def _base(rng: Random, top: int) -> int:
    """Draw a base whose last digit changes from power to power."""
    return redrawn(lambda: rng.randint(2, top), lambda b: b % 10 in (2, 3, 4, 7, 8, 9))


def _last_digits(rng: Random, level: int) -> Problem:
    a, b = _base(rng, 60), _base(rng, 60)
    n, m = rng.randint(11, 99 * level), rng.randint(11, 99 * level)
    if level == 1:
        ask = rng.choice(("one", "sum", "product"))
        if ask == "one":
            who = rng.choice(PEOPLE)
            return Problem(
                rng.choice(
                    phrasings(
                        f"What is the units digit of the number ${power(str(a), n)}$?",
                        f"{who} writes the number {a} down {n} times and multiplies all of these "
                        f"numbers together. With which digit does the product end?",
                        f"The number ${power(str(a), n)}$ is far too long for a calculator. Find "
                        "its "
                        "last digit all the same.",
                        f"When ${power(str(a), n)}$ is written out in full, which digit stands "
                        "at the "
                        "very end?",
                        f"A sequence starts with {a}, and each further term is {a} times the term "
                        f"before it. Determine the ones digit of term number {n}.",
                        f"Compute the remainder when ${power(str(a), n)}$ is divided by $10$.",
                    )
                ),
                str(pow(a, n, 10)),
                {"ask": ask, "a": a, "n": n},
            )
        x, y = power(str(a), n), power(str(b), m)
        if ask == "sum":
            return Problem(
                rng.choice(
                    phrasings(
                        f"Find the units digit of the number ${x} + {y}$.",
                        f"What digit does the sum ${x} + {y}$ end in?",
                        f"Let $S = {x} + {y}$. What is the last digit of $S$?",
                        f"Two huge numbers, ${x}$ and ${y}$, are added. Give the ones digit of the "
                        "result.",
                    )
                ),
                str((pow(a, n, 10) + pow(b, m, 10)) % 10),
                {"ask": ask, "a": a, "n": n, "b": b, "m": m},
            )
        return Problem(
            rng.choice(
                (
                    f"Find the units digit of the product ${x} \\cdot {y}$.",
                    f"In which digit does ${x} \\times {y}$ end when it is multiplied out?",
                    f"What is the ones digit of $P$ if $P = {x} \\cdot {y}$?",
                )
            ),
            str(pow(a, n, 10) * pow(b, m, 10) % 10),
            {"ask": ask, "a": a, "n": n, "b": b, "m": m},
        )
    if level == 2:
        a, n = redrawn(lambda: (_base(rng, 99), rng.randint(8, 400)), lambda p: pow(*p, 100) >= 10)
        x = power(str(a), n)
        if rng.random() < 0.5:
            return Problem(
                rng.choice(
                    phrasings(
                        f"The number ${x}$ is written on the board and all digits but the last "
                        "two are wiped off. Which two-digit number remains?",
                        f"Let $r$ be the integer with $10 \\le r < 100$ such that ${x} - r$ ends "
                        "in two zeros. Find $r$.",
                        f"What are the last two digits of ${x}$? Answer with the two-digit "
                        "number that "
                        "they form.",
                        f"Find the two-digit number formed by the final two digits of ${x}$.",
                        f"Determine the remainder when ${x}$ is divided by $100$.",
                        f"A printer prints ${x}$ in full. Which two-digit number do the tens "
                        "digit and "
                        "the units digit, read in this order, form at the end of the print?",
                    )
                ),
                str(pow(a, n, 100)),
                {"ask": "two", "a": a, "n": n},
            )
        k = rng.randint(20, 300)
        return Problem(
            rng.choice(
                phrasings(
                    f"What is the last digit of $1^{{{n}}} + 2^{{{n}}} + 3^{{{n}}} + \\cdots + "
                    f"{k}^{{{n}}}$?",
                    f"Each of the integers from $1$ to ${k}$ is raised to the power ${n}$, and the "
                    "results are added. Find the units digit of the sum.",
                    f"Let $T$ be the sum of the {ordinal(n)} powers of the first ${k}$ positive "
                    "integers. "
                    "In which digit does $T$ end?",
                )
            ),
            str(sum(pow(i, n, 10) for i in range(1, k + 1)) % 10),
            {"ask": "sum of powers", "k": k, "n": n},
        )
    b, c = rng.randint(2, 19), rng.randint(3, 30)
    if rng.random() < 0.5:
        a = redrawn(lambda: _base(rng, 99), lambda a: pow(a, b**c, 100) >= 10)
        tower = f"{a}^{{{b}^{{{c}}}}}"
        return Problem(
            rng.choice(
                phrasings(
                    f"Find the last two digits of ${tower}$, where ${a}^{{b^c}}$ means "
                    f"${a}^{{(b^c)}}$. Give them as a two-digit number.",
                    f"Let $E = {b}^{{{c}}}$. What is the remainder when ${a}^E$ is divided by "
                    "$100$?",
                    f"The exponent of ${tower}$ is itself a power: first ${b}$ is raised to the "
                    "power "
                    f"${c}$, and then ${a}$ is raised to the result. What two-digit number do "
                    "the last "
                    "two digits form?",
                    f"Suppose $N = {tower}$ (towers are evaluated from the top down). Compute $N$ "
                    "modulo $100$, as an integer between $0$ and $99$.",
                )
            ),
            str(pow(a, b**c, 100)),
            {"ask": "tower", "a": a, "b": b, "c": c},
        )
    tens = (pow(a, n, 100) + pow(b, m, 100)) % 100 // 10
    x, y = power(str(a), n), power(str(b), m)
    return Problem(
        rng.choice(
            (
                (
                    f"The sum of ${x}$ and ${y}$ is divided by $100$. Which digit is the tens "
                    "digit "
                    "of the remainder, written with two digits?"
                ),
                (
                    f"Two numbers, ${x}$ and ${y}$, are added by a clerk who only writes the last "
                    "two digits of the result. What is the first of these two digits?"
                ),
                f"What is the tens digit of the sum ${x} + {y}$?",
                f"Let $M = {x} + {y}$. Find the second digit of $M$ counted from the right.",
                f"After ${x}$ and ${y}$ have been added, which digit stands in the tens place?",
            )
        ),
        str(tens),
        {"ask": "tens", "a": a, "n": n, "b": b, "m": m},
    )


def _remainders(rng: Random, level: int) -> Problem:
    m = rng.choice((7, 9, 11, 13, 17, 19, 21, 23, 29, 31, 37))
    a = redrawn(lambda: rng.randint(2, 50), lambda a: gcd(a, m) == 1 and a % m not in (1, m - 1))
    n = rng.randint(15, 300)
    x = power(str(a), n)
    if level == 1:
        return Problem(
            rng.choice(
                phrasings(
                    f"Suppose $N = {x}$. By which smallest nonnegative amount must $N$ be "
                    f"reduced to become a multiple of ${m}$?",
                    f"Starting with $1$, a counter is multiplied by ${a}$ exactly {n} times, and "
                    f"each time only the remainder modulo ${m}$ is kept. Which number does it "
                    "show in the end?",
                    f"A secret key is computed as ${x} \\bmod {m}$. What is the key, as an "
                    f"integer between $0$ and ${m - 1}$?",
                    f"What is the remainder when ${x}$ is divided by ${m}$?",
                    f"Find the integer $r$ with $0 \\le r < {m}$ and ${x} \\equiv r "
                    f"\\pmod{{{m}}}$.",
                    f"{rng.choice(PEOPLE)} packs ${x}$ marbles into bags of {m} marbles each, "
                    "filling "
                    "as many bags as possible. How many marbles are left over?",
                    f"Reduce ${x}$ modulo ${m}$ to a number from $0$ to ${m - 1}$.",
                    f"Dividing ${x}$ by ${m}$ leaves a remainder. Which one?",
                )
            ),
            str(pow(a, n, m)),
            {"ask": "one", "a": a, "n": n, "m": m},
        )
    if level == 2:
        b, k = rng.randint(2, 50), rng.randint(15, 300)
        y = power(str(b), k)
        plus = rng.random() < 0.5
        value = (pow(a, n, m) + pow(b, k, m) if plus else pow(a, n, m) * pow(b, k, m)) % m
        expression = f"{x} + {y}" if plus else f"{x} \\cdot {y}"
        return Problem(
            rng.choice(
                phrasings(
                    f"Today is day $0$ of a cycle of {m} days. Which number in the cycle, from "
                    f"$0$ to ${m - 1}$, has the day that comes ${expression}$ days later?",
                    f"On a circle, {m} points are numbered from $0$ to ${m - 1}$ clockwise. A "
                    f"token on $0$ is moved ${expression}$ points clockwise. Where does it end?",
                    f"Determine $({expression}) \\bmod {m}$.",
                    f"Find the remainder when ${expression}$ is divided by ${m}$.",
                    f"Let $N = {expression}$. What is the smallest nonnegative integer that is "
                    f"congruent to $N$ modulo ${m}$?",
                    "What is the smallest nonnegative integer that must be subtracted from "
                    f"${expression}$ "
                    f"to leave a multiple of ${m}$?",
                    f"If $0 \\le r < {m}$ and ${expression} \\equiv r \\pmod{{{m}}}$, what is $r$?",
                )
            ),
            str(value),
            {"ask": "sum" if plus else "product", "a": a, "n": n, "b": b, "k": k, "m": m},
        )
    cycle = [pow(a, i, m) for i in range(1, m + 1)]
    period = cycle.index(1) + 1
    r = rng.choice(cycle[:period])
    first = cycle.index(r) + 1
    top = rng.randint(100, 1000)
    return Problem(
        rng.choice(
            phrasings(
                f"A program prints ${a}^n \\bmod {m}$ for $n = 1, 2, \\ldots, {top}$. How many "
                f"times is ${r}$ printed?",
                f"Let $n$ be chosen from $1$ to ${top}$. For how many choices is ${a}^n - {r}$ "
                f"divisible by ${m}$?",
                f"How many positive integers $n \\le {top}$ are there for which ${a}^n$ leaves "
                f"remainder ${r}$ when divided by ${m}$?",
                f"The powers ${a}^1, {a}^2, {a}^3, \\ldots, {a}^{{{top}}}$ are divided by ${m}$. "
                "How "
                f"often does the remainder ${r}$ occur?",
                f"Consider the congruence ${a}^x \\equiv {r} \\pmod{{{m}}}$. Find the number of "
                "its "
                f"solutions among the integers $1, 2, \\ldots, {top}$.",
                f"In the list ${a}, {a}^2, \\ldots, {a}^{{{top}}}$, count the numbers that "
                "exceed some "
                f"multiple of ${m}$ by exactly ${r}$.",
            )
        ),
        str((top - first) // period + 1),
        {"ask": "count", "a": a, "r": r, "m": m, "top": top},
    )


def _orders(rng: Random, level: int) -> Problem:
    def pair(low: int, high: int) -> tuple[int, int, int]:
        def draw() -> tuple[int, int, int]:
            m, a = rng.randint(low, high), rng.randint(2, 20)
            return a, m, next((i for i in range(1, m) if pow(a, i, m) == 1), 0)

        return redrawn(draw, lambda drawn: drawn[2] > 3)

    if level == 1:
        a, m, order = pair(7, 45)
        return Problem(
            rng.choice(
                phrasings(
                    f"What is the order of ${a}$ modulo ${m}$, that is, the smallest positive "
                    f"integer $k$ such that ${m}$ divides ${a}^k - 1$?",
                    f"A lamp ring has {m} lamps numbered $0$ to ${m - 1}$. A light jumps from "
                    f"lamp $x$ to the lamp whose number is the remainder of ${a}x$ modulo ${m}$. "
                    "Starting at lamp $1$, after how many jumps is it back at lamp $1$ for the "
                    "first time?",
                    f"Let $t$ be the smallest positive exponent such that ${a}^t$ is $1$ more "
                    f"than a multiple of ${m}$. Determine $t$.",
                    f"In a cipher, a message is a number from $0$ to ${m - 1}$, and it is "
                    f"replaced by the remainder of {a} times itself modulo {m}. What is the "
                    "least number of times, at least one, that this must be done to turn every "
                    "message back into itself?",
                    f"What is the least positive integer $n$ for which ${a}^n - 1$ is a multiple "
                    "of "
                    f"${m}$?",
                    f"Find the smallest exponent $n \\ge 1$ with ${a}^n \\equiv 1 \\pmod{{{m}}}$.",
                    f"{rng.choice(PEOPLE)} starts with $1$ and keeps multiplying by ${a}$, "
                    "writing down "
                    f"only the remainder modulo ${m}$ each time. After how many multiplications "
                    "does "
                    "the number $1$ appear again for the first time?",
                    f"The remainders of ${a}, {a}^2, {a}^3, \\ldots$ on division by ${m}$ repeat "
                    "periodically. How long is the shortest period?",
                    f"For which smallest positive integer $k$ does ${a}^k$ leave remainder $1$ "
                    "when it "
                    f"is divided by ${m}$?",
                )
            ),
            str(order),
            {"ask": "order", "a": a, "m": m},
        )
    if level == 2:
        a, m, order = pair(11, 60)
        top = rng.randint(150, 999)
        if rng.random() < 0.4:
            return Problem(
                rng.choice(
                    phrasings(
                        f"Find the largest integer $n < {top}$ for which ${m}$ divides ${a}^n - "
                        "1$.",
                        f"Among the exponents $n$ below ${top}$ with ${a}^n \\equiv 1 "
                        f"\\pmod{{{m}}}$, "
                        "which is the greatest?",
                    )
                ),
                str((top - 1) // order * order),
                {"ask": "largest", "a": a, "m": m, "top": top},
            )
        return Problem(
            rng.choice(
                phrasings(
                    f"Consider the congruence ${a}^x \\equiv 1 \\pmod{{{m}}}$. How many positive "
                    f"integers $x < {top}$ solve it?",
                    f"Out of the exponents $n = 1, 2, \\ldots, {top - 1}$, all below ${top}$, "
                    f"how many make ${a}^n$ congruent to $1$ modulo ${m}$?",
                    f"For how many positive integers $n$ less than ${top}$ is ${a}^n - 1$ "
                    "divisible by "
                    f"${m}$?",
                    f"Count the positive integers $n$ smaller than ${top}$ such that ${a}^n$ "
                    "leaves "
                    f"remainder $1$ on division by ${m}$.",
                    f"The numbers ${a}^n - 1$ are computed for every positive integer $n < "
                    f"{top}$. How "
                    f"many of them are multiples of ${m}$?",
                )
            ),
            str((top - 1) // order),
            {"ask": "count", "a": a, "m": m, "top": top},
        )

    def both() -> tuple[int, int, int, int, int]:
        a, m, one = pair(7, 40)
        b, k, two = pair(7, 40)
        return a, m, b, k, 0 if m == k or max(one, two) % min(one, two) == 0 else lcm(one, two)

    a, m, b, k, least = redrawn(both, lambda drawn: drawn[4] > 0)
    return Problem(
        rng.choice(
            phrasings(
                f"What is the smallest positive exponent for which the power of ${a}$ leaves "
                f"remainder $1$ modulo ${m}$ and the power of ${b}$ with the same exponent "
                f"leaves remainder $1$ modulo ${k}$?",
                f"Let $S$ be the set of all $n > 0$ for which both ${a}^n - 1$ is a multiple of "
                f"${m}$ and ${b}^n - 1$ is a multiple of ${k}$. What is the minimum of $S$?",
                f"Find the least positive integer $n$ such that ${m}$ divides ${a}^n - 1$ and, "
                "at the "
                f"same time, ${k}$ divides ${b}^n - 1$.",
                f"Let $n$ be a positive integer with ${a}^n \\equiv 1 \\pmod{{{m}}}$ and "
                f"${b}^n \\equiv 1 \\pmod{{{k}}}$. What is the smallest possible value of $n$?",
                f"One machine starts at $1$ and multiplies by ${a}$ modulo ${m}$ every second; a "
                "second "
                f"machine starts at $1$ at the same moment and multiplies by ${b}$ modulo ${k}$ "
                "every "
                "second. After how many seconds do both show $1$ again for the first time?",
                f"Determine the smallest exponent $n > 0$ for which ${a}^n$ exceeds a multiple of "
                f"${m}$ by $1$ while ${b}^n$ exceeds a multiple of ${k}$ by $1$.",
            )
        ),
        str(least),
        {"ask": "both", "a": a, "m": m, "b": b, "k": k},
    )


FAMILIES = (
    math_family("numbers_last_digits", _last_digits, "last digits of powers, sums and towers"),
    math_family("numbers_power_remainders", _remainders, "remainders of powers, and how often"),
    math_family("numbers_orders", _orders, "the exponents for which a power is 1 modulo m"),
)
