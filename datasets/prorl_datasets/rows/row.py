"""The row: what every source yields before it becomes a Sample, and the form kept in part files.

Holds no input or output.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prorl_datasets.types import DatasetError
from prorl_verifiers import Task

OWN_PROGRAM = "the source's program, run on its tests"
OWN_RESPONSE = "a response that the source ships"
TWO_PROGRAMS = "two programs: one computed the tests, the other passed them"
"""What may agree with a gold, as ``verified_by`` in the metadata says it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate item.

    ``index`` is its place in its entry's stream (the same index is the same item for ever).
    ``gold`` is a whole response that should score 1, or None where the source has none. ``answer``
    is the bare right answer where a blind constant could hit it (math, stem, logic), for chance
    levels. ``key`` is set on generated rows: equal keys are the same problem (family and canonical
    parameters). ``core`` is the text that could coincide with a published problem, without
    template, suffix and constraint sentences; None takes ``question``. ``consistent`` says that the
    source's adapter checked what can be checked where there is no gold response (tests decode,
    constraints can hold together). ``independent`` says in a few words what agrees with the gold and was not made
    from it (a program run on tests, another's response), "" where nothing does: only then is an accepted gold
    ``verified``.
    """

    index: int
    question: str
    task: Task
    gold: str | None = None
    answer: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    core: str | None = None
    consistent: bool = False
    independent: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that never became a row: ``reason`` is a category, ``detail`` the particular.

    ``stage`` is ``made``, ``where`` for a row that its source's condition leaves out, or ``posed`` for an item that
    was made and cannot be asked.
    """

    index: int
    reason: str
    detail: str = ""
    stage: Literal["where", "made", "posed"] = "made"


class BadRow(DatasetError):
    """A raw row that cannot be read, or lacks what it needs: one line that begins with its place.

    ``reason`` is a category; what becomes of the row is the source's ``on_bad_row``.
    """

    def __init__(self, where: str, problem: str, reason: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.reason = reason


def normalised(text: str) -> str:
    """Return a text as exact duplicates are compared: without case and spacing."""
    return " ".join(text.lower().split())


def digest(text: str) -> str:
    """Return a 16-byte BLAKE2b digest in hexadecimal."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
