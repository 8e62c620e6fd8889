"""Derivatives at a point, tangent lines, and derivatives of functions known only by values."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, polynomial, power, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


def _eval(coefficients: list[int], x: Fraction | int) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * x + c
    return total


def _slope(coefficients: list[int]) -> list[int]:
    top = len(coefficients) - 1
    return [c * (top - i) for i, c in enumerate(coefficients[:-1])]


def _signed_constant(value: int) -> str:
    return f"{'+' if value > 0 else '-'} {abs(value)}"


def _derivative(rng: Random, level: int) -> Problem:
    f = rng.choice("fghy") if level < 3 else rng.choice("fgh")
    if f == "y":
        f = "F"
    x0 = rng.randint(-2, 3)
    if level == 1:
        form = rng.choice(("polynomial", "powers"))
        if form == "polynomial":
            degree = rng.choice((3, 4))
            coefficients = [rng.choice((1, 2, -1, 3)), *(_signed(rng, 1, 6) for _ in range(degree))]
            coefficients[rng.randint(1, degree - 1)] = 0
            formula, value = polynomial(coefficients), _eval(_slope(coefficients), x0)
        else:
            a, b, x0 = rng.randint(1, 6), _signed(rng, 1, 6), rng.choice((1, 4, 9))
            c = _signed(rng, 1, 5)
            side = {1: 1, 4: 2, 9: 3}[x0]
            formula = (
                f"{'' if a == 1 else a}\\sqrt{{x}} {'+' if b > 0 else '-'} "
                f"\\frac{{{abs(b)}}}{{x}} {'+' if c > 0 else '-'} {terms([(abs(c), 'x^2')])}"
            )
            value = Fraction(a, 2 * side) - Fraction(b, x0 * x0) + 2 * c * x0
        ask, at = f"{f}'({x0})", x0
        order = 1
    elif level == 2:
        form = rng.choice(("product", "quotient", "chain", "second"))
        order = 1
        p, q = (
            [rng.choice((1, 2, -1)), _signed(rng, 1, 5), _signed(rng, 1, 5)],
            [rng.choice((1, 2, 3)), _signed(rng, 1, 5)],
        )
        if form == "product":
            n = rng.choice((2, 3))
            formula = f"({polynomial(p)})({polynomial(q)})^{n}"
            inner = _eval(q, x0)
            value = _eval(_slope(p), x0) * inner**n + _eval(p, x0) * n * inner ** (n - 1) * q[0]
        elif form == "quotient":
            if _eval(q, x0) == 0:
                return _derivative(rng, level)
            formula = f"\\frac{{{polynomial(p)}}}{{{polynomial(q)}}}"
            value = (_eval(_slope(p), x0) * _eval(q, x0) - _eval(p, x0) * q[0]) / _eval(q, x0) ** 2
        elif form == "chain":
            n = rng.choice((3, 4, 5))
            formula = f"({polynomial(p)})^{n}"
            value = n * _eval(p, x0) ** (n - 1) * _eval(_slope(p), x0)
            if rng.random() < 0.5:
                k = rng.randint(2, 9)
                x0 = rng.randint(1, 4)
                b = k * k - x0 * x0
                if not b:
                    return _derivative(rng, level)
                formula, value = f"\\sqrt{{{terms([(1, 'x^2'), (b, '')])}}}", Fraction(x0, k)
        else:
            order = 2
            coefficients = [rng.choice((1, 2, -1)), *(_signed(rng, 1, 5) for _ in range(4))]
            formula, value = polynomial(coefficients), _eval(_slope(_slope(coefficients)), x0)
        ask, at = f"{f}{chr(39) * order}({x0})", x0
    else:
        form = rng.choice(("exponential", "logarithm", "trig", "high", "nested"))
        order, at = 1, 0
        a, b, c = rng.randint(2, 5), _signed(rng, 1, 6), _signed(rng, 1, 6)
        if form == "exponential":
            p = [rng.choice((1, 2, 3)), b, c]
            order = rng.choice((1, 2))
            formula = f"({polynomial(p)})e^{{{a}x}}"
            value = (
                Fraction(p[1] + a * p[2])
                if order == 1
                else Fraction(2 * p[0] + 2 * a * p[1] + a * a * p[2])
            )
        elif form == "logarithm":
            m, n = rng.randint(1, 4), rng.randint(1, 9)
            at = rng.randint(0, 3)
            formula = (
                (
                    f"\\ln\\left(\\frac{{({polynomial((1, n))})^{a}}}{{{polynomial((m, 0))[:-1]}x + "
                    f"{n + 1}}}\\right)"
                )
                if m > 1
                else f"\\ln\\left(\\frac{{({polynomial((1, n))})^{a}}}{{x + {n + 1}}}\\right)"
            )
            value = Fraction(a, at + n) - Fraction(m, m * at + n + 1)
        elif form == "trig":
            formula = (
                f"{'' if abs(b) == 1 else abs(b)}\\sin({a}x) {'+' if c > 0 else '-'} "
                f"{'' if abs(c) == 1 else abs(c)}x\\cos x"
            )
            value = Fraction(abs(b) * a + c)
        elif form == "high":
            n = rng.choice((4, 5, 6))
            order = n - 1
            at = rng.choice((0, 1, -1))
            # ((a x + b)^n)^(n-1) = n! a^(n-1) (a x + b)
            fact = 1
            for i in range(2, n + 1):
                fact *= i
            b = _signed(rng, 1, 3)
            a = 2
            formula = f"({polynomial((a, b))})^{n}"
            value = Fraction(fact * a ** (n - 1) * (a * at + b))
        else:
            k = rng.randint(2, 4)
            at = rng.randint(1, 3)
            inside = k * k - at
            formula = (
                f"\\sqrt{{x + \\sqrt{{x^2 {_signed_constant(inside * inside - at * at)}}}}}"
                if inside > 0 and inside * inside != at * at
                else ""
            )
            if not formula:
                return _derivative(rng, level)
            value = (1 + Fraction(at, inside)) / (2 * k)
        ask = f"{f}{chr(39) * order}({at})" if order < 3 else f"{f}^{{({order})}}({at})"
    if value == 0:
        return _derivative(rng, level)
    words = {
        1: "derivative",
        2: "second derivative",
        3: "third derivative",
        4: "fourth derivative",
        5: "fifth derivative",
    }[order]
    question = rng.choice(
        (
            f"Let ${f}(x) = {formula}$. Find ${ask}$.",
            f"What is the {words} of ${f}(x) = {formula}$ at $x = {at}$?",
            f"If \\[{f}(x) = {formula},\\] what is the value of ${ask}$?",
            f"Compute the {words} of the function $y = {formula}$ at the point where $x = {at}$.",
            f"Evaluate ${ask}$ for the function ${f}$ given by ${f}(x) = {formula}$.",
            (
                f"Differentiate ${formula}$ "
                f"{'with respect to $x$' if order == 1 else f'${order}$ times with respect to $x$'} "
                f"and substitute $x = {at}$. Which number results?"
            ),
        )
    )
    return Problem(tidy(question), fraction(value), {"formula": formula, "order": order, "at": at})


def _tangent(rng: Random, level: int) -> Problem:
    if level == 1:
        coefficients = (
            [rng.choice((1, -1, 2, 3)), _signed(rng, 1, 6), rng.randint(-9, 9)]
            if rng.random() < 0.5
            else [1, rng.choice((0, _signed(rng, 1, 4))), _signed(rng, 1, 6), _signed(rng, 1, 5)]
        )
        x0 = rng.choice((-3, -2, -1, 1, 2, 3, 4))
        y0, m = _eval(coefficients, x0), _eval(_slope(coefficients), x0)
        n = y0 - m * x0
        curve = polynomial(coefficients)
        if not m or not n:
            return _tangent(rng, level)
        asks = {
            "equation": (
                polynomial((m, n)),
                (
                    (
                        f"Find the equation of the tangent line to $y = {curve}$ at the point with $x = "
                        f"{x0}$. Write it as $y = mx + b$."
                    ),
                    (
                        f"The line tangent to the curve \\[y = {curve}\\] at $x = {x0}$ has an equation "
                        "of the form $y = mx + b$. What is $mx + b$?"
                    ),
                ),
            ),
            "y": (
                fraction(n),
                (
                    (
                        f"At what height does the tangent to $y = {curve}$ at the point $({x0}, {y0})$ "
                        "cross the $y$-axis?"
                    ),
                    (
                        f"The tangent line of the graph of $y = {curve}$ at $x = {x0}$ is $y = mx + b$. "
                        "Find $b$."
                    ),
                ),
            ),
            "x": (
                fraction(-n / m),
                (
                    (
                        f"Where does the tangent to the curve $y = {curve}$ at $x = {x0}$ cut the "
                        "$x$-axis? Give the $x$-coordinate."
                    ),
                    (
                        f"A tangent touches the graph of $y = {curve}$ at $({x0}, {y0})$. For which $x$ "
                        "does this tangent meet the line $y = 0$?"
                    ),
                ),
            ),
        }
        ask = rng.choice(list(asks))
        answer, questions = asks[ask]
        if ask == "equation":
            answer = (
                f"y = {answer}" if "Write it as" in (question := rng.choice(questions)) else answer
            )
        else:
            question = rng.choice(questions)
        return Problem(question, answer, {"curve": curve, "at": x0, "ask": ask})
    if level == 2:
        form = rng.choice(("again", "parallel", "triangle"))
        if form == "again":
            # the tangent to x^3 + bx^2 + cx + d at t meets the curve again at -b - 2t
            b, c, d, t = (
                _signed(rng, 1, 5),
                _signed(rng, 1, 6),
                rng.randint(-6, 6),
                rng.randint(-3, 3),
            )
            other = -b - 2 * t
            if other == t:
                return _tangent(rng, level)
            curve = polynomial((1, b, c, d))
            question = rng.choice(
                (
                    (
                        f"The tangent to the curve $y = {curve}$ at $x = {t}$ meets the curve at a "
                        "second point. What is the $x$-coordinate of this point?"
                    ),
                    (
                        f"A line touches the graph of $y = {curve}$ where $x = {t}$ and crosses it "
                        "somewhere else. At which $x$ does it cross?"
                    ),
                    (
                        f"Let $\\ell$ be the tangent of \\[y = {curve}\\] at the point with abscissa "
                        f"${t}$. Apart from that point, $\\ell$ and the curve have one common point. "
                        "Find its $x$-coordinate."
                    ),
                )
            )
            return Problem(question, str(other), {"curve": curve, "at": t, "ask": "again"})
        if form == "parallel":
            r, s = sorted(rng.sample(range(-5, 6), 2))
            m = _signed(rng, 1, 9)
            # slope 3x^2 - ... : y' = 3(x - r)(x - s) + m, r + s even
            if (r + s) % 2:
                s += 1
            curve = polynomial((1, Fraction(-3 * (r + s), 2), 3 * r * s + m, rng.randint(-5, 5)))
            asks2 = {"sum": r + s, "product": r * s, "larger": max(r, s)}
            ask = rng.choice(list(asks2))
            if r == s:
                return _tangent(rng, level)
            what = {
                "sum": "sum of the $x$-coordinates of the two points",
                "product": "product of the $x$-coordinates of the two points",
                "larger": "larger of the two $x$-coordinates",
            }[ask]
            n = rng.randint(-9, 9)
            line = polynomial((m, n))
            question = rng.choice(
                (
                    (
                        f"At two points of the curve $y = {curve}$ the tangent is parallel to the line "
                        f"$y = {line}$. Find the {what}."
                    ),
                    (
                        f"The graph of $y = {curve}$ has slope ${m}$ at exactly two points. What is the "
                        f"{what}?"
                    ),
                    (
                        f"Two tangents of the curve \\[y = {curve}\\] have the slope ${m}$. Consider "
                        f"the points of contact and determine the {what}."
                    ),
                )
            )
            return Problem(question, str(asks2[ask]), {"curve": curve, "slope": m, "ask": ask})
        a, t = rng.randint(1, 20), rng.randint(1, 9)
        # xy = a at x = t: area of triangle 2a;  y = x^2 + c: tangent triangle
        c = _signed(rng, 1, 9)
        curve = f"{terms([(1, 'x^2'), (c, '')])}"
        m, n = 2 * t, c - t * t
        if n == 0:
            return _tangent(rng, level)
        if rng.random() < 0.3:
            curve = f"\\frac{{{a}}}{{x}}"
            area = Fraction(2 * a)
        else:
            area = Fraction(n * n, 2 * m)
        question = rng.choice(
            (
                (
                    f"The tangent to $y = {curve}$ at $x = {t}$ forms a triangle with the two "
                    "coordinate axes. What is the area of this triangle?"
                ),
                (
                    "Find the area enclosed by the $x$-axis, the $y$-axis and the line that "
                    f"touches the graph of $y = {curve}$ at the point with $x = {t}$."
                ),
                (
                    f"A tangent is drawn to the curve \\[y = {curve}\\] where $x = {t}$. Together "
                    "with the coordinate axes it bounds a triangle; compute its area."
                ),
            )
        )
        return Problem(question, fraction(area), {"curve": curve, "at": t, "ask": "area"})
    form = rng.choice(("from outside", "common", "implicit", "logarithm"))
    if form == "from outside":
        # tangents from (p, q) to y = x^2: slopes 2t with t^2 - 2pt + q = 0 (q < p^2)
        r, s = sorted(rng.sample(range(-5, 7), 2))
        if (r + s) % 2 or r + s == 0 or not r * s:
            return _tangent(rng, level)
        shift = rng.randint(-4, 6)
        p, q = (r + s) // 2, r * s + shift
        curve = terms([(1, "x^2"), (shift, "")])
        asks3 = {
            "product of the slopes": 4 * r * s,
            "sum of the slopes": 2 * (r + s),
            "larger slope": 2 * max(r, s),
            (
                "difference between the $x$-coordinates of the points of contact, the larger "
                "minus the smaller"
            ): s - r,
        }
        ask = rng.choice(list(asks3))
        question = rng.choice(
            (
                (
                    f"Two lines through the point $({p}, {q})$ are tangent to the parabola $y = "
                    f"{curve}$. Find the {ask}."
                ),
                (
                    f"From $({p}, {q})$ both tangents to the curve $y = {curve}$ are drawn. What is "
                    f"the {ask}?"
                ),
                (
                    f"The point $({p}, {q})$ lies below the parabola \\[y = {curve}.\\] Consider "
                    "the two tangents of the parabola that pass through it, and determine the "
                    f"{ask}."
                ),
            )
        )
        return Problem(question, str(asks3[ask]), {"curve": curve, "point": [p, q], "ask": ask})
    if form == "common":
        # y = x^2 + a and y = -x^2 + b x ... common tangent; use y = x^2 and y = x^2 + bx + c: slope
        b, c = 2 * _signed(rng, 1, 6), _signed(rng, 1, 12)
        # tangent y = m x - m^2/4 to x^2 ; x^2 + (b - m) x + c + m^2/4 = 0 double: (b-m)^2 = 4c + m^2 -> m = (b^2 - 4c)/(2b)
        m = Fraction(b * b - 4 * c, 2 * b)
        if m == 0 or m.denominator > 6:
            return _tangent(rng, level)
        n = -m * m / 4
        want = rng.choice(("slope", "y"))
        other = polynomial((1, b, c))
        question = rng.choice(
            (
                (
                    "There is exactly one line that is tangent both to $y = x^2$ and to $y = "
                    f"{other}$. Find its {'slope' if want == 'slope' else '$y$-intercept'}."
                ),
                (
                    f"The parabolas $y = x^2$ and $y = {other}$ have one common tangent $y = mx + "
                    f"b$. What is ${'m' if want == 'slope' else 'b'}$?"
                ),
                (
                    f"A line touches both of the curves \\[y = x^2 \\quad \\text{{and}} \\quad y = "
                    f"{other}.\\] Determine "
                    f"{'the slope of the line' if want == 'slope' else 'where the line meets the $y$-axis (its $y$-intercept)'}."
                ),
            )
        )
        return Problem(
            question, fraction(m if want == "slope" else n), {"other": other, "ask": want}
        )
    if form == "implicit":
        x0, y0 = _signed(rng, 1, 5), _signed(rng, 1, 5)
        a, b, c = rng.randint(1, 4), _signed(rng, 1, 4), rng.randint(1, 4)
        total = a * x0 * x0 + b * x0 * y0 + c * y0 * y0
        under = b * x0 + 2 * c * y0
        above = 2 * a * x0 + b * y0
        equation = f"{terms([(a, 'x^2'), (b, 'xy'), (c, 'y^2')])} = {total}"
        if rng.random() < 0.5:
            total = a * x0**3 + b * x0 * y0 + c * y0**3
            above, under = 3 * a * x0 * x0 + b * y0, b * x0 + 3 * c * y0 * y0
            equation = f"{terms([(a, 'x^3'), (b, 'xy'), (c, 'y^3')])} = {total}"
        if not under or not above:
            return _tangent(rng, level)
        question = rng.choice(
            (
                (
                    f"Find the slope of the tangent to the curve ${equation}$ at the point $({x0}, "
                    f"{y0})$."
                ),
                (
                    f"Near $({x0}, {y0})$ the equation ${equation}$ defines $y$ as a function of "
                    f"$x$. What is $\\frac{{dy}}{{dx}}$ at this point?"
                ),
                (
                    f"The point $({x0}, {y0})$ lies on \\[{equation}.\\] Use implicit "
                    f"differentiation to determine $\\frac{{dy}}{{dx}}$ there."
                ),
            )
        )
        return Problem(
            question,
            fraction(Fraction(-above, under)),
            {"equation": equation, "point": [x0, y0], "ask": "implicit"},
        )
    # y = m x tangent to y = ln(x)+..., e^{x/c}, parameter
    k = rng.choice("kca")
    which = rng.choice(("exp", "root"))
    if which == "exp":
        c = rng.randint(2, 9)
        n = rng.randint(1, 4)
        shown = f"e^{{{'' if c == 1 else c}x}}"
        # y = k x tangent to n e^{c x}: at x = 1/c: k = n c e
        curve = f"{'' if n == 1 else n}{shown}"
        answer = f"{n * c}e"
        parameters = {"curve": curve, "line": f"{k}x", "k": k, "ask": "constant"}
        line = f"{k}x"
    else:
        b = rng.randint(1, 9)
        # y = x + k tangent to c sqrt(x + b): 1 = c/(2 sqrt(x + b)) -> x + b = c^2/4, k = c^2/2 - c^2/4 + b
        c = rng.randint(1, 6)
        curve = f"{'' if c == 1 else c}\\sqrt{{x + {b}}}"
        answer = fraction(Fraction(c * c, 4) + b)
        line = f"x + {k}"
        parameters = {"curve": curve, "line": line, "k": k, "ask": "constant"}
    question = rng.choice(
        (
            f"For which number ${k}$ is the line $y = {line}$ tangent to the curve $y = {curve}$?",
            (
                f"The line $y = {line}$ touches the graph of $y = {curve}$. Determine the exact "
                f"value of ${k}$."
            ),
            (
                f"The curve \\[y = {curve}\\] and the straight line $y = {line}$ have a common "
                f"point at which their slopes agree. What is the constant ${k}$?"
            ),
        )
    )
    return Problem(question, answer, parameters)


def _table(rng: Random, level: int) -> Problem:
    """Functions known only by some values and slopes."""
    f, g, h = rng.choice(("fgh", "uvw", "pqr"))
    if level == 1:
        x0 = rng.randint(-3, 6)
        fv, fs, gv, gs = (
            _signed(rng, 1, 9),
            _signed(rng, 1, 9),
            _signed(rng, 1, 6),
            _signed(rng, 1, 9),
        )
        forms = {
            f"{f}(x){g}(x)": Fraction(fs * gv + fv * gs),
            f"\\frac{{{f}(x)}}{{{g}(x)}}": Fraction(fs * gv - fv * gs, gv * gv),
            f"{f}(x)^2": Fraction(2 * fv * fs),
            f"x^2 {f}(x)": Fraction(2 * x0 * fv + x0 * x0 * fs),
            f"3{f}(x) - {g}(x)^3": Fraction(3 * fs - 3 * gv * gv * gs),
        }
        shape = rng.choice(list(forms))
        known = (
            (f"${f}({x0}) = {fv}$, ${f}'({x0}) = {fs}$, ${g}({x0}) = {gv}$ and ${g}'({x0}) = {gs}$")
            if g in shape
            else f"${f}({x0}) = {fv}$ and ${f}'({x0}) = {fs}$"
        )
        question = rng.choice(
            (
                f"Let ${h}(x) = {shape}$, where {known}. Find ${h}'({x0})$.",
                (
                    f"Differentiable functions satisfy {known}. If ${h}(x) = {shape}$, what is "
                    f"${h}'({x0})$?"
                ),
                f"Given {known}, compute the derivative of ${shape}$ at $x = {x0}$.",
                (
                    f"All we know of some differentiable functions is that {known}. Determine "
                    f"${h}'({x0})$ for \\[{h}(x) = {shape}.\\] Simplify."
                ),
            )
        )
        return Problem(
            question,
            fraction(forms[shape]),
            {"names": f + g, "shape": shape, "at": x0, "values": [fv, fs, gv, gs]},
        )
    if level == 2:
        # chain rule with a table
        xs = rng.sample(range(1, 6), 3)
        table = {
            x: (rng.choice(xs), _signed(rng, 1, 9), rng.choice(xs), _signed(rng, 1, 9)) for x in xs
        }
        x0 = rng.choice(xs)
        outer = rng.choice(("fg", "gf", "ff"))
        first, second = {"fg": (0, 2), "gf": (2, 0), "ff": (0, 0)}[outer]
        inside, inner_slope = table[x0][second], table[x0][second + 1]
        value = table[inside][first + 1] * inner_slope
        names = {0: f, 2: g}
        shape = f"{names[first]}({names[second]}(x))"
        rows = sorted(table)
        body = " \\\\ ".join(
            f"{x} & {table[x][0]} & {table[x][1]} & {table[x][2]} & {table[x][3]}" for x in rows
        )
        array = (
            f"\\begin{{array}}{{c|cccc}} x & {f}(x) & {f}'(x) & {g}(x) & {g}'(x) \\\\ "
            f"\\hline {body} \\end{{array}}"
        )
        question = rng.choice(
            (
                (
                    f"Selected values of two differentiable functions are \\[{array}\\] If ${h}(x) "
                    f"= {shape}$, what is ${h}'({x0})$?"
                ),
                f"Use the table \\[{array}\\] to find the derivative of ${shape}$ at $x = {x0}$.",
                (
                    f"Let ${h}(x) = {shape}$ for differentiable functions ${f}$ and ${g}$ with the "
                    f"following values. \\[{array}\\] Determine ${h}'({x0})$."
                ),
            )
        )
        return Problem(
            question,
            str(value),
            {
                "names": f + g,
                "shape": shape,
                "at": x0,
                "table": {str(x): list(v) for x, v in table.items()},
            },
        )
    form = rng.choice(("inverse", "inverse formula", "power chain"))
    if form == "inverse":
        a, b, s = rng.randint(-5, 9), rng.randint(-5, 9), _signed(rng, 2, 9)
        shift = rng.randint(2, 5)
        # h(x) = f^-1(c x): h'(b/c) = c/s
        if b % shift:
            b = shift * rng.randint(1, 3)
        ask = b // shift
        question = rng.choice(
            (
                (
                    f"A differentiable function ${f}$ has an inverse, ${f}({a}) = {b}$ and "
                    f"${f}'({a}) = {s}$. If ${h}(x) = {f}^{{-1}}({shift}x)$, what is ${h}'({ask})$?"
                ),
                (
                    f"Let ${f}$ be invertible and differentiable with ${f}({a}) = {b}$, ${f}'({a}) "
                    f"= {s}$. Find the derivative of ${f}^{{-1}}({shift}x)$ at $x = {ask}$."
                ),
            )
        )
        return Problem(
            question,
            fraction(Fraction(shift, s)),
            {"form": form, "a": a, "b": b, "s": s, "shift": shift},
        )
    if form == "inverse formula":
        p, q, c, t = rng.choice((1, 2)), rng.randint(1, 6), rng.randint(-9, 9), rng.randint(-2, 3)
        n = rng.choice((3, 5))
        formula = terms([(p, power("x", n)), (q, "x"), (c, "")])
        y0 = p * t**n + q * t + c
        value = Fraction(1, n * p * t ** (n - 1) + q)
        question = rng.choice(
            (
                (
                    f"The function ${f}(x) = {formula}$ has a differentiable inverse. Find the "
                    f"derivative of ${f}^{{-1}}$ at ${y0}$."
                ),
                f"If ${g}$ is the inverse of ${f}(x) = {formula}$, what is ${g}'({y0})$?",
                f"Let \\[{f}(x) = {formula}\\] and let ${g} = {f}^{{-1}}$. Compute ${g}'({y0})$.",
            )
        )
        return Problem(question, fraction(value), {"form": form, "formula": formula, "y": y0})
    # h(x) = f(x)^m with f(x) and h' known: find f'
    fv, fs, m, x0 = (
        _signed(rng, 1, 4),
        _signed(rng, 1, 9),
        rng.choice((2, 3, 4)),
        rng.randint(-4, 6),
    )
    k = _signed(rng, 1, 5)
    # h(x) = x^k' f(x)^m ; choose h(x) = (x^2 + k) f(x)^m
    lead = x0 * x0 + k
    if not lead:
        return _table(rng, level)
    slope = 2 * x0 * fv**m + lead * m * fv ** (m - 1) * fs
    shape = f"({terms([(1, 'x^2'), (k, '')])}){f}(x)^{m}"
    question = rng.choice(
        (
            (
                f"Let ${h}(x) = {shape}$ with a differentiable function ${f}$ for which "
                f"${f}({x0}) = {fv}$. If ${h}'({x0}) = {slope}$, find ${f}'({x0})$."
            ),
            (
                f"The functions ${f}$ and ${h}$ are differentiable and ${h}(x) = {shape}$ for "
                f"all $x$. Given ${f}({x0}) = {fv}$ and ${h}'({x0}) = {slope}$, what is "
                f"${f}'({x0})$?"
            ),
            (
                f"Suppose \\[{h}(x) = {shape},\\] ${f}({x0}) = {fv}$ and ${h}'({x0}) = "
                f"{slope}$. Determine ${f}'({x0})$."
            ),
        )
    )
    return Problem(
        question,
        str(fs),
        {
            "form": form,
            "names": f + g,
            "shape": shape,
            "at": x0,
            "value": fv,
            "slope": slope,
            "m": m,
            "k": k,
        },
    )


def _mean_value(rng: Random, level: int) -> Problem:
    """Average against instantaneous rates."""
    f = rng.choice("fgh")
    if level == 1:
        a, b, c = _signed(rng, 1, 4), _signed(rng, 1, 9), rng.randint(-9, 9)
        low, high = sorted(rng.sample(range(-5, 9), 2))
        formula = polynomial((a, b, c))
        value = Fraction(low + high, 2)
        if rng.random() < 0.5:
            t = rng.randint(1, 9)
            formula = polynomial((a, b, c), "t")
            # average velocity
            lo = rng.randint(0, 4)
            hi = lo + t
            average = Fraction(a * (lo + hi) + b)
            question = rng.choice(
                (
                    (
                        "A particle moves along a line; its position at time $t$ is $s(t) = "
                        f"{formula}$. What is its average velocity from $t = {lo}$ to $t = {hi}$?"
                    ),
                    (
                        f"The position of a cart on a straight track is ${formula}$ metres after $t$ "
                        "seconds. Find its average velocity, in metres per second, over the time "
                        f"interval from ${lo}$ to ${hi}$ seconds. Use a negative number if it moves "
                        "backwards on balance."
                    ),
                    (
                        f"For $s(t) = {formula}$ compute the average rate of change of $s$ on the "
                        f"interval $[{lo}, {hi}]$."
                    ),
                )
            )
            return Problem(
                question,
                fraction(average),
                {"formula": formula, "interval": [lo, hi], "ask": "average"},
            )
        question = rng.choice(
            (
                (
                    f"Find the number $c$ promised by the mean value theorem for ${f}(x) = "
                    f"{formula}$ on the interval $[{low}, {high}]$."
                ),
                (
                    f"At which $x$ between ${low}$ and ${high}$ is the slope of $y = {formula}$ "
                    "equal to the slope of the chord joining the points of the curve with $x = "
                    f"{low}$ and $x = {high}$?"
                ),
                (
                    f"On $[{low}, {high}]$ the function ${f}(x) = {formula}$ has a certain average "
                    f"rate of change. For which $c$ is ${f}'(c)$ equal to it?"
                ),
            )
        )
        return Problem(
            question, fraction(value), {"formula": formula, "interval": [low, high], "ask": "place"}
        )
    if level == 2:
        form = rng.choice(("cubic", "reciprocal", "root"))
        if form == "cubic":
            width = rng.choice((3, 6, 2, 4, 5))
            m = _signed(rng, 1, 6)
            formula = terms([(1, "x^3"), (m, "x")])
            low, high = 0, width
            value = root(width * width * 3, Fraction(1, 3))
        elif form == "reciprocal":
            low, high = rng.choice(
                (
                    (1, 4),
                    (1, 9),
                    (2, 8),
                    (4, 9),
                    (1, 2),
                    (2, 3),
                    (3, 12),
                    (1, 3),
                    (2, 5),
                    (4, 16),
                    (1, 16),
                )
            )
            a, b = rng.randint(1, 9), rng.randint(-5, 5)
            formula = f"{terms([(b, 'x')])} + \\frac{{{a}}}{{x}}" if b else f"\\frac{{{a}}}{{x}}"
            value = root(low * high)
        else:
            u, v = sorted(rng.sample(range(8), 2))
            shift = rng.randint(-5, 5)
            low, high = u * u + shift, v * v + shift
            formula = f"\\sqrt{{{polynomial((1, -shift))}}}"
            value = fraction(Fraction((u + v) ** 2, 4) + shift)
        question = rng.choice(
            (
                (
                    f"Let ${f}(x) = {formula}$. Find the number $c$ in the open interval $({low}, "
                    f"{high})$ at which ${f}'(c) = \\frac{{{f}({high}) - "
                    f"{f}({low})}}{{{high - low}}}$."
                ),
                (
                    f"The mean value theorem, applied to ${f}(x) = {formula}$ on $[{low}, {high}]$, "
                    "yields exactly one number $c$. What is it?"
                ),
                (
                    f"A tangent to the curve \\[y = {formula}\\] is parallel to the chord that "
                    f"joins its points with $x = {low}$ and $x = {high}$, and touches between them. "
                    "Where does it touch? Give the $x$-coordinate."
                ),
            )
        )
        return Problem(
            question, value, {"formula": formula, "interval": [low, high], "ask": "place"}
        )
    form = rng.choice(("distance", "turn", "average value"))
    r, s = sorted(rng.sample(range(1, 7), 2))
    if form in ("distance", "turn"):
        # v(t) = 3(t - r)(t - s), s(t) = t^3 - 3(r+s)/2 t^2 + 3rs t
        if (r + s) % 2:
            s += 1
        if r == s:
            return _mean_value(rng, level)

        def position(t: int) -> Fraction:
            return Fraction(t**3) - Fraction(3 * (r + s), 2) * t * t + 3 * r * s * t

        end = rng.randint(s + 1, s + 4)
        formula = polynomial((1, Fraction(-3 * (r + s), 2), 3 * r * s, 0), "t")
        if form == "distance":
            value = position(r) + (position(r) - position(s)) + (position(end) - position(s))
            question = rng.choice(
                (
                    (
                        "A particle moves on a line so that its position at time $t$ is $s(t) = "
                        f"{formula}$. What total distance does it travel from $t = 0$ to $t = {end}$?"
                    ),
                    (
                        f"At time $t \\ge 0$ a point on a number line is at ${formula}$. Counting the "
                        "way back and forth, how long is the path it covers while $t$ grows from $0$ "
                        f"to ${end}$?"
                    ),
                    (
                        f"The coordinate of a bead on a wire is \\[{formula}\\] after $t$ seconds. "
                        f"Determine the total length of its motion during the first ${end}$ seconds."
                    ),
                )
            )
        else:
            value = position(r) - position(s)
            question = rng.choice(
                (
                    (
                        f"A particle's position on a line at time $t$ is $s(t) = {formula}$. It moves "
                        "backwards during one time interval only. How far does it move in that "
                        "interval?"
                    ),
                    (
                        f"The position of a shuttle on a straight rail is ${formula}$ at time $t$. It "
                        "reverses its direction twice. What distance lies between the two turning "
                        "points?"
                    ),
                )
            )
        return Problem(question, fraction(value), {"formula": formula, "end": end, "ask": form})
    a, b, low = rng.randint(1, 3), _signed(rng, 1, 5), rng.randint(0, 3)
    high = low + rng.randint(2, 5)
    c = rng.randint(-6, 9)
    formula = polynomial((3 * a, 2 * b, c))
    value = Fraction(a * (high**3 - low**3) + b * (high**2 - low**2) + c * (high - low), high - low)
    question = rng.choice(
        (
            f"What is the average value of ${f}(x) = {formula}$ on the interval $[{low}, {high}]$?",
            (
                f"A quantity changes according to ${f}(x) = {formula}$ for ${low} \\le x \\le "
                f"{high}$. Compute its mean value over this interval (the integral divided by "
                "the length of the interval). Simplify."
            ),
            (
                f"A rectangle standing on the interval $[{low}, {high}]$ of the $x$-axis has "
                "the same signed area as the region between the axis and the curve \\[y = "
                f"{formula}.\\] Find its signed height."
            ),
        )
    )
    return Problem(
        question, fraction(value), {"formula": formula, "interval": [low, high], "ask": "mean"}
    )


FAMILIES = (
    math_family("calculus_derivative", _derivative, "Derivatives at a point"),
    math_family("calculus_tangent", _tangent, "Tangent lines"),
    math_family("calculus_value_tables", _table, "Derivatives from known values"),
    seldom(
        math_family("calculus_rates_and_means", _mean_value, "Average and instantaneous rates"),
        "4",
        "32",
    ),
)
