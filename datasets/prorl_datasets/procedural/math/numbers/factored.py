"""Problems on integer equations that factor, and on fractions with integer values."""

from __future__ import annotations

from math import isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _divisors(n: int) -> list[int]:
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def _factored_equations(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        a, b = rng.randint(1, 9), rng.randint(1, 9)
        n = redrawn(
            lambda: rng.randint(20, 150),
            lambda n: len([d for d in _divisors(n) if d > b and n // d > a]) >= 2,
        )
        c = n - a * b
        solutions = [(d - b, n // d - a) for d in _divisors(n) if d > b and n // d > a]
        equation = f"{terms([(1, 'xy'), (a, 'x'), (b, 'y')])} = {c}"
        ask = rng.choice(("count", "largest x", "sum"))
        if ask == "count":
            answer = len(solutions)
            texts = WORDINGS.all("factored equations, level 1, count", equation=equation, who=who)
        elif ask == "largest x":
            answer = max(x for x, _ in solutions)
            texts = WORDINGS.all("factored equations 2", equation=equation)
        else:
            answer = min(x + y for x, y in solutions)
            texts = WORDINGS.all("factored equations 3", equation=equation)
        values = {"ask": ask, "a": a, "b": b, "c": c}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        n = redrawn(lambda: rng.randint(4, 60), lambda n: len(_divisors(n)) > 2)
        ask = rng.choice(("ordered", "largest", "rates"))
        pairs = [(n + d, n + n * n // d) for d in _divisors(n * n)]
        if ask == "ordered":
            texts = WORDINGS.all("factored equations, level 2, ordered", n=n)
            answer = len(pairs)
        elif ask == "largest":
            top = rng.choice((0, 1))
            distinct = [(x, y) for x, y in pairs if x < y]
            answer = max(y for _, y in distinct) if top else min(x + y for x, y in distinct)
            wish = (
                "What is the smallest possible value of $x + y$?",
                "How large can $y$ be at most?",
            )[top]
            texts = WORDINGS.all("factored equations, level 2, largest", n=n, wish=wish)
            values = {"ask": "greatest y" if top else "least sum", "n": n}
            return Problem(rng.choice(texts), str(answer), values)
        else:
            texts = WORDINGS.all("factored equations, level 2", n=n, who=who)
            answer = (len(pairs) + 1) // 2
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    ask = rng.choice(("integers", "fraction", "border"))
    if ask == "integers":
        p, q = rng.randint(2, 5), rng.randint(2, 7)
        c = rng.randint(5, 80)
        # p xy = q(x + y) + c  <=>  (px - q)(py - q) = pc + q^2
        n = p * c + q * q
        solutions = []
        for d in _divisors(n):
            for s in (d, -d):
                if (s + q) % p == 0 and (n // s + q) % p == 0:
                    solutions.append(((s + q) // p, (n // s + q) // p))
        if not 2 <= len(solutions) <= 24:
            return _factored_equations(rng, level)
        equation = f"{p}xy = {terms([(q, 'x'), (q, 'y'), (c, '')])}"
        total = sum(x for x, _ in solutions)
        count = rng.random() < 0.6
        texts = (
            WORDINGS.all("factored equations, integers, count", equation=equation)
            if count
            else WORDINGS.all("factored equations, integers", equation=equation)
        )
        values = {"ask": "points" if count else "abscissas", "p": p, "q": q, "c": c}
        return Problem(rng.choice(texts), str(len(solutions) if count else total), values)
    if ask == "fraction":
        m, r = rng.randint(2, 9), rng.randint(2, 12)
        k = redrawn(lambda: rng.randint(20, 200), lambda k: len(_divisors(k)) >= 6)
        # (m n + m r + k) / (n + r) = m + k / (n + r)
        numerator = terms([(m, "n"), (m * r + k, "")])
        ask = rng.choice(("positive", "all", "largest"))
        if ask == "positive":
            answer = sum(d > r for d in _divisors(k))
            texts = WORDINGS.all("factored equations, fraction, positive", numerator=numerator, r=r)
        elif ask == "all":
            answer = 2 * len(_divisors(k))
            texts = WORDINGS.all("factored equations, fraction, all", numerator=numerator, r=r)
        else:
            answer = k - r
            texts = WORDINGS.all("factored equations, fraction", r=r, numerator=numerator)
        if answer < 1:
            return _factored_equations(rng, level)
        values = {"ask": f"fraction {ask}", "m": m, "constant": m * r + k, "r": r}
        return Problem(rng.choice(texts), str(answer), values)
    w = rng.randint(1, 6)
    k = rng.choice((2, 3, 4))
    # k(a - 2w)(b - 2w) = ab  <=>  ((k-1)a - 2wk)((k-1)b - 2wk) = 4w^2 k
    n = 4 * w * w * k
    solutions = []
    for d in _divisors(n):
        e = n // d
        if d <= e and (d + 2 * w * k) % (k - 1) == 0 and (e + 2 * w * k) % (k - 1) == 0:
            solutions.append(((d + 2 * w * k) // (k - 1), (e + 2 * w * k) // (k - 1)))
    share = {2: "half", 3: "one third", 4: "one quarter"}[k]
    cell = "unit squares" if rng.random() < 0.5 else "square tiles of side $1$"
    if rng.random() < 0.5:
        answer = max(a * b for a, b in solutions)
        wish = "What is the largest possible area of the whole rectangle?"
        ask = "border area"
    else:
        answer = sum(a + b for a, b in solutions)
        wish = WORDINGS.one("factored equations wish")
        ask = "border sum"
    lead = WORDINGS.one("factored equations lead", cell=cell, w=w)
    texts = (
        f"{lead} The white part has exactly {share} of the total area. {wish}",
        WORDINGS.one(
            "factored equations",
            w=w,
            share=share,
            wish=wish.replace("the whole rectangle", "the garden, in square meters"),
        ),
    )
    values = {"ask": ask, "w": w, "k": k}
    return Problem(rng.choice(texts), str(answer), values)


FAMILIES = (
    math_family("numbers_factored_equations", _factored_equations, "equations that factor"),
)
