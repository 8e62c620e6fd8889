# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import cmath
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy
from latex_reading import expression

Parameters = Mapping[str, Any]
I = sympy.Symbol("i")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text).subs(I, sympy.I)


def _form(value: complex) -> str:
    re, im = round(value.real), round(value.imag)
    assert abs(value - complex(re, im)) < 1e-6 * (1 + abs(value)), value
    if not im:
        return str(re)
    return f"{re}{im:+d}i" if re else f"{im}i"


def arithmetic(parameters: Parameters, question: str) -> object:
    p = parameters
    if "shown" in p:
        re, im = sympy.expand_complex(_read(p["shown"], question)).as_real_imag()
        return str({"real part": re, "imaginary part (a real number)": im}.get(p["ask"], re + im))
    if "centre" in p:
        x, y = p["centre"]
        sizes = [
            abs(complex(x, y) + p["r"] * cmath.exp(1j * k * cmath.pi / 36000)) for k in range(72000)
        ]
        value = max(sizes) if p["far"] else min(sizes)
        assert abs(value - round(value)) < 1e-4
        return round(value)
    z = sympy.Symbol(p["z"])
    x, y = sympy.symbols("x y", real=True)
    right = _read(p["right"], question)
    form = p.get("form")
    if form is None:
        bar = sympy.Symbol("B")
        left = expression(p["left"].replace(f"\\overline{{{z}}}", " B ")).subs(I, sympy.I)
        assert p["left"] in question
        left = left.subs({z: x + sympy.I * y, bar: x - sympy.I * y})
    else:
        left = (
            (x + sympy.I * y) ** 2
            if form == "square"
            else x + sympy.I * y + sympy.sqrt(x**2 + y**2)
        )
    if form == "modulus sum":
        height = sympy.im(right)
        size = [
            (v, height)
            for v in range(-400, 400)
            if v + sympy.sqrt(v * v + height * height) == sympy.re(right)
        ]
    else:
        re, im = sympy.expand(left - right).as_real_imag()
        size = sympy.solve([re, im], [x, y])
        size = (
            [(size[x], size[y])]
            if isinstance(size, dict)
            else [pair for pair in size if pair[0] > 0]
        )
    assert len(size) == 1, size
    a, b = size[0]
    want = p["want"]
    if "|^2" in want:
        return str(a * a + b * b)
    if "|" in want:
        return sympy.latex(sympy.sqrt(a * a + b * b))
    if "product" in want:
        return str(a * b)
    if "absolute" in want:
        return str(abs(a) + abs(b))
    return str(a) if "the real part" in want else f"{a} + ({b})i"


def powers(parameters: Parameters, question: str) -> object:
    p = parameters
    if "exponents" in p:
        assert p["shown"] in question
        total = sum(
            k * [1, 1j, -1, -1j][n % 4] for k, n in zip(p["factors"], p["exponents"], strict=True)
        )
        return _form(total)
    if "base" in p:
        assert p["base"] in question and str(p["n"]) in question
        value, base = complex(p["k"]), complex(expression(p["base"]).subs(I, sympy.I))
        for _ in range(p["n"]):
            value *= base
        return _form(value)
    if p["form"] == "sum":
        total, unit = 0j, 1 + 0j
        for k in range(1, p["n"] + 1):
            unit *= 1j
            total += k * unit
        assert str(p["n"]) in question
        return _form(total)
    if p["form"] == "cube root":
        assert p["one"] in question
        a, b, c = p["abc"]
        w = cmath.exp(2j * cmath.pi / 3)
        value = (a + b * w + c * w * w) * (a + b * w * w + c * w)
        return round(value.real)
    n, m = p["n"], p["m"]
    roots = [cmath.exp(2j * cmath.pi * k / n) for k in range(1, n)]
    if p["form"] == "unity product":
        value = 1 + 0j
        for r in roots:
            value *= (m - r) if m > 0 else (-m + r)
        return round(value.real)
    total = sum(1 / (m - r) for r in roots)
    near = Fraction(total.real).limit_denominator(2000)
    assert abs(float(near) - total.real) < 1e-10 and abs(total.imag) < 1e-9
    return near


def matrices(parameters: Parameters, question: str) -> object:
    p = parameters
    form = p.get("form")
    if form == "trace power":
        # the companion matrix has this trace and determinant
        made = sympy.Matrix([[0, -p["det"]], [1, p["trace"]]]) ** p["n"]
        assert str(p["trace"]) in question
        return str(made.trace())
    if form == "singular":
        k = sympy.Symbol(p["k"])
        a, b, c, d = p["entries"]
        found = sorted(sympy.solve(sympy.Matrix([[k + a, b], [c, k + d]]).det(), k))
        assert len(found) == 2
        if "set" in p["want"]:
            return f"\\{{{found[0]}, {found[1]}\\}}"
        return str(found[1] if "largest" in p["want"] else found[0] * found[1])
    rows = sympy.Matrix(p["rows"])
    assert all(f"{row[0]} & {row[1]}" in question for row in p["rows"])
    if form == "cayley":
        x, y = sympy.symbols("x y")
        found = sympy.solve(list(rows ** p["power"] - x * rows - y * sympy.eye(2)), [x, y])
        return f"({found[x]}, {found[y]})"
    if form == "product":
        x, y = rows.LUsolve(sympy.Matrix(p["right"]))
        return {
            "x + y": str(x + y),
            "xy": str(x * y),
            "(x, y)": f"({x}, {y})",
            "x - y": str(x - y),
        }[p["want"]]
    ask = p["ask"]
    exponent = p.get("n") or int(ask.split("^")[1].strip("{}$"))
    made = sympy.eye(2)
    for _ in range(abs(exponent)):
        made = made * (rows if exponent > 0 else rows.inv())
    if "determinant" in ask:
        return str(made.det())
    if "sum of the four" in ask:
        return str(sum(made))
    if "trace" in ask:
        return str(made.trace())
    return str(made[0, 1] if "upper right" in ask else made[1, 0])


CHECKS = {
    "algebra_complex_arithmetic": arithmetic,
    "algebra_complex_powers": powers,
    "algebra_matrices": matrices,
}
