"""Read the formulas of a question into sympy."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import mpmath
import sympy

_TOKEN = re.compile(r"\s+|\\,|\\;|\\!|\\left|\\right|(\d+(?:\.\d+)?|\\[A-Za-z]+|\\.|.)", re.DOTALL)
_FUNCTIONS: dict[str, Any] = {
    "\\sin": sympy.sin,
    "\\cos": sympy.cos,
    "\\tan": sympy.tan,
    "\\arctan": sympy.atan,
    "\\ln": sympy.log,
    "\\log": lambda value: sympy.log(value) / sympy.log(10),
}
_CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|", "\\lfloor": "\\rfloor"}


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = [m.group(1) for m in _TOKEN.finditer(text) if m.group(1)]
        self.at = 0
        self.bars = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        assert token and (not wanted or token == wanted), (self.tokens, self.at, wanted)
        self.at += 1
        return token

    def total(self) -> Any:
        value: Any = sympy.Integer(0)
        sign = 1
        if self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
        value += sign * self.product()
        while self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
            value += sign * self.product()
        return value

    def product(self) -> Any:
        value = self.raised()
        while True:
            token = self.peek()
            if token in ("\\cdot", "\\times"):
                self.take()
                value = value * self.raised()
            elif token == "/":
                self.take()
                value = value / self.raised()
            elif token == "|" and self.bars:
                return value
            elif (
                token
                and token not in "+-)]}=<>,&;"
                and not token.startswith(
                    (
                        "\\rfloor",
                        "\\le",
                        "\\ge",
                        "\\ne",
                        "\\\\",
                        "\\quad",
                        "\\qquad",
                        "\\end",
                        "\\cdots",
                    )
                )
            ):
                value = value * self.raised()
            else:
                return value

    def raised(self) -> Any:
        value = self.atom()
        if self.peek() == "^":
            self.take()
            value = value ** self.braced()
        return value

    def braced(self) -> Any:
        if self.peek() == "{":
            return self.group()
        return self.atom()

    def group(self) -> Any:
        closing = _CLOSING[self.take()]
        outside, self.bars = self.bars, int(closing == "|")
        value = self.total()
        self.bars = outside
        self.take(closing)
        return value

    def atom(self) -> Any:
        token = self.peek()
        if token in _FUNCTIONS:
            return self.function()
        if token == "|":
            return sympy.Abs(self.group())
        if token == "\\lfloor":
            return sympy.floor(self.group())
        if token in _CLOSING:
            return self.group()
        self.take()
        if token == "\\frac":
            above = self.braced()
            return above / self.braced()
        if token == "\\binom":
            above = self.braced()
            return sympy.binomial(above, self.braced())
        if token == "\\sqrt":
            degree = self.group() if self.peek() == "[" else sympy.Integer(2)
            return self.braced() ** (1 / degree)
        if token == "\\pi":
            return sympy.pi
        if token[0].isdigit():
            return sympy.Rational(token)
        if token == "e":
            return sympy.E
        assert token.isalpha() or token.startswith("\\"), (token, self.tokens)
        if self.peek() == "_":
            self.take()
            low = self.take()
            if low == "{":
                low = ""
                while self.peek() != "}":
                    low += self.take()
                self.take()
            token += f"_{low}"
        return sympy.Symbol(token.lstrip("\\"))

    def function(self) -> Any:
        name = self.take()
        call = _FUNCTIONS[name]
        if name == "\\log" and self.peek() == "_":
            self.take()
            base = self.braced()

            def call(value: Any) -> Any:
                return sympy.log(value) / sympy.log(base)

        exponent: Any = 1
        if self.peek() == "^":
            self.take()
            exponent = self.braced()
        if self.peek() in ("(", "{", "|"):
            inside = sympy.Abs(self.group()) if self.peek() == "|" else self.group()
            return call(inside) ** exponent
        inside = self.raised()
        while self.peek() and (self.peek().isalnum() or self.peek() in ("\\pi", "\\frac")):
            inside = inside * self.raised()
        return call(inside) ** exponent


def expression(text: str) -> Any:
    """Read one expression; raise AssertionError if text is left over."""
    reader = _Reader(text)
    value = reader.total()
    assert reader.at == len(reader.tokens), (text, reader.tokens[reader.at :])
    return value


def formulas(question: str) -> list[str]:
    """Return the inline and display formulas in order, without a final period."""
    found = re.findall(r"\$([^$]+)\$|\\\[(.*?)\\\]", question, re.DOTALL)
    return [(one or two).strip().rstrip(".,;").strip() for one, two in found]


def equations(question: str) -> list[Any]:
    """Return every equation of the question as left side minus right side, in order."""
    made = []
    for formula in formulas(question):
        text = re.sub(r"\\(begin|end)\{[a-z*]+\}|&", " ", formula)
        for line in re.split(r"\\\\|\\qquad|\\quad|,|\\text\{ ?and ?\}", text):
            sides = line.split("=")
            if len(sides) > 1 and "\\neq" not in line and all(side.strip() for side in sides):
                values = [expression(side) for side in sides]
                made += [one - two for one, two in itertools.pairwise(values)]
    return made


def defined(question: str, name: str) -> Any:
    """Return the expression that the question sets equal to ``name`` ("f(x)", "y")."""
    found = []
    for formula in formulas(question):
        for line in re.split(r"\\qquad|\\quad|\\text\{ ?and ?\}", formula):
            left, _, right = line.partition("=")
            if left.strip() == name and right.strip():
                found.append(right.strip().rstrip(".,"))
    assert len(found) == 1, (name, question)
    return expression(found[0])


def exact(value: Any, limit: int = 10**6) -> Fraction:
    """Return the fraction with a small denominator equal to ``value``; raise AssertionError if there is none."""
    real = mpmath.mpf(value) if not isinstance(value, complex) else mpmath.mpf(value.real)
    if isinstance(value, complex):
        assert abs(value.imag) < 1e-7, value
    found = Fraction(str(mpmath.nstr(real, 25))).limit_denominator(limit)
    assert abs(mpmath.mpf(found.numerator) / found.denominator - real) < 1e-7 * max(1, abs(real)), (
        value
    )
    return found
