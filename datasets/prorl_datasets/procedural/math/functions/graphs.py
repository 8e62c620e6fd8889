"""Problems on domains, ranges and graphs of functions."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

INFINITY = "\\infty"


def _line(a: int, b: int) -> str:
    return terms([(b, ""), (a, "x")]) if a < 0 < b else polynomial((a, b))


def _domain(rng: Random, level: int) -> Problem:
    f = rng.choice("fghF")
    count = None
    if level == 1:
        form = rng.choice(("root", "poles", "logarithm"))
        a, b = signed(rng, 1, 5), signed(rng, 1, 20)
        edge = Fraction(-b, a)
        if form == "root":
            formula = f"\\sqrt{{{_line(a, b)}}}"
            interval = (
                f"[{fraction(edge)}, {INFINITY})" if a > 0 else f"(-{INFINITY}, {fraction(edge)}]"
            )
        elif form == "logarithm":
            formula = f"\\ln({_line(a, b)})"
            interval = (
                f"({fraction(edge)}, {INFINITY})" if a > 0 else f"(-{INFINITY}, {fraction(edge)})"
            )
        else:
            r, s = sorted(rng.sample(range(-9, 10), 2))
            formula = f"\\frac{{{polynomial((1, signed(rng, 10, 15)))}}}{{{polynomial((1, -r - s, r * s))}}}"
            interval = f"(-{INFINITY}, {r}) \\cup ({r}, {s}) \\cup ({s}, {INFINITY})"
    elif level == 2:
        form = rng.choice(("two roots", "root over line", "quadratic root", "log quadratic"))
        low, high = sorted(rng.sample(range(-9, 12), 2))
        if form == "two roots":
            formula = WORDINGS.one(
                "domain formula",
                polynomial=polynomial((1, -low)),
                drawn=rng.choice("+-"),
                minus_n1=_line(-1, high),
            )
            if high <= 0:
                high = rng.randint(max(low + 2, 1), low + 12) if low > -2 else rng.randint(1, 9)
                formula = WORDINGS.one(
                    "domain formula",
                    polynomial=polynomial((1, -low)),
                    drawn=rng.choice("+-"),
                    minus_n1=_line(-1, high),
                )
            interval, count = f"[{low}, {high}]", high - low + 1
        elif form == "root over line":
            pole = low + rng.randint(1, 9)
            formula = f"\\frac{{\\sqrt{{{polynomial((1, -low))}}}}}{{{polynomial((1, -pole))}}}"
            interval = f"[{low}, {pole}) \\cup ({pole}, {INFINITY})"
        elif form == "quadratic root":
            formula = f"\\sqrt{{{terms([(-low * high, ''), (low + high, 'x'), (-1, 'x^2')])}}}"
            interval, count = f"[{low}, {high}]", high - low + 1
            if low * high > 0:
                formula = f"\\sqrt{{{polynomial((-1, low + high, -low * high))}}}"
        else:
            formula = f"\\ln({polynomial((1, -low - high, low * high))})"
            interval = f"(-{INFINITY}, {low}) \\cup ({high}, {INFINITY})"
    else:
        form = rng.choice(("nested", "log root", "quotient", "double log"))
        if form == "nested":
            k, low = rng.randint(1, 6), rng.randint(-9, 9)
            formula = f"\\sqrt{{{k} - \\sqrt{{{polynomial((1, -low))}}}}}"
            interval, count = f"[{low}, {low + k * k}]", k * k + 1
        elif form == "log root":
            low, high = sorted(rng.sample(range(-8, 12), 2))
            k = rng.randint(0, 2)
            base = rng.choice((2, 3))
            # sqrt(k - log_base(x - low)): 0 < x - low <= base^k
            formula = WORDINGS.one(
                "domain formula 2",
                value="" if not k else f"{k} ",
                value_2=" " if k else "",
                base=base,
                polynomial=polynomial((1, -low)),
            )
            interval, count = f"({low}, {low + base**k}]", base**k
        elif form == "quotient":
            r, p = rng.sample(range(-8, 9), 2)
            formula = f"\\sqrt{{\\frac{{{polynomial((1, -r))}}}{{{polynomial((1, -p))}}}}}"
            interval = (
                f"(-{INFINITY}, {p}) \\cup [{r}, {INFINITY})"
                if p < r
                else f"(-{INFINITY}, {r}] \\cup ({p}, {INFINITY})"
            )
        else:
            base, other = rng.choice(((2, 3), (3, 2), (2, 5), (2, 2), (5, 2)))
            a, b = rng.randint(1, 4), signed(rng, 1, 9)
            inner = f"\\log_{other} ({polynomial((a, b))})"
            formula = f"\\log_{base} ({inner})"
            interval = f"({fraction(Fraction(1 - b, a))}, {INFINITY})"
    if count is not None and count > 3 and rng.random() < 0.4:
        question = WORDINGS.draw(rng, "domain", f=f, formula=formula)
        return Problem(question, str(count), {"formula": formula, "ask": "count"})
    question = WORDINGS.draw(rng, "domain, interval", f=f, formula=formula)
    return Problem(question, interval, {"formula": formula, "ask": "interval"})


def _range(rng: Random, level: int) -> Problem:
    f = rng.choice("fghF")
    bounds = ""
    if level == 1:
        form = rng.choice(("parabola", "root", "absolute"))
        a, h, k = signed(rng, 1, 4), signed(rng, 1, 7), signed(rng, 1, 15)
        if form == "parabola":
            formula = polynomial((a, -2 * a * h, a * h * h + k))
        elif form == "root":
            formula = WORDINGS.one(
                "range formula",
                terms=terms([(k, "")]),
                value="+" if a > 0 else "-",
                value_2="" if abs(a) == 1 else abs(a),
                polynomial=polynomial((rng.randint(1, 3), h)),
            )
        else:
            formula = WORDINGS.one(
                "range formula 2",
                terms=terms([(k, "")]),
                value="+" if a > 0 else "-",
                value_2="" if abs(a) == 1 else abs(a),
                polynomial=polynomial((1, -h)),
            )
        interval = f"[{k}, {INFINITY})" if a > 0 else f"(-{INFINITY}, {k}]"
    elif level == 2:
        form = rng.choice(("on an interval", "fraction", "waves"))
        if form == "on an interval":
            a, h, k = rng.choice((1, 1, 2, -1, -2)), rng.randint(-4, 5), signed(rng, 1, 12)
            low, high = h - rng.randint(-2, 4), h + rng.randint(3, 6)
            formula = polynomial((a, -2 * a * h, a * h * h + k))
            values = [a * (x - h) ** 2 + k for x in (low, high)] + ([k] if low <= h <= high else [])
            interval, bounds = f"[{min(values)}, {max(values)}]", f"{low} \\le x \\le {high}"
        elif form == "fraction":
            while True:
                a, b, c, d = (
                    signed(rng, 1, 6),
                    signed(rng, 1, 9),
                    rng.randint(1, 4),
                    signed(rng, 1, 9),
                )
                if a * d != b * c:
                    break
            formula = f"\\frac{{{polynomial((a, b))}}}{{{polynomial((c, d))}}}"
            hole = fraction(Fraction(a, c))
            interval = f"(-{INFINITY}, {hole}) \\cup ({hole}, {INFINITY})"
        else:
            a, b = pick(
                rng, (3, 4), (5, 12), (6, 8), (8, 15), (1, 1), (1, 2), (2, 3), (7, 24), (4, 3)
            )
            c = rng.randint(-9, 9)
            size = a * a + b * b
            formula = f"{terms([(a, chr(92) + 'sin x'), (b, chr(92) + 'cos x'), (c, '')])}"
            side = isqrt(size)
            if side * side == size:
                interval = f"[{c - side}, {c + side}]"
            elif c:
                interval = f"[{c} - {root(size)}, {c} + {root(size)}]"
            else:
                interval = f"[-{root(size)}, {root(size)}]"
    else:
        form = rng.choice(("quotient", "sine square", "two roots"))
        if form == "quotient":
            # (a x + b)/(x^2 + c): y x^2 - a x + (c y - b) = 0 has a real root: a^2 - 4y(cy - b) >= 0
            m, c = (
                pick(
                    rng,
                    (4, 3),
                    (6, 8),
                    (8, 15),
                    (3, 4),
                    (8, 6),
                    (12, 5),
                    (2, 1),
                    (4, 4),
                    (6, 9),
                    (10, 24),
                    (12, 16),
                ),
                1,
            )
            a, b = m
            size = a * a * c + b * b
            side = isqrt(size)
            if side * side == size:
                low, high = Fraction(b - side, 2 * c), Fraction(b + side, 2 * c)
                interval = f"[{fraction(low)}, {fraction(high)}]"
            else:
                half = fraction(Fraction(b, 2))
                part = root(size, Fraction(1, 2))
                interval = f"[{half} - {part}, {half} + {part}]"
            formula = f"\\frac{{{polynomial((a, b))}}}{{x^2 + {c}}}"
            if rng.random() < 0.5:
                a, c = rng.randint(1, 12), rng.choice((1, 4, 9, 16, 25))
                side = isqrt(c)
                top = Fraction(a, 2 * side)
                formula, interval = (
                    f"\\frac{{{polynomial((a, 0))}}}{{x^2 + {c}}}",
                    f"[-{fraction(top)}, {fraction(top)}]",
                )
        elif form == "sine square":
            a, b, c = rng.choice((1, 2, -1, 1)), signed(rng, 1, 6), rng.randint(-5, 5)
            # a sin^2 + b sin + c, s in [-1, 1]
            values = [Fraction(a - b + c), Fraction(a + b + c)]
            turn = Fraction(-b, 2 * a)
            if -1 <= turn <= 1:
                values.append(a * turn * turn + b * turn + c)
            which = rng.choice(("sin", "cos"))
            formula = terms([(a, f"\\{which}^2 x"), (b, f"\\{which} x"), (c, "")])
            if rng.random() < 0.5:  # cos^2 = 1 - sin^2
                other = "cos" if which == "sin" else "sin"
                formula = terms([(-a, f"\\{other}^2 x"), (b, f"\\{which} x"), (c + a, "")])
            interval = f"[{fraction(min(values))}, {fraction(max(values))}]"
        else:
            low = rng.randint(-6, 6)
            width = rng.choice((1, 2, 4, 8, 9, 16, 18, 25, 32))
            high = low + width
            # sqrt(x - low) + sqrt(high - x): from sqrt(width) to sqrt(2 width)
            formula = f"\\sqrt{{{polynomial((1, -low))}}} + \\sqrt{{{_line(-1, high)}}}"
            interval = f"[{root(width)}, {root(2 * width)}]"
    given = f" with domain ${bounds}$" if bounds else ""
    question = WORDINGS.draw(
        rng,
        "range",
        f=f,
        formula=formula,
        given=given,
        in_the_interval=f" in the interval ${bounds}$" if bounds else "",
        such_that=f" such that ${bounds}$" if bounds else "",
        over=f" over ${bounds}$" if bounds else "",
        when=f" when ${bounds}$" if bounds else "",
        with_bounds=f"with ${bounds}$" if bounds else "for which the formula makes sense",
    )
    return Problem(question, interval, {"formula": formula, "bounds": bounds})


def _piecewise(rng: Random, level: int) -> Problem:
    f = rng.choice("fgh")
    if level == 1:
        a, edge = signed(rng, 1, 5), rng.randint(-4, 5)
        k = rng.choice("akc")
        left = (
            polynomial((a, 0, signed(rng, 1, 9)))
            if rng.random() < 0.5
            else polynomial((a, signed(rng, 2, 9)))
        )
        value_left = _value(left, edge)
        form = rng.choice(("constant", "slope"))
        if form == "slope" and edge == 0:
            edge, value_left = 2, _value(left, 2)
        b = signed(rng, 1, 9)
        if form == "constant":
            m = signed(rng, 1, 6)
            right, answer = f"{terms([(m, 'x')])} + {k}", Fraction(value_left - m * edge)
        else:
            right, answer = f"{k}x {'+' if b > 0 else '-'} {abs(b)}", Fraction(value_left - b, edge)
        cases = WORDINGS.one("piecewise cases", left=left, edge=edge, right=right)
        if answer == 0:
            return _piecewise(rng, level)
        question = WORDINGS.draw(
            rng, "piecewise, level 1", k=k, f=f, cases=cases, left=left, edge=edge, right=right
        )
        return Problem(
            tidy(question), fraction(answer), {"pieces": [left, right], "edges": [edge], "ask": k}
        )
    if level == 2:
        # the line a x + b between two known pieces
        one, two = sorted(rng.sample(range(-4, 6), 2))
        left, right = (
            polynomial((rng.choice((1, 2, -1)), 0, signed(rng, 1, 6))),
            polynomial((signed(rng, 1, 4), signed(rng, 1, 9))),
        )
        u, v = Fraction(_value(left, one)), Fraction(_value(right, two))
        a = (v - u) / (two - one)
        b = u - a * one
        if a == 0 or b == 0:
            return _piecewise(rng, level)
        asks = {"a + b": a + b, "ab": a * b, "a": a, "b": b, "a - b": a - b}
        ask = rng.choice(list(asks))
        cases = WORDINGS.one("piecewise cases 2", left=left, one=one, two=two, right=right)
        question = WORDINGS.draw(
            rng,
            "piecewise, level 2",
            f=f,
            cases=cases,
            ask=ask,
            one=one,
            left=left,
            two=two,
            right=right,
        )
        return Problem(
            tidy(question),
            fraction(asks[ask]),
            {"pieces": [left, "ax + b", right], "edges": [one, two], "ask": ask},
        )
    # smooth joint: a x^2 + b on the left and line on the right, both value and slope
    edge = rng.choice((1, 2, 3, -1, -2))
    m, n = signed(rng, 1, 8), signed(rng, 1, 9)
    right = polynomial((m, n))
    a = Fraction(m, 2 * edge)
    b = m * edge + n - a * edge * edge
    left = "ax^2 + b"
    if rng.random() < 0.5:
        # x^2 + a x + b joined to the line
        a, left = Fraction(m - 2 * edge), "x^2 + ax + b"
        b = m * edge + n - edge * edge - a * edge
    if not a or not b:
        return _piecewise(rng, level)
    asks = {"a + b": a + b, "ab": a * b, "b": b, "a - b": a - b}
    ask = rng.choice(list(asks))
    cases = WORDINGS.one("piecewise cases 3", left=left, edge=edge, right=right)
    question = WORDINGS.draw(
        rng, "piecewise", f=f, cases=cases, ask=ask, edge=edge, left=left, right=right
    )
    return Problem(
        tidy(question),
        fraction(asks[ask]),
        {"pieces": [left, right], "edges": [edge], "ask": ask, "smooth": True},
    )


def _value(formula: str, x: int) -> int:
    total = 0
    for part in formula.replace(" - ", " + -").split(" + "):
        number, _, constant = part.partition("x")
        if "x" not in part:
            total += int(part)
            continue
        coefficient = int(number) if number not in ("", "-") else int(f"{number}1")
        total += coefficient * x ** (int(constant[1:]) if constant else 1)
    return total


def _intersections(rng: Random, level: int) -> Problem:
    if level == 1:
        r, s = sorted(rng.sample(range(-8, 9), 2))
        a, m, n = rng.choice((1, 1, 2, -1)), signed(rng, 1, 5), rng.randint(-9, 9)
        curve = polynomial((a, m - a * (r + s), n + a * r * s))
        line = polynomial((m, n))
        y1, y2 = m * r + n, m * s + n
        asks = {
            "product of the $x$-coordinates": str(r * s), "sum of the $y$-coordinates": str(y1 + y2),
            "square of the distance between the points": str((s - r) ** 2 * (1 + m * m)),
            "larger $x$-coordinate": str(s),
            "$y$-coordinate of the point that lies further to the left": str(y1),
        }  # fmt: skip
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "intersections, level 1", curve=curve, line=line, ask=ask)
        return Problem(question, asks[ask], {"curve": curve, "line": line, "ask": ask})
    if level == 2:
        form = rng.choice(("folded parabola", "parameter"))
        k = rng.choice("kcm")
        if form == "folded parabola":
            r, s = sorted(rng.sample(range(-7, 8), 2))
            if (s - r) % 2:
                s += 1
            peak = ((s - r) // 2) ** 2
            b, c = -(r + s), r * s
            formula = f"|{polynomial((1, b, c))}|"
            asks = {
                "3": (str(peak), WORDINGS.one("intersections 2", k=k, formula=formula)),
                "4": (str(peak - 1), WORDINGS.one("intersections 3", k=k, formula=formula)),
                "3b": (str(peak), WORDINGS.one("intersections 4", k=k, formula=formula)),
                "4b": WORDINGS.all(
                    "intersections, level 2, folded parabola, 4b", peak=peak, k=k, formula=formula
                ),
                "4c": (str(2 * (r + s)), WORDINGS.one("intersections 5", k=k, formula=formula)),
            }
            if peak < 3:
                return _intersections(rng, level)
            ask = rng.choice(list(asks))
            answer, question = asks[ask]
            return Problem(
                question,
                answer,
                {"formula": formula, "ask": ask[:2], "wanted": 3 if ask[0] == "3" else 4},
            )
        a, b, m = rng.choice((1, 1, 2)), signed(rng, 1, 6), signed(rng, 1, 5)
        c = rng.randint(-8, 8)
        # y = a x^2 + b x + c tangent to y = m x + k: (b - m)^2 = 4 a (c - k)
        value = c - Fraction((b - m) ** 2, 4 * a)
        if b == m:
            return _intersections(rng, level)
        curve, line = polynomial((a, b, c)), f"{terms([(m, 'x')])} + {k}"
        question = WORDINGS.draw(rng, "intersections, level 2", k=k, line=line, curve=curve)
        return Problem(question, fraction(value), {"curve": curve, "line": line, "k": k})
    form = rng.choice(("waves", "waves", "sloped absolute"))
    if form == "waves":
        m = rng.randint(6, 60)
        trig = rng.choice(("sin", "cos"))
        w = rng.choice((1, 1, 2))
        inner = "x" if w == 1 else f"{w}x"
        pi = f"{w}\\pi x" if w > 1 else "\\pi x"
        # sin(pi w x) = x/m on the real line
        call = _count_wave(trig, w, m)
        del inner
        formula = f"\\{trig} {pi}"
        question = WORDINGS.draw(rng, "intersections, waves", formula=formula, m=m)
        return Problem(question, str(call), {"trig": trig, "w": w, "m": m})
    p, q = sorted(rng.sample(range(-6, 8), 2))
    m = rng.choice((1, -1)) if rng.random() < 0.5 else 0
    k = rng.choice("kcm")
    # y = |x - p| + |x - q| - m x is convex, least at p or q: least value
    least = min(q - p - m * x for x in (p, q))
    right = terms([(m, "x")])
    shown = f"|{polynomial((1, -p))}| + |{polynomial((1, -q))}|"
    line = f"{right} + {k}" if m else k
    if m == 0:
        question = WORDINGS.draw(rng, "intersections, m 0", k=k, shown=shown)
        return Problem(
            question, f"({q - p}, {INFINITY})", {"p": p, "q": q, "m": m, "k": k, "ask": "two"}
        )
    question = WORDINGS.draw(rng, "intersections", k=k, shown=shown, line=line)
    return Problem(question, str(least), {"p": p, "q": q, "m": m, "k": k, "ask": "one"})


def _count_wave(trig: str, w: int, m: int) -> int:
    """Count the intersections of sin(w pi x) or cos(w pi x) with the line x/m."""
    arches = m * w  # half waves between 0 and m; the line reaches 1 at x = m
    if trig == "sin":
        # sin >= 0 on arches 1, 3, 5, ...: two crossings each, the first one at x = 0
        positive = 2 * ((arches + 1) // 2) - 1
        return 2 * positive + 1
    # for x > 0 one crossing on [0, 1/2] and two about each even number, for x < 0 two about each
    # odd number up to the end: one for x = 0 and two for each arch
    return 2 * arches + 1


def _symmetry(rng: Random, level: int) -> Problem:
    f = rng.choice("fgh")
    if level == 1:
        x, y = signed(rng, 1, 9), signed(rng, 1, 9)
        a, b, c, d = (
            rng.choice((1, 2, 3, -1, -2)),
            signed(rng, 1, 6),
            signed(rng, 1, 8),
            rng.choice((1, 1, 2, 3)),
        )
        # y = a f(d x + b) + c: d X + b = x
        inner, outer = polynomial((d, b)), a
        X, Y = Fraction(x - b, d), a * y + c
        shown = f"{terms([(outer, f'{f}({inner})')])} {'+' if c > 0 else '-'} {abs(c)}"
        question = WORDINGS.draw(rng, "symmetry, level 1", x=x, y=y, f=f, shown=shown)
        return Problem(
            question, f"({fraction(X)}, {Y})", {"point": [x, y], "inner": [d, b], "outer": [a, c]}
        )
    if level == 2:
        c = signed(rng, 1, 9)
        n = rng.choice((3, 4, 5, 6, 7, 8))
        form = rng.choice(("mirror", "even", "odd"))
        if form == "mirror":
            a = rng.randint(1, 9)
            rule = (
                f"{f}({a} + x) = {f}({c} - x)"
                if rng.random() < 0.5
                else f"{f}({a + c} - x) = {f}(x)"
            )
            if a + c == 0:
                return _symmetry(rng, level)
            total = Fraction(n * (a + c), 2)
            question = WORDINGS.draw(rng, "symmetry, level 2, mirror", rule=rule, f=f, n=n)
            return Problem(
                question, fraction(total), {"form": form, "total": a + c, "n": n, "rule": rule}
            )
        x, v = rng.randint(1, 9), signed(rng, 1, 12)
        k, s = signed(rng, 1, 6), rng.randint(-9, 9)
        if form == "even":
            # g(x) = f(x) + k x, f even: g(x) = v -> g(-x) = v - 2 k x
            value = v - 2 * k * x
            shown = f"{f}(x) {'+' if k > 0 else '-'} {terms([(abs(k), 'x')])}"
            word, known = "even", "g"
        else:
            # g(x) = f(x) + s, f odd: g(-x) = 2 s - v
            if not s:
                s = 4
            value = 2 * s - v
            shown = f"{f}(x) {'+' if s > 0 else '-'} {abs(s)}"
            word, known = "odd", "g"
        if f == "g":
            known = "p"
        question = WORDINGS.draw(
            rng, "symmetry, level 2", f=f, word=word, known=known, shown=shown, x=x, v=v
        )
        return Problem(question, str(value), {"form": form, "x": x, "v": v, "shown": shown, "f": f})
    form = rng.choice(("two mirrors", "odd formula", "centre"))
    if form == "two mirrors":
        # f(a + x) = f(a - x) and f(b + x) = f(b - x): the period 2(b - a)
        a, b = sorted(rng.sample(range(9), 2))
        period = 2 * (b - a)
        one, two = rng.sample(range(a, b + 1), 2)
        v, w = signed(rng, 1, 20), signed(rng, 1, 20)
        targets = [
            (near if rng.random() < 0.5 else 2 * a - near) + period * rng.randint(5, 60)
            for near in (one, two)
        ]
        p, q = rng.choice((1, 2, 3)), signed(rng, 1, 3)
        ask = terms([(p, f"{f}({targets[0]})"), (q, f"{f}({targets[1]})")])
        known = f"${f}({one}) = {v}$ and ${f}({two}) = {w}$"
        question = WORDINGS.draw(rng, "symmetry, two mirrors", f=f, a=a, b=b, known=known, ask=ask)
        parameters = {"form": form, "axes": [a, b], "known": [[one, v], [two, w]]}
        return Problem(
            question,
            str(p * v + q * w),
            {**parameters, "targets": [[p, targets[0]], [q, targets[1]]]},
        )
    if form == "odd formula":
        # f(x) = a x^5 + b x^3 + c x + d with f(-t) known
        t, v, d = rng.randint(2, 9), signed(rng, 1, 40), signed(rng, 1, 15)
        shape = pick(
            rng, "ax^5 + bx^3 + cx", "ax^7 + bx^5 + cx^3", "a\\sin x + bx^3", "ax^3 + \\frac{b}{x}"
        )
        value = 2 * d - v
        question = WORDINGS.draw(
            rng,
            "symmetry, odd formula",
            f=f,
            shape=shape,
            sign="+" if d > 0 else "-",
            size_of_d=abs(d),
            and_c=", $c$" if "c" in shape.replace("frac", "") else "",
            t=t,
            v=v,
        )
        return Problem(question, str(value), {"form": form, "t": t, "v": v, "d": d, "shape": shape})
    # sum of f(i) over a range symmetric about the centre of a cubic
    h, k, a, m = (
        rng.randint(1, 6),
        signed(rng, 1, 9),
        rng.choice((1, 1, 2, -1)),
        signed(rng, 1, 6),
    )
    formula = polynomial((a, -3 * a * h, 3 * a * h * h + m, -a * h**3 - m * h + k))
    count = 2 * h + 1
    if rng.random() < 0.4:
        question = WORDINGS.draw(rng, "symmetry", f=f, formula=formula)
        return Problem(question, f"({h}, {k})", {"form": form, "formula": formula, "ask": "centre"})
    question = pick(
        rng,
        WORDINGS.one("symmetry 2", f=f, formula=formula, twice_h=2 * h)
        if h > 1
        else WORDINGS.one("symmetry 3", f=f, formula=formula),
        WORDINGS.one("symmetry 4", f=f, formula=formula, twice_h=2 * h),
    )
    if "number $c$" in question:
        return Problem(
            question, str(2 * k), {"form": form, "formula": formula, "ask": "sum", "mirror": 2 * h}
        )
    return Problem(
        question, str(count * k), {"form": form, "formula": formula, "ask": "total", "upto": 2 * h}
    )


FAMILIES = (
    math_family("functions_domain", _domain, "Where a formula is defined"),
    math_family("functions_range", _range, "Which values a function takes"),
    math_family("functions_piecewise", _piecewise, "Pieces that join without a gap or a corner"),
    math_family("functions_intersections", _intersections, "Common points of graphs"),
    math_family("functions_symmetry", _symmetry, "Symmetric graphs"),
)
