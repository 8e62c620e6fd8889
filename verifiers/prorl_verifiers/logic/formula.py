"""Parses formulas, and computes their values, polynomials and derivatives.

The grammar is Python's arithmetic with ``^`` and functions. A model's text is never executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc asin acos atan acot sinh cosh tanh coth asinh acosh atanh exp log ln sqrt Abs".split()  # noqa: SIM905
)
CONSTANTS = frozenset({"pi", "E"})
MAX_LENGTH, MAX_TOKENS, MAX_DEPTH = 4000, 900, 60
MAX_TERMS, MAX_DEGREE, MAX_EXPONENT = 500, 2000, 400
_ALLOWED = re.compile(r"[\w\s.+*/^()-]*", re.ASCII)
_TOKENS = re.compile(r"\*\*|[\w.]+|\S")
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+", re.ASCII)
_GLUED = re.compile(r"(?<!\w)[\d.]+[A-Za-z_]", re.ASCII)
"""A number followed by a letter, such as ``2x``, ``1e5`` or ``0x10``, which are rejected."""
_LEADING_ZEROS = re.compile(r"(?<![\w.])0+(?=\d)")
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


class FormulaError(ValueError):
    """Raised if a text is not a valid formula or exceeds the limits."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a formula's tree. ``op`` is num, name, neg, call or one of ``+ - * / **``."""

    op: str
    value: Any = None
    args: tuple[Node, ...] = ()


def parse(text: str) -> Node:
    """Parse a formula without executing it. Raises FormulaError."""
    if len(text) > MAX_LENGTH or _ALLOWED.fullmatch(text) is None or _GLUED.search(text):
        raise FormulaError("not a formula, or too long")
    plain = _LEADING_ZEROS.sub("", " ".join(text.split())).replace("^", "**")
    if len(_TOKENS.findall(plain)) > MAX_TOKENS:
        raise FormulaError("the formula is too long")
    try:
        return _node(ast.parse(plain, mode="eval").body, plain)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise FormulaError("not a formula") from error


def _node(tree: ast.expr, text: str, depth: int = 0) -> Node:
    if depth > MAX_DEPTH:
        raise FormulaError("the formula is nested too deep")
    match tree:
        case ast.Constant():
            number = text[tree.col_offset : tree.end_col_offset]
            if _NUMBER.fullmatch(number):  # not True
                return Node("num", Fraction(number.removesuffix(".")))
        case ast.Name(id=name):
            return Node("name", name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Node("neg", None, (_node(operand, text, depth + 1),))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _node(operand, text, depth + 1)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
            deeper = depth + isinstance(sign, ast.Pow)
            sides = _node(left, text, depth), _node(right, text, deeper)
            return Node(_SIGNS[type(sign)], None, sides)
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]):
            return Node("call", name, (_node(inner, text, depth + 1),))
    raise FormulaError(f"{type(tree).__name__} is not allowed in a formula")


def names(tree: Node) -> set[str]:
    tree_names = set[str]().union(*(names(arg) for arg in tree.args))
    if tree.op == "name":
        tree_names.add(tree.value)
    elif tree.op == "call":
        tree_names.add(f"{tree.value}()")
    return tree_names


# ------------------------------------------------------------------------------------------ arithmetic


def exact_value(tree: Node) -> Fraction:
    match tree.op:
        case "num":
            return Fraction(tree.value)
        case "neg":
            return -exact_value(tree.args[0])
        case "+" | "-" | "*" | "/":
            left, right = (exact_value(arg) for arg in tree.args)
            return _ARITHMETIC[tree.op](left, right)
    raise FormulaError("not an arithmetic expression")


_ARITHMETIC: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def written_numbers(tree: Node) -> list[Fraction]:
    node_numbers = [tree.value] if tree.op == "num" else []
    return [*node_numbers, *(value for arg in tree.args for value in written_numbers(arg))]


# ----------------------------------------------------------------------------------------- polynomials

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]


def expanded(tree: Node) -> Polynomial:
    """Return the polynomial of a tree that is a sum of terms.

    Raises FormulaError if a sum is multiplied by a sum or raised to a power.
    """
    match tree.op:
        case "num":
            return {(): tree.value} if tree.value else {}
        case "name":
            return {((tree.value, 1),): Fraction(1)}
        case "neg":
            return {key: -value for key, value in expanded(tree.args[0]).items()}
        case "+" | "-":
            left, right = (expanded(arg) for arg in tree.args)
            sign = 1 if tree.op == "+" else -1
            total = dict(left)
            for key, value in right.items():
                total[key] = total.get(key, Fraction(0)) + sign * value
            if len(total) > MAX_TERMS:
                raise FormulaError("too many terms")
            return {key: value for key, value in total.items() if value}
        case "*":
            return _times(*(expanded(arg) for arg in tree.args))
        case "/":
            left, right = (expanded(arg) for arg in tree.args)
            if list(right) != [()]:
                raise FormulaError("the divisor must be a nonzero number")
            return {key: value / right[()] for key, value in left.items()}
        case "**":
            return _raised(*(expanded(arg) for arg in tree.args))
    raise FormulaError("not a polynomial")


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    if (len(left) > 1 and list(right) != [()]) or (len(right) > 1 and list(left) != [()]):
        raise FormulaError("the answer contains a product of sums that is not multiplied out")
    product: Polynomial = {}
    for one, a in left.items():
        for other, b in right.items():
            powers = dict(one)
            for name, power in other:
                powers[name] = powers.get(name, 0) + power
            if sum(powers.values()) > MAX_DEGREE:
                raise FormulaError("the degree is too high")
            product[tuple(sorted(powers.items()))] = a * b
    return product


def _raised(base: Polynomial, exponent: Polynomial) -> Polynomial:
    power = exponent.get((), Fraction(0))
    if (
        set(exponent) - {()}
        or power.denominator != 1
        or not 0 <= power <= MAX_EXPONENT
        or len(base) > 1
    ):
        raise FormulaError("only a single term may have a power, and it must be a whole number")
    result: Polynomial = {(): Fraction(1)}
    for key, value in base.items():
        bits = value.numerator.bit_length() + value.denominator.bit_length()
        if sum(p for _, p in key) * power > MAX_DEGREE or bits * power > 20_000:
            raise FormulaError("the power is too high")
        result = {tuple((name, p * int(power)) for name, p in key if power): value ** int(power)}
    return result if base or not power else {}


def same_polynomial(answer: str, gold: str, variables: Mapping[str, Any] | list[str]) -> bool:
    """Return whether ``answer`` is written as a sum of terms in ``variables`` and equals ``gold``."""
    right = expanded(parse(gold))
    try:
        tree = parse(answer)
        return names(tree) <= set(variables) and expanded(tree) == right
    except (FormulaError, ZeroDivisionError):
        return False


POINTS = ("0.7234519", "1.3717283", "2.6391177", "-0.5189411", "-1.7773203", "-3.1172431")
_BIGGEST = 2000
"""Maximum natural logarithm of an intermediate value."""
FREE = frozenset({"C", "c", "K", "k", "C1", "c1"})
"""Default names of the constant of integration."""


def is_antiderivative(
    answer: str, integrand: str, variable: str, free: frozenset[str] = FREE
) -> bool:
    """Return whether the derivative of ``answer`` equals ``integrand``, to 20 digits at fixed points.

    ``free``: names of constants that may occur in ``answer``. Raises FormulaError if ``integrand`` is invalid.
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
                expected = mpmath.mpc(walker.walk(right)[0])
            except (ArithmeticError, ValueError):  # outside the domain
                continue
            near = abs(slope - expected) <= mpmath.mpf(10) ** -20 * (1 + abs(expected))
            if not near and not slope.imag and not expected.imag:
                return False
            agreed += near
    return agreed >= 3


class _Walker:
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
        constants = {"pi": mp.pi, "E": mp.e}
        return +constants[name] if name in constants else mp.mpf("0.6180339887"), mp.mpf(0)

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
