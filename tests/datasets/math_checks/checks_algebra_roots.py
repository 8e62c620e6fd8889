# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import sympy
from latex_reading import exact, expression, formulas

Parameters = Mapping[str, Any]


def _polynomial(question: str, alone: bool = False) -> tuple[Any, Any, list[Any]]:
    """Return the first polynomial of the question, its variable, and its other letters."""
    for formula in formulas(question):
        for part in re.split(r"=|>|\\quad", formula):
            if re.search(r"[xtz]\^[234]", part):
                read = expression(part)
                if not read.is_polynomial() or (alone and len(read.free_symbols) > 1):
                    continue
                x = next(
                    s for s in read.free_symbols if sympy.degree(read, s) > 1 and str(s) in "xtz"
                )
                return read, x, sorted(read.free_symbols - {x}, key=str)
    raise AssertionError(question)


def _boundaries(holds: Callable[[float], bool]) -> list[Fraction]:
    """Return where ``holds`` changes on a grid, refined by bisection."""
    grid = np.arange(-60.0, 60.0, 0.37)
    found = []
    for left, right in pairwise(grid):
        low, high = float(left), float(right)
        if holds(low) != holds(high):
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if holds(middle) == holds(low) else (low, middle)
            found.append(exact(low, 60))
    return found


def discriminant(parameters: Parameters, question: str) -> object:
    read, x, (k,) = _polynomial(question)
    a, b, c = (sympy.lambdify(k, e) for e in sympy.Poly(read, x).all_coeffs())
    ask = parameters.get("ask", "")
    if ask in ("always positive", "two positive"):

        def holds(value: float) -> bool:
            roots = np.roots([a(value), b(value), c(value)])
            real = bool(np.all(np.abs(roots.imag) == 0))
            return not real if ask == "always positive" else real and bool(np.all(roots.real > 0))

        low, high = _boundaries(holds)
        assert holds(float(low + high) / 2)
        return f"({low}, {high})"
    if ask == "count":
        return sum(b(k) ** 2 - 4 * a(k) * c(k) < 0 for k in range(-400, 400))
    (turn,) = sympy.solve(sympy.diff(read, x), x)
    touching = sorted(sympy.solve(read.subs(x, turn), k))
    if not ask:
        (value,) = (one for one in touching if one > 0)
        return sympy.latex(value)
    low, high = touching
    return {
        "set": f"\\{{{low}, {high}\\}}",
        "product": str(low * high),
        "larger": str(high),
        "root": str(turn.subs(k, high)),
    }[ask]


def common_root(parameters: Parameters, question: str) -> object:
    k_free: Any
    if "r" in parameters:
        read, x, (k,) = _polynomial(question)
        (value,) = sympy.solve(read.subs(x, parameters["r"]), k)
        roots = sympy.roots(read.subs(k, value), x)
        assert len(roots) == 2
        return str(next(root for root in roots if root != parameters["r"]))
    parts = [
        expression(part)
        for f in formulas(question)
        for part in re.split(r"=|\\quad", f)
        if "x^" in part
    ]
    x = sympy.Symbol("x")
    assert len(parts) == 2
    if "first" in parameters:
        (k_free,) = parts[0].free_symbols - {x}
        found = [
            (root, value)
            for value in sympy.solve(sympy.resultant(*parts, x), k_free)
            if value != 0
            for root in sympy.roots(parts[0].subs(k_free, value), x)
            if parts[1].subs({k_free: value, x: root}) == 0
        ]
        assert len(found) == 1, (found, question)
        return str(found[0][1] if parameters["ask"] == "k" else found[0][0])
    p, r = sympy.symbols("p r")
    rest = sympy.rem(parts[0], sympy.expand(parts[0] - parts[1]), x)
    solved = sympy.solve(sympy.Poly(rest, x).all_coeffs(), [p, r], dict=True)
    assert len(solved) == 1, solved
    return str(expression(parameters["ask"]).subs(solved[0]))


def integer_roots(parameters: Parameters, question: str) -> object:
    read, x, (k,) = _polynomial(question)
    call = sympy.lambdify((x, k), read)
    slope = int(sympy.Poly(read, x, k).coeff_monomial(x * k))
    found = set()
    for value in range(-110, 111):
        for first in range(-100, 101):
            second = -slope * value - first
            if first <= second and call(first, value) == 0 and call(second, value) == 0:
                found.add(value)
    return {
        "number": len(found),
        "largest": max(found),
        "smallest": min(found),
        "positive": sum(value > 0 for value in found),
        "sum positive": sum(value for value in found if value > 0),
        "sum of absolute values": sum(map(abs, found)),
        "sum": sum(found),
    }[str(parameters["ask"])]


def vieta(parameters: Parameters, question: str) -> object:
    read, x, others = _polynomial(question, alone=True)
    assert not others
    roots = [complex(root) for root in sympy.Poly(read, x).nroots(n=25)]
    assert str(parameters["ask"]) in question
    asked = expression(str(parameters["ask"]))
    names = sorted(asked.free_symbols, key=str)
    assert len(names) == len(roots)
    values = {
        exact(complex(asked.subs(dict(zip(names, order, strict=True)))), 10**5)
        for order in permutations(roots)
    }
    assert len(values) == 1, question
    return values.pop()


def relation(parameters: Parameters, question: str) -> object:
    equation, kind = str(parameters["equation"]), parameters["kind"]
    assert equation[:-4] in question
    left = expression(equation[:-4])
    x, k = sympy.Symbol("x"), sympy.Symbol(parameters["k"])
    u, v = sympy.symbols("u v")
    n = parameters.get("n", 0)
    shape = {
        "ratio": (x - u) * (x - n * u),
        "difference": (x - u) * (x - u - n),
        "squares": (x - u) * (x - v),
        "arithmetic": (x - u) * (x - u - v) * (x - u + v),
        "geometric": x**3 - u * (1 + v) * x**2 + u**2 * (1 + v) * x - u**3,
        "opposite": (x**2 - u) * (x - v),
        "quartic": (x**2 - v**2) * (x**2 - 9 * v**2),
    }[str(kind)]
    monic = left / sympy.Poly(left, x).LC()
    found = sympy.Poly(sympy.expand(monic - shape), x).all_coeffs()
    if kind == "squares":
        found.append(u**2 + v**2 - n)
    unknowns = sorted(set().union(*(f.free_symbols for f in found)), key=str)
    solutions = [
        s
        for s in sympy.solve(found, unknowns, dict=True)
        if s.get(u, 1) != 0 and all(w.is_real for w in s.values())
    ]
    if "positive" in question or f"{k} > 0" in question:
        solutions = [s for s in solutions if s[k] > 0]
    values = {s[k] for s in solutions}
    assert len(values) == 1, (solutions, question)
    if "larger root" in question:
        return str(max(sympy.roots(left.subs(k, values.pop()), x)))
    return str(values.pop())


def transformed(parameters: Parameters, question: str) -> object:
    read, x, others = _polynomial(question, alone=True)
    assert not others and str(parameters["new"]) in question
    roots = [complex(root) for root in sympy.Poly(read, x).nroots(n=25)]
    asked = [expression(f) for f in formulas(str(parameters["new"]))]
    names = sorted(set().union(*(a.free_symbols for a in asked)), key=str)
    made = np.poly([complex(a.subs(dict(zip(names, roots, strict=True)))) for a in asked])
    return " + ".join(
        f"({exact(complex(c), 10**4)})*x^{len(made) - 1 - i}" for i, c in enumerate(made)
    )


def conjugate(parameters: Parameters, question: str) -> object:
    x = sympy.Symbol("x")
    given = [
        expression(str(parameters[n]).replace("i", "I"))
        for n in ("number", "second")
        if n in parameters
    ]
    given = [value.subs(sympy.Symbol("I"), sympy.I) for value in given]
    least = [sympy.minimal_polynomial(value, x) for value in given]
    ask = str(parameters["ask"])
    assert ask in question and str(parameters["number"]) in question
    if parameters["degree"] == 4:
        product = sympy.Poly(sympy.expand(least[0] * least[1]), x)
        assert product.LC() == 1 and product.degree() == 4
        if ask.startswith("P"):
            return str(product.eval(int(ask[2:-1])))
        return str(product.eval(1) if "sum" in ask else product.coeff_monomial(x**2))
    a, b, c = sympy.symbols("a b c")
    if parameters["degree"] == 2:
        values = dict(zip((b, c), sympy.Poly(least[0], x).all_coeffs()[1:], strict=True))
    else:
        cubic, letter, _ = _polynomial(question)
        rest = sympy.rem(cubic.subs(letter, x), least[0], x)
        values = sympy.solve(sympy.Poly(rest, x).all_coeffs(), [a, b])
        if ask.startswith("the"):
            quotient = sympy.quo(cubic.subs(letter, x).subs(values), least[0], x)
            return str(sympy.solve(quotient, x)[0])
    return str(expression(ask).subs(values))


CHECKS = {
    "algebra_discriminant_parameter": discriminant,
    "algebra_common_root": common_root,
    "algebra_integer_roots": integer_roots,
    "algebra_vieta_sums": vieta,
    "algebra_root_relation": relation,
    "algebra_transformed_roots": transformed,
    "algebra_conjugate_root": conjugate,
}
