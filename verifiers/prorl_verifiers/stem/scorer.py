r"""The STEM verifier: numbers with units and tolerance, multiple choice, several parts, else formulas and words.

The answer stands in the last ``\boxed{}``, or else on a last line ``Answer: X``. Reference: {"answer",
"choices"?, "unit"?, "tolerance"?}; "answer" may be a list of parts, all of which must be right. Reward 0 or 1.

A unit in the answer is converted to the gold's (``units``); a missing one is forgiven; one of another dimension
is wrong. Rules of the tolerance: ``stem.tolerance``; of choices: ``stem.choices``; of parts: ``stem.parts``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prorl_verifiers.extract import answer_line, last_boxed
from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.scorer import number_by_algebra, same_answer
from prorl_verifiers.notation.hedges import hedged
from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.notation.quantities import Quantity, unit_powers
from prorl_verifiers.stem.chains import chain_holds
from prorl_verifiers.stem.chemistry import same_formula, with_coefficient
from prorl_verifiers.stem.choices import choice_index
from prorl_verifiers.stem.numbers import MAX_NUMBER, Measure, read_measure, read_range, split_unit
from prorl_verifiers.stem.parts import answer_parts, gold_parts, is_open_interval
from prorl_verifiers.stem.tolerance import allowed
from prorl_verifiers.types import MAX_ANSWER, Score, unparsable

__all__ = ["choice_index", "score_stem"]

_EQUALS = re.compile(
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
class _Gold:
    """The gold as a number; ``bare`` is the number as written where the unit carries a power of ten."""

    measure: Measure
    bare: Quantity | None = None


def score_stem(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Score the boxed (or last-line) answer of ``text``."""
    answer = last_boxed(text)
    if answer is None:
        answer = answer_line(text)
    if answer is None:
        return unparsable("no closed \\boxed{} and no last line 'Answer: X'")
    if not answer or len(answer) > MAX_ANSWER:
        return unparsable("the answer is empty or too long", answer)
    choices = reference.get("choices")
    if choices:
        picked = choice_index(answer, choices)
        if picked is None:
            return Score(0.0, "not exactly one of the options", answer)
        chosen_right = picked == choice_index(str(reference["answer"]), choices)
        return Score(float(chosen_right), f"option {chr(65 + picked)}", answer)
    parts = gold_parts(reference)
    if parts is not None and not is_open_interval(reference["answer"], answer):
        return _score_parts(parts, answer, text, loading)
    right, reason = _same(reference, answer, loading)
    return Score(1.0 if right else 0.0, reason, answer)


def _score_parts(
    parts: Sequence[Mapping[str, Any]], answer: str, text: str, loading: Loading
) -> Score:
    """All or nothing; the metrics carry the share of right parts."""
    answers = answer_parts(answer, text, len(parts))
    if answers is None:
        metrics = {"parts": float(len(parts)), "parts_right": 0.0}
        return Score(0.0, f"not {len(parts)} parts", answer, metrics=metrics)
    right = [_same(part, given, loading)[0] for part, given in zip(parts, answers, strict=True)]
    share = sum(right) / len(right)
    metrics = {"parts": float(len(parts)), "parts_right": share}
    reason = "all parts right" if all(right) else f"{sum(right)} of {len(right)} parts right"
    return Score(float(all(right)), reason, "; ".join(answers), metrics=metrics)


def _same(reference: Mapping[str, Any], answer: str, loading: Loading) -> tuple[bool, str]:
    """Compare one answer with a reference of one part."""
    text, unit = str(reference["answer"]), str(reference.get("unit") or "")
    gold = None if not unit and with_coefficient(text) else read_gold(reference, loading)
    if gold is not None:
        return _same_number(gold, answer, reference, loading)
    ends = read_range(text, unit, loading)
    if ends is not None:
        return _same_range(ends, answer, reference, loading), "ranges compared"
    # Formulas and words by the math grader; a closed form (2\sqrt{3}) also as a number with a unit.
    chemical = same_formula(text, answer)
    if chemical is not None:
        return chemical, "chemical formulas compared"
    formula, gold_unit = split_unit(text, unit, loading)
    gold_unit = unit or gold_unit
    given, given_unit = split_unit(answer, gold_unit, loading)
    same_unit = not given_unit or not gold_unit or unit_powers(given_unit) == unit_powers(gold_unit)
    right, reason = same_answer(text, answer, loading)
    if right and same_unit:
        return True, reason
    if (given_unit or gold_unit) and same_unit:
        right, reason = same_answer(formula, given, loading)
        if right:
            return True, reason
    value = number_by_algebra(formula, loading)
    if value is None:
        return False, reason
    gold = _Gold(Measure(Quantity(value, unit=gold_unit)))
    return _same_number(gold, answer, reference, loading)


# --------------------------------------------------------------------------------------------- numbers


def read_gold(reference: Mapping[str, Any], loading: Loading) -> _Gold | None:
    """Return the gold as a number with its unit, or None when it is not a plain number."""
    text, unit = str(reference["answer"]), str(reference.get("unit") or "")
    sides = _EQUALS.split(text)
    if len(sides) == 2 and (not sides[0].strip() or _NAME.fullmatch(sides[0])):
        text = sides[1]
    factor = _FACTOR.fullmatch(unit)
    asked = factor.group(2).strip("$ \r\n") if factor else unit.strip()
    measure = read_measure(text, asked, loading)
    if measure is None:
        return None
    gold = measure.quantity
    if asked.strip("$\\ ") == "%" and not gold.percent:
        measure = read_measure(f"{text}%", "", loading) or measure
        return _Gold(measure)
    if factor and not gold.unit:
        power = read_measure(factor.group(1), "", loading)
        if power is not None:
            places = (
                None if gold.decimals is None else gold.decimals + (power.quantity.decimals or 0)
            )
            scaled = Quantity(gold.value * power.quantity.value, False, asked, places, False)
            return _Gold(Measure(scaled), replace(gold, integer=False))
    if not gold.unit and not gold.percent:
        return _Gold(replace(measure, quantity=replace(gold, unit=asked)))
    return _Gold(measure)


def _same_number(
    gold: _Gold, answer: str, reference: Mapping[str, Any], loading: Loading
) -> tuple[bool, str]:
    """Every side of ``E = 5.0 = 5`` that is a number must be right, and the last one must be a number."""
    if len(answer) > MAX_NUMBER:
        return False, "too long for a number"
    if hedged(answer):
        return False, "a hedge is no number"
    unit = gold.measure.quantity.unit
    sides = _EQUALS.split(answer)
    numbers = [read_measure(side, unit, loading) for side in sides]
    if numbers[-1] is None:
        # a literal closed form, such as 2\sqrt{3}\,\mathrm{m}
        formula, given = split_unit(clean(sides[-1]), unit, loading)
        value = number_by_algebra(formula, loading)
        if value is None:
            return False, "the gold is a number, the answer is not one"
        numbers[-1] = Measure(Quantity(value, unit=given))
    if len(sides) > 1 and (
        len({side.strip() for side in sides}) == 1 or not chain_holds(sides, numbers)
    ):
        return False, "a side of the chain says something else"
    for number in numbers:
        if number is not None and not _within(gold, number.quantity, reference, loading):
            return False, "numbers compared"
    return True, "numbers compared"


def _within(gold: _Gold, number: Quantity, reference: Mapping[str, Any], loading: Loading) -> bool:
    wanted, tolerance = gold.measure.quantity, reference.get("tolerance")
    if number.unit and wanted.percent:
        return False
    limit = allowed(wanted, tolerance, gold.measure.uncertainty)
    value = _in_unit(number, wanted.unit, loading)
    if value is not None and abs(value - wanted.value) <= limit:
        return True
    if number.unit and not wanted.unit:
        pure = _in_unit(number, "1/1", loading)
        return pure is not None and abs(pure - wanted.value) <= limit
    if number.unit or number.percent:
        return False
    if wanted.percent:
        return abs(number.value - wanted.value * 100) <= limit * 100
    bare = gold.bare
    return bare is not None and abs(number.value - bare.value) <= allowed(bare, tolerance)


def _in_unit(number: Quantity, unit: str, loading: Loading) -> Fraction | None:
    """Return the number in ``unit``; as it is when it has none or none is wanted; None when it cannot be."""
    if not number.unit and not (number.percent and unit):
        return number.value
    if not unit or (number.unit and unit_powers(number.unit) == unit_powers(unit)):
        return number.value
    from prorl_verifiers.notation.units import convert

    loading("prorl_verifiers.notation.loaded_pint")
    return convert(number.value, number.unit, "" if unit == "1/1" else unit)


def _same_range(
    ends: tuple[Measure, Measure], answer: str, reference: Mapping[str, Any], loading: Loading
) -> bool:
    """Both ends must be right."""
    unit = str(reference.get("unit") or "") or ends[1].quantity.unit
    given = (
        None if len(answer) > MAX_NUMBER else read_range(_EQUALS.split(answer)[-1], unit, loading)
    )
    if given is None:
        return False
    golds = [
        _Gold(
            end
            if end.quantity.unit or end.quantity.percent
            else Measure(replace(end.quantity, unit=unit))
        )
        for end in ends
    ]
    return all(
        _within(gold, number.quantity, reference, loading)
        for gold, number in zip(golds, given, strict=True)
    )


# -------------------------------------------------------------------------------------------- formulas
