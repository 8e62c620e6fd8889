"""What the audit needs from a verifier: tasks, probes and mutations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Item:
    """One task. ``question`` is the prompt ("" if unknown).

    ``gold`` is hidden from most of the search. ``chance`` is what a blind guess earns by the task's form (as
    1/options), or None to estimate it. ``right`` is a correct answer to spoil, by default the gold.
    """

    id: str
    task: Task
    question: str = ""
    gold: str | None = None
    chance: float | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What to audit: ``items`` of each of ``datasets`` (empty: all)."""

    datasets: Sequence[str] = ()
    items: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Items attacked together. ``name`` starts with the verifier's.

    ``wordless``: only constant answers without a letter or digit are tried.
    """

    name: str
    verifier: str
    items: Sequence[Item]
    wordless: bool = False


Answer: TypeAlias = Callable[[Item, Group], str | None]
"""Answers an item, or returns None if not applicable."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to answer without solving; ``raw`` answers are whole responses, others are formatted by the spec."""

    name: str
    answer: Answer
    raw: bool = False


Kind = Literal[
    "denied", "another", "appended", "digit", "precision", "order", "suffix", "junk", "broken"
]
"""How a mutation spoils an answer: deny it, add another, append more of the same, change a digit, drop digits, swap
parts, put a sign after a number, surround it with junk, break a constraint."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A way to make a correct answer wrong: ``spoil(right, item, group)``, or None if not applicable.

    ``allowed`` is partial credit for an answer that stays mostly right.
    """

    name: str
    kind: Kind
    spoil: Callable[[str, Item, Group], str | None]
    allowed: float = 0.0


def never_right(reference: Reference) -> Collection[Kind]:
    """Return no kinds: every mutation spoils."""
    return ()


@dataclass(frozen=True, slots=True)
class AuditShape:
    """How ``prorl verify audit`` attacks a verifier."""

    probes: Callable[[], Sequence[Probe]] | None = None
    """Answers that solve nothing; by default constants, blanks and echoes."""
    mutations: Callable[[], Sequence[Mutation]] | None = None
    """Ways to make a correct answer wrong; by default negations, second answers, changed digits, junk."""
    may_be_right: Callable[[Reference], Collection[Kind]] = never_right
    """Kinds of mutations that may leave the answer to this task correct; the audit skips them."""
    groups: Callable[[AuditRequest], Iterable[Group]] | None = None
    """Built-in tasks to audit; without them ``prorl verify audit --file`` supplies some."""
    chance: Callable[[Reference], float] | None = None
    """What the best constant answer earns on one task because of its form; by default estimated from the answers."""


def constant(name: str, text: str, raw: bool = False) -> Probe:
    """Return the probe that always answers ``text``."""
    return Probe(name, lambda item, group: text, raw)


def plain(text: str) -> str:
    """Normalise an answer: ignore case, white space and a final full stop."""
    return " ".join(text.casefold().split()).removesuffix(".")


def options_of(item: Item) -> list[str]:
    """Return a multiple-choice item's options, if any."""
    choices: Any = item.task.reference.get("choices")
    return [str(choice) for choice in choices] if isinstance(choices, list) else []
