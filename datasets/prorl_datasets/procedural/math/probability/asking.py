"""Builds problems that ask for a probability or an expected value."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def probability(
    rng: Random, scene: str, event: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the probability of ``event`` (a clause: "the sum is 7") after the text ``scene``."""
    if level == 3 and rng.random() < 0.35:
        text = WORDINGS.draw(rng, "probability, level 3", event=event)
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    text = WORDINGS.draw(rng, "probability", event=event)
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})


def expected(
    rng: Random, scene: str, quantity: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the expected value of ``quantity`` ("the number of heads") after the text ``scene``."""
    if level == 3 and rng.random() < 0.3 and value.denominator > 1:
        text = WORDINGS.one("expected 2", quantity=quantity)
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    text = WORDINGS.draw(rng, "expected", quantity=quantity)
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})
