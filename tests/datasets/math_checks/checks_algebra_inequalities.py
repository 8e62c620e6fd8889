# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import sympy
from latex_reading import expression

Parameters = Mapping[str, Any]


@cache
def _places() -> list[Fraction]:
    whole = {Fraction(n) for n in range(-60, 61)}
    return sorted(whole | {Fraction(n, d) for d in range(2, 7) for n in range(-30 * d, 30 * d)})


def _difference(parameters: Parameters, question: str) -> Callable[[Fraction], Fraction | None]:
    left, right = str(parameters["left"]), str(parameters["right"])
    assert left in question and right in question
    read = expression(left) - expression(right)
    (x,) = read.free_symbols
    call = sympy.lambdify(x, read, [{"Abs": abs}])

    def at(value: Fraction) -> Fraction | None:
        try:
            return Fraction(call(value))
        except ZeroDivisionError:
            return None

    return at


def _middles(places: list[Fraction]) -> list[Fraction]:
    inner = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    return [places[0] - 1000, *inner, places[-1] + 1000]


def absolute_equation(parameters: Parameters, question: str) -> object:
    at, places = _difference(parameters, question), _places()
    found = [place for place in places if at(place) == 0]
    signs = [value is not None and value > 0 for value in map(at, _middles(places))]
    for place, before, after in zip(places, signs, signs[1:], strict=False):
        assert before == after or place in found, "a solution that is no simple fraction"
    assert found and found[0] > -60 and found[-1] < 60
    ask = parameters["ask"]
    if ask == "product":
        assert len(found) == 2
        return found[0] * found[1]
    if ask == "set":
        return "\\{" + ", ".join(map(str, found)) + "\\}"
    return sum(found) if ask == "sum" else found[0]


def inequality(parameters: Parameters, question: str) -> object:
    at, places = _difference(parameters, question), _places()
    sign = str(parameters["sign"])
    assert {"<": " < ", "<=": "\\le ", ">": " > ", ">=": "\\ge "}[sign] in question

    def holds(value: Fraction) -> bool:
        here = at(value)
        if here is None:
            return False
        if here == 0:
            return sign.endswith("=")
        return (here > 0) == sign.startswith(">")

    middles = [holds(value) for value in _middles(places)]
    here = [holds(place) for place in places]
    pieces, start = [], "(-\\infty" if middles[0] else ""
    for i, place in enumerate(places):
        before, after, inside = middles[i], middles[i + 1], here[i]
        if before == after == inside:
            continue
        assert at(place) in (0, None), (
            "the sides are equal, or one has no value, where the truth changes"
        )
        if before:
            pieces.append(f"{start}, {place}{']' if inside else ')'}")
        elif inside and not after:
            pieces.append(f"\\{{{place}\\}}")
        if after:
            start = f"{'[' if inside else '('}{place}"
    if middles[-1]:
        pieces.append(f"{start}, \\infty)")
    if parameters["ask"] == "interval":
        return " \\cup ".join(pieces)
    assert not middles[0] and not middles[-1], "finitely many integers"
    whole = [
        int(place)
        for place, inside in zip(places, here, strict=True)
        if inside and place.denominator == 1
    ]
    return len(whole) if parameters["ask"] == "count" else sum(whole)


CHECKS = {
    "algebra_absolute_equation": absolute_equation,
    "algebra_absolute_inequality": inequality,
    "algebra_rational_inequality": inequality,
    "algebra_polynomial_inequality": inequality,
}
