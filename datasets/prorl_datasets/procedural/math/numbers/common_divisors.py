"""Greatest common divisors, least common multiples, and multipliers that make perfect powers.

Leaves out: the divisors of one number (``divisors``).
"""

from __future__ import annotations

from math import gcd, lcm, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import power
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wording import ordinal

SIGNALS = (
    ("Two lamps", "flash"), ("Two buses", "leave the station"), ("Two church bells", "ring"),
    ("Two sprinklers", "switch on"), ("Two comets", "are seen"), ("Two runners", "cross the line"),
)  # fmt: skip


def _gcd_lcm(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        ask = rng.choice(("lcm story", "gcd story", "gcd"))
        if ask == "lcm story":
            a, b = redrawn(
                lambda: (rng.randint(6, 60), rng.randint(6, 60)),
                lambda p: 1 < gcd(*p) < min(p) and lcm(*p) < 900,
            )
            start, (things, act) = rng.choice(("noon", "midnight", "9 a.m.")), rng.choice(SIGNALS)
            texts = phrasings(
                f"{things} {act} together at {start}. From then on, one of them does so every {a} "
                f"minutes and the other every {b} minutes. After how many minutes does it happen "
                "together again for the first time?",
                f"What is the smallest positive integer that is a multiple of both ${a}$ and "
                f"${b}$?",
                f"{who} lays tiles that measure {a} cm by {b} cm, all in the same direction, to "
                "fill a square. What is the side, in centimeters, of the smallest possible square?",
                f"A gear with {a} teeth turns one with {b} teeth, and a dot of paint marks the two "
                f"teeth that touch at the start. How many teeth must pass before the two marked "
                "teeth touch each other again?",
                f"Hot dogs are sold in packs of {a} and buns in packs of {b}. {who} wants equally "
                "many of both, with none left over. What is the least number of hot dogs needed?",
            )
            return Problem(rng.choice(texts), str(lcm(a, b)), {"ask": "lcm", "numbers": [a, b]})
        g = rng.randint(4, 40)
        x, y, z = redrawn(
            lambda: tuple(rng.sample(range(2, 24), 3)), lambda t: gcd(*t) == 1 and gcd(*t[:2]) > 1
        )
        a, b, c = g * x, g * y, g * z
        texts = phrasings(
            f"Find the greatest common divisor of ${a}$, ${b}$ and ${c}$.",
            f"{who} has ribbons of {a}, {b} and {c} centimeters and cuts all of them into pieces "
            "of "
            "one common length, a whole number of centimeters, wasting nothing. How long can the "
            "pieces be at most, in centimeters?",
            f"A florist makes identical bouquets out of {a} roses, {b} tulips and {c} lilies, and "
            "every flower is used. What is the greatest possible number of bouquets?",
            f"What is the largest integer that divides each of the numbers ${a}$, ${b}$ and ${c}$?",
            f"Three classes with {a}, {b} and {c} books to carry pack them into boxes, the same "
            "number of books in every box and no two classes sharing a box. What is the largest "
            "possible number of books in a box?",
        )
        return Problem(rng.choice(texts), str(g), {"ask": "gcd", "numbers": [a, b, c]})
    if level == 2:
        ask = rng.choice(("other", "remainders", "pairs below"))
        if ask == "other":
            g = rng.randint(3, 20)
            x, y = redrawn(lambda: rng.sample(range(2, 16), 2), lambda p: gcd(*p) == 1)
            a, b, m = g * x, g * y, g * x * y
            texts = phrasings(
                f"The greatest common divisor of two positive integers is ${g}$ and their least "
                f"common multiple is ${m}$. One of the integers is ${a}$. What is the other?",
                f"If $\\gcd({a}, n) = {g}$ and $\\operatorname{{lcm}}({a}, n) = {m}$ for a "
                "positive "
                "integer $n$, find $n$.",
                f"{who} forgot the second of two numbers. The first is {a}; the largest number "
                "that "
                f"divides both is {g}, and the smallest positive number that both divide is {m}. "
                "Which number was forgotten?",
                f"Determine the positive integer $k$ whose least common multiple with ${a}$ is "
                f"${m}$ "
                f"and whose greatest common divisor with ${a}$ is ${g}$.",
            )
            return Problem(rng.choice(texts), str(b), {"ask": ask, "a": a, "g": g, "m": m})
        if ask == "remainders":
            d = rng.randint(11, 60)
            x, y = redrawn(lambda: rng.sample(range(3, 40), 2), lambda p: gcd(*p) == 1)
            r, s = rng.randint(1, 10), rng.randint(1, 10)
            a, b = d * x + r, d * y + s
            texts = phrasings(
                f"When ${a}$ is divided by the positive integer $n$, the remainder is ${r}$; when "
                f"${b}$ is divided by $n$, the remainder is ${s}$. What is the largest possible "
                "value of $n$?",
                f"Find the greatest integer which leaves remainder ${r}$ when it divides ${a}$ and "
                f"remainder ${s}$ when it divides ${b}$.",
                f"A teacher shares {a} stickers and {b} pencils equally among the pupils of a "
                "class, "
                f"giving out as many as possible; {r} stickers and {s} pencils remain. At most how "
                "many pupils are in the class?",
            )
            values = {"ask": ask, "a": a, "b": b, "r": r, "s": s}
            return Problem(rng.choice(texts), str(d), values)
        g, top = rng.choice((6, 8, 9, 10, 12, 14, 15, 16, 18, 20)), rng.randint(120, 400)
        n = rng.choice([k * g for k in range(3, 16)])
        answer = sum(gcd(n, k) == g for k in range(1, top + 1))
        texts = phrasings(
            f"For how many positive integers $k \\le {top}$ is the greatest common divisor of "
            "$k$ and "
            f"${n}$ equal to ${g}$?",
            f"How many of the numbers $1, 2, 3, \\ldots, {top}$ share with ${n}$ the greatest "
            "common "
            f"divisor ${g}$?",
            f"{who} colors each integer $k$ from $1$ to ${top}$ red if $\\gcd(k, {n}) = {g}$ and "
            "blue "
            "otherwise. How many integers are red?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "g": g, "n": n, "top": top})
    ask = rng.choice(("sum", "count", "product"))
    g = rng.randint(3, 18)
    x, y = redrawn(lambda: sorted(rng.sample(range(2, 18), 2)), lambda p: gcd(*p) == 1)
    if ask == "count":
        primes = sorted(rng.sample((2, 3, 5, 7, 11), rng.choice((2, 3))))
        ratio = prod(p ** rng.randint(1, 3) for p in primes)
        ordered = rng.random() < 0.5
        answer = 2 ** len(primes) if ordered else 2 ** (len(primes) - 1)
        texts = (
            (
                f"How many {'ordered ' if ordered else 'unordered '}pairs of positive integers "
                "have "
                f"greatest common divisor ${g}$ and least common multiple ${g * ratio}$?"
            ),
            f"Find the number of {'ordered' if ordered else 'unordered'} pairs $\\{{a, b\\}}$ of "
            f"positive integers with $\\gcd(a, b) = {g}$ and $\\operatorname{{lcm}}(a, b) = "
            f"{g * ratio}$.".replace("\\{a, b\\}", "(a, b)" if ordered else "\\{a, b\\}"),
        )
        power_of = rng.randint(2, 3)
        top = prod(p ** (power_of + i % 2) for i, p in enumerate(primes))
        if rng.random() < 0.6:
            exponents = [power_of + i % 2 for i in range(len(primes))]
            answer = prod(2 * e + 1 for e in exponents)
            texts = phrasings(
                f"How many ordered pairs $(a, b)$ of positive integers have least common multiple "
                f"${top}$?",
                f"Find the number of ordered pairs $(x, y)$ of positive integers such that "
                f"$\\operatorname{{lcm}}(x, y) = {top}$.",
                f"{who} picks two positive integers, one after the other, whose least common "
                f"multiple is {top}; they may be equal, and the order of picking matters. In how "
                "many ways can this be done?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": "lcm pairs", "lcm": top})
        values = {"ask": ask, "g": g, "m": g * ratio, "ordered": ordered}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "sum":
        a, b = g * x, g * y
        total, m = a + b, lcm(a, b)
        texts = phrasings(
            f"Two positive integers add up to ${total}$, and their least common multiple is ${m}$. "
            "Find the larger of the two.",
            f"The sum of two positive integers is ${total}$ and their least common multiple is "
            f"${m}$. What is the positive difference between the two numbers?",
            f"{who} is thinking of two positive integers. Together they make {total}, and the "
            f"smallest positive integer divisible by both is {m}. What is the smaller one?",
        )
        pick = rng.randrange(3)
        answer = (b, b - a, a)[pick]
        values = {"ask": ("larger", "difference", "smaller")[pick], "total": total, "m": m}
        return Problem(texts[pick], str(answer), values)
    a, b = g * x, g * y
    least = redrawn(
        lambda: g * g * rng.choice([p * q for p in (2, 3, 5, 7) for q in (3, 4, 5, 7, 8, 9, 11)]),
        lambda n: n > g * g,
    )
    ratio = least // (g * g)
    sums = [
        g * (d + ratio // d)
        for d in range(1, ratio + 1)
        if ratio % d == 0 and gcd(d, ratio // d) == 1
    ]
    low = rng.random() < 0.6
    texts = phrasings(
        f"The product of two positive integers is ${least}$ and their greatest common divisor is "
        f"${g}$. What is the {'smallest' if low else 'largest'} possible value of their sum?",
        f"Suppose $ab = {least}$ and $\\gcd(a, b) = {g}$ for positive integers $a$ and $b$. Find "
        "the "
        f"{'minimum' if low else 'maximum'} of $a + b$.",
        f"{who} cuts a rectangle with integer sides out of {least} unit squares so that the "
        "greatest "
        f"common divisor of the two side lengths is {g}. What is the "
        f"{'least' if low else 'greatest'} possible sum of the length and the width?",
    )
    values = {"ask": "least sum" if low else "greatest sum", "product": least, "g": g}
    return Problem(rng.choice(texts), str(min(sums) if low else max(sums)), values)


def _multipliers(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    primes = (2, 3, 5, 7, 11)

    def number(count: int, top: int) -> dict[int, int]:
        chosen = sorted(rng.sample(primes, count))
        return {p: rng.randint(1, top) for p in chosen}

    def least(f: dict[int, int], k: int) -> int:
        return prod(p ** (-e % k) for p, e in f.items())

    if level == 1:
        k = rng.choice((2, 2, 3))
        name = ("square", "cube")[k - 2]
        f = redrawn(
            lambda: number(rng.choice((2, 3)), 4),
            lambda f: least(f, k) > 1 and prod(p**e for p, e in f.items()) < 5000,
        )
        n = prod(p**e for p, e in f.items())
        multiply = rng.random() < 0.6
        if multiply:
            answer = least(f, k)
            texts = phrasings(
                f"What is the smallest positive integer $k$ for which ${n}k$ is a perfect {name}?",
                f"By which least positive integer must ${n}$ be multiplied to give the {name} of "
                "an integer?",
                f"{who} multiplies {n} by a positive integer and obtains a perfect {name}. Find "
                "the "
                "least integer that makes this possible.",
                f"Find the smallest positive integer $m$ such that the product of $m$ and ${n}$ is "
                f"equal to $x^{k}$ for some integer $x$.",
                f"A warehouse receives boxes of {n} small cubes each. What is the least number of "
                f"boxes whose contents, taken together, can be laid out as a complete "
                f"{'square, one layer thick' if k == 2 else 'large cube'}?",
            )
        else:
            answer = prod(p ** (e % k) for p, e in f.items())
            texts = phrasings(
                f"What is the smallest positive integer by which ${n}$ must be divided so that the "
                f"quotient is a perfect {name}?",
                f"Find the least positive integer $d$ that divides ${n}$ in such a way that "
                f"$\\frac{{{n}}}{{d}}$ is the {name} of an integer.",
                f"{who} divides {n} by a positive integer and gets a perfect {name}. What is the "
                f"smallest number that {who} can have divided by?",
            )
        values = {"ask": "multiply" if multiply else "divide", "n": n, "k": k}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        f = redrawn(lambda: number(3, 5), lambda f: len(set(f.values())) > 1)
        shown = " \\cdot ".join(power(str(p), e) for p, e in f.items())
        k = rng.choice((2, 3, 4, 6))
        if k == 6:
            answer = least(f, 6)
            texts = phrasings(
                f"Find the least positive integer $m$ for which $m \\cdot {shown}$ is both a "
                "perfect "
                "square and a perfect cube.",
                f"What is the smallest positive integer whose product with ${shown}$ is the "
                "square of "
                "one integer and the cube of another?",
                f"{who} wants to multiply $N = {shown}$ by a positive integer, as small as "
                "possible, "
                "so that the result is a square number and a cube number at once. Which integer "
                "should be used?",
            )
            f_values = {"ask": "multiply", "factors": [list(x) for x in f.items()], "k": 6}
            return Problem(rng.choice(texts), str(answer), f_values)
        name = {2: "perfect square", 3: "perfect cube", 4: "fourth power of an integer"}[k]
        cofactor = redrawn(lambda: rng.randint(2, 40), lambda c: least(f, k) % c > 0)
        merged = dict(f)
        rest, p = cofactor, 2
        while rest > 1:
            if rest % p:
                p += 1
                continue
            merged[p] = merged.get(p, 0) + 1
            rest //= p
        answer = least(merged, k)
        texts = phrasings(
            f"Let $N = {shown}$. What is the smallest positive integer $m$ such that "
            f"${cofactor}mN$ "
            f"is a {name}?",
            f"Find the smallest positive integer $t$ for which the number ${cofactor} \\cdot t "
            "\\cdot "
            f"{shown}$ is a {name}.",
            f"The number $A = {shown}$ is multiplied first by ${cofactor}$ and then by an unknown "
            f"positive integer; the final result is a {name}. Find the least value that the "
            "unknown "
            "integer can have.",
        )
        f_values = {"ask": "cofactor", "factors": [list(x) for x in f.items()], "k": k,
                    "cofactor": cofactor}  # fmt: skip
        return Problem(rng.choice(texts), str(answer), f_values)
    (a, i), (b, j) = redrawn(
        lambda: (
            (rng.choice((2, 3, 5, 6, 7)), rng.choice((2, 3))),
            (rng.choice((2, 3, 5, 6, 7, 10)), rng.choice((2, 3, 5))),
        ),
        lambda p: gcd(p[0][0], p[1][0]) == 1 and gcd(p[0][1], p[1][1]) == 1,
    )
    exponents: dict[int, int] = {}
    for p in primes:
        u, v = _valuation(a, p), _valuation(b, p)
        if u or v:
            exponents[p] = next(
                e for e in range(1, 200) if (e - u) % i == 0 and (e - v) % j == 0 and e >= max(u, v)
            )
    names = {2: "perfect square", 3: "perfect cube", 5: "perfect fifth power"}
    ask = rng.choice(("number", "divisors"))
    n = prod(p**e for p, e in exponents.items())
    count = prod(e + 1 for e in exponents.values())
    if n > 10**7:
        ask = "divisors"
    wish = "Find $n$." if ask == "number" else "How many positive divisors does $n$ have?"
    texts = phrasings(
        f"Let $n$ be the smallest positive integer such that $\\frac{{n}}{{{a}}}$ is a "
        f"{names[i]} and "
        f"$\\frac{{n}}{{{b}}}$ is a {names[j]}. {wish}",
        f"The positive integer $n$ is divisible by ${a}$ and by ${b}$. Divided by ${a}$ it is a "
        f"{names[i]}, and divided by ${b}$ it is a {names[j]}; moreover, it is the least integer "
        "of "
        f"this kind. {wish}",
        f"{who} looks for positive integers $n$ with $n = {a}x^{i} = {b}y^{j}$, where $x$ and "
        "$y$ are "
        f"positive integers, and takes the smallest of them. {wish}",
    )
    values = {"ask": ask, "a": a, "i": i, "b": b, "j": j}
    return Problem(rng.choice(texts), str(n if ask == "number" else count), values)


def _valuation(n: int, p: int) -> int:
    count = 0
    while n % p == 0:
        n //= p
        count += 1
    return count


def _multiples(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    a, b = redrawn(lambda: sorted(rng.sample(range(2, 16), 2)), lambda p: p[1] % p[0] > 0)
    top = rng.randint(100, 1000)
    if level == 1:
        ask = rng.choice(("or", "not"))
        count = sum(n % a == 0 or n % b == 0 for n in range(1, top + 1))
        if ask == "not":
            count = sum(n % a == 0 and n % b > 0 for n in range(1, top + 1))
            texts = phrasings(
                f"How many positive integers up to and including ${top}$ are multiples of ${a}$ "
                "but "
                f"not of ${b}$?",
                f"From the list $1, 2, 3, \\ldots, {top}$, {who} circles the multiples of ${a}$ "
                "and "
                f"then erases the circles around multiples of ${b}$. How many circles remain?",
                f"Count the integers $n$ with $1 \\le n \\le {top}$ that are divisible by ${a}$ "
                "and "
                f"not divisible by ${b}$.",
                f"Every {ordinal(a)} visitor of a museum gets a postcard, except that every "
                f"{ordinal(b)} visitor "
                f"gets a poster instead. On a day with {top} visitors, how many postcards are "
                "given "
                "away?",
            )
        else:
            texts = phrasings(
                f"Along a road of {top} kilometers there is a lamp at every {ordinal(a)} "
                f"kilometer mark and a bench at every {ordinal(b)} kilometer mark, counted from "
                f"the start. At how many of the marks $1, 2, \\ldots, {top}$ is there something "
                "to see?",
                f"Let $A$ be the set of multiples of ${a}$ and $B$ the set of multiples of ${b}$ "
                f"among $1, 2, \\ldots, {top}$. How many elements does $A \\cup B$ have?",
                f"How many of the integers from $1$ to ${top}$ are divisible by ${a}$ or by "
                f"${b}$ (or "
                "by both)?",
                f"A shop numbers its customers $1, 2, \\ldots, {top}$. Customers whose number is a "
                f"multiple of ${a}$ or of ${b}$ get a gift, but nobody gets two. How many gifts "
                "are "
                "needed?",
                f"Find the number of positive integers not greater than ${top}$ that have at least "
                f"one of the divisors ${a}$ and ${b}$.",
                f"{who} shades every {ordinal(a)} square of a strip of {top} squares, and also "
                f"every {ordinal(b)} "
                "square (some squares are shaded twice). How many squares are shaded at all?",
            )
        return Problem(rng.choice(texts), str(count), {"ask": ask, "a": a, "b": b, "top": top})
    if level == 2:
        a, b, c = redrawn(
            lambda: sorted(rng.sample(range(2, 14), 3)),
            lambda t: t[1] % t[0] > 0 and t[2] % t[0] > 0 and t[2] % t[1] > 0,
        )
        ask = rng.choice(("none", "exactly one", "at least two"))
        wanted = {"none": (0,), "exactly one": (1,), "at least two": (2, 3)}[ask]
        count = sum(sum(n % d == 0 for d in (a, b, c)) in wanted for n in range(1, top + 1))
        texts = phrasings(
            f"Three light bulbs blink during the seconds $1, 2, \\ldots, {top}$: the first in "
            f"every second whose number is a multiple of {a}, the second for multiples of {b}, "
            f"the third for multiples of {c}. In how many of these seconds does it happen that "
            f"{ask} of the bulbs {'blink' if ask == 'at least two' else 'blinks'}?",
            f"Let $d(n)$ be the number of elements of $\\{{{a}, {b}, {c}\\}}$ that divide $n$. "
            f"For how many $n$ from $1$ to ${top}$ is $d(n)$ "
            f"{dict(zip(('none', 'exactly one', 'at least two'), ('equal to $0$', 'equal to $1$', 'greater than $1$'), strict=True))[ask]}?",
            f"How many positive integers $n \\le {top}$ are divisible by {ask} of the numbers "
            f"${a}$, "
            f"${b}$ and ${c}$?",
            f"Three hoses water the places $1$ to ${top}$ of a long row of trees: the first waters "
            f"every {ordinal(a)} tree, the second every {ordinal(b)}, the third every "
            f"{ordinal(c)}, each counting from "
            f"tree $1$ on. How many trees are watered by {ask} of the hoses?",
            f"For each integer from $1$ to ${top}$, {who} checks divisibility by ${a}$, by ${b}$ "
            "and "
            f"by ${c}$. How many integers pass {ask} of the three checks?",
            f"In the set $\\{{1, 2, \\ldots, {top}\\}}$, find the number of elements that are "
            f"multiples of {ask} of ${a}, {b}, {c}$.",
        )
        values = {"ask": ask, "numbers": [a, b, c], "top": top}
        return Problem(rng.choice(texts), str(count), values)
    a, b = redrawn(lambda: sorted(rng.sample(range(2, 8), 2)), lambda p: p[1] % p[0] > 0)
    position = rng.randint(100, 900)
    ask = rng.choice(("position", "sum"))
    if ask == "position":
        found = [n for n in range(1, 8 * position) if n % a and n % b]
        answer = found[position - 1]
        start = ", ".join(map(str, found[:6]))
        texts = phrasings(
            f"The positive integers that are divisible neither by ${a}$ nor by ${b}$ are written "
            "in "
            f"increasing order: ${start}, \\ldots$ Which integer is number ${position}$ in this "
            "list?",
            f"All multiples of ${a}$ and all multiples of ${b}$ are deleted from the sequence "
            f"$1, 2, 3, \\ldots$ of positive integers. What is the ${position}$-th term of the "
            "sequence that remains?",
            f"{who} counts aloud from 1 upwards but skips every number that is a multiple of {a} "
            "or "
            f"of {b}. Which number is the one spoken at place {position}?",
        )
        values = {"ask": ask, "a": a, "b": b, "position": position}
        return Problem(rng.choice(texts), str(answer), values)
    total = sum(n for n in range(1, top + 1) if (n % a == 0) != (n % b == 0))
    texts = phrasings(
        f"What is the sum of all positive integers not exceeding ${top}$ that are divisible by "
        f"exactly one of the numbers ${a}$ and ${b}$?",
        f"Find the sum of those elements of $\\{{1, 2, \\ldots, {top}\\}}$ which are a multiple of "
        f"${a}$ or of ${b}$, but not of both.",
        f"{who} adds all the integers from 1 to {top} that pass one, and only one, of two tests: "
        f"being divisible by {a}, and being divisible by {b}. What is the total?",
    )
    return Problem(rng.choice(texts), str(total), {"ask": ask, "a": a, "b": b, "top": top})


FAMILIES = (
    math_family(
        "numbers_gcd_lcm", _gcd_lcm, "common divisors and multiples, and numbers from them"
    ),
    math_family("numbers_multipliers", _multipliers, "multipliers that make perfect powers"),
    math_family("numbers_multiples", _multiples, "multiples of one number, not of another"),
)
