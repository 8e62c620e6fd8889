"""Problems on reversed numbers, palindromes and repdigits."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.numbers.digits import PLACES, digit_sum
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


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
        texts = WORDINGS.all("reversals, level 1", total=total, gap=9 * gap, who=who)
        return Problem(rng.choice(texts), str(n), {"ask": "two", "total": total, "gap": 9 * gap})
    if level == 2:
        ask = rng.choice(("multiple of sum", "count gap", "sum with reverse"))
        if ask == "multiple of sum":
            k, r = redrawn(
                lambda: (rng.randint(3, 9), rng.randint(1, 9)),
                lambda p: len([n for n in range(10, 100) if n == p[0] * digit_sum(n) + p[1]]) == 1,
            )
            n = next(n for n in range(10, 100) if n == k * digit_sum(n) + r)
            texts = WORDINGS.all("reversals, level 2, multiple of sum", r=r, k=k, who=who)
            return Problem(rng.choice(texts), str(n), {"ask": ask, "k": k, "r": r})
        if ask == "count gap":
            gap = rng.randint(1, 8)
            low = rng.randint(4, 12)
            answer = sum(
                int(str(n)[::-1]) - n == 99 * gap and digit_sum(n) >= low for n in range(100, 1000)
            )
            texts = WORDINGS.all("reversals, level 2, count gap", low=low, gap=99 * gap, who=who)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "gap": 99 * gap, "low": low}
            )
        total = 11 * rng.randint(4, 16)
        answer = sum(n + int(str(n)[::-1]) == total for n in range(10, 100) if n % 10)
        product = rng.randint(0, 1) == 1
        sums = [n for n in range(10, 100) if n % 10 and n + int(str(n)[::-1]) == total]
        texts = WORDINGS.all("reversals, level 2", total=total)
        if product:
            answer = max((n // 10) * (n % 10) for n in sums)
            texts = WORDINGS.all("reversals, level 2, product", total=total)
        values = {"ask": "product" if product else ask, "total": total}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("move", "insert"))
    if ask == "move":
        n = redrawn(lambda: rng.randint(102, 987), lambda n: n % 10 > 0 and _moved(n) != n)
        gap = _moved(n) - n
        numbers = [x for x in range(100, 1000) if x % 10 and _moved(x) - x == gap]
        total = digit_sum(n)
        numbers = [x for x in numbers if digit_sum(x) == total]
        if len(numbers) > 1:
            return _reversals(rng, level)
        change = f"increases by ${gap}$" if gap > 0 else f"decreases by ${-gap}$"
        texts = WORDINGS.all("reversals, move", change=change, total=total, gap=gap, who=who)
        return Problem(rng.choice(texts), str(n), {"ask": ask, "gap": gap, "total": total})
    k = rng.randint(6, 9)
    d = rng.randint(0, 9)
    numbers = [n for n in range(10, 100) if (n // 10 * 100 + d * 10 + n % 10) == k * n]
    if not numbers:
        k = rng.randint(2, 5)
        big = rng.choice((10**4, 10**5))
        lead = rng.randint(1, 9)
        solutions = [x for x in range(big // 10, big) if 10 * x + lead == k * (lead * big + x)]
        if len(solutions) != 1:
            return _reversals(rng, level)
        places = len(str(big)) - 1
        texts = WORDINGS.all("reversals", places=places, k=k, lead=lead)
        values = {"ask": "append", "places": places, "k": k, "lead": lead}
        return Problem(rng.choice(texts), str(solutions[0]), values)
    texts = WORDINGS.all("reversals, 2", d=d, k=k)
    return Problem(rng.choice(texts), str(sum(numbers)), {"ask": ask, "d": d, "k": k})


def _moved(n: int) -> int:
    return n % 10 * 100 + n // 10


def _palindromes(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def mirrored(low: int, high: int) -> list[int]:
        return [n for n in range(low, high) if str(n) == str(n)[::-1]]

    explained = WORDINGS.draw(rng, "palindromes")
    if level == 1:
        low = rng.randint(10, 300)
        high = rng.randint(low + 300, 4000)
        answer = len(mirrored(low, high + 1))
        texts = WORDINGS.all("palindromes 11", explained=explained, low=low, high=high, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": "count", "low": low, "high": high})
    if level == 2:
        places, m = rng.choice((3, 4, 5)), rng.choice((2, 3, 4, 5, 6, 8, 9, 12, 15))
        numbers = [n for n in mirrored(10 ** (places - 1), 10**places) if n % m == 0]
        word = PLACES[places]
        ask = rng.choice(("multiples", "largest", "digit sum"))
        if ask == "largest":
            m = rng.choice((6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 28, 35, 36, 45))
            numbers = [n for n in mirrored(10 ** (places - 1), 10**places) if n % m == 0]
            low = rng.random() < 0.5
            texts = WORDINGS.all(
                "palindromes 12",
                explained=explained,
                smallest="smallest" if low else "largest",
                word=word,
                m=m,
                least="least" if low else "greatest",
            )
            values = {"ask": "least" if low else "greatest", "places": places, "m": m}
            return Problem(rng.choice(texts), str(min(numbers) if low else max(numbers)), values)
        if ask == "digit sum":
            total = rng.randint(6, 9 * places - 8)
            count = [n for n in mirrored(10 ** (places - 1), 10**places) if digit_sum(n) == total]
            if not count:
                total += 1
                count = [
                    n for n in mirrored(10 ** (places - 1), 10**places) if digit_sum(n) == total
                ]
            texts = WORDINGS.all("palindromes 13", explained=explained, word=word, total=total)
            values = {"ask": ask, "places": places, "total": total}
            return Problem(rng.choice(texts), str(len(count)), values)
        texts = WORDINGS.all("palindromes 14", explained=explained, word=word, m=m, who=who)
        return Problem(rng.choice(texts), str(len(numbers)), {"ask": ask, "places": places, "m": m})
    places = rng.choice((4, 5, 6))
    m = rng.choice((4, 5, 6, 7, 8, 9, 11, 12))
    numbers = mirrored(10 ** (places - 1), 10**places) if places < 6 else [
        int(str(h) + str(h)[::-1]) for h in range(100, 1000)
    ]  # fmt: skip
    r = rng.randint(1, m - 1)
    word = PLACES[places]
    ask = rng.choice(("position", "remainder", "total"))
    if ask == "position":
        place = rng.randint(40, len(numbers) - 10) if places < 6 else rng.randint(100, 880)
        texts = WORDINGS.all("palindromes 15", explained=explained, word=word, place=place)
        values = {"ask": ask, "places": places, "place": place}
        return Problem(rng.choice(texts), str(numbers[place - 1]), values)
    if ask == "remainder":
        fitting = [n for n in numbers if n % m == r]
        if not fitting:
            return _palindromes(rng, level)
        texts = WORDINGS.all("palindromes, remainder", explained=explained, word=word, r=r, m=m)
        values = {"ask": ask, "places": places, "m": m, "r": r}
        return Problem(rng.choice(texts), str(len(fitting)), values)
    first = rng.randint(1, 9)
    total = sum(n for n in numbers if n // 10 ** (places - 1) >= first)
    texts = WORDINGS.all("palindromes 16", explained=explained, word=word, first=first, who=who)
    return Problem(rng.choice(texts), str(total), {"ask": ask, "places": places, "first": first})


def _repeated_digits(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    d = rng.randint(1, 9)
    if level == 1:
        m, n = rng.choice((3, 6, 7, 8, 9, 11, 12, 13, 37)), rng.randint(7, 80)
        answer = int(str(d) * n) % m
        texts = WORDINGS.all("repeated digits, level 1", n=n, d=d, m=m, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": "remainder", "d": d, "n": n, "m": m})
    if level == 2:
        m = redrawn(lambda: rng.randint(7, 120), lambda m: m % 2 > 0 and m % 5 > 0)
        n = next(n for n in range(1, 2000) if int(str(d) * n) % m == 0)
        texts = WORDINGS.all("repeated digits, level 2", d=d, m=m, who=who)
        return Problem(rng.choice(texts), str(n), {"ask": "length", "d": d, "m": m})
    ask = rng.choice(("sum", "square", "gcd"))
    n = rng.randint(8, 80)
    if ask == "sum":
        m = rng.choice((7, 9, 11, 13, 100, 1000, 37, 101))
        total = sum(int(str(d) * k) for k in range(1, n + 1))
        texts = WORDINGS.all("repeated digits, sum", d=d, n=n, m=m, who=who)
        values = {"ask": ask, "d": d, "n": n, "m": m}
        return Problem(rng.choice(texts), str(total % m), values)
    if ask == "square":
        d = rng.choice((3, 6, 9))
        e = rng.randint(2, 9)
        total = digit_sum(int(str(d) * n) * e)
        texts = WORDINGS.all("repeated digits, square", e=e, d=d, n=n, who=who)
        return Problem(rng.choice(texts), str(total), {"ask": ask, "d": d, "n": n, "e": e})
    a, b = redrawn(
        lambda: (rng.randint(6, 120), rng.randint(6, 120)),
        lambda p: 1 < gcd(*p) < min(p) and gcd(*p) < 8,
    )
    texts = WORDINGS.all("repeated digits", a=a, b=b, d=d)
    answer = int(str(d) * gcd(a, b))
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "d": d, "a": a, "b": b})


FAMILIES = (
    math_family("numbers_reversals", _reversals, "digits exchanged, moved or inserted"),
    math_family("numbers_palindromes", _palindromes, "numbers that read the same backwards"),
    seldom(
        math_family("numbers_repeated_digits", _repeated_digits, "numbers with one digit only"), "0"
    ),
)
