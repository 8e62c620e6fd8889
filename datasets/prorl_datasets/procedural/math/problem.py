r"""From a solved mathematical problem to an item.

A family draws the numbers, solves and words the problem (``Problem``); this module makes the
reference and the gold response.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from prorl_datasets.procedural.items import Family, Item
from prorl_verifiers import Task

TOPICS = (
    "algebra",
    "numbers",
    "counting",
    "probability",
    "geometry",
    "functions",
    "calculus",
    "stories",
)
"""The first word of every family's name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one right answer.

    ``question`` is the whole statement and says in which form the answer is wanted where several
    would do. ``answer`` is the gold as the math verifier reads it, LaTeX without dollar signs.
    ``parameters`` are JSON values that fix the problem without its wording: equal family and
    parameters are the same problem. ``decimals``: to how many places the question asks to round.
    """

    question: str
    answer: str
    parameters: Mapping[str, Any]
    decimals: int | None = None


def math_family(name: str, make: Callable[[Random, int], Problem], summary: str = "") -> Family:
    """Return the family of ``make(rng, level)``. Raises ValueError for a name without a topic."""
    if name.split("_")[0] not in TOPICS:
        raise ValueError(f"the name {name!r} does not begin with one of {', '.join(TOPICS)}")

    def generate(rng: Random, level: int) -> Item:
        made = make(rng, level)
        reference: dict[str, Any] = {"answer": made.answer}
        if made.decimals is not None:
            reference["decimals"] = made.decimals
        return Item(
            question=made.question,
            task=Task("math", reference),
            gold=f"\\boxed{{{made.answer}}}",
            answer=made.answer,
            parameters=made.parameters,
            core=made.question,
        )

    return Family(name, "math", generate, summary)


def seldom(family: Family, *answers: str) -> Family:
    """Return the family with another draw where the first has one of ``answers``, which are common in it."""

    def generate(rng: Random, level: int) -> Item:
        item = family.generate(rng, level)
        return family.generate(rng, level) if item.answer in answers else item

    return replace(family, generate=generate)
