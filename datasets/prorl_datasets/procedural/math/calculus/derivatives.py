"""Problems on derivatives and tangents."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, power, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


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
            coefficients = [rng.choice((1, 2, -1, 3)), *(signed(rng, 1, 6) for _ in range(degree))]
            coefficients[rng.randint(1, degree - 1)] = 0
            formula, value = polynomial(coefficients), _eval(_slope(coefficients), x0)
        else:
            a, b, x0 = rng.randint(1, 6), signed(rng, 1, 6), rng.choice((1, 4, 9))
            c = signed(rng, 1, 5)
            side = {1: 1, 4: 2, 9: 3}[x0]
            formula = WORDINGS.one(
                "derivative formula",
                value="" if a == 1 else a,
                value_2="+" if b > 0 else "-",
                b=abs(b),
                value_3="+" if c > 0 else "-",
                terms=terms([(abs(c), "x^2")]),
            )
            value = Fraction(a, 2 * side) - Fraction(b, x0 * x0) + 2 * c * x0
        ask, at = f"{f}'({x0})", x0
        order = 1
    elif level == 2:
        form = rng.choice(("product", "quotient", "chain", "second"))
        order = 1
        p, q = (
            [rng.choice((1, 2, -1)), signed(rng, 1, 5), signed(rng, 1, 5)],
            [rng.choice((1, 2, 3)), signed(rng, 1, 5)],
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
            coefficients = [rng.choice((1, 2, -1)), *(signed(rng, 1, 5) for _ in range(4))]
            formula, value = polynomial(coefficients), _eval(_slope(_slope(coefficients)), x0)
        ask, at = f"{f}{chr(39) * order}({x0})", x0
    else:
        form = rng.choice(("exponential", "logarithm", "trig", "high", "nested"))
        order, at = 1, 0
        a, b, c = rng.randint(2, 5), signed(rng, 1, 6), signed(rng, 1, 6)
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
            formula = WORDINGS.one(
                "derivative formula 2",
                value="" if abs(b) == 1 else abs(b),
                a=a,
                value_2="+" if c > 0 else "-",
                value_3="" if abs(c) == 1 else abs(c),
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
            b = signed(rng, 1, 3)
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
    words = WORDINGS.one(f"derivative {order}")
    question = WORDINGS.draw(
        rng,
        "derivative",
        f=f,
        formula=formula,
        ask=ask,
        words=words,
        at=at,
        order="with respect to $x$" if order == 1 else f"${order}$ times with respect to $x$",
    )
    return Problem(tidy(question), fraction(value), {"formula": formula, "order": order, "at": at})


def _tangent(rng: Random, level: int) -> Problem:
    if level == 1:
        coefficients = (
            [rng.choice((1, -1, 2, 3)), signed(rng, 1, 6), rng.randint(-9, 9)]
            if rng.random() < 0.5
            else [1, rng.choice((0, signed(rng, 1, 4))), signed(rng, 1, 6), signed(rng, 1, 5)]
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
                WORDINGS.all("tangent, level 1, equation", curve=curve, x0=x0),
            ),
            "y": (fraction(n), WORDINGS.all("tangent, level 1, y", curve=curve, x0=x0, y0=y0)),
            "x": (fraction(-n / m), WORDINGS.all("tangent, level 1, x", curve=curve, x0=x0, y0=y0)),
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
                signed(rng, 1, 5),
                signed(rng, 1, 6),
                rng.randint(-6, 6),
                rng.randint(-3, 3),
            )
            other = -b - 2 * t
            if other == t:
                return _tangent(rng, level)
            curve = polynomial((1, b, c, d))
            question = WORDINGS.draw(rng, "tangent, level 2, again", curve=curve, t=t)
            return Problem(question, str(other), {"curve": curve, "at": t, "ask": "again"})
        if form == "parallel":
            r, s = sorted(rng.sample(range(-5, 6), 2))
            m = signed(rng, 1, 9)
            # y' = 3(x - r)(x - s) + m, r + s even
            if (r + s) % 2:
                s += 1
            curve = polynomial((1, Fraction(-3 * (r + s), 2), 3 * r * s + m, rng.randint(-5, 5)))
            asks2 = {"sum": r + s, "product": r * s, "larger": max(r, s)}
            ask = rng.choice(list(asks2))
            if r == s:
                return _tangent(rng, level)
            what = WORDINGS.one(f"tangent {ask}")
            n = rng.randint(-9, 9)
            line = polynomial((m, n))
            question = WORDINGS.draw(
                rng, "tangent, level 2, parallel", curve=curve, line=line, what=what, m=m
            )
            return Problem(question, str(asks2[ask]), {"curve": curve, "slope": m, "ask": ask})
        a, t = rng.randint(1, 20), rng.randint(1, 9)
        # the tangent to xy = a cuts off a triangle of area 2a
        c = signed(rng, 1, 9)
        curve = f"{terms([(1, 'x^2'), (c, '')])}"
        m, n = 2 * t, c - t * t
        if n == 0:
            return _tangent(rng, level)
        if rng.random() < 0.3:
            curve = f"\\frac{{{a}}}{{x}}"
            area = Fraction(2 * a)
        else:
            area = Fraction(n * n, 2 * m)
        question = WORDINGS.draw(rng, "tangent, level 2", curve=curve, t=t)
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
            WORDINGS.one("tangent 2"): s - r,
        }
        ask = rng.choice(list(asks3))
        question = WORDINGS.draw(rng, "tangent, from outside", p=p, q=q, curve=curve, ask=ask)
        return Problem(question, str(asks3[ask]), {"curve": curve, "point": [p, q], "ask": ask})
    if form == "common":
        # common tangent of y = x^2 and y = x^2 + bx + c
        b, c = 2 * signed(rng, 1, 6), signed(rng, 1, 12)
        # tangent y = m x - m^2/4 to x^2 ; x^2 + (b - m) x + c + m^2/4 = 0 double: (b-m)^2 = 4c + m^2 -> m = (b^2 - 4c)/(2b)
        m = Fraction(b * b - 4 * c, 2 * b)
        if m == 0 or m.denominator > 6:
            return _tangent(rng, level)
        n = -m * m / 4
        want = rng.choice(("slope", "y"))
        other = polynomial((1, b, c))
        question = WORDINGS.draw(
            rng,
            "tangent, common",
            other=other,
            slope_or_y_intercept="slope" if want == "slope" else "$y$-intercept",
            letter="m" if want == "slope" else "b",
            what="the slope of the line"
            if want == "slope"
            else "where the line meets the $y$-axis (its $y$-intercept)",
        )
        return Problem(
            question, fraction(m if want == "slope" else n), {"other": other, "ask": want}
        )
    if form == "implicit":
        x0, y0 = signed(rng, 1, 5), signed(rng, 1, 5)
        a, b, c = rng.randint(1, 4), signed(rng, 1, 4), rng.randint(1, 4)
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
        question = WORDINGS.draw(rng, "tangent, implicit", equation=equation, x0=x0, y0=y0)
        return Problem(
            question,
            fraction(Fraction(-above, under)),
            {"equation": equation, "point": [x0, y0], "ask": "implicit"},
        )
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
    question = WORDINGS.draw(rng, "tangent", k=k, line=line, curve=curve)
    return Problem(question, answer, parameters)


def _table(rng: Random, level: int) -> Problem:
    f, g, h = rng.choice(("fgh", "uvw", "pqr"))
    if level == 1:
        x0 = rng.randint(-3, 6)
        fv, fs, gv, gs = (
            signed(rng, 1, 9),
            signed(rng, 1, 9),
            signed(rng, 1, 6),
            signed(rng, 1, 9),
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
        question = WORDINGS.draw(rng, "table, level 1", h=h, shape=shape, known=known, x0=x0)
        return Problem(
            question,
            fraction(forms[shape]),
            {"names": f + g, "shape": shape, "at": x0, "values": [fv, fs, gv, gs]},
        )
    if level == 2:
        xs = rng.sample(range(1, 6), 3)
        table = {
            x: (rng.choice(xs), signed(rng, 1, 9), rng.choice(xs), signed(rng, 1, 9)) for x in xs
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
        array = WORDINGS.one("table array", f=f, g=g, body=body)
        question = WORDINGS.draw(
            rng, "table, level 2", array=array, h=h, shape=shape, x0=x0, f=f, g=g
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
        a, b, s = rng.randint(-5, 9), rng.randint(-5, 9), signed(rng, 2, 9)
        shift = rng.randint(2, 5)
        # h(x) = f^-1(c x): h'(b/c) = c/s
        if b % shift:
            b = shift * rng.randint(1, 3)
        ask = b // shift
        question = WORDINGS.draw(
            rng, "table, inverse", f=f, a=a, b=b, s=s, h=h, shift=shift, ask=ask
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
        question = WORDINGS.draw(rng, "table, inverse formula", f=f, formula=formula, y0=y0, g=g)
        return Problem(question, fraction(value), {"form": form, "formula": formula, "y": y0})
    fv, fs, m, x0 = (
        signed(rng, 1, 4),
        signed(rng, 1, 9),
        rng.choice((2, 3, 4)),
        rng.randint(-4, 6),
    )
    k = signed(rng, 1, 5)
    # h(x) = (x^2 + k) f(x)^m: f' from h'
    lead = x0 * x0 + k
    if not lead:
        return _table(rng, level)
    slope = 2 * x0 * fv**m + lead * m * fv ** (m - 1) * fs
    shape = f"({terms([(1, 'x^2'), (k, '')])}){f}(x)^{m}"
    question = WORDINGS.draw(rng, "table", h=h, shape=shape, f=f, x0=x0, fv=fv, slope=slope)
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
    f = rng.choice("fgh")
    if level == 1:
        a, b, c = signed(rng, 1, 4), signed(rng, 1, 9), rng.randint(-9, 9)
        low, high = sorted(rng.sample(range(-5, 9), 2))
        formula = polynomial((a, b, c))
        value = Fraction(low + high, 2)
        if rng.random() < 0.5:
            t = rng.randint(1, 9)
            formula = polynomial((a, b, c), "t")
            lo = rng.randint(0, 4)
            hi = lo + t
            average = Fraction(a * (lo + hi) + b)
            question = WORDINGS.draw(rng, "mean value, level 1", formula=formula, lo=lo, hi=hi)
            return Problem(
                question,
                fraction(average),
                {"formula": formula, "interval": [lo, hi], "ask": "average"},
            )
        question = WORDINGS.draw(
            rng, "mean value, level 1, place", f=f, formula=formula, low=low, high=high
        )
        return Problem(
            question, fraction(value), {"formula": formula, "interval": [low, high], "ask": "place"}
        )
    if level == 2:
        form = rng.choice(("cubic", "reciprocal", "root"))
        if form == "cubic":
            width = rng.choice((3, 6, 2, 4, 5))
            m = signed(rng, 1, 6)
            formula = terms([(1, "x^3"), (m, "x")])
            low, high = 0, width
            value = root(width * width * 3, Fraction(1, 3))
        elif form == "reciprocal":
            low, high = rng.choice((
                (1, 4), (1, 9), (2, 8), (4, 9), (1, 2), (2, 3), (3, 12), (1, 3), (2, 5),
                (4, 16), (1, 16)
            ))  # fmt: skip
            a, b = rng.randint(1, 9), rng.randint(-5, 5)
            formula = f"{terms([(b, 'x')])} + \\frac{{{a}}}{{x}}" if b else f"\\frac{{{a}}}{{x}}"
            value = root(low * high)
        else:
            u, v = sorted(rng.sample(range(8), 2))
            shift = rng.randint(-5, 5)
            low, high = u * u + shift, v * v + shift
            formula = f"\\sqrt{{{polynomial((1, -shift))}}}"
            value = fraction(Fraction((u + v) ** 2, 4) + shift)
        question = WORDINGS.draw(
            rng,
            "mean value, level 2",
            f=f,
            formula=formula,
            low=low,
            high=high,
            high_minus_low=high - low,
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
            question = WORDINGS.draw(
                rng, "mean value, distance or turn, distance", formula=formula, end=end
            )
        else:
            value = position(r) - position(s)
            question = WORDINGS.draw(rng, "mean value, distance or turn", formula=formula)
        return Problem(question, fraction(value), {"formula": formula, "end": end, "ask": form})
    a, b, low = rng.randint(1, 3), signed(rng, 1, 5), rng.randint(0, 3)
    high = low + rng.randint(2, 5)
    c = rng.randint(-6, 9)
    formula = polynomial((3 * a, 2 * b, c))
    value = Fraction(a * (high**3 - low**3) + b * (high**2 - low**2) + c * (high - low), high - low)
    question = WORDINGS.draw(rng, "mean value", f=f, formula=formula, low=low, high=high)
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
