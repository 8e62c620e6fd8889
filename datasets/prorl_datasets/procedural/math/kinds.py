"""Builds families that draw a kind of problem by level.

A kind is a function that draws a problem from random numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.items import Family
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem, math_family

Kind = Callable[[Random], Problem]


def of_kinds(
    name: str,
    easy: tuple[Kind, ...],
    middle: tuple[Kind, ...],
    hard: tuple[Kind, ...],
    summary: str = "",
) -> Family:
    """Return a family that draws one of the level's kinds, then a problem of this kind."""

    def make(rng: Random, level: int) -> Problem:
        return rng.choice((easy, middle, hard)[level - 1])(rng)

    return math_family(name, make, summary)


def posed(kind: str, question: str, answer: int | Fraction | str, **given: object) -> Problem:
    """Return the problem; ``given`` are the numbers in the question."""
    text = answer if isinstance(answer, str) else fraction(answer)
    return Problem(question, text, {"kind": kind, **given})
