"""The tasks, probes and mutations with which ``prorl verify audit`` attacks a verifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Item:
    """One task to attack. ``question`` is the prompt, or "" if it is unknown.

    ``chance``: the expected reward of a blind guess, such as 1/options. If None, it is estimated.
    ``right``: the correct answer from which wrong ones are made. None stands for ``gold``.
    """

    id: str
    task: Task
    question: str = ""
    gold: str | None = None
    chance: float | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """Selects ``items`` tasks of each dataset. No ``datasets`` means all datasets."""

    datasets: Sequence[str] = ()
    items: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are attacked together. ``name`` starts with the verifier's name.

    With ``wordless``, only constant answers without letters and digits are tried.
    """

    name: str
    verifier: str
    items: Sequence[Item]
    wordless: bool = False


Answer: TypeAlias = Callable[[Item, Group], str | None]
"""Returns a probe's answer to an item, or None if the probe does not apply."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to answer without solving the task.

    With ``raw``, the answer is the whole response. Otherwise the verifier's ``write`` formats it.
    """

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
    """A way to make a correct answer wrong. ``allowed`` is the partial credit that the wrong answer may earn.

    ``spoil(right, item, group)`` returns the wrong answer, or None if this mutation does not apply.
    """

    name: str
    kind: Kind
    spoil: Callable[[str, Item, Group], str | None]
    allowed: float = 0.0


def never_right(reference: Reference) -> Collection[Kind]:
    """Return an empty collection, because every mutation makes the answer wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class AuditShape:
    """The tasks, probes and mutations of one verifier's audit."""

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


@cache
def table_of(module: str) -> Mapping[str, Any]:
    """Return the JSON file beside a module, with the tasks and texts of its audit."""
    table: Mapping[str, Any] = json.loads(Path(module).with_suffix(".json").read_text("utf-8"))
    return table


def constant(name: str, text: str, raw: bool = False) -> Probe:
    return Probe(name, lambda item, group: text, raw)


def plain(text: str) -> str:
    """Normalise an answer for comparison, ignoring case, white space and a final full stop."""
    return " ".join(text.casefold().split()).removesuffix(".")


def options_of(item: Item) -> list[str]:
    choices: Any = item.task.reference.get("choices")
    return [str(choice) for choice in choices] if isinstance(choices, list) else []
