"""Problems on common divisors, common multiples and perfect powers."""

from __future__ import annotations

from math import gcd, lcm, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import power
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)

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
            texts = WORDINGS.all(
                "gcd lcm, level 1, lcm story",
                things=things,
                act=act,
                start=start,
                a=a,
                b=b,
                who=who,
            )
            return Problem(rng.choice(texts), str(lcm(a, b)), {"ask": "lcm", "numbers": [a, b]})
        g = rng.randint(4, 40)
        x, y, z = redrawn(
            lambda: tuple(rng.sample(range(2, 24), 3)), lambda t: gcd(*t) == 1 and gcd(*t[:2]) > 1
        )
        a, b, c = g * x, g * y, g * z
        texts = WORDINGS.all("gcd lcm, level 1", a=a, b=b, c=c, who=who)
        return Problem(rng.choice(texts), str(g), {"ask": "gcd", "numbers": [a, b, c]})
    if level == 2:
        ask = rng.choice(("other", "remainders", "pairs below"))
        if ask == "other":
            g = rng.randint(3, 20)
            x, y = redrawn(lambda: rng.sample(range(2, 16), 2), lambda p: gcd(*p) == 1)
            a, b, m = g * x, g * y, g * x * y
            texts = WORDINGS.all("gcd lcm, level 2, other", g=g, m=m, a=a, who=who)
            return Problem(rng.choice(texts), str(b), {"ask": ask, "a": a, "g": g, "m": m})
        if ask == "remainders":
            d = rng.randint(11, 60)
            x, y = redrawn(lambda: rng.sample(range(3, 40), 2), lambda p: gcd(*p) == 1)
            r, s = rng.randint(1, 10), rng.randint(1, 10)
            a, b = d * x + r, d * y + s
            texts = WORDINGS.all("gcd lcm, level 2, remainders", a=a, r=r, b=b, s=s)
            values = {"ask": ask, "a": a, "b": b, "r": r, "s": s}
            return Problem(rng.choice(texts), str(d), values)
        g, top = rng.choice((6, 8, 9, 10, 12, 14, 15, 16, 18, 20)), rng.randint(120, 400)
        n = rng.choice([k * g for k in range(3, 16)])
        answer = sum(gcd(n, k) == g for k in range(1, top + 1))
        texts = WORDINGS.all("gcd lcm, level 2", top=top, n=n, g=g, who=who)
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
            WORDINGS.one(
                "gcd lcm",
                ordered="ordered " if ordered else "unordered ",
                g=g,
                g_times_ratio=g * ratio,
            ),
            WORDINGS.one(
                "gcd lcm 2",
                ordered="ordered" if ordered else "unordered",
                g=g,
                g_times_ratio=g * ratio,
            ).replace("\\{a, b\\}", "(a, b)" if ordered else "\\{a, b\\}"),
        )
        power_of = rng.randint(2, 3)
        top = prod(p ** (power_of + i % 2) for i, p in enumerate(primes))
        if rng.random() < 0.6:
            exponents = [power_of + i % 2 for i in range(len(primes))]
            answer = prod(2 * e + 1 for e in exponents)
            texts = WORDINGS.all("gcd lcm, count", top=top, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": "lcm pairs", "lcm": top})
        values = {"ask": ask, "g": g, "m": g * ratio, "ordered": ordered}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "sum":
        a, b = g * x, g * y
        total, m = a + b, lcm(a, b)
        texts = WORDINGS.all("gcd lcm, sum", total=total, m=m, who=who)
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
    texts = (
        WORDINGS.one(
            "gcd lcm 5", least=least, g=g, smallest_or_largest="smallest" if low else "largest"
        ),
        WORDINGS.one("gcd lcm 3", least=least, g=g, minimum="minimum" if low else "maximum"),
        WORDINGS.one(
            "gcd lcm 4", who=who, least=least, g=g, least_2="least" if low else "greatest"
        ),
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
            texts = WORDINGS.all(
                "multipliers, level 1, multiply",
                n=n,
                name=name,
                who=who,
                k=k,
                shape="square, one layer thick" if k == 2 else "large cube",
            )
        else:
            answer = prod(p ** (e % k) for p, e in f.items())
            texts = WORDINGS.all("multipliers, level 1", n=n, name=name, who=who)
        values = {"ask": "multiply" if multiply else "divide", "n": n, "k": k}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        f = redrawn(lambda: number(3, 5), lambda f: len(set(f.values())) > 1)
        shown = " \\cdot ".join(power(str(p), e) for p, e in f.items())
        k = rng.choice((2, 3, 4, 6))
        if k == 6:
            answer = least(f, 6)
            texts = WORDINGS.all("multipliers, level 2, k 6", shown=shown, who=who)
            f_values = {"ask": "multiply", "factors": [list(x) for x in f.items()], "k": 6}
            return Problem(rng.choice(texts), str(answer), f_values)
        name = {2: "perfect square", 3: "perfect cube", 4: "fourth power of an integer"}[k]
        cofactor = redrawn(lambda: rng.randint(2, 40), lambda c: least(f, k) % c > 0)
        merged = dict(f)
        cofactor_left, p = cofactor, 2
        while cofactor_left > 1:
            if cofactor_left % p:
                p += 1
                continue
            merged[p] = merged.get(p, 0) + 1
            cofactor_left //= p
        answer = least(merged, k)
        texts = WORDINGS.all("multipliers, level 2", shown=shown, cofactor=cofactor, name=name)
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
    texts = (
        WORDINGS.one("multipliers", a=a, names=names[i], b=b, names_2=names[j], wish=wish),
        WORDINGS.one("multipliers 2", a=a, b=b, names=names[i], names_2=names[j], wish=wish),
        WORDINGS.one("multipliers 3", who=who, a=a, i=i, b=b, j=j, wish=wish),
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
            texts = WORDINGS.all(
                "multiples, level 1, not",
                top=top,
                a=a,
                b=b,
                who=who,
                ath=ordinal(a),
                bth=ordinal(b),
            )
        else:
            texts = WORDINGS.all(
                "multiples, level 1", top=top, ath=ordinal(a), bth=ordinal(b), a=a, b=b, who=who
            )
        return Problem(rng.choice(texts), str(count), {"ask": ask, "a": a, "b": b, "top": top})
    if level == 2:
        a, b, c = redrawn(
            lambda: sorted(rng.sample(range(2, 14), 3)),
            lambda t: t[1] % t[0] > 0 and t[2] % t[0] > 0 and t[2] % t[1] > 0,
        )
        ask = rng.choice(("none", "exactly one", "at least two"))
        sizes = {"none": (0,), "exactly one": (1,), "at least two": (2, 3)}[ask]
        count = sum(sum(n % d == 0 for d in (a, b, c)) in sizes for n in range(1, top + 1))
        texts = WORDINGS.all(
            "multiples, level 2",
            top=top,
            a=a,
            b=b,
            c=c,
            ask=ask,
            blink_or_blinks="blink" if ask == "at least two" else "blinks",
            how_often=dict(
                zip(
                    ("none", "exactly one", "at least two"),
                    ("equal to $0$", "equal to $1$", "greater than $1$"),
                    strict=True,
                )
            )[ask],
            ath=ordinal(a),
            bth=ordinal(b),
            cth=ordinal(c),
            who=who,
        )
        values = {"ask": ask, "numbers": [a, b, c], "top": top}
        return Problem(rng.choice(texts), str(count), values)
    a, b = redrawn(lambda: sorted(rng.sample(range(2, 8), 2)), lambda p: p[1] % p[0] > 0)
    position = rng.randint(100, 900)
    ask = rng.choice(("position", "sum"))
    if ask == "position":
        numbers = [n for n in range(1, 8 * position) if n % a and n % b]
        answer = numbers[position - 1]
        start = ", ".join(map(str, numbers[:6]))
        texts = WORDINGS.all(
            "multiples, position", a=a, b=b, start=start, position=position, who=who
        )
        values = {"ask": ask, "a": a, "b": b, "position": position}
        return Problem(rng.choice(texts), str(answer), values)
    total = sum(n for n in range(1, top + 1) if (n % a == 0) != (n % b == 0))
    texts = WORDINGS.all("multiples", top=top, a=a, b=b, who=who)
    return Problem(rng.choice(texts), str(total), {"ask": ask, "a": a, "b": b, "top": top})


FAMILIES = (
    math_family(
        "numbers_gcd_lcm", _gcd_lcm, "common divisors and multiples, and numbers from them"
    ),
    math_family("numbers_multipliers", _multipliers, "multipliers that make perfect powers"),
    math_family("numbers_multiples", _multiples, "multiples of one number, not of another"),
)
