# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy
from latex_reading import expression
from search import shown

Parameters = Mapping[str, Any]
A, D, R = sympy.symbols("a d r")


def _in(question: str, *numbers: Any) -> None:
    text = re.sub(r"-?\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", question)
    for number in numbers:
        assert str(number).lstrip("-") in text, (number, question)


def _fraction(value: Any) -> str:
    value = sympy.nsimplify(value)
    assert value.is_Rational, value
    return str(value)


def arithmetic(parameters: Parameters, question: str) -> object:
    p, form = parameters, parameters.get("form", "terms")
    terms = [A + D * i for i in range(160)]
    if form == "terms":
        found = sympy.solve(
            [terms[p["m"] - 1] - expression(p["am"]), terms[p["n"] - 1] - expression(p["an"])],
            [A, D],
        )
        assert p["am"] in question and p["an"] in question
        asked = {"term": terms[p["k"] - 1], "step": D, "sum": sum(terms[: p["k"]])}[p["ask"]]
        return _fraction(asked.subs(found))
    if form == "two sums":
        _in(question, p["sm"], p["sn"])
        found = sympy.solve(
            [
                sum(terms[: p["m"]]) - sympy.Rational(p["sm"]),
                sum(terms[: p["n"]]) - sympy.Rational(p["sn"]),
            ],
            [A, D],
        )
        asked = {"sum": sum(terms[: p["m"] + p["n"]]), "first": A, "term": terms[p["k"] - 1]}[
            p["ask"]
        ]
        return _fraction(asked.subs(found))
    if form == "formula":
        assert p["shown"] in question
        total, j = expression(p["shown"]), sympy.Symbol("j")
        k = p["k"]
        if p["ask"] == "term":
            return _fraction(total.subs(j, k) - total.subs(j, k - 1))
        return _fraction(sum(total.subs(j, i) - total.subs(j, i - 1) for i in range(k, k + 6)))
    if form == "blocks":
        size = p["size"]
        _in(question, size, p["one"], p["two"])
        found = sympy.solve(
            [
                sum(terms[:size]) - sympy.Rational(p["one"]),
                sum(terms[size : 2 * size]) - sympy.Rational(p["two"]),
            ],
            [A, D],
        )
        block = sum(terms[(p["later"] - 1) * size : p["later"] * size])
        return _fraction({"step": D, "first": A, "block": block}[p["ask"]].subs(found))
    if form == "equal sums":
        _in(question, p["m"], p["n"], abs(p["step"]))
        (first,) = sympy.solve((sum(terms[: p["m"]]) - sum(terms[: p["n"]])).subs(D, p["step"]), A)
        return _fraction(terms[p["k"] - 1].subs({A: first, D: p["step"]}))
    if form == "three numbers":
        _in(question, p["total"], p["fact"])
        solutions = []
        for low in range(-60, 100):
            for step in range(1, 100):
                numbers = [low, low + step, low + 2 * step]
                fact = (
                    numbers[0] * numbers[1] * numbers[2]
                    if p["key"] == "product"
                    else sum(n * n for n in numbers)
                )
                if sum(numbers) == p["total"] and fact == p["fact"]:
                    solutions.append(numbers)
        assert len(solutions) == 1, (solutions, question)
        numbers = solutions[0]
        return {"largest": numbers[2], "least": numbers[0], "step": numbers[1] - numbers[0]}[
            p["ask"]
        ]
    values = [p["first"] + p["step"] * i for i in range(2000)]
    totals = [sum(values[: i + 1]) for i in range(300)]
    _in(question, p["first"], abs(p["step"]) if "less than" in question else values[2])
    if form == "largest sum":
        assert totals.count(max(totals)) == 1
        return max(totals) if p["ask"] == "sum" else totals.index(max(totals)) + 1
    count = next(i for i, total in enumerate(totals) if total > p["bound"])
    return totals[count] if p["ask"] == "total" else count + 1


def geometric(parameters: Parameters, question: str) -> object:
    p, form = parameters, str(parameters["form"])
    if form == "terms":
        one, two = expression(p["am"]), expression(p["an"])
        assert p["am"] in question and p["an"] in question
        gap = p["n"] - p["m"]
        ratios = [r for r in sympy.roots(one * R**gap - two, R) if r.is_real]
        assert len(ratios) == 1
        return _fraction(one * ratios[0] ** (p["k"] - p["m"]))
    if form == "blocks":
        n, one, two = p["n"], float(Fraction(p["one"])), float(Fraction(p["two"]))
        _in(question, p["one"], p["two"], n, p["times"] * n)
        low, high = 0.0, 100.0
        for _ in range(200):
            ratio = (low + high) / 2
            grown = sum(ratio**i for i in range(2 * n)) / sum(ratio**i for i in range(n))
            low, high = (ratio, high) if grown < two / one else (low, ratio)
        first = one / sum(low**i for i in range(n))
        return shown(first * sum(low**i for i in range(p["times"] * n)), 200, 1e-9)
    if "ask" in p and form in ("product", "sum and reciprocals"):
        total = sympy.Rational(p["total"])
        other = sympy.Rational(p["product"] if form == "product" else p["squares"])
        _in(question, p["total"], other)
        y = sympy.Symbol("y")
        # x = y / r, z = y r with r > 1
        fact = y**3 - other if form == "product" else y**2 * (1 + R**2 + R**4) - other * R**2
        found = sympy.solve([y * (1 + R + R**2) - total * R, fact], [y, R], dict=True)
        found = [f for f in found if f[y].is_real and f[R].is_real and f[R] > 1 and f[y] > 0]
        assert len(found) == 1, (found, question)
        middle, ratio = found[0][y], found[0][R]
        return _fraction({
            "largest": middle * ratio, "ratio": ratio, "middle": middle, "difference": middle * ratio - middle / ratio,
        }[p["ask"]])  # fmt: skip
    total = sympy.Rational(p["total"])
    _in(question, p["total"])
    if form.startswith("tail"):
        _in(question, p["first"])
        first = sympy.Rational(p["first"])
        (ratio,) = sympy.solve(first - total * (1 - R), R)
        cut = int(form.split()[1])
        assert abs(ratio) < 1
        return _fraction(
            total - sum(first * ratio**i for i in range(cut))
            if p["ask"] == "tail"
            else first * ratio ** (cut + 1)
        )
    key = {"squares": "squares", "second": "second", "odd places": "odd"}[form]
    _in(question, p[key])
    other = sympy.Rational(p[key])
    second = {
        "squares": A**2 - other * (1 - R**2),
        "second": A * R - other,
        "odd": A - other * (1 - R**2),
    }[key]
    ratios = sympy.roots(sympy.numer(sympy.together(second.subs(A, total * (1 - R)))), R)
    found = [{R: r, A: total * (1 - r)} for r in ratios if abs(r) < 1]
    half = sympy.Rational(1, 2)
    if "less than $\\frac{1}{2}$" in question:
        found = [f for f in found if f[R] < half]
    if "greater than $\\frac{1}{2}$" in question:
        found = [f for f in found if f[R] > half]
    if "is negative" in question:
        found = [f for f in found if f[R] < 0]
    assert len(found) == 1, (found, question)
    return _fraction(found[0][R] if p["ask"] == "ratio" else found[0][A])


def mixed(parameters: Parameters, question: str) -> object:
    p = parameters
    if p["form"] == "add":
        one, two, three = p["shown"]
        _in(question, one, two, three)
        values = [x for x in range(-500, 500) if (two + x) ** 2 == (one + x) * (three + x)]
        assert len(values) == 1
        return values[0]
    if p["form"] == "places":
        step = sympy.Integer(p.get("d", 1))
        one, two, three = (A + step * (n - 1) for n in p["places"])
        found = [value for value in sympy.solve(two**2 - one * three, A) if one.subs(A, value) != 0]
        assert len(found) == 1, (found, question)
        if p["ask"] == "ratio":
            return _fraction((two / one).subs(A, found[0]))
        _in(question, p["d"])
        return _fraction(found[0] if p["ask"] == "first" else three.subs(A, found[0]))
    _in(question, p["total"], *(n for n in p["add"] if n))
    middle = Fraction(p["total"], 3)
    solutions = []
    for twelfths in range(1, int(middle * 12)):
        step = Fraction(twelfths, 12)
        changed = [
            n + more
            for n, more in zip((middle - step, middle, middle + step), p["add"], strict=True)
        ]
        if changed[1] ** 2 == changed[0] * changed[2]:
            solutions.append(step)
    assert len(solutions) == 1, (solutions, question)
    return {"step": solutions[0], "largest": middle + solutions[0], "least": middle - solutions[0]}[
        p["ask"]
    ]


CHECKS = {
    "algebra_arithmetic_sequence": arithmetic,
    "algebra_geometric_sequence": geometric,
    "algebra_mixed_progression": mixed,
}
