"""Check an antiderivative by its derivative at fixed points, to 40 digits; no text is evaluated.

Forward mode: every node of the formula (``logic.formula``) gives its value and its derivative by the
variable; names that are not the variable are constants. Formulas that agree at three
points to 20 digits without being equal do not arise from the grammar's sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from prorl_verifiers.logic.formula import CONSTANTS, FUNCTIONS, FormulaError, Node, names, parse

POINTS = ("0.7234519", "1.3717283", "2.6391177", "-0.5189411", "-1.7773203", "-3.1172431")
_BIGGEST = 2000
"""Natural logarithm of the largest value that is followed further."""
FREE = frozenset({"C", "c", "K", "k", "C1", "c1"})
"""Names that may stand for the constant of integration."""


def is_antiderivative(
    answer: str, integrand: str, variable: str, free: frozenset[str] = FREE
) -> bool:
    """Whether the derivative of ``answer`` by ``variable`` is ``integrand``.

    ``free`` are the names that may stand for a constant. Raises FormulaError when the integrand itself is no formula of the grammar.
    """
    mpmath = import_module("mpmath")
    right = parse(integrand)
    try:
        tree = parse(answer)
    except FormulaError:
        return False
    functions = {f"{name}()" for name in FUNCTIONS}
    if not names(tree) <= functions | CONSTANTS | free | {variable}:
        return False
    agreed = 0
    with mpmath.workdps(40):
        for point in POINTS:
            walker = _Walker(mpmath, variable, mpmath.mpf(point))
            try:
                slope = mpmath.mpc(walker.walk(tree)[1])
                wanted = mpmath.mpc(walker.walk(right)[0])
            except (ArithmeticError, ValueError):  # outside their domains
                continue
            near = abs(slope - wanted) <= mpmath.mpf(10) ** -20 * (1 + abs(wanted))
            if not near and not slope.imag and not wanted.imag:
                return False
            agreed += near
    return agreed >= 3


class _Walker:
    """Values and derivatives of a tree at one point."""

    def __init__(self, mp: Any, variable: str, point: Any) -> None:
        self.mp, self.variable, self.point = mp, variable, point

    def walk(self, node: Node) -> tuple[Any, Any]:
        value, slope = self._pair(node)
        if value and not abs(self.mp.log(abs(value))) < _BIGGEST:
            raise OverflowError("the value is too large")
        return value, slope

    def _pair(self, node: Node) -> tuple[Any, Any]:
        mp = self.mp
        if node.op == "num":
            return mp.mpf(node.value.numerator) / node.value.denominator, mp.mpf(0)
        if node.op == "name":
            return self._name(node.value)
        if node.op == "call":
            return self._call(node.value, *self.walk(node.args[0]))
        value, slope = self.walk(node.args[0])
        if node.op == "neg":
            return -value, -slope
        other, change = self.walk(node.args[1])
        match node.op:
            case "+":
                return value + other, slope + change
            case "-":
                return value - other, slope - change
            case "*":
                return value * other, slope * other + value * change
            case "/":
                return value / other, (slope * other - value * change) / other**2
        return self._power(value, slope, other, change)

    def _name(self, name: str) -> tuple[Any, Any]:
        mp = self.mp
        if name == self.variable:
            return self.point, mp.mpf(1)
        known = {"pi": mp.pi, "E": mp.e}
        return +known[name] if name in known else mp.mpf("0.6180339887"), mp.mpf(0)

    def _power(self, base: Any, slope: Any, power: Any, change: Any) -> tuple[Any, Any]:
        mp = self.mp
        if not base and not (power > 0):
            raise ZeroDivisionError
        if not base:
            return mp.mpf(0), slope if power == 1 else mp.mpf(0)
        if not abs(power) * (1 + abs(mp.log(base))) < _BIGGEST:
            raise OverflowError("the power is too large")
        value = base**power
        if not change:
            return value, power * value / base * slope
        return value, value * (change * mp.log(base) + power * slope / base)

    def _call(self, name: str, value: Any, slope: Any) -> tuple[Any, Any]:
        mp = self.mp
        large = abs(mp.im(value)) + abs(mp.re(value)) > 10 * _BIGGEST
        if large and name not in ("Abs", "log", "ln", "sqrt"):
            raise OverflowError("the argument is too large")
        if name == "Abs":
            if mp.im(value):
                raise ValueError("the absolute value of a complex number has no derivative")
            return abs(value), slope * mp.sign(value)
        function, derivative = _rules(mp)[name]
        return function(value), derivative(value) * slope


def _rules(mp: Any) -> Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """Return function name -> (the function, its derivative)."""
    return {
        "sin": (mp.sin, mp.cos),
        "cos": (mp.cos, lambda x: -mp.sin(x)),
        "tan": (mp.tan, lambda x: mp.sec(x) ** 2),
        "cot": (mp.cot, lambda x: -(mp.csc(x) ** 2)),
        "sec": (mp.sec, lambda x: mp.sec(x) * mp.tan(x)),
        "csc": (mp.csc, lambda x: -mp.csc(x) * mp.cot(x)),
        "asin": (mp.asin, lambda x: 1 / mp.sqrt(1 - x**2)),
        "acos": (mp.acos, lambda x: -1 / mp.sqrt(1 - x**2)),
        "atan": (mp.atan, lambda x: 1 / (1 + x**2)),
        "acot": (mp.acot, lambda x: -1 / (1 + x**2)),
        "sinh": (mp.sinh, mp.cosh),
        "cosh": (mp.cosh, mp.sinh),
        "tanh": (mp.tanh, lambda x: mp.sech(x) ** 2),
        "coth": (mp.coth, lambda x: -(mp.csch(x) ** 2)),
        "asinh": (mp.asinh, lambda x: 1 / mp.sqrt(1 + x**2)),
        "acosh": (mp.acosh, lambda x: 1 / (mp.sqrt(x - 1) * mp.sqrt(x + 1))),
        "atanh": (mp.atanh, lambda x: 1 / (1 - x**2)),
        "exp": (mp.exp, mp.exp),
        "log": (mp.log, lambda x: 1 / x),
        "ln": (mp.log, lambda x: 1 / x),
        "sqrt": (mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x))),
    }
