# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from latex_reading import expression
from search import compass

Parameters = Mapping[str, Any]
X = sympy.Symbol("x")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def domain(parameters: Parameters, question: str) -> object:
    formula = _read(parameters["formula"], question)
    call = sympy.lambdify(X, formula, "math")

    def defined(value: float) -> bool:
        try:
            call(value)
        except (ValueError, ZeroDivisionError):
            return False
        return True

    places = sorted(
        {
            Fraction(n, d)
            for d in range(1, 6)
            for n in range(-60 * d if d == 1 else -25 * d, 60 * d if d == 1 else 25 * d)
        }
    )
    middles = [
        places[0] - 50,
        *((a + b) / 2 for a, b in itertools.pairwise(places)),
        places[-1] + 50,
    ]
    truth = [defined(float(m)) for m in middles]
    pieces, start, whole = [], "(-\\infty" if truth[0] else "", 0
    for i, place in enumerate(places):
        inside = defined(float(place))
        if not truth[i] == truth[i + 1] == inside:
            exact = sympy.simplify(
                formula.subs(X, sympy.Rational(place.numerator, place.denominator))
            )
            inside = bool(exact.is_real and exact.is_finite)
            if truth[i] and not (inside and truth[i + 1]):
                pieces.append(f"{start}, {place}{']' if inside else ')'}")
            if truth[i + 1] and not (inside and truth[i]):
                start = f"{'[' if inside else '('}{place}"
            assert inside is False or truth[i] or truth[i + 1]
        whole += inside and place.denominator == 1
    if truth[-1]:
        pieces.append(f"{start}, \\infty)")
    if parameters["ask"] == "count":
        assert not truth[0] and not truth[-1]
        return whole
    return " \\cup ".join(pieces)


def _named(value: float) -> str:
    near = Fraction(value).limit_denominator(30)
    if abs(float(near) - value) < 1e-8:
        return str(near)
    found = []
    for twice in range(-40, 41):
        half = Fraction(twice, 2)
        square = Fraction((value - float(half)) ** 2).limit_denominator(4)
        if square and abs(float(square) - (value - float(half)) ** 2) < 1e-8:
            found.append(f"{half} {'+' if value > half else '-'} \\sqrt{{{square}}}")
    assert len(found) == 1, (value, found)
    return found[0]


def range_(parameters: Parameters, question: str) -> object:
    formula, bounds = _read(parameters["formula"], question), parameters["bounds"]
    low, high = -1e9, 1e9
    if bounds:
        assert bounds in question
        low, high = (float(part) for part in bounds.split(" \\le x \\le "))
    top, bottom = sympy.fraction(sympy.together(formula))
    y = sympy.Symbol("y")
    if bottom.has(X) and sympy.degree(bottom, X) == 1:
        (solution,) = sympy.solve(top - y * bottom, X)
        (hole,) = sympy.solve(sympy.denom(sympy.together(solution)), y)
        return f"(-\\infty, {hole}) \\cup ({hole}, \\infty)"
    call = sympy.lambdify(X, formula, "math")

    def at(x: float, sign: int) -> float | None:
        try:
            return sign * float(call(x)) if low <= x <= high else None
        except ValueError:
            return None

    ends: list[float | None] = []
    for sign in (1, -1):
        far = [v for v in (at(1e7, sign), at(-1e7, sign)) if v is not None]
        if far and min(far) < -1e3:
            ends.append(None)
            continue
        places = [*np.arange(-30.1, 30, 0.37), *(n / d for d in (1, 2, 3) for n in range(-90, 91))]
        starts = [[float(x)] for x in places if at(x, sign) is not None]
        starts.sort(key=lambda s: at(s[0], sign) or 0.0)
        best, _ = compass(lambda x, sign=sign: at(x, sign), starts[:4])
        ends.append(sign * best)
    left = "(-\\infty" if ends[0] is None else f"[{_named(ends[0])}"
    right = "\\infty)" if ends[1] is None else f"{_named(ends[1])}]"
    return f"{left}, {right}"


def piecewise(parameters: Parameters, question: str) -> object:
    pieces = [_read(piece, question) for piece in parameters["pieces"]]
    rules = [
        (one - two).subs(X, edge)
        for one, two, edge in zip(pieces, pieces[1:], parameters["edges"], strict=False)
    ]
    if parameters.get("smooth"):
        rules.append(sympy.diff(pieces[0] - pieces[1], X).subs(X, parameters["edges"][0]))
    unknown = sorted(set().union(*(p.free_symbols for p in pieces)) - {X}, key=str)
    (found,) = sympy.solve(rules, unknown, dict=True)
    assert len(found) == len(unknown)
    assert f"${parameters['ask']}$" in question
    return str(expression(parameters["ask"]).subs(found))


def _count(values: Any) -> int:
    """Count the zeros of a sampled function: exact zeros and sign changes."""
    signs = np.sign(np.where(np.abs(values) < 1e-12, 0.0, values))
    return int(np.sum(signs == 0) + np.sum(signs[1:] * signs[:-1] < 0))


def intersections(parameters: Parameters, question: str) -> object:
    p = parameters
    if "trig" in p:
        m, w = p["m"], p["w"]
        assert str(m) in question and f"\\{p['trig']}" in question
        wave = np.sin if p["trig"] == "sin" else np.cos
        steps = 4000
        x = np.arange(-(m + 1) * steps, (m + 1) * steps + 1) / steps
        # multiples of the step, so that the zeros at 0 and the touch at m are hit exactly
        values = wave(np.pi * w * x) - x / m
        return _count(np.where(np.abs(values) < 1e-9, 0.0, values))
    if "ask" in p and p["ask"] in ("one", "two"):
        k = sympy.Symbol(p["k"])
        least = min(abs(v - p["p"]) + abs(v - p["q"]) - p["m"] * v for v in range(-40, 41))
        assert f"{k}" in question
        # convex: no solution below the minimum, two above it; flat only without a slope
        flat = sum(abs(v - p["p"]) + abs(v - p["q"]) - p["m"] * v == least for v in range(-40, 41))
        if p["ask"] == "two":
            return f"({least}, \\infty)"
        assert flat == 1 or "smallest" in question, question
        return least
    if "formula" in p:
        formula = _read(p["formula"], question)
        call = sympy.lambdify(X, formula, "numpy")
        grid = np.arange(-40 * 64, 40 * 64) / 64 + 0.0
        counts = {k: _count(call(grid) - k) for k in range(-1, 120)}
        four = [k for k, n in counts.items() if n == 4]
        peak = max(four) + 1
        # the count changes only at 0 and at the height of the fold
        assert counts[peak] == 3 and four == list(range(1, peak)), counts
        if "sum" in question:
            quadratic = sympy.Poly(formula.args[0], X)
            roots = [
                *np.roots([float(c) for c in (quadratic - 0.5).all_coeffs()]),
                *np.roots([float(c) for c in (quadratic + 0.5).all_coeffs()]),
            ]
            return round(float(sum(roots).real))
        if p["ask"] == "3b" or p["wanted"] == 3:
            return peak
        return f"(0, {peak})" if "interval" in question else len(four)
    curve, line = _read(p["curve"], question), _read(p["line"], question)
    if "k" in p:
        (touch,) = sympy.solve(sympy.diff(curve - line, X), X)
        (value,) = sympy.solve((curve - line).subs(X, touch), sympy.Symbol(p["k"]))
        return str(value)
    first, second = sorted(sympy.solve(curve - line, X))
    y1, y2 = line.subs(X, first), line.subs(X, second)
    return str({
        "product of the $x$-coordinates": first * second,
        "sum of the $y$-coordinates": y1 + y2,
        "square of the distance between the points": (first - second) ** 2 + (y1 - y2) ** 2,
        "larger $x$-coordinate": second,
        "$y$-coordinate of the point that lies further to the left": y1,
    }[p["ask"]])  # fmt: skip


def symmetry(parameters: Parameters, question: str) -> object:
    p = parameters
    if "point" in p:
        (x, y), (d, b), (a, c) = p["point"], p["inner"], p["outer"]
        (new,) = sympy.solve(d * X + b - x, X)
        heights = {a * (slope * (d * new + b - x) + y) + c for slope in (0, 3, -7)}
        assert len(heights) == 1 and str(abs(c)) in question
        return f"({new}, {heights.pop()})"
    if "rule" in p:
        assert p["rule"] in question
        axis, n = Fraction(p["total"], 2), p["n"]
        roots = [axis] * (n % 2)
        for i in range(n // 2):
            roots += [axis + 1 + i, axis - 1 - i]
        assert len(set(roots)) == n
        return sum(roots)
    if "shown" in p:
        shown = p["shown"].replace(f"{p['f']}(x)", "F")
        assert p["shown"] in question
        call = sympy.lambdify(sympy.symbols("F x"), expression(shown))
        x, v = p["x"], p["v"]
        inside = v - call(0, x)  # f(x)
        return call(inside if p["form"] == "even" else -inside, -x)
    if "axes" in p:
        known = dict(map(tuple, p["known"]))
        for _ in range(200):
            for place, value in list(known.items()):
                for axis in p["axes"]:
                    other = 2 * axis - place
                    if abs(other) < 2000:
                        assert known.setdefault(other, value) == value
        return sum(times * known[target] for times, target in p["targets"])
    if "shape" in p:
        assert p["shape"] in question
        shape = expression(p["shape"])
        t, v = p["t"], p["v"]
        given, asked = (t, -t) if f"({t}) = {v}" in question else (-t, t)
        values = set()
        for a in (1, 3):
            rest = (
                {sympy.Symbol("a"): a, sympy.Symbol("b"): 2}
                if shape.has(sympy.Symbol("c"))
                else {sympy.Symbol("a"): a}
            )
            left = shape.subs(rest)
            (letter,) = left.free_symbols - {X}
            (value,) = sympy.solve(left.subs(X, given) + p["d"] - v, letter)
            values.add(round(float(left.subs({letter: value, X: asked}) + p["d"]), 6))
        assert len(values) == 1
        return round(values.pop())
    formula = _read(p["formula"], question)
    call = sympy.lambdify(X, formula)
    if p["ask"] == "total":
        return sum(call(i) for i in range(p["upto"] + 1))
    if p["ask"] == "sum":
        values = {call(p["mirror"] - x) + call(x) for x in range(-5, 9)}
        assert len(values) == 1
        return values.pop()
    (turn,) = sympy.solve(sympy.diff(formula, X, 2), X)
    assert len({call(turn + t) + call(turn - t) for t in range(6)}) == 1
    return f"({turn}, {call(turn)})"


CHECKS = {
    "functions_domain": domain,
    "functions_range": range_,
    "functions_piecewise": piecewise,
    "functions_intersections": intersections,
    "functions_symmetry": symmetry,
}
