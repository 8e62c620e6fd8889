"""Numbers read backwards, palindromes, and numbers with one digit only.

Leaves out: sums of digits (``digits``).
"""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.numbers.digits import PLACES, digit_sum
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom


def _reversals(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        total, gap = redrawn(
            lambda: (rng.randint(4, 16), rng.randint(1, 7)),
            lambda t: t[0] > t[1] and (t[0] + t[1]) % 2 == 0 and (t[0] + t[1]) // 2 <= 9
            and t[0] > t[1] + 1,
        )  # fmt: skip
        tens, units = (total + gap) // 2, (total - gap) // 2
        n = 10 * tens + units
        texts = phrasings(
            f"The digits of a two-digit number add up to ${total}$. When the digits are "
            "reversed, the "
            f"number becomes smaller by ${9 * gap}$. What was the original number?",
            "A two-digit integer exceeds the integer with the same digits in the opposite order "
            "by "
            f"${9 * gap}$, and its digit sum is ${total}$. Find the larger of the two integers.",
            f"{who}'s house number has two digits with sum {total}. Read from right to left it "
            "would "
            f"be {9 * gap} less. Which number is on the house?",
            f"Let $\\overline{{ab}}$ be a two-digit number with $a + b = {total}$ and "
            f"$\\overline{{ab}} - \\overline{{ba}} = {9 * gap}$. Determine $\\overline{{ab}}$.",
        )
        return Problem(rng.choice(texts), str(n), {"ask": "two", "total": total, "gap": 9 * gap})
    if level == 2:
        ask = rng.choice(("multiple of sum", "count gap", "sum with reverse"))
        if ask == "multiple of sum":
            k, r = redrawn(
                lambda: (rng.randint(3, 9), rng.randint(1, 9)),
                lambda p: len([n for n in range(10, 100) if n == p[0] * digit_sum(n) + p[1]]) == 1,
            )
            n = next(n for n in range(10, 100) if n == k * digit_sum(n) + r)
            texts = phrasings(
                f"A two-digit number is ${r}$ more than ${k}$ times the sum of its digits. Which "
                "number is it?",
                "Dividing a two-digit integer by the sum of its digits gives the quotient "
                f"${k}$, and "
                f"${r}$ is left over in the sense that the integer equals ${k}$ times the digit "
                "sum "
                f"plus ${r}$. Find the integer.",
                f"{who} is thinking of an integer from 10 to 99. Taking the sum of its digits {k} "
                f"times and adding {r} gives the integer itself. What is the integer?",
            )
            return Problem(rng.choice(texts), str(n), {"ask": ask, "k": k, "r": r})
        if ask == "count gap":
            gap = rng.randint(1, 8)
            low = rng.randint(4, 12)
            answer = sum(
                int(str(n)[::-1]) - n == 99 * gap and digit_sum(n) >= low for n in range(100, 1000)
            )
            texts = phrasings(
                f"How many three-digit numbers with a digit sum of at least ${low}$ become "
                "larger by "
                f"exactly ${99 * gap}$ when their digits are written in reverse order?",
                f"Three-digit integers $\\overline{{abc}}$ satisfy $\\overline{{cba}} - "
                f"\\overline{{abc}} = {99 * gap}$ and $a + b + c \\ge {low}$, with $a \\ne 0$. How "
                "many such integers are there?",
                f"{who} types a three-digit number (not starting with 0) backwards by mistake and "
                f"gets a number that is too large by {99 * gap}. The digits of the intended number "
                f"add up to {low} or more. How many intended numbers are possible?",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "gap": 99 * gap, "low": low}
            )
        total = 11 * rng.randint(4, 16)
        answer = sum(n + int(str(n)[::-1]) == total for n in range(10, 100) if n % 10)
        product = rng.randint(0, 1) == 1
        sums = [n for n in range(10, 100) if n % 10 and n + int(str(n)[::-1]) == total]
        texts = phrasings(
            f"A two-digit number without the digit $0$ is added to the number with its digits "
            f"reversed, and the sum is ${total}$. How many two-digit numbers have this property?",
            "Find the number of two-digit integers $\\overline{xy}$ with nonzero digits for "
            "which "
            f"$\\overline{{xy}} + \\overline{{yx}} = {total}$.",
        )
        if product:
            answer = max((n // 10) * (n % 10) for n in sums)
            texts = phrasings(
                f"A two-digit number without the digit $0$ and its reversal add up to ${total}$. "
                "What "
                "is the largest possible product of the two digits?",
                "The integers $\\overline{xy}$ and $\\overline{yx}$, with nonzero digits "
                "$x$ and "
                f"$y$, have the sum ${total}$. How large can $x \\cdot y$ be at most?",
            )
        values = {"ask": "product" if product else ask, "total": total}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("move", "insert"))
    if ask == "move":
        n = redrawn(
            lambda: rng.randint(102, 987),
            lambda n: n % 10 > 0 and _moved(n) != n,
        )
        gap = _moved(n) - n
        found = [x for x in range(100, 1000) if x % 10 and _moved(x) - x == gap]
        total = digit_sum(n)
        found = [x for x in found if digit_sum(x) == total]
        if len(found) > 1:
            return _reversals(rng, level)
        change = f"increases by ${gap}$" if gap > 0 else f"decreases by ${-gap}$"
        texts = phrasings(
            "The last digit of a three-digit number is not $0$. Moved to the front, it gives a "
            "new "
            f"three-digit number, and the number {change}. The digits of the number add up to "
            f"${total}$. What was the original number?",
            f"Let $n = \\overline{{abc}}$ with $c \\ne 0$ and $a + b + c = {total}$. If "
            f"$\\overline{{cab}} - \\overline{{abc}} = {gap}$, find $n$.",
            f"{who} writes a three-digit number with digit sum {total} on three cards, takes the "
            "last "
            f"card (which is not a 0) and places it in front of the others. The value {change}. "
            "Which number was on the cards at first?",
        )
        return Problem(rng.choice(texts), str(n), {"ask": ask, "gap": gap, "total": total})
    k = rng.randint(6, 9)
    d = rng.randint(0, 9)
    found = [n for n in range(10, 100) if (n // 10 * 100 + d * 10 + n % 10) == k * n]
    if not found:
        k = rng.randint(2, 5)
        big = rng.choice((10**4, 10**5))
        lead = rng.randint(1, 9)
        solutions = [x for x in range(big // 10, big) if 10 * x + lead == k * (lead * big + x)]
        if len(solutions) != 1:
            return _reversals(rng, level)
        places = len(str(big)) - 1
        texts = phrasings(
            f"A {places}-digit number $x$ becomes ${k}$ times as large when the digit ${lead}$ is "
            f"written after it instead of before it. Find $x$.",
            f"Writing the digit {lead} at the end of a {places}-digit number gives exactly {k} "
            "times "
            f"what one gets by writing the digit {lead} in front of it. What is the {places}-digit "
            "number?",
        )
        values = {"ask": "append", "places": places, "k": k, "lead": lead}
        return Problem(rng.choice(texts), str(solutions[0]), values)
    texts = phrasings(
        f"The digit ${d}$ is inserted between the two digits of a two-digit number, and the number "
        f"becomes ${k}$ times as large. Find the sum of all two-digit numbers for which this "
        "happens.",
        f"For which two-digit numbers does putting a ${d}$ between the digits multiply the "
        "number by "
        f"${k}$? Give the sum of all these numbers.",
    )
    return Problem(rng.choice(texts), str(sum(found)), {"ask": ask, "d": d, "k": k})


def _moved(n: int) -> int:
    return n % 10 * 100 + n // 10


def _palindromes(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def mirrored(low: int, high: int) -> list[int]:
        return [n for n in range(low, high) if str(n) == str(n)[::-1]]

    explained = rng.choice(phrasings(
        "A palindrome is a positive integer that reads the same forwards and backwards.",
        "A number such as $2552$ that does not change when its digits are reversed is called a "
        "palindrome.",
        "Call a positive integer a palindrome if reversing the order of its digits leaves it "
        "unchanged.",
    ))  # fmt: skip
    if level == 1:
        low = rng.randint(10, 300)
        high = rng.randint(low + 300, 4000)
        answer = len(mirrored(low, high + 1))
        texts = phrasings(
            f"{explained} How many palindromes are there from ${low}$ to ${high}$, inclusive?",
            f"A car's counter shows {low} kilometers when {who} starts and {high} kilometers at "
            "the "
            "end of a long journey. Including the first and the last reading, how many of the "
            "readings along the way (every kilometer is shown) are the same read from left to "
            "right as from right to left?",
            f"{explained} Determine the number of palindromes $p$ with ${low} \\le p \\le {high}$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "count", "low": low, "high": high})
    if level == 2:
        places, m = rng.choice((3, 4, 5)), rng.choice((2, 3, 4, 5, 6, 8, 9, 12, 15))
        found = [n for n in mirrored(10 ** (places - 1), 10**places) if n % m == 0]
        word = PLACES[places]
        ask = rng.choice(("multiples", "largest", "digit sum"))
        if ask == "largest":
            m = rng.choice((6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 28, 35, 36, 45))
            found = [n for n in mirrored(10 ** (places - 1), 10**places) if n % m == 0]
            low = rng.random() < 0.5
            texts = phrasings(
                f"{explained} What is the {'smallest' if low else 'largest'} {word}-digit "
                "palindrome "
                f"that is divisible by ${m}$?",
                f"Find the {'least' if low else 'greatest'} {word}-digit multiple of ${m}$ that "
                "reads "
                "the same in both directions.",
            )
            values = {"ask": "least" if low else "greatest", "places": places, "m": m}
            return Problem(rng.choice(texts), str(min(found) if low else max(found)), values)
        if ask == "digit sum":
            total = rng.randint(6, 9 * places - 8)
            count = [n for n in mirrored(10 ** (places - 1), 10**places) if digit_sum(n) == total]
            if not count:
                total += 1
                count = [
                    n for n in mirrored(10 ** (places - 1), 10**places) if digit_sum(n) == total
                ]
            texts = phrasings(
                f"{explained} How many {word}-digit palindromes have a digit sum of ${total}$?",
                f"How many {word}-digit numbers have digits that add up to ${total}$ and are "
                "equal to "
                "their own reversal?",
            )
            values = {"ask": ask, "places": places, "total": total}
            return Problem(rng.choice(texts), str(len(count)), values)
        texts = phrasings(
            f"{explained} How many {word}-digit palindromes are divisible by ${m}$?",
            f"How many multiples of ${m}$ among the {word}-digit integers remain the same when "
            "read "
            "backwards?",
            f"{explained} {who} lists all {word}-digit palindromes and marks those that are "
            "multiples "
            f"of {m}. How many are marked?",
        )
        return Problem(rng.choice(texts), str(len(found)), {"ask": ask, "places": places, "m": m})
    places = rng.choice((4, 5, 6))
    m = rng.choice((4, 5, 6, 7, 8, 9, 11, 12))
    found = mirrored(10 ** (places - 1), 10**places) if places < 6 else [
        int(str(h) + str(h)[::-1]) for h in range(100, 1000)
    ]  # fmt: skip
    r = rng.randint(1, m - 1)
    word = PLACES[places]
    ask = rng.choice(("position", "remainder", "total"))
    if ask == "position":
        place = rng.randint(40, len(found) - 10) if places < 6 else rng.randint(100, 880)
        texts = phrasings(
            f"{explained} All {word}-digit palindromes are listed in increasing order. Which one "
            f"stands at position {place} of the list?",
            f"The {word}-digit numbers that equal their own reversal are sorted from the "
            "smallest to "
            f"the largest. What is number {place} in this order?",
        )
        values = {"ask": ask, "places": places, "place": place}
        return Problem(rng.choice(texts), str(found[place - 1]), values)
    if ask == "remainder":
        fitting = [n for n in found if n % m == r]
        if not fitting:
            return _palindromes(rng, level)
        texts = phrasings(
            f"{explained} How many {word}-digit palindromes leave remainder ${r}$ when they are "
            f"divided by ${m}$?",
            f"Find the number of {word}-digit integers $n$ that read the same in both directions "
            "and "
            f"satisfy $n \\equiv {r} \\pmod{{{m}}}$.",
        )
        values = {"ask": ask, "places": places, "m": m, "r": r}
        return Problem(rng.choice(texts), str(len(fitting)), values)
    first = rng.randint(1, 9)
    total = sum(n for n in found if n // 10 ** (places - 1) >= first)
    texts = phrasings(
        f"{explained} What is the sum of all {word}-digit palindromes whose first digit is at "
        "least "
        f"${first}$?",
        f"{who} adds up all the {word}-digit numbers that equal their own reversal and end in a "
        "digit "
        f"not smaller than {first}. What is the sum?",
    )
    return Problem(rng.choice(texts), str(total), {"ask": ask, "places": places, "first": first})


def _repeated_digits(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    d = rng.randint(1, 9)
    if level == 1:
        m, n = rng.choice((3, 6, 7, 8, 9, 11, 12, 13, 37)), rng.randint(7, 80)
        answer = int(str(d) * n) % m
        texts = phrasings(
            f"A number has exactly {n} digits in base ten, and all of them are {d}. By how much "
            f"does it exceed the greatest multiple of {m} that is not larger than it?",
            f"Coins are laid out so that their total, in cents, is the number with {n} digits "
            f"${d}$ and no others. Packed in rolls of {m} cents, how many cents are left over?",
            f"Find the integer $r$ with $0 \\le r < {m}$ for which the {n}-digit number "
            f"${d}{d}\\ldots{d}$ minus $r$ is a multiple of ${m}$.",
            f"Consider $N = {d} \\cdot (1 + 10 + 10^2 + \\cdots)$ with {n} terms in the bracket. "
            "What is the "
            f"remainder when $N$ is divided by ${m}$?",
            f"What remainder does the {n}-digit number ${d}{d}{d}\\ldots{d}$, all of whose "
            "digits are "
            f"${d}$, leave when it is divided by ${m}$?",
            f"{who} writes the digit {d} exactly {n} times in a row and reads the result as one "
            f"number. Find the remainder when this number is divided by {m}.",
            f"Let $R$ be the integer that consists of {n} digits, each equal to ${d}$. Compute $R$ "
            f"modulo ${m}$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "remainder", "d": d, "n": n, "m": m})
    if level == 2:
        m = redrawn(lambda: rng.randint(7, 120), lambda m: m % 2 > 0 and m % 5 > 0)
        n = next(n for n in range(1, 2000) if int(str(d) * n) % m == 0)
        texts = phrasings(
            f"For which least positive integer $k$ is ${d} \\cdot \\frac{{10^k - 1}}{{9}}$ a "
            f"multiple of ${m}$?",
            f"Among the multiples of ${m}$ there are some whose decimal digits are all equal to "
            f"${d}$. Find the number of digits of the smallest one.",
            f"How many times must the digit {d} be written in a row, at the least, to give a "
            f"number that {m} divides?",
            f"A number is written with the digit ${d}$ only and is divisible by ${m}$. What is the "
            "smallest number of digits that it can have?",
            f"How many digits does the least positive multiple of ${m}$ have in which every "
            "digit is "
            f"${d}$?",
            f"{who} keeps typing the digit {d} until the number on the display is a multiple of "
            f"{m} "
            "for the first time. How many digits are typed?",
            f"In the sequence ${d}, {d}{d}, {d}{d}{d}, \\ldots$ the $n$th term consists of $n$ "
            "digits "
            f"${d}$. Find the smallest $n$ for which the $n$th term is divisible by ${m}$.",
        )
        return Problem(rng.choice(texts), str(n), {"ask": "length", "d": d, "m": m})
    ask = rng.choice(("sum", "square", "gcd"))
    n = rng.randint(8, 80)
    if ask == "sum":
        m = rng.choice((7, 9, 11, 13, 100, 1000, 37, 101))
        total = sum(int(str(d) * k) for k in range(1, n + 1))
        texts = phrasings(
            f"Let $S = {d} + {d}{d} + {d}{d}{d} + \\cdots$ be the sum of {n} numbers, the last of "
            f"which consists of {n} digits ${d}$. Find the remainder when $S$ is divided by ${m}$.",
            f"{who} adds the numbers ${d}$, ${d}{d}$, ${d}{d}{d}$ and so on; the last summand "
            f"has {n} "
            f"digits, all of them {d}. What is the sum modulo ${m}$?",
        )
        values = {"ask": ask, "d": d, "n": n, "m": m}
        return Problem(rng.choice(texts), str(total % m), values)
    if ask == "square":
        d = rng.choice((3, 6, 9))
        e = rng.randint(2, 9)
        total = digit_sum(int(str(d) * n) * e)
        texts = phrasings(
            f"Compute the sum of the decimal digits of ${e} \\cdot "
            f"\\underbrace{{{d}{d}\\ldots{d}}}_{{{n}}}$, where the second factor has {n} digits.",
            f"How large is the digit sum of the product of ${e}$ and a number written with {n} "
            f"digits ${d}$?",
            f"The number that consists of {n} digits ${d}$ is multiplied by ${e}$. What is the "
            "sum of "
            "the digits of the product?",
            f"Let $A = {d}{d}\\ldots{d}$ with {n} digits, all equal to ${d}$. Find the digit sum "
            "of "
            f"${e} \\cdot A$.",
            f"{who} multiplies a {n}-digit number, each of whose digits is {d}, by {e} and adds up "
            "the digits of the result. What comes out?",
        )
        return Problem(rng.choice(texts), str(total), {"ask": ask, "d": d, "n": n, "e": e})
    a, b = redrawn(
        lambda: (rng.randint(6, 120), rng.randint(6, 120)),
        lambda p: 1 < gcd(*p) < min(p) and gcd(*p) < 8,
    )
    texts = phrasings(
        f"What is the greatest common divisor of the two numbers that are written with {a} and "
        f"with {b} digits, respectively, all digits being ${d}$?",
        "For a positive integer $n$, let $u_n$ be the number with $n$ digits, all equal to "
        f"${d}$. Calculate $\\gcd(u_{{{a}}}, u_{{{b}}})$.",
        f"Let $X$ be the number that consists of {a} digits ${d}$ and $Y$ the number that "
        "consists of "
        f"{b} digits ${d}$. What is the greatest common divisor of $X$ and $Y$?",
        f"Two numbers are written with the digit ${d}$ only; one has {a} digits, the other has "
        f"{b}. "
        "Find the largest integer that divides both.",
    )
    answer = int(str(d) * gcd(a, b))
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "d": d, "a": a, "b": b})


FAMILIES = (
    math_family("numbers_reversals", _reversals, "digits exchanged, moved or inserted"),
    math_family("numbers_palindromes", _palindromes, "numbers that read the same backwards"),
    seldom(
        math_family("numbers_repeated_digits", _repeated_digits, "numbers with one digit only"), "0"
    ),
)
