"""What the page shows: a subject (a run, a dataset, an evaluation) and its pages of JSON.

A page is a function of the query in the address. Every text that a model or a dataset wrote is ``Private``, so that a
share-safe page can leave it out in one place (``encoding``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from prorl_common import UserError, nearest

Kind = Literal["run", "dataset", "evaluation"]
Json: TypeAlias = Any
"""None, bool, int, float, str, ``Private``, ``Hidden``, and lists and string-keyed mappings of them; NaN is shown as None."""
Query: TypeAlias = Mapping[str, str]
Page: TypeAlias = Callable[[Query], Json]


@dataclass(frozen=True, slots=True)
class Private:
    """A text that a model or a dataset wrote."""

    text: str


def private(text: str | None) -> Private | None:
    """Return a text that may be none, marked as private."""
    return None if text is None else Private(text)


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is no text but tells one, as where its tokens end: null on a share-safe page."""

    value: Json


class NotFoundError(UserError):
    """A step, a row or a problem that the subject does not have."""


class Subject(Protocol):
    """One thing to look at. Its functions are called from several threads."""

    name: str
    """Unique among those that are shown together; the name of its folder where that is."""
    path: Path

    @property
    def folders(self) -> Sequence[Path]:
        """What it is made of: the folder of a run or a dataset, those of an evaluation's models."""
        ...

    @property
    def kind(self) -> Kind:
        """Which kind of subject it is; a plain attribute does."""
        ...

    def version(self) -> str:
        """Return another text whenever there is something new to see; called every two seconds."""
        ...

    def pages(self) -> Mapping[str, Page]:
        """Return the pages by name; ``summary`` is always among them, small numbers and words for the list of subjects.

        They raise UserError for a query that makes no sense and NotFoundError for what is not there.
        """
        ...

    def actions(self) -> Mapping[str, Page]:
        """Return what can be done by name, as checking an answer again; an exported page has none."""
        ...

    def close(self) -> None:
        """End what was started for it."""
        ...

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield (page, query) of everything that an exported page holds."""
        ...


def integer(query: Query, key: str, default: int) -> int:
    """Return the whole number ``key`` of the query, or ``default`` without it."""
    given = query.get(key, "")
    if not given:
        return default
    try:
        return int(given)
    except ValueError:
        raise UserError(f"{key} is a whole number, not '{given}'") from None


def number(query: Query, key: str, default: float) -> float:
    """Return the number ``key`` of the query, or ``default`` without it."""
    given = query.get(key, "")
    if not given:
        return default
    try:
        return float(given)
    except ValueError:
        raise UserError(f"{key} is a number, not '{given}'") from None


def choice(query: Query, key: str, allowed: Collection[str], default: str = "") -> str:
    """Return the word ``key`` of the query, or ``default`` without it; other words than ``allowed`` are mistakes."""
    given = query.get(key, "")
    if not given:
        return default
    if given not in allowed:
        raise UserError(f"{key} '{given}' is unknown{nearest(given, list(allowed))}")
    return given
