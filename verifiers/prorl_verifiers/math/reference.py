"""Check the reference of a math task when the task is loaded: {"answer", "mode"?, "choices"?, "percent"?}.

A gold that no grader can read is fine: it is compared as text. Leaves out: grading (``math.scorer``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_verifiers.references import gold_text, known_keys
from prorl_verifiers.types import TaskError


def check_reference(reference: Mapping[str, Any]) -> None:
    """Raise TaskError (one line) for unknown keys or modes, no gold, or choices the gold is none of."""
    from prorl_verifiers.math.choices import named_option

    known_keys(reference, "answer", "mode", "choices", "percent")
    gold = gold_text(reference)
    if not isinstance(reference.get("percent", False), bool):
        raise TaskError("'percent' must be true or false")
    choices = reference.get("choices")
    if choices is None:
        return
    texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not texts or not 2 <= len(choices) <= 26:
        raise TaskError("'choices' must be a list of 2 to 26 texts")
    if named_option(gold, choices) is None:
        raise TaskError(
            "the gold answer names none of the 'choices', neither by letter nor by text"
        )
