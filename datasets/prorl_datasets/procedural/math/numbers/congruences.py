"""Remainders: several at once (Chinese remainder theorem), inverses, and remainders of long sums.

Leaves out: remainders of powers (``powers``).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wording import ordinal

HEAPS = (
    ("eggs", "baskets"), ("coins", "stacks"), ("stamps", "album pages"), ("tiles", "rows"),
    ("beads", "strings"), ("oranges", "crates"), ("books", "shelves"), ("chairs", "rows"),
)  # fmt: skip


def _system(rng: Random, moduli: int, top: int) -> tuple[list[int], list[int], int]:
    """Return coprime moduli, remainders and the least positive solution."""
    m = sorted(
        redrawn(
            lambda: rng.sample(range(3, top), moduli),
            lambda m: lcm(*m) == _product(m) and max(m) > 4,
        )
    )
    x = redrawn(
        lambda: rng.randint(max(m) + 1, _product(m) - 1),
        lambda x: all(x % k for k in m) and len({x % k for k in m}) > 1,
    )
    return m, [x % k for k in m], x


def _product(numbers: Iterable[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def _remainder_systems(rng: Random, level: int) -> Problem:
    who, (things, places) = rng.choice(PEOPLE), rng.choice(HEAPS)
    if level == 1:
        m, r, x = _system(rng, 2, 14)
        texts = phrasings(
            f"What is the smallest positive integer that leaves remainder ${r[0]}$ when divided by "
            f"${m[0]}$ and remainder ${r[1]}$ when divided by ${m[1]}$?",
            f"{who} has fewer than {m[0] * m[1]} {things}. Arranged in {places} of {m[0]} they "
            "leave "
            f"{r[0]} over; arranged in {places} of {m[1]} they leave {r[1]} over. How many "
            f"{things} "
            f"does {who} have?",
            f"Find the least positive integer $x$ with $x \\equiv {r[0]} \\pmod{{{m[0]}}}$ and "
            f"$x \\equiv {r[1]} \\pmod{{{m[1]}}}$.",
            f"A number between $1$ and ${m[0] * m[1]}$ is ${r[0]}$ more than a multiple of "
            f"${m[0]}$ "
            f"and ${r[1]}$ more than a multiple of ${m[1]}$. Which number is it?",
            f"A box of {things} is counted twice. In groups of {m[0]}, there is a remainder of "
            f"{r[0]}; in groups of {m[1]}, the remainder is {r[1]}. What is the least number of "
            f"{things} that the box can hold?",
        )
        return Problem(rng.choice(texts), str(x), {"ask": "least", "moduli": m, "remainders": r})
    if level == 2:
        m, r, x = _system(rng, 2, 16)
        step = m[0] * m[1]
        top = rng.choice((500, 600, 800, 1000, 1500, 2000))
        if rng.random() < 0.5:
            texts = phrasings(
                f"Find the largest integer below ${top}$ that leaves remainder ${r[0]}$ on "
                "division "
                f"by ${m[0]}$ and remainder ${r[1]}$ on division by ${m[1]}$.",
                f"{who} knows three things about the number of {things} in a store: it is less "
                "than "
                f"{top}, groups of {m[0]} leave {r[0]} over, and groups of {m[1]} leave {r[1]} "
                "over. "
                f"At most how many {things} are in the store?",
                f"Among the integers $n < {top}$ with $n \\equiv {r[0]} \\pmod{{{m[0]}}}$ and "
                f"$n \\equiv {r[1]} \\pmod{{{m[1]}}}$, which is the greatest?",
            )
            answer = x + (top - 1 - x) // step * step
            ask = "largest"
        else:
            texts = phrasings(
                f"How many positive integers less than ${top}$ are congruent to ${r[0]}$ modulo "
                f"${m[0]}$ and to ${r[1]}$ modulo ${m[1]}$?",
                f"Count the positive integers below ${top}$ that leave remainder ${r[0]}$ when "
                f"divided by ${m[0]}$ and remainder ${r[1]}$ when divided by ${m[1]}$.",
                f"A theatre has fewer than {top} seats and at least one. Rows of {m[0]} would "
                "leave "
                f"{r[0]} seats over, rows of {m[1]} would leave {r[1]} over. How many different "
                "numbers of seats are possible?",
            )
            answer = (top - 1 - x) // step + 1
            ask = "count"
        return Problem(
            rng.choice(texts),
            str(answer),
            {"ask": ask, "moduli": m, "remainders": r, "top": top},
        )
    if rng.random() < 0.5:
        m, r, x = _system(rng, 3, 14)
        texts = phrasings(
            f"Find the least positive integer that leaves remainders {listed(r)} when divided by "
            f"{listed(m)}, respectively.",
            f"{who} sorts {things} into {places}. With {m[0]} in each, {r[0]} remain; with {m[1]} "
            f"in each, {r[1]} remain; with {m[2]} in each, {r[2]} remain. What is the smallest "
            f"number of {things} for which all of this can be true?",
            f"Solve the system $n \\equiv {r[0]} \\pmod{{{m[0]}}}$, $n \\equiv {r[1]} "
            f"\\pmod{{{m[1]}}}$, $n \\equiv {r[2]} \\pmod{{{m[2]}}}$ for the smallest positive "
            "integer $n$.",
            f"An old army is counted on parade. Lined up in columns of {m[0]}, {r[0]} soldiers are "
            f"left; in columns of {m[1]}, {r[1]} are left; in columns of {m[2]}, {r[2]} are left. "
            f"The army has fewer than {_product(m)} soldiers. How many does it have?",
        )
        return Problem(rng.choice(texts), str(x), {"ask": "least", "moduli": m, "remainders": r})
    short = rng.randint(1, 3)
    m = sorted(redrawn(lambda: rng.sample(range(5, 19), 3), lambda m: lcm(*m) < _product(m)))
    extra = redrawn(lambda: rng.choice((7, 11, 13, 17, 19)), lambda p: lcm(*m) % p > 0)
    x = next(k for k in range(lcm(*m) - short, lcm(*m) * 20, lcm(*m)) if k % extra == 0)
    missing = f"{short} {'is' if short == 1 else 'are'} missing from the last one"
    texts = phrasings(
        f"Find the smallest positive multiple of ${extra}$ that leaves remainder ${m[0] - short}$, "
        f"${m[1] - short}$ and ${m[2] - short}$ when divided by ${m[0]}$, ${m[1]}$ and ${m[2]}$, "
        "respectively.",
        f"Whether {who} puts {m[0]}, {m[1]} or {m[2]} {things} into each packet, the last packet "
        "is "
        f"always short of exactly {short}. In packets of {extra}, however, everything comes out "
        f"even. What is the least possible number of {things}?",
        f"A positive integer $N$ is divisible by ${extra}$, and $N + {short}$ is divisible by each "
        f"of ${m[0]}$, ${m[1]}$ and ${m[2]}$. What is the smallest possible value of $N$?",
        f"{things.capitalize()} are packed in boxes of {m[0]}, then of {m[1]}, then of {m[2]}: "
        "each "
        f"time {missing}. Boxes of {extra} are all full. Find the least number of {things} for "
        "which this happens.",
    )
    return Problem(
        rng.choice(texts),
        str(x),
        {"ask": "short", "moduli": m, "short": short, "extra": extra},
    )


def _linear_congruences(rng: Random, level: int) -> Problem:
    if level == 1:
        m = rng.choice((11, 13, 17, 19, 23, 25, 26, 27, 29, 31, 35, 37, 41, 43, 47))
        a = redrawn(lambda: rng.randint(3, m - 2), lambda a: gcd(a, m) == 1)
        texts = phrasings(
            "Find the smallest positive integer $x$ for which there is an integer $y$ with "
            f"${a}x - {m}y = 1$.",
            f"On a circular track with {m} marked stations, numbered $0$ to ${m - 1}$, a train "
            f"starts at station $0$ and always passes on to the station {a} places further. At "
            "which stop, counting the first stop after the start as number $1$, is it at "
            "station $1$ for the first time?",
            f"Find the multiplicative inverse of ${a}$ modulo ${m}$, as an integer from $1$ to "
            f"${m - 1}$.",
            f"What is the smallest positive integer $x$ for which ${a}x$ leaves remainder $1$ when "
            f"divided by ${m}$?",
            f"For which integer $n$ with $0 < n < {m}$ is ${a}n - 1$ a multiple of ${m}$?",
            f"A counter shows numbers modulo ${m}$. Starting at $0$, it is moved forward by ${a}$ "
            "again and again. After how many moves does it show $1$ for the first time?",
            f"Since ${a}$ and ${m}$ have no common factor, some multiple of ${a}$ is $1$ more "
            "than a "
            f"multiple of ${m}$. What is the least positive integer $k$ for which ${a}k$ is such a "
            "multiple?",
            f"Pens cost ${a}$ crowns each and can only be paid for in notes of ${m}$ crowns. "
            f"{rng.choice(PEOPLE)} buys as few pens as possible so that exactly $1$ crown more "
            "than "
            "a whole number of notes is due. How many pens are bought?",
            f"Evaluate ${a}^{{-1}} \\pmod{{{m}}}$ and give the answer as an integer between $0$ "
            "and "
            f"${m - 1}$.",
        )
        return Problem(rng.choice(texts), str(pow(a, -1, m)), {"ask": "inverse", "a": a, "m": m})
    if level == 2:
        m = rng.randint(20, 120)
        a = redrawn(lambda: rng.randint(3, m - 1), lambda a: gcd(a, m) == 1)
        b = rng.randint(2, m - 1)
        c = rng.randint(1, min(30, m - 1))
        texts = phrasings(
            f"A clock with {m} hours, numbered $0$ to ${m - 1}$, shows {c % m}. It is put "
            f"forward by {a} hours at a time. What is the least number of times (possibly $0$) "
            f"after which it shows {(b + c) % m}?",
            f"Among all pairs of integers $(x, y)$ with $x \\ge 0$ and ${a}x + {c} = {m}y + "
            f"{(b + c) % m}$, what is the smallest $x$?",
            f"Find the smallest nonnegative integer $x$ that satisfies ${a}x + {c} \\equiv "
            f"{(b + c) % m} \\pmod{{{m}}}$.",
            f"What is the least integer $x \\ge 0$ such that ${a}x + {c}$ leaves remainder "
            f"${(b + c) % m}$ on division by ${m}$?",
            f"An arithmetic sequence starts with ${c}$ and has common difference ${a}$. How many "
            f"steps after the first term is the earliest term that leaves remainder "
            f"${(b + c) % m}$ when divided by ${m}$?",
            f"Let $f(x) = {a}x + {c}$. For which smallest nonnegative integer $x$ is "
            f"$f(x) - {(b + c) % m}$ divisible by ${m}$?",
        )
        if rng.random() < 0.3:
            top = rng.randint(3 * m, 12 * m)
            texts = phrasings(
                f"For how many positive integers $x$ not exceeding ${top}$ does ${a}x + {c}$ leave "
                f"remainder ${(b + c) % m}$ when it is divided by ${m}$?",
                f"A sequence is given by $a_n = {a}n + {c}$ for $n = 1, 2, 3, \\ldots$ How many "
                "of its "
                f"first ${top}$ terms are congruent to ${(b + c) % m}$ modulo ${m}$?",
                f"How many integers $n$ with $1 \\le n \\le {top}$ solve ${a}n + {c} \\equiv "
                f"{(b + c) % m} \\pmod{{{m}}}$?",
            )
            first = pow(a, -1, m) * b % m or m
            values = {"ask": "line", "a": a, "c": c, "r": (b + c) % m, "m": m, "top": top}
            return Problem(rng.choice(texts), str((top - first) // m + 1), values)
        x = pow(a, -1, m) * b % m
        return Problem(
            rng.choice(texts), str(x), {"ask": "solve", "a": a, "c": c, "r": (b + c) % m, "m": m}
        )
    g = rng.randint(2, 8)
    m = g * rng.randint(7, 25)
    a = redrawn(lambda: g * rng.randint(2, 12), lambda a: gcd(a, m) == g and a < m)
    b = g * rng.randint(1, m // g - 1)
    one = pow(a // g, -1, m // g) * (b // g) % (m // g)
    solutions = [one + i * (m // g) for i in range(g)]
    if rng.random() < 0.5:
        texts = phrasings(
            f"Find the sum of all integers $x$ with $0 \\le x < {m}$ that satisfy ${a}x \\equiv "
            f"{b} "
            f"\\pmod{{{m}}}$.",
            f"Some of the numbers $0, 1, 2, \\ldots, {m - 1}$ have the property that ${a}$ times "
            "the "
            f"number is ${b}$ more than a multiple of ${m}$ (or less, by a multiple of ${m}$). Add "
            "up all the numbers with this property.",
            f"The congruence ${a}x - {b} \\equiv 0 \\pmod{{{m}}}$ has more than one solution among "
            f"the residues $0, 1, \\ldots, {m - 1}$. What is the sum of these solutions?",
        )
        return Problem(
            rng.choice(texts), str(sum(solutions)), {"ask": "total", "a": a, "b": b, "m": m}
        )
    top = rng.randint(2 * m, 9 * m)
    texts = phrasings(
        f"How many positive integers $x \\le {top}$ satisfy ${a}x \\equiv {b} \\pmod{{{m}}}$?",
        f"For how many of the integers $n = 1, 2, \\ldots, {top}$ is ${a}n - {b}$ a multiple of "
        f"${m}$?",
        f"Determine the number of positive integers not exceeding ${top}$ whose product with ${a}$ "
        f"is congruent to ${b}$ modulo ${m}$.",
    )
    count = (top - (one or m // g)) // (m // g) + 1
    return Problem(
        rng.choice(texts), str(count), {"ask": "count", "a": a, "b": b, "m": m, "top": top}
    )


def _remainder_sums(rng: Random, level: int) -> Problem:
    m = rng.choice((7, 9, 11, 12, 13, 15, 16, 17, 18, 19))
    if level == 1 and rng.random() < 0.4:
        k, top = rng.choice((2, 3)), rng.randint(20, 150)
        name = ("squares", "cubes")[k - 2]
        texts = phrasings(
            f"Determine $r$ with $0 \\le r < {m}$ such that the sum of the first {top} positive "
            f"{name} is congruent to $r$ modulo ${m}$.",
            f"A pyramid is built from layers that hold $1^{k}, 2^{k}, 3^{k}, \\ldots, {top}^{k}$ "
            f"stones. The stones are carted away, {m} in each full load. How many stones are in "
            "the last load, which is not full (0 if there is none)?",
            f"What is the remainder when $1^{k} + 2^{k} + 3^{k} + \\cdots + {top}^{k}$ is "
            "divided by "
            f"${m}$?",
            f"The {name} of the first {top} positive integers are added up. What remainder does "
            "the "
            f"sum leave on division by {m}?",
            f"Let $Q$ be the sum of all the {name} $n^{k}$ with $1 \\le n \\le {top}$. Find $Q$ "
            f"modulo ${m}$, as an integer from $0$ to ${m - 1}$.",
            f"{rng.choice(PEOPLE)} builds the {name} $1^{k}, 2^{k}, \\ldots, {top}^{k}$ out of "
            "small "
            f"blocks and then sorts all the pieces into bags of {m}. How many pieces remain "
            "that do not fill a bag?",
        )
        answer = sum(n**k for n in range(1, top + 1)) % m
        return Problem(
            rng.choice(texts), str(answer), {"ask": "powers", "k": k, "top": top, "m": m}
        )
    if level == 1:
        first, step = rng.randint(1, 20), rng.randint(1, 9)
        count = rng.randint(20, 90)
        last = first + step * (count - 1)
        total = (first + last) * count // 2
        texts = phrasings(
            f"A theatre has {first} seats in the front row and {step} more in each row than in "
            f"the row before; the last row has {last} seats. When all the seats are numbered and "
            f"divided into blocks of {m}, how many seats do not belong to a full block?",
            f"Add every {ordinal(step) if step > 1 else 'single'} integer from ${first}$ on: "
            f"${first}$, ${first + step}$, ${first + 2 * step}$ and so on, the last one being "
            f"${last}$. What is the total modulo ${m}$?",
            f"Let $a_1 = {first}$ and $a_{{k + 1}} = a_k + {step}$. The sum of the terms from "
            f"$a_1$ up to the term that equals ${last}$ is divided by ${m}$. Find the remainder.",
            f"What remainder does the sum ${first} + {first + step} + {first + 2 * step} + "
            "\\cdots + "
            f"{last}$ leave when divided by ${m}$?",
            f"The terms of the arithmetic progression ${first}, {first + step}, "
            f"{first + 2 * step}, "
            f"\\ldots, {last}$ are all added. Find the remainder of the total modulo ${m}$.",
            f"On the first day {rng.choice(PEOPLE)} saves {first} coins, and on every later day "
            f"{step} more than the day before; on the last day it is {last} coins. All the coins "
            f"are packed in rolls of {m}. How many coins do not fit into a full roll?",
            f"Let $S = {first} + {first + step} + \\cdots + {last}$, where each term is ${step}$ "
            "more "
            f"than the one before. Determine the smallest nonnegative integer congruent to $S$ "
            f"modulo ${m}$.",
        )
        return Problem(
            rng.choice(texts),
            str(total % m),
            {"ask": "progression", "first": first, "step": step, "last": last, "m": m},
        )
    if level == 2:
        m = rng.choice((11, 13, 17, 19, 23, 25, 30, 36, 40, 48, 60, 90, 100))
        top, start = rng.randint(15, 200), rng.randint(1, 3)
        step = rng.choice((1, 2))
        value = 0
        product, n = 1, 0
        while n < top:
            n += 1
            product *= n
            if n >= start and (n - start) % step == 0:
                value += product
                last = n
        sum_text = f"{start}! + {start + step}! + {start + 2 * step}! + \\cdots + {last}!"
        texts = phrasings(
            f"What is $r$, the unique integer from $0$ to ${m - 1}$ for which ${sum_text} - r$ "
            f"is a multiple of ${m}$?",
            f"Most of the terms of ${sum_text}$ are multiples of ${m}$. Which remainder does the "
            f"whole sum leave on division by ${m}$?",
            f"Find the remainder when ${sum_text}$ is divided by ${m}$.",
            f"Let $F = {sum_text}$. Compute $F \\bmod {m}$, that is, the remainder of $F$ on "
            "division "
            f"by ${m}$.",
            f"What is left over when the sum of factorials ${sum_text}$ is divided by ${m}$?",
            f"The number ${sum_text}$ is ${m}q + r$ with integers $q$ and $0 \\le r < {m}$. "
            "What is $r$?",
        )
        return Problem(
            rng.choice(texts),
            str(value % m),
            {"ask": "factorials", "start": start, "second": start + step, "last": last, "m": m},
        )
    top = rng.randint(20, 99)
    m = rng.choice((9, 11, 18, 33, 36, 45, 55, 66, 72, 99))
    start = rng.choice((1, 10, 11, 12))
    digits = "".join(map(str, range(start, top + 1)))
    shown = "".join(map(str, range(start, start + 4))) + f"\\ldots{top - 1}{top}"
    texts = phrasings(
        f"The integers from ${start}$ to ${top}$ are written one after another to form the large "
        f"number $N = {shown}$. What is the remainder when $N$ is divided by ${m}$?",
        f"Let ${shown}$ be the number obtained by writing the integers ${start}$ through ${top}$ "
        "in "
        f"order, without spaces. Find its remainder modulo ${m}$.",
        f"A child types {start}, {start + 1}, {start + 2} and so on up to {top} without ever "
        "pressing "
        f"the space bar. The screen then shows one long number. What remainder does it leave when "
        f"divided by {m}?",
        f"Joining the decimal digits of all the integers from ${start}$ up to ${top}$, in "
        "increasing "
        f"order, gives a ${len(digits)}$-digit number. Determine this number modulo ${m}$.",
    )
    return Problem(
        rng.choice(texts),
        str(int(digits) % m),
        {"ask": "joined", "start": start, "top": top, "m": m},
    )


FAMILIES = (
    math_family("numbers_remainder_systems", _remainder_systems, "several remainders at once"),
    math_family("numbers_linear_congruences", _linear_congruences, "inverses and ax = b modulo m"),
    math_family("numbers_remainder_sums", _remainder_sums, "remainders of long sums and numbers"),
)
