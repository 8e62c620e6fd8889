# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import factorial
from typing import Any

import mpmath
import sympy
from latex_reading import expression, formulas
from search import recognised

Parameters = Mapping[str, Any]
K = sympy.Symbol("k")


def _in_question(general: str, question: str, first: int, last: int) -> None:
    """Assert that the question shows the general term and bounds, or agreeing terms."""
    if general in question:
        assert not last or str(last) in question or "cdots" in question
    shown = [f for f in formulas(question) if "\\cdots" in f and "sum" not in f]
    assert shown or general in question
    for formula in shown:
        before, _, after = formula.partition(" + \\cdots")
        depths = [before[:i].count("{") - before[:i].count("}") for i in range(len(before))]
        parens = [before[:i].count("(") - before[:i].count(")") for i in range(len(before))]
        count = 1 + sum(
            c == "+" and not d and not e for c, d, e in zip(before, depths, parens, strict=True)
        )
        term = expression(general)
        total = sum(term.subs(K, first + i) for i in range(count))
        assert abs(float(total - expression(before))) < 1e-12, (before, general)
        if last:
            assert abs(float(term.subs(K, last) - expression(after.removeprefix(" + ")))) < 1e-12


def telescoping(parameters: Parameters, question: str) -> object:
    general, first, last = (parameters[name] for name in ("general", "first", "last"))
    if general == "k/(k+1)!":
        assert "!" in question
        end = last or 40
        total = sum((Fraction(k, factorial(k + 1)) for k in range(first, end + 1)), Fraction(0))
        return total if last else total.limit_denominator(10**6)
    if not parameters.get("product"):
        _in_question(general, question, first, last)
    term = expression(general)
    with mpmath.workdps(50):
        call = sympy.lambdify(K, term, "mpmath")
        if parameters.get("product"):
            value = mpmath.mpf(1)
            for k in range(first, last + 1):
                assert (
                    f"{k}^2" in question
                    or k > first + 1
                    or "prod" in question
                    or str(first) in question
                )
                value *= call(mpmath.mpf(k))
        elif last:
            value = sum(call(mpmath.mpf(k)) for k in range(first, last + 1))
        else:
            value = mpmath.nsum(lambda k: call(mpmath.mpf(k)), [first, mpmath.inf])
        return recognised(value, 10**10)


def weighted(parameters: Parameters, question: str) -> object:
    with mpmath.workdps(60):
        if parameters.get("ask") == "sequence":
            p, q, c = parameters["p"], parameters["q"], parameters["c"]
            values = list(parameters["u"])
            while len(values) < 700:
                values.append(p * values[-1] + q * values[-2])
            assert f"u_1 = {values[0]}" in question and f"u_2 = {values[1]}" in question
            return recognised(
                sum(mpmath.mpf(u) / mpmath.mpf(c) ** (i + 1) for i, u in enumerate(values))
            )
        assert parameters["general"] in question
        call = sympy.lambdify(K, expression(parameters["general"]), "mpmath")
        first, last = parameters["first"], parameters["last"]
        terms = [call(mpmath.mpf(k)) for k in range(first, 700)]
        if last:
            assert parameters["ask"] == "tail"
            return recognised(
                sum(terms[last + 1 - first :]) * mpmath.mpf(parameters["scale"]) ** last
            )
        return recognised(sum(terms))


def recurrence(parameters: Parameters, question: str) -> object:
    rule, letter, n = str(parameters["rule"]), parameters["letter"], parameters["n"]
    assert rule in question or "square root" in question
    assert str(n) in question
    left, right = rule.split(" = ")
    order = 2 if "n+2" in left else 1
    names = [f"{letter}_n", f"{letter}_n+1"][:order]
    call = sympy.lambdify(
        [*map(sympy.Symbol, names), sympy.Symbol("n")],
        expression(right),
        "mpmath" if "sqrt" in rule else "math",
    )
    modulus = parameters.get("modulus")
    root = "sqrt" in rule
    values: list[Any] = [mpmath.mpf(v) if root else Fraction(v) for v in parameters["start"]]
    assert len(values) == order
    with mpmath.workdps(30):
        while len(values) < n:
            new = call(*values[-order:], len(values) + 1 - order)
            values.append(new % modulus if modulus else new)
    if parameters.get("ask") == "sum":
        return sum(values[:n])
    if root:
        return mpmath.nstr(values[n - 1], 14)
    return values[n - 1] % modulus if modulus else values[n - 1]


CHECKS = {
    "algebra_telescoping": telescoping,
    "algebra_weighted_geometric": weighted,
    "algebra_recurrence": recurrence,
}
