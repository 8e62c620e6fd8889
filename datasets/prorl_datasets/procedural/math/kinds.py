"""Builds families from kinds, which are functions that draw one sort of problem."""

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
    """Return a family of problems. ``easy``, ``middle`` and ``hard`` are the functions that draw a problem of each level."""

    def make(rng: Random, level: int) -> Problem:
        return rng.choice((easy, middle, hard)[level - 1])(rng)

    return math_family(name, make, summary)


def posed(kind: str, question: str, answer: int | Fraction | str, **given: object) -> Problem:
    """Return a problem that is identified by ``kind`` and the numbers ``given``."""
    text = answer if isinstance(answer, str) else fraction(answer)
    return Problem(question, text, {"kind": kind, **given})
