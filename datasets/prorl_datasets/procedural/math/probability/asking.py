"""How a question about a probability or an expected value is put, and in which form it is answered.

Holds no family.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

from prorl_datasets.procedural.math.drawing import phrasings
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.problem import Problem

_FORMS = (
    "Express your answer as a common fraction.",
    "Give a fraction in lowest terms.",
    "Write the answer as a reduced fraction.",
    "Answer with a fraction in simplest form.",
    "State the exact value as a fraction that cannot be simplified.",
    "The answer should be an exact fraction in lowest terms.",
)


def probability(
    rng: Random, scene: str, event: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the probability of ``event`` (a clause: "the sum is 7") after ``scene``.

    A third of the questions of level 3 ask for m + n, where the probability is m/n.
    """
    if level == 3 and rng.random() < 0.35:
        text = rng.choice(phrasings(
            f"The probability that {event} is $\\frac{{m}}{{n}}$, where $m$ and $n$ are relatively prime "
            "positive integers. Find $m + n$.",
            f"Let $\\frac{{m}}{{n}}$, in lowest terms, be the probability that {event}. What is $m + n$?",
            f"If the probability that {event} is written as a reduced fraction $\\frac{{a}}{{b}}$, what is "
            "$a + b$?",
        ))  # fmt: skip
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    form = rng.choice(_FORMS)
    text = rng.choice((
        f"What is the probability that {event}? {form}",
        f"Find the probability that {event}. {form}",
        f"How likely is it that {event}? {form}",
        f"Determine the probability that {event}, as a fraction in lowest terms.",
        f"With what probability is it true that {event}? {form}",
        f"Let $p$ be the probability that {event}. Compute $p$ as a fraction in lowest terms.",
        f"What is the chance that {event}? {form}",
    ))  # fmt: skip
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})


def expected(
    rng: Random, scene: str, quantity: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the expected value of ``quantity`` ("the number of heads") after ``scene``."""
    if level == 3 and rng.random() < 0.3 and value.denominator > 1:
        text = (
            f"The expected value of {quantity} is $\\frac{{m}}{{n}}$ with relatively prime positive "
            "integers $m$ and $n$. Find $m + n$."
        )
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    form = rng.choice((
        "Give an integer or a fraction in lowest terms.",
        "Express your answer as an integer or a common fraction.",
        "If it is not an integer, write it as a reduced fraction.",
        "Answer exactly, with a simplified fraction where necessary.",
    ))  # fmt: skip
    text = rng.choice(phrasings(
        f"What is the expected value of {quantity}? {form}",
        f"Find the expected value of {quantity}. {form}",
        f"On average, how large is {quantity}? {form}",
        f"Determine the mean of {quantity} over all possible outcomes, weighted with their probabilities. "
        f"{form}",
        f"Calculate the expectation of {quantity}. {form}",
    ))  # fmt: skip
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})
