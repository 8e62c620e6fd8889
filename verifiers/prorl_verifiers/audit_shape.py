"""The tasks, probes and mutations that ``prorl verify audit`` tries on a verifier."""

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
    """A task of the audit. ``question`` is the prompt, or "" if it is unknown.

    ``chance``: the expected reward of a blind guess, such as 1/options, or None to estimate it.
    ``right``: the correct answer that is made wrong, or None for ``gold``.
    """

    id: str
    task: Task
    question: str = ""
    gold: str | None = None
    chance: float | None = None
    right: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The datasets to audit (empty: all) and the number of ``items`` drawn from each."""

    datasets: Sequence[str] = ()
    items: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are audited together. ``name`` starts with the verifier's name.

    If ``wordless`` is set, only constant answers without letters and digits are tried.
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

    If ``raw`` is set, the answer is the whole response. Otherwise ``DataShape.write`` formats it.
    """

    name: str
    answer: Answer
    raw: bool = False


Kind = Literal[
    "denied", "another", "appended", "digit", "precision", "order", "suffix", "junk", "broken"
]
"""What a mutation does to a correct answer: ``denied`` negates it, ``another`` adds a different answer, ``appended``
adds more of the same kind, ``digit`` changes a digit, ``precision`` drops digits, ``order`` swaps parts, ``suffix``
puts a sign after a number, ``junk`` surrounds it with junk, and ``broken`` violates a constraint.
"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A way to make a correct answer wrong. ``allowed`` is the partial credit that the wrong answer may earn.

    ``spoil(right, item, group)`` returns the wrong answer, or None if the mutation does not apply.
    """

    name: str
    kind: Kind
    spoil: Callable[[str, Item, Group], str | None]
    allowed: float = 0.0


def never_right(reference: Reference) -> Collection[Kind]:
    return ()


@dataclass(frozen=True, slots=True)
class AuditShape:
    """How ``prorl verify audit`` tests a verifier."""

    probes: Callable[[], Sequence[Probe]] | None = None
    """Answers that ignore the problem; by default constants, blanks and echoes."""
    mutations: Callable[[], Sequence[Mutation]] | None = None
    """Ways to make a correct answer wrong; by default negations, second answers, changed digits, junk."""
    may_be_right: Callable[[Reference], Collection[Kind]] = never_right
    """Kinds of mutations after which an answer to this task may still be correct; the audit skips them."""
    groups: Callable[[AuditRequest], Iterable[Group]] | None = None
    """Built-in tasks to audit; None: the user passes tasks with ``prorl verify audit --file``."""
    chance: Callable[[Reference], float] | None = None
    """Expected reward of the best constant answer to a task; by default estimated from the golds."""


@cache
def table_of(module: str) -> Mapping[str, Any]:
    """Return the content of the JSON file beside ``module``, which has the same name."""
    table: Mapping[str, Any] = json.loads(Path(module).with_suffix(".json").read_text("utf-8"))
    return table


def constant(name: str, text: str, raw: bool = False) -> Probe:
    return Probe(name, lambda item, group: text, raw)


def plain(text: str) -> str:
    """Normalise an answer for comparison: lower case, single spaces, no final full stop."""
    return " ".join(text.casefold().split()).removesuffix(".")


def options_of(item: Item) -> list[str]:
    choices: Any = item.task.reference.get("choices")
    return [str(choice) for choice in choices] if isinstance(choices, list) else []
