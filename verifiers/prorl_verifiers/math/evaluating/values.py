"""Evaluates trees at a point, with fractions or mpmath."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from typing import Any, TypeAlias

from prorl_verifiers.math.reading.nodes import (
    Applied,
    Call,
    Const,
    Degrees,
    Neg,
    Node,
    Num,
    Percent,
    Power,
    Product,
    Quotient,
    Ratio,
    Root,
    Sum,
    Sym,
    WithUnit,
    symbols,
)
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable

TRIGONOMETRY = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arccot": "acot", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip


@cache
def numbers(digits: int) -> Any:
    import mpmath  # type: ignore[import-untyped,unused-ignore]

    context = mpmath.MPContext()
    context.dps = digits
    return context


def whole_root(value: int, index: int) -> int | None:
    if value in (0, 1):
        return value
    if value.bit_length() > 4096:
        return None
    if index == 2:
        low = math.isqrt(value)
        return low if low * low == value else None
    low, high = 1, 1 << (value.bit_length() // index + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**index < value:
            low = middle + 1
        else:
            high = middle
    return low if low**index == value else None


Value: TypeAlias = Any
"""A Fraction, or a real or complex mpmath number."""

MAX_BITS = 60_000
"""Maximum bits of an exact fraction without variables; larger values become floating-point."""
MAX_POINT_BITS = 3_000
"""Maximum bits of an exact fraction with variables."""
MAX_EXPONENT = 10**12
MAX_ANGLE = 10**30
MAX_FACTORIAL = 10**6
MAX_EXACT_FACTORIAL = 3000


class Undefined(ArithmeticError):
    """Raised if an expression has no finite value at a point."""


class Evaluator:
    r"""Evaluates trees at one point.

    ``bare_log``: base of ``\log`` without a base; None: e.
    ``real``: raise Undefined if a part of an expression has no real value.
    ``counted``: raise Undefined for a binomial outside 0 <= k <= n.
    """

    def __init__(
        self,
        point: Mapping[str, Value],
        digits: int = 60,
        bare_log: int | None = None,
        real: bool = False,
        counted: bool = False,
    ) -> None:
        self.point, self.digits, self.bare_log = point, digits, bare_log
        self.real, self.counted = real, counted
        self.max_bits = MAX_POINT_BITS if point else MAX_BITS

    def float(self, value: Value) -> Any:
        if isinstance(value, Fraction):
            context = numbers(self.digits)
            return context.mpf(value.numerator) / value.denominator
        return value

    def value(self, node: Node) -> Value:
        match node:
            case Num(value=value):
                return value
            case Sym(name=name):
                return self.point[name]
            case Const(name=name):
                return self.constant(name)
            case Neg(of=of):
                return -self.value(of)
            case Sum(terms=terms):
                return self.total([self.value(term) for term in terms])
            case Product(factors=factors):
                return self.product([self.value(factor) for factor in factors])
            case Quotient(top=top, bottom=bottom):
                return self.divide(self.value(top), self.value(bottom))
            case Power(base=base, exponent=exponent):
                low, high = self.value(base), self.value(exponent)
                whole = high == numbers(self.digits).floor(self.float(high)) if self.real else True
                if not whole and low < 0 and symbols(exponent):
                    raise Undefined("a negative number has a variable exponent")
                return self.power(low, high)
            case Root(of=of, index=index):
                return self.power(self.value(of), self.divide(Fraction(1), self.value(index)))
            case Percent(of=of):
                return self.divide(self.value(of), Fraction(100))
            case Degrees(of=of):
                return self.float(self.value(of)) * numbers(self.digits).pi / 180
            case WithUnit(of=of):
                return self.value(of)
            case Ratio(items=items) if len(items) == 2:
                return self.divide(self.value(items[0]), self.value(items[1]))
            case Call(name=name, args=args):
                return self.call(name, [self.value(argument) for argument in args])
            case Applied(name=name, args=args):
                return self.applied(name, [self.value(argument) for argument in args])
        raise Unreadable("the expression has no value")

    def constant(self, name: str) -> Value:
        context = numbers(self.digits)
        if name == "inf":
            raise Undefined("the value is infinite")
        return {"pi": +context.pi, "e": +context.e, "i": context.mpc(0, 1)}[name]

    def total(self, values: list[Value]) -> Value:
        if all(isinstance(value, Fraction) for value in values):
            return self.bounded(sum(values, Fraction(0)))
        total = self.float(values[0])
        for value in values[1:]:
            total = total + self.float(value)
        return total

    def product(self, values: list[Value]) -> Value:
        exact = Fraction(1)
        inexact = None
        for value in values:
            if isinstance(value, Fraction) and isinstance(exact, Fraction):
                exact = self.bounded(exact * value)
            else:
                inexact = self.float(value) if inexact is None else inexact * self.float(value)
        if inexact is None:
            return exact
        return exact if exact == 0 and isinstance(exact, Fraction) else self.float(exact) * inexact

    def divide(self, top: Value, bottom: Value) -> Value:
        if bottom == 0:
            raise Undefined("division by zero")
        if isinstance(top, Fraction) and isinstance(bottom, Fraction):
            return self.bounded(top / bottom)
        return self.float(top) / self.float(bottom)

    def bounded(self, value: Value) -> Value:
        if isinstance(value, Fraction):
            bits = value.numerator.bit_length() + value.denominator.bit_length()
            return value if bits <= self.max_bits else self.float(value)
        return value

    # --------------------------------------------------------------------------------------- powers

    def power(self, base: Value, exponent: Value) -> Value:
        """Return ``base ** exponent``. Odd roots of negative real numbers are real."""
        if abs(exponent) > MAX_EXPONENT:
            raise TooLarge("a power is too large")
        if base == 0:
            if not self.real_part(exponent) > 0:
                raise Undefined("zero has an exponent that is not positive")
            return Fraction(0)
        if isinstance(exponent, Fraction):
            if isinstance(base, Fraction):
                return self.exact_power(base, exponent)
            if exponent.denominator == 1:
                return base ** int(exponent)
            if exponent.denominator % 2 and getattr(base, "imag", 0) == 0 and base.real < 0:
                root = self.float_power(-base.real, self.float(exponent))
                return -root if exponent.numerator % 2 else root
        return self.float_power(self.float(base), self.float(exponent))

    def real_part(self, value: Value) -> Any:
        return value if isinstance(value, Fraction) else value.real

    def exact_power(self, base: Fraction, exponent: Fraction) -> Value:
        top, bottom = exponent.numerator, exponent.denominator
        if bottom == 1:
            bits = (base.numerator.bit_length() + base.denominator.bit_length()) * abs(top)
            if bits <= self.max_bits or abs(base) == 1:
                return base ** (top if abs(base) != 1 else top % 2)
            return self.float(base) ** top
        if base < 0 and bottom % 2:
            root = self.exact_power(-base, Fraction(1, bottom))
            return self.power(-root, Fraction(top))
        if bottom <= 64 and base > 0:
            parts = [whole_root(part, bottom) for part in (base.numerator, base.denominator)]
            if parts[0] is not None and parts[1] is not None:
                return self.power(Fraction(parts[0], parts[1]), Fraction(top))
        return self.float_power(self.float(base), self.float(exponent))

    def float_power(self, base: Any, exponent: Any) -> Any:
        context = numbers(self.digits)
        if self.real and base < 0:
            if base > -self.tiny():
                return context.mpf(0)
            raise Undefined("a negative number has no real root")
        if exponent == 0.5:
            return context.sqrt(base)
        logarithm = context.log(base)
        if abs(logarithm * exponent) > MAX_EXPONENT:
            raise TooLarge("a power is too large")
        return context.exp(logarithm * exponent)

    # ------------------------------------------------------------------------------------ functions

    def tiny(self) -> Any:
        return numbers(self.digits).mpf(10) ** (15 - self.digits)

    def call(self, name: str, values: list[Value]) -> Value:
        if not values:
            raise Undefined("a function has no argument")
        first = values[0]
        if name == "factorial":
            return self.factorial(first)
        if name == "binomial":
            return self.binomial(*values)
        if name == "permutations":
            return self.product([self.binomial(*values), self.factorial(values[1])])
        if name == "abs":
            return abs(first)
        if name in ("floor", "ceil", "max", "min", "gcd", "lcm"):
            return self.whole(name, values)
        if name in ("log", "ln"):
            return self.logarithm(name, values)
        argument = self.float(first)
        if abs(argument) > MAX_ANGLE or (name.endswith("h") and abs(argument) > 10**6):
            raise TooLarge("an argument is too large")
        if name in TRIGONOMETRY:
            return self.trigonometry(name, argument)
        raise Unreadable(f"the function {name} cannot be evaluated")

    def trigonometry(self, name: str, argument: Any) -> Any:
        context = numbers(self.digits)
        if self.real and name in ("arcsin", "arccos") and abs(argument) > 1:
            if abs(argument) > 1 + self.tiny():
                raise Undefined("the argument of arcsin or arccos is outside [-1, 1]")
            argument = context.mpf(1 if argument > 0 else -1)
        try:
            return getattr(context, TRIGONOMETRY[name])(argument)
        except (ZeroDivisionError, ValueError) as error:
            raise Undefined("a function is undefined at this point") from error

    def logarithm(self, name: str, values: list[Value]) -> Value:
        context = numbers(self.digits)
        base = values[1] if len(values) > 1 else None
        if base is None and name == "log" and self.bare_log:
            base = Fraction(self.bare_log)
        if values[0] == 0 or (base is not None and base in (0, 1)):
            raise Undefined("a logarithm of zero is undefined")
        if self.real and (values[0] < 0 or (base is not None and base < 0)):
            raise Undefined("a negative number has no real logarithm")
        value = context.log(self.float(values[0]))
        return value if base is None else value / context.log(self.float(base))

    def whole(self, name: str, values: list[Value]) -> Value:
        if any(getattr(value, "imag", 0) != 0 for value in values):
            raise Undefined("complex numbers cannot be ordered")
        if name in ("max", "min"):
            return (max if name == "max" else min)(values, key=lambda value: self.float(value).real)
        if name in ("gcd", "lcm"):
            if not all(isinstance(value, Fraction) and value.denominator == 1 for value in values):
                raise Undefined("gcd and lcm need integers")
            return Fraction((math.gcd if name == "gcd" else math.lcm)(*map(int, values)))
        value = values[0]
        if abs(value) > MAX_ANGLE and not isinstance(value, Fraction):
            raise TooLarge("an argument is too large")
        if not isinstance(value, Fraction):
            value = Fraction(str(numbers(self.digits).nstr(value.real, self.digits - 10)))
        return Fraction(math.floor(value) if name == "floor" else math.ceil(value))

    def factorial(self, value: Value) -> Value:
        if isinstance(value, Fraction) and value.denominator == 1:
            if value < 0:
                raise Undefined("a factorial of a negative number")
            if value <= MAX_EXACT_FACTORIAL:
                return Fraction(math.factorial(int(value)))
        return self.gamma(self.float(value) + 1)

    def gamma(self, value: Any) -> Any:
        if abs(value) > MAX_FACTORIAL:
            raise TooLarge("a factorial is too large")
        try:
            return numbers(self.digits).gamma(value)
        except (ValueError, ZeroDivisionError) as error:
            raise Undefined("a pole of the gamma function") from error

    def binomial(self, n: Value, k: Value) -> Value:
        if self.counted and not 0 <= self.float(k).real <= self.float(n).real:
            raise Undefined("a binomial coefficient is outside 0 <= k <= n")
        if isinstance(k, Fraction) and k.denominator == 1 and 0 <= k <= 300:
            result: Value = Fraction(1)
            for i in range(int(k)):
                result = self.divide(
                    self.product([result, self.total([n, Fraction(-i)])]), Fraction(i + 1)
                )
            return result
        if (
            isinstance(n, Fraction)
            and isinstance(k, Fraction)
            and n.denominator == k.denominator == 1
        ):
            if 0 <= k <= n <= MAX_EXACT_FACTORIAL:
                return Fraction(math.comb(int(n), int(k)))
            if k < 0 or 0 <= n < k:
                return Fraction(0)
        top, low = self.float(n), self.float(k)
        return self.gamma(top + 1) / (self.gamma(low + 1) * self.gamma(top - low + 1))

    def applied(self, name: str, values: list[Value]) -> Value:
        """Evaluate an unknown function ``f`` as a fixed smooth function that depends on its name."""
        context = numbers(self.digits)
        seed = int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "big") % 997 + 2
        argument = context.mpf(seed) / 991
        for place, value in enumerate(values):
            if abs(value) > MAX_ANGLE:
                raise TooLarge("an argument is too large")
            argument = argument + self.float(value) * (context.mpf(7 + place) / 5)
        return context.sin(argument) + context.cos(argument * argument) / 3
