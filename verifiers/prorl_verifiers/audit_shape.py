"""The tasks, probes and mutations with which the audit attacks a verifier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Item:
    """One task. ``question`` is the prompt ("" if unknown).

    ``chance`` is the expected reward of a blind guess, such as 1/options, or None to estimate it. ``right`` is a
    correct answer to spoil, by default the gold.
    """

    id: str
    task: Task
    question: str = ""
    gold: str | None = None
    chance: float | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """Selects ``items`` tasks per dataset; empty ``datasets`` selects all."""

    datasets: Sequence[str] = ()
    items: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Items attacked together; ``name`` starts with the verifier's name.

    With ``wordless``, only constant answers without letters or digits are tried.
    """

    name: str
    verifier: str
    items: Sequence[Item]
    wordless: bool = False


Answer: TypeAlias = Callable[[Item, Group], str | None]
"""Returns a probe's answer to an item, or None if the probe does not apply."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to answer without solving the task. If ``raw``, the answer is a whole response; else the spec formats it."""

    name: str
    answer: Answer
    raw: bool = False


Kind = Literal[
    "denied", "another", "appended", "digit", "precision", "order", "suffix", "junk", "broken"
]
"""How a mutation spoils an answer: deny it, add another answer, append more of the same kind, change a digit, drop
digits, swap parts, put a sign after a number, surround it with junk, or break a constraint.
"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A way to make a correct answer wrong; ``allowed`` is the partial credit that it may still earn.

    ``spoil(right, item, group)`` returns None if it does not apply.
    """

    name: str
    kind: Kind
    spoil: Callable[[str, Item, Group], str | None]
    allowed: float = 0.0


def never_right(reference: Reference) -> Collection[Kind]:
    """Return no kinds: every mutation makes the answer wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class AuditShape:
    """How ``prorl verify audit`` attacks a verifier."""

    probes: Callable[[], Sequence[Probe]] | None = None
    """Answers that ignore the problem; by default constants, blanks and echoes."""
    mutations: Callable[[], Sequence[Mutation]] | None = None
    """Ways to make a correct answer wrong; by default negations, second answers, changed digits, junk."""
    may_be_right: Callable[[Reference], Collection[Kind]] = never_right
    """Kinds of mutations that may leave the answer to this task correct; the audit skips them."""
    groups: Callable[[AuditRequest], Iterable[Group]] | None = None
    """Built-in tasks to audit. Without any, ``prorl verify audit --file`` must supply them."""
    chance: Callable[[Reference], float] | None = None
    """Expected reward of the best constant answer to a task; by default estimated from the golds."""


def constant(name: str, text: str, raw: bool = False) -> Probe:
    """Return a probe that always answers ``text``."""
    return Probe(name, lambda item, group: text, raw)


def plain(text: str) -> str:
    """Normalise an answer: ignore case, white space and a final full stop."""
    return " ".join(text.casefold().split()).removesuffix(".")


def options_of(item: Item) -> list[str]:
    """Return a multiple-choice item's options, if any."""
    choices: Any = item.task.reference.get("choices")
    return [str(choice) for choice in choices] if isinstance(choices, list) else []
