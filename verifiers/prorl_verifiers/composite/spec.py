"""The composite verifier as the door has it: a weighted mean of what several verifiers find, behind a gate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from prorl_verifiers.audit.items import Kind
from prorl_verifiers.composite.reference import FULL_MARKS, Composite, read
from prorl_verifiers.findings import listening, note
from prorl_verifiers.spec import UNTYPED, VERIFIERS, Composition, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskPart, Verdict

_ROUNDING = 1e-9
"""A reward that misses what is wanted by no more has it."""


def check_reference(reference: Reference) -> None:
    """Raise TaskError for malformed parts, weights that give no mean, and a gate that names no part."""
    read(reference)


def parts(reference: Reference) -> Sequence[TaskPart]:
    """Return the parts. Raises TaskError."""
    return read(reference).parts


def combine(reference: Reference, verdicts: Mapping[str, Verdict]) -> Score:
    """Return the weighted mean of the parts' rewards; 0 where a gated part falls short."""
    composite = read(reference)
    rewards = {name: v.reward for name, v in verdicts.items() if v.reward is not None}
    if listening():
        note("weighted mean", None, dict(_weighed(composite, rewards)))
    short = [name for name, least in composite.gate.items() if rewards[name] < least - _ROUNDING]
    if short:
        said = "; ".join(f"{name}: {verdicts[name].reason}" for name in short)
        return Score(0.0, f"not through the gate: {said}")
    missed = [name for name, reward in rewards.items() if reward < FULL_MARKS - _ROUNDING]
    reason = "; ".join(f"{name} {rewards[name]:g}: {verdicts[name].reason}" for name in missed)
    weights = [Fraction(weight) for weight in composite.weights]  # as floats their sum may overflow
    earned = sum(
        weight * Fraction(rewards[part.name])
        for weight, part in zip(weights, composite.parts, strict=True)
    )
    return Score(float(earned / sum(weights)), reason or "every part has full marks")


def _weighed(composite: Composite, rewards: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield each part's name, and its reward, weight and gate in words."""
    for part, weight in zip(composite.parts, composite.weights, strict=True):
        least = composite.gate.get(part.name)
        gate = "" if least is None else f", needs at least {least:g}"
        yield part.name, f"reward {rewards[part.name]:g}, weight {weight:g}{gate}"


def _answers(reference: Reference) -> list[tuple[TaskPart, str]]:
    """Return the parts that have a right answer, and that answer."""
    answers = [
        (p, VERIFIERS.get(p.task.verifier).answer(p.task.reference)) for p in parts(reference)
    ]
    return [(part, answer) for part, answer in answers if answer is not None]


def answer(reference: Reference) -> str | None:
    """Return the parts' answers, each once, joined by "; "; None where no part has one."""
    texts = dict.fromkeys(text for _, text in _answers(reference))
    return "; ".join(texts) or None


def write(answer: str, reference: Reference) -> str:
    """Return the answer as the first part that has one wants it."""
    for part, _ in _answers(reference):
        return VERIFIERS.get(part.task.verifier).write(answer, part.task.reference)
    return answer


def gold_response(reference: Reference) -> str | None:
    """Return the whole right response on which all parts agree; None where one has none or another."""
    tasks = [part.task for part in parts(reference)]
    golds = {VERIFIERS.get(task.verifier).gold(task.reference) for task in tasks}
    return golds.pop() if len(golds) == 1 else None


def shown(reference: Reference) -> str:
    """Return the names of the parts, in order."""
    return " + ".join(part.name for part in parts(reference))


def target_type(reference: Reference) -> str:
    """Return the types of the parts' golds, in order, or the verifier's name; ``UNTYPED`` where one of them is."""
    kinds = []
    for part in parts(reference):
        of_part = VERIFIERS.get(part.task.verifier).target_type
        kinds.append(part.task.verifier if of_part is None else of_part(part.task.reference))
    return UNTYPED if UNTYPED in kinds else " + ".join(kinds)


def may_be_right(reference: Reference) -> Collection[Kind]:
    """Return the kinds of mutations that may leave one of the parts right."""
    tasks = [part.task for part in parts(reference)]
    return {
        kind for task in tasks for kind in VERIFIERS.get(task.verifier).may_be_right(task.reference)
    }


SPEC = VerifierSpec(
    name="composite",
    compose=Composition(parts, combine),
    check_reference=check_reference,
    example={"parts": [{"verifier": "math", "reference": {"answer": "2"}}]},
    columns=("parts",),
    optional_columns=("gate", "modes"),
    json_columns=("parts", "gate", "modes"),
    answer=answer,
    write=write,
    gold_response=gold_response,
    topic=shown,
    target_type=target_type,
    may_be_right=may_be_right,
)
