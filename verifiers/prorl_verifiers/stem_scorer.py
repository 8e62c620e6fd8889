r"""The STEM verifier: numbers with units and tolerance, multiple choice, else formulas and words.

The answer stands in the last ``\boxed{}``, or else on a last line ``Answer: X``. Reference: {"answer",
"choices"?, "unit"?, "tolerance"?}. Reward 0 or 1. Leaves out: conversion between units (kJ for J is wrong).

Tolerance of numbers. ``tolerance`` is a relative fraction, or {"rel": r, "abs": a}. Without it: a gold that
is written as a plain integer and has no unit must be met exactly (only another spelling of the same number
counts); any other gold allows the larger of half a unit in its last written digit and 1 % of its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from prorl_verifiers.extract import answer_line, last_boxed
from prorl_verifiers.latex_text import clean, plain_words
from prorl_verifiers.math_scorer import number_by_algebra, same_answer
from prorl_verifiers.quantities import Quantity, read_quantity, unit_powers
from prorl_verifiers.score import MAX_ANSWER, Loading, Score, unparsable

DEFAULT_RELATIVE = Fraction(1, 100)

_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_LABELLED = re.compile(r"\(?([A-Z])(?:\)|\.|:)\s*(.+)", re.DOTALL)
_OPTION_WORD = re.compile(
    r"^(?:the\s+)?(?:option|choice|answer)\b\s*:?\s*(?=\(?[A-Za-z]\b)", re.IGNORECASE
)
_SEVERAL = re.compile(r"\b(?:or|and)\b|(?:^|[\s,;(])[A-J](?:\)|\.\s|:)", re.IGNORECASE)
_EQUALS = re.compile(r"\\(?:approx|simeq|sim|thickapprox|equiv)(?![a-zA-Z])|≈|≃|(?<![<>!:])=")
_FACTOR = re.compile(r"\s*\$?\s*(10\s*\^\s*(?:\{\s*[+-]?\d+\s*\}|[+-]?\d))(.*)", re.DOTALL)


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
        return _score_choice(answer, str(reference["answer"]), choices)
    gold = read_gold(reference)
    if gold is not None:
        right, reason = _same_number(gold, answer, reference, loading)
    else:
        right, reason = same_answer(str(reference["answer"]), answer, loading)
    return Score(1.0 if right else 0.0, reason, answer)


# ------------------------------------------------------------------------------------- multiple choice


def _score_choice(answer: str, gold: str, choices: Sequence[str]) -> Score:
    right = choice_index(gold, choices)
    picked = choice_index(answer, choices)
    if picked is None:
        return Score(0.0, "not exactly one of the options", answer)
    return Score(1.0 if picked == right else 0.0, f"option {chr(65 + picked)}", answer)


def choice_index(answer: str, choices: Sequence[str]) -> int | None:
    """Return the index of the one option that ``answer`` names by letter or by exact text, else None.

    ``B``, ``(B)``, ``B. text of B`` and the text of B alone name B; lists of options name none.
    """
    text = _OPTION_WORD.sub("", plain_words_kept_case(answer), count=1)
    letter = _LETTER.fullmatch(text)
    index = ord(letter.group(1).upper()) - 65 if letter else -1
    named = index if 0 <= index < len(choices) else None
    if letter and named is not None and letter.group(1).isupper():
        return named
    by_text = _by_text(text, choices)
    if by_text is not None or letter:
        return named if by_text is None else by_text
    labelled = _LABELLED.fullmatch(text)
    if labelled is None:
        return None
    index, rest = ord(labelled.group(1)) - 65, labelled.group(2)
    if index >= len(choices):
        return None
    matching = _by_text(rest, choices)
    if matching is not None:
        return index if matching == index else None
    return None if _SEVERAL.search(rest) else index


def plain_words_kept_case(answer: str) -> str:
    r"""Return the answer without LaTeX text wrappers, bold marks and outer punctuation."""
    text = re.sub(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}", r" \1 ", clean(answer))
    return " ".join(text.replace("**", " ").split()).strip(" .,;")


def _by_text(text: str, choices: Sequence[str]) -> int | None:
    """Return the one option whose text (or exact number) ``text`` is."""
    words = plain_words(clean(text))
    hits = [i for i, choice in enumerate(choices) if plain_words(clean(choice)) == words]
    if not hits:
        number = read_quantity(text)
        for i, choice in enumerate(choices):
            other = read_quantity(choice) if number is not None else None
            if number is not None and other is not None and _same_size(number, other):
                hits.append(i)
    return hits[0] if len(hits) == 1 else None


def _same_size(number: Quantity, other: Quantity) -> bool:
    return number.value == other.value and unit_powers(number.unit) == unit_powers(other.unit)


# --------------------------------------------------------------------------------------------- numbers


def read_gold(reference: Mapping[str, Any]) -> Quantity | None:
    """Return the gold as a number with its unit, or None when it is not a number."""
    gold = read_quantity(str(reference["answer"]))
    unit = reference.get("unit")
    if gold is None or not unit:
        return gold
    if str(unit).strip("$\\ ") == "%":
        return read_quantity(f"{reference['answer']}%")
    factor = _FACTOR.fullmatch(str(unit))
    if factor:
        power = read_quantity(factor.group(1))
        if power is not None:
            scale, unit = power.value, factor.group(2)
            decimals = None if gold.decimals is None else gold.decimals + (power.decimals or 0)
            return Quantity(gold.value * scale, gold.percent, unit, decimals, False)
    return Quantity(gold.value, gold.percent, str(unit), gold.decimals, gold.integer)


def _same_number(
    gold: Quantity, answer: str, reference: Mapping[str, Any], loading: Loading
) -> tuple[bool, str]:
    """Every side of ``E = 5.0 = 5`` that is a number must be right, and the last one must be a number."""
    sides = [clean(side) for side in _EQUALS.split(answer)]
    numbers = [read_quantity(side, gold.unit) for side in sides]
    if numbers[-1] is None:
        value = number_by_algebra(sides[-1], loading)
        if value is None:
            return False, "the gold is a number, the answer is not one"
        numbers[-1] = Quantity(value)
    for number in numbers:
        if number is not None and not _within(gold, number, reference):
            return False, "numbers compared"
    return True, "numbers compared"


def _within(gold: Quantity, number: Quantity, reference: Mapping[str, Any]) -> bool:
    wanted, given = unit_powers(gold.unit), unit_powers(number.unit)
    if wanted and given and wanted != given:
        return False
    allowed = _allowed(gold, number, reference.get("tolerance"))
    if abs(number.value - gold.value) <= allowed:
        return True
    if gold.percent and not number.percent:
        return abs(number.value - gold.value * 100) <= allowed * 100
    scaled = _FACTOR.fullmatch(str(reference.get("unit") or ""))
    if scaled and not given:
        unscaled = read_quantity(str(reference["answer"]))
        return unscaled is not None and abs(number.value - unscaled.value) <= _allowed(
            unscaled, number, reference.get("tolerance")
        )
    return False


def _allowed(gold: Quantity, number: Quantity, tolerance: Any) -> Fraction:
    """Return the largest difference that still counts as right."""
    if isinstance(tolerance, Mapping):
        relative = Fraction(str(tolerance.get("rel", 0)))
        return max(abs(gold.value) * relative, Fraction(str(tolerance.get("abs", 0))))
    if tolerance is not None:
        return abs(gold.value) * Fraction(str(tolerance))
    if gold.integer and (not gold.unit or number.integer):
        return Fraction(0)
    half = (
        Fraction(10) ** gold.decimals / 2 if gold.decimals is not None and not gold.integer else 0
    )
    return max(Fraction(half), abs(gold.value) * DEFAULT_RELATIVE)
