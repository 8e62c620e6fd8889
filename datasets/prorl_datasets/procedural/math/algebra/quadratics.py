"""Problems on quadratic equations with a parameter."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _linear_in(k: str, m: int, n: int) -> str:
    return terms([(m, k), (n, "")])


def _constant_term(k: str, m: int, n: int) -> str:
    """Return mk + n with its sign: ``+ (3k - 2)``."""
    if not n:
        return f"{'+' if m > 0 else '-'} {terms([(abs(m), k)])}"
    if m < 0 < n:
        return f"+ ({terms([(n, ''), (m, k)])})"
    return f"- ({_linear_in(k, -m, -n)})" if m < 0 else f"+ ({_linear_in(k, m, n)})"


def _double_root(rng: Random) -> Problem:
    k = rng.choice("kbmp")
    a, c = rng.randint(1, 12), rng.randint(1, 30)
    if rng.random() < 0.6:
        a, c = rng.choice((1, 2, 3, 5)), 0
        c = a * rng.randint(1, 9) ** 2
    x = rng.choice("xtz")
    equation = f"{terms([(a, f'{x}^2')])} + {k}{x} + {c} = 0"
    question = WORDINGS.draw(
        rng, "double root", k=k, equation=equation, left_side_in_x=equation[:-4].replace(x, "x")
    )
    return Problem(question, root(4 * a * c), {"a": a, "c": c})


def _double_root_twice(rng: Random) -> Problem:
    k = rng.choice("kbmp")
    while True:
        m, r = signed(rng, 1, 6), rng.randint(1, 9)
        n = r * r - m * m
        if n and abs(m) != r:
            break
    equation = f"x^2 + {k}x {_constant_term(k, m, n)} = 0"
    low, high = 2 * m - 2 * r, 2 * m + 2 * r
    asks = {
        "set": (
            f"\\{{{low}, {high}\\}}",
            WORDINGS.all("double root twice, set", k=k, equation=equation),
        ),
        "product": (
            str(low * high),
            WORDINGS.all("double root twice, product", equation=equation, k=k),
        ),
        "larger": (
            str(high),
            WORDINGS.all("double root twice, larger", k=k, left_side=equation[:-4]),
        ),
        "root": (
            fraction(Fraction(-high, 2)),
            (WORDINGS.one("double root twice", k=k, equation=equation),),
        ),
    }
    ask = rng.choice(list(asks))
    answer, questions = asks[ask]
    return Problem(tidy(rng.choice(questions)), answer, {"m": m, "n": n, "ask": ask})


def _region(rng: Random) -> Problem:
    k = rng.choice("kcmp")
    ask = rng.choice(("always positive", "count", "two positive"))
    if ask == "two positive":
        m = rng.randint(1, 3)
        r = m + rng.randint(1, 6)
        n = r * r - m * m
        equation = f"x^2 - {k}x {_constant_term(k, -m, n)} = 0"
        low, high = Fraction(2 * (r - m)), Fraction(n, m)
        question = WORDINGS.draw(
            rng, "region, two positive", k=k, equation=equation, left_side=equation[:-4]
        )
        return Problem(
            tidy(question), f"({fraction(low)}, {fraction(high)})", {"m": -m, "n": n, "ask": ask}
        )
    while True:
        m, r = signed(rng, 1, 6), rng.randint(2, 9)
        n = r * r - m * m
        if n:
            break
    left = f"x^2 + {k}x {_constant_term(k, m, n)}"
    if ask == "count":
        answer = str(4 * r - 1)
        question = WORDINGS.draw(rng, "region, count", k=k, left=left)
    else:
        answer = f"({2 * m - 2 * r}, {2 * m + 2 * r})"
        question = WORDINGS.draw(rng, "region", k=k, left=left)
    return Problem(tidy(question), answer, {"m": m, "n": n, "ask": ask})


def _discriminant(rng: Random, level: int) -> Problem:
    return (_double_root, _double_root_twice, _region)[level - 1](rng)


def _common_root(rng: Random, level: int) -> Problem:
    k = rng.choice("kcmp")
    if level == 1:
        a, r, s = rng.choice((1, 1, 2, 3, 4)), signed(rng, 1, 9), signed(rng, 1, 9)
        while s == a * r:
            s = signed(rng, 1, 9)
        other = Fraction(s, a)
        # (x - r)(a x - s)
        if rng.random() < 0.5:
            equation = f"{polynomial((a, -s - a * r))} + {k} = 0".replace(" + 0", "")
            if s + a * r == 0:
                return _common_root(rng, level)
            equation = f"{terms([(a, 'x^2'), (-s - a * r, 'x')])} + {k} = 0"
        else:
            equation = f"{terms([(a, 'x^2')])} + {k}x {'+' if r * s > 0 else '-'} {abs(r * s)} = 0"
        question = WORDINGS.draw(
            rng, "common root, level 1", equation=equation, r=r, k=k, left_side=equation[:-4]
        )
        return Problem(tidy(question), fraction(other), {"equation": equation, "r": r})
    if level == 2:
        while True:
            r, s, t = signed(rng, 1, 8), signed(rng, 1, 9), signed(rng, 1, 9)
            a, b, c = -(r + s), -(r + t), r * s
            # x^2 + a x + k and x^2 + b x + m' k with m' = t/s
            if t % s == 0 and t != s and a and b and abs(t // s) <= 5:
                break
        times = t // s
        first = f"{terms([(1, 'x^2'), (a, 'x')])} + {k} = 0"
        second = WORDINGS.one(
            "common root second",
            terms=terms([(1, "x^2"), (b, "x")]),
            value="+" if times > 0 else "-",
            terms_terms=terms([(abs(times), k)]),
        )
        asks = {"k": (k, c), "common": ("their common root", r)}
        ask = rng.choice(list(asks))
        what, value = asks[ask]
        target = f"${what}$" if ask == "k" else what
        question = WORDINGS.draw(
            rng,
            "common root, level 2",
            k=k,
            first=first,
            second=second,
            wanted=target,
            goal=target if ask == "k" else "this $x$",
        )
        return Problem(tidy(question), str(value), {"first": first, "second": second, "ask": ask})
    while True:
        a, b, p = signed(rng, 1, 9), signed(rng, 1, 9), signed(rng, 2, 12)
        if a != b:
            break
    q, r = a * p, b * p
    first = f"{terms([(1, 'x^3'), (a, 'x^2')])} + px {'+' if q > 0 else '-'} {abs(q)} = 0"
    second = f"{terms([(1, 'x^3'), (b, 'x^2')])} + px + r = 0"
    asks3 = {"p + r": p + r, "r": r, "p": p, "r - p": r - p}
    want = rng.choice(list(asks3))
    question = WORDINGS.draw(rng, "common root", first=first, second=second, want=want)
    return Problem(tidy(question), str(asks3[want]), {"a": a, "b": b, "q": q, "ask": want})


def _integer_roots(rng: Random, level: int) -> Problem:
    k = rng.choice("kbcm")
    if level == 3:
        while True:
            m, n = signed(rng, 1, 6), signed(rng, 1, 40)
            product = n + m * m
            if product and abs(product) >= 4 and abs(n) > 1:
                break
        equation = f"x^2 - {k}x {_constant_term(k, m, n)} = 0"
        pairs = {
            (d, product // d)
            for d in range(-abs(product), abs(product) + 1)
            if d and product % d == 0
        }
        values = sorted({d + e + 2 * m for d, e in pairs})
    else:
        product = (
            signed(rng, 6, 60)
            if level == 2
            else pick(
                rng,
                6,
                8,
                10,
                12,
                14,
                15,
                16,
                18,
                20,
                24,
                27,
                28,
                30,
                32,
                36,
                40,
                42,
                45,
                48,
                50,
                54,
                60,
                64,
                72,
            )
        )
        m, n = 0, product
        equation = f"x^2 + {k}x {'+' if n > 0 else '-'} {abs(n)} = 0"
        pairs = {(d, n // d) for d in range(-abs(n), abs(n) + 1) if d and n % d == 0}
        values = sorted({-d - e for d, e in pairs})
    counts = {"number": len(values)}
    counts |= (
        {"largest": values[-1]} if level > 1 else {"positive": sum(value > 0 for value in values)}
    )
    if level == 1:
        counts["sum positive"] = sum(value for value in values if value > 0)
    if level == 2:
        counts["sum of absolute values"] = sum(map(abs, values))
    if level == 3:
        counts |= {"sum": sum(values), "smallest": values[0]}
    ask = rng.choice([name for name in counts if name != "number" or rng.random() < 0.6])
    subject = f"both roots of ${equation}$ are integers"
    question = WORDINGS.draw(
        rng,
        f"integer roots, {ask}",
        k=k,
        subject=subject,
        left_side=equation[:-4],
        equation=equation,
    )
    if ask == "sum" and "no solutions other" in question:
        question = WORDINGS.one("integer roots", k=k, equation=equation)
    return Problem(question, str(counts[ask]), {"m": m, "n": n, "ask": ask})


FAMILIES = (
    math_family("algebra_discriminant_parameter", _discriminant, "Parameters by the discriminant"),
    math_family("algebra_common_root", _common_root, "Equations that share roots"),
    math_family("algebra_integer_roots", _integer_roots, "Parameters that make the roots integers"),
)
