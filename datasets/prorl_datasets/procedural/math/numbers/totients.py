"""Problems on coprime numbers."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _phi(n: int) -> int:
    return sum(gcd(k, n) == 1 for k in range(1, n + 1))


def _coprime(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n = redrawn(lambda: rng.randint(18, 180 * level), lambda n: _phi(n) < n - 1)
    if level == 1:
        texts = WORDINGS.all("coprime, level 1", n=n, n_minus_one=n - 1, who=who)
        return Problem(rng.choice(texts), str(_phi(n)), {"ask": "count", "n": n})
    if level == 2:
        ask = rng.choice(("interval", "sum", "reducible"))
        if ask == "interval":
            m = redrawn(lambda: rng.randint(6, 210), lambda m: _phi(m) < m - 1)
            low = rng.randint(20, 300)
            top = low + rng.randint(50, 600)
            answer = sum(gcd(k, m) == 1 for k in range(low, top + 1))
            texts = WORDINGS.all("coprime, level 2, interval", low=low, top=top, m=m, who=who)
            values = {"ask": ask, "m": m, "low": low, "top": top}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "sum":
            texts = WORDINGS.all("coprime, level 2, sum", n=n)
            pick = rng.randrange(3)
            answer = n * _phi(n) // 2 if pick != 1 else _phi(n) // 2
            values = {"ask": "fractions" if pick == 1 else "sum", "n": n}
            return Problem(texts[pick], str(answer), values)
        d = rng.choice((6, 10, 12, 14, 15, 18, 20, 21, 22, 24, 26, 28, 30, 33, 35))
        top = rng.randint(60, 400)
        answer = sum(gcd(k, k + d) > 1 for k in range(1, top + 1))
        texts = WORDINGS.all("coprime, level 2", top=top, d=d, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "d": d, "top": top})
    ask = rng.choice(("farey", "both", "linear"))
    if ask == "farey":
        top = rng.randint(8, 40)
        low = rng.choice((2, 3, 4, 5))
        answer = sum(gcd(a, b) == 1 and low * a < b for b in range(1, top + 1) for a in range(1, b))
        texts = WORDINGS.all("coprime, farey", low=low, top=top)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "low": low})
    if ask == "both":
        a, b = redrawn(
            lambda: (
                rng.choice((6, 10, 12, 14, 15, 21, 22, 26)),
                rng.choice((5, 7, 9, 10, 11, 14, 15, 33)),
            ),
            lambda p: p[0] % p[1] > 0 and gcd(*p) < min(p),
        )
        top = rng.randint(150, 1200)
        answer = sum(gcd(k, a) == 1 and gcd(k, b) > 1 for k in range(1, top + 1))
        if answer < 2:
            return _coprime(rng, level)
        texts = WORDINGS.all("coprime, both", top=top, a=a, b=b, who=who)
        values = {"ask": ask, "a": a, "b": b, "top": top}
        return Problem(rng.choice(texts), str(answer), values)
    p, q = redrawn(lambda: (rng.randint(2, 9), rng.randint(1, 9)), lambda t: gcd(*t) == 1)
    r, s = redrawn(
        lambda: (rng.randint(2, 9), rng.randint(1, 9)),
        lambda t: gcd(*t) == 1 and abs(p * t[1] - q * t[0]) > 6,
    )
    top = rng.randint(100, 900)
    answer = sum(gcd(p * k + q, r * k + s) > 1 for k in range(1, top + 1))
    if answer < 2:
        return _coprime(rng, level)
    texts = WORDINGS.all("coprime", top=top, p=p, q=q, r=r, s=s)
    values = {"ask": ask, "p": p, "q": q, "r": r, "s": s, "top": top}
    return Problem(rng.choice(texts), str(answer), values)


FAMILIES = (
    math_family("numbers_coprime", _coprime, "coprime numbers and fractions in lowest terms"),
)
