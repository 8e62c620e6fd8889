"""Scores responses to STEM tasks.

The reference is {"answer", "choices"?, "unit"?, "tolerance"?, "format"?, "aliases"?}. All parts of a list must be
right. "aliases" are other correct golds. An answer may lack the unit, but a unit of another dimension is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any, assert_never

from prorl_verifiers.extract import last_boxed, without_struck
from prorl_verifiers.findings import count_notes, listening, note, take_notes
from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.scorer import find_answer, note_options, number_by_algebra, same_answer
from prorl_verifiers.notation.latex_text import clean, hedged
from prorl_verifiers.notation.quantities import Quantity, unit_powers
from prorl_verifiers.stem.chemistry import canonical_smiles, same_formula
from prorl_verifiers.stem.choices import choice_index
from prorl_verifiers.stem.kinds import (
    Nuclide,
    read_date,
    read_nuclide,
    same_direction,
    split_direction,
)
from prorl_verifiers.stem.numbers import (
    MAX_NUMBER,
    Measure,
    allowed_difference,
    read_measure,
    read_range,
    split_unit,
)
from prorl_verifiers.stem.parts import answer_parts, gold_parts, is_open_interval
from prorl_verifiers.stem.targets import (
    EQUALS,
    Chemical,
    Directed,
    Mathematical,
    Molecule,
    Number,
    Range,
    Target,
    Vector,
    kind,
    parse_target,
    value_side,
)
from prorl_verifiers.stem.vectors import called_value, chain_holds, other_quantity, read_vector
from prorl_verifiers.types import Score


def score_stem(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    r"""Return 1 if the last ``\boxed{}`` is correct, else 0. Without one, a last line "Answer: X" is scored."""
    text = without_struck(text)
    choices = reference.get("choices")
    found = find_answer(text, last_boxed(text), bool(choices))
    if isinstance(found, Score):
        return found
    answer = found
    if choices:
        picked, right = (choice_index(one, choices) for one in (answer, str(reference["answer"])))
        note_options(picked, right, choices)
        if picked is None:
            return Score(0.0, "not exactly one of the options", answer)
        return Score(float(picked == right), f"option {chr(65 + picked)}", answer)
    before = count_notes()
    first = _score_gold(reference, answer, text, loading)
    if first.reward < 1.0:
        for alias in reference.get("aliases") or ():
            other = _score_gold({**reference, "answer": alias}, answer, text, loading)
            if other.reward == 1.0:
                note("another gold that is right as well", True, {}, parts=take_notes(before))
                return other
    return first


def _score_gold(reference: Mapping[str, Any], answer: str, text: str, loading: Loading) -> Score:
    parts = gold_parts(reference)
    if parts is None or is_open_interval(reference["answer"], answer):
        right, reason = _same(reference, answer, loading)
        return Score(1.0 if right else 0.0, reason, answer)
    answers = answer_parts(answer, text, len(parts))
    if answers is None:
        metrics = {"parts": float(len(parts)), "parts_right": 0.0}
        return Score(0.0, f"not {len(parts)} parts", answer, metrics=metrics)
    pairs = zip(parts, answers, strict=True)
    parts_right = [_same(part, part_answer, loading)[0] for part, part_answer in pairs]
    metrics = {"parts": float(len(parts)), "parts_right": sum(parts_right) / len(parts)}
    all_right = all(parts_right)
    reason = "all parts right" if all_right else f"{sum(parts_right)} of {len(parts)} parts right"
    return Score(float(all_right), reason, "; ".join(answers), metrics=metrics)


_UNSIGNED = re.compile(
    r"\A\s*(?:an? )?(?:\\(?:text|mathrm)\s*\{\s*)?(p(?:[A-JL-Z]{1,2}|K_?\{?[A-Za-z]?\}?))\s*\}?(?:\s|\\[ ,;:!])*(?:of )?(?=[-+]?[\d.])"
)
"""A label without an equals sign: ``pH 7.4``."""


def _same(reference: Mapping[str, Any], answer: str, loading: Loading) -> tuple[bool, str]:
    before = count_notes()
    answer = _UNSIGNED.sub(r"\1 = ", answer)
    if isinstance(gold := reference["answer"], str):
        reference = {**reference, "answer": _UNSIGNED.sub(r"\1 = ", gold)}
    target = parse_target(reference, loading)
    right, reason = _matches_target(target, reference, answer, loading)
    if listening():
        fields = {"answer": answer, "gold": reference["answer"], "gold is": kind(target)}
        fields |= {name: reference.get(name) for name in ("unit", "tolerance", "format")}
        note("compared with the gold", right, fields | {"rule": reason}, parts=take_notes(before))
    return right, reason


def _matches_target(
    target: Target, reference: Mapping[str, Any], answer: str, loading: Loading
) -> tuple[bool, str]:
    if len(answer) > MAX_NUMBER and not isinstance(target, Mathematical):
        return False, "too long for the gold"
    words = answer.removeprefix("between ") if isinstance(target, Range) else answer
    if not isinstance(target, Mathematical) and hedged(words):
        return False, "a hedge is not an answer"
    if other_quantity(str(reference["answer"]), answer, EQUALS):
        return False, "the answer is labelled as another quantity"
    match target:
        case Number():
            return _same_number(target, answer, reference, loading)
        case Directed():
            return _same_directed(target, answer, reference, loading)
        case Range():
            unit = str(reference.get("unit") or "") or target.ends[1].measure.quantity.unit
            ends = read_range(value_side(answer), unit, loading)
            same = ends is not None and all(
                _within(end, number.quantity, reference, loading)
                for end, number in zip(target.ends, ends, strict=True)
            )
            return same, "ranges compared"
        case Vector():
            unit = target.components[0].measure.quantity.unit
            components = read_vector(answer, unit, loading)
            if components is None or len(components) != len(target.components):
                return False, "vectors compared"
            same = all(
                _within(component, part, reference, loading)
                for component, part in zip(target.components, components, strict=True)
            )
            return same, "vectors compared"
        case Chemical(text=text):
            chemical = same_formula(text, answer)
            if chemical is not None:
                return chemical, "chemical formulas compared"
            return _same_formula(text, reference, answer, loading)
        case Molecule(smiles=smiles):
            gold_smiles, answer_smiles = (
                canonical_smiles(smiles, loading),
                canonical_smiles(answer, loading),
            )
            return gold_smiles is not None and gold_smiles == answer_smiles, "molecules compared"
        case Nuclide():
            return read_nuclide(value_side(answer)) == target, "nuclides compared"
        case date():
            return read_date(value_side(answer)) == target, "dates compared"
        case Mathematical(text=text):
            return _same_formula(text, reference, answer, loading)
    assert_never(target)


def _same_formula(
    text: str, reference: Mapping[str, Any], answer: str, loading: Loading
) -> tuple[bool, str]:
    r"""Compare with the math grader. Closed forms such as 2\sqrt{3} are also compared as quantities."""
    unit = str(reference.get("unit") or "")
    chemical = same_formula(text, answer)
    if chemical is not None:
        return chemical, "chemical formulas compared"
    formula, gold_unit = split_unit(text, unit, loading)
    gold_unit = unit or gold_unit
    content, answer_unit = split_unit(answer, gold_unit, loading)
    same_unit = (
        not answer_unit or not gold_unit or unit_powers(answer_unit) == unit_powers(gold_unit)
    )
    right, reason = same_answer(text, answer, loading)
    if right and same_unit:
        return True, reason
    if (answer_unit or gold_unit) and same_unit:
        right, reason = same_answer(formula, content, loading)
        if right:
            return True, reason
    value = number_by_algebra(formula, loading)
    value = number_by_algebra(formula, loading, closed=True) if value is None else value
    value = called_value(formula) if value is None else value
    if value is None:
        return False, reason
    exact = value.denominator == 1 and not gold_unit
    gold = Number(Measure(Quantity(value, unit=gold_unit, integer=exact)))
    return _same_number(gold, answer, reference, loading)


# --------------------------------------------------------------------------------------------- numbers


_CIRCLE = re.compile(r"\\circ|\\degree|°|\bdeg")


def _same_number(
    gold: Number, answer: str, reference: Mapping[str, Any], loading: Loading
) -> tuple[bool, str]:
    """In a chain such as ``E = 5.0 = 5``, every number must be right."""
    if len(answer) > MAX_NUMBER:
        return False, "too long for a number"
    if hedged(answer):
        return False, "a hedge is not a number"
    unit = gold.measure.quantity.unit
    sides = EQUALS.split(answer)
    numbers = [read_measure(side, unit, loading) for side in sides]
    if numbers[-1] is None:
        # Try a closed form such as 2\sqrt{3}\,\mathrm{m}; for a decimal gold also 1-e^{-2}.
        formula, answer_unit = split_unit(clean(sides[-1]), unit, loading)
        value = number_by_algebra(formula, loading)
        if value is None and not gold.measure.quantity.integer:
            value = number_by_algebra(formula, loading, closed=True)
        if value is None:
            return False, "the gold is a number, the answer is not one"
        in_radians = not answer_unit and _CIRCLE.search(unit) and r"\pi" in formula
        numbers[-1] = Measure(Quantity(value, unit="rad" if in_radians else answer_unit))
    if len(sides) > 1 and (
        len({side.strip() for side in sides}) == 1 or not chain_holds(sides, numbers)
    ):
        return False, "a side of the equation has another value"
    for number in numbers:
        if number is not None and not _within(gold, number.quantity, reference, loading):
            return False, "numbers compared"
    return True, "numbers compared"


def _same_directed(
    gold: Directed, answer: str, reference: Mapping[str, Any], loading: Loading
) -> tuple[bool, str]:
    parts = split_direction(answer)
    if parts is None:
        return False, "the direction is missing"
    if not same_direction(gold.direction, parts[1]):
        return False, "directions compared"
    return _same_number(gold.magnitude, parts[0], reference, loading)


def _within(gold: Number, number: Quantity, reference: Mapping[str, Any], loading: Loading) -> bool:
    expected, tolerance = gold.measure.quantity, reference.get("tolerance")
    if number.unit and expected.percent:
        return False
    limit = allowed_difference(expected, tolerance, gold.measure.uncertainty)
    value = _in_unit(number, expected.unit, loading)
    if listening():
        fields = {"answer": _with_unit(number)}
        if value is None:
            fields["in the gold's unit"] = "it has another dimension"
        elif value != number.value:
            fields["in the gold's unit"] = _decimal(value)
        fields |= {"gold": _with_unit(expected), "may differ by": _decimal(limit)}
        note("numbers compared", None, fields)
    if value is not None and abs(value - expected.value) <= limit:
        return True
    if number.unit and not expected.unit:
        pure = _in_unit(number, "1/1", loading)
        return pure is not None and abs(pure - expected.value) <= limit
    if number.unit or number.percent:
        return False
    if expected.percent:
        return abs(number.value - expected.value * 100) <= limit * 100
    bare = gold.bare
    return bare is not None and abs(number.value - bare.value) <= allowed_difference(
        bare, tolerance
    )


def _with_unit(number: Quantity) -> str:
    unit = number.unit or ("%" if number.percent else "")
    return f"{_decimal(number.value)} {unit}".strip()


def _decimal(value: Fraction) -> str:
    try:
        return f"{float(value):.12g}"
    except OverflowError:
        return "a number too large to write"


def _in_unit(number: Quantity, unit: str, loading: Loading) -> Fraction | None:
    """Convert a number to ``unit``, or return None. A number without a unit is returned unchanged."""
    if not number.unit and not (number.percent and unit):
        return number.value
    if not unit or (number.unit and unit_powers(number.unit) == unit_powers(unit)):
        return number.value
    from prorl_verifiers.notation.units import convert

    loading("prorl_verifiers.notation.loaded_pint")
    return convert(number.value, number.unit, "" if unit == "1/1" else unit)
