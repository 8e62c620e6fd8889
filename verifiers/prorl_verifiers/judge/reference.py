"""What a judged task holds: the question, what a right answer fulfils, and the marks that may be given."""

from __future__ import annotations

from dataclasses import dataclass

from prorl_verifiers.references import known_keys
from prorl_verifiers.types import Reference, TaskError

PASS_FAIL = "pass/fail"
MOST_MARKS = 100
LONGEST_TEXT = 50_000
"""Characters of question, criteria and reference answer, each."""


@dataclass(frozen=True, slots=True)
class Question:
    """``criteria`` or ``answer`` (a reference answer) or both say what is right. ``marks``: 0 to so many are
    given; None for pass or fail."""

    question: str
    criteria: str | None
    answer: str | None
    marks: int | None


def read_question(reference: Reference) -> Question:
    """Return the parts of a reference. Raises TaskError."""
    known_keys(reference, "question", "criteria", "answer", "scale")
    texts = {name: _text(reference, name) for name in ("question", "criteria", "answer")}
    if texts["question"] is None:
        raise TaskError("the reference needs 'question', the text that the answer is for")
    if texts["criteria"] is None and texts["answer"] is None:
        raise TaskError("the reference needs 'criteria' or 'answer': what a right answer fulfils")
    scale = reference.get("scale", PASS_FAIL)
    is_number = isinstance(scale, int) and not isinstance(scale, bool)
    if scale != PASS_FAIL and not (is_number and 1 <= scale <= MOST_MARKS):
        raise TaskError(
            f"'scale' is {scale!r}: use {PASS_FAIL!r}, or the most marks as a number from 1 to {MOST_MARKS}"
        )
    marks = None if scale == PASS_FAIL else int(scale)
    return Question(texts["question"], texts["criteria"], texts["answer"], marks)


def check_reference(reference: Reference) -> None:
    """Raise TaskError for a reference that nothing can be judged by."""
    read_question(reference)


def _text(reference: Reference, name: str) -> str | None:
    if name not in reference:
        return None
    value = reference[name]
    if not isinstance(value, str) or not value.strip():
        raise TaskError(f"'{name}' must be text")
    if len(value) > LONGEST_TEXT:
        raise TaskError(f"'{name}' is longer than {LONGEST_TEXT} characters")
    return value
