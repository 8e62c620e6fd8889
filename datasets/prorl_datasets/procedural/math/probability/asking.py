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


def probability(
    rng: Random, scene: str, event: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the probability of ``event`` (a clause: "the sum is 7") after ``scene``.

    A third of the questions of level 3 ask for m + n, where the probability is m/n.
    """
    if level == 3 and rng.random() < 0.35:
        text = rng.choice(phrasings(
            f"The probability that {event} is $\\frac{{m}}{{n}}$, where $m$ and $n$ are "
            "relatively prime "
            "positive integers. Find $m + n$.",
            f"Let $\\frac{{m}}{{n}}$, in lowest terms, be the probability that {event}. What is "
            "$m + n$?",
            f"If the probability that {event} is written as a reduced fraction "
            "$\\frac{a}{b}$, what is "
            "$a + b$?",
        ))  # fmt: skip
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    text = rng.choice(phrasings(
        f"What is the probability that {event}? Express your answer as a common fraction.",
        f"Find, as a common fraction, the probability that {event}.",
        f"How likely is it that {event}? A reduced fraction is wanted.",
        f"Determine the probability that {event}, in lowest terms.",
        f"As a fraction in simplest form, what is the probability that {event}?",
        f"Let $p$ be the probability that {event}. Compute the exact value of $p$.",
        f"What is the chance, written as $\\frac{{a}}{{b}}$ in lowest terms, that {event}?",
        f"Give the exact probability that {event}.",
        f"Calculate $P(E)$ as a simplified fraction, where $E$ is the event that {event}.",
        f"Which fraction in lowest terms equals the probability that {event}?",
        f"Someone bets that {event}. Find the exact probability that this bet is won.",
        f"Write the probability that {event} as an irreducible fraction.",
    ))  # fmt: skip
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})


def expected(
    rng: Random, scene: str, quantity: str, value: Fraction, values: Mapping[str, Any], level: int
) -> Problem:
    """Ask for the expected value of ``quantity`` ("the number of heads") after ``scene``."""
    if level == 3 and rng.random() < 0.3 and value.denominator > 1:
        text = (
            f"The expected value of {quantity} is $\\frac{{m}}{{n}}$ with relatively prime "
            "positive "
            "integers $m$ and $n$. Find $m + n$."
        )
        answer = str(value.numerator + value.denominator)
        return Problem(f"{scene} {text}".strip(), answer, {**values, "form": "sum"})
    text = rng.choice(phrasings(
        f"What is the expected value of {quantity}, as an integer or a reduced fraction?",
        f"Find the exact expected value of {quantity}.",
        f"On average, how large is {quantity}? The exact value is wanted, not a decimal.",
        f"Determine the mean of {quantity} over all possible outcomes, weighted with their "
        "probabilities. "
        "Give an integer or a common fraction.",
        f"Calculate the expectation of {quantity}. If it is not an integer, write it as a "
        "fraction in lowest "
        "terms.",
        f"Let $X$ be {quantity}. Compute $E(X)$ exactly.",
        f"If all this is repeated very often, what value does the average of {quantity} "
        "approach? Answer with "
        "an exact number.",
        f"Which integer or irreducible fraction is the expected value of {quantity}?",
    ))  # fmt: skip
    return Problem(f"{scene} {text}".strip(), fraction(value), {**values, "form": "fraction"})
