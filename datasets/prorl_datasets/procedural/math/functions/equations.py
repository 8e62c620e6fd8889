"""Functional equations: a rule that holds for all arguments fixes the values."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


def _two_values(rng: Random, level: int) -> Problem:
    """p f(x) + q f(s(x)) = r(x) with s(s(x)) = x, or s of order three."""
    f = rng.choice("fghF")
    while True:
        p, q = rng.randint(1, 5), _signed(rng, 1, 5)
        if abs(p) != abs(q):
            break
    at = Fraction(rng.randint(2, 9))
    if level == 1:
        c = rng.randint(1, 9)
        mirrored, point = rng.choice((("-x", -at), (f"{c} - x", c - at)))
        right = [rng.choice((0, 1, 2)), _signed(rng, 1, 6), rng.randint(-9, 9)]
        shown = polynomial(right)

        def value(v: Fraction) -> Fraction:
            return right[0] * v * v + right[1] * v + right[2]
    elif level == 2:
        c = rng.choice((1, 1, 2, 3, 4, 6))
        mirrored, point = f"\\frac{{{c}}}{{x}}", c / at
        a, b = _signed(rng, 1, 6), rng.randint(-5, 5)
        shown = polynomial((a, b))

        def value(v: Fraction) -> Fraction:
            return a * v + b

        if rng.random() < 0.4:
            shown = polynomial((a, 0, b))

            def value(v: Fraction) -> Fraction:
                return a * v * v + b
    else:
        # order three: x -> 1/(1 - x) -> 1 - 1/x;  f(x) + f(s(x)) = r(x)
        a, b = _signed(rng, 1, 6), rng.randint(-4, 6)
        shown = polynomial((a, b))
        orbit = [at, 1 / (1 - at), 1 - 1 / at]
        mirrored = "\\frac{1}{1 - x}"
        p, q = rng.choice(((1, 1), (1, 2), (2, 1), (1, -2), (3, 1), (2, -1)))
        r0, r1, r2 = (a * v + b for v in orbit)
        # p f0 + q f1 = r0, p f1 + q f2 = r1, p f2 + q f0 = r2
        answer = (p * p * r0 - p * q * r1 + q * q * r2) / Fraction(p**3 + q**3)
        left = _left(p, q, f, mirrored)
        question = rng.choice(
            (
                (
                    f"A function ${f}$ satisfies \\[{left} = {shown}\\] for all real $x$ other than "
                    f"$0$ and $1$. Find ${f}({at})$."
                ),
                (
                    f"For every real number $x \\ne 0, 1$ we have ${left} = {shown}$. What is "
                    f"${f}({at})$?"
                ),
                (
                    f"Let ${f}$ be defined for all real numbers except $0$ and $1$, with ${left} = "
                    f"{shown}$. Determine ${f}({at})$."
                ),
                (
                    f"Suppose ${left} = {shown}$ holds for all real $x \\notin \\{{0, 1\\}}$. "
                    f"Compute the value of ${f}$ at ${at}$."
                ),
            )
        )
        return Problem(
            question,
            fraction(answer),
            {"p": p, "q": q, "mirrored": mirrored, "right": shown, "at": str(at), "f": f},
        )
    if point == at:
        return _two_values(rng, level)
    answer = (p * value(at) - q * value(point)) / Fraction(p * p - q * q)
    left = _left(p, q, f, mirrored)
    domain = "real numbers $x$" if level == 1 else "nonzero real numbers $x$"
    question = rng.choice(
        (
            (
                f"A function ${f}$ satisfies \\[{left} = {shown}\\] for all {domain}. Find "
                f"${f}({at})$."
            ),
            f"If ${left} = {shown}$ for all {domain}, what is ${f}({at})$?",
            (
                f"Let ${f}$ be a function such that ${left} = {shown}$, whatever "
                f"{domain[:-5].rstrip('s')} $x$ is. Compute ${f}({at})$."
            ),
            (
                f"The equation ${left} = {shown}$ is true for all {domain}. Determine the value "
                f"of ${f}$ at $x = {at}$."
            ),
            (
                f"Given that \\[{left} = {shown}\\] for every {domain[:-5].rstrip('s')} $x$, "
                f"evaluate ${f}({at})$."
            ),
        )
    )
    return Problem(
        question,
        fraction(answer),
        {"p": p, "q": q, "mirrored": mirrored, "right": shown, "at": str(at), "f": f},
    )


def _left(p: int, q: int, f: str, mirrored: str) -> str:
    second = f"{f}\\left({mirrored}\\right)" if "frac" in mirrored else f"{f}({mirrored})"
    return terms([(p, f"{f}(x)"), (q, second)])


def _sums(rng: Random, level: int) -> Problem:
    """Rules for f(x + y), f(xy), f(n + 1)."""
    f = rng.choice("fghF")
    if level == 1:
        form = rng.choice(("step", "additive", "multiplicative"))
        if form == "step":
            a, b, start, n = (
                rng.choice((1, 1, 2, 3)),
                _signed(rng, 1, 6),
                rng.randint(-3, 9),
                rng.randint(6, 40),
            )
            if a == 1:
                c = rng.randint(1, 4)
                rule = f"{f}(n + 1) = {f}(n) + {polynomial((c, b), 'n')}"
                value = start + c * n * (n - 1) // 2 + b * (n - 1)
            else:
                n = rng.randint(4, 7)
                rule = f"{f}(n + 1) = {a}{f}(n) {'+' if b > 0 else '-'} {abs(b)}"
                value = start
                for _ in range(n - 1):
                    value = a * value + b
            question = rng.choice(
                (
                    (
                        f"A function on the positive integers has ${f}(1) = {start}$ and ${rule}$ for "
                        f"all $n$. Find ${f}({n})$."
                    ),
                    (
                        f"Suppose ${f}(1) = {start}$, and \\[{rule}\\] for every positive integer $n$. "
                        f"What is ${f}({n})$?"
                    ),
                    (
                        f"If ${f}(1) = {start}$ and for each positive integer $n$ the rule ${rule}$ "
                        f"holds, compute ${f}({n})$."
                    ),
                )
            )
            return Problem(
                question, str(value), {"form": form, "rule": rule, "start": start, "n": n, "f": f}
            )
        if form == "additive":
            m, k = rng.randint(2, 9), rng.randint(2, 12)
            step = Fraction(_signed(rng, 1, 12), rng.choice((1, 2, 3)))
            given, n = m * step, rng.randint(10, 60)
            question = rng.choice(
                (
                    (
                        f"For all real numbers $x$ and $y$ we have ${f}(x + y) = {f}(x) + {f}(y)$. If "
                        f"${f}({m}) = {fraction(given)}$, what is ${f}({n})$?"
                    ),
                    (
                        f"The function ${f}$ satisfies \\[{f}(x + y) = {f}(x) + {f}(y)\\] for all real "
                        f"$x$ and $y$, and ${f}({m}) = {fraction(given)}$. Find ${f}({n})$."
                    ),
                    (
                        f"Adding two arguments adds the values of ${f}$: ${f}(x + y) = {f}(x) + {f}(y)$ "
                        f"always holds. Knowing that ${f}({m}) = {fraction(given)}$, determine "
                        f"${f}({n})$."
                    ),
                )
            )
            del k
            return Problem(
                question, fraction(n * step), {"form": form, "m": m, "given": str(given), "n": n}
            )
        # f(xy) = f(x)/y  or f(xy) = y^k f(x)
        m, n = rng.sample((2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 25, 30, 36, 40, 45), 2)
        constant = rng.randint(1, 20)
        if rng.random() < 0.5:
            rule, given, value = (
                f"{f}(xy) = \\frac{{{f}(x)}}{{y}}",
                Fraction(constant),
                Fraction(constant * m, n),
            )
        else:
            rule, given = f"{f}(xy) = y^2 {f}(x)", Fraction(constant)
            value = Fraction(constant * n * n, m * m)
        question = rng.choice(
            (
                (
                    f"For all positive real numbers $x$ and $y$ the function ${f}$ satisfies "
                    f"${rule}$. If ${f}({m}) = {given}$, what is ${f}({n})$?"
                ),
                (
                    f"Let ${f}$ be a function with \\[{rule}\\] for all positive $x$ and $y$. Given "
                    f"${f}({m}) = {given}$, find ${f}({n})$."
                ),
                (
                    f"Suppose ${rule}$ whenever $x, y > 0$, and suppose ${f}({m}) = {given}$. "
                    f"Determine ${f}({n})$."
                ),
            )
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "rule": rule, "m": m, "given": str(given), "n": n},
        )
    if level == 2:
        # f(x + y) = f(x) + f(y) + c xy : f(x) = c x^2/2 + k x
        c, m = rng.choice((1, 2, 3, 4, -1, -2, 6)), rng.randint(1, 4)
        k = Fraction(_signed(rng, 1, 9), rng.choice((1, 1, 2)))
        given = Fraction(c * m * m, 2) + k * m
        n = rng.randint(5, 30)
        value = Fraction(c * n * n, 2) + k * n
        shift = rng.choice((0, 0, _signed(rng, 1, 5)))
        # f - shift obeys the rule when f(x + y) = f(x) + f(y) + cxy - shift
        rule = f"{f}(x + y) = {f}(x) + {f}(y) {'+' if c > 0 else '-'} {terms([(abs(c), 'xy')])}"
        if shift:
            rule += f" {'-' if shift > 0 else '+'} {abs(shift)}"
        given, value = given + shift, value + shift
        question = rng.choice(
            (
                (
                    f"A function ${f}$ on the integers satisfies ${rule}$ for all integers $x$ and "
                    f"$y$, and ${f}({m}) = {fraction(given)}$. Find ${f}({n})$."
                ),
                (
                    f"For all integers $x$ and $y$, \\[{rule}.\\] If ${f}({m}) = "
                    f"{fraction(given)}$, what is ${f}({n})$?"
                ),
                (
                    f"Let ${f}$ be defined on the integers with ${f}({m}) = {fraction(given)}$ and "
                    f"${rule}$ for every choice of $x$ and $y$. Compute ${f}({n})$."
                ),
                (
                    f"Given ${f}({m}) = {fraction(given)}$ and the rule ${rule}$, valid for all "
                    f"integers $x, y$, determine ${f}({n})$."
                ),
            )
        )
        return Problem(
            tidy(question),
            fraction(value),
            {
                "form": "mixed",
                "c": c,
                "shift": shift,
                "m": m,
                "given": str(given),
                "n": n,
                "rule": rule,
            },
        )
    form = rng.choice(("product sum", "values of prime", "periodic"))
    if form == "product sum":
        # f(x + y) = f(x) f(y), f(m) = b^m: sum of f(k+1)/f(k), or ratio
        b, m = rng.choice((2, 3, 5, Fraction(1, 2))), rng.choice((2, 3, 4))
        given, n = Fraction(b) ** m, rng.randint(1, 9)
        if rng.random() < 0.5:
            count = rng.randint(5, 30)
            ask = (
                f"\\frac{{{f}(2)}}{{{f}(1)}} + \\frac{{{f}(4)}}{{{f}(2)}} + "
                f"\\frac{{{f}(6)}}{{{f}(3)}}"
            )
            value = Fraction(b) + Fraction(b) ** 2 + Fraction(b) ** 3
            del count
        else:
            low, high = rng.randint(1, 3), rng.randint(5, 8)
            ask = f"{f}({low}) + {f}({low + 1}) + \\cdots + {f}({high})"
            value = sum(Fraction(b) ** i for i in range(low, high + 1))
        question = rng.choice(
            (
                (
                    f"The function ${f}$ takes positive values and satisfies ${f}(x + y) = "
                    f"{f}(x){f}(y)$ for all integers $x$ and $y$. If ${f}({m}) = "
                    f"{fraction(given)}$, find ${ask}$."
                ),
                (
                    f"Let ${f}$ be a positive function on the integers with \\[{f}(x + y) = {f}(x) "
                    f"{f}(y)\\] for all $x, y$. Given ${f}({m}) = {fraction(given)}$, compute "
                    f"${ask}$."
                ),
                (
                    f"Suppose that ${f}(x) > 0$ and ${f}(x + y) = {f}(x) {f}(y)$ for all integers "
                    f"$x$ and $y$, and that ${f}({m}) = {fraction(given)}$. What is ${ask}$?"
                ),
            )
        )
        del n
        return Problem(
            question,
            fraction(value),
            {"form": form, "m": m, "given": str(given), "ask": ask, "f": f},
        )
    if form == "values of prime":
        # f(ab) = f(a) + f(b), f(n) from two given values
        p, q = rng.choice(((2, 3), (2, 5), (3, 5), (2, 7), (3, 7)))
        u, v = rng.randint(2, 15), rng.randint(2, 15)
        e1, e2, e3, e4 = rng.choice(
            ((1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 2, 1), (2, 1, 1, 2), (3, 1, 1, 1), (1, 1, 3, 1))
        )
        first, second = p**e1 * q**e2, p**e3 * q**e4
        s, t = rng.randint(1, 4), rng.randint(1, 3)
        wanted = p**s * q**t
        if wanted in (first, second):
            return _sums(rng, level)
        value = s * u + t * v
        question = rng.choice(
            (
                (
                    f"A function ${f}$ on the positive integers has the property that ${f}(ab) = "
                    f"{f}(a) + {f}(b)$ for all $a$ and $b$. If ${f}({first}) = {e1 * u + e2 * v}$ "
                    f"and ${f}({second}) = {e3 * u + e4 * v}$, what is ${f}({wanted})$?"
                ),
                (
                    f"For all positive integers $a$ and $b$, \\[{f}(ab) = {f}(a) + {f}(b).\\] "
                    f"Suppose ${f}({first}) = {e1 * u + e2 * v}$ and ${f}({second}) = "
                    f"{e3 * u + e4 * v}$. Find ${f}({wanted})$."
                ),
                (
                    f"Multiplication of arguments turns into addition of values: ${f}(ab) = {f}(a) "
                    f"+ {f}(b)$ for positive integers $a$, $b$. From ${f}({first}) = "
                    f"{e1 * u + e2 * v}$ and ${f}({second}) = {e3 * u + e4 * v}$ determine "
                    f"${f}({wanted})$."
                ),
            )
        )
        return Problem(
            question,
            str(value),
            {
                "form": form,
                "given": [[first, e1 * u + e2 * v], [second, e3 * u + e4 * v]],
                "wanted": wanted,
                "primes": [p, q],
            },
        )
    # f(x + a) = (1 + f(x))/(1 - f(x)) has period 4a;  f(x + a) = -1/f(x): 2a; f(x + a) = f(x + 2a) + f(x)...: 6a
    a = rng.randint(1, 6)
    start = Fraction(rng.choice((2, 3, 4, 5, 6, 7)), rng.choice((1, 1, 3, 5)))
    if start == 1:
        start = Fraction(4)
    rule, step, period = rng.choice(
        (
            (f"{f}(x + {a}) = \\frac{{1 + {f}(x)}}{{1 - {f}(x)}}", lambda v: (1 + v) / (1 - v), 4),
            (f"{f}(x + {a}) = \\frac{{{f}(x) - 1}}{{{f}(x) + 1}}", lambda v: (v - 1) / (v + 1), 4),
            (f"{f}(x + {a}) = \\frac{{1}}{{1 - {f}(x)}}", lambda v: 1 / (1 - v), 3),
            (f"{f}(x + {a}) = 1 - \\frac{{1}}{{{f}(x)}}", lambda v: 1 - 1 / v, 3),
        )
    )
    base, jumps = rng.randint(0, 5), rng.randint(20, 500)
    value3 = start
    for _ in range(jumps % period):
        value3 = step(value3)
    question = rng.choice(
        (
            (
                f"A function ${f}$ satisfies ${rule}$ for all real $x$, and ${f}({base}) = "
                f"{fraction(start)}$. What is ${f}({base + a * jumps})$?"
            ),
            (
                f"Let ${f}({base}) = {fraction(start)}$ and suppose that \\[{rule}\\] for every "
                "real number $x$ (the right side always being defined). Find "
                f"${f}({base + a * jumps})$."
            ),
            (
                f"Given that ${rule}$ for all $x$ and that ${f}({base}) = {fraction(start)}$, "
                f"determine ${f}({base + a * jumps})$."
            ),
        )
    )
    return Problem(
        question,
        fraction(value3),
        {
            "form": form,
            "rule": rule,
            "a": a,
            "base": base,
            "start": str(start),
            "target": base + a * jumps,
            "f": f,
        },
    )


FAMILIES = (
    math_family(
        "functions_two_values", _two_values, "Equations that tie f(x) to f of a mirrored argument"
    ),
    math_family("functions_argument_rules", _sums, "Rules for f(x + y), f(xy), f(n + 1)"),
)
