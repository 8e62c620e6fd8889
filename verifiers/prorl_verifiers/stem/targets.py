"""Parses one part of a STEM reference. The most specific types are tried first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeAlias, assert_never

from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.targets import kind as math_kind
from prorl_verifiers.math.targets import parse_gold
from prorl_verifiers.notation.quantities import Quantity
from prorl_verifiers.stem.chemistry import has_coefficient, is_formula
from prorl_verifiers.stem.kinds import Direction, Nuclide, read_date, read_nuclide, split_direction
from prorl_verifiers.stem.numbers import Measure, read_measure, read_range
from prorl_verifiers.stem.vectors import names_a_quantity, read_vector

EQUALS = re.compile(
    r"\\(?:approx|simeq|sim|thickapprox|equiv|cong)(?![a-zA-Z])|≈|≃|&=|(?<![<>!:])="
)
_FACTOR = re.compile(
    r"\s*\$?\s*(?:\\(?:mathrm|text)\s*\{\s*)?(10\s*\^\s*(?:\{\s*[+-]?\d+\s*\}|[+-]?\d))(?:\s*\}(?=\s*\\))?(.*)",
    re.DOTALL,
)
_NAME = re.compile(
    r"\s*(?:\\?[A-Za-zΔµ][\w\\{}'Δ]{0,30}|\\text\{[^{}]{1,40}\}|[A-Za-z ]{1,40})\s*(?:\([^()]{1,20}\))?\s*"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number with a unit. ``bare``: the number without the power of ten of a unit such as ``10^3 kg``."""

    measure: Measure
    bare: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Directed:
    magnitude: Number
    direction: Direction


@dataclass(frozen=True, slots=True)
class Range:
    """A range: (smaller end, larger end)."""

    ends: tuple[Number, Number]


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector whose components have the same unit."""

    components: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Chemical:
    text: str


@dataclass(frozen=True, slots=True)
class Molecule:
    smiles: str


@dataclass(frozen=True, slots=True)
class Mathematical:
    text: str


Target: TypeAlias = (
    Number | Directed | Range | Vector | Chemical | Molecule | Nuclide | date | Mathematical
)


def parse_target(reference: Mapping[str, Any], loading: Loading) -> Target:
    text, unit = str(reference["answer"]), str(reference.get("unit") or "")
    if reference.get("format") == "smiles":
        return Molecule(text)
    nuclide = None if unit else read_nuclide(text)
    day = None if unit or nuclide else read_date(text)
    if nuclide or day:
        return nuclide or day  # type: ignore[return-value]
    number = None if not unit and has_coefficient(text) else read_number(text, unit, loading)
    directed = split_direction(text)
    if directed is not None:
        magnitude = read_number(directed[0], unit, loading)
        if magnitude is not None:
            return Directed(magnitude, directed[1])
    if number is not None:
        return number
    ends = read_range(value_side(text), unit, loading)
    if ends is not None:
        unit = unit or ends[1].quantity.unit
        low, high = (
            end
            if end.quantity.unit or end.quantity.percent
            else Measure(replace(end.quantity, unit=unit))
            for end in ends
        )
        return Range((Number(low), Number(high)))
    vector = read_vector(text, unit, loading)
    if vector is not None:
        return Vector(tuple(Number(Measure(part)) for part in vector))
    return Chemical(text) if is_formula(text) else Mathematical(text)


def value_side(text: str) -> str:
    """Return the text after the equals sign in ``F = 5 N``. Return other texts unchanged."""
    sides = EQUALS.split(text)
    named = len(sides) == 2 and (
        not sides[0].strip() or _NAME.fullmatch(sides[0]) or names_a_quantity(sides[0])
    )
    return sides[1] if named else text


def read_number(text: str, unit: str, loading: Loading) -> Number | None:
    text = value_side(text)
    factor = _FACTOR.fullmatch(unit)
    name = factor.group(2).strip("$ \r\n") if factor else unit.strip()
    measure = read_measure(text, name, loading)
    if measure is None:
        return None
    gold = measure.quantity
    if name.strip("$\\ ") == "%" and not gold.percent:
        measure = read_measure(f"{text}%", "", loading) or measure
        return Number(measure)
    if factor and not gold.unit:
        power = read_measure(factor.group(1), "", loading)
        if power is not None:
            places = (
                None if gold.decimals is None else gold.decimals + (power.quantity.decimals or 0)
            )
            scaled = Quantity(gold.value * power.quantity.value, False, name, places, False)
            return Number(Measure(scaled), replace(gold, integer=False))
    if not gold.unit and not gold.percent:
        return Number(replace(measure, quantity=replace(gold, unit=name)))
    return Number(measure)


def kind(target: Target) -> str:
    match target:
        case Number(measure=measure):
            return "quantity" if measure.quantity.unit or measure.quantity.percent else "number"
        case Directed():
            return "magnitude with direction"
        case Range():
            return "range"
        case Vector():
            return "vector"
        case Chemical():
            return "chemical formula"
        case Molecule():
            return "molecule"
        case Nuclide():
            return "nuclide"
        case date():
            return "date"
        case Mathematical(text=text):
            return math_kind(parse_gold(text))
    assert_never(target)
