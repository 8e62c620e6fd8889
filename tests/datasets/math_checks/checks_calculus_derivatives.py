# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
import sympy
from latex_reading import equations, expression
from search import shown

Parameters = Mapping[str, Any]
X, Y, T = sympy.symbols("x y t")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def derivative(parameters: Parameters, question: str) -> object:
    formula, at = _read(parameters["formula"], question), parameters["at"]
    assert str(at) in question
    value = sympy.diff(formula, X, parameters["order"]).subs(X, at)
    return shown(sympy.N(value, 25), 3000)


def tangent(parameters: Parameters, question: str) -> object:
    p = parameters
    ask = p["ask"]
    if "equation" in p:
        (curve,) = equations(f"${p['equation']}$")
        assert p["equation"] in question
        at = dict(zip((X, Y), p["point"], strict=True))
        assert curve.subs(at) == 0
        return str(-(sympy.diff(curve, X) / sympy.diff(curve, Y)).subs(at))
    m, n, t, s = sympy.symbols("m n t s")
    if "other" in p:
        other = _read(p["other"], question)
        rules = [
            2 * t - m,
            t**2 - m * t - n,
            sympy.diff(other, X).subs(X, s) - m,
            other.subs(X, s) - m * s - n,
        ]
        found = sympy.solve(rules, [m, n, t, s], dict=True)
        assert len(found) == 1, found
        return str(found[0][m if ask == "slope" else n])
    curve = _read(p["curve"], question)
    slope = sympy.diff(curve, X)
    if ask == "constant":
        k = sympy.Symbol(p["k"])
        line = _read(p["line"], question)
        if curve.has(sympy.exp):
            (place,) = sympy.solve(sympy.diff(sympy.log(curve) - sympy.log(X), X), X)
            return shown(sympy.N((curve / X).subs(X, place), 20))
        (place,) = sympy.solve(slope - sympy.diff(line, X), X)
        (value,) = sympy.solve((curve - line).subs(X, place), k)
        return str(value)
    if "slope" in p:
        places = sympy.solve(slope - p["slope"], X)
        assert len(places) == 2
        return str(
            {"sum": sum(places), "product": places[0] * places[1], "larger": max(places)}[ask]
        )
    if "point" in p:
        a, b = p["point"]
        places = sorted(sympy.solve(curve.subs(X, t) + slope.subs(X, t) * (a - t) - b, t))
        assert len(places) == 2 and f"({a}, {b})" in question
        slopes = [slope.subs(X, place) for place in places]
        if ask.startswith("difference"):
            return str(places[1] - places[0])
        return str(
            {
                "product of the slopes": slopes[0] * slopes[1],
                "sum of the slopes": sum(slopes),
                "larger slope": max(slopes),
            }[ask]
        )
    at = p["at"]
    line = sympy.expand(curve.subs(X, at) + slope.subs(X, at) * (X - at))
    if ask == "equation":
        return str(line)
    if ask == "y":
        return str(line.subs(X, 0))
    if ask == "again":
        (place,) = [r for r in sympy.solve(curve - line, X) if r != at]
        return str(place)
    (cut,) = sympy.solve(line, X)
    return str(cut) if ask == "x" else str(sympy.Abs(cut * line.subs(X, 0)) / 2)


def value_tables(parameters: Parameters, question: str) -> object:
    """Replace the unknown functions by polynomials with the given values and slopes."""
    p = parameters
    if p.get("form") == "inverse":
        a, b, s, shift = (sympy.Integer(p[name]) for name in ("a", "b", "s", "shift"))
        place = sympy.Rational(b, shift)
        assert f"= {b}" in question and f"= {s}" in question
        # near a the function is b + s (x - a): its inverse at shift x
        inverse = a + (shift * X - b) / s
        assert inverse.subs(X, place) == a
        return str(sympy.diff(inverse, X))
    if p.get("form") == "inverse formula":
        formula = _read(p["formula"], question)
        (place,) = [r for r in sympy.solve(formula - p["y"], X) if r.is_real]
        return str(1 / sympy.diff(formula, X).subs(X, place))
    first, second = p["names"]

    def call(name: str, value: int, slope: Any, at: Any) -> Any:
        return value + slope * (X - at)

    at = p["at"]
    assert p["shape"] in question
    if "table" in p:
        table = {int(x): row for x, row in p["table"].items()}
        outer, inner = p["shape"][0], p["shape"][2]
        columns = {first: 0, second: 2}
        for x, row in table.items():
            assert f"{x} & {' & '.join(map(str, row))}" in question
        inside = call(inner, table[at][columns[inner]], table[at][columns[inner] + 1], at)
        middle = table[at][columns[inner]]
        outside = call(
            outer, table[middle][columns[outer]], table[middle][columns[outer] + 1], middle
        )
        return str(sympy.diff(outside.subs(X, inside), X).subs(X, at))
    text = p["shape"].replace(f"{first}(x)", "{F}").replace(f"{second}(x)", "{G}")
    text = text.replace("{F}", "F").replace("{G}", "G")
    read = expression(text.replace("FG", "F G"))
    F, G = sympy.symbols("F G")
    if "slope" in p:
        s = sympy.Symbol("s")
        made = read.subs(F, call(first, p["value"], s, at))
        (value,) = sympy.solve(sympy.diff(made, X).subs(X, at) - p["slope"], s)
        return str(value)
    fv, fs, gv, gs = p["values"]
    made = read.subs({F: call(first, fv, fs, at), G: call(second, gv, gs, at)})
    return str(sympy.diff(made, X).subs(X, at))


def rates_and_means(parameters: Parameters, question: str) -> object:
    p = parameters
    formula = _read(p["formula"], question)
    (x,) = formula.free_symbols
    call = sympy.lambdify(x, formula, "mpmath")
    if "end" in p:
        position = sympy.lambdify(x, formula)
        turns = sorted(sympy.solve(sympy.diff(formula, x), x))
        if p["ask"] == "turn":
            return str(position(turns[0]) - position(turns[1]))
        stops = [sympy.Integer(0), *turns, sympy.Integer(p["end"])]
        assert stops == sorted(stops)
        return str(sum(abs(position(b) - position(a)) for a, b in itertools.pairwise(stops)))
    low, high = p["interval"]
    assert str(low) in question and str(high) in question
    if p["ask"] == "mean":
        return shown(mpmath.quad(call, [low, high]) / (high - low))
    chord = (call(mpmath.mpf(high)) - call(mpmath.mpf(low))) / (high - low)
    if p["ask"] == "average":
        return shown(chord)
    slope = sympy.lambdify(x, sympy.diff(formula, x), "mpmath")
    steps = [low + (high - low) * mpmath.mpf(i) / 997 for i in range(1, 997)]
    signs = [slope(s) - chord for s in steps]
    found = [i for i in range(len(steps) - 1) if signs[i] * signs[i + 1] <= 0]
    assert len(found) == 1, (found, question)
    place = mpmath.findroot(
        lambda v: slope(v) - chord, (steps[found[0]], steps[found[0] + 1]), solver="anderson"
    )
    return shown(place, 60, 1e-9)


def limit(parameters: Parameters, question: str) -> object:
    p = parameters
    if "shown" in p:
        read = _read(p["shown"], question)
        top, bottom = sympy.fraction(read)
        quotient, rest = sympy.div(sympy.expand(top), X - p["r"], X)
        found = sympy.solve(
            [rest, quotient.subs(X, p["r"]) - p["goal"]], sympy.symbols("a b"), dict=True
        )
        assert len(found) == 1 and sympy.expand(bottom - (X - p["r"])) == 0
        return str(expression(p["ask"]).subs(found[0]))
    with mpmath.workdps(60):
        if "general" in p:
            k, n = sympy.symbols("k n")
            call = sympy.lambdify((k, n), _read(p["general"], question), "mpmath")
            sums = [
                sum(call(mpmath.mpf(i), mpmath.mpf(m)) for i in range(1, m + 1))
                for m in (16, 32, 64, 128, 256)
            ]
            while len(sums) > 1:  # Richardson: the error is a power series in 1/n
                order = 6 - len(sums)
                sums = [(2**order * b - a) / (2**order - 1) for a, b in itertools.pairwise(sums)]
            return shown(sums[0], 200, 1e-7)
        body = _read(p["body"], question)
        call = sympy.lambdify(X, body, "mpmath")
        if p["at"] == "\\infty":
            value = [call(mpmath.mpf(10) ** 22), call(mpmath.mpf(10) ** 23)]
        else:
            place = mpmath.mpf(p["at"])
            value = [call(place + mpmath.mpf(10) ** -13), call(place - mpmath.mpf(10) ** -13)]
        assert abs(value[0] - value[1]) < 1e-9 * (1 + abs(value[0])), question
        middle = (value[0] + value[1]) / 2
        near = Fraction(float(middle)).limit_denominator(400)
        if abs(middle) < 1e4 and abs(float(near) - float(middle)) < 1e-9:
            return str(near)
        exponent = round(float(mpmath.log(middle)))
        assert abs(middle / mpmath.exp(exponent) - 1) < 1e-9, question
        return f"e^{{{exponent}}}"


def power_series(parameters: Parameters, question: str) -> object:
    """Return coefficients by Cauchy's integral over a small circle."""
    formula, n = _read(parameters["formula"], question), parameters["n"]
    call = sympy.lambdify(X, formula, "mpmath")
    with mpmath.workdps(60):
        count, radius = 128, mpmath.mpf(1) / 60
        total = mpmath.mpc(0)
        for j in range(count):
            turn = mpmath.expjpi(mpmath.mpf(2) * j / count)
            total += call(radius * turn) / turn**n
        value = (total / count / radius**n).real
        if parameters["ask"] == "derivative":
            value *= mpmath.factorial(n)
        near = Fraction(str(mpmath.nstr(value, 40))).limit_denominator(50000)
        assert abs(mpmath.mpf(near.numerator) / near.denominator - value) < 1e-18 * (1 + abs(value))
        return str(near)


def differential_equation(parameters: Parameters, question: str) -> object:
    """Solve the question's equation by the Runge-Kutta method."""
    p = parameters
    if p["form"] in ("growth", "cooling"):
        room = p.get("room", 0)
        start, first = Fraction(p["start"]), Fraction(p["first"])
        assert str(p["span"]) in question and str(p["end"]) in question
        rate = mpmath.log(mpmath.mpf(float((first - room) / (start - room)))) / p["span"]
        return shown(room + float(start - room) * mpmath.exp(rate * p["end"]), 400, 1e-9)
    rate_text = p["rate"]
    assert rate_text in question
    call = sympy.lambdify((X, Y), expression(rate_text), "math")
    x, y = (float(v) for v in p["start"])
    end = float(expression(p["at"]))
    steps = 3000
    h = (end - x) / steps
    for _ in range(steps):
        k1 = call(x, y)
        k2 = call(x + h / 2, y + h * k1 / 2)
        k3 = call(x + h / 2, y + h * k2 / 2)
        k4 = call(x + h, y + h * k3)
        x, y = x + h, y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
    assert re.search(re.escape(p["at"]), question)
    near = Fraction(y).limit_denominator(100)
    if abs(float(near) - y) < 1e-8 * (1 + abs(y)) and y < 1e4:
        return str(near)
    first = p["start"][1]
    exponent = round(float(mpmath.log(y / first)))
    if abs(y / first / mpmath.exp(exponent) - 1) < 1e-7:
        return f"{first} \\cdot e^{{{exponent}}}"
    return str(mpmath.nstr(y, 9))


CHECKS = {
    "calculus_derivative": derivative,
    "calculus_tangent": tangent,
    "calculus_value_tables": value_tables,
    "calculus_rates_and_means": rates_and_means,
    "calculus_limit": limit,
    "calculus_power_series": power_series,
    "calculus_differential_equation": differential_equation,
}
