"""Reference checks that several verifiers share."""

from __future__ import annotations

import math

from prorl_common import nearest
from prorl_verifiers.types import Reference, TaskError


def check_keys(reference: Reference, *keys: str, what: str = "the reference") -> None:
    """Raise TaskError for a key that is not in ``keys``."""
    for key in reference:
        if key not in keys:
            options = ", ".join(keys)
            raise TaskError(
                f"unknown key {key!r} in {what}{nearest(str(key), keys)}: use {options}"
            )


def gold_text(reference: Reference) -> str:
    """Return the gold answer as a string. Raises TaskError."""
    answer = reference.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise TaskError("the reference needs 'answer', a string or a number")
    if isinstance(answer, float) and not math.isfinite(answer):
        raise TaskError("the gold answer is not a finite number")
    if not str(answer).strip():
        raise TaskError("the gold answer is empty")
    return str(answer)
