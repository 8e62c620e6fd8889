"""Problems on definite integrals."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, power, terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _integral(coefficients: list[Fraction], low: Fraction | int, high: Fraction | int) -> Fraction:
    """Integrate a polynomial, whose coefficients begin with the highest power."""
    top = len(coefficients) - 1
    total = Fraction(0)
    for i, c in enumerate(coefficients):
        n = top - i + 1
        total += Fraction(c) * (Fraction(high) ** n - Fraction(low) ** n) / n
    return total


def _polynomials(values: list[int]) -> list[Fraction]:
    return [Fraction(v) for v in values]


def _ask_integral(rng: Random, low: str, high: str, body: str, x: str = "x") -> str:
    shown = f"\\int_{{{low}}}^{{{high}}} {body} \\, d{x}"
    return WORDINGS.draw(rng, "ask integral", shown=shown, body=body, x=x, high=high, low=low)


def _definite(rng: Random, level: int) -> Problem:
    x = rng.choice("xxtu")
    if level == 1:
        form = rng.choice(("polynomial", "roots", "absolute"))
        if form == "polynomial":
            coefficients = [signed(rng, 1, 6) for _ in range(rng.choice((3, 3, 4)))]
            low, high = sorted(rng.sample(range(-2, 5), 2))
            body, value = (
                f"({polynomial(coefficients, x)})",
                _integral(_polynomials(coefficients), low, high),
            )
        elif form == "roots":
            a, low, high = rng.randint(1, 9), *sorted(rng.sample((0, 1, 4, 9, 16), 2))
            body = f"{'' if a == 1 else a}\\sqrt{{{x}}}"
            value = Fraction(2 * a, 3) * (isqrt(high) ** 3 - isqrt(low) ** 3)
        else:
            a, c = rng.randint(1, 3), rng.randint(-2, 4)
            low, high = c - rng.randint(1, 4), c + rng.randint(1, 5)
            body = f"|{polynomial((a, -a * c), x)}|"
            value = Fraction(a, 2) * ((c - low) ** 2 + (high - c) ** 2)
        if value == 0:
            return _definite(rng, level)
        return Problem(
            _ask_integral(rng, str(low), str(high), body, x),
            fraction(value),
            {"body": body, "low": str(low), "high": str(high), "x": x},
        )
    if level == 2:
        form = rng.choice(("power", "root", "log", "exponential", "trig"))
        if form == "power":  # 2a x (a x^2 + b)^n
            a, b, n = rng.choice((1, 1, 2)), signed(rng, 1, 3), rng.choice((2, 3, 4))
            low, high = rng.choice(((0, 1), (0, 2), (1, 2), (-1, 2)))
            k = rng.choice((1, 2, 3))
            inner = terms([(a, f"{x}^2"), (b, "")])
            body = f"{terms([(k, x)])}({inner})^{n}"
            value = Fraction(k, 2 * a * (n + 1)) * (
                Fraction(a * high * high + b) ** (n + 1) - Fraction(a * low * low + b) ** (n + 1)
            )
        elif form == "root":  # x / sqrt(x^2 + b), x sqrt(x^2 + b)
            b, low, high = rng.choice((
                (9, 0, 4), (16, 0, 3), (25, 0, 12), (144, 0, 5), (64, 0, 6), (36, 0, 8),
                (0, 1, 3), (16, 3, 0), (225, 0, 8), (64, 6, 15), (144, 5, 9), (144, 9, 16),
                (400, 15, 21)
            ))  # fmt: skip
            if low > high or b == 0:
                low, high, b = 0, 4, 9
            k = rng.randint(1, 6)
            u, v = isqrt(low * low + b), isqrt(high * high + b)
            if rng.random() < 0.5:
                body, value = (
                    f"\\frac{{{terms([(k, x)])}}}{{\\sqrt{{{x}^2 + {b}}}}}",
                    Fraction(k * (v - u)),
                )
            else:
                body, value = (
                    f"{terms([(k, x)])}\\sqrt{{{x}^2 + {b}}}",
                    Fraction(k * (v**3 - u**3), 3),
                )
        elif form == "log":
            a, b, high, k = (
                rng.randint(1, 4),
                rng.randint(1, 5),
                rng.randint(1, 6),
                rng.randint(1, 6),
            )
            body = f"\\frac{{{k}}}{{{polynomial((a, b), x)}}}"
            ratio = Fraction(a * high + b, b)
            c = Fraction(k, a)
            log = (
                f"\\ln {ratio}"
                if ratio.denominator == 1
                else f"\\ln \\frac{{{ratio.numerator}}}{{{ratio.denominator}}}"
            )
            answer = log if c == 1 else f"{fraction(c)}{log}"
            return Problem(
                _ask_integral(rng, "0", str(high), body, x),
                answer,
                {"body": body, "low": "0", "high": str(high), "x": x},
            )
        elif form == "exponential":
            a, k, high = rng.randint(2, 5), rng.randint(1, 9), rng.choice((1, 1, 2))
            body = f"{'' if k == 1 else k}e^{{{a}{x}}}"
            c = Fraction(k, a)
            top = f"e^{a * high}" if a * high < 10 else f"e^{{{a * high}}}"
            answer = f"{'' if c == 1 else fraction(c)}{top} - {fraction(c)}"
            return Problem(
                _ask_integral(rng, "0", str(high), body, x),
                answer,
                {"body": body, "low": "0", "high": str(high), "x": x},
            )
        else:
            a, k = rng.randint(2, 6), rng.randint(1, 9)
            part = rng.choice((2, 3, 4, 6))
            high = f"\\frac{{\\pi}}{{{part}}}"
            # k sin^a x cos x from 0: sin at the end: 1, sqrt3/2, sqrt2/2, 1/2
            square = {2: Fraction(1), 3: Fraction(3, 4), 4: Fraction(1, 2), 6: Fraction(1, 4)}[part]
            n = a + 1
            if n % 2 and part in (3, 4):
                return _definite(rng, level)
            value = Fraction(k, n) * (
                square ** (n // 2)
                if n % 2 == 0
                else Fraction({2: 1}.get(part, 0) or Fraction(1, 2)) ** n
            )
            body = f"{'' if k == 1 else k}\\sin^{a} {x} \\cos {x}"
            return Problem(
                _ask_integral(rng, "0", high, body, x),
                fraction(value),
                {"body": body, "low": "0", "high": high, "x": x},
            )
        if value == 0:
            return _definite(rng, level)
        return Problem(
            _ask_integral(rng, str(low), str(high), body, x),
            fraction(value),
            {"body": body, "low": str(low), "high": str(high), "x": x},
        )
    form = pick(
        rng, "exponential parts", "log parts", "trig parts", "king", "odd and even", "rational"
    )
    if form == "exponential parts":
        # (a x + b) e^(k x) from 0 to 1
        a, b, k = signed(rng, 1, 6), rng.randint(-6, 6), rng.choice((1, 2, 3, -1))
        body = (
            f"({polynomial((a, b), x)})e^{{{polynomial((k, 0), x)}}}"
            if k != 1
            else f"({polynomial((a, b), x)})e^{x}"
        )
        if not b:
            body = (
                f"{terms([(a, x)])}e^{{{polynomial((k, 0), x)}}}"
                if k != 1
                else f"{terms([(a, x)])}e^{x}"
            )
        top, bottom = Fraction(a + b, k) - Fraction(a, k * k), Fraction(b, k) - Fraction(a, k * k)
        shown = "e" if k == 1 else f"e^{{{k}}}"
        answer = terms([(top, shown), (-bottom, "")])
        return Problem(
            _ask_integral(rng, "0", "1", body, x),
            answer,
            {"body": body, "low": "0", "high": "1", "x": x},
        )
    if form == "log parts":
        n, a, high = rng.choice((0, 1, 2)), rng.randint(1, 6), rng.choice(("e", "2", "3", "e^2"))
        c = Fraction(a, n + 1)
        body = f"{terms([(a, power(x, n))]) if n or a > 1 else ''}\\ln {x}".strip()
        # a x^(n+1)/(n+1) (ln x - 1/(n+1)) from 1 to high
        if high in ("2", "3"):
            h = int(high)
            answer = terms(
                [(c * h ** (n + 1), f"\\ln {h}"), (-c * Fraction(h ** (n + 1) - 1, n + 1), "")]
            )
        else:
            e = 1 if high == "e" else 2
            base = power("e", e * (n + 1))
            answer = terms([(c * (e - Fraction(1, n + 1)), base), (c / (n + 1), "")])
        return Problem(
            _ask_integral(rng, "1", high, body, x),
            answer,
            {"body": body, "low": "1", "high": high, "x": x},
        )
    if form == "trig parts":
        a, k = rng.randint(1, 9), rng.choice((1, 1, 2))
        which = rng.choice(("sin", "cos"))
        high = rng.choice(("\\pi", "\\frac{\\pi}{2}"))
        inner = x if k == 1 else f"{k}{x}"
        body = f"{terms([(a, x)])}\\{which} {inner}"
        half = high != "\\pi"
        # x sin kx: -x cos kx/k + sin kx/k^2;  x cos kx: x sin kx/k + cos kx/k^2 - 1/k^2
        quarter = k if half else 2 * k  # the end angle in quarter turns
        sine, cosine = (0, 1, 0, -1)[quarter % 4], (1, 0, -1, 0)[quarter % 4]
        end = Fraction(1, 2) if half else Fraction(1)
        if which == "sin":
            with_pi, without_pi = -a * end * cosine / k, Fraction(a * sine, k * k)
        else:
            with_pi, without_pi = a * end * sine / k, Fraction(a * (cosine - 1), k * k)
        if with_pi == 0 and without_pi == 0:
            return _definite(rng, level)
        answer = terms([(with_pi, "\\pi"), (without_pi, "")])
        return Problem(
            _ask_integral(rng, "0", high, body, x),
            answer,
            {"body": body, "low": "0", "high": high, "x": x},
        )
    if form == "king":
        # f(x)/(f(x) + f(a + b - x)) over [a, b] is half the length
        low = rng.randint(0, 4)
        high = low + rng.choice((1, 2, 3, 5, 7, 9))
        total = low + high
        shape = rng.choice(("root", "power", "log"))
        one, two = {
            "root": (f"\\sqrt{{{x}}}", f"\\sqrt{{{total} - {x}}}"),
            "power": (f"{x}^{rng.randint(3, 9)}", ""),
            "log": (f"\\ln({x} + {rng.randint(2, 9)})", ""),
        }[shape]
        if shape == "power":
            two = f"({total} - {x})^{one[-1]}"
        if shape == "log":
            plus = int(one.split("+ ")[1][:-1])
            two = f"\\ln({total + plus} - {x})"
        k = rng.randint(1, 9)
        top = one if k == 1 else f"{k}{one}"
        body = f"\\frac{{{top}}}{{{one} + {two}}}"
        return Problem(
            _ask_integral(rng, str(low), str(high), body, x),
            fraction(Fraction(k * (high - low), 2)),
            {"body": body, "low": str(low), "high": str(high), "x": x},
        )
    if form == "odd and even":
        r, a, b, c = rng.randint(1, 4), rng.randint(1, 5), signed(rng, 1, 6), rng.randint(1, 6)
        odd = pick(
            rng,
            f"{x}^3\\cos {x}",
            f"{x}^5\\sqrt{{{x}^2 + {c}}}",
            f"\\sin^3 {x}",
            f"\\frac{{{x}^3}}{{{x}^4 + {c}}}",
        )
        body = WORDINGS.one(
            "definite",
            odd=odd,
            value="+" if b > 0 else "-",
            terms=terms([(3 * abs(b), f"{x}^2")]),
            a=a,
        )
        value = 2 * Fraction(b * r**3 + a * r)
        if value == 0:
            return _definite(rng, level)
        return Problem(
            _ask_integral(rng, str(-r), str(r), body, x),
            fraction(value),
            {"body": body, "low": str(-r), "high": str(r), "x": x},
        )
    # k/((x + p)(x + q)), p < q, from 0 to h
    p, gap, high = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 6)
    q, k = p + gap, rng.choice((1, gap, 2 * gap, 3))
    ratio = Fraction((high + p) * q, (high + q) * p)
    c = Fraction(k, gap)
    body = f"\\frac{{{k}}}{{({x} + {p})({x} + {q})}}"
    if rng.random() < 0.5:
        body = f"\\frac{{{k}}}{{{polynomial((1, p + q, p * q), x)}}}"
    log = (
        f"\\ln {ratio}"
        if ratio.denominator == 1
        else f"\\ln \\frac{{{ratio.numerator}}}{{{ratio.denominator}}}"
    )
    return Problem(
        _ask_integral(rng, "0", str(high), body, x),
        log if c == 1 else f"{fraction(c)}{log}",
        {"body": body, "low": "0", "high": str(high), "x": x},
    )


def _area(rng: Random, level: int) -> Problem:
    if level == 1:
        r, s = sorted(rng.sample(range(-4, 6), 2))
        a = rng.choice((1, 1, 2, 3))
        curve = (
            polynomial((-a, a * (r + s), -a * r * s))
            if rng.random() < 0.6
            else polynomial((a, -a * (r + s), a * r * s))
        )
        area = Fraction(a * (s - r) ** 3, 6)
        question = WORDINGS.draw(rng, "area, level 1", curve=curve)
        return Problem(question, fraction(area), {"curves": [curve, "0"]})
    if level == 2:
        r, s = sorted(rng.sample(range(-4, 6), 2))
        a = rng.choice((1, 1, 2, 3))
        form = rng.choice(("line", "parabola", "sideways"))
        if form == "sideways":
            # x = y^2 and x = m y + n meet where (y - r)(y - s) = 0
            m, n = r + s, -r * s
            right = terms([(m, "y"), (n, "")])
            if not m:
                return _area(rng, level)
            area = Fraction((s - r) ** 3, 6)
            question = WORDINGS.draw(rng, "area, level 2, sideways", right=right)
            return Problem(question, fraction(area), {"sideways": right})
        if form == "line":
            m, n = signed(rng, 1, 5), rng.randint(-6, 6)
            one, two = polynomial((a, m - a * (r + s), n + a * r * s)), polynomial((m, n))
            area = Fraction(a * (s - r) ** 3, 6)
        else:
            p, q, t = rng.choice((-1, -2, 2)), signed(rng, 1, 4), rng.randint(-6, 6)
            if p + a == 0 or p == a:
                p = -3
            one, two = polynomial((p + a, q - a * (r + s), t + a * r * s)), polynomial((p, q, t))
            area = Fraction(a * (s - r) ** 3, 6)
        question = WORDINGS.draw(rng, "area, level 2", one=one, two=two)
        return Problem(question, fraction(area), {"curves": [one, two]})
    form = rng.choice(("cubic", "tangent", "parameter", "halves"))
    if form == "cubic":
        r, s, t = sorted(rng.sample(range(-3, 5), 3))
        a = rng.choice((1, 1, 2))
        m, n = rng.choice((0, signed(rng, 1, 4))), rng.choice((0, rng.randint(-5, 5)))
        e1, e2, e3 = r + s + t, r * s + s * t + t * r, r * s * t
        coefficients = _polynomials([a, -a * e1, a * e2, -a * e3])
        area = abs(_integral(coefficients, r, s)) + abs(_integral(coefficients, s, t))
        one, two = polynomial((a, -a * e1, a * e2 + m, -a * e3 + n)), polynomial((m, n))
        line = "the $x$-axis" if two == "0" else f"the line $y = {two}$"
        question = WORDINGS.draw(rng, "area, cubic", one=one, line=line)
        return Problem(question, fraction(area), {"curves": [one, two]})
    if form == "tangent":
        # curve y = x^2 + c, tangents at r and s: area (s - r)^3/12
        r, s = sorted(rng.sample(range(-5, 7), 2))
        b, c = rng.randint(-4, 4), rng.randint(-6, 8)
        curve = polynomial((1, b, c))
        area = Fraction((s - r) ** 3, 12)
        question = WORDINGS.draw(rng, "area, tangent", curve=curve, r=r, s=s)
        return Problem(question, fraction(area), {"tangents": curve, "at": [r, s]})
    if form == "parameter":
        # area between y = x^2 and y = k x is k^3/6 (k > 0); between y = x^2 and y = k: 4/3 k^(3/2)
        k = rng.choice("kcm")
        a = rng.choice((1, 2, 3))
        value = rng.randint(2, 9)
        if rng.random() < 0.5:
            area = Fraction(value**3, 6 * a * a)
            line = f"{k}x"
        else:
            value = a * rng.randint(1, 5) ** 2
            side = isqrt(value // a)
            area = Fraction(4 * side * value, 3)
            line = k
        curve = terms([(a, "x^2")])
        question = WORDINGS.draw(
            rng, "area, parameter", k=k, curve=curve, line=line, area=fraction(area)
        )
        return Problem(
            question, str(value), {"curve": curve, "line": line, "k": k, "area": str(area)}
        )
    # a line y = m x through the origin halves the region under y = b x - x^2
    b = rng.choice((2, 3, 4, 6, 8, 10, 12))
    ratio = rng.choice((8, 27, 64))
    part = {8: 2, 27: 3, 64: 4}[ratio]
    # the upper region (b - m)^3/6 is 1/ratio of b^3/6
    m = b - Fraction(b, part)
    lower = fraction(Fraction(1, ratio))
    curve = terms([(b, "x"), (-1, "x^2")])
    question = WORDINGS.draw(rng, "area", curve=curve, lower=lower)
    return Problem(question, fraction(m), {"b": b, "share": lower})


def _pi_times(value: Fraction) -> str:
    if value == 1:
        return "\\pi"
    return (
        f"{fraction(value)}\\pi"
        if value.denominator == 1
        else f"\\frac{{{'' if value.numerator == 1 else value.numerator}\\pi}}{{{value.denominator}}}"
    )


def _volume(rng: Random, level: int) -> Problem:
    if level == 1:
        form = rng.choice(("line", "parabola", "root", "hyperbola"))
        low, high = sorted(rng.sample(range(6), 2))
        a = rng.randint(1, 5)
        if form == "line":
            b = rng.randint(1, 5)
            curve, value = (
                polynomial((a, b)),
                _integral(_polynomials([a * a, 2 * a * b, b * b]), low, high),
            )
        elif form == "parabola":
            b = rng.randint(0, 3)
            high = min(high, 3)
            low = min(low, high - 1)
            curve, value = (
                terms([(1, "x^2"), (b, "")]),
                _integral(_polynomials([1, 0, 2 * b, 0, b * b]), low, high),
            )
        elif form == "root":
            b = rng.randint(0, 6)
            curve, value = (
                f"\\sqrt{{{polynomial((a, b))}}}",
                _integral(_polynomials([a, b]), low, high),
            )
        else:
            low += 1
            high += 1
            curve, value = f"\\frac{{{a}}}{{x}}", a * a * (Fraction(1, low) - Fraction(1, high))
        question = WORDINGS.draw(rng, "volume, level 1", curve=curve, low=low, high=high)
        return Problem(
            question, _pi_times(value), {"curve": curve, "low": low, "high": high, "axis": "x"}
        )
    if level == 2:
        form = rng.choice(("washer", "about y", "cross sections"))
        if form == "washer":
            k = rng.randint(1, 5)
            a = rng.randint(1, 3)
            # between y = k x and y = a x^2, from 0 to k/a
            end = Fraction(k, a)
            value = k * k * end**3 / 3 - a * a * end**5 / 5
            one, two = terms([(k, "x")]), terms([(a, "x^2")])
            question = WORDINGS.draw(rng, "volume, level 2, washer", one=one, two=two)
            return Problem(
                question, _pi_times(value), {"curves": [one, two], "end": str(end), "axis": "x"}
            )
        if form == "about y":
            a, n, high = rng.randint(1, 5), rng.choice((1, 2, 3)), rng.randint(1, 3)
            b = rng.randint(0, 4)
            curve = terms([(a, power("x", n)), (b, "")])
            value = 2 * _integral(
                [Fraction(a), *[Fraction(0)] * (n - 1), Fraction(b), Fraction(0)], 0, high
            )
            question = WORDINGS.draw(rng, "volume, level 2, about y", curve=curve, high=high)
            return Problem(
                question, _pi_times(value), {"curve": curve, "low": 0, "high": high, "axis": "y"}
            )
        # base between y = b x - x^2 and the axis
        b = rng.randint(1, 6)
        shape, factor = pick(
            rng,
            ("squares", Fraction(1)),
            ("semicircles whose diameter lies in the base", None),
            ("isosceles right triangles with one leg in the base", Fraction(1, 2)),
            ("rectangles twice as high as they are wide", Fraction(2)),
        )
        fifth = _integral(_polynomials([1, -2 * b, b * b, 0, 0]), 0, b)
        answer = _pi_times(fifth / 8) if factor is None else fraction(factor * fifth)
        curve = terms([(b, "x"), (-1, "x^2")])
        question = WORDINGS.draw(rng, "volume, level 2", curve=curve, shape=shape)
        return Problem(question, answer, {"curve": curve, "b": b, "shape": shape})
    form = rng.choice(("other axis", "bowl", "hole"))
    if form == "other axis":
        b, k = rng.randint(2, 5), rng.randint(1, 4)
        # region between y = b x - x^2 and the axis about y = -k
        square = _integral(_polynomials([1, -2 * b, b * b, 0, 0]), 0, b)
        plain = Fraction(b**3, 6)
        value = square + 2 * k * plain
        curve = terms([(b, "x"), (-1, "x^2")])
        question = WORDINGS.draw(rng, "volume, other axis", curve=curve, k=k)
        return Problem(
            question, _pi_times(value), {"curve": curve, "end": b, "shift": k, "axis": "shifted"}
        )
    if form == "bowl":
        # y = a x^2 about the y-axis up to height h: volume pi h^2/(2a); given volume, find h
        a, h = Fraction(1, rng.choice((1, 2, 3, 4, 6, 8))), rng.randint(2, 12)
        volume = h * h / (2 * a)
        curve = terms([(a, "x^2")])
        question = WORDINGS.draw(
            rng, "volume, bowl", curve=curve, h_plus_four=h + 4, volume_shown=_pi_times(volume)
        )
        return Problem(question, str(h), {"curve": curve, "volume": str(volume)})
    # sphere of radius R with a cylindrical hole of radius r: 4/3 pi (R^2 - r^2)^(3/2)
    small, half, big = rng.choice((
        (3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (6, 8, 10), (8, 6, 10), (8, 15, 17),
        (15, 8, 17), (7, 24, 25), (24, 7, 25), (9, 12, 15), (12, 9, 15)
    ))  # fmt: skip
    cap = rng.random() < 0.5
    if cap:
        height = big - half
        value = Fraction(height * height * (3 * big - height), 3)
        question = WORDINGS.draw(
            rng, "volume, cap", big=big, half=half, big_times_big=big * big, height=height
        )
    else:
        value = Fraction(4 * half**3, 3)
        question = WORDINGS.draw(rng, "volume", small=small, big=big, big_times_big=big * big)
    return Problem(
        question, _pi_times(value), {"ball": big, "small": small, "half": half, "cap": cap}
    )


def _integral_equation(rng: Random, level: int) -> Problem:
    f, F = rng.choice((("f", "F"), ("g", "G"), ("h", "H")))
    if level == 1:
        form = rng.choice(("properties", "derivative"))
        if form == "properties":
            a, b, c = sorted(rng.sample(range(-3, 12), 3))
            u, v = signed(rng, 1, 15), signed(rng, 1, 15)
            p, q = rng.choice((2, 3, 4, 5)), signed(rng, 1, 5)
            # int_a^b = u, int_a^c = v: int_b^c (p f + q) = p (v - u) + q (c - b)
            value = p * (v - u) + q * (c - b)
            body = f"({terms([(p, f'{f}(x)'), (q, '')])})"
            question = WORDINGS.draw(
                rng,
                "integral equation, level 1, properties",
                a=a,
                b=b,
                f=f,
                u=u,
                c=c,
                v=v,
                body=body,
            )
            return Problem(
                question,
                str(value),
                {"form": form, "limits": [a, b, c], "values": [u, v], "p": p, "q": q},
            )
        a, b, c = signed(rng, 1, 4), signed(rng, 1, 6), rng.randint(-9, 9)
        start, at = rng.randint(-3, 3), rng.randint(-4, 6)
        body = polynomial((a, b, c), "t")
        value = Fraction(a * at * at + b * at + c)
        question = WORDINGS.draw(
            rng, "integral equation, level 1", F=F, start=start, body=body, at=at
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "body": body, "start": str(start), "end": "x", "at": at},
        )
    if level == 2:
        form = rng.choice(("chain", "given"))
        if form == "chain":
            a, b, at = signed(rng, 1, 4), signed(rng, 1, 6), rng.randint(1, 3)
            n = rng.choice((2, 3))
            body = polynomial((a, 0, b), "t")
            end = rng.choice((f"x^{n}", f"{n}x"))
            top, slope = (at**n, n * at ** (n - 1)) if "^" in end else (n * at, n)
            value = (a * top * top + b) * slope
            start = rng.randint(-2, 2)
            question = WORDINGS.draw(
                rng,
                "integral equation, level 2, chain",
                F=F,
                start=start,
                end=end,
                body=body,
                at=at,
            )
            return Problem(
                question,
                str(value),
                {"form": "derivative", "body": body, "start": str(start), "end": end, "at": at},
            )
        # int_a^x f(t) dt = x^3 + p x^2 + q x + k: f(v), and a from k
        p, q, a = signed(rng, 1, 6), signed(rng, 1, 9), signed(rng, 1, 4)
        k = -(a**3 + p * a * a + q * a)
        if k == 0:
            return _integral_equation(rng, level)
        at = rng.randint(-3, 5)
        c = rng.choice("ck")
        formula = f"{terms([(1, 'x^3'), (p, 'x^2'), (q, 'x')])} + {c}"
        value = 3 * at * at + 2 * p * at + q
        ask, answer = pick(
            rng, (f"{c} + {f}({at})", k + value), (c, k), (f"{f}({at}) - {c}", value - k)
        )
        question = WORDINGS.draw(
            rng, "integral equation, level 2", f=f, c=c, a=a, formula=formula, ask=ask
        )
        return Problem(
            question,
            str(answer),
            {"form": "given", "formula": formula, "a": a, "c": c, "at": at, "ask": ask},
        )
    # an integral of f is a constant in the formula of f: a linear equation for it
    form = rng.choice(("one constant", "moment", "parts"))
    if form == "one constant":
        a, b, m, high = (
            rng.choice((1, 2, 3)),
            signed(rng, 1, 6),
            signed(rng, 1, 3),
            rng.choice((1, 2, 3)),
        )
        kind = rng.choice(("plain", "times x"))
        # f = a x^2 + b x + m I  or a x^2 + b + m x I, I = int_0^high f
        if kind == "plain":
            base, weight = _integral(_polynomials([a, b, 0]), 0, high), Fraction(m * high)
            shown = WORDINGS.one(
                "integral equation shown",
                terms=terms([(a, "x^2"), (b, "x")]),
                value="+" if m > 0 else "-",
                value_2="" if abs(m) == 1 else abs(m),
                high=high,
                f=f,
            )
        else:
            base, weight = _integral(_polynomials([a, 0, b]), 0, high), Fraction(m * high * high, 2)
            shown = WORDINGS.one(
                "integral equation shown 2",
                terms=terms([(a, "x^2"), (b, "")]),
                value="+" if m > 0 else "-",
                terms_terms=terms([(abs(m), "x")]),
                high=high,
                f=f,
            )
        if weight == 1:
            return _integral_equation(rng, level)
        I = base / (1 - weight)
        at = rng.randint(-2, 4)
        value = a * at * at + (b * at + m * I if kind == "plain" else b + m * at * I)
        ask, answer = rng.choice(((f"{f}({at})", value), (f"\\int_0^{{{high}}} {f}(t) \\, dt", I)))
        question = WORDINGS.draw(rng, "integral equation, one constant", f=f, shown=shown, ask=ask)
        return Problem(
            question,
            fraction(answer),
            {
                "form": form,
                "a": a,
                "b": b,
                "m": m,
                "high": high,
                "kind": kind,
                "at": at,
                "integral": "int" in ask,
                "shown": shown,
            },
        )
    if form == "moment":
        # p(x) = a x + b with int_0^1 p = u, int_0^1 x p = v
        a, b = signed(rng, 1, 9) * 6, signed(rng, 1, 9)
        high = rng.choice((1, 2))
        u = _integral(_polynomials([a, b]), 0, high)
        v = _integral(_polynomials([a, b, 0]), 0, high)
        at = rng.randint(-3, 5)
        question = WORDINGS.draw(
            rng, "integral equation, moment", f=f, high=high, u=fraction(u), v=fraction(v), at=at
        )
        return Problem(
            question,
            str(a * at + b),
            {"form": form, "u": str(u), "v": str(v), "high": high, "at": at},
        )
    # int_0^k x f'(x) dx = k f(k) - int f
    k, fk, total = rng.randint(1, 6), signed(rng, 1, 12), signed(rng, 1, 20)
    value = k * fk - total
    which = rng.choice(("plain", "double"))
    if which == "plain":
        ask, answer = f"\\int_0^{{{k}}} x{f}'(x) \\, dx", Fraction(value)
    else:
        n = rng.choice((2, 3))
        k = k * n
        fk2 = fk
        # int_0^{k/n} x f'(n x) dx = (1/n^2) int_0^k u f'(u) du
        answer = Fraction(k * fk2 - total, n * n)
        ask = f"\\int_0^{{{k // n}}} x{f}'({n}x) \\, dx"
    question = WORDINGS.draw(rng, "integral equation", f=f, k=k, fk=fk, total=total, ask=ask)
    return Problem(
        question,
        fraction(answer),
        {
            "form": form,
            "k": k,
            "fk": fk,
            "total": total,
            "ask": ask,
            "n": k // int(ask.split("{")[1].split("}")[0]),
        },
    )


FAMILIES = (
    math_family("calculus_definite_integral", _definite, "Definite integrals, exact"),
    math_family("calculus_area", _area, "Areas between curves"),
    math_family("calculus_volume", _volume, "Volumes of revolution and of slices"),
    math_family(
        "calculus_integral_rules", _integral_equation, "Functions defined through integrals"
    ),
)
