"""Defines the subjects of the page (runs, datasets, evaluations) and their JSON pages.

Texts of models and datasets are ``Private``, so that ``answering`` can remove them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from prorl_common import UserError, nearest

Kind = Literal["run", "dataset", "evaluation"]
Json: TypeAlias = Any
"""None, bool, int, float, str, ``Private``, ``Hidden``, and lists and string-keyed mappings of these; NaN becomes
None."""
Query: TypeAlias = Mapping[str, str]
Page: TypeAlias = Callable[[Query], Json]


@dataclass(frozen=True, slots=True)
class Private:
    """A text written by a model or a dataset."""

    text: str


def private(text: str | None) -> Private | None:
    """Mark a text as private, unless it is None."""
    return None if text is None else Private(text)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that could reveal a private text; ``--share-safe`` replaces it by null."""

    value: Json


class NotFoundError(UserError):
    """Raised if the subject has no such step, row or problem."""


class Subject(Protocol):
    """A run, dataset or evaluation; methods are called from several threads."""

    name: str
    """Unique among the subjects, and equal to the folder's name if possible."""
    path: Path

    @property
    def folders(self) -> Sequence[Path]: ...

    @property
    def kind(self) -> Kind: ...

    def version(self) -> str:
        """Return a string that changes with the content; called every two seconds."""
        ...

    def pages(self) -> Mapping[str, Page]:
        """Return the pages by name; ``summary`` is required.

        Pages raise UserError for an invalid query, NotFoundError if the requested item does not exist.
        """
        ...

    def actions(self) -> Mapping[str, Page]:
        """Return the functions that need a running server, by name."""
        ...

    def close(self) -> None: ...

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield (page name, query) of each page to export."""
        ...


def list_subjects(subjects: Sequence[Subject], version: Callable[[Subject], str]) -> list[Json]:
    """Return each subject's kind, name, version and, if it is inside a run, the name of the ``run``."""
    runs = {s.path: s.name for s in subjects if s.kind == "run"}
    return [
        {
            "kind": s.kind,
            "name": s.name,
            "version": version(s),
            "run": next((runs[p] for p in s.path.parents if p in runs), ""),
        }
        for s in subjects
    ]


def integer(query: Query, key: str, default: int) -> int:
    """Return the query's value of ``key``. Raises UserError if it is not an integer."""
    text = query.get(key, "")
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise UserError(f"{key} must be a whole number, not '{text}'") from None


def number(query: Query, key: str, default: float) -> float:
    """Return the query's value of ``key``. Raises UserError if it is not a number."""
    text = query.get(key, "")
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{key} must be a number, not '{text}'") from None


def choice(query: Query, key: str, allowed: Collection[str], default: str = "") -> str:
    """Return the query's value of ``key``. Raises UserError if it is not in ``allowed``."""
    word = query.get(key, "")
    if not word:
        return default
    if word not in allowed:
        raise UserError(f"{key} '{word}' is unknown{nearest(word, list(allowed))}")
    return word


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0]
