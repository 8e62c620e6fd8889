# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from latex_reading import expression

Parameters = Mapping[str, Any]
X = sympy.Symbol("x")


def _read(parameters: Parameters, name: str, question: str) -> Any:
    text = str(parameters[name])
    assert text in question or text.strip("()") in question, (text, question)
    return expression(text)


def remainder(parameters: Parameters, question: str) -> object:
    ask = parameters["ask"]
    if ask == "two":
        points = [tuple(point) for point in parameters["points"]]
        assert all(str(abs(n)) in question for point in points for n in point)
        return str(sympy.expand(sympy.interpolate(points, X))).replace("**", "^")
    formula = _read(parameters, "formula", question)
    if ask == "power":
        rest = sympy.rem(formula, _read(parameters, "divisor", question), X)
        return str(rest).replace("**", "^")
    r = parameters["r"]
    assert f"x {'+' if r < 0 else '-'} {abs(r)}" in question
    rest = sympy.rem(formula, X - r, X)
    if ask == "value":
        return str(rest)
    k = sympy.Symbol(parameters["k"])
    (value,) = sympy.solve(rest - parameters["remainder"], k)
    if ask == "constant":
        return str(value)
    return str(sympy.rem(formula.subs(k, value), X - parameters["other"], X))


def interpolation(parameters: Parameters, question: str) -> object:
    at, degree = parameters["at"], parameters["degree"]
    assert str(at) in question
    if "points" in parameters:
        points = parameters["points"]
        assert len(points) == degree + 1
        made = sympy.Poly(sympy.interpolate([tuple(p) for p in points], X), X)
        assert made.degree() == degree, "the question calls the polynomial quadratic or cubic"
        return str(made.eval(at))
    shape = _read(parameters, "shape", question)
    places = range(parameters["first"], degree + 1)
    lead = X**degree if parameters["kind"] == "monic" else sympy.Integer(0)
    values = [(j, shape.subs("j", j) - lead.subs(X, j)) for j in places]
    return str((sympy.interpolate(values, X) + lead).subs(X, at))


def coefficient_sum(parameters: Parameters, question: str) -> object:
    ask = str(parameters["ask"])
    if "formula" in parameters:
        lowest_first = sympy.Poly(_read(parameters, "formula", question), X).all_coeffs()[::-1]
        even, odd = sum(lowest_first[::2]), sum(lowest_first[1::2])
        return str({
            "all": even + odd,
            "without": even + odd - lowest_first[0],
            "alternating": even - odd,
            "even": even,
            "odd": odd,
            "even without": even - lowest_first[0],
        }[ask])  # fmt: skip
    a, b, c, n = (parameters[name] for name in "abcn")
    assert f"${ask}$" in question
    # repeated synthetic division by x - c gives the coefficients about c
    rest = sympy.Poly((a * X + b) ** n, X)
    total = 0
    for place in range(n + 1):
        rest, remainder_ = sympy.div(rest, sympy.Poly(X - c, X))
        coefficient = remainder_.eval(0)
        weight = 1
        if "2a_2" in ask:
            weight = place
        elif "cdots" not in ask:
            weight = int(place == int(ask[2:]))
        elif ask.startswith("a_0 - "):
            weight = (-1) ** place
        elif ask.startswith("a_1"):
            weight = int(place > 0)
        total += weight * coefficient
    assert rest == 0
    return str(total)


def binomial(parameters: Parameters, question: str) -> object:
    formula = _read(parameters, "formula", question)
    wanted = str(parameters["wanted"])
    power = 0
    if wanted != "constant":
        assert wanted.strip("$") in question
        power = int(expression(wanted.strip("$")).as_base_exp()[1])
    return str(sympy.expand(formula * X**40).coeff(X, 40 + power))


def partial(parameters: Parameters, question: str) -> object:
    difference = _read(parameters, "left", question) - _read(parameters, "right", question)
    ask = str(parameters["ask"])
    assert ask in question
    unknowns = sorted(difference.free_symbols - {X}, key=str)
    top = sympy.numer(sympy.together(difference))
    (solution,) = sympy.solve(sympy.Poly(top, X).all_coeffs(), unknowns, dict=True)
    if ask.startswith("("):
        return "({})".format(", ".join(str(solution[u]) for u in unknowns))
    return str(expression(ask).subs(solution))


CHECKS = {
    "algebra_remainder": remainder,
    "algebra_interpolation": interpolation,
    "algebra_coefficient_sum": coefficient_sum,
    "algebra_binomial_coefficient": binomial,
    "algebra_partial_fractions": partial,
}
