# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy
from latex_reading import expression

Parameters = Mapping[str, Any]
X = sympy.Symbol("x")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def _apply(ask: str, definitions: dict[str, Any]) -> Any:
    """Evaluate ``f(g(3)) - g(f(3))`` from the inside out."""
    text = ask
    while match := re.search(r"([a-zA-Z])\((-?\d+(?:/\d+)?)\)", text):
        value = definitions[match.group(1)].subs(X, sympy.Rational(match.group(2)))
        text = f"{text[: match.start()]}{value}{text[match.end() :]}"
    return sympy.sympify(re.sub(r"- -", "+ ", text))


def composition(parameters: Parameters, question: str) -> object:
    p = parameters
    if "f" in p and "g" in p and "form" not in p:
        definitions = {}
        for text in (p["f"], p["g"]):
            name, _, right = text.partition("(x) = ")
            assert right in question
            definitions[name] = expression(right)
        assert p["ask"] in question
        return str(_apply(p["ask"], definitions))
    a, b, c = sympy.symbols("A B C")
    if "composed" in p:
        inner, composed = _read(p["inner"], question), _read(p["composed"], question)
        outer = a * X**2 + b * X + c
        found = sympy.solve(
            sympy.Poly(sympy.expand(outer.subs(X, inner) - composed), X).all_coeffs(),
            [a, b, c],
            dict=True,
        )
        assert len(found) == 1
        made = outer.subs(found[0])
        return str(made).replace("**", "^") if p["ask"] == "formula" else str(made.subs(X, p["at"]))
    if "both" in p:
        first, both = _read(p["first"], question), _read(p["both"], question)
        (value,) = sympy.solve(first.subs(X, a) - both.subs(X, p["at"]), a)
        return str(value)
    if p["form"] == "linear square":
        twice = _read(p["twice"], question)
        found = sympy.solve(
            sympy.Poly(sympy.expand(a * (a * X + b) + b - twice), X).all_coeffs(), [a, b], dict=True
        )
        found = [f for f in found if (f[a] > 0) == p["rising"]]
        assert len(found) == 1
        return str(found[0][a] * p["at"] + found[0][b])
    if p["form"] == "commute":
        f, g = _read(p["f"], question), _read(p["g"], question)
        (value,) = sympy.solve(sympy.expand(f.subs(X, g) - g.subs(X, f)), sympy.Symbol(p["k"]))
        return str(value)
    f = _read(p["f"], question)
    roots = (
        sympy.Poly(sympy.expand(f.subs(X, f) - p["target"]), X)
        .sqf_part()
        .nroots(n=20, maxsteps=200)
    )
    real = [complex(r).real for r in roots if abs(complex(r).imag) < 1e-5]
    distinct = [r for i, r in enumerate(sorted(real)) if not i or r - sorted(real)[i - 1] > 1e-4]
    if p["ask"] == "number":
        return len(distinct)
    product = 1.0
    for r in distinct:
        product *= r
    assert abs(product - round(product)) < 1e-4
    return round(product)


def inverse(parameters: Parameters, question: str) -> object:
    p = parameters
    if p.get("ask") == "table":
        value = p["start"]
        for _ in range(p["times"]):
            (value,) = [int(x) for x, y in p["pairs"].items() if y == value]
        assert all(f"({x}) = {y}" in question or "array" in question for x, y in p["pairs"].items())
        return value
    if p.get("ask") == "value":
        found = [
            r
            for r in sympy.solve(_read(p["formula"], question) - expression(p["y"]), X)
            if r.is_real
        ]
        assert len(found) == 1 and p["y"] in question
        return str(found[0])
    if p.get("ask") == "formula":
        y = sympy.Symbol("y")
        (found,) = sympy.solve(_read(p["formula"], question).subs(X, y) - X, y)
        return str(found)
    if p.get("ask") == "own":
        k = sympy.Symbol(p["k"])
        f = _read(p["first"], question) / (X + k)
        values = [
            v
            for v in sympy.solve(sympy.numer(sympy.together(f.subs(X, f.subs(X, 3)) - 3)), k)
            if sympy.simplify((f.subs(X, f) - X).subs(k, v)) == 0
        ]
        assert len(values) == 1, values
        return str(f.subs({k: values[0], X: p["at"]}))
    if p["form"] == "shifted":
        a, b = p["inner"]
        assert str(abs(p["c"])) in question
        (value,) = sympy.solve(a * X + b - p["u"], X)
        return str(value)
    f = (
        _read(p["formula"], question.replace("u", "x"))
        if "u^3" in question
        else _read(p["formula"], question)
    )
    if p["form"] == "meeting":
        start = Fraction(p["vertex"])
        # an increasing function meets its inverse where it meets y = x
        found = [
            r
            for r in sympy.solve(f - X, X)
            if r >= sympy.Rational(start.numerator, start.denominator)
        ]
        assert len(found) == 1
        return f"({found[0]}, {found[0]})"
    total = 0.0
    for value in p["values"]:
        (root,) = [
            complex(r).real
            for r in sympy.Poly(f - value, X).nroots(n=20, maxsteps=200)
            if abs(complex(r).imag) < 1e-9
        ]
        total += root
    assert abs(total - round(total)) < 1e-9
    return round(total)


def iteration(parameters: Parameters, question: str) -> object:
    p = parameters
    assert str(p["n"]) in question
    if p["form"] == "map":
        at = p["start"]
        for _ in range(p["n"]):
            assert f"({at}) = {p['images'][at - 1]}" in question
            at = p["images"][at - 1]
        return at
    call = sympy.lambdify(X, _read(p["formula"], question), "math")
    values = [Fraction(p["start"])]
    for _ in range(p["n"]):
        values.append(Fraction(call(values[-1])))
    return sum(values[:-1]) if p["form"] == "sum" else values[-1]


def two_values(parameters: Parameters, question: str) -> object:
    p = parameters
    assert p["mirrored"] in question and p["at"] in question
    mirror = expression(p["mirrored"])
    right = _read(p["right"], question)
    orbit = [sympy.Rational(p["at"])]
    while (step := mirror.subs(X, orbit[-1])) != orbit[0]:
        orbit.append(step)
    unknown = sympy.symbols(f"f:{len(orbit)}")
    rules = [
        p["p"] * unknown[i] + p["q"] * unknown[(i + 1) % len(orbit)] - right.subs(X, place)
        for i, place in enumerate(orbit)
    ]
    (found,) = sympy.linsolve(rules, unknown)
    assert found[0].is_Rational
    return str(found[0])


def argument_rules(parameters: Parameters, question: str) -> object:
    p, form = parameters, str(parameters["form"])
    if "rule" in p:
        assert p["rule"] in question
    if form == "step":
        right = p["rule"].split(" = ")[1].replace(f"{p['f']}(n)", " F ")
        call = sympy.lambdify(sympy.symbols("F n"), expression(right))
        value = p["start"]
        for n in range(1, p["n"]):
            value = call(value, n)
        return value
    if form == "additive":
        return Fraction(p["given"]) / p["m"] * p["n"]
    if form == "multiplicative":
        # f(m) from f(1) by x = 1, y = m; then f(n) in the same way
        power = 2 if "y^2" in p["rule"] else -1
        one = Fraction(p["given"]) / Fraction(p["m"]) ** power
        return one * Fraction(p["n"]) ** power
    if form == "mixed":
        # f(0) = shift from x = y = 0; f(n) from f(1) by adding 1 again and again
        def build(first: Fraction, upto: int) -> Fraction:
            value = first
            for n in range(1, upto):
                value = value + first + p["c"] * n - p["shift"]
            return value

        zero, one = build(Fraction(0), p["m"]), build(Fraction(1), p["m"])
        first = (Fraction(p["given"]) - zero) / (one - zero)
        return build(first, p["n"])
    if form == "product sum":
        base = sympy.root(sympy.Rational(p["given"]), p["m"])
        text = p["ask"]
        values = {i: base**i for i in range(1, 12)}
        if "cdots" in text:
            low, high = (
                int(re.findall(r"\((\d+)\)", text)[0]),
                int(re.findall(r"\((\d+)\)", text)[-1]),
            )
            return str(sum(values[i] for i in range(low, high + 1)))
        pairs = re.findall(r"frac\{\w\((\d+)\)\}\{\w\((\d+)\)\}", text)
        return str(sum(values[int(a)] / values[int(b)] for a, b in pairs))
    if form == "values of prime":
        u, v = sympy.symbols("u v")

        def value(n: int) -> Any:
            total = sympy.Integer(0)
            for prime, times in sympy.factorint(n).items():
                total += times * (u if prime == p["primes"][0] else v)
            return total

        found = sympy.solve([value(n) - w for n, w in p["given"]], [u, v])
        return str(value(p["wanted"]).subs(found))
    right = p["rule"].split(" = ")[1].replace(f"{p['f']}(x)", "F")
    call = sympy.lambdify(sympy.Symbol("F"), expression(right), "math")
    at, value = p["base"], Fraction(p["start"])
    while at < p["target"]:
        at, value = at + p["a"], Fraction(call(value))
    assert at == p["target"]
    return value


CHECKS = {
    "functions_composition": composition,
    "functions_inverse": inverse,
    "functions_iteration": iteration,
    "functions_two_values": two_values,
    "functions_argument_rules": argument_rules,
}
