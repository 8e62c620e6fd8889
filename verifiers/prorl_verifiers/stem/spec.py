"""The STEM verifier's spec, which imports the scorer on first use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from prorl_verifiers.audit_shape import AuditRequest, AuditShape, Group, Kind
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.spec import (
    PROMPT,
    answer_as_text,
    boxed,
    boxed_canaries,
    boxed_gold,
    mutations,
)
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskError, check_keys, gold_text

MAX_UNIT_TEXT = 200
MAX_ALIASES = 20


def score(response: str, reference: Reference) -> Score:
    from prorl_verifiers.stem.scorer import score_stem

    return score_stem(response, reference, load_library)


def check_reference(reference: Reference) -> None:
    from prorl_verifiers.stem.choices import choice_index
    from prorl_verifiers.stem.parts import MAX_PARTS, part_texts

    check_keys(reference, "answer", "choices", "unit", "tolerance", "format", "aliases")
    if reference.get("format") not in (None, "smiles"):
        raise TaskError("'format' must be \"smiles\" if it is given")
    answer = reference.get("answer")
    if isinstance(answer, list):
        if not 1 <= len(answer) <= MAX_PARTS:
            raise TaskError(f"'answer' as a list needs 1 to {MAX_PARTS} parts")
        for part in answer:
            gold_text({"answer": part})
    else:
        gold_text(reference)
    aliases = reference.get("aliases")
    if aliases is not None:
        if not isinstance(aliases, list) or not 1 <= len(aliases) <= MAX_ALIASES:
            raise TaskError(f"'aliases' must be a list of 1 to {MAX_ALIASES} golds")
        if isinstance(answer, list) or reference.get("choices") is not None:
            raise TaskError("'aliases' need a single answer, and no 'choices'")
        for alias in aliases:
            gold_text({"answer": alias})
    parts = part_texts(answer)
    choices = reference.get("choices")
    if choices is not None:
        texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
        if not texts or not 2 <= len(choices) <= 26:
            raise TaskError("'choices' must be a list of 2 to 26 strings")
        if isinstance(answer, list):
            raise TaskError("with 'choices' the answer is one letter or text, not a list")
        if choice_index(gold_text(reference), choices) is None:
            raise TaskError(
                "the gold answer is not one of the 'choices': give its letter or its text"
            )
    for key, check in (("unit", _check_unit), ("tolerance", _check_tolerance)):
        value = reference.get(key)
        if isinstance(value, list):
            if parts is None or len(value) != len(parts):
                count = "no parts" if parts is None else f"{len(parts)} parts"
                raise TaskError(f"{key!r} is a list of {len(value)}, but the gold has {count}")
            for member in value:
                check(member)
        else:
            check(value)


def target_type(reference: Reference) -> str:
    from prorl_verifiers.stem.parts import gold_parts
    from prorl_verifiers.stem.targets import kind, parse_target

    if reference.get("choices"):
        return "choice"
    if gold_parts(reference) is not None:
        return "several parts"
    return kind(parse_target(reference, load_library))


def _check_unit(unit: Any) -> None:
    if not isinstance(unit, str | None):
        raise TaskError("'unit' must be a string, or a list with one string per part")
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
        check_keys(tolerance, "rel", "abs")


def deep_canaries() -> Sequence[Canary]:
    length = {"answer": r"5\ \text{km}"}
    formula = {"answer": r"\frac{m v^2}{2}"}
    return (
        Canary(length, r"\boxed{5000\ \text{m}}", 1.0),
        Canary(length, r"\boxed{500\ \text{m}}", 0.0),
        Canary(formula, r"\boxed{\frac{1}{2} m v^2}", 1.0),
        Canary(formula, r"\boxed{m v^2}", 0.0),
    )


def may_be_right(reference: Reference) -> Collection[Kind]:
    ordered = ("tuple", "matrix", "interval", "text", "vector")
    swapped: tuple[Kind, ...] = () if target_type(reference) in ordered else ("order",)
    return ("precision", "junk", *swapped)


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    from prorl_verifiers.math.audit import stem_groups

    return stem_groups()


SPEC = VerifierSpec(
    name="stem",
    score=score,
    check_reference=check_reference,
    libraries=("math_verify", "prorl_verifiers.notation.loaded_pint"),
    quick_canaries=boxed_canaries,
    deep_canaries=deep_canaries,
    data=DataShape(
        example={"answer": "2"},
        prompt=PROMPT,
        optional_columns=("choices", "unit", "tolerance", "format", "aliases"),
        json_columns=("choices", "aliases"),
        tidy=answer_as_text,
        write=boxed,
        gold_response=boxed_gold,
        vote=str,
        target_type=target_type,
    ),
    audit=AuditShape(
        mutations=mutations,
        may_be_right=may_be_right,
        groups=audit_groups,
    ),
)
