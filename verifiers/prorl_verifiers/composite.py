"""The composite verifier, whose reward is the weighted mean of several verifiers' rewards for one response.

If a part in ``gate`` earns less than its minimum, the reward is 0. ``gate`` is {part name: minimum}, a list of part
names (minimum 1), or true (all parts, minimum 1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prorl_common import nearest
from prorl_verifiers.audit_shape import AuditShape, Kind
from prorl_verifiers.data_shape import UNTYPED, DataShape
from prorl_verifiers.findings import listening, note
from prorl_verifiers.spec import VERIFIERS, Composition, VerifierSpec
from prorl_verifiers.types import Reference, Score, Task, TaskError, TaskPart, Verdict, check_keys

MAX_PARTS = 64
FULL_MARKS = 1.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Composite:
    """The parts and weights of a composed task. ``gate``: minimum rewards of parts, by name."""

    parts: Sequence[TaskPart]
    weights: Sequence[float]
    gate: Mapping[str, float]


def read(reference: Reference) -> Composite:
    """Parse the reference, but not the references of its parts. Raises TaskError."""
    check_keys(reference, "parts", "gate", "modes")
    entries = reference.get("parts")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_PARTS:
        raise TaskError(f"'parts' must be a list of 1 to {MAX_PARTS} parts")
    parts, weights = [], []
    for number, entry in enumerate(entries, start=1):
        try:
            parts.append(_part(entry))
            weight = entry.get("weight")  # a data table has None for a missing value
            weights.append(1.0 if weight is None else _number(weight, "weight"))
        except TaskError as error:
            raise TaskError(f"part {number}: {error}") from error
    if not any(weights):
        raise TaskError("the weights are all 0: give one part a weight above 0")
    return Composite(parts, weights, _gate(reference.get("gate"), [part.name for part in parts]))


def _part(value: Any) -> TaskPart:
    if not isinstance(value, Mapping):
        raise TaskError('it must be an object {"verifier", "reference", "weight"?, "name"?}')
    check_keys(value, "verifier", "reference", "weight", "name")
    verifier, reference = value.get("verifier"), value.get("reference")
    if not isinstance(verifier, str):
        raise TaskError("it needs 'verifier', the name of a verifier")
    if not isinstance(reference, Mapping):
        raise TaskError("it needs a 'reference', an object")
    name = value.get("name")
    if name is None:
        name = verifier
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise TaskError(f"its name {name!r} must be letters, digits, - and _, 64 at most")
    return TaskPart(name, Task(verifier, reference))


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TaskError(f"its {name} {value!r} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise TaskError(f"its {name} {number!r} must be a finite number, 0 or more")
    return number


def _gate(value: Any, names: Sequence[str]) -> dict[str, float]:
    if value is None or isinstance(value, bool):
        return dict.fromkeys(names, FULL_MARKS) if value else {}
    if not isinstance(value, list | dict) or not value:
        raise TaskError(
            "'gate' must be true, a list of names of parts, or an object that maps names to minimum rewards"
        )
    for name in value:
        if name not in names:
            raise TaskError(
                f"the gate names {name!r}, which is not a part{nearest(str(name), names)}; parts: {', '.join(names)}"
            )
    least = value if isinstance(value, dict) else dict.fromkeys(value, FULL_MARKS)
    gate = {}
    for name, reward in least.items():
        try:
            gate[name] = _number(reward, "minimum reward")
        except TaskError as error:
            raise TaskError(f"gate {name!r}: {error}") from error
        if not 0 < gate[name] <= FULL_MARKS:
            raise TaskError(f"gate {name!r}: its minimum reward must be above 0 and at most 1")
    return gate


_ROUNDING = 1e-9
"""Tolerance when a reward is compared with its minimum."""


def check_reference(reference: Reference) -> None:
    read(reference)


def parts(reference: Reference) -> Sequence[TaskPart]:
    return read(reference).parts


def combine(reference: Reference, verdicts: Mapping[str, Verdict]) -> Score:
    """Return the weighted mean of the parts' rewards, or 0 if a part earns less than the minimum set for it."""
    composite = read(reference)
    rewards = {name: v.reward for name, v in verdicts.items() if v.reward is not None}
    if listening():
        fields = {}
        for part, weight in zip(composite.parts, composite.weights, strict=True):
            fields[part.name] = f"reward {rewards[part.name]:g}, weight {weight:g}"
            if part.name in composite.gate:
                fields[part.name] += f", needs at least {composite.gate[part.name]:g}"
        note("weighted mean", None, fields)
    short = [name for name, least in composite.gate.items() if rewards[name] < least - _ROUNDING]
    if short:
        reasons = "; ".join(f"{name}: {verdicts[name].reason}" for name in short)
        return Score(0.0, f"not through the gate: {reasons}")
    missed = [name for name, reward in rewards.items() if reward < FULL_MARKS - _ROUNDING]
    reason = "; ".join(f"{name} {rewards[name]:g}: {verdicts[name].reason}" for name in missed)
    weights = [Fraction(weight) for weight in composite.weights]  # as floats their sum may overflow
    earned = sum(
        weight * Fraction(rewards[part.name])
        for weight, part in zip(weights, composite.parts, strict=True)
    )
    return Score(float(earned / sum(weights)), reason or "every part has full marks")


def _answers(reference: Reference) -> list[tuple[TaskPart, str]]:
    answers = [
        (p, VERIFIERS.get(p.task.verifier).data.answer(p.task.reference)) for p in parts(reference)
    ]
    return [(part, answer) for part, answer in answers if answer is not None]


def answer(reference: Reference) -> str | None:
    """Return the parts' distinct gold answers, joined by "; ", or None if there are none."""
    texts = dict.fromkeys(text for _, text in _answers(reference))
    return "; ".join(texts) or None


def write(answer: str, reference: Reference) -> str:
    for part, _ in _answers(reference):
        return VERIFIERS.get(part.task.verifier).data.write(answer, part.task.reference)
    return answer


def gold_response(reference: Reference) -> str | None:
    tasks = [part.task for part in parts(reference)]
    golds = {VERIFIERS.get(task.verifier).data.gold(task.reference) for task in tasks}
    return golds.pop() if len(golds) == 1 else None


def part_names(reference: Reference) -> str:
    return " + ".join(part.name for part in parts(reference))


def target_type(reference: Reference) -> str:
    kinds = []
    for part in parts(reference):
        of_part = VERIFIERS.get(part.task.verifier).data.target_type
        kinds.append(part.task.verifier if of_part is None else of_part(part.task.reference))
    return UNTYPED if UNTYPED in kinds else " + ".join(kinds)


def may_be_right(reference: Reference) -> Collection[Kind]:
    tasks = [part.task for part in parts(reference)]
    return {
        kind
        for task in tasks
        for kind in VERIFIERS.get(task.verifier).audit.may_be_right(task.reference)
    }


SPEC = VerifierSpec(
    name="composite",
    compose=Composition(parts, combine),
    check_reference=check_reference,
    data=DataShape(
        example={"parts": [{"verifier": "math", "reference": {"answer": "2"}}]},
        columns=("parts",),
        optional_columns=("gate", "modes"),
        json_columns=("parts", "gate", "modes"),
        answer=answer,
        write=write,
        gold_response=gold_response,
        topic=part_names,
        target_type=target_type,
    ),
    audit=AuditShape(
        may_be_right=may_be_right,
    ),
)
