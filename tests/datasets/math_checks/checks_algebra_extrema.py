# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from latex_reading import equations, expression
from search import extreme, shown

Parameters = Mapping[str, Any]


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def squares(parameters: Parameters, question: str) -> object:
    if "formula" in parameters:
        assert parameters["formula"].translate(str.maketrans("tn", "xx")) in question.translate(
            str.maketrans("tn", "xx")
        )
        formula = expression(str(parameters["formula"]))
        (x,) = formula.free_symbols
        sign = 1 if formula.coeff(x, 2) > 0 else -1
        value, place = extreme(formula, None, sign)
        return shown(place[str(x)], 12, 1e-5) if parameters["ask"] == "place" else shown(value)
    asked = _read(str(parameters["shown"]), question)
    fact = None
    if parameters["line"]:
        assert parameters["line"] in question
        (fact,) = equations(f"${parameters['line']}$")
    value, place = extreme(asked, fact, 1 if parameters["word"] == "least" else -1)
    ask = parameters.get("ask", "value")
    if ask != "value":
        value = place["x"] + (place["y"] if ask == "sum" else 0)
        assert abs(value - round(value)) < 1e-4
        return round(value)
    return shown(value)


def means(parameters: Parameters, question: str) -> object:
    if "range" in parameters:
        text = str(parameters["shown"])
        if text not in question:
            assert str(parameters["b"]) in question, "the expression in words"
        asked, domain = expression(text), str(parameters["range"])
        (x,) = asked.free_symbols
        bound = re.fullmatch(r"x > (-?\d+)", domain)
        low = float(bound.group(1)) if bound else 0.0 if domain == "positive" else -1e9
        assert domain == "positive" or domain in question
        return shown(extreme(asked, None, 1, lambda values: values[str(x)] > low)[0])
    asked = _read(str(parameters["shown"]), question)
    fact = None
    if parameters["fact"]:
        assert parameters["fact"] in question
        (fact,) = equations(f"${parameters['fact']}$")
    sign = 1 if parameters["word"] == "least" else -1
    return shown(extreme(asked, fact, sign, lambda values: min(values.values()) > 0)[0])


def cauchy(parameters: Parameters, question: str) -> object:
    asked = _read(str(parameters["shown"]), question)
    fact = None
    if parameters["fact"]:
        assert parameters["fact"] in question
        (fact,) = equations(f"${parameters['fact']}$")
    return shown(extreme(asked, fact, -1)[0])


CHECKS = {
    "algebra_completed_squares": squares,
    "algebra_mean_inequality": means,
    "algebra_cauchy_inequality": cauchy,
}
