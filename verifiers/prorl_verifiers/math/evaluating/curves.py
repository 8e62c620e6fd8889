r"""Decide whether two equations are the same: a constant factor apart, or with the same points."""

from __future__ import annotations

from fractions import Fraction

from prorl_verifiers.math.evaluating.equal import (
    DIGITS,
    POSITIVE,
    is_real,
    near,
    points,
    tiny,
    value_pair,
)
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, Value
from prorl_verifiers.math.reading.nodes import Node, symbols
from prorl_verifiers.math.reading.tokens import Unreadable


def same_zeros(gold: Node, answer: Node) -> tuple[bool | None, int]:
    """Return (whether ``gold = 0`` and ``answer = 0`` are the same equation, sign of the constant factor).

    True when their ratio is one constant, or when each curve (solved for a variable in which it is linear)
    lies on the other. The sign is 0 when there is no constant factor.
    """
    names = sorted(symbols(gold, answer))
    ratios = []
    evaluator = Evaluator({}, DIGITS)
    for point in points(names, 0, POSITIVE, "positive"):
        pair = value_pair(gold, answer, point, None)
        if pair is None or isinstance(pair, bool):
            continue
        if (pair[0] == 0) != (pair[1] == 0):
            # whether one side vanishes at every point (0 = 0) and the other at none
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
    there, back = _lies_on(gold, answer, names), _lies_on(answer, gold, names)
    if False in (there, back):
        return False, 0
    return (True if there and back else None), 0


def _lies_on(curve: Node, other: Node, names: list[str]) -> bool | None:
    """Whether points of ``curve = 0`` fulfil ``other = 0``; None when it is not linear in any variable."""
    found: bool | None = None
    for name in names:
        for point in points(names, 40, 3, "positive"):
            try:
                solved = _solve(curve, point, name)
                if solved is None:
                    break
                rest = _at(other, {**point, name: solved})
                scale = _at(other, {**point, name: solved + 1})
            except (Undefined, Unreadable):
                break
            if abs(rest) > abs(scale) * tiny(30):
                return False
            found = True
    return found


def _at(node: Node, point: dict[str, Value]) -> Value:
    return Evaluator(point, DIGITS).float(Evaluator(point, DIGITS).value(node))


def _solve(curve: Node, point: dict[str, Fraction], name: str) -> Value | None:
    """Return the value of ``name`` that puts the point on the curve, or None where it is not linear in it."""
    low, middle, high = (_at(curve, {**point, name: Fraction(value)}) for value in (1, 2, 3))
    slope = middle - low
    if abs(high - 2 * middle + low) > abs(slope) * tiny(30) or slope == 0:
        return None
    if not all(is_real(value) for value in (low, slope)):
        return None
    return 1 - low / slope
