"""Problems on functional equations."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _two_values(rng: Random, level: int) -> Problem:
    f = rng.choice("fghF")
    while True:
        p, q = rng.randint(1, 5), signed(rng, 1, 5)
        if abs(p) != abs(q):
            break
    at = Fraction(rng.randint(2, 9))
    if level == 1:
        c = rng.randint(1, 9)
        mirrored, point = rng.choice((("-x", -at), (f"{c} - x", c - at)))
        right = [rng.choice((0, 1, 2)), signed(rng, 1, 6), rng.randint(-9, 9)]
        shown = polynomial(right)

        def value(v: Fraction) -> Fraction:
            return right[0] * v * v + right[1] * v + right[2]
    elif level == 2:
        c = rng.choice((1, 1, 2, 3, 4, 6))
        mirrored, point = f"\\frac{{{c}}}{{x}}", c / at
        a, b = signed(rng, 1, 6), rng.randint(-5, 5)
        shown = polynomial((a, b))

        def value(v: Fraction) -> Fraction:
            return a * v + b

        if rng.random() < 0.4:
            shown = polynomial((a, 0, b))

            def value(v: Fraction) -> Fraction:
                return a * v * v + b
    else:
        # order three: x -> 1/(1 - x) -> 1 - 1/x;  f(x) + f(s(x)) = r(x)
        a, b = signed(rng, 1, 6), rng.randint(-4, 6)
        shown = polynomial((a, b))
        orbit = [at, 1 / (1 - at), 1 - 1 / at]
        mirrored = "\\frac{1}{1 - x}"
        p, q = rng.choice(((1, 1), (1, 2), (2, 1), (1, -2), (3, 1), (2, -1)))
        r0, r1, r2 = (a * v + b for v in orbit)
        # p f0 + q f1 = r0, p f1 + q f2 = r1, p f2 + q f0 = r2
        answer = (p * p * r0 - p * q * r1 + q * q * r2) / Fraction(p**3 + q**3)
        left = _left(p, q, f, mirrored)
        question = WORDINGS.draw(rng, "two values", f=f, left=left, shown=shown, at=at)
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
    question = WORDINGS.draw(
        rng,
        "two values, 2",
        f=f,
        left=left,
        shown=shown,
        domain=domain,
        at=at,
        rstrip_s=domain[:-5].rstrip("s"),
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
    f = rng.choice("fghF")
    if level == 1:
        form = rng.choice(("step", "additive", "multiplicative"))
        if form == "step":
            a, b, start, n = (
                rng.choice((1, 1, 2, 3)),
                signed(rng, 1, 6),
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
            question = WORDINGS.draw(rng, "sums, level 1, step", f=f, start=start, rule=rule, n=n)
            return Problem(
                question, str(value), {"form": form, "rule": rule, "start": start, "n": n, "f": f}
            )
        if form == "additive":
            m, k = rng.randint(2, 9), rng.randint(2, 12)
            step = Fraction(signed(rng, 1, 12), rng.choice((1, 2, 3)))
            given, n = m * step, rng.randint(10, 60)
            question = WORDINGS.draw(
                rng, "sums, level 1, additive", f=f, m=m, given=fraction(given), n=n
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
        question = WORDINGS.draw(rng, "sums, level 1", f=f, rule=rule, m=m, given=given, n=n)
        return Problem(
            question,
            fraction(value),
            {"form": form, "rule": rule, "m": m, "given": str(given), "n": n},
        )
    if level == 2:
        # f(x + y) = f(x) + f(y) + c xy : f(x) = c x^2/2 + k x
        c, m = rng.choice((1, 2, 3, 4, -1, -2, 6)), rng.randint(1, 4)
        k = Fraction(signed(rng, 1, 9), rng.choice((1, 1, 2)))
        given = Fraction(c * m * m, 2) + k * m
        n = rng.randint(5, 30)
        value = Fraction(c * n * n, 2) + k * n
        shift = rng.choice((0, 0, signed(rng, 1, 5)))
        # f - shift obeys the rule when f(x + y) = f(x) + f(y) + cxy - shift
        rule = f"{f}(x + y) = {f}(x) + {f}(y) {'+' if c > 0 else '-'} {terms([(abs(c), 'xy')])}"
        if shift:
            rule += f" {'-' if shift > 0 else '+'} {abs(shift)}"
        given, value = given + shift, value + shift
        question = WORDINGS.draw(
            rng, "sums, level 2", f=f, rule=rule, m=m, given=fraction(given), n=n
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
            ask = WORDINGS.one("sums ask", f=f)
            value = Fraction(b) + Fraction(b) ** 2 + Fraction(b) ** 3
            del count
        else:
            low, high = rng.randint(1, 3), rng.randint(5, 8)
            ask = f"{f}({low}) + {f}({low + 1}) + \\cdots + {f}({high})"
            value = sum(Fraction(b) ** i for i in range(low, high + 1))
        question = WORDINGS.draw(rng, "sums, product sum", f=f, m=m, given=fraction(given), ask=ask)
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
        e1, e2, e3, e4 = pick(
            rng, (1, 1, 1, 2), (2, 1, 1, 1), (1, 2, 2, 1), (2, 1, 1, 2), (3, 1, 1, 1), (1, 1, 3, 1)
        )
        first, second = p**e1 * q**e2, p**e3 * q**e4
        s, t = rng.randint(1, 4), rng.randint(1, 3)
        wanted = p**s * q**t
        if wanted in (first, second):
            return _sums(rng, level)
        value = s * u + t * v
        question = WORDINGS.draw(
            rng,
            "sums, values of prime",
            f=f,
            first=first,
            first_value=e1 * u + e2 * v,
            second=second,
            second_value=e3 * u + e4 * v,
            wanted=wanted,
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
    # f(x + a) = (1 + f(x))/(1 - f(x)) has period 4a, f(x + a) = 1/(1 - f(x)) has 3a
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
    question = WORDINGS.draw(
        rng, "sums", f=f, rule=rule, base=base, start=fraction(start), target=base + a * jumps
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
