"""Problems on digit sums and missing digits."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

PLACES = ("", "one", "two", "three", "four", "five", "six")
"""Words for the number of digits of a number."""


def digit_sum(n: int) -> int:
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
            texts = WORDINGS.all("digit sums, level 1, power of ten", n=n, k=k, who=who)
            text = rng.choice(texts)
            if n < 10:
                text = text.replace(f"^{{{n}}}", f"^{n}")
            return Problem(text, str(answer), {"ask": ask, "n": n, "k": k})
        a = rng.randint(3, 60)
        b = max(2, a + rng.randint(-8, 8))
        c = rng.choice((3, 7, 11, 13, 17, 19, 21, 23))
        answer = digit_sum(2**a * 5**b * c)
        texts = WORDINGS.all("digit sums, level 1", a=a, b=b, c=c, who=who)
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
            texts = WORDINGS.all("digit sums, level 2, count", word=word, total=total)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "places": places, "total": total}
            )
        if ask == "least":
            total, k = rng.randint(12, 50), rng.choice((2, 4, 5, 7, 8, 11, 13, 25))
            answer = _least_multiple_with_digit_sum(total, k)
            texts = WORDINGS.all("digit sums, level 2, least", k=k, total=total, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total, "k": k})
        top = rng.choice((99, 199, 250, 300, 499, 500, 750, 999, 1000, 1234, 2000))
        top += rng.randint(0, 60)
        low = rng.randint(1, 40)
        answer = sum(digit_sum(x) for x in range(low, top + 1))
        texts = WORDINGS.all("digit sums, level 2", low=low, top=top, low_plus_one=low + 1, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": low, "top": top})
    ask = rng.choice(("equation", "balanced", "used"))
    if ask == "equation":
        total = redrawn(
            lambda: _with_digits(rng.randint(150, 3000)),
            lambda t: len([x for x in range(max(t - 40, 1), t) if _with_digits(x) == t]) == 1,
        )
        answer = next(x for x in range(max(total - 40, 1), total) if _with_digits(x) == total)
        texts = WORDINGS.all("digit sums, equation", total=total, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total})
    if ask == "balanced":
        top, k = rng.choice((300, 500, 600, 800, 1000, 1500, 2000)), rng.randint(3, 9)
        answer = sum(digit_sum(x) % k == 0 for x in range(1, top))
        texts = WORDINGS.all("digit sums, balanced", top=top, k=k, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "k": k})
    digits = rng.randint(200, 3500)
    n = used = 0
    while used < digits:
        n += 1
        used += len(str(n))
    digits, last = used, n
    d = rng.randint(1, 9)
    times = sum(str(x).count(str(d)) for x in range(1, last + 1))
    texts = WORDINGS.all("digit sums", digits=digits, d=d, who=who)
    return Problem(rng.choice(texts), str(times), {"ask": ask, "digits": digits, "d": d})


def _least_multiple_with_digit_sum(total: int, k: int) -> int:
    waiting = [(0, 0, 0)]
    visited = set()
    for number, digits_left, used in waiting:
        for digit in range(0 if number else 1, 10):
            grown = (10 * number + digit, (10 * digits_left + digit) % k, used + digit)
            if grown[1:] == (0, total):
                return grown[0]
            if grown[2] <= total and grown[1:] not in visited:
                visited.add(grown[1:])
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
        """Return (A, B, number) for each choice of the digits A and B that makes the number divisible by m."""
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
        shape = redrawn(lambda: pattern(rng.randint(3, 6), 1), lambda s: len(filled(s, m)) == 1)
        only = filled(shape, m)[0]
        blank = shape.replace("A", "\\square ")
        texts = WORDINGS.all(
            "missing digits, level 1",
            named_shape=named(shape),
            m=m,
            blank_shape=shape.replace("A", "_"),
            len_shape=len(shape),
            strip=blank.strip(),
            who=who,
            shape=shape,
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
            wish = WORDINGS.all("missing digits, level 2, count")
        elif ask == "sums":
            answer = sum({a + b for a, b, _ in pairs})
            wish = WORDINGS.all("missing digits, level 2, sums")
        else:
            answer = max(n for _, _, n in pairs)
            wish = WORDINGS.all("missing digits, level 2")
        texts = WORDINGS.all(
            "missing digits 6",
            m=m,
            named_shape=named(shape),
            wish=rng.choice(wish),
            drawn=rng.choice(wish),
            wish_2=rng.choice(wish),
            shape=len(shape),
            drawn_2=rng.choice(wish),
            who=who,
            drawn_3=rng.choice(wish),
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "shape": shape, "m": m})

    def draw() -> tuple[str, int, int, int]:
        m, k = rng.choice((7, 9, 11, 12, 13, 33, 45, 99)), rng.choice((4, 5, 8, 9, 11, 16))
        return pattern(rng.randint(4, 6), 2), m, k, rng.randint(2, k - 1)

    def both(shape: str, m: int, k: int, r: int) -> list[tuple[int, int, int]]:
        return [f for f in filled(shape, m) if f[2] % k == r] if gcd(m, k) == 1 else []

    shape, m, k, r = drawn = redrawn(draw, lambda d: len(both(*d)) == 1)
    a, b, _ = both(*drawn)[0]
    texts = WORDINGS.all("missing digits 7", shape=named(shape), m=m, r=r, k=k, who=who)
    values = {"ask": "both", "shape": shape, "m": m, "k": k, "r": r}
    return Problem(rng.choice(texts), str(a * b + a + b), values)


FAMILIES = (
    math_family("numbers_digit_sums", _digit_sums, "sums of digits and how often digits occur"),
    math_family("numbers_missing_digits", _missing_digits, "lost digits found by divisibility"),
)
