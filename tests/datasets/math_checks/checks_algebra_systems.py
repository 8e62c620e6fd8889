# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy
from latex_reading import equations, exact, expression

Parameters = Mapping[str, Any]
X, Y = sympy.symbols("x y")


def _shown(value: Any) -> str:
    return str(Fraction(int(value.p), int(value.q)))


def _asked(parameters: Parameters, question: str) -> str:
    ask = str(parameters["ask"])
    assert f"${ask}$" in question or f"[{ask}" in question, (ask, question)
    return ask


def _unknowns(found: Sequence[Any]) -> list[Any]:
    return sorted(set().union(*(e.free_symbols for e in found)), key=str)


def linear_system(parameters: Parameters, question: str) -> object:
    found = equations(question)
    if "equations" in parameters:
        assert len(found) == len(parameters["equations"])
        (solution,) = sympy.linsolve(found, _unknowns(found))
        values = dict(zip(_unknowns(found), solution, strict=True))
        assert all(value.is_Rational for value in solution), question
        ask = _asked(parameters, question)
        if ask.startswith("("):
            return "({})".format(
                ", ".join(_shown(values[sympy.Symbol(n)]) for n in ask[1:-1].split(", "))
            )
        return _shown(expression(ask).subs(values))
    (k,) = set(_unknowns(found)) - {X, Y}
    if "first" in parameters:
        if len(found) == 2:
            found.append(Y - parameters["c"] * X - parameters["d"])
        assert len(found) == 3
        (solution,) = sympy.solve(found, [X, Y, k], dict=True)
        return _shown(solution[k])
    matrix = sympy.Matrix([[e.coeff(X), e.coeff(Y)] for e in found])
    rest = sympy.Matrix([-e.subs({X: 0, Y: 0}) for e in found])
    wanted = []
    for value in sympy.solve(matrix.det(), k):
        left = matrix.subs(k, value)
        endless = left.rank() == left.row_join(rest.subs(k, value)).rank()
        if endless == bool(parameters["ask"]):
            wanted.append(value)
    assert len(wanted) == 1, question
    assert ("infinitely" in question or "more than one" in question) == bool(parameters["ask"])
    return _shown(wanted[0])


def _newton(found: list[Any], unknowns: list[Any], start: Sequence[complex]) -> list[Any] | None:
    call = sympy.lambdify([unknowns], [found, sympy.Matrix(found).jacobian(unknowns)], "numpy")
    at = np.array(start)
    with np.errstate(all="ignore"):
        for _ in range(80):
            values, slopes = call(at)
            try:
                at = at - np.linalg.solve(np.array(slopes), np.array(values))
            except np.linalg.LinAlgError:
                return None
        values = np.array(call(at)[0])
    return list(at) if np.all(np.abs(values) < 1e-8) else None


def one_value(parameters: Parameters, question: str) -> object:
    """Return the asked value, which must be equal at every complex solution that Newton's iteration finds."""
    found = equations(question)
    assert len(found) == len(parameters["given"])
    unknowns = _unknowns(found)
    call = sympy.lambdify(unknowns, expression(_asked(parameters, question)), "numpy")
    values = []
    for turn in range(12):
        free = unknowns[len(found) :]
        fixed = {symbol: sympy.Rational(7 + 3 * turn, 5) for symbol in free}
        start = [
            complex(1.3 + 0.9 * turn - 2.1 * j, 0.7 - 0.4 * j + 0.3 * turn)
            for j in range(len(found))
        ]
        at = _newton([e.subs(fixed) for e in found], unknowns[: len(found)], start)
        if at is not None:
            values.append(exact(complex(call(*at, *map(float, fixed.values()))), 10**7))
        if len(values) == 3:
            break
    assert len(values) > 1 and len(set(values)) == 1, (values, question)
    return values[0]


def positive(parameters: Parameters, question: str) -> object:
    """Return the only positive solution found from many positive starts."""
    found = equations(question)
    unknowns = _unknowns(found)
    call = sympy.lambdify(unknowns, expression(_asked(parameters, question)), "numpy")
    values = set()
    for start in (
        [3, 5, 8],
        [9, 4, 6],
        [15, 14, 10],
        [2, 11, 7],
        [40, 60, 50],
        [30, 20, 90],
        [150, 90, 200],
    ):
        at = _newton(found, unknowns, [float(v) for v in start])
        if at is not None and all(value > 1e-9 for value in at):
            values.add(exact(call(*at), 10**5))
    assert len(values) == 1, (values, question)
    return values.pop()


def reciprocal(parameters: Parameters, question: str) -> object:
    found = equations(question)
    assert len(found) == 1 and str(parameters["given"]) in question
    (x,) = found[0].free_symbols
    roots = sympy.Poly(sympy.numer(sympy.together(found[0])), x).nroots(n=30)
    if f"{x} > 1" in question:
        roots = [root for root in roots if root > 1]
    call = sympy.lambdify(x, expression(_asked(parameters, question)), "mpmath")
    values = [mpmath.mpc(call(mpmath.mpmathify(root))) for root in roots]
    assert values and all(abs(v - values[0]) < 1e-9 * (1 + abs(v)) for v in values), question
    assert abs(values[0].imag) < 1e-9
    return mpmath.nstr(values[0].real, 14)


CHECKS = {
    "algebra_linear_system": linear_system,
    "algebra_symmetric_system": one_value,
    "algebra_product_system": positive,
    "algebra_power_sums": one_value,
    "algebra_reciprocal_sum": reciprocal,
}
