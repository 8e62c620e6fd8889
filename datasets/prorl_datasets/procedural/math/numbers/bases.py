"""Other bases: writing, calculating, and finding the base.

Leaves out: digits in base ten (``digits``) and decimals (``decimals``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wording import ordinal


def _written(n: int, base: int) -> str:
    digits = ""
    while n:
        digits = str(n % base) + digits
        n //= base
    return digits or "0"


def _base_conversion(rng: Random, level: int) -> Problem:
    who, base = rng.choice(PEOPLE), rng.randint(3, 9)
    if level == 1:
        if rng.random() < 0.5:
            n = rng.randint(base**2, base**4)
            text = _written(n, base)
            texts = phrasings(
                f"Write the base-${base}$ number ${text}_{base}$ in base ten.",
                f"What integer, in decimal notation, is ${text}_{{{base}}}$?",
                f"On a planet whose inhabitants have {base} fingers, {who} is told that a village "
                f"has {text} houses, counted in base {base}. How many houses is that in base ten?",
                f"A counter works in base ${base}$ and shows ${text}$. Convert this reading to "
                "base $10$.",
                f"Evaluate ${text}_{{{base}}}$ and express the value in base ten.",
            )
            text_out = rng.choice(texts)
            values = {"ask": "to ten", "digits": text, "base": base}
            return Problem(text_out, str(n), values)
        n = rng.randint(50, 900)
        texts = phrasings(
            f"Express the decimal number ${n}$ in base ${base}$. Write the digits only, without "
            "the "
            "subscript for the base.",
            f"What are the digits of ${n}_{{10}}$ when it is written in base ${base}$? Give them "
            "as "
            "one number, leaving out the base.",
            f"{who} converts {n} from base ten to base {base}. Which string of digits should "
            "appear?",
            f"The integer ${n}$ is to be shown on a display that counts in base ${base}$. What "
            "does "
            "the display read?",
        )
        values = {"ask": "from ten", "n": n, "base": base}
        return Problem(rng.choice(texts), _written(n, base), values)
    if level == 2:
        ask = rng.choice(("sum", "product", "digits", "change"))
        if ask == "change":
            other = redrawn(lambda: rng.randint(3, 9), lambda b: b != base)
            n = rng.randint(base**2, base**4)
            texts = phrasings(
                f"Convert ${_written(n, base)}_{{{base}}}$ to base ${other}$. Give the digits "
                "only.",
                f"A number is written ${_written(n, base)}$ in base ${base}$. How is the same "
                "number "
                f"written in base ${other}$? Leave out the subscript in your answer.",
                f"{who} reads {_written(n, base)} on a base-{base} abacus and sets the same "
                "value on a "
                f"base-{other} abacus. Which digits, from left to right, does the second one show?",
            )
            values = {"ask": ask, "digits": _written(n, base), "base": base, "other": other}
            return Problem(rng.choice(texts), _written(n, other), values)
        if ask == "digits":
            n = rng.randint(500, 90000)
            base = rng.choice((2, 3, 4, 5, 6, 7, 8, 9))
            which = rng.choice(("sum", "length"))
            shown = _written(n, base)
            if which == "sum":
                texts = phrasings(
                    f"Find the sum of the digits of the base-${base}$ representation of ${n}$.",
                    f"When the decimal number ${n}$ is written in base ${base}$, what do its "
                    "digits "
                    "add up to (as a decimal number)?",
                )
                answer = sum(map(int, shown))
            else:
                d = max(set(shown), key=shown.count)
                texts = phrasings(
                    f"How many digits equal to ${d}$ does ${n}$ have when it is written in base "
                    f"${base}$?",
                    f"The decimal integer ${n}$ is converted to base ${base}$. How often does the "
                    f"digit ${d}$ occur in the result?",
                )
                answer = shown.count(d)
                return Problem(
                    rng.choice(texts),
                    str(answer),
                    {"ask": "times", "n": n, "base": base, "d": int(d)},
                )
            return Problem(
                rng.choice(texts), str(answer), {"ask": "sum of digits", "n": n, "base": base}
            )
        a = rng.randint(base**2, base**3)
        b = rng.randint(base, base**2) if ask == "product" else rng.randint(base**2, base**3)
        sign = "\\cdot" if ask == "product" else "+"
        answer = a * b if ask == "product" else a + b
        x, y = _written(a, base), _written(b, base)
        verb = "multiplied" if ask == "product" else "added"
        texts = phrasings(
            f"Compute ${x}_{{{base}}} {sign} {y}_{{{base}}}$. Give the digits of the result in "
            "base "
            f"${base}$, without the subscript.",
            f"In base ${base}$, the numbers ${x}$ and ${y}$ are {verb}. Which digits does the "
            "result "
            "have in the same base?",
            f"{who} works in base {base} throughout: {x} and {y} are {verb}. What does {who} write "
            "down as the result?",
        )
        values = {"ask": ask, "x": x, "y": y, "base": base}
        return Problem(rng.choice(texts), _written(answer, base), values)
    ask = rng.choice(("lengths", "no digit", "two bases"))
    if ask == "lengths":
        b, c = redrawn(lambda: (rng.randint(2, 9), rng.randint(2, 9)), lambda p: p[0] < p[1])
        places, more = rng.randint(3, 5), rng.randint(4, 13)
        low, high = max(c ** (places - 1), b ** (more - 1)), min(c**places, b**more)
        if high - low < 4 or more <= places:
            return _base_conversion(rng, level)
        texts = phrasings(
            f"How many positive integers have exactly {places} digits when written in base ${c}$ "
            "and "
            f"exactly {more} digits when written in base ${b}$?",
            f"Find the number of integers $n > 0$ whose base-${c}$ representation has {places} "
            "digits "
            f"and whose base-${b}$ representation has {more} digits.",
        )
        values = {"ask": ask, "b": b, "c": c, "places": places, "more": more}
        return Problem(rng.choice(texts), str(high - low), values)
    if ask == "no digit":
        base = rng.choice((3, 4, 5, 6, 7))
        top = rng.randint(200, 2000)
        digit = rng.randint(0, base - 1)
        answer = sum(str(digit) not in _written(n, base) for n in range(1, top + 1))
        texts = phrasings(
            f"How many of the integers from $1$ to ${top}$ (in decimal) do not contain the digit "
            f"${digit}$ when they are written in base ${base}$?",
            f"{who} writes the numbers from 1 up to the decimal number {top} in base {base} and "
            "keeps "
            f"those without any digit {digit}. How many numbers are kept?",
            f"Let $N = {top}$. Count the positive integers not exceeding $N$ whose "
            "representation in "
            f"base ${base}$ avoids the digit ${digit}$.",
        )
        values = {"ask": ask, "base": base, "top": top, "d": digit}
        return Problem(rng.choice(texts), str(answer), values)
    b, c = redrawn(lambda: (rng.randint(3, 12), rng.randint(3, 12)), lambda p: p[0] < p[1])
    found = [
        (x, y)
        for x in range(1, min(b, 10))
        for y in range(1, min(b, 10))
        if x * c + y == y * b + x and x != y
    ]
    if not found:
        position = rng.randint(30, 400)
        allowed = sorted(rng.sample(range(10), rng.choice((3, 4, 5))))
        if allowed[0]:
            allowed[0] = 0
        size = len(allowed)
        answer = int("".join(str(allowed[int(d)]) for d in _written(position, size)))
        start = [int("".join(str(allowed[int(d)]) for d in _written(i, size))) for i in range(1, 6)]
        shown_digits = ", ".join(map(str, allowed[:-1])) + f" and {allowed[-1]}"
        texts = phrasings(
            f"The positive integers whose digits all belong to the list {shown_digits} are "
            "arranged "
            f"in increasing order: ${', '.join(map(str, start))}, \\ldots$ What is the "
            f"{ordinal(position)} number in this order?",
            f"An odometer skips every reading that contains a digit other than {shown_digits}. "
            "After "
            f"the reading 0 it goes on to {start[0]}, {start[1]}, {start[2]} and so on. Which "
            "number "
            f"does it show after {position} steps from 0?",
        )
        values = {"ask": "list", "allowed": allowed, "position": position}
        return Problem(rng.choice(texts), str(answer), values)
    n = max(x * c + y for x, y in found)
    texts = phrasings(
        f"A positive integer has two different digits in base ${c}$, and writing these two "
        "digits in "
        f"the opposite order gives its representation in base ${b}$. What is the largest such "
        "integer, in base ten?",
        f"Find the greatest integer $N$ (in decimal) with $N = \\overline{{xy}}_{{{c}}} = "
        f"\\overline{{yx}}_{{{b}}}$ for nonzero digits $x \\ne y$.",
    )
    return Problem(rng.choice(texts), str(n), {"ask": ask, "b": b, "c": c})


def _unknown_bases(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        b = rng.randint(4, 16)
        digits = [rng.randint(1, min(b - 1, 9))] + [rng.randint(0, min(b - 1, 9)) for _ in range(2)]
        n = digits[0] * b * b + digits[1] * b + digits[2]
        text = "".join(map(str, digits))
        texts = phrasings(
            f"A display uses an unknown number system. The quantity {n} (in base ten) is "
            f"displayed as {text}. How many different digit symbols, including $0$, does the "
            "system have?",
            f"Solve the equation ${text}_b = {n}$ for the base $b$, where the right-hand side is "
            "in decimal.",
            f"If the three-digit numeral ${text}$ is read in base $b$, its value is ${n}$ in "
            "base ten. What is $b$?",
            f"In which base $b$ is the decimal number ${n}$ written as ${text}$?",
            f"Find the positive integer $b$ such that ${text}_b = {n}_{{10}}$.",
            f"{who} discovers a clay tablet on which the number that we write as {n} appears as "
            f"{text}. In which base did the ancient scribe count?",
            f"For what base $b$ does the numeral ${text}_b$ stand for the number ${n}$?",
        )
        return Problem(rng.choice(texts), str(b), {"ask": "base", "digits": digits, "n": n})
    if level == 2:
        ask = rng.choice(("sum", "product"))

        def draw() -> tuple[str, str, str, int]:
            b = rng.randint(4, 9)
            x, y = rng.randint(b, b**3 - 1), rng.randint(b, b**2 - 1)
            result = x + y if ask == "sum" else x * y
            return _written(x, b), _written(y, b), _written(result, b), b

        def solutions(drawn: tuple[str, str, str, int]) -> list[int]:
            x, y, z, _ = drawn
            least = max(map(int, x + y + z)) + 1
            return [
                b
                for b in range(max(least, 2), 30)
                if (_value(x, b) + _value(y, b) if ask == "sum" else _value(x, b) * _value(y, b))
                == _value(z, b)
            ]

        x, y, z, b = redrawn(draw, lambda d: len(solutions(d)) == 1 and d[0] != d[1])
        sign = "+" if ask == "sum" else "\\cdot"
        texts = phrasings(
            f"Creatures with an unusual number of fingers agree that ${x} {sign} {y} = {z}$ in "
            "their own counting system. What is the base of this system?",
            f"An exercise book from another world contains the correct line ${x} {sign} {y} = "
            f"{z}$. In what base was it calculated?",
            f"Suppose that ${x}_b {sign} {y}_b = {z}_b$. What is the base $b$?",
            f"The calculation ${x} {sign} {y} = {z}$ is correct in one number base only. Which "
            "base "
            "is it?",
            f"{who} finds the line ${x} {sign} {y} = {z}$ in a notebook and realizes that it is "
            "right "
            "if all three numbers are read in a base other than ten. Find this base.",
            f"For which integer $b > 1$ does ${x} {sign} {y} = {z}$ hold if all three numerals "
            "are in "
            "base $b$?",
        )
        return Problem(rng.choice(texts), str(b), {"ask": ask, "x": x, "y": y, "z": z})
    ask = rng.choice(("divisible", "how many", "two bases"))
    if ask == "divisible":
        p, q, r = rng.randint(1, 9), rng.randint(0, 9), rng.randint(0, 9)
        m = rng.choice((7, 9, 11, 13, 15, 17, 19))
        low, high = max(p, q, r) + 1, rng.randint(60, 150)
        found = [b for b in range(low, high + 1) if (p * b * b + q * b + r) % m == 0]
        if not found:
            return _unknown_bases(rng, level)
        text = f"{p}{q}{r}"
        texts = phrasings(
            f"Let $P(b) = {terms([(p, 'b^2'), (q, 'b'), (r, '')])}$ be the value of the numeral "
            f"${text}$ in base $b$. For how many bases $b$ from ${low}$ to ${high}$ is $P(b)$ a "
            f"multiple of ${m}$?",
            f"For how many integers $b$ with ${low} \\le b \\le {high}$ is the base-$b$ number "
            f"${text}_b$ divisible by ${m}$?",
            f"The numeral ${text}$ is read in base $b$, for every integer $b$ from ${low}$ to "
            f"${high}$. How many of the resulting numbers are multiples of ${m}$?",
            f"Count the bases $b$, at least ${low}$ and at most ${high}$, in which the number "
            "written "
            f"${text}$ leaves no remainder on division by ${m}$.",
        )
        values = {"ask": ask, "digits": [p, q, r], "m": m, "low": low, "high": high}
        return Problem(rng.choice(texts), str(len(found)), values)
    if ask == "how many":
        n = rng.randint(100, 2500)
        d = rng.randint(0, 9)
        places = rng.choice((3, 4))
        if rng.random() < 0.5:
            found = [b for b in range(d + 1, n + 1) if b >= 2 and n % b == d]
            texts = phrasings(
                f"For how many bases $b \\ge 2$ does the base-$b$ representation of ${n}$ end in "
                "the "
                f"digit ${d}$?",
                f"How many integers $b > 1$ are there such that the decimal number ${n}$, "
                "written in "
                f"base $b$, has last digit ${d}$?",
                f"{who} writes {n} in base 2, in base 3, in base 4 and so on up to base {n}. In "
                "how "
                f"many of these representations is the units digit {d}?",
            )
            if n - d < 1 or not found:
                return _unknown_bases(rng, level)
            values = {"ask": "last digit", "n": n, "d": d}
            return Problem(rng.choice(texts), str(len(found)), values)
        found = [b for b in range(2, n + 1) if b ** (places - 1) <= n < b**places]
        total = sum(found)
        if not found:
            return _unknown_bases(rng, level)
        word = {3: "three", 4: "four"}[places]
        texts = phrasings(
            f"Find the sum of all integers $b \\ge 2$ such that exactly {word} digits are needed "
            f"to write the decimal number ${n}$ in base $b$.",
            f"{who} writes the decimal number {n} in base 2, in base 3, in base 4 and so on, and "
            f"marks every base in which the result has {word} digits. What do the marked bases "
            "add up to?",
            f"What is the sum of all bases $b \\ge 2$ in which the decimal number ${n}$ has "
            "exactly "
            f"{word} digits?",
            f"In some bases, the number ${n}$ (given in base ten) is a {word}-digit number. Find "
            "the "
            "sum of these bases.",
        )
        values = {"ask": "length", "n": n, "places": places}
        return Problem(rng.choice(texts), str(total), values)
    one, two = redrawn(
        lambda: (
            rng.randint(1, 9) * 10 + rng.randint(0, 9),
            rng.randint(1, 9) * 10 + rng.randint(0, 9),
        ),
        lambda p: (
            p[0] // 10 != p[1] // 10 and gcd(p[0] // 10, p[1] // 10) == 1 and p[0] % 10 != p[1] % 10
        ),
    )
    pairs = [
        (a, b)
        for a in range(max(map(int, str(one))) + 1, 200)
        for b in range(max(map(int, str(two))) + 1, 200)
        if a > 1 and b > 1 and one // 10 * a + one % 10 == two // 10 * b + two % 10
    ]
    a, b = min(pairs, key=lambda p: p[0] + p[1])
    texts = phrasings(
        f"The numeral ${one}$ in base $a$ and the numeral ${two}$ in base $b$ stand for the same "
        "number, "
        "where $a$ and $b$ are integers greater than every digit used in them. What is the "
        "smallest "
        "possible value of $a + b$?",
        f"Let $a$ and $b$ be bases in which the numerals ${one}_a$ and ${two}_b$ make sense and "
        "for which "
        f"${one}_a = {two}_b$. Find the minimum of $a + b$.",
    )
    return Problem(rng.choice(texts), str(a + b), {"ask": ask, "x": one, "y": two})


def _value(digits: str, base: int) -> int:
    value = 0
    for digit in digits:
        value = value * base + int(digit)
    return value


FAMILIES = (
    math_family("numbers_base_conversion", _base_conversion, "writing and counting in a base"),
    math_family("numbers_unknown_bases", _unknown_bases, "the base that makes a line true"),
)
