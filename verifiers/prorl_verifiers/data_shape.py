"""How a verifier's tasks are stored in data files and presented to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.types import Reference

UNTYPED = "untyped"
"""``target_type`` of a gold that the verifier cannot parse."""


def plain_answer(reference: Reference) -> str | None:
    """Return ``reference["answer"]`` as a string, or None. The items of a list are joined by "; "."""
    answer = reference.get("answer")
    if answer is None:
        return None
    return "; ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def bare_answer(answer: str, reference: Reference) -> str:
    return answer


def unchanged(reference: dict[str, Any]) -> dict[str, Any]:
    return reference


@dataclass(frozen=True, slots=True)
class DataShape:
    """How a verifier's tasks are read from data files and presented to a model.

    Example: ``DataShape(prompt="{question} Answer with one word.", columns=("word",))``.
    """

    prompt: str = "{question}"
    """The prompt for a question, unless a recipe defines its own."""
    columns: tuple[str, ...] = ("answer",)
    """Keys of the reference that a data file must have as columns."""
    optional_columns: tuple[str, ...] = ()
    """Keys of the reference that a data file may have as columns."""
    json_columns: tuple[str, ...] = ()
    """Required or optional columns whose values are parsed as JSON if they are strings."""
    tidy: Callable[[dict[str, Any]], dict[str, Any]] = unchanged
    """Turns a row's columns into a reference. Raises TaskError."""
    example: Reference | None = None
    """A reference that ``check_reference`` accepts. A service checks it at startup to import libraries early."""

    answer: Callable[[Reference], str | None] = plain_answer
    """Returns the gold answer for display and statistics, or None."""
    write: Callable[[str, Reference], str] = bare_answer
    """Returns a response that gives this answer in the format the verifier expects."""
    gold_response: Callable[[Reference], str | None] | None = None
    """Returns a complete correct response, or None; by default ``write(answer)``."""
    target_type: Callable[[Reference], str] | None = None
    """Returns the kind of gold in a reference, such as ``number`` or ``interval``, or ``UNTYPED`` if answers can only
    be compared as strings. ``prorl data build`` counts the kinds.
    """
    topic: Callable[[Reference], str | None] | None = None
    """Returns the label under which ``prorl data inspect`` counts a task; by default the answer."""
    vote: Callable[[str], str | None] | None = None
    """Returns the vote of an extracted answer for maj@k, or None for no vote. Without it, maj@k is not computed."""

    def gold(self, reference: Reference) -> str | None:
        """Return a complete correct response, or None if it is unknown."""
        if self.gold_response is not None:
            return self.gold_response(reference)
        answer = self.answer(reference)
        return None if answer is None else self.write(answer, reference)

    def topic_line(self, reference: Reference) -> str | None:
        """Return the task's topic in one line of at most 60 characters, or None."""
        text = (self.topic or self.answer)(reference)
        return None if text is None else " ".join(text.split())[:60]
