"""What the audit needs to know of a verifier: tasks to attack, ways to answer without solving, ways to spoil an answer.

A group is a set of items that one attack is tried on as a whole: a reasoning-gym dataset, a family of built-in
tasks, a user's file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Item:
    """One task with what an attacker may see of it.

    ``question`` is the prompt's text ("" when unknown). ``gold`` is never shown to the search; it makes the
    chance level and the probe "gold of another item". ``chance`` is what a blind answer earns on this item
    by the form of the task (1/options; 1 for a constraint that any short text meets), or None when it must
    be estimated from the golds of the group. ``right`` is a right answer where there is no gold or another
    than the gold is to be spoilt.
    """

    id: str
    task: Task
    question: str = ""
    gold: str | None = None
    chance: float | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What the user asked for, for verifiers whose tasks are made on the spot.

    ``datasets``: only these kinds (empty: all); ``items``: how many of each.
    """

    datasets: Sequence[str] = ()
    items: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Items that stand or fall together. ``name`` starts with the verifier's name.

    ``wordless``: only fixed answers without a letter or digit are tried, and nothing is mutated.
    """

    name: str
    verifier: str
    items: Sequence[Item]
    wordless: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """A fixed way to answer without solving: ``answer(item, group)`` is a text, or None (does not apply).

    ``raw`` answers are whole responses; others are written as the verifier's spec says.
    """

    name: str
    answer: Callable[[Item, Group], str | None]
    raw: bool = False


Kind = Literal[
    "denied", "another", "appended", "digit", "precision", "order", "suffix", "junk", "broken"
]
"""What a mutation does to a right answer: say that it is wrong, give another one too, append more of the same,
change a digit, leave digits out, swap parts, put a sign behind a number, put something around it,
miss a constraint."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fixed way to make a right answer wrong: ``spoil(right, item, group)``, or None (does not apply).

    ``allowed``: the partial credit that is no leak, for a mutation that leaves most of the answer right.
    """

    name: str
    kind: Kind
    spoil: Callable[[str, Item, Group], str | None]
    allowed: float = 0.0


def never_right(reference: Reference) -> Collection[Kind]:
    """Return no kinds: each mutation makes a right answer wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class AuditShape:
    """How ``prorl verify audit`` attacks a verifier. Every field has a default."""

    probes: Callable[[], Sequence[Probe]] | None = None
    """Answers that solve nothing; by default constants, blanks and echoes."""
    mutations: Callable[[], Sequence[Mutation]] | None = None
    """Ways to make a right answer wrong; by default negations, second answers, changed digits, junk."""
    may_be_right: Callable[[Reference], Collection[Kind]] = never_right
    """Kinds of mutations that may leave the answer to this task right: the audit does not try them."""
    groups: Callable[[AuditRequest], Iterable[Group]] | None = None
    """Tasks of its own to audit; without them ``prorl verify audit --file`` brings some."""
    chance: Callable[[Reference], float] | None = None
    """What the best constant answer earns on one task by its form; by default estimated from the answers."""


def constant(name: str, text: str, raw: bool = False) -> Probe:
    """Return the probe that answers ``text`` to everything."""
    return Probe(name, lambda item, group: text, raw)


def plain(text: str) -> str:
    """Return an answer for exact comparison: case, white space and a final full stop do not count."""
    return " ".join(text.casefold().split()).removesuffix(".")


def options_of(item: Item) -> list[str]:
    """Return the texts of a multiple-choice item's options, or nothing."""
    choices: Any = item.task.reference.get("choices")
    return [str(choice) for choice in choices] if isinstance(choices, list) else []
