"""Rejects ill-posed items on numbers, dates and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule, unchanged
from prorl_verifiers.logic.formula import exact_value, parse

MOST_TO_SEARCH = 200
"""Maximum number of integers in which to search for primes."""
DIGITS = 12
"""Number of significant digits that decimal_arithmetic asks for."""
_WEEKS = re.compile(r"works for (\d+) weeks every month")
_HALF = re.compile(r"has (\d+) tubes of \w+ paint .* has half as many tubes", re.DOTALL)
_GARBLED = re.compile(r"\bfor [\d.]+ the amount\b|\bin full [\d.]+,")


def _basic_arithmetic(entry: Mapping[str, Any]) -> Flaw | None:
    expression = str(entry["metadata"]["expression"])
    try:
        value = exact_value(parse(expression))
    except ZeroDivisionError:
        return Flaw("impossible", f"division by zero: {expression}")
    if value != Fraction(str(entry["answer"])):
        return Flaw("wrong answer", f"{expression} is {value}, not {entry['answer']}")
    return None


def _decimal_arithmetic(entry: Mapping[str, Any]) -> Flaw | None:
    expression = str(entry["question"]).rstrip().splitlines()[-1].partition("=")[0]
    try:
        value = exact_value(parse(expression))
    except ZeroDivisionError:
        return Flaw("impossible", f"division by zero: {expression}")
    exact = Context(prec=60).divide(Decimal(value.numerator), Decimal(value.denominator))
    rounded = Context(prec=DIGITS, rounding=ROUND_HALF_UP).plus(exact)
    if rounded != Decimal(str(entry["answer"])):
        return Flaw("wrong answer", f"{expression.strip()} is {rounded}, not {entry['answer']}")
    return None


def _power_function(entry: Mapping[str, Any]) -> Flaw | None:
    base, exponent = entry["metadata"]["base"], entry["metadata"]["exponent"]
    if exponent == 0:
        return Flaw("trivial", "the exponent is 0")
    if base < 0 and exponent % 2 == 0:
        return Flaw("ambiguous", f"{base}^{exponent}: -(x^n) or (-x)^n")
    return None


def _count_primes(entry: Mapping[str, Any]) -> Flaw | None:
    size = entry["metadata"]["end"] - entry["metadata"]["start"] + 1
    if size > MOST_TO_SEARCH:
        return Flaw("too large", f"primes among {size} integers")
    return None


def _dice(entry: Mapping[str, Any]) -> Flaw | None:
    if entry["metadata"]["puzzle"]["probability"] in (0, 1):
        return Flaw("trivial", "certain or impossible from the smallest and largest sums")
    return None


def _simple_geometry(entry: Mapping[str, Any]) -> Flaw | None:
    angle = entry["metadata"]["missing_angle_raw"]
    if not 0 < angle < 180:
        return Flaw("impossible", f"a convex polygon with an angle of {angle} degrees")
    return None


def _gsm_symbolic(entry: Mapping[str, Any]) -> Flaw | None:
    question = str(entry["question"])
    if str(entry["answer"]).startswith("-"):
        return Flaw("impossible", f"a count of {entry['answer']}")
    if garbled := _GARBLED.search(question):
        return Flaw("ambiguous", f"a word is missing: {garbled.group()!r}")
    if (weeks := _WEEKS.search(question)) and int(weeks.group(1)) > 4:
        return Flaw("impossible", weeks.group())
    if (tubes := _HALF.search(question)) and int(tubes.group(1)) % 2:
        return Flaw("impossible", f"half of {tubes.group(1)} tubes")
    return None


def _number_format(entry: Mapping[str, Any]) -> Flaw | None:
    metadata = entry["metadata"]
    values = [float(text.replace(",", "")) for text in metadata["formatted_candidates"]]
    best = max(values) if metadata["size"] == "largest" else min(values)
    if values.count(best) > 1:
        return Flaw("ambiguous", f"two candidates are {best}")
    return None


_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{3})?)?")
_HALF_MINUTE = 30


def _time_intervals(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject negative intervals, wrong answers, and answers whose minutes may be truncated or rounded."""
    metadata, answer = entry["metadata"], str(entry["answer"])
    times = [_seconds(clock) for clock in _CLOCK.findall(str(entry["question"]))]
    if len(times) != 2:  # the question has only dates
        return None
    seconds = times[1] - times[0]
    if str(metadata["task_type"]).startswith("time"):
        if seconds < 0:
            return Flaw("impossible", "the end comes before the start")
        if _seconds(answer) != seconds - (
            seconds % 60 if metadata["expected_format"] == "HH:MM" else 0
        ):
            return Flaw("wrong answer", f"{seconds} seconds, not {answer}")
    if str(metadata["expected_format"]).endswith("HH:MM") and seconds % 60 >= _HALF_MINUTE:
        return Flaw("ambiguous", "the minutes may be cut or rounded")
    return None


def _seconds(clock: str) -> Decimal:
    hours, minutes, *seconds = clock.split(":")
    return Decimal(int(hours) * 3600 + int(minutes) * 60) + Decimal(seconds[0] if seconds else 0)


def _calendar_arithmetic(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject questions about a weekday after February that do not state the year."""
    metadata = entry["metadata"]
    if metadata["task"] == "weekday_of_date_from_first_date":
        year, month, _ = str(metadata["target_date"]).split("-")
        if int(month) > 2 and year not in str(entry["question"]):
            return Flaw("ambiguous", "the weekday depends on whether it is a leap year")
    return None


RULES: Mapping[str, Rule] = {
    "basic_arithmetic": _basic_arithmetic,
    "base_conversion": unchanged("source_repr", "target_repr"),
    "count_primes": _count_primes,
    "decimal_arithmetic": _decimal_arithmetic,
    "dice": _dice,
    "fraction_simplification": unchanged("numerator", "simplified_numerator"),
    "gsm_symbolic": _gsm_symbolic,
    "number_filtering": unchanged("original_numbers", "result"),
    "number_format": _number_format,
    "number_sorting": unchanged("original_numbers", "sorted_numbers"),
    "power_function": _power_function,
    "simple_geometry": _simple_geometry,
    "calendar_arithmetic": _calendar_arithmetic,
    "time_intervals": _time_intervals,
}
