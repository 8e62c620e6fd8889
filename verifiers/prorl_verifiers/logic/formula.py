"""Parses formulas and computes values, polynomials and derivatives, without evaluating a model's text.

The grammar is Python's arithmetic with ``^`` and functions.
"""

from __future__ import annotations

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
_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*|\.\d+)|([A-Za-z_][A-Za-z_0-9]*)|(\*\*|[-+*/^(),]))", re.ASCII
)


class FormulaError(ValueError):
    """Raised if a text is not a formula or exceeds the limits."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a formula's tree. ``op`` is num, name, neg, call or one of ``+ - * / **``."""

    op: str
    value: Any = None
    args: tuple[Node, ...] = ()


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise FormulaError("too long")
        self.tokens: list[tuple[str, str]] = []
        position, text = 0, text.strip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or len(self.tokens) > MAX_TOKENS:
                raise FormulaError("no formula")
            kind = ("num", "name", "op")[(match.lastindex or 1) - 1]
            self.tokens.append((kind, match.group(match.lastindex or 1)))
            position = match.end()
        self.next = 0

    def peek(self) -> str:
        return self.tokens[self.next][1] if self.next < len(self.tokens) else ""

    def take(self, *tokens: str) -> str:
        token = self.peek()
        if token and token in tokens:
            self.next += 1
            return token
        return ""

    def sum(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FormulaError("nested too deep")
        left = self.product(depth)
        while sign := self.take("+", "-"):
            left = Node(sign, None, (left, self.product(depth)))
        return left

    def product(self, depth: int) -> Node:
        left = self.signed(depth)
        while sign := self.take("*", "/"):
            left = Node(sign, None, (left, self.signed(depth)))
        return left

    def signed(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FormulaError("nested too deep")
        if self.take("-"):
            return Node("neg", None, (self.signed(depth + 1),))
        if self.take("+"):
            return self.signed(depth + 1)
        base = self.atom(depth)
        if self.take("**", "^"):
            return Node("**", None, (base, self.signed(depth + 1)))
        return base

    def atom(self, depth: int) -> Node:
        if self.take("("):
            return self.closed(depth)
        if self.next >= len(self.tokens):
            raise FormulaError("ends too early")
        kind, text = self.tokens[self.next]
        self.next += 1
        if kind == "num":
            return Node("num", Fraction(text if not text.endswith(".") else text[:-1]))
        if kind == "name" and self.take("("):
            return Node("call", text, (self.closed(depth),))
        if kind == "name":
            return Node("name", text)
        raise FormulaError(f"unexpected {text}")

    def closed(self, depth: int) -> Node:
        inner = self.sum(depth + 1)
        if not self.take(")"):
            raise FormulaError("a bracket is not closed")
        return inner


def parse(text: str) -> Node:
    parser = _Parser(text)
    tree = parser.sum(0)
    if parser.next != len(parser.tokens):
        raise FormulaError("trailing text")
    return tree


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
    raise FormulaError("not arithmetic")


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
    """Return the polynomial of a tree that is written as a sum of terms.

    Raises FormulaError if sums are multiplied or raised to a power.
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
    raise FormulaError("no polynomial")


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
"""Natural logarithm of the largest intermediate value that is allowed."""
FREE = frozenset({"C", "c", "K", "k", "C1", "c1"})
"""Names that may stand for the constant of integration."""


def is_antiderivative(
    answer: str, integrand: str, variable: str, free: frozenset[str] = FREE
) -> bool:
    """Return whether the derivative of ``answer`` equals ``integrand``, to 20 digits at fixed points.

    ``free`` names constants that may occur in ``answer``. Raises FormulaError if ``integrand`` is not a formula.
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
