"""Problems on prime factors of factorials and binomial coefficients."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _legendre(n: int, p: int) -> int:
    total = 0
    while n:
        n //= p
        total += n
    return total


def _trailing_zeros(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        n = rng.randint(24, 700)
        texts = WORDINGS.all("trailing zeros, level 1", n=n, who=who)
        return Problem(rng.choice(texts), str(_legendre(n, 5)), {"ask": "zeros", "n": n})
    if level == 2:
        ask = rng.choice(("least", "quotient", "range", "power"))
        if ask == "least":
            n = 5 * rng.randint(5, 90)
            zeros = _legendre(n, 5)
            texts = WORDINGS.all("trailing zeros, level 2, least", zeros=zeros, who=who)
            return Problem(rng.choice(texts), str(n), {"ask": ask, "zeros": zeros})
        if ask == "quotient":
            k = rng.randint(10, 120)
            n = k + rng.randint(20, 300)
            answer = min(_legendre(n, p) - _legendre(k, p) for p in (2, 5))
            texts = WORDINGS.all("trailing zeros, level 2, quotient", n=n, k=k)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "range":
            m = rng.choice((15, 20, 25, 30, 35, 40, 45, 50, 60, 75))
            count = rng.randint(8, 60)
            fives = sum(_legendre_one(m * i, 5) for i in range(1, count + 1))
            twos = sum(_legendre_one(m * i, 2) for i in range(1, count + 1))
            texts = WORDINGS.all(
                "trailing zeros, level 2, range",
                m=m,
                last=count * m,
                twice_m=2 * m,
                three_times_m=3 * m,
                m_times_count=m * count,
            )
            values = {"ask": ask, "m": m, "last": count * m}
            return Problem(rng.choice(texts), str(min(fives, twos)), values)
        n, k = rng.randint(60, 400), rng.randint(2, 4)
        texts = WORDINGS.all("trailing zeros, level 2", n=n, k=k)
        return Problem(
            rng.choice(texts), str(k * _legendre(n, 5)), {"ask": "power", "n": n, "k": k}
        )
    ask = rng.choice(("base", "binomial", "skipped"))
    if ask == "base":
        base, parts = pick(rng,
(6, ((3, 1),)), (12, ((2, 2), (3, 1))), (15, ((5, 1),)), (14, ((7, 1),)),
                (18, ((2, 1), (3, 2))), (9, ((3, 2),)), (8, ((2, 3),)), (16, ((2, 4),)),
                (24, ((2, 3), (3, 1))), (20, ((2, 2), (5, 1))),
)  # fmt: skip
        n = rng.randint(30, 400)
        answer = min(_legendre(n, p) // e for p, e in parts)
        texts = WORDINGS.all("trailing zeros, base", n=n, base=base, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "base": base})
    if ask == "binomial":
        n, k = redrawn(
            lambda: (rng.randint(50, 400), rng.randint(12, 200)),
            lambda c: c[1] < c[0] and _binomial_zeros(*c) > 0,
        )
        answer = _binomial_zeros(n, k)
        texts = WORDINGS.all("trailing zeros, binomial", n=n, k=k, n_minus_k=n - k)
        return Problem(rng.choice(texts), str(answer), {"ask": "binomial", "n": n, "k": k})
    top = rng.randint(30, 300)
    reached = set()
    n = 0
    while _legendre(n, 5) <= top:
        reached.add(_legendre(n, 5))
        n += 5
    answer = top - len([z for z in reached if 1 <= z <= top])
    texts = WORDINGS.all("trailing zeros", top=top)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top})


def _binomial_zeros(n: int, k: int) -> int:
    return min(_legendre(n, p) - _legendre(k, p) - _legendre(n - k, p) for p in (2, 5))


def _legendre_one(n: int, p: int) -> int:
    return _legendre(n, p) - _legendre(n - 1, p)


def _prime_powers(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    p = rng.choice((2, 3, 5, 7, 11))
    if level == 1:
        n = rng.randint(3 * p, 40 * p)
        texts = WORDINGS.all("prime powers, level 1", n=n, p=p, who=who)
        return Problem(
            rng.choice(texts), str(_legendre(n, p)), {"ask": "factorial", "n": n, "p": p}
        )
    if level == 2:
        ask = rng.choice(("evens", "odds", "squares"))
        n = rng.randint(20, 150)
        if ask == "odds":
            p = rng.choice((3, 5, 7))
            answer = _legendre(2 * n, p) - _legendre(n, p)
            name = f"odd integers from $1$ to ${2 * n - 1}$"
        elif ask == "evens":
            answer = _legendre(n, p) + (n if p == 2 else 0)
            name = f"even integers from $2$ to ${2 * n}$"
        else:
            answer = 2 * _legendre(n, p)
            name = f"perfect squares from $1$ to ${n * n}$"
        texts = WORDINGS.all("prime powers, level 2", name=name, p=p, who=who)
        last = {"evens": 2 * n, "odds": 2 * n - 1, "squares": n * n}[ask]
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "last": last, "p": p})
    ask = rng.choice(("composite", "least", "binomial"))
    if ask == "composite":
        base, parts = pick(rng,
(12, ((2, 2), (3, 1))), (18, ((2, 1), (3, 2))), (24, ((2, 3), (3, 1))),
                (45, ((3, 2), (5, 1))), (48, ((2, 4), (3, 1))), (72, ((2, 3), (3, 2))),
                (98, ((2, 1), (7, 2))), (75, ((3, 1), (5, 2))), (54, ((2, 1), (3, 3))),
)  # fmt: skip
        n = rng.randint(30, 300)
        answer = min(_legendre(n, q) // e for q, e in parts)
        texts = WORDINGS.all("prime powers, composite", base=base, n=n, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "base": base})
    if ask == "least":
        p = rng.choice((2, 3, 5, 7))
        k = rng.randint(5, 60)
        n = next(m for m in range(1, 1000) if _legendre(m, p) >= k)
        texts = WORDINGS.all("prime powers, least", p=p, k=k)
        text = rng.choice(texts)
        if k < 10:
            text = text.replace(f"^{{{k}}}", f"^{k}")
        return Problem(text, str(n), {"ask": ask, "p": p, "k": k})
    p = rng.choice((2, 3, 5))
    n, k = redrawn(
        lambda: (rng.randint(30, 300), rng.randint(8, 150)),
        lambda c: c[1] < c[0] and _binomial(c[0], c[1], p) > 1,
    )
    texts = WORDINGS.all("prime powers", p=p, n=n, k=k)
    return Problem(rng.choice(texts), str(_binomial(n, k, p)), {"ask": ask, "p": p, "n": n, "k": k})


def _binomial(n: int, k: int, p: int) -> int:
    return _legendre(n, p) - _legendre(k, p) - _legendre(n - k, p)


FAMILIES = (
    math_family("numbers_trailing_zeros", _trailing_zeros, "zeros at the end of factorials"),
    math_family("numbers_prime_powers", _prime_powers, "powers of a prime in products"),
)
