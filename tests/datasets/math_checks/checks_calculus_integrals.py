# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import sympy
from latex_reading import expression

Parameters = Mapping[str, Any]
X, T = sympy.symbols("x t")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def _shown(value: Any) -> str:
    near = Fraction(float(value)).limit_denominator(2000)
    if abs(float(near) - float(value)) < 1e-10 * (1 + abs(float(value))):
        return str(near)
    return str(mpmath.nstr(value, 12))


def _times_pi(value: Any) -> str:
    near = Fraction(float(value)).limit_denominator(3000)
    assert abs(float(near) - float(value)) < 1e-9 * (1 + abs(float(value))), value
    return f"{near} \\pi"


def _integral(body: Callable[[Any], Any], *places: Any) -> Any:
    return mpmath.quad(
        body, [mpmath.mpf(float(p)) if isinstance(p, Fraction) else p for p in places]
    )


def definite(parameters: Parameters, question: str) -> object:
    body = _read(parameters["body"], question)
    low, high = (mpmath.mpf(sympy.N(expression(parameters[n]), 20)) for n in ("low", "high"))
    assert parameters["low"] in question and parameters["high"] in question
    call = sympy.lambdify(sympy.Symbol(parameters["x"]), body, "mpmath")
    places = [low, high]
    for inside in body.atoms(sympy.Abs):
        (corner,) = sympy.solve(inside.args[0])
        places.insert(1, mpmath.mpf(sympy.N(corner, 20)))
    return _shown(_integral(call, *places))


def _between(one: Any, two: Any) -> Any:
    places = sorted(float(r) for r in sympy.solve(one - two, X) if r.is_real)
    assert len(places) > 1
    call = sympy.lambdify(X, one - two, "mpmath")
    return sum(abs(_integral(call, a, b)) for a, b in itertools.pairwise(places))


def area(parameters: Parameters, question: str) -> object:
    p = parameters
    if "curves" in p:
        one, two = p["curves"]
        assert two == "0" or two in question
        return _shown(_between(_read(one, question), expression(two)))
    if "sideways" in p:
        right = _read(p["sideways"], question).subs(sympy.Symbol("y"), X)
        return _shown(_between(X**2, right))
    if "tangents" in p:
        curve = _read(p["tangents"], question)
        r, s = p["at"]
        lines = [curve.subs(X, v) + sympy.diff(curve, X).subs(X, v) * (X - v) for v in (r, s)]
        (corner,) = sympy.solve(lines[0] - lines[1], X)
        first, second = (sympy.lambdify(X, curve - line, "mpmath") for line in lines)
        return _shown(_integral(first, r, float(corner)) + _integral(second, float(corner), s))
    if "share" in p:
        b = p["b"]
        share = float(expression(p["share"]))
        curve = b * X - X**2
        whole = _between(curve, sympy.Integer(0))

        def above(slope: float) -> Any:
            return _integral(lambda x: b * x - x * x - slope * x, 0, b - slope)

        low, high = 1e-6, b - 1e-6
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) > share * whole else (low, middle)
        return str(Fraction(low).limit_denominator(50))
    k = sympy.Symbol(p["k"])
    curve, line = _read(p["curve"], question), _read(p["line"], question)
    goal = float(Fraction(p["area"]))
    low, high = 0, 512  # the area grows with the constant
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if _between(curve, line.subs(k, middle)) < goal - 1e-9 else (low, middle)
        )
    assert abs(_between(curve, line.subs(k, high)) - goal) < 1e-9
    return high


def volume(parameters: Parameters, question: str) -> object:
    p = parameters
    if "ball" in p:
        big, small, half = p["ball"], p["small"], p["half"]
        assert str(big) in question or str(big * big) in question
        if p["cap"]:
            return _times_pi(_integral(lambda x: big * big - x * x, half, big))
        return _times_pi(_integral(lambda r: 4 * r * mpmath.sqrt(big * big - r * r), small, big))
    if "curves" in p:
        one, two = (_read(text, question) for text in p["curves"])
        end = float(Fraction(p["end"]))
        assert abs(float((one - two).subs(X, end))) < 1e-9
        call = sympy.lambdify(X, one**2 - two**2, "mpmath")
        return _times_pi(abs(_integral(call, 0, end)))
    curve = _read(p["curve"], question)
    call = sympy.lambdify(X, curve, "mpmath")
    if "volume" in p:
        # disks of area pi x^2 = pi y / a, summed up to the height
        a = float(curve.coeff(X, 2))
        goal, h = float(Fraction(p["volume"])), 0
        while h < 200:
            h += 1
            if abs(_integral(lambda y: y / a, 0, h) - goal) < 1e-9:
                return h
        raise AssertionError(question)
    if "shape" in p:
        assert p["shape"] in question
        factor = {"s": mpmath.mpf(1), "i": mpmath.mpf(1) / 2, "r": mpmath.mpf(2)}[p["shape"][0]]
        total = _integral(lambda x: call(x) ** 2, 0, p["b"])
        if "semicircles" in p["shape"]:
            return _times_pi(total / 8)
        return _shown(factor * total)
    if p["axis"] == "shifted":
        k = p["shift"]
        return _times_pi(_integral(lambda x: (call(x) + k) ** 2 - k * k, 0, p["end"]))
    low, high = p["low"], p["high"]
    if p["axis"] == "x":
        return _times_pi(_integral(lambda x: call(x) ** 2, low, high))
    # about the y-axis by rings: the outer cylinder less what lies above the curve
    top, bottom = call(mpmath.mpf(high)), call(mpmath.mpf(low))
    outer = high * high * top
    slope = sympy.lambdify(X, sympy.diff(curve, X), "mpmath")
    assert bottom >= 0
    return _times_pi(outer - _integral(lambda x: x * x * slope(x), 0, high))


def integral_rules(parameters: Parameters, question: str) -> object:
    p = parameters
    form = p["form"]
    if form == "properties":
        (a, b, c), (u, v) = p["limits"], p["values"]
        # a line with both integrals replaces the unknown function
        m, n = sympy.symbols("m n")
        antiderivative = m * X**2 / 2 + n * X

        def part(lo: int, hi: int) -> Any:
            return antiderivative.subs(X, hi) - antiderivative.subs(X, lo)

        found = sympy.solve([part(a, b) - u, part(a, c) - v], [m, n])
        return str((p["p"] * part(b, c) + p["q"] * (c - b)).subs(found))
    if form == "derivative":
        body, end = _read(p["body"], question), expression(p["end"])
        start = sympy.Integer(p["start"])
        whole = sympy.integrate(body, (T, start, end))
        return str(sympy.diff(whole, X).subs(X, p["at"]))
    if form == "given":
        c = sympy.Symbol(p["c"])
        formula = _read(p["formula"], question)
        (value,) = sympy.solve(formula.subs(X, p["a"]), c)
        at = sympy.diff(formula, X).subs(X, p["at"])
        text = str(p["ask"])
        if "(" in text:
            text = text.replace(text[text.index("(") - 1 : text.index(")") + 1], " v ")
        return str(expression(text).subs({c: value, sympy.Symbol("v"): at}))
    if form == "one constant":
        # the constant by linear interpolation of two guesses
        a, b, m, high, at = (p[name] for name in ("a", "b", "m", "high", "at"))
        assert p["shown"] in question

        def made(guess: Any) -> Any:
            if p["kind"] == "plain":
                return lambda x: a * x * x + b * x + m * guess
            return lambda x: a * x * x + b + m * x * guess

        zero, one = (_integral(made(g), 0, high) for g in (0, 1))
        constant = zero / (1 - (one - zero))
        return _shown(constant if p["integral"] else made(constant)(at))
    if form == "moment":
        m, n = sympy.symbols("m n")
        line = m * X + n
        rules = [
            sympy.integrate(line * X**i, (X, 0, p["high"])) - sympy.Rational(p[name])
            for i, name in enumerate("uv")
        ]
        return str(line.subs(sympy.solve(rules, [m, n])).subs(X, p["at"]))
    # integration by parts: a line with the given end value and integral replaces f
    k, n = p["k"], p["n"]
    assert p["ask"] in question
    m, c = sympy.symbols("m c")
    line = m * X + c
    found = sympy.solve(
        [line.subs(X, k) - p["fk"], sympy.integrate(line, (X, 0, k)) - p["total"]], [m, c]
    )
    slope = sympy.diff(line, X).subs(found)
    return str(sympy.integrate(X * slope, (X, 0, sympy.Rational(k, n))))


CHECKS = {
    "calculus_definite_integral": definite,
    "calculus_area": area,
    "calculus_volume": volume,
    "calculus_integral_rules": integral_rules,
}
