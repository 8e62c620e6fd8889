"""Digits: their sums, and digits that were lost.

Leaves out: numbers read backwards (``reversals``) and other bases (``bases``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family

PLACES = ("", "one", "two", "three", "four", "five", "six")
"""The words for how many digits a number has."""


def digit_sum(n: int) -> int:
    """Return the sum of the decimal digits of n."""
    return sum(map(int, str(n)))


def _with_digits(n: int) -> int:
    return n + digit_sum(n)


def _digit_sums(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        ask = rng.choice(("power of ten", "product"))
        n, k = rng.randint(8, 90), rng.randint(2, 999)
        if ask == "power of ten":
            answer = digit_sum(10**n - k)
            texts = phrasings(
                f"What is the sum of the digits of $10^{{{n}}} - {k}$?",
                f"The number $10^{{{n}}} - {k}$ is written out as an integer. Find the sum of its "
                "digits.",
                f"{who} subtracts {k} from a $1$ followed by {n} zeros and adds up all the "
                "digits of "
                "the difference. What is the total?",
                f"Let $N$ be the integer $10^{{{n}}} - {k}$. How much do the decimal digits of $N$ "
                "add up to?",
            )
            text = rng.choice(texts)
            if n < 10:
                text = text.replace(f"^{{{n}}}", f"^{n}")
            return Problem(text, str(answer), {"ask": ask, "n": n, "k": k})
        a = rng.randint(3, 60)
        b = max(2, a + rng.randint(-8, 8))
        c = rng.choice((3, 7, 11, 13, 17, 19, 21, 23))
        answer = digit_sum(2**a * 5**b * c)
        texts = phrasings(
            f"Find the sum of the digits of $2^{{{a}}} \\cdot 5^{{{b}}} \\cdot {c}$.",
            f"What do the digits of the integer ${c} \\cdot 2^{{{a}}} \\cdot 5^{{{b}}}$ add up to "
            "when it is written in decimal?",
            f"{who} writes out the product of $2^{{{a}}}$, $5^{{{b}}}$ and ${c}$. What is the "
            "sum of "
            "all the digits?",
        )
        text = rng.choice(texts)
        for e in (a, b):
            if e < 10:
                text = text.replace(f"^{{{e}}}", f"^{e}")
        return Problem(text, str(answer), {"ask": ask, "a": a, "b": b, "c": c})
    if level == 2:
        ask = rng.choice(("count", "least", "consecutive"))
        if ask == "count":
            places, total = rng.choice((2, 3, 3)), rng.randint(5, 20)
            total = min(total, 9 * places - 2)
            answer = sum(digit_sum(x) == total for x in range(10 ** (places - 1), 10**places))
            word = PLACES[places]
            texts = phrasings(
                f"How many {word}-digit positive integers have digits that add up to ${total}$?",
                f"Find the number of {word}-digit integers whose digit sum is ${total}$.",
                f"A lottery ticket carries a {word}-digit number that does not begin with $0$. "
                "It wins "
                f"if its digits have the sum ${total}$. How many different numbers win?",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "total": total}
            )
        if ask == "least":
            total, k = rng.randint(12, 50), rng.choice((2, 4, 5, 7, 8, 11, 13, 25))
            answer = _least(total, k)
            texts = phrasings(
                f"What is the smallest positive multiple of ${k}$ whose digits add up to "
                f"${total}$?",
                f"Find the least positive integer that has digit sum ${total}$ and is divisible by "
                f"${k}$.",
                f"{who} builds a positive integer from cards with digits on them. The digits "
                "must add "
                f"up to {total}, and the integer must be a multiple of {k}. What is the smallest "
                "integer that is possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total, "k": k})
        top = rng.choice((99, 199, 250, 300, 499, 500, 750, 999, 1000, 1234, 2000))
        top += rng.randint(0, 60)
        low = rng.randint(1, 40)
        answer = sum(digit_sum(x) for x in range(low, top + 1))
        texts = phrasings(
            f"All the integers from ${low}$ to ${top}$ are written down. What is the sum of all "
            "the "
            "digits that are used?",
            f"For a positive integer $n$, let $s(n)$ be the sum of its digits. Compute "
            f"$s({low}) + s({low + 1}) + \\cdots + s({top})$.",
            f"{who} numbers pages from {low} to {top} and adds up every digit stamped on them. "
            "What "
            "total is obtained?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": low, "top": top})
    ask = rng.choice(("equation", "balanced", "used"))
    if ask == "equation":
        total = redrawn(
            lambda: _with_digits(rng.randint(150, 3000)),
            lambda t: len([x for x in range(max(t - 40, 1), t) if _with_digits(x) == t]) == 1,
        )
        answer = next(x for x in range(max(total - 40, 1), total) if _with_digits(x) == total)
        texts = phrasings(
            f"A positive integer plus the sum of its digits makes ${total}$. Which integer is it?",
            "Let $s(n)$ denote the sum of the decimal digits of $n$. Find the positive integer "
            "$n$ "
            f"with $n + s(n) = {total}$.",
            f"{who} was born in a year $y$ and notices that $y$ and the digits of $y$, all added "
            f"together, give {total}. What is $y$?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total})
    if ask == "balanced":
        top, k = rng.choice((300, 500, 600, 800, 1000, 1500, 2000)), rng.randint(3, 9)
        answer = sum(digit_sum(x) % k == 0 for x in range(1, top))
        texts = phrasings(
            f"How many positive integers less than ${top}$ have a digit sum that is divisible by "
            f"${k}$?",
            "An integer is called balanced if the sum of its decimal digits is a multiple of "
            f"${k}$. "
            f"How many positive integers below ${top}$ are balanced?",
            f"{who} adds the digits of each of the positive integers smaller than {top}. For how "
            "many "
            f"of these integers is the sum a multiple of {k}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "k": k})
    digits = rng.randint(200, 3500)
    n = used = 0
    while used < digits:
        n += 1
        used += len(str(n))
    digits, last = used, n
    d = rng.randint(1, 9)
    times = sum(str(x).count(str(d)) for x in range(1, last + 1))
    texts = phrasings(
        "The pages of a book are numbered $1, 2, 3, \\ldots$ without gaps, and altogether "
        f"{digits} "
        f"digits are printed for the page numbers. How many of these digits are equal to ${d}$?",
        f"Exactly {digits} digits are needed to write down all the integers from $1$ to $n$. How "
        "many "
        f"times does the digit ${d}$ occur among them?",
        f"{who} types $1, 2, 3, \\ldots$ and stops after a whole number, having typed {digits} "
        "digits "
        f"in total (only digits are counted). How often was the key ${d}$ pressed?",
    )
    return Problem(rng.choice(texts), str(times), {"ask": ask, "digits": digits, "d": d})


def _least(total: int, k: int) -> int:
    """Return the least multiple of k with this digit sum: numbers grow digit by digit, in order."""
    waiting = [(0, 0, 0)]
    seen = set()
    for number, rest, used in waiting:
        for digit in range(0 if number else 1, 10):
            grown = (10 * number + digit, (10 * rest + digit) % k, used + digit)
            if grown[1:] == (0, total):
                return grown[0]
            if grown[2] <= total and grown[1:] not in seen:
                seen.add(grown[1:])
                waiting.append(grown)
    raise ValueError(f"no multiple of {k} has digit sum {total}")


def _missing_digits(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def pattern(places: int, blanks: int) -> str:
        digits = [str(rng.randint(1, 9))] + [str(rng.randint(0, 9)) for _ in range(places - 1)]
        names = iter("AB")
        for place in sorted(rng.sample(range(1, places), blanks)):
            digits[place] = next(names)
        return "".join(digits)

    def filled(shape: str, m: int) -> list[tuple[int, int, int]]:
        """Return A, B and the number, for every filling that m divides."""
        b_range = range(10) if "B" in shape else range(1)
        return [
            (a, b, n)
            for a in range(10)
            for b in b_range
            if (n := int(shape.replace("A", str(a)).replace("B", str(b)))) % m == 0
        ]

    def named(shape: str) -> str:
        return f"\\overline{{{shape}}}"

    if level == 1:
        m = rng.choice((7, 9, 11, 12, 13, 17, 19))
        shape = redrawn(
            lambda: pattern(rng.randint(3, 6), 1),
            lambda s: len(filled(s, m)) == 1,
        )
        only = filled(shape, m)[0]
        blank = shape.replace("A", "\\square ")
        texts = phrasings(
            f"Replace the letter $A$ in ${named(shape)}$ by a digit so that the resulting number "
            f"can be divided by ${m}$ without remainder. Which digit must be taken?",
            f"A receipt for {m} equal articles shows a total of {shape.replace('A', '_')} cents, "
            "the underscore standing for one unreadable digit; each article costs a whole "
            "number of cents. Which digit is unreadable?",
            f"In ${named(shape)}$, the symbol $A$ is a digit from $0$ to $9$. Given that ${m}$ "
            "divides this number, determine $A$.",
            f"The {len(shape)}-digit number ${named(shape)}$ is divisible by ${m}$. Find the digit "
            "$A$.",
            f"One digit of a number has been smudged: ${blank.strip()}$. The number is a "
            "multiple of "
            f"${m}$. What is the missing digit?",
            f"{who} remembers a code except for one digit: {shape}, where A is the "
            f"forgotten digit. The code is divisible by {m}. What does the digit A have to be?",
            f"For exactly one digit $A$ the integer ${named(shape)}$ leaves no remainder when "
            "divided "
            f"by ${m}$. Which digit is it?",
        )
        return Problem(rng.choice(texts), str(only[0]), {"ask": "digit", "shape": shape, "m": m})
    if level == 2:
        m = rng.choice((36, 45, 72, 88, 99, 44, 55, 66, 18, 12, 15))
        ask = rng.choice(("count", "sums", "largest"))
        shape = redrawn(
            lambda: pattern(rng.randint(4, 6), 2), lambda s: 2 <= len(filled(s, m)) <= 12
        )
        pairs = filled(shape, m)
        if ask == "count":
            answer = len(pairs)
            wish = (
                "For how many pairs of digits $(A, B)$ is this the case?",
                "How many ordered pairs of digits $(A, B)$ make this possible?",
            )
        elif ask == "sums":
            answer = sum({a + b for a, b, _ in pairs})
            wish = (
                "What is the sum of all the different values that $A + B$ can have?",
                "Find the sum of all distinct possible values of $A + B$.",
            )
        else:
            answer = max(n for _, _, n in pairs)
            wish = (
                "What is the largest value that the number can have?",
                "Determine the greatest possible number of this form.",
            )
        texts = phrasings(
            f"Let $A$ and $B$ be decimal digits, not necessarily different, such that ${m}$ "
            f"divides ${named(shape)}$. {rng.choice(wish)}",
            f"Two stains hide the digits $A$ and $B$ of the number ${named(shape)}$, and it is "
            f"only known that ${named(shape)}$ leaves no remainder on division by ${m}$; the "
            f"hidden digits may be the same. {rng.choice(wish)}",
            f"The digits $A$ and $B$, which may be equal, are chosen so that ${named(shape)}$ is a "
            f"multiple of ${m}$. {rng.choice(wish)}",
            f"In the {len(shape)}-digit number ${named(shape)}$ two digits are unknown (they "
            "need not "
            f"differ), and the number is divisible by ${m}$. {rng.choice(wish)}",
            f"{who} has a bill of ${named(shape)}$ cents for {m} equal items, each costing a whole "
            f"number of cents, but the digits $A$ and $B$ are not readable; they may be the same. "
            f"{rng.choice(wish)}",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "shape": shape, "m": m})

    def draw() -> tuple[str, int, int, int]:
        m, k = rng.choice((7, 9, 11, 12, 13, 33, 45, 99)), rng.choice((4, 5, 8, 9, 11, 16))
        return pattern(rng.randint(4, 6), 2), m, k, rng.randint(2, k - 1)

    def both(shape: str, m: int, k: int, r: int) -> list[tuple[int, int, int]]:
        return [f for f in filled(shape, m) if f[2] % k == r] if gcd(m, k) == 1 else []

    shape, m, k, r = drawn = redrawn(draw, lambda d: len(both(*d)) == 1)
    a, b, _ = both(*drawn)[0]
    texts = phrasings(
        f"The number ${named(shape)}$, in which $A$ and $B$ are digits, is divisible by ${m}$ and "
        f"leaves remainder ${r}$ when divided by ${k}$. Find the value of "
        "$A \\cdot B + A + B$.",
        f"Digits $A$ and $B$ (possibly equal) turn ${named(shape)}$ into a multiple of ${m}$ "
        "that is "
        f"${r}$ more than a multiple of ${k}$. What is $AB + A + B$?",
        f"{who} packs ${named(shape)}$ screws: boxes of {m} come out even, boxes of {k} leave {r} "
        "screws over. The digits $A$ and $B$ cannot be read. Calculate $A \\cdot B + A + B$.",
    )
    values = {"ask": "both", "shape": shape, "m": m, "k": k, "r": r}
    return Problem(rng.choice(texts), str(a * b + a + b), values)


FAMILIES = (
    math_family("numbers_digit_sums", _digit_sums, "sums of digits and how often digits occur"),
    math_family("numbers_missing_digits", _missing_digits, "lost digits found by divisibility"),
)
