"""Problems on composing, inverting and iterating functions."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

NAMES = ("fg", "gh", "pq", "uv", "fh")


def _simple(rng: Random) -> tuple[str, list[int]]:
    if rng.random() < 0.5:
        coefficients = [signed(rng, 2, 5), signed(rng, 1, 9)]
    else:
        coefficients = [
            rng.choice((1, 1, 2, -1)),
            rng.choice((0, signed(rng, 1, 5))),
            signed(rng, 1, 9),
        ]
    return polynomial(coefficients), coefficients


def _at(coefficients: list[int], x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * x + c
    return total


def _composition(rng: Random, level: int) -> Problem:
    f, g = tuple(rng.choice(NAMES))
    if level == 1:
        (one, a), (two, b) = _simple(rng), _simple(rng)
        x = rng.randint(-4, 6)
        asks = {
            f"{f}({g}({x}))": _at(a, _at(b, Fraction(x))),
            f"{g}({f}({x}))": _at(b, _at(a, Fraction(x))),
            f"{f}({g}({x})) - {g}({f}({x}))": _at(a, _at(b, Fraction(x)))
            - _at(b, _at(a, Fraction(x))),
            f"{f}({f}({x}))": _at(a, _at(a, Fraction(x))),
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "composition, level 1", f=f, one=one, g=g, two=two, ask=ask)
        return Problem(
            question, str(asks[ask]), {"f": f"{f}(x) = {one}", "g": f"{g}(x) = {two}", "ask": ask}
        )
    if level == 2:
        a, b = rng.choice((2, 3, 4, -2)), signed(rng, 1, 6)
        outer = [rng.choice((0, 1, 2)), signed(rng, 1, 5), signed(rng, 1, 9)]
        p, q, r = outer
        composed = polynomial((p * a * a, 2 * p * a * b + q * a, p * b * b + q * b + r))
        inner = polynomial((a, b))
        form = rng.choice(("value", "formula", "unknown"))
        if form == "formula":
            question = WORDINGS.draw(
                rng, "composition, level 2, formula", f=f, inner=inner, composed=composed
            )
            return Problem(
                question,
                polynomial(outer),
                {"inner": inner, "composed": composed, "f": f, "ask": "formula"},
            )
        at = rng.randint(-6, 12)
        if form == "value":
            value = _at(outer, Fraction(at))
            question = WORDINGS.draw(
                rng, "composition 2", f=f, inner=inner, composed=composed, at=at
            )
            return Problem(
                question,
                fraction(value),
                {"inner": inner, "composed": composed, "f": f, "at": at, "ask": "value"},
            )
        # f and f(g(x)) are given, g is linear
        m, n = rng.choice((2, 3, -2, 4)), signed(rng, 1, 7)
        s, t = rng.choice((2, 3, -1, -3, 5)), signed(rng, 1, 8)
        first, both = polynomial((m, n)), polynomial((m * s, m * t + n))
        value = s * at + t
        question = WORDINGS.draw(
            rng, "composition, level 2", f=f, first=first, g=g, both=both, at=at
        )
        return Problem(
            question, str(value), {"first": first, "both": both, "at": at, "ask": "inside"}
        )
    form = rng.choice(("linear square", "commute", "equation"))
    if form == "linear square":
        # f(f(x)) = a^2 x + b(a + 1), f increasing or decreasing
        a, b = rng.randint(2, 5), signed(rng, 1, 6)
        rising = rng.random() < 0.5
        slope = a if rising else -a
        const = b * (slope + 1)
        at = rng.randint(-5, 9)
        word = "increasing" if rising else "decreasing"
        question = WORDINGS.draw(
            rng,
            "composition, linear square",
            f=f,
            word=word,
            twice=polynomial((a * a, const)),
            at=at,
            sign=">" if rising else "<",
        )
        return Problem(
            question,
            str(slope * at + b),
            {"form": form, "twice": polynomial((a * a, const)), "rising": rising, "at": at},
        )
    if form == "commute":
        a, b, c = (
            signed(rng, 2, 5),
            signed(rng, 1, 9),
            rng.choice([n for n in range(-6, 8) if n not in (0, 1)]),
        )
        # f(x) = ax + b and g(x) = cx + d commute: d = b (c - 1)/(a - 1)
        d = Fraction(b * (c - 1), a - 1)
        if d == 0 or a == c:
            return _composition(rng, level)
        k = rng.choice("kdm")
        question = WORDINGS.draw(
            rng,
            "composition, commute",
            f=f,
            a_b=polynomial((a, b)),
            g=g,
            c_zero=polynomial((c, 0)),
            k=k,
        )
        return Problem(
            question,
            fraction(d),
            {"form": form, "f": polynomial((a, b)), "g": f"{polynomial((c, 0))} + {k}", "k": k},
        )
    h, r, s = signed(rng, 1, 5), rng.randint(1, 4), 0
    s = rng.randint(1, 9)
    # f(x) = (x - h)^2 - s ; f(f(x)) = r^2 - s  => f(x) = h + r or h - r => (x - h)^2 = h + s +- r
    target = r * r - s
    up, down = h + s + r, h + s - r
    formula = polynomial((1, -2 * h, h * h - s))
    count = sum(2 if v > 0 else 1 if v == 0 else 0 for v in (up, down))
    real = [v for v in (up, down) if v >= 0]
    if not real or formula.endswith("x"):
        return _composition(rng, level)
    asks3 = {"number": str(count)} if rng.random() < 0.4 else {}
    product = Fraction(1)
    for v in real:
        product *= h * h - v if v else h
    asks3 |= {"product": str(product)}
    ask = rng.choice(list(asks3))
    if ask == "number":
        question = WORDINGS.draw(rng, "composition, number", f=f, formula=formula, target=target)
    else:
        question = WORDINGS.draw(rng, "composition", f=f, formula=formula, target=target)
    return Problem(question, asks3[ask], {"form": form, "f": formula, "target": target, "ask": ask})


def _inverse(rng: Random, level: int) -> Problem:
    f = rng.choice("fghp")
    if level == 1:
        form = rng.choice(("value", "table"))
        if form == "value":
            a, c = rng.choice((1, 2, 3)), rng.randint(-9, 9)
            root = signed(rng, 1, 3)
            shape = rng.choice(("cube", "fraction", "root"))
            if shape == "cube":
                b = rng.randint(1, 5)
                formula, value = polynomial((a, 0, b, c)), Fraction(root)
                y = Fraction(a * root**3 + b * root + c)
            elif shape == "fraction":
                p, q = signed(rng, 1, 6), signed(rng, 1, 9)
                while q == -root or p * 1 == c:
                    q = signed(rng, 1, 9)
                    c = rng.randint(-9, 9)
                if p * q == c:
                    return _inverse(rng, level)
                formula, value = (
                    f"\\frac{{{polynomial((p, c))}}}{{{polynomial((1, q))}}}",
                    Fraction(root),
                )
                y = Fraction(p * root + c, root + q)
            else:
                p, q = rng.randint(1, 4), rng.randint(1, 9)
                value = Fraction(rng.randint(2, 9))
                formula = f"{'' if a == 1 else a}\\sqrt{{{polynomial((p, q))}}}"
                inside = p * value + q
                side = int(inside**0.5)
                value = Fraction(side * side - q, p)
                y = Fraction(a * side)
            question = WORDINGS.draw(
                rng, "inverse, level 1, value", f=f, formula=formula, y=fraction(y)
            )
            return Problem(
                tidy(question),
                fraction(value),
                {"formula": formula, "y": fraction(y), "ask": "value"},
            )
        xs = rng.sample(range(1, 8), 5)
        ys = rng.sample(xs, 5)
        pairs = dict(zip(xs, ys, strict=True))
        back = {y: x for x, y in pairs.items()}
        start = rng.choice(xs)
        k = rng.choice((2, 3))
        value = start
        for _ in range(k):
            value = back[value]
        ask = f"{f}^{{-1}}(" * k + str(start) + ")" * k
        shown = ", ".join(f"${f}({x}) = {y}$" for x, y in sorted(pairs.items()))
        columns = " & ".join(str(x) for x in sorted(pairs))
        row = " & ".join(str(pairs[x]) for x in sorted(pairs))
        question = WORDINGS.draw(
            rng, "inverse 2", f=f, shown=shown, ask=ask, columns=columns, row=row
        )
        return Problem(
            question,
            str(value),
            {
                "pairs": {str(x): y for x, y in pairs.items()},
                "start": start,
                "times": k,
                "ask": "table",
            },
        )
    if level == 2:
        while True:
            a, b, c, d = (
                signed(rng, 1, 6),
                signed(rng, 1, 9),
                signed(rng, 1, 5),
                signed(rng, 1, 9),
            )
            if a * d != b * c and abs(a) + abs(c) > 2:
                break
        top, bottom = polynomial((a, b)), polynomial((c, d))
        if rng.random() < 0.5:
            # inverse (dx - b)/(-cx + a)
            p, q, r, s = d, -b, -c, a
            if p < 0 or (p == 0 and q < 0):
                p, q, r, s = -p, -q, -r, -s
            answer = f"\\frac{{{polynomial((p, q))}}}{{{polynomial((r, s))}}}"
            question = WORDINGS.draw(rng, "inverse, level 2", f=f, top=top, bottom=bottom)
            return Problem(
                question, answer, {"formula": f"\\frac{{{top}}}{{{bottom}}}", "ask": "formula"}
            )
        k = rng.choice("kac")
        # (a x + b)/(x + k) is its own inverse when k = -a
        at = rng.choice([n for n in range(-5, 10) if n != a])
        b = signed(rng, 1, 12)
        if b == -a * a:
            b += 1
        value = Fraction(a * at + b, at - a)
        first = polynomial((a, b))
        question = WORDINGS.draw(rng, "inverse, level 2, own", f=f, first=first, k=k, at=at)
        return Problem(question, fraction(value), {"first": first, "at": at, "k": k, "ask": "own"})
    form = rng.choice(("shifted", "meeting", "combined"))
    if form == "shifted":
        # g(x) = f(ax + b) + c, f^-1 known at a point
        a, b, c = rng.choice((2, 3, 4)), signed(rng, 1, 7), signed(rng, 1, 9)
        u, v = rng.randint(-9, 9), rng.randint(-9, 9)  # f(u) = v
        value = Fraction(u - b, a)
        g = "g" if f != "g" else "h"
        shown = f"{f}({polynomial((a, b))}) {'+' if c > 0 else '-'} {abs(c)}"
        question = WORDINGS.draw(
            rng, "inverse, shifted", f=f, v=v, u=u, g=g, shown=shown, v_plus_c=v + c
        )
        return Problem(
            question, fraction(value), {"form": form, "inner": [a, b], "c": c, "u": u, "v": v}
        )
    if form == "meeting":
        # f(x) = x^2 + b x + c on x >= -b/2 meets its inverse on y = x: x^2 + (b - 1) x + c = 0
        r, s = sorted(rng.sample(range(9), 2))
        b, c = 1 - r - s, r * s
        vertex = Fraction(-b, 2)
        roots = [n for n in (r, s) if n >= vertex]
        if len(roots) != 1 or not c:
            return _inverse(rng, level)
        formula = polynomial((1, b, c))
        question = WORDINGS.draw(
            rng, "inverse, meeting", f=f, formula=formula, vertex=fraction(vertex)
        )
        return Problem(
            question,
            f"({roots[0]}, {roots[0]})",
            {"form": form, "formula": formula, "vertex": str(vertex)},
        )
    # f(x) = (x - h)^3 + m (x - h) + k: f^-1(k + t) + f^-1(k - t) = 2h
    h, m, k, t = signed(rng, 1, 5), rng.randint(1, 6), signed(rng, 1, 12), rng.randint(1, 30)
    formula = polynomial((1, -3 * h, 3 * h * h + m, -(h**3) - m * h + k))
    question = WORDINGS.draw(
        rng,
        "inverse",
        f=f,
        formula=formula,
        k_plus_t=k + t,
        k_minus_t=k - t,
        expanded=polynomial((1, -3 * h, 3 * h * h + m, -(h**3) - m * h + k), "u"),
        polynomial_expanded=polynomial((1, -3 * h, 3 * h * h + m, -(h**3) - m * h + k), "v"),
    )
    return Problem(
        question, str(2 * h), {"form": form, "formula": formula, "values": [k + t, k - t]}
    )


def _iteration(rng: Random, level: int) -> Problem:
    f = rng.choice("fghT")
    n = rng.choice((20, 25, 50, 99, 100, 150, 2024, 2025, 2026))
    power = f"{f}^{{({n})}}"
    if level == 1:
        size = rng.randint(5, 7)
        values = list(range(1, size + 1))
        while True:
            images = rng.sample(values, size)
            if sum(a == b for a, b in zip(values, images, strict=True)) == 0:
                break
        n, start = rng.randint(10, 120), rng.choice(values)
        at = start
        for _ in range(n):
            at = images[at - 1]
        shown = ", ".join(f"${f}({a}) = {b}$" for a, b in zip(values, images, strict=True))
        question = WORDINGS.draw(
            rng, "iteration, level 1", size=size, shown=shown, start=start, n=n, f=f
        )
        return Problem(question, str(at), {"images": images, "n": n, "start": start, "form": "map"})
    if level == 2:
        form = rng.choice(("linear", "fraction", "clock"))
        if form == "linear":
            p, c, n = rng.choice((2, 3, -1, -2)), signed(rng, 1, 6), rng.randint(4, 7)
            start = rng.randint(-4, 9)
            at = start
            for _ in range(n):
                at = p * at + c
            formula, answer = polynomial((p, c)), Fraction(at)
        elif form == "fraction":
            # x/(1 + c x): after n steps x/(1 + n c x)
            c, start, n = rng.randint(1, 4), rng.randint(1, 9), rng.randint(10, 60)
            formula = f"\\frac{{x}}{{1 + {polynomial((c, 0))}}}"
            answer = Fraction(start, 1 + n * c * start)
        else:
            c = rng.randint(2, 9)
            start = Fraction(rng.randint(2, 12))
            while start == 1 or start == c:
                start = Fraction(rng.randint(2, 12))
            which = rng.randrange(2)
            n = rng.choice((50, 77, 100, 101, 200, 365))
            if which:
                formula = f"{c} - x"
                answer = start if n % 2 == 0 else c - start
            else:
                formula = f"\\frac{{{c}}}{{x}}"
                answer = start if n % 2 == 0 else c / start
            start = int(start)
        power = f"{f}^{{({n})}}"
        question = WORDINGS.draw(
            rng, "iteration, level 2", f=f, formula=formula, power=power, n=n, start=start
        )
        return Problem(
            question, fraction(answer), {"formula": formula, "n": n, "start": start, "form": "run"}
        )
    rules: tuple[tuple[str, Callable[[Fraction], Fraction]], ...] = (
        ("\\frac{1}{1 - x}", lambda v: 1 / (1 - v)),
        ("\\frac{x - 1}{x + 1}", lambda v: (v - 1) / (v + 1)),
        ("\\frac{1 + x}{1 - x}", lambda v: (1 + v) / (1 - v)),
        ("1 - \\frac{1}{x}", lambda v: 1 - 1 / v),
        ("\\frac{2x - 3}{x - 1}", lambda v: (2 * v - 3) / (v - 1)),
        ("\\frac{x - 3}{x + 1}", lambda v: (v - 3) / (v + 1)),
        ("\\frac{2x - 1}{x + 1}", lambda v: (2 * v - 1) / (v + 1)),
        ("\\frac{3x - 7}{x - 2}", lambda v: (3 * v - 7) / (v - 2)),
        ("\\frac{x - 2}{x - 1}", lambda v: (v - 2) / (v - 1)),
        ("-\\frac{1}{x + 1}", lambda v: -1 / (v + 1)),
    )
    formula, step = rng.choice(rules)
    start3 = Fraction(rng.randint(2, 12), rng.choice((1, 1, 1, 2, 3)))
    orbit = [start3]
    try:
        while len(orbit) < 2 or orbit[-1] != start3:
            orbit.append(step(orbit[-1]))
    except ZeroDivisionError:
        return _iteration(rng, level)
    orbit.pop()
    period = len(orbit)
    if period < 3:
        return _iteration(rng, level)
    value = orbit[n % period]
    total = sum(orbit) * (n // period) + sum(orbit[: n % period])
    asks = {f"{power}({fraction(start3)})": value}
    which = "term"
    if total.denominator < 60 and rng.random() < 0.4:
        which = "sum"
    if which == "sum":
        question = WORDINGS.draw(
            rng, "iteration, sum", start3=fraction(start3), f=f, formula=formula, n=n
        )
        return Problem(
            question,
            fraction(total),
            {"formula": formula, "n": n, "start": str(start3), "form": "sum"},
        )
    question = WORDINGS.draw(
        rng, "iteration", f=f, formula=formula, goal=next(iter(asks)), n=n, start3=fraction(start3)
    )
    return Problem(
        question, fraction(value), {"formula": formula, "n": n, "start": str(start3), "form": "run"}
    )


FAMILIES = (
    math_family(
        "functions_composition", _composition, "Composite functions, taken apart and put together"
    ),
    math_family("functions_inverse", _inverse, "Inverse functions"),
    math_family("functions_iteration", _iteration, "A function applied many times"),
)
