"""Builds items from solved mathematical problems."""

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
"""Allowed first words of family names."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one right answer."""

    question: str
    """The whole statement, with the form of the answer if several are possible."""
    answer: str
    """LaTeX without dollar signs, as the math verifier reads it."""
    parameters: Mapping[str, Any]
    """JSON values that identify the problem in its family, regardless of wording."""
    decimals: int | None = None
    """Number of decimals to which the question asks to round."""


def math_family(name: str, make: Callable[[Random, int], Problem], summary: str = "") -> Family:
    """Return a family whose problems are drawn by ``make(rng, level)``.

    Raises ValueError unless the name begins with a topic.
    """
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
    """Return a copy of ``family`` that redraws a problem once if its answer is one of ``answers``."""

    def generate(rng: Random, level: int) -> Item:
        item = family.generate(rng, level)
        return family.generate(rng, level) if item.answer in answers else item

    return replace(family, generate=generate)
