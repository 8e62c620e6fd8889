"""Check the reference of a STEM task when the task is loaded.

A unit that cannot be read, or has a name that pint does not know, is no error: real data hold many such
(``10^{16} photons``, ``dB``). It is then a plain name, compared as text. Leaves out: grading (``stem.scorer``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_verifiers.references import gold_text, known_keys
from prorl_verifiers.types import TaskError

MAX_UNIT_TEXT = 200


def check_reference(reference: Mapping[str, Any]) -> None:
    """Raise TaskError with one line when the reference cannot be graded."""
    from prorl_verifiers.stem.parts import MAX_PARTS, part_texts

    known_keys(reference, "answer", "choices", "unit", "tolerance")
    answer = reference.get("answer")
    if isinstance(answer, list):
        if not 1 <= len(answer) <= MAX_PARTS:
            raise TaskError(f"'answer' as a list needs 1 to {MAX_PARTS} parts")
        for part in answer:
            gold_text({"answer": part})
    else:
        gold_text(reference)
    parts = part_texts(answer)
    if reference.get("choices") is not None:
        _check_choices(reference)
    for key, check in (("unit", _check_unit), ("tolerance", _check_tolerance)):
        value = reference.get(key)
        if isinstance(value, list):
            if parts is None or len(value) != len(parts):
                count = "a single answer" if parts is None else f"{len(parts)} parts"
                raise TaskError(f"{key!r} is a list of {len(value)}, but the gold is {count}")
            for member in value:
                check(member)
        else:
            check(value)


def _check_choices(reference: Mapping[str, Any]) -> None:
    from prorl_verifiers.stem.choices import choice_index

    choices = reference["choices"]
    texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not texts or not 2 <= len(choices) <= 26:
        raise TaskError("'choices' must be a list of 2 to 26 texts")
    if isinstance(reference["answer"], list):
        raise TaskError("with 'choices' the answer is one letter or text, not a list")
    if choice_index(gold_text(reference), choices) is None:
        raise TaskError(
            "the gold answer names none of the 'choices', neither by letter nor by text"
        )


def _check_unit(unit: Any) -> None:
    if not isinstance(unit, str | None):
        raise TaskError("'unit' must be text, or a list with one text a part")
    if unit is not None and len(unit) > MAX_UNIT_TEXT:
        raise TaskError(f"'unit' is longer than {MAX_UNIT_TEXT} characters")


def _check_tolerance(tolerance: Any) -> None:
    parts = tolerance.values() if isinstance(tolerance, Mapping) else [tolerance]
    for part in parts:
        number = isinstance(part, int | float) and not isinstance(part, bool)
        if part is not None and not (number and 0 <= part < float("inf")):
            raise TaskError(
                "'tolerance' must be a number (relative) or {'rel': r, 'abs': a}, not negative"
            )
    if isinstance(tolerance, Mapping):
        known_keys(tolerance, "rel", "abs")
