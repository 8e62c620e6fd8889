"""Compares single values, with or without a percent sign, degrees or a unit."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from prorl_verifiers.math import units as math_units
from prorl_verifiers.math.evaluating.domain import Domain
from prorl_verifiers.math.evaluating.equal import decimal_places, rounds, rounds_at, same_value
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
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
    walk,
)
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable

_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh log ln".split()  # noqa: SIM905
)


def all_same(results: Sequence[bool | None]) -> bool | None:
    """Return False if one result is False, else None if one is None (undecided), else True."""
    if False in results:
        return False
    return None if None in results else True


def unevaluated(gold: Node, answer: Node) -> str | None:
    """Return why the constant ``answer`` is not evaluated like ``gold``, such as ``2+3``, or None if it is."""
    parts = list(walk(gold)), list(walk(answer))
    if any(isinstance(part, Sym) for side in parts for part in side):
        return None
    calls = [{part.name for part in side if isinstance(part, Call)} for side in parts]
    called = calls[1] - calls[0]
    if called - _FUNCTIONS or (called and not calls[0] & _FUNCTIONS):
        return "the answer is left unevaluated"
    bases = [any(isinstance(p, Num) and p.base not in (0, 10) for p in side) for side in parts]
    if bases == [False, True]:
        return "the answer is left in another base"
    if is_plain(gold) and not _is_literal(answer):
        return "the answer is left unevaluated"
    return None


def is_plain(node: Node) -> bool:
    """Return whether a node is a single number. A sign, percent sign or unit is allowed."""
    match node:
        case Num():
            return True
        case Neg(of=of) | Percent(of=of) | Degrees(of=of) | WithUnit(of=of):
            return is_plain(of)
        case Quotient(top=top, bottom=bottom):
            return is_plain(top) and is_plain(bottom)
        case Ratio(items=items):
            return all(is_plain(item) for item in items)
    return _is_scientific(node)


def _rational(node: Node) -> Fraction | None:
    match node:
        case Num(value=value, decimal=False, base=0, cut=False):
            return value
        case Neg(of=of):
            positive = _rational(of)
            return None if positive is None else -positive
        case Quotient(top=Num() as top, bottom=Num() as bottom):
            parts = _rational(top), _rational(bottom)
            return parts[0] / parts[1] if parts[0] is not None and parts[1] else None
    return None


def _is_scientific(node: Node) -> bool:
    if isinstance(node, Product) and len(node.factors) == 2:
        return isinstance(node.factors[0], Num) and _is_scientific(node.factors[1])
    return isinstance(node, Power) and node.base == Num(Fraction(10)) and is_plain(node.exponent)


def _is_literal(node: Node) -> bool:
    match node:
        case Num() | Const():
            return True
        case Neg(of=of) | Percent(of=of) | Degrees(of=of) | WithUnit(of=of):
            return _is_literal(of)
        case (
            Quotient(top=left, bottom=right)
            | Power(base=left, exponent=right)
            | Root(of=left, index=right)
        ):
            return _is_literal(left) and _is_literal(right)
        case Ratio(items=items):
            return all(_is_literal(item) for item in items)
        case Product(factors=factors, signed=signed):
            if _is_scientific(node):
                return True
            rational = sum(is_plain(factor) or isinstance(factor, Power) for factor in factors)
            return not signed and rational <= 1 and all(_is_literal(factor) for factor in factors)
        case Sum():
            return False
    return False


def is_closed(node: Node) -> bool:
    """Return whether a node is a closed form without variables, such as ``e^{-2}``."""
    parts = list(walk(node))
    irrational = any(isinstance(part, Root | Const | Quotient | Call) for part in parts) or any(
        isinstance(part, Power) and isinstance(part.exponent, Num) and part.exponent.decimal
        for part in parts
    )
    functions = {part.name for part in parts if isinstance(part, Call)}
    return irrational and not symbols(node) and functions <= {"log", "ln"}


MAX_SHIFT = 400
"""Maximum power of ten by which a number with an ellipsis may be multiplied."""
Convert = Callable[[Fraction, str, str], Fraction | None]
"""Takes (value, its unit, target unit). Returns the converted value, or None if this is impossible."""


_PERCENT = re.compile(
    r"[\s.]*(?:\\(?:text|mathrm|mbox)\s*\{\s*)?per\s?cent(?![a-z])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Rules:
    """How answers may differ from the gold.

    ``percent``: True if the gold is a percentage even without a sign; False if ``50`` is wrong for the gold ``50%``.
    ``decimals``: number of decimal places to which answers may be rounded.
    """

    percent: bool | None = None
    convert: Convert | None = None
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value (``core``) and its ``mark``: ``%``, ``deg``, a unit or ""."""

    core: Node
    mark: str = ""


def leaf(node: Node) -> Leaf:
    match node:
        case Neg(of=of):
            inner = leaf(of)
            return Leaf(Neg(inner.core), inner.mark) if inner.mark else Leaf(node)
        case Percent(of=of):
            return Leaf(of, "%")
        case Degrees(of=of):
            return Leaf(of, "deg")
        case WithUnit(of=of, unit=unit):
            return Leaf(of, "%" if _PERCENT.match(unit) else unit)
    return Leaf(node)


FIRST_DIGITS = 4
r"""Minimum significant digits that an answer such as ``2.3148\ldots`` needs to equal an exact value."""


def _cut_digits(node: Node) -> tuple[Num, int] | None:
    match node:
        case Neg(of=of):
            digits = _cut_digits(of)
            return digits and (replace(digits[0], value=-digits[0].value), digits[1])
        case Num(value=value, cut=True):
            size = str(abs(int(value * 10 ** decimal_places(node))))
            return (node, 0) if len(size) >= FIRST_DIGITS else None
        case Product(factors=(Num(cut=True) as number, Power(base=Num(value=ten), exponent=power))):
            exponent = power.of if isinstance(power, Neg) else power
            digits = _cut_digits(number)
            if digits is None or ten != 10 or not isinstance(exponent, Num):
                return None
            whole = exponent.value.denominator == 1 and exponent.value < MAX_SHIFT
            shift = int(exponent.value) * (-1 if isinstance(power, Neg) else 1)
            return (number, shift) if whole else None
    return None


def same_leaf(
    gold: Node, answer: Node, rules: Rules, domain: Domain, final: bool = True
) -> tuple[bool | None, str]:
    """Return whether two expressions are the same answer (None: undecided), and the reason.

    If ``final`` is set, an unevaluated answer such as ``2+3`` is wrong.
    """
    if not (isinstance(gold, EXPRESSIONS) and isinstance(answer, EXPRESSIONS)):
        neither = not isinstance(gold, EXPRESSIONS) and not isinstance(answer, EXPRESSIONS)
        return None if neither else False, ""
    numbers = _rational(gold), _rational(answer)
    if None not in numbers and not rules.percent:
        return numbers[0] == numbers[1], "values compared"
    if is_plain(gold) and symbols(answer) and not same_value(gold, answer, domain):
        return False, "the gold is a number, the answer is not one"
    digits, exact = (gold.of, Neg(answer)) if isinstance(gold, Neg) else (gold, answer)
    if isinstance(digits, Num) and digits.decimal and is_closed(answer) and rounds(exact, digits):
        return True, "the exact form of a long decimal"
    for exact, other in ((gold, answer), (answer, gold)):
        first = _cut_digits(other)
        if first is not None and not symbols(exact):
            scaled = Product((exact, Num(Fraction(10) ** -first[1])))
            places = decimal_places(first[0])
            if rounds_at(scaled, first[0], places, cut=True, rounded=False):
                return True, "the first digits of the exact value"
    core = answer.of if isinstance(answer, Neg) else answer
    if isinstance(core, Product) and _is_scientific(core) and isinstance(core.factors[0], Num):
        core = replace(core.factors[0], value=Evaluator({}).value(core))
    if isinstance(core, Num) and core.decimal and not symbols(gold):
        exact = Neg(gold) if isinstance(answer, Neg) else gold
        limit = rules.decimals
        if rounds(exact, core) or (limit is not None and rounds_at(exact, core, limit)):
            return True, "a decimal of the exact value"
    refusal = unevaluated(gold, answer) if final else None
    if refusal:
        return False, refusal
    if isinstance(gold, Ratio) and isinstance(answer, Ratio):
        if len(gold.items) != len(answer.items):
            return False, "ratios compared"
        pairs = zip(gold.items[1:], answer.items[1:], strict=True)
        results = [
            same_value(Quotient(gold.items[0], g), Quotient(answer.items[0], a), domain)
            for g, a in pairs
        ]
        return all_same(results), "ratios compared"
    if any(isinstance(node, Ratio) and len(node.items) > 2 for node in (gold, answer)):
        return False, "ratios compared"
    left, right = leaf(gold), leaf(answer)
    if "%" in (left.mark, right.mark) or rules.percent:
        if left.mark not in ("", "%") or right.mark not in ("", "%"):
            return False, "a unit is not a percentage"
        gold_is_percentage = left.mark == "%" or bool(rules.percent)
        if gold_is_percentage and right.mark == "%":
            return same_value(left.core, right.core, domain), "percentages compared"
        if gold_is_percentage:
            same = same_value(Percent(left.core), right.core, domain)
            if same is False and rules.percent is not False:
                same = same_value(left.core, right.core, domain)
            return same, "percentages compared"
        same = same_value(left.core, Percent(right.core), domain)
        return (
            same,
            "percentages compared" if same else "only one of gold and answer is a percentage",
        )
    if left.mark == right.mark:
        return _same_core(left.core, right.core, domain)
    marks = {left.mark, right.mark}
    if "deg" in marks and marks & {"", "rad"}:
        # One side is in degrees. The other is in radians or unmarked: radians if it contains \pi, else degrees.
        marked, plain = (left, right) if left.mark == "deg" else (right, left)
        if plain.mark or any(part == Const("pi") for part in walk(plain.core)):
            return same_value(Degrees(marked.core), plain.core, domain), "angles compared"
        return same_value(left.core, right.core, domain), "angles compared"
    if not (left.mark and right.mark):
        if math_units.restricts(right.mark):
            return False, "a condition that the gold does not have"
        return _same_core(left.core, right.core, domain)
    return _same_unit(left, right, rules, domain)


def _same_core(gold: Node, answer: Node, domain: Domain) -> tuple[bool | None, str]:
    if isinstance(gold, Num) and isinstance(answer, Num) and gold.base != answer.base:
        # 52 may omit the base of the gold 52_8, but a different base is a different answer.
        whole = gold.value.denominator == 1 == answer.value.denominator
        if not gold.base or answer.base or not whole:
            same = gold.value == answer.value and 10 in (gold.base, answer.base)
            return same, "digits compared"
        digits, value = "", int(gold.value)
        while value:
            value, digit = divmod(value, gold.base)
            digits = "0123456789"[digit] + digits
        return (digits or "0") == str(answer.value), "digits compared"
    return same_value(gold, answer, domain), "values compared"


def _same_unit(gold: Leaf, answer: Leaf, rules: Rules, domain: Domain) -> tuple[bool | None, str]:
    degrees = {"degC", "degF", "deg"}
    if {gold.mark, answer.mark} <= degrees:
        if answer.mark == "deg":
            return same_value(gold.core, answer.core, domain), "values compared"
        return False, "another unit"
    substances = [mark.partition(" of ")[2] for mark in (gold.mark, answer.mark)]
    if all(substances) and not math_units.same_count(*substances):
        return False, "another unit"
    factor = math_units.ratio(answer.mark, gold.mark)
    if factor is not None:
        converted = answer.core if factor == 1 else Product((Num(factor), answer.core))
        return same_value(
            gold.core, converted, domain
        ), "units converted" if factor != 1 else "values compared"
    if "deg" in (gold.mark, answer.mark) or math_units.differ(answer.mark, gold.mark):
        return False, "another unit"
    in_gold_unit = value = None
    if rules.convert is not None:
        with contextlib.suppress(Undefined, TooLarge, Unreadable, KeyError):
            value = Evaluator({}).value(answer.core)
        if isinstance(value, Fraction):
            in_gold_unit = rules.convert(value, answer.mark, gold.mark)
    if in_gold_unit is not None:
        return same_value(gold.core, Num(in_gold_unit), domain), "units converted"
    if math_units.symbols_only(gold.mark) and math_units.symbols_only(answer.mark):
        return False, "another unit"
    if math_units.same_count(answer.mark, gold.mark):
        return same_value(gold.core, answer.core, domain), "values compared"
    return False, "another unit"
