r"""Parses scientific numbers: ``\approx 5{,}2\,\mathrm{km}``, ``(5.0 \pm 0.1)\times10^3 m``, ``5 to 6 m``.

A comma groups digits in ``1,234`` and is decimal in ``1,5``, ``0,125`` and ``1234,567``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prorl_verifiers.libraries import Loading
from prorl_verifiers.notation.quantities import (
    Quantity,
    is_percent,
    one_power,
    read_quantity,
    split_number,
    unit_powers,
)
from prorl_verifiers.notation.unit_text import MAX_UNIT, read_unit

MAX_NUMBER = 2000
"""Maximum characters of a number with its unit."""

_ABOUT = re.compile(
    r"^(?:\\text\s?\{\s*)?(?:approximately|approx\.?|about|roughly|around|nearly|ca\.|circa|~|≈|≃|\\approx|\\sim|\\simeq)\s?\}?[\s~]*",
    re.IGNORECASE,
)
_COMMA = re.compile(r"(?<![\d.,])(\d+)(?:,|\{,\})(\d+)(?![\d.,{]|\s*,)")
_PAIR = re.compile(r"\s*[(\[]\s*[+-]?\d+\s*,\s*[+-]?\d+\s*[)\]]")
"""A pair such as ``(4,5)``, whose comma is not decimal."""
_PLUS_MINUS = re.compile(
    r"(?:\\pm(?![A-Za-z])|±|\+\s?/\s?-|\+-)\s*(\d+(?:\.\d+)?(?:\s*\\times\s*10\^\{?[+-]?\d{1,3}\}?)?)\s?(%)?"
)
_SHORT_ERROR = re.compile(r"(?<=\d)\.?\((\d{1,3})\)(?=\s*(?:$|[a-zA-Z\\~×·°%µΩ]))")
_BRACKETED = re.compile(
    r"^([+-]?)\s*[(\[]\s*([^()\[\],;]{1,60}?)\s*[)\]](?=\s*(?:$|\\|[a-zA-Z°%*×]))"
)
_BEHIND_BRACKET = re.compile(
    r"^[+-]?\s*[(\[][^()\[\]]*[)\]]\s*\\(?:times|cdot)\s*10\^\{?([+-]?\d{1,3})\}?"
)
_RANGE = re.compile(
    r"\s*(?:\\(?:text|mathrm|mbox)\s*\{\s*(?:to|and|-{1,3}|–|—)\s*\}|\{-\}|(?<=[\d\s}%])\bto\b|–|—|---?"
    r"|(?<=[\d}])\s*(?:[-~∼〜]|\\sim)\s*(?=[\d.]))\s*"
)
_FROM = re.compile(r"^(?:\\text\{ ?)?(?:between|from) ?\}? ?(?=[-+\\$\d.])", re.IGNORECASE)
_BETWEEN = re.compile(r"^between (.+?) and (.+)$", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:\\text ?\{[^{}\d]{0,60}(?:is|are|equals|:) ?\} ?|[A-Za-z][A-Za-z ]{0,60} (?:is|are|equals) ?:? ?|[A-Za-z]{2,20}: ?)(?=[$+\-\\\d.(])"
)
_WHOLE = re.compile(
    r"^\\(?:text|textbf|mathrm|mathbf|boldsymbol|mbox|textrm)\s?\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}$"
)
_DIRECTION = re.compile(
    r",? ?(\\text ?\{ ?)?\(?(?:to the |towards? (?:the )?|due )?(?<![A-Za-z\\])(?:left|right|east|west|north|south|upwards?"
    r"|downwards?|up|down|clockwise|counterclockwise|outwards?|inwards?)\)? ?(\}?)$",
    re.IGNORECASE,
)
_UNIT_START = re.compile(
    r"\\(?:text|mathrm|mbox|textrm|rm|si|unit|operatorname)(?![A-Za-z])|\\?%|\^\s*\{?\s*\\circ|°|\\degree"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with a unit, and its uncertainty in this unit."""

    quantity: Quantity
    uncertainty: Fraction | None = None


def read_measure(text: str, unit: str, loading: Loading) -> Measure | None:
    """Parse a text that consists of one number, or return None.

    Only a known unit, the expected ``unit`` or a direction ("upward") may follow the number.
    """
    if len(text) > MAX_NUMBER:
        return None
    text = " ".join(text.split()).strip("$ ")
    text = _LEAD.sub("", _WHOLE.sub(r"\1", text).strip())
    text = _DIRECTION.sub(lambda m: "" if m.group(1) else m.group(2), _ABOUT.sub("", text))
    text = one_power(_decimal_point(text))
    text, uncertainty, last_digits = _without_uncertainty(text)
    read = split_number(_BRACKETED.sub(r"\1\2", text))
    if read is None:
        return None
    quantity, behind = read
    behind = behind.strip()
    if last_digits and quantity.decimals is not None:
        uncertainty = last_digits * Fraction(10) ** quantity.decimals
    if is_percent(behind):
        percent = replace(
            quantity, value=quantity.value / 100, percent=True, integer=False,
            decimals=None if quantity.decimals is None else quantity.decimals - 2,
        )  # fmt: skip
        return Measure(percent, None if uncertainty is None else uncertainty / 100)
    if behind and not is_unit(behind, unit, loading):
        plain = read_quantity(text, unit)
        return None if plain is None else Measure(plain)
    if uncertainty is not None:
        power = None if last_digits else _BEHIND_BRACKET.match(text)
        uncertainty *= Fraction(10) ** (int(power.group(1)) if power else 0)
        if quantity.value and uncertainty > abs(quantity.value) / 2:
            return None
    return Measure(replace(quantity, unit=behind), uncertainty)


def is_unit(text: str, unit: str, loading: Loading) -> bool:
    if len(text) > MAX_UNIT or not text.strip():
        return False
    readings = read_unit(text)
    if not readings or not readings[0]:
        return False
    if unit and unit_powers(text) == unit_powers(unit):
        return True
    from prorl_verifiers.notation.units import is_known

    loading("prorl_verifiers.notation.loaded_pint")
    return is_known(text)


def split_unit(text: str, unit: str, loading: Loading) -> tuple[str, str]:
    r"""Split ``2\sqrt{3}\,\mathrm{m}`` into the formula and the unit, which is "" if missing."""
    if len(text) > MAX_NUMBER:
        return text, ""
    text = " ".join(text.split())
    for place in list(_UNIT_START.finditer(text))[:20]:
        behind = text[place.start() :]
        if place.start() and is_unit(behind.rstrip("$ "), unit, loading):
            return text[: place.start()].rstrip("\\,;:~ {"), behind.rstrip("$ ")
    bare = re.search(r"(?<=[\s})\d])([A-Za-zµΩ][A-Za-zµΩ/^\d{}*·-]{0,20})$", text)
    if (
        bare
        and unit
        and bare.start()
        and unit_powers(bare.group()) in (unit_powers(unit), {"rad": 1})
    ):
        return text[: bare.start()].rstrip("\\,;:~ "), bare.group()
    return text, ""


def read_range(text: str, unit: str, loading: Loading) -> tuple[Measure, Measure] | None:
    """Parse an ascending range such as ``5-6 m`` into its two ends, or return None."""
    if len(text) > MAX_NUMBER:
        return None
    text = " ".join(text.split())
    text = _FROM.sub("", _BETWEEN.sub(r"\1 to \2", text))
    ends = _RANGE.split(text)
    if len(ends) != 2:
        return None
    low, high = (read_measure(end, unit, loading) for end in ends)
    if low is None or high is None:
        return None
    if high.quantity.unit and not low.quantity.unit:
        low = replace(low, quantity=replace(low.quantity, unit=high.quantity.unit))
    if high.quantity.percent and not low.quantity.percent:
        old = low.quantity
        if old.unit:
            return None
        decimals = None if old.decimals is None else old.decimals - 2
        low = Measure(Quantity(old.value / 100, True, "", decimals, False))
    return (low, high) if low.quantity.value < high.quantity.value else None


def _decimal_point(text: str) -> str:
    if _PAIR.match(text):
        return text

    def point(match: re.Match[str]) -> str:
        whole, part = match.groups()
        grouped = len(part) == 3 and len(whole) <= 3 and not whole.startswith("0")
        return match.group() if grouped else f"{whole}.{part}"

    return _COMMA.sub(point, text)


def _without_uncertainty(text: str) -> tuple[str, Fraction | None, int]:
    errors = list(_PLUS_MINUS.finditer(text))
    if len(errors) != 1 or errors[0].start() == 0:
        short = _SHORT_ERROR.search(text)
        return _SHORT_ERROR.sub("", text, count=1), None, int(short.group(1)) if short else 0
    match = errors[0]
    number = split_number(match.group(1))
    remainder = (text[: match.start()].rstrip() + " " + text[match.end() :].lstrip()).strip()
    if number is None or match.group(2):
        return remainder, None, 0
    return remainder.replace(" )", ")"), number[0].value, 0


FLOOR = Fraction(3, 1000)
CEILING = Fraction(5, 100)
CEILING_OF_ZEROS = Fraction(1, 100)


def allowed_difference(
    gold: Quantity, tolerance: Any, uncertainty: Fraction | None = None
) -> Fraction:
    """Return the largest accepted difference from ``gold``, in the gold's unit."""
    size = abs(gold.value)
    if isinstance(tolerance, Mapping):
        relative = Fraction(str(tolerance.get("rel") or 0))
        return max(size * relative, Fraction(str(tolerance.get("abs") or 0)))
    if tolerance is not None:
        return size * Fraction(str(tolerance))
    if gold.integer and not gold.unit and uncertainty is None:
        return Fraction(0)
    if size == 0:
        return uncertainty or Fraction(0)
    # Allow half a unit of the last significant digit; final zeros of an integer are not significant.
    half, ceiling = Fraction(0), CEILING
    if gold.decimals is not None:
        last_place = gold.decimals
        if gold.integer:
            digits = str(int(size))
            zeros = len(digits) - len(digits.rstrip("0"))
            if zeros:
                last_place, ceiling = last_place + zeros, CEILING_OF_ZEROS
        half = Fraction(10) ** last_place / 2
    # Allow one unit in the third significant digit, such as 1/100 for 3.14159.
    first_place = len(str(size.numerator)) - len(str(size.denominator))
    if Fraction(10) ** first_place > size:
        first_place -= 1
    third_digit = Fraction(10) ** (first_place - 2)
    least = max(size * FLOOR, third_digit / 2)
    return max(uncertainty or Fraction(0), min(max(half, least), size * ceiling))
