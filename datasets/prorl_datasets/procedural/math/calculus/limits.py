"""Problems on limits, power series and initial values."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import factorial
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, power, root, terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _limit(rng: Random, level: int) -> Problem:
    at: str
    if level == 1:
        form = rng.choice(("factor", "infinity", "root"))
        if form == "factor":
            r, s, t = rng.sample([n for n in range(-6, 7) if n], 3)
            a = rng.choice((1, 1, 2, 3))
            top, bottom = polynomial((a, -a * (r + s), a * r * s)), polynomial((1, -r - t, r * t))
            body, at, value = f"\\frac{{{top}}}{{{bottom}}}", str(r), Fraction(a * (r - s), r - t)
        elif form == "infinity":
            n, a, b = rng.choice((1, 2, 3)), signed(rng, 1, 9), rng.randint(2, 9)
            top = [a, *(signed(rng, 1, 9) for _ in range(n))]
            bottom_c = [b, *(signed(rng, 1, 9) for _ in range(n))]
            body, at, value = (
                f"\\frac{{{polynomial(top)}}}{{{polynomial(bottom_c)}}}",
                "\\infty",
                Fraction(a, b),
            )
        else:
            k, r = rng.randint(1, 6), signed(rng, 1, 6)
            c = k * k - r
            if not c:
                return _limit(rng, level)
            body, at, value = (
                f"\\frac{{\\sqrt{{{polynomial((1, c))}}} - {k}}}{{{polynomial((1, -r))}}}",
                str(r),
                Fraction(1, 2 * k),
            )
    elif level == 2:
        form = rng.choice(("sine", "conjugate", "exponential", "cosine", "difference"))
        a, b = rng.sample(range(2, 10), 2)
        at = "0"
        if form == "sine":
            body, value = pick(
                rng,
                (f"\\frac{{\\sin {a}x}}{{\\sin {b}x}}", Fraction(a, b)),
                (f"\\frac{{\\sin {a}x}}{{\\tan {b}x}}", Fraction(a, b)),
                (f"\\frac{{\\sin({a}x) \\sin({b}x)}}{{x^2}}", Fraction(a * b)),
                (f"\\frac{{{a}x + \\sin {b}x}}{{{b}x - \\sin x}}", Fraction(a + b, b - 1)),
            )
        elif form == "conjugate":
            at = "\\infty"
            c = signed(rng, 1, 9)
            body, value = pick(
                rng,
                (
                    f"\\left(\\sqrt{{{terms([(1, 'x^2'), (2 * a + 1, 'x'), (c, '')])}}} - x\\right)",
                    Fraction(2 * a + 1, 2),
                ),
                (
                    f"\\left(\\sqrt{{{terms([(a * a, 'x^2'), (b, 'x')])}}} - {a}x\\right)",
                    Fraction(b, 2 * a),
                ),
                (f"\\left(\\sqrt{{x^2 + {a}x}} - \\sqrt{{x^2 + {b}x}}\\right)", Fraction(a - b, 2)),
            )
        elif form == "exponential":
            body, value = pick(
                rng,
                (f"\\frac{{e^{{{a}x}} - e^{{{b}x}}}}{{x}}", Fraction(a - b)),
                (f"\\frac{{e^{{{a}x}} - 1}}{{\\sin {b}x}}", Fraction(a, b)),
                (f"\\frac{{\\ln(1 + {a}x)}}{{{b}x}}", Fraction(a, b)),
                (f"\\frac{{\\ln(1 + {a}x)}}{{e^{{{b}x}} - 1}}", Fraction(a, b)),
            )
        elif form == "cosine":
            body, value = pick(
                rng,
                (f"\\frac{{1 - \\cos {a}x}}{{x^2}}", Fraction(a * a, 2)),
                (f"\\frac{{\\cos {a}x - \\cos {b}x}}{{x^2}}", Fraction(b * b - a * a, 2)),
                (f"\\frac{{1 - \\cos {a}x}}{{x \\sin {b}x}}", Fraction(a * a, 2 * b)),
            )
        else:
            n, at_number = rng.choice((2, 3, 4)), rng.randint(1, 3)
            c = at_number**n
            body, at, value = (
                f"\\frac{{{power('x', n)} - {c}}}{{{polynomial((1, -at_number))}}}",
                str(at_number),
                Fraction(n * at_number ** (n - 1)),
            )
            if rng.random() < 0.5:
                m = n + rng.choice((1, 2))
                body, value = (
                    f"\\frac{{{power('x', m)} - {at_number**m}}}{{{power('x', n)} - {c}}}",
                    Fraction(m * at_number ** (m - n), n),
                )
    else:
        form = rng.choice(("third order", "power e", "riemann", "parameter"))
        a, b = rng.sample(range(1, 8), 2)
        at = "0"
        if form == "third order":
            body, value = pick(
                rng,
                (
                    f"\\frac{{\\sin {a}x - {a}x}}{{x^3}}" if a > 1 else "\\frac{\\sin x - x}{x^3}",
                    Fraction(-(a**3), 6),
                ),
                (
                    f"\\frac{{\\tan {b}x - \\sin {b}x}}{{x^3}}"
                    if b > 1
                    else "\\frac{\\tan x - \\sin x}{x^3}",
                    Fraction(b**3, 2),
                ),
                (f"\\frac{{e^{{{a + 1}x}} - 1 - {a + 1}x}}{{x^2}}", Fraction((a + 1) ** 2, 2)),
                (f"\\frac{{{a + 1}x - \\ln(1 + {a + 1}x)}}{{x^2}}", Fraction((a + 1) ** 2, 2)),
                (
                    f"\\frac{{\\sqrt{{1 + {2 * a}x}} - 1 - {terms([(a, 'x')])}}}{{x^2}}",
                    Fraction(-a * a, 2),
                ),
            )
        elif form == "power e":
            a, b = rng.choice((1, 2, 3, 4)), rng.choice((1, 2, 3, 5))
            c = Fraction(a * b)
            body, at = pick(
                rng,
                (f"\\left(1 + \\frac{{{a}}}{{x}}\\right)^{{{terms([(b, 'x')])}}}", "\\infty"),
                (f"\\left(1 + {terms([(a, 'x')])}\\right)^{{\\frac{{{b}}}{{x}}}}", "0"),
                (f"\\left(\\frac{{x + {a}}}{{x - {b}}}\\right)^x", "\\infty"),
            )
            if "- " in body:
                c = Fraction(a + b)
            answer = power("e", int(c)) or "1"
            question = _limit_words(rng, body, at)
            return Problem(question, answer, {"body": body, "at": at})
        elif form == "riemann":
            k = rng.choice((1, 2, 3, 4))
            c = rng.randint(1, 9)
            general, value = pick(
                rng,
                (
                    f"\\frac{{{c if c > 1 else ''}k^{k}}}{{n^{k + 1}}}".replace("k^1", "k")
                    if k > 1
                    else f"\\frac{{{c if c > 1 else ''}k}}{{n^2}}",
                    Fraction(c, k + 1),
                ),
                (
                    f"\\frac{{{c}}}{{n}} \\left(1 + \\frac{{k}}{{n}}\\right)^{k + 1}",
                    Fraction(c * (2 ** (k + 2) - 1), k + 2),
                ),
            )
            question = WORDINGS.draw(rng, "limit, riemann", general=general)
            return Problem(question, fraction(value), {"general": general})
        else:
            r, s = rng.sample([n for n in range(-5, 6) if n], 2)
            c = rng.choice((1, 2, 3))
            # (c x^2 + p x + q)/(x - r) -> c (r - s)
            goal = c * (r - s)
            p, q = -c * (r + s), c * r * s
            if not p or not q:
                return _limit(rng, level)
            shown = f"\\frac{{{terms([(c, 'x^2')])} + ax + b}}{{{polynomial((1, -r))}}}"
            ask, answer_value = rng.choice((("a + b", p + q), ("ab", p * q), ("a", p), ("b", q)))
            question = WORDINGS.draw(rng, "limit", r=r, shown=shown, goal=goal, ask=ask)
            return Problem(
                question, str(answer_value), {"shown": shown, "r": r, "goal": goal, "ask": ask}
            )
    if value == 0:
        return _limit(rng, level)
    return Problem(_limit_words(rng, body, at), fraction(value), {"body": body, "at": at})


def _limit_words(rng: Random, body: str, at: str) -> str:
    shown = f"\\lim_{{x \\to {at}}} {body}"
    towards = "grows without bound" if at == "\\infty" else f"tends to ${at}$"
    return WORDINGS.draw(rng, "limit words", shown=shown, body=body, towards=towards)


def _taylor(rng: Random, level: int) -> Problem:
    if level == 1:
        n = rng.randint(2, 6)
        a, b = rng.randint(2, 5), rng.randint(1, 6)
        form = rng.choice(("exp", "geometric", "sine", "log"))
        if form == "exp":
            formula, value = f"{'' if b == 1 else b}e^{{{a}x}}", Fraction(b * a**n, factorial(n))
        elif form == "geometric":
            formula, value = f"\\frac{{{b}}}{{1 - {a}x}}", Fraction(b * a**n)
        elif form == "sine":
            n = rng.choice((1, 3, 5))
            formula, value = (
                f"{'' if b == 1 else b}\\sin {a}x",
                Fraction(b * a**n * (-1) ** (n // 2), factorial(n)),
            )
        else:
            formula, value = (
                f"{'' if b == 1 else b}\\ln(1 + {a}x)",
                Fraction(b * a**n * (-1) ** (n + 1), n),
            )
    elif level == 2:
        n = rng.randint(3, 5)
        a, b, c = rng.randint(1, 4), rng.randint(1, 4), signed(rng, 1, 5)
        form = rng.choice(("product exp", "quotient", "root", "square"))
        if form == "product exp":
            formula = (
                f"({terms([(1, 'x^2'), (c, 'x'), (b, '')])})e^{{{polynomial((a, 0))}}}"
                if a > 1
                else f"({terms([(1, 'x^2'), (c, 'x'), (b, '')])})e^x"
            )
            value = (
                Fraction(a ** (n - 2), factorial(n - 2))
                + Fraction(c * a ** (n - 1), factorial(n - 1))
                + Fraction(b * a**n, factorial(n))
            )
        elif form == "quotient":
            # (c + b x)/(1 - a x)
            formula = f"\\frac{{{terms([(c, ''), (b, 'x')])}}}{{1 - {terms([(a + 1, 'x')])}}}"
            value = Fraction(c * (a + 1) ** n + b * (a + 1) ** (n - 1))
        elif form == "root":
            # (1 + 4a x)^(1/2) has integer coefficients
            formula, value = f"\\sqrt{{1 + {4 * a}x}}", Fraction(0)
            coefficient = Fraction(1)
            for i in range(n):
                coefficient *= (Fraction(1, 2) - i) / (i + 1)
            value = coefficient * (4 * a) ** n
        else:
            n = rng.randint(3, 7)
            formula, value = (
                f"\\frac{{{b}}}{{(1 - {terms([(a, 'x')])})^2}}",
                Fraction(b * (n + 1) * a**n),
            )
    else:
        form = rng.choice(("composite", "derivative", "two factors"))
        a, b = rng.randint(1, 3), rng.randint(1, 3)
        if form == "composite":
            n = rng.choice((4, 6))
            c = n // 2
            formula, value = pick(
                rng,
                (
                    f"e^{{{terms([(a + 1, 'x^2')])}}}\\cos x",
                    sum(
                        Fraction((a + 1) ** i, factorial(i))
                        * Fraction((-1) ** (c - i), factorial(2 * (c - i)))
                        for i in range(c + 1)
                    ),
                ),
                (
                    f"\\frac{{\\cos {a + 1}x}}{{1 - x^2}}",
                    sum(
                        Fraction((-1) ** i * (a + 1) ** (2 * i), factorial(2 * i))
                        for i in range(c + 1)
                    ),
                ),
                (
                    f"\\frac{{e^{{{a + 1}x}}}}{{1 - x}}",
                    sum(Fraction((a + 1) ** i, factorial(i)) for i in range(n + 1)),
                ),
            )
        elif form == "derivative":
            # f^(n)(0) for x^k e^(ax), x^k sin(ax), 1/(1 + a x^2)
            n, k = rng.randint(6, 10), rng.randint(2, 3)
            kind = rng.choice(("exp", "fraction"))
            if kind == "exp":
                formula, number = (
                    f"x^{k}e^{{{a + 1}x}}",
                    Fraction(factorial(n) * (a + 1) ** (n - k), factorial(n - k)),
                )
            else:
                n = rng.choice((4, 6, 8))
                formula, number = (
                    f"\\frac{{1}}{{1 + {terms([(a, 'x^2')])}}}",
                    Fraction((-a) ** (n // 2) * factorial(n)),
                )
            order = f"f^{{({n})}}(0)"
            question = pick(
                rng,
                WORDINGS.one("taylor", formula=formula, order=order, n=n),
                (
                    f"Use a power series to compute the ${n}$th derivative of $f(x) = {formula}$ at "
                    "$x = 0$."
                ).replace(f"${n}$th derivative", f"derivative of order ${n}$"),
                f"If \\[f(x) = {formula},\\] what is ${order}$?",
            )
            return Problem(
                question, fraction(number), {"formula": formula, "n": n, "ask": "derivative"}
            )
        else:
            n = rng.randint(4, 8)
            p, q = rng.sample((1, 2, 3, -1, -2), 2)
            # 1/((1 - p x)(1 - q x)): (p^(n+1) - q^(n+1))/(p - q)
            value = Fraction(p ** (n + 1) - q ** (n + 1), p - q)
            one, two = terms([(1, ""), (-p, "x")]), terms([(1, ""), (-q, "x")])
            shape = (
                f"({one})({two})"
                if rng.random() < 0.5
                else terms([(1, ""), (-p - q, "x"), (p * q, "x^2")])
            )
            formula = f"\\frac{{1}}{{{shape}}}"
            if value == 0:
                return _taylor(rng, level)
    if value == 0:
        return _taylor(rng, level)
    term = power("x", n)
    question = pick(
        rng,
        f"Find the coefficient of ${term}$ in the Maclaurin series of ${formula}$.",
        f"When ${formula}$ is expanded in powers of $x$, which number multiplies ${term}$?",
        (
            f"Suppose \\[{formula} = c_0 + c_1x + c_2x^2 + \\cdots\\] for all $x$ near $0$. "
            f"What is $c_{n}$?"
        )
        .replace("c_1x", "c_{1}x")
        .replace("c_2x", "c_{2}x"),
        WORDINGS.one("taylor 2", n=n, formula=formula, wanted=term),
        WORDINGS.one("taylor 3", formula=formula, n=n),
        WORDINGS.one("taylor 4", n=n, formula=formula),
        WORDINGS.one("taylor 5", formula=formula, wanted=term),
        WORDINGS.one("taylor 6", formula=formula, wanted=term),
    )
    return Problem(question, fraction(value), {"formula": formula, "n": n, "ask": "coefficient"})


def _differential(rng: Random, level: int) -> Problem:
    if level == 1:
        a, b, c = signed(rng, 1, 4), signed(rng, 1, 6), rng.randint(-9, 9)
        x0, x1 = rng.sample(range(-3, 5), 2)
        y0 = rng.randint(-9, 12)
        rate = polynomial((3 * a, 2 * b, c))

        def height(x: int) -> int:
            return a * x**3 + b * x * x + c * x

        value = y0 + height(x1) - height(x0)
        f = rng.choice("fgh")
        question = WORDINGS.draw(rng, "differential, level 1", f=f, rate=rate, x0=x0, y0=y0, x1=x1)
        return Problem(
            question, str(value), {"rate": rate, "start": [x0, y0], "at": str(x1), "form": "direct"}
        )
    if level == 2:
        form = rng.choice(("growth", "square", "product"))
        if form == "growth":
            factor, span, times = (
                rng.choice((2, 3, 4, 5, Fraction(1, 2), Fraction(1, 3))),
                rng.randint(2, 9),
                rng.choice((2, 3, 4)),
            )
            start = rng.randint(1, 12) * 10
            if factor < 1:
                start = rng.randint(1, 6) * Fraction(factor).denominator ** times
            first, value = start * Fraction(factor), start * Fraction(factor) ** times
            thing = pick(
                rng, "A culture of bacteria", "A chemical substance", "The amount of a quantity $y$"
            )
            question = WORDINGS.draw(
                rng,
                "differential, level 2, growth",
                thing=thing,
                start=start,
                first=fraction(first),
                span=span,
                end=span * times,
            )
            return Problem(
                question,
                fraction(value),
                {
                    "form": form,
                    "start": str(start),
                    "first": str(first),
                    "span": span,
                    "end": span * times,
                },
            )
        if form == "square":
            # y' = a x^n y^2: 1/y0 - 1/y = a (x^(n+1))/(n+1)
            n, a, y0 = (
                rng.choice((0, 1, 2)),
                rng.randint(1, 4) * signed(rng, 1, 1),
                rng.randint(1, 6),
            )
            x1 = rng.choice((1, 2))
            inverse = Fraction(1, y0) - Fraction(a * x1 ** (n + 1), n + 1)
            if inverse <= 0:
                return _differential(rng, level)
            rate = f"{terms([(a, power('x', n) + 'y^2')])}"
            value = 1 / inverse
        else:
            # y' = k x/y: y^2 = y0^2 + k x^2
            k, x1, y0 = rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 9)
            size = y0 * y0 + k * x1 * x1
            rate = f"\\frac{{{terms([(k, 'x')])}}}{{y}}"
            answer = root(size)
            question = _initial_value(rng, rate, y0, str(x1), positive=True)
            return Problem(
                question,
                answer,
                {"rate": rate, "start": [0, y0], "at": str(x1), "form": "separable"},
            )
        return Problem(
            _initial_value(rng, rate, y0, str(x1)),
            fraction(value),
            {"rate": rate, "start": [0, y0], "at": str(x1), "form": "separable"},
        )
    form = rng.choice(("linear", "cooling", "logistic", "exponential"))
    if form == "linear":
        # y' = a y + b, y0: y = (y0 + b/a) e^(a x) - b/a, at x = ln m
        a, b, y0, m = (
            rng.choice((1, 2, 3, -1)),
            signed(rng, 1, 9),
            rng.randint(-4, 9),
            rng.choice((2, 3)),
        )
        value = (y0 + Fraction(b, a)) * Fraction(m) ** a - Fraction(b, a)
        if y0 + Fraction(b, a) == 0 or y0 == 0:
            return _differential(rng, level)
        rate = terms([(a, "y"), (b, "")])
        at = f"\\ln {m}"
    elif form == "exponential":
        # y' = k x^n y, y0 > 0: y = y0 e^(k x^(n+1)/(n+1))
        n, y0, x1 = rng.choice((1, 2)), rng.randint(1, 9), rng.choice((1, 2))
        k = rng.randint(1, 3) * (n + 1)
        rate = f"{terms([(k, power('x', n) + 'y')])}"
        exponent = k * x1 ** (n + 1) // (n + 1)
        answer = f"{'' if y0 == 1 else y0}{power('e', exponent)}"
        return Problem(
            _initial_value(rng, rate, y0, str(x1)),
            answer,
            {"rate": rate, "start": [0, y0], "at": str(x1), "form": "separable"},
        )
    elif form == "cooling":
        room = rng.choice((10, 15, 18, 20, 22, 25))
        first_gap = rng.choice((32, 48, 54, 64, 72, 80))
        ratio = rng.choice((Fraction(1, 2), Fraction(3, 4), Fraction(2, 3)))
        span, times = rng.choice((5, 8, 10, 12, 15)), rng.choice((2, 3))
        while (first_gap * ratio**times).denominator > 1:
            first_gap += 1
            if first_gap > 90:
                return _differential(rng, level)
        first, value = room + first_gap * ratio, room + first_gap * ratio**times
        question = WORDINGS.draw(
            rng,
            "differential, cooling",
            room=room,
            start=room + first_gap,
            first=fraction(first),
            span=span,
            end=span * times,
        )
        return Problem(
            question,
            fraction(value),
            {
                "form": form,
                "room": room,
                "start": room + first_gap,
                "first": str(first),
                "span": span,
                "end": span * times,
            },
        )
    else:
        # y' = y (1 - y/K): y/(K - y) = y0/(K - y0) e^x
        K, m = rng.choice((4, 5, 6, 8, 10, 12)), rng.choice((2, 3, 4))
        y0 = rng.randint(1, K - 1)
        odds = Fraction(y0, K - y0) * m
        value = K * odds / (1 + odds)
        rate = f"y\\left(1 - \\frac{{y}}{{{K}}}\\right)"
        at = f"\\ln {m}"
    return Problem(
        _initial_value(rng, rate, y0, at),
        fraction(value),
        {"rate": rate, "start": [0, y0], "at": at, "form": "separable"},
    )


def _initial_value(rng: Random, rate: str, y0: int, at: str, positive: bool = False) -> str:
    more = " and $y > 0$" if positive else ""
    return WORDINGS.draw(rng, "initial value", rate=rate, y0=y0, more=more, at=at)


FAMILIES = (
    math_family("calculus_limit", _limit, "Limits"),
    math_family("calculus_power_series", _taylor, "Coefficients of power series"),
    math_family("calculus_differential_equation", _differential, "Equations for rates of change"),
)
