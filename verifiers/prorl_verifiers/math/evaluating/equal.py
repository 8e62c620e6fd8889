"""Compare expressions by value and equations by their solutions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from hashlib import blake2b

from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, Value, numbers
from prorl_verifiers.math.reading.nodes import (
    Call,
    Const,
    Neg,
    Node,
    Num,
    Power,
    Product,
    Sym,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable

RELATIVE_TOLERANCE = 1e-6
"""Tolerance between an irrational gold and a decimal answer; rationals and decimal golds are compared exactly."""
LONG_DECIMAL = 10
"""A decimal with at least this many significant digits may stand for the exact value that it rounds."""
DIGITS, _CONFIRM = 60, 300
POSITIVE, _WHOLE = 5, 10


def same_value(gold: Node, answer: Node) -> bool | None:
    """Return whether two expressions are equal, or None if undecided."""
    same = _same(gold, answer, None)
    if same is False and _bare_logarithm(gold) != _bare_logarithm(answer):
        return _same(gold, answer, 10)
    return same


def _same(gold: Node, answer: Node, bare_log: int | None) -> bool | None:
    ends = infinite(gold), infinite(answer)
    if ends != (0, 0):
        return ends[0] == ends[1]
    names = sorted(symbols(gold, answer))
    if not names:
        try:
            gold_value = Evaluator({}, DIGITS, bare_log).value(gold)
        except (Undefined, Unreadable):
            return None
        try:
            answer_value = Evaluator({}, DIGITS, bare_log).value(answer)
        except (Undefined, TooLarge):
            return False
        except Unreadable:
            return None
        exact = isinstance(gold_value, Fraction), isinstance(answer_value, Fraction)
        if all(exact):
            return bool(gold_value == answer_value)
        if near(gold_value, answer_value, DIGITS):
            sharp = Evaluator({}, _CONFIRM, bare_log)
            return near(sharp.value(gold), sharp.value(answer), _CONFIRM)
        if exact[1] and any(isinstance(part, Num) and part.decimal for part in walk(answer)):
            return bool(_relative(gold_value, answer_value) <= RELATIVE_TOLERANCE)
        if 0 in (gold_value, answer_value) and _relative(gold_value, answer_value, floor=1) < tiny(
            40
        ):
            return None
        return False
    complex_unit = any(part == Const("i") for node in (gold, answer) for part in walk(node))
    real = unreal = different = 0
    for point in points(names, 0, POSITIVE, "positive"):
        pair = value_pair(gold, answer, point, bare_log)
        if pair is None:
            continue
        if isinstance(pair, bool):
            return None if pair else False
        agree = near(*pair, DIGITS)
        if complex_unit or (is_real(pair[0]) and is_real(pair[1])):
            if not agree:
                return _same_for_integers(gold, answer, names, bare_log)
            real += 1
        elif agree:
            unreal += 1
        else:
            different += 1
    if real >= 3:
        return True if complex_unit else _same_for_signs(gold, answer, names, bare_log)
    return True if not different and real + unreal >= 4 else None


def rounds(exact: Node, decimal: Num) -> bool:
    """Return whether a decimal of ten or more digits is ``exact`` rounded or truncated."""
    places = decimal_places(decimal)
    return len(str(abs(int(decimal.value * 10**places)))) >= LONG_DECIMAL and rounds_at(
        exact, decimal, places, cut=True
    )


def rounds_at(
    exact: Node, decimal: Num, places: int, cut: bool = False, rounded: bool = True
) -> bool:
    """Return whether a decimal is ``exact`` ``rounded`` or ``cut`` (truncated) to ``places``."""
    if symbols(exact) or decimal_places(decimal) > places or places > DIGITS:
        return False
    try:
        evaluator = Evaluator({}, 3 * DIGITS)
        value = evaluator.float(evaluator.value(exact))
    except (Undefined, Unreadable):
        return False
    if getattr(value, "imag", 0) != 0 or not 0 < abs(value) < 10**DIGITS:
        return False
    scaled, digits = value.real * 10**places, int(decimal.value * 10**places)
    floor = numbers(3 * DIGITS).floor
    whole = int(floor(abs(scaled)))
    near_by = [int(floor(abs(scaled) * 2 + 1)) // 2] * rounded + [whole] * cut
    return (digits >= 0) == (scaled >= 0) and abs(digits) in near_by


def decimal_places(number: Num) -> int:
    places, bottom = 0, number.value.denominator
    for factor in (10, 2, 5):
        while bottom % factor == 0:
            bottom //= factor
            places += 1
    return places


def infinite(node: Node) -> int:
    """Return 1 or -1 for an infinity, else 0."""
    if isinstance(node, Neg):
        return -infinite(node.of)
    return 1 if node == Const("inf") else 0


def _bare_logarithm(node: Node) -> bool:
    return any(
        isinstance(part, Call) and part.name == "log" and len(part.args) == 1 for part in walk(node)
    )


# ------------------------------------------------------------------------------------------- constants


def near(left: Value, right: Value, digits: int) -> bool:
    """Return whether two values agree in all but the last 15 of ``digits`` digits."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    return bool(_relative(left, right, digits) <= tiny(digits - 15))


@cache
def tiny(places: int) -> Value:
    return numbers(DIGITS).mpf(10) ** -places


def _relative(left: Value, right: Value, digits: int = DIGITS, floor: int = 0) -> Value:
    evaluator = Evaluator({}, digits)
    left, right = evaluator.float(left), evaluator.float(right)
    size = max(abs(left), abs(right), floor)
    return abs(left - right) / size if size else 0


# ------------------------------------------------------------------------------------------- functions


def points(names: list[str], start: int, count: int, kind: str) -> Iterator[dict[str, Fraction]]:
    """Yield fixed points: ``positive``, ``signed`` (one coordinate negative) or ``whole``."""
    for index in range(start, start + count):
        point = {}
        for name in names:
            digest = blake2b(f"{index} {name}".encode(), digest_size=8).digest()
            number = int.from_bytes(digest[:4], "big")
            if kind == "whole":
                point[name] = Fraction(number % 12 + 1)
                continue
            value = Fraction(number % 97 + 2, 100) + index % 4
            point[name] = value
        if kind == "signed":
            flipped = names[index % len(names)]
            point[flipped] = -point[flipped]
        yield point


def value_pair(
    gold: Node, answer: Node, point: dict[str, Fraction], bare_log: int | None
) -> tuple[Value, Value] | bool | None:
    """Return both values, None to skip the point, True if undecided, False if too large."""
    evaluator = Evaluator(point, DIGITS, bare_log)
    try:
        right = evaluator.value(gold)
    except Undefined:
        return None
    except Unreadable:
        return True
    try:
        return right, evaluator.value(answer)
    except Undefined:
        return None
    except TooLarge:
        return False
    except Unreadable:
        return True


def is_real(value: Value) -> bool:
    imaginary = abs(getattr(value, "imag", 0))
    return bool(imaginary == 0 or imaginary < abs(value) * tiny(40))


def _same_for_signs(
    gold: Node, answer: Node, names: list[str], bare_log: int | None
) -> bool | None:
    absolute = [
        any(isinstance(part, Call) and part.name == "abs" for part in walk(node))
        for node in (gold, answer)
    ]
    for point in points(names, 2 * len(names), 2 * len(names), "signed"):
        pair = value_pair(gold, answer, point, bare_log)
        if pair is None or isinstance(pair, bool):
            continue
        real = [is_real(value) for value in pair]
        if all(real) and not near(*pair, DIGITS):
            return False if absolute[0] != absolute[1] else None
        if real[0] != real[1] and absolute[0] != absolute[1]:
            return False
    return True


def _same_for_integers(
    gold: Node, answer: Node, names: list[str], bare_log: int | None
) -> bool | None:
    """Return False unless the formulas require integers and agree at integers."""
    if not any(_wants_integers(part) for node in (gold, answer) for part in walk(node)):
        return False
    agreed = 0
    for point in points(names, 20, _WHOLE, "whole"):
        pair = value_pair(gold, answer, point, bare_log)
        if pair is None or isinstance(pair, bool):
            continue
        if not near(*pair, DIGITS):
            return False
        agreed += 1
    return True if agreed >= 6 else None


def _wants_integers(part: Node) -> bool:
    if isinstance(part, Call) and part.name in (
        "floor",
        "ceil",
        "factorial",
        "binomial",
        "gcd",
        "lcm",
    ):
        return bool(symbols(part))
    if isinstance(part, Power) and symbols(part.exponent):
        return isinstance(part.base, Neg) and not symbols(part.base)
    if isinstance(part, Call) and part.name in ("sin", "cos", "tan"):
        factors = part.args[0].factors if isinstance(part.args[0], Product) else ()
        return Const("pi") in factors and any(isinstance(factor, Sym) for factor in factors)
    return False


def same_zeros(gold: Node, answer: Node) -> tuple[bool | None, int]:
    """Return (whether ``gold = 0`` and ``answer = 0`` are equivalent, sign of their ratio or 0).

    They are equivalent if the ratio is constant or each curve lies on the other.
    """
    names = sorted(symbols(gold, answer))
    ratios = []
    evaluator = Evaluator({}, DIGITS)
    for point in points(names, 0, POSITIVE, "positive"):
        pair = value_pair(gold, answer, point, None)
        if pair is None or isinstance(pair, bool):
            continue
        if (pair[0] == 0) != (pair[1] == 0):
            # Check whether one side vanishes at every point (0 = 0) and the other at none.
            pairs = (
                value_pair(gold, answer, at, None) for at in points(names, 0, POSITIVE, "positive")
            )
            zeros = [tuple(value == 0 for value in one) for one in pairs if isinstance(one, tuple)]
            if len(zeros) >= 3 and len(set(zeros)) == 1:
                return False, 0
        if pair[0] == 0 or pair[1] == 0:
            break
        ratios.append(evaluator.divide(pair[0], pair[1]))
    if len(ratios) >= 3 and all(near(ratio, ratios[0], DIGITS) for ratio in ratios):
        return True, (1 if evaluator.real_part(ratios[0]) > 0 else -1)
    forward, backward = _lies_on(gold, answer, names), _lies_on(answer, gold, names)
    if False in (forward, backward):
        return False, 0
    return (True if forward and backward else None), 0


def _lies_on(curve: Node, other: Node, names: list[str]) -> bool | None:
    """Return whether points of ``curve = 0`` satisfy ``other = 0``, or None."""
    lies: bool | None = None
    for name in names:
        for point in points(names, 40, 3, "positive"):
            try:
                low, middle, high = (
                    _value_at(curve, {**point, name: Fraction(at)}) for at in (1, 2, 3)
                )
                slope = middle - low
                curved = abs(high - 2 * middle + low) > abs(slope) * tiny(30)
                if curved or slope == 0 or not is_real(low) or not is_real(slope):
                    break
                solved = 1 - low / slope
                value = _value_at(other, {**point, name: solved})
                scale = _value_at(other, {**point, name: solved + 1})
            except (Undefined, Unreadable):
                break
            if abs(value) > abs(scale) * tiny(30):
                return False
            lies = True
    return lies


def _value_at(node: Node, point: dict[str, Value]) -> Value:
    return Evaluator(point, DIGITS).float(Evaluator(point, DIGITS).value(node))
