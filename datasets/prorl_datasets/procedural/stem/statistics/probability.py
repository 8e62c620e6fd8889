"""Problems on distributions, Bayes' theorem and conditional probability.

Events and draws are independent unless the question says otherwise.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _binomial(rng: Random, level: int) -> Solved:
    what = pick(rng, "a seed germinates", "a shot hits", "a component passes", "a patient responds")
    n, p = rng.randint(5, 8 + 4 * level), clean(rng, 0.1, 0.9, 3)
    k = min(max(round(n * p) + rng.randint(-2, 2), 1), n - 1)
    terms = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    lead = f"The probability that {what} is {shown(p)}, independently in each of {n} trials."
    parameters: dict[str, Any] = {"n": n, "p": p, "k": k, "ask": level}
    if level == 1:
        text = f"{lead} What is the probability that this happens in exactly {k} of them?"
        wrong: tuple[float, ...] = (
            p**k,
            p**k * (1 - p) ** (n - k),
            math.comb(n, k) * p**k,
            1 - terms[k],
        )
        return Solved(text, terms[k], "", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} What is the standard deviation of the number of times that this happens?"
        wrong = (n * p * (1 - p), n * p, math.sqrt(n * p), math.sqrt(p * (1 - p) / n))
        return Solved(text, math.sqrt(n * p * (1 - p)), "", {"n": n, "p": p, "ask": 2}, 3, wrong)
    text = f"{lead} What is the probability that this happens in at least {k} of them?"
    value = math.fsum(terms[k:])
    wrong = (1 - value, math.fsum(terms[k + 1 :]), terms[k], math.fsum(terms[: k + 1]))
    return Solved(text, value, "", parameters, 3, wrong)


COUNTED = (("calls", "hour"), ("mutations", "generation"), ("decays", "second"), ("cars", "minute"))
"""(what is counted, the time span of the mean)."""


def point(i: int, mean: float) -> float:
    return math.exp(-mean) * mean**i / math.factorial(i)


def _poisson(rng: Random, level: int) -> Solved:
    what, place = rng.choice(COUNTED)
    rate = clean(rng, 0.5, 9, 2)
    k = min(max(round(rate) + rng.randint(-2, 2), 0), 12)
    lead = f"The number of {what} is Poisson distributed with a mean of {shown(rate)} per {place}."
    if level == 1:
        text = f"{lead} What is the probability of exactly {k} in a {place}?"
        wrong: tuple[float, ...] = (
            rate**k / math.factorial(k),
            math.exp(-rate),
            point(k + 1, rate),
            1 - point(k, rate),
        )
        return Solved(text, point(k, rate), "", {"rate": rate, "k": k}, 3, wrong)
    times = rng.randint(2, 5)
    mean = rate * times
    if level == 2:
        k = max(round(mean) + rng.randint(-3, 3), 0)
        text = f"{lead} What is the probability of exactly {k} in {times} {place}s?"
        wrong = (
            point(k, rate),
            times * point(k, rate),
            point(k, rate) ** times,
            point(k + 2, mean),
        )
        return Solved(text, point(k, mean), "", {"rate": rate, "k": k, "times": times}, 3, wrong)
    mean, k = rate * times / 4, rng.randint(1, 4)
    text = f"{lead} What is the probability of more than {k} in {shown(times / 4)} "
    text += f"{place}{'' if times == 4 else 's'}?"
    value = 1 - math.fsum(point(i, mean) for i in range(k + 1))
    if value < 0.005:
        return _poisson(rng, level)
    wrong = (
        1 - value,
        value + point(k, mean),
        point(k + 1, mean),
        1 - math.fsum(point(i, rate) for i in range(k + 1)),
    )
    return Solved(text, value, "", {"rate": rate, "k": k, "times": times / 4}, 3, wrong)


def _bayes(rng: Random, level: int) -> Solved:
    what = rng.choice(("a disease", "a contaminated batch", "a plant virus", "a fraudulent claim"))
    prior, hit, false = clean(rng, 0.2, 20, 1), clean(rng, 75, 99.5, 1), clean(rng, 0.5, 20, 1)
    lead = WORDINGS.one(
        "bayes lead", what=what, hit=shown(hit), false=shown(false), prior=shown(prior)
    )
    a, b, c = prior / 100, hit / 100, false / 100
    positive = a * b + (1 - a) * c
    parameters: dict[str, Any] = {"prior": prior, "hit": hit, "false": false, "ask": level}
    if level == 1:
        text = f"{lead} What percent of all tests are positive?"
        wrong: tuple[float, ...] = (100 * a * b, hit, hit + false, 100 - 100 * positive)
        return Solved(text, 100 * positive, "%", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} A test is positive. What is the probability that {what} is present?"
        wrong = (b, a, a * b, b / (b + c), 1 - a * b / positive)
        return Solved(text, a * b / positive, "", parameters, 3, wrong)
    text = f"{lead} Two independent tests of the same case are both positive. What is the "
    text += f"probability that {what} is present?"
    value = a * b * b / (a * b * b + (1 - a) * c * c)
    wrong = (a * b / positive, b * b, (a * b / positive) ** 2, 1 - value)
    return Solved(text, value, "", parameters, 3, wrong)


def _conditional(rng: Random, level: int) -> Solved:
    who = rng.choice(("patients", "students", "trees", "machines"))
    names = {"patients": ("smoke", "cough"), "students": ("play music", "do sports"),
             "trees": ("bear moss", "are hollow"), "machines": ("are old", "are noisy")}[who]  # fmt: skip
    counts = [rng.randint(8, 250) for _ in range(4)]
    both, one, other, none = counts
    text = f"Among {sum(counts)} {who}, {both + one} {names[0]} and {both + other} {names[1]}; "
    text += f"{both} are in both groups."
    parameters: dict[str, Any] = {"counts": counts, "ask": level}
    total = sum(counts)
    if level == 1:
        text += WORDINGS.one("conditional", who=who)
        wrong: tuple[float, ...] = (
            (2 * both + one + other) / total,
            none / total,
            both / total,
            (one + other) / total,
        )
        return Solved(text, (both + one + other) / total, "", parameters, 3, wrong)
    if level == 2:
        text += f" One is drawn at random from those that {names[1]}. What is the probability "
        text += f"of drawing one that also belongs to those that {names[0]}?"
        wrong = (both / total, both / (both + one), (both + one) / total, (both + other) / total)
        return Solved(text, both / (both + other), "", parameters, 3, wrong)
    text += " If belonging to the two groups were independent with the same shares, how many of "
    text += f"those that {names[0]} would be expected not to be among those that {names[1]}?"
    value = (both + one) * (one + none) / total
    wrong = ((both + one) * (both + other) / total, one, (one + none) / 2, (both + one) / 2)
    return Solved(text, value, "", parameters, 3, wrong)


FAMILIES = (
    stem_family("statistics_binomial", _binomial),
    stem_family("statistics_poisson", _poisson),
    stem_family("statistics_bayes", _bayes),
    stem_family("statistics_conditional", _conditional),
)
