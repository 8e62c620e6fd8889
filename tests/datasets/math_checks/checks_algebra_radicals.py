# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

import mpmath
import sympy
from latex_reading import equations, expression
from search import shown

Parameters = Mapping[str, Any]


def _number(text: str, question: str) -> Any:
    assert text in question or text[6:-1] in question, (text, question)
    return mpmath.mpf(sympy.N(_real_cubes(expression(text)), 30))


def _real_cubes(value: Any) -> Any:
    return value.replace(
        lambda e: e.is_Pow and e.exp == sympy.Rational(1, 3),
        lambda e: sympy.sign(e.base) * sympy.Abs(e.base) ** sympy.Rational(1, 3),
    )


def nested(parameters: Parameters, question: str) -> object:
    if "c" in parameters:
        value = mpmath.sqrt(parameters["c"])
        for _ in range(400):
            value = mpmath.sqrt(parameters["c"] + parameters["b"] * value)
        assert str(parameters["c"]) in question
        return shown(value)
    value = _number(parameters["shown"], question)
    ask = parameters["ask"]
    assert ask in ("square", "power") or f"${ask}$" in question
    if ask in ("square", "power"):
        return shown(value ** parameters.get("exponent", 2))
    found: list[dict[str, int]] = []
    if parameters.get("three"):
        for p in range(1, 40):
            for q in range(p + 1, 40):
                rest = value - mpmath.sqrt(p) - mpmath.sqrt(q)
                r = round(float(rest) ** 2) if rest > 0 else 0
                if r > q and abs(mpmath.sqrt(r) - rest) < 1e-12:
                    found.append({"p": p, "q": q, "r": r})
    else:
        sign = 1 if parameters["op"] == "+" else -1
        for b in range(1, 200):
            first = value - sign * mpmath.sqrt(b)
            a = round(float(first) ** 2) if first > 0 else 0
            if a > b and abs(mpmath.sqrt(a) - first) < 1e-12:
                found.append({"a": a, "b": b})
    assert len(found) == 1, (found, question)
    if ask.startswith("("):
        return str(tuple(found[0].values()))
    return str(expression(ask).subs(found[0]))


def _roots(call: Callable[[Any], Any], places: list[float]) -> list[float]:
    """Return where ``call`` changes sign or touches zero, refined by bisection."""

    def at(x: float) -> float | None:
        try:
            return float(call(x))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None

    values = [at(x) for x in places]
    found: list[float] = []
    for i, (left, right) in enumerate(itertools.pairwise(places)):
        one, two = values[i], values[i + 1]
        if one is not None and abs(one) < 1e-11:
            found.append(left)
        elif one is not None and two is not None and abs(two) >= 1e-11 and one * two < 0:
            low, high, sign = left, right, one
            for _ in range(60):
                middle = (low + high) / 2
                here = at(middle)
                low, high = (
                    (middle, high) if here is not None and here * sign > 0 else (low, middle)
                )
            if abs(at(low) or 0) < 1e-6:
                found.append(low)
    return found


def _solve(parameters: Parameters, question: str, places: list[float]) -> list[float]:
    equation = str(parameters["equation"])
    assert equation in question or equation.split(" = ")[0] in question
    (difference,) = equations(f"${equation}$")
    (x,) = difference.free_symbols
    terms = sympy.lambdify(x, sympy.Add.make_args(difference), "math")

    def call(at: float) -> float:
        values = terms(at)
        return float(sum(values) / sum(map(abs, values)))

    return _roots(call, places)


def radical_equation(parameters: Parameters, question: str) -> object:
    places = [n / 4 + 0.0625 * (n % 3) for n in range(-400, 900)] + [
        float(n) for n in range(-100, 226)
    ]
    places += [n / d for d in (3, 5, 6, 7) for n in range(-40 * d, 60 * d)]
    found = _solve(parameters, question, sorted(set(places)))
    found = [value for i, value in enumerate(found) if not i or value - found[i - 1] > 1e-6]
    ask = parameters["ask"]
    assert len(found) == (1 if ask == "only" else 2), (found, question)
    low, high = found[0], found[-1]
    return shown(
        {
            "only": low, "sum": low + high, "product": low * high, "difference": high - low,
            "largest": high, "sum of squares": low * low + high * high,
        }[ask], 60, 1e-6,
    )  # fmt: skip


def conjugates(parameters: Parameters, question: str) -> object:
    if "shown" in parameters:
        shape = expression(parameters["shape"])
        assert parameters["shape"] in question
        with mpmath.workdps(28):
            value = _number(parameters["shown"], question)
            one, two = (mpmath.mpf(sympy.N(shape.coeff(sympy.Symbol(n)), 28)) for n in "pq")
            row = mpmath.pslq([value, one, two], maxcoeff=10**4, maxsteps=10**4)
        assert row
        p, q = Fraction(-row[1], row[0]), Fraction(-row[2], row[0])
        ask = parameters["ask"]
        return (
            f"({p}, {q})"
            if ask == "(p, q)"
            else str({"p + q": p + q, "p - q": p - q, "pq": p * q}[ask])
        )
    if "number" in parameters:
        assert parameters["ask"] in question and parameters["number"] in question
        asked = expression(parameters["ask"]).subs(
            sympy.Symbol(parameters["letter"]), expression(parameters["number"])
        )
        return str(sympy.nsimplify(sympy.radsimp(sympy.expand(asked))))
    given, ask, goal = (
        expression(parameters["given"]),
        expression(parameters["ask"]),
        parameters["value"],
    )
    assert parameters["given"] in question and f"= {goal}" in question
    x = sympy.Symbol("x")
    call = sympy.lambdify(x, given - goal, "math")
    places = [n / 7 for n in range(-1500, 3000)]
    found = _roots(call, places)
    assert found
    values = {round(float(ask.subs(x, value)), 6) for value in found}
    assert len(values) == 1, (values, question)
    value = values.pop()
    assert abs(value - round(value)) < 1e-5
    return round(value)


def exponential(parameters: Parameters, question: str) -> object:
    if parameters.get("whole"):
        assert parameters["equation"] in question
        (difference,) = equations(f"${parameters['equation']}$")
        (x,) = difference.free_symbols
        power = difference + 1
        base, exponent = power.as_base_exp()
        whole = []
        for n in range(-40, 60):
            b, e = int(base.subs(x, n)), int(exponent.subs(x, n))
            if b == 0:
                assert e != 0, "0^0"
            elif (b == 1) or (b == -1 and e % 2 == 0) or e == 0:
                whole.append(n)
        found = [float(n) for n in whole]
    else:
        places = sorted(
            {n / 8 + 0.03 for n in range(-400, 400)} | {float(n) for n in range(-12, 12)}
        )
        found = _solve(parameters, question, places)
    found = [value for i, value in enumerate(found) if not i or value - found[i - 1] > 1e-6]
    exact = [Fraction(value).limit_denominator(60) for value in found]
    assert all(abs(float(e) - f) < 1e-7 for e, f in zip(exact, found, strict=True))
    ask = parameters["ask"]
    assert len(exact) == 1 if ask == "only" else len(exact) > 1, (exact, question)
    if ask == "set":
        return "\\{" + ", ".join(map(str, exact)) + "\\}"
    return {
        "only": exact[0], "sum": sum(exact), "larger": exact[-1], "product": exact[0] * exact[-1],
        "squares": sum(e * e for e in exact),
    }[ask]  # fmt: skip


def log_equation(parameters: Parameters, question: str) -> object:
    grow = [1.17**n * 1e-5 for n in range(160)]
    places = sorted(
        {
            *grow,
            *(n / 3 + 0.011 for n in range(-150, 400)),
            *map(float, range(-60, 300)),
            *(1 / n for n in (2, 3, 4, 5, 10, 9, 16, 25, 100)),
        }
    )
    equation = str(parameters["equation"])
    assert equation in question
    (difference,) = equations(f"${equation}$")
    (x,) = difference.free_symbols
    call = sympy.lambdify(x, difference, "math")  # ValueError where a logarithm has no value
    found = _roots(call, places)
    found = [
        value for i, value in enumerate(found) if not i or value - found[i - 1] > 1e-7 * abs(value)
    ]
    ask = parameters["ask"]
    assert len(found) == (1 if ask == "only" else 2), (found, question)
    low, high = found[0], found[-1]
    value = {"only": low, "product": low * high, "sum": low + high, "larger": high, "smaller": low}[
        ask
    ]
    near = Fraction(value).limit_denominator(10**4)
    assert abs(float(near) - value) < 1e-7 * (1e-3 + abs(value))
    return near


def log_relations(parameters: Parameters, question: str) -> object:
    form = parameters["form"]
    if form == "value":
        return shown(_number(parameters["shown"], question))
    if form == "given":
        ask = parameters["ask"]
        assert ask in question
        # any numbers with these logarithms will do: powers of 1.7
        values = {
            sympy.Symbol(n): sympy.Float(1.7, 30) ** sympy.Rational(e)
            for n, e in parameters["logs"].items()
        }
        return shown(sympy.N(expression(ask).subs(values), 20), 3000)
    if form == "swap":
        total, product = Fraction(parameters["sum"]), parameters["product"]
        found = []
        for x in range(2, isqrt(product) + 1):
            if product % x == 0:
                ratio = mpmath.log(product // x, x)
                if (
                    x < product // x
                    and abs(ratio + 1 / ratio - mpmath.mpf(total.numerator) / total.denominator)
                    < 1e-12
                ):
                    found.append((x, product // x))
        # the sum of the logarithms decreases up to the root of the product: one real solution
        assert len(found) == 1 and str(product) in question
        x, y = found[0]
        return {"x + y": x + y, "y": y, "y - x": y - x}[parameters["ask"]]
    if form == "ratio":
        a, b, r = parameters["bases"]
        k = parameters["k"]

        def call(t: Any) -> Any:
            return mpmath.mpf(a) ** t + k * mpmath.mpf(b) ** t - mpmath.mpf(r) ** t

        low, high = mpmath.mpf(-60), mpmath.mpf(60)
        if call(low) * call(high) > 0:
            raise AssertionError(question)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if call(middle) * call(low) > 0 else (low, middle)
        return mpmath.nstr((mpmath.mpf(b) / a) ** low, 12)
    p, q, number, c, m, n = (parameters[name] for name in ("p", "q", "number", "c", "m", "n"))
    assert str(number) in question and f"z/{c}" in question
    common = mpmath.mpf("3.7")  # common value of the three powers
    x, y, z = mpmath.log(common, p), mpmath.log(common, q), c * mpmath.log(common, number)
    return shown(z * (m / x + n / y), 50, 1e-9)


CHECKS = {
    "algebra_nested_radical": nested,
    "algebra_radical_equation": radical_equation,
    "algebra_conjugate_surds": conjugates,
    "algebra_exponential_equation": exponential,
    "algebra_logarithmic_equation": log_equation,
    "algebra_logarithm_relations": log_relations,
}
