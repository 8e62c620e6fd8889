"""Scores numeric answers to reasoning-gym's datasets."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from prorl_verifiers.logic.formula import (
    FormulaError,
    exact_value,
    is_antiderivative,
    parse,
    same_polynomial,
    written_numbers,
)
from prorl_verifiers.logic.text import (
    Entry,
    Upstream,
    above_floor,
    complete,
    exact_word,
    number,
    plain,
    same_text,
    whole,
)

FACTORED = 0.5
"""Credit for factors that have the right product but are not all prime (same as upstream)."""
NEAR = 0.5
"""Scores ``exp(-distance)`` up to this become 0. So rounding errors are accepted, but not an error of 1."""


_OPERATORS = {"\u00d7": "*", "\\times": "*", "\\cdot": "*", "\u00f7": "/", "\\div": "/"}
_SIGNS = re.compile("|".join(map(re.escape, _OPERATORS)))


def countdown(answer: str, entry: Entry, upstream: Upstream) -> float:
    metadata = entry["metadata"]
    return _score_expression(answer, metadata["numbers"], int(metadata["target"]))


def puzzle24(answer: str, entry: Entry, upstream: Upstream) -> float:
    return _score_expression(answer, entry["metadata"]["numbers"], 24)


def _score_expression(answer: str, operands: list[int], target: int) -> float:
    try:
        tree = parse(_SIGNS.sub(lambda match: _OPERATORS[match.group()], answer))
        used = sorted(written_numbers(tree)) == sorted(operands)
        return float(used and exact_value(tree) == target)
    except (FormulaError, ZeroDivisionError):
        return 0.0


def antiderivative(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``simple_integration`` and ``intermediate_integration`` by differentiating the answer."""
    metadata = entry["metadata"]
    return float(is_antiderivative(answer, str(metadata["integrand"]), str(metadata["variable"])))


def polynomial(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``polynomial_multiplication``. The gold's terms may be in any order."""
    return float(same_polynomial(answer, str(entry["answer"]), entry["metadata"]["variables"]))


def roots(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``polynomial_equations`` by the fraction of matched roots. Fractions up to one half earn 0."""
    gold = _floats(str(entry["answer"]))
    values = _floats(answer)
    if gold is None or values is None:
        return 0.0
    if not gold or not values:
        return float(not gold and not values)
    places = re.search(r"to (\d{1,2}) decimal places", str(entry["question"]))
    left = list(values)
    matched = 0
    for root in gold:
        gap = 1.001 * 10.0 ** -int(places.group(1)) if places else 1e-3 * max(1, abs(root))
        near = next((value for value in left if abs(value - root) <= gap), None)
        if near is not None:
            left.remove(near)
            matched += 1
    share = matched / max(len(gold), len(values))
    return share if share > 0.5 else 0.0


def _floats(text: str) -> list[float] | None:
    text = re.sub(r"""(["'])(.*)\1""", r"\2", text.strip()).strip()
    values = complete(number(part) for part in text.split(",")) if text else []
    if values is None or len(values) > 100:
        return None
    return [float(value) for value in values]


def complex_number(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``complex_arithmetic`` with reasoning-gym's ``exp(-distance)``, or 0 if this is at most 0.5."""
    if not re.fullmatch(r"[\s()\d.ij+*\u2212-]*", answer.lower()):
        return 0.0
    score = upstream()
    return score if score > NEAR else 0.0


def triangle(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``advanced_geometry`` with reasoning-gym's score, or 0 if this is at most 0.05."""
    if entry["metadata"].get("task_type") == "orthocenter" and answer.count(",") != 1:
        return 0.0
    return max(float(same_text(answer, str(entry["answer"]))), above_floor(answer, entry, upstream))


def factors(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``prime_factorization``. Several factors with the right product that are not all prime earn 0.5."""
    gold = _factors(str(entry["answer"]))
    values = _factors(answer)
    if not values or gold is None:
        return 0.0
    if sorted(values) == sorted(gold):
        return 1.0
    several = len(values) > 1 and all(value > 1 for value in values)
    return FACTORED * (several and math.prod(values) == math.prod(gold))


def _factors(text: str) -> list[int] | None:
    parts = re.split(r"[\u00d7*x]", text.replace("\\times", "*"))
    return complete(map(whole, parts)) if len(parts) <= 200 else None


def rational(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``fraction_simplification``. The fraction must be reduced, in any notation."""
    metadata = entry["metadata"]
    expected = (metadata["simplified_numerator"], metadata["simplified_denominator"])
    return float(_written_fraction(answer) == expected)


def reduced(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``dice``. The fraction must be reduced, in any notation."""
    gold = str(entry["answer"])
    expected = _written_fraction(gold)
    return float(
        plain(answer) == gold or (bool(expected) and _written_fraction(answer) == expected)
    )


def _written_fraction(text: str) -> tuple[int, int] | None:
    text = text.strip().strip("$").strip()
    match = re.fullmatch(r"\\[dt]?frac\s*\{\s*(-?\d{1,60})\s*\}\s*\{\s*(\d{1,60})\s*\}", text)
    match = match or re.fullmatch(r"(-?\d{1,60})\s*/\s*(\d{1,60})", text)
    match = match or re.fullmatch(r"(-?\d{1,60})(/1)?", text)
    return (int(match.group(1)), int((match.group(2) or "1").lstrip("/"))) if match else None


def hexadecimal(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``bitwise_arithmetic``. The integer may be written in base 2, 8, 10 or 16 with its prefix."""
    return float(
        _integer(answer) is not None and _integer(answer) == _integer(str(entry["answer"]))
    )


def _integer(text: str) -> int | None:
    text = text.replace("\u2212", "-").strip().lower()
    if not re.fullmatch(
        r"[+-]?(?:0x[0-9a-f]{1,400}|0b[01]{1,1600}|0o[0-7]{1,500}|\d{1,400})", text
    ):
        return None
    sign = -1 if text[0] == "-" else 1
    text = text.lstrip("+-")
    base = {"0x": 16, "0b": 2, "0o": 8}.get(text[:2], 10)
    return sign * int(text, base)


def candidate(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``number_format``: the answer must be within 5e-4 of the gold, and not closer to another option."""
    text = answer.strip()
    value = _decimal(text)
    if value is None:
        return 0.0
    metadata = entry["metadata"]
    gap = abs(float(value) - metadata["solution"])
    gaps = [abs(float(value) - other) for other in metadata["candidates"]]
    return float(gap < 5e-4 and gap <= min(gaps, default=gap))


_DIGITS = re.compile(r"maximum of (\d{1,3}) significant digits")
_SCIENTIFIC = re.compile(r"[+-]?\d{1,3}(?:\.\d{1,40})?[eE][+-]?\d{1,2}", re.ASCII)


def significant_digits(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``decimal_arithmetic``. The error may be one unit in the last digit that the question requests.

    If the question requests no number of digits, the error may be 0.001, or 0.1 % of a gold below 1.
    """
    value, gold = _decimal(answer), _decimal(str(entry["answer"]))
    if value is None or gold is None:
        return float(plain(answer) == plain(str(entry["answer"])))
    question = str(entry["question"])
    digits = _DIGITS.search(question)
    if digits is None:
        return float(abs(value - gold) * 1000 <= min(Decimal(1), abs(gold)))
    try:
        target = exact_value(parse(question.strip().rpartition("\n")[2].removesuffix("= ?")))
    except (FormulaError, ZeroDivisionError):
        target = Fraction(gold)
    first_place = 0
    if target:
        first_place = (Decimal(target.numerator) / Decimal(target.denominator)).adjusted()
    unit = Fraction(10) ** (first_place - int(digits.group(1)) + 1)
    return float(value == gold or abs(Fraction(value) - target) <= unit)


def _decimal(text: str) -> Decimal | None:
    text = text.strip()
    return Decimal(text) if _SCIENTIFIC.fullmatch(text) else number(text)


def count_or_day(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``calendar_arithmetic``, whose gold is a weekday, a count, or yes or no."""
    value, gold = whole(answer), whole(str(entry["answer"]))
    if gold is not None:
        return float(value == gold)
    return exact_word(answer.rstrip("."), entry, upstream)


_DAYS = re.compile(r"(\d{1,9}) days?")
_CLOCK = re.compile(r"(?:(\d{1,9}) days?,? (?:and )?)?(\d{1,4}):(\d\d)(?::(\d\d(?:\.\d{1,6})?))?")


def duration(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``time_intervals``. The answer must consist of the gold duration."""
    gold = str(entry["answer"])
    expected = _seconds(gold)
    same = plain(answer) == plain(gold)
    return float(same or (expected is not None and _seconds(answer) == expected))


def _seconds(text: str) -> Decimal | None:
    days, clock = _DAYS.fullmatch(plain(text)), _CLOCK.fullmatch(plain(text))
    if days:
        return 86_400 * Decimal(days.group(1))
    if clock is None:
        return None
    day, hours, minutes, seconds = (Decimal(part or 0) for part in clock.groups())
    return 86_400 * day + 3600 * hours + 60 * minutes + seconds
