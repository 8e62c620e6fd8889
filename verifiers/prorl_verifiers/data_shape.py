"""How the tasks of a verifier stand in data files, how they are put to a model, and what their right answers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.types import Reference

UNTYPED = "untyped"
"""The type of a gold that its verifier cannot read."""


def plain_answer(reference: Reference) -> str | None:
    """Return ``reference["answer"]`` as text, the parts of a list joined by "; "; None without one."""
    answer = reference.get("answer")
    if answer is None:
        return None
    return "; ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def bare_answer(answer: str, reference: Reference) -> str:
    """Return ``answer``: the response is the answer and nothing else."""
    return answer


def unchanged(reference: dict[str, Any]) -> dict[str, Any]:
    """Return the reference as its columns give it."""
    return reference


@dataclass(frozen=True, slots=True)
class DataShape:
    """What building datasets, sampling and evaluating need to know of a verifier. Every field has a default.

    Example: ``DataShape(prompt="{question} Answer with one word.", columns=("word",))``.
    """

    prompt: str = "{question}"
    """How a question is put to the model, unless a recipe has a prompt of its own."""
    columns: tuple[str, ...] = ("answer",)
    """Keys of the reference that a data file must have as columns."""
    optional_columns: tuple[str, ...] = ()
    """Keys of the reference that a data file may have as columns."""
    json_columns: tuple[str, ...] = ()
    """Columns of both kinds that are parsed as JSON where the file holds text."""
    tidy: Callable[[dict[str, Any]], dict[str, Any]] = unchanged
    """Makes a reference of a row's columns. Raises TaskError."""
    example: Reference | None = None
    """A reference that ``check_reference`` accepts. A service checks it once, so that no request waits for imports."""

    answer: Callable[[Reference], str | None] = plain_answer
    """The right answer as text, or None: it is shown, counted and compared with that of other rows."""
    write: Callable[[str, Reference], str] = bare_answer
    """A response that gives this answer as the verifier wants it written."""
    gold_response: Callable[[Reference], str | None] | None = None
    """A whole right response, by default ``write(answer)``: for the gold check, the warm start and the audit."""
    target_type: Callable[[Reference], str] | None = None
    """What kind of gold a reference holds (``number``, ``interval``, ...), or ``UNTYPED`` where answers can only be
    compared as text. ``prorl data build`` counts the kinds and lists the untyped golds."""
    topic: Callable[[Reference], str | None] | None = None
    """What ``prorl data inspect`` counts; by default the answer."""
    vote: Callable[[str], str | None] | None = None
    """Maps an extracted answer to its vote for maj@k (None: no vote). Without it there is no maj@k."""

    def gold(self, reference: Reference) -> str | None:
        """Return a whole right response, or None if the reference does not tell."""
        if self.gold_response is not None:
            return self.gold_response(reference)
        answer = self.answer(reference)
        return None if answer is None else self.write(answer, reference)

    def shown(self, reference: Reference) -> str | None:
        """Return what ``prorl data inspect`` counts, on one line of at most 60 characters."""
        text = (self.topic or self.answer)(reference)
        return None if text is None else " ".join(text.split())[:60]
