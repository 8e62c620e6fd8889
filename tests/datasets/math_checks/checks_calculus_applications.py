# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

import mpmath
import sympy
from latex_reading import expression
from search import compass, shown

Parameters = Mapping[str, Any]
X = sympy.Symbol("x")


def _read(text: str, question: str) -> Any:
    assert text in question, (text, question)
    return expression(text)


def _best(
    call: Callable[[float], float], low: float, high: float, sign: int = -1
) -> tuple[float, float]:
    """Return the greatest (sign -1) or least value of ``call`` on an interval, and its place."""

    def at(x: float) -> float | None:
        return sign * call(x) if low <= x <= high else None

    starts = sorted(
        ([low + (high - low) * i / 60] for i in range(61)), key=lambda s: at(s[0]) or 0.0
    )
    value, place = compass(at, starts[:3])
    return sign * value, place[0]


def extreme_values(parameters: Parameters, question: str) -> object:
    p = parameters
    ask = str(p["ask"])
    if "shown" in p:
        left = _read(p["shown"][:-4], question)
        k = sympy.Symbol(p["k"])
        heights = sorted(-left.subs({k: 0, X: r}) for r in sympy.solve(sympy.diff(left, X), X))
        low, high = heights

        def count(value: Any) -> int:
            roots = sympy.Poly(left.subs(k, value), X).nroots(n=15)
            return sum(abs(complex(r).imag) < 1e-9 for r in roots)

        half = sympy.Rational(1, 2)
        assert [count(v) for v in (low - half, low + half, high - half, high + half)] == [
            1,
            3,
            3,
            1,
        ]
        if ask == "interval":
            return f"({low}, {high})"
        return sum(bool(low < v < high) for v in range(-2000, 2000))
    if "v" in p:
        a, b, c = sympy.symbols("a b c")
        f = X**3 + a * X**2 + b * X + c
        rules = [
            sympy.diff(f, X).subs(X, p["r"]),
            sympy.diff(f, X).subs(X, p["s"]),
            f.subs(X, p["r"]) - p["v"],
        ]
        found = sympy.solve(rules, [a, b, c])
        if "(" in ask:
            return str(f.subs(found).subs(X, p["s"]))
        return str(expression(ask).subs(found))
    formula = _read(p["formula"], question)
    call = sympy.lambdify(X, formula, "math")
    if ask.startswith("peak"):
        value, place = _best(call, 1e-3, 40)
        return shown(place, 20, 1e-5) if ask == "peak place" else mpmath.nstr(mpmath.mpf(value), 12)
    if "low" in p:
        assert str(p["low"]) in question and str(p["high"]) in question
        least, greatest = (_best(call, p["low"], p["high"], sign)[0] for sign in (1, -1))
        return {
            "least": shown(least),
            "greatest": shown(greatest),
            "range": f"[{shown(least)}, {shown(greatest)}]",
        }[ask]
    # the turning points of the cubic, from its monotonicity
    places = [n / 8 for n in range(-80, 81)]
    turns = [
        (x, call(x) > call(x - 0.1))
        for x in places
        if (call(x) - call(x - 1e-4)) * (call(x + 1e-4) - call(x)) < 0
    ]
    peaks = [x for x, up in turns if up]
    valleys = [x for x, up in turns if not up]
    assert len(peaks) == len(valleys) == 1, turns
    return shown({
        "local maximum value": call(peaks[0]), "local minimum value": call(valleys[0]),
        "place of the local maximum": peaks[0], "place of the local minimum": valleys[0],
        "difference": call(peaks[0]) - call(valleys[0]),
    }[ask])  # fmt: skip


def best_shape(parameters: Parameters, question: str) -> object:
    p = parameters
    form = p["form"]
    for name in (
        "fence",
        "total",
        "price",
        "sold",
        "less",
        "c",
        "surface",
        "volume",
        "radius",
        "r",
        "h",
    ):
        assert name not in p or str(p[name]) in question, name
    if form == "fence":
        return shown(_best(lambda x: x * (p["fence"] - (p["parts"] + 1) * x) / 2, 0, p["fence"])[0])
    if form == "wall":
        return shown(_best(lambda x: x * (p["fence"] - 2 * x), 0, p["fence"])[0])
    if form == "product":
        return shown(_best(lambda x: x ** p["p"] * (p["total"] - x), 0, p["total"])[0])
    if form == "revenue":
        return shown(
            _best(lambda x: x * (p["sold"] - p["less"] * (x - p["price"])), 0, 500)[1], 4, 1e-5
        )
    if form == "box":
        a, b = p["dims"]
        value, place = _best(lambda x: x * (a - 2 * x) * (b - 2 * x), 0, min(a, b) / 2)
        return shown(value) if p["want"] == "volume" else shown(place, 12, 1e-5)
    if form == "closest":
        value, place = _best(lambda x: (x - p["c"]) ** 2 + x, 0, 60, 1)
        return {
            "x": shown(place, 4, 1e-5),
            "square": shown(value),
            "distance": mpmath.nstr(mpmath.sqrt(value), 12),
        }[p["want"]]
    if form == "rectangle under":
        end = sqrt(p["height"] / p["a"])
        return shown(_best(lambda x: 2 * x * (p["height"] - p["a"] * x * x), 0, end)[0])
    if form == "tank":
        return shown(_best(lambda x: x * x + 4 * p["volume"] / x, 0.1, 200, 1)[0], 400, 1e-9)
    if form == "can" and "surface" in p:
        value, _ = _best(
            lambda r: r * r * (p["surface"] - 2 * r * r) / (2 * r), 1e-3, sqrt(p["surface"] / 2)
        )
        return f"{shown(value)}\\pi"
    if form == "can":
        return f"{shown(_best(lambda r: 2 * r * r + 2 * p['volume'] / r, 0.1, 100, 1)[0], 400, 1e-9)}\\pi"
    if form == "cone in sphere":
        big = p["radius"]
        value, place = _best(lambda h: h * (2 * big * h - h * h) / 3, 0, 2 * big)
        return shown(place, 12, 1e-5) if p["want"] == "height" else f"{shown(value)}\\pi"
    assert form == "cylinder in cone"
    return f"{shown(_best(lambda x: x * x * p['h'] * (1 - x / p['r']), 0, p['r'])[0])}\\pi"


def _rate(call: Callable[[Any], Any]) -> Any:
    with mpmath.workdps(40):
        step = mpmath.mpf(10) ** -12
        return (call(step) - call(-step)) / (2 * step)


def related_rates(parameters: Parameters, question: str) -> object:
    p = parameters
    form = p["form"]

    def number(name: str) -> Any:
        value = Fraction(p[name])
        return mpmath.mpf(value.numerator) / value.denominator

    for name in ("size", "x", "length", "r", "h", "depth", "lamp", "person", "a", "b", "u"):
        assert name not in p or str(p[name]) in question or (form, name) == ("ladder", "x"), name
    if form in ("circle", "sphere", "square", "cube"):
        rate = number("rate")
        power, scale = {
            "circle": (2, 1),
            "square": (2, 1),
            "cube": (3, 1),
            "sphere": (3, mpmath.mpf(4) / 3),
        }[form]
        value = _rate(lambda t: scale * (p["size"] + rate * t) ** power)
        return shown(value) + ("\\pi" if form in ("circle", "sphere") else "")
    if form == "ladder":
        rate, length = number("rate"), p["length"]
        value = _rate(lambda t: mpmath.sqrt(length**2 - (p["x"] + rate * t) ** 2))
        return shown(value if p["signed"] else -value)
    if form == "ships":
        turn = 1 if p["away"] else -1
        return shown(_rate(lambda t: mpmath.hypot(p["x"] + p["u"] * t, p["y"] + turn * p["v"] * t)))
    if form == "cone tank":
        share = mpmath.mpf(p["r"]) ** 2 / p["h"] ** 2 * mpmath.pi / 3
        start = share * mpmath.mpf(p["depth"]) ** 3
        return mpmath.nstr(_rate(lambda t: mpmath.cbrt((start + p["rate"] * t) / share)), 12)
    if form == "shadow":
        speed = number("speed")

        # similar triangles: lamp/(x + s) = person/s
        def shadow(t: Any) -> Any:
            return p["person"] * speed * (1 + t) / mpmath.mpf(p["lamp"] - p["person"])

        return shown(_rate(lambda t: shadow(t) + (speed * (1 + t) if p["tip"] else 0)))
    if form == "curve":
        call = sympy.lambdify(X, _read(p["curve"], question), "mpmath")

        def x(t: Any) -> Any:
            return p["x"] + p["u"] * t

        if p["want"] == "product":
            return shown(_rate(lambda t: x(t) * call(x(t))))
        return shown(_rate(lambda t: x(t) ** 2 + call(x(t)) ** 2))
    if form == "angle":
        w, start = number("w"), mpmath.mpf(sympy.N(expression(p["angle"]), 30))
        return shown(_rate(lambda t: mpmath.mpf(p["a"] * p["b"]) / 2 * mpmath.sin(start + w * t)))
    assert form == "balloon"
    with mpmath.workdps(40):
        start = 4 * mpmath.pi * mpmath.mpf(p["r"]) ** 3 / 3
        third = mpmath.mpf(1) / 3

    def radius(t: Any) -> Any:
        return (3 * (start + p["rate"] * t) / (4 * mpmath.pi)) ** third

    return shown(_rate(lambda t: 4 * mpmath.pi * radius(t) ** 2), 200, 1e-9)


CHECKS = {
    "calculus_extreme_values": extreme_values,
    "calculus_best_shape": best_shape,
    "calculus_related_rates": related_rates,
}
