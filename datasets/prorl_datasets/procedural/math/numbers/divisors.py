"""Problems on the number and sum of divisors."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import fraction, power
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

PRIMES = (2, 3, 5, 7, 11, 13)


def _factored(rng: Random, primes: int, top: int, limit: int) -> dict[int, int]:
    """Draw {prime: exponent} with a product below ``limit``."""

    def draw() -> dict[int, int]:
        chosen = sorted(rng.sample(PRIMES[: primes + 2], primes))
        return {p: rng.randint(1, top) for p in chosen}

    return redrawn(draw, lambda f: _value(f) < limit and max(f.values()) > 1)


def _value(factors: dict[int, int]) -> int:
    return prod(p**e for p, e in factors.items())


def _written(factors: dict[int, int]) -> str:
    return " \\cdot ".join(power(str(p), e) for p, e in factors.items())


def _count(exponents: list[int]) -> int:
    return prod(e + 1 for e in exponents)


def _divisor_counts(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        factors = _factored(rng, rng.choice((2, 3, 3)), 5, 4000)
        n, answer = _value(factors), _count(list(factors.values()))
        texts = WORDINGS.all(
            "divisor counts, level 1", n=n, who=who, written_factors=_written(factors)
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "all", "n": n})
    if level == 2:
        factors = _factored(rng, rng.choice((2, 3, 4)), 6, 10**7)
        n, shown = _value(factors), _written(factors)
        p = rng.choice([q for q, e in factors.items() if e > 1])
        ask = rng.choice(("multiples", "square", "odd part"))
        if ask == "multiples":
            k = rng.randint(1, factors[p] - 1)
            answer = _count([e - k if q == p else e for q, e in factors.items()])
            texts = WORDINGS.all("divisor counts 3", shown=shown, p_to_k=p**k, who=who)
            values = {"ask": ask, "factors": list(map(list, factors.items())), "k": p**k}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "square":
            answer = prod(e // 2 + 1 for e in factors.values())
            texts = WORDINGS.all("divisor counts, level 2, square", shown=shown)
        else:
            answer = _count([e for q, e in factors.items() if q != p])
            texts = WORDINGS.all("divisor counts, level 2", shown=shown, p=p, who=who)
            values = {"ask": ask, "factors": list(map(list, factors.items())), "k": p}
            return Problem(rng.choice(texts), str(answer), values)
        values = {"ask": ask, "factors": list(map(list, factors.items()))}
        return Problem(rng.choice(texts), str(answer), values)
    top = rng.randint(5, 14)
    primes = [q for q in PRIMES if q <= top]
    whole = {q: sum(top // q**i for i in range(1, 5)) for q in primes}
    ask = rng.choice(("factorial odd", "factorial square", "one not other", "square below"))
    if ask == "factorial odd":
        q = rng.choice(primes[:3])
        answer = _count([e for p, e in whole.items() if p != q])
        name = "odd" if q == 2 else f"not divisible by ${q}$"
        texts = WORDINGS.all("divisor counts, factorial odd", top=top, name=name, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "q": q})
    if ask == "factorial square":
        k = rng.choice((2, 3))
        name = ("perfect squares", "perfect cubes")[k - 2]
        answer = prod(e // k + 1 for e in whole.values())
        top2 = top
        texts = WORDINGS.all("divisor counts, factorial square", name=name, top2=top2, k=k)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "power": k})
    if ask == "one not other":
        low = rng.randint(4, 8)
        high = low + rng.randint(1, 4)
        up = {q: sum(high // q**i for i in range(1, 5)) for q in PRIMES}
        down = {q: sum(low // q**i for i in range(1, 5)) for q in PRIMES}
        answer = _count(list(up.values())) - _count(list(down.values()))
        texts = WORDINGS.all("divisor counts, one not other", high=high, low=low, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "low": low, "high": high})
    factors = _factored(rng, 2, 6, 10**7)
    n, shown = _value(factors), _written(factors)
    answer = (
        (_count([2 * e for e in factors.values()]) - 1) // 2 + 1 - _count(list(factors.values()))
    )
    texts = WORDINGS.all("divisor counts", shown=shown, who=who)
    values = {"ask": ask, "factors": list(map(list, factors.items()))}
    return Problem(rng.choice(texts), str(answer), values)


def _divisor_sums(rng: Random, level: int) -> Problem:
    def sigma(factors: dict[int, int]) -> int:
        return prod((p ** (e + 1) - 1) // (p - 1) for p, e in factors.items())

    if level == 1:
        factors = _factored(rng, 2, 4, 1200)
        n, total = _value(factors), sigma(factors)
        ask = rng.choice(("sum", "proper"))
        texts = (
            WORDINGS.all("divisor sums, level 1, sum", n=n)
            if ask == "sum"
            else WORDINGS.all("divisor sums, level 1", n=n)
        )
        return Problem(rng.choice(texts), str(total - n * (ask == "proper")), {"ask": ask, "n": n})
    factors = _factored(rng, 3 if level == 2 else 2, 4, 20000)
    n = _value(factors)
    if level == 2:
        ask = rng.choice(("even", "odd", "reciprocals"))
        factors = {2: rng.randint(1, 4)} | {p: e for p, e in factors.items() if p != 2}
        n = _value(factors)
        odd = sigma({p: e for p, e in factors.items() if p != 2})
        if ask == "reciprocals":
            texts = WORDINGS.all("divisor sums, level 2, reciprocals", n=n)
            return Problem(
                rng.choice(texts), fraction(Fraction(sigma(factors), n)), {"ask": ask, "n": n}
            )
        answer = odd if ask == "odd" else sigma(factors) - odd
        texts = WORDINGS.all("divisor sums 2", ask=ask, n=n, person=rng.choice(PEOPLE))
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    ask = rng.choice(("product", "primes", "square divisors"))
    if ask == "product":
        count = prod(e + 1 for e in factors.values())
        p = rng.choice(list(factors))
        texts = WORDINGS.all("divisor sums, product", n=n, p=p)
        return Problem(
            rng.choice(texts), str(factors[p] * count // 2), {"ask": ask, "n": n, "p": p}
        )
    if ask == "primes":
        total = sigma(factors)
        primes = [
            q
            for q in range(2, total + 1)
            if total % q == 0 and all(q % d for d in range(2, isqrt(q) + 1))
        ]
        texts = WORDINGS.all("divisor sums, primes", n=n)
        return Problem(rng.choice(texts), str(sum(primes)), {"ask": ask, "n": n})
    answer = prod(sum(p ** (2 * i) for i in range(e // 2 + 1)) for p, e in factors.items())
    texts = WORDINGS.all("divisor sums", n=n)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})


def _divisor_puzzles(rng: Random, level: int) -> Problem:
    def least(count: int) -> int:
        return next(n for n in range(1, 100_000) if divisors(n) == count)

    def divisors(n: int) -> int:
        return sum(2 - (d * d == n) for d in range(1, isqrt(n) + 1) if n % d == 0)

    if level == 1:
        ask = rng.choice(("least", "three"))
        if ask == "least":
            count = rng.choice((4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24))
            texts = WORDINGS.all("divisor puzzles, level 1, least", count=count)
            return Problem(rng.choice(texts), str(least(count)), {"ask": ask, "count": count})
        low = rng.randint(2, 90)
        top = rng.choice((150, 200, 300, 400, 500, 700, 900, 1000, 1500))
        fitting = [n for n in range(low, top + 1) if divisors(n) == 3]
        texts = WORDINGS.all("divisor puzzles, level 1", low=low, top=top)
        values = {"ask": ask, "low": low, "top": top, "count": 3}
        return Problem(rng.choice(texts), str(sum(fitting)), values)
    if level == 2:
        a, b = sorted(rng.sample(range(1, 7), 2))
        k = rng.randint(2, 4)
        ask = rng.choice(("power", "times"))
        if ask == "power":
            answer = (k * a + 1) * (k * b + 1)
            texts = (
                f"Let $p$ and $q$ be different primes and $n = p^{b}q^{a}$. How many positive "
                f"divisors does $n^{k}$ have?".replace("q^1$", "q$"),
                f"For two distinct prime numbers $p$ and $q$, find the number of positive divisors "
                f"of $(p^{b}q^{a})^{k}$.".replace("q^1)", "q)"),
                f"The prime factorization of $m$ is $p^{b} \\cdot q^{a}$ with primes $p \\ne q$. "
                f"Determine how many positive integers divide $m^{k}$.".replace("q^1$", "q$"),
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b, "k": k})
        r = rng.choice((5, 7, 11, 13))
        count = rng.choice((4, 6, 8, 9, 10, 12, 15, 18, 20, 24))
        texts = WORDINGS.all("divisor puzzles, level 2", count=count, r=r, multiplier=r ** (k - 1))
        values = {"ask": ask, "r": r, "multiplier": r ** (k - 1), "count": count}
        return Problem(rng.choice(texts), str(count * k), values)
    ask = rng.choice(("multiple", "odd count", "square"))
    if ask == "multiple":
        m = rng.choice((6, 10, 12, 14, 15, 18, 20, 21, 22, 24, 26, 28, 30, 35, 42, 45))
        count = redrawn(
            lambda: rng.randint(6, 24), lambda c: any(divisors(n) == c for n in range(m, 5000, m))
        )
        answer = next(n for n in range(m, 5000, m) if divisors(n) == count)
        texts = WORDINGS.all("divisor puzzles, multiple", m=m, count=count)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "m": m, "count": count})
    if ask == "odd count":
        m = rng.randint(2, 12)
        top = rng.randint(2000, 20000)
        answer = sum((k * k) % m == 0 for k in range(1, isqrt(top) + 1))
        texts = WORDINGS.all("divisor puzzles, odd count", m=m, top=top)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "m": m, "top": top})
    a, b = redrawn(lambda: (rng.randint(1, 6), rng.randint(1, 6)), lambda p: p[0] != p[1])
    one, two = (2 * a + 1) * (2 * b + 1), (3 * a + 1) * (3 * b + 1)
    texts = WORDINGS.all("divisor puzzles", one=one, two=two)
    values = {"ask": ask, "one": one, "two": two}
    return Problem(rng.choice(texts), str((a + 1) * (b + 1)), values)


FAMILIES = (
    seldom(
        math_family("numbers_divisor_counts", _divisor_counts, "how many divisors of a kind"),
        "12",
        "24",
    ),
    math_family("numbers_divisor_sums", _divisor_sums, "sums and products of divisors"),
    math_family("numbers_divisor_puzzles", _divisor_puzzles, "numbers with so many divisors"),
)
