"""Problems on decimal expansions of fractions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


def _decimals(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def period(n: int) -> int:
        for p in (2, 5):
            while n % p == 0:
                n //= p
        return next(k for k in range(1, 1000) if (10**k - 1) % n == 0)

    if level == 1:
        ask = rng.choice(("fraction", "digit"))
        if ask == "digit":
            m = rng.choice((7, 11, 13, 27, 37, 41, 33, 21, 14, 22, 26, 35))
            a = redrawn(lambda: rng.randint(1, m - 1), lambda a: gcd(a, m) == 1)
            place = rng.randint(20, 500)
            answer = a * 10**place // m % 10
            texts = WORDINGS.all(
                "decimals 3", placeth=ordinal(place), a=a, m=m, place=place, who=who
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "a": a, "m": m, "place": place}
            )
        repeat = redrawn(lambda: str(rng.randint(1, 98)).zfill(2), lambda r: r[0] != r[1])
        if rng.random() < 0.5:
            repeat = redrawn(lambda: str(rng.randint(10, 989)).zfill(3), lambda r: len(set(r)) > 1)
        whole = rng.choice((0, 0, 1, 2, 3))
        value = whole + Fraction(int(repeat), 10 ** len(repeat) - 1)
        texts = WORDINGS.all("decimals, level 1", whole=whole, repeat=repeat, who=who)
        values = {"ask": ask, "whole": whole, "head": "", "repeat": repeat}
        return Problem(rng.choice(texts), fraction(value), values)
    if level == 2:
        ask = rng.choice(("fraction", "period", "sum of digits"))
        if ask == "fraction":
            head = str(rng.randint(0, 9)) if rng.random() < 0.6 else f"{rng.randint(0, 99):02d}"
            repeat = redrawn(
                lambda: str(rng.randint(1, 99)),
                lambda r: r[-1] != head[-1] and ((len(r) == 1 and r != "9") or len(set(r)) > 1),
            )
            value = Fraction(int(head), 10 ** len(head)) + Fraction(
                int(repeat), (10 ** len(repeat) - 1) * 10 ** len(head)
            )
            texts = WORDINGS.all("decimals, level 2, fraction", head=head, repeat=repeat)
            values = {"ask": ask, "whole": 0, "head": head, "repeat": repeat}
            return Problem(rng.choice(texts), fraction(value), values)
        m = redrawn(
            lambda: rng.randint(7, 150), lambda m: m % 2 > 0 and m % 5 > 0 and 1 < period(m) < 60
        )
        if ask == "period":
            texts = WORDINGS.all("decimals, level 2, period", m=m, who=who)
            return Problem(rng.choice(texts), str(period(m)), {"ask": ask, "m": m})
        places = rng.randint(30, 200)
        total = sum(map(int, str(10**places // m)))
        texts = WORDINGS.all("decimals, level 2", places=places, m=m, who=who)
        return Problem(rng.choice(texts), str(total), {"ask": ask, "m": m, "places": places})
    ask = rng.choice(("terminating", "places", "numerators"))
    if ask == "terminating":
        top = rng.randint(100, 2000)
        low = rng.randint(2, 20)
        numbers = [n for n in range(low, top + 1) if _stripped(n) == 1]
        texts = WORDINGS.all("decimals, terminating", low=low, top=top, low_plus_one=low + 1)
        return Problem(rng.choice(texts), str(len(numbers)), {"ask": ask, "low": low, "top": top})
    if ask == "places":
        a, b = rng.randint(2, 30), rng.randint(2, 30)
        c = rng.choice((3, 7, 9, 11, 13, 17, 19, 21))
        texts = WORDINGS.all("decimals, places", c=c, a=a, b=b)
        answer = max(a, b)
        lead = rng.random() < 0.5
        if lead:
            shown = str(c * 10 ** max(a, b) // (2**a * 5**b)).zfill(max(a, b))
            answer = len(shown) - len(shown.lstrip("0"))
            texts = WORDINGS.all("decimals, places, lead", c=c, a=a, b=b)
            if c >= 2**a * 5**b:
                return _decimals(rng, level)
        text = rng.choice(texts)
        for e in (a, b):
            if e < 10:
                text = text.replace(f"^{{{e}}}", f"^{e}")
        values = {"ask": "zeros" if lead else ask, "a": a, "b": b, "c": c}
        return Problem(text, str(answer), values)
    m = rng.choice(
        (6, 7, 9, 12, 14, 15, 18, 21, 24, 27, 28, 30, 33, 35, 36, 42, 45, 48, 60, 63, 72)
    )
    top = rng.randint(m, 12 * m)
    numbers = [k for k in range(1, top + 1) if k % _stripped(m) == 0]
    if not numbers:
        return _decimals(rng, level)
    texts = WORDINGS.all("decimals", top=top, m=m, who=who)
    pick = rng.randrange(3)
    answer = len(numbers) if pick == 0 else top - len(numbers)
    values = {"ask": "finite" if pick == 0 else "infinite", "m": m, "top": top}
    return Problem(texts[pick], str(answer), values)


def _stripped(n: int) -> int:
    for p in (2, 5):
        while n % p == 0:
            n //= p
    return n


FAMILIES = (math_family("numbers_decimals", _decimals, "periods, digits and lengths of decimals"),)
