"""Problems on the probability of draws.

Draws are independent unless the question says otherwise.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.stem.wording import named
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _counting(rng: Random, level: int) -> Solved:
    n, k = rng.randint(7, 40), rng.randint(2, 6)
    k = min(k, n // 2)
    if level == 1:
        n = rng.randint(7, 250)
        k, kind = min(k, n // 2), rng.choice(("teams", "prizes", "codes"))
        group, what = pick(
            rng, ("students", "a team"), ("plots", "a sample"), ("proteins", "a panel")
        )
        text = WORDINGS.one(f"counting {kind}", what=what, k=k, n=n, group=group)
        counts = {"teams": math.comb(n, k), "prizes": math.perm(n, k), "codes": n**k}
        wrong: tuple[float, ...] = (
            *counts.values(),
            math.comb(n + k - 1, k),
            k**n if n < 12 else n * k,
        )
        value = counts[kind]
        return Solved(text, value, "", {"n": n, "k": k, "kind": kind}, 3, wrong, value < 1e8)
    m, j = rng.randint(5, 20), rng.randint(1, 4)
    who = rng.choice((("doctors", "nurses"), ("women", "men"), ("chemists", "physicists")))
    if level == 2:
        text = f"From {n} {who[0]} and {m} {who[1]} a group with {k} of the {who[0]} and {j} of the {who[1]} is "
        text += "to be chosen. In how many ways is this possible?"
        value = math.comb(n, k) * math.comb(m, j)
        wrong = (
            math.comb(n, k) + math.comb(m, j),
            math.comb(n + m, k + j),
            math.perm(n, k) * math.perm(m, j),
        )
        return Solved(text, value, "", {"n": n, "k": k, "m": m, "j": j}, 3, wrong, value < 1e8)
    return _counting_hard(rng, j, k, n, who, m)


def _counting_hard(rng: Random, j: int, k: int, n: int, who: tuple[str, str], m: int) -> Solved:
    j = min(j, k)
    text = f"From {n} {who[0]} and {m} {who[1]} a group of {k + 1} is to be chosen with at least "
    text += f"{j} of the {who[1]}. In how many ways is this possible?"
    parts = [math.comb(m, i) * math.comb(n, k + 1 - i) for i in range(k + 2)]
    wrong = (
        math.comb(n + m, k + 1),
        parts[j],
        math.comb(m, j) * math.comb(n + m - j, k + 1 - j),
        sum(parts[:j]),
    )
    parameters: dict[str, Any] = {"n": n, "size": k + 1, "m": m, "least": j}
    return Solved(text, sum(parts[j:]), "", parameters, 3, wrong, sum(parts[j:]) < 1e8)


def _expectation(rng: Random, level: int) -> Solved:
    what = pick(rng, "A lottery ticket", "A repair contract", "A harvest forecast", "A fair game")
    size = rng.randint(3, 5)
    values = rng.sample(range(-20, 101, 5), size)
    cuts = sorted(rng.sample(range(1, 20), size - 1))
    chances = [5 * (b - a) for a, b in zip([0, *cuts], [*cuts, 20], strict=True)]
    rows = named(
        [f"{v} with probability {shown(c / 100)}" for v, c in zip(values, chances, strict=True)]
    )
    first = sum(v * c for v, c in zip(values, chances, strict=True)) / 100
    second = sum(v * v * c for v, c in zip(values, chances, strict=True)) / 100
    if abs(first) < 1:
        return _expectation(rng, level)
    text = f"{what} pays {rows}. "
    parameters: dict[str, Any] = {
        "values": sorted(map(list, zip(values, chances, strict=True))),
        "ask": level,
    }
    if level == 1:
        text += "What is the expected payment?"
        return Solved(
            text, first, "", parameters, 3, (sum(values) / size, -first, first / size, first * 2)
        )
    spread = second - first**2
    if level == 2:
        text += "What is the standard deviation of the payment?"
        wrong: tuple[float, ...] = (spread, math.sqrt(second), math.sqrt(spread / size), abs(first))
        return Solved(text, math.sqrt(spread), "", parameters, 3, wrong)
    return _expectation_hard(rng, text, spread, first, second, parameters)


def _expectation_hard(
    rng: Random, text: str, spread: float, first: float, second: float, parameters: dict[str, Any]
) -> Solved:
    n, price = rng.randint(2, 12), rng.randint(1, 40)
    text += f"Someone pays a fixed fee of {price} and then takes part {n} times independently; X "
    text += "is the sum of the payments less the fee. What is the mean of X squared?"
    value = n * spread + (n * first - price) ** 2
    wrong = (
        (n * first - price) ** 2,
        n * spread,
        n * second,
        n * n * spread + (n * first - price) ** 2,
    )
    return Solved(text, value, "", {**parameters, "n": n, "price": price}, 3, wrong)


def _hypergeometric(rng: Random, level: int) -> Solved:
    what, good = pick(
        rng, ("fuses", "defective"), ("fish", "tagged"), ("cards", "red"), ("eggs", "cracked")
    )
    n, marked, k = rng.randint(30, 150), rng.randint(4, 12), rng.randint(3, 6)
    hits = rng.randint(1, 2)
    lead = f"Of {n} {what}, {marked} are {good}. {k} are drawn at random without replacement."

    def point(i: int) -> float:
        return math.comb(marked, i) * math.comb(n - marked, k - i) / math.comb(n, k)

    p = marked / n
    parameters: dict[str, Any] = {"n": n, "marked": marked, "k": k, "ask": level}
    if level == 1:
        text = f"{lead} What is the probability that none of them is {good}?"
        wrong: tuple[float, ...] = ((1 - p) ** k, 1 - point(0), p**k, point(1))
        return Solved(text, point(0), "", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} What is the probability that exactly {hits} of them "
        text += f"{'is' if hits == 1 else 'are'} {good}?"
        wrong = (
            math.comb(k, hits) * p**hits * (1 - p) ** (k - hits),
            point(0),
            p**hits,
            1 - point(hits),
        )
        return Solved(text, point(hits), "", {**parameters, "hits": hits}, 3, wrong)
    text = f"{lead} At least one of them is {good}. What is the probability that exactly {hits} "
    text += f"{'is' if hits == 1 else 'are'}?"
    value = point(hits) / (1 - point(0))
    wrong = (point(hits), point(hits) / point(0), 1 - point(0), 1 - value)
    return Solved(text, value, "", {**parameters, "hits": hits}, 3, wrong)


def _waiting(rng: Random, level: int) -> Solved:
    what = rng.choice(("a lamp fails", "an egg hatches", "a bus arrives", "a claim comes in"))
    scale, t = clean(rng, 1, 60, 1), clean(rng, 1, 90, 1)
    if level == 1:
        p, k = clean(rng, 0.05, 0.6, 3), rng.randint(2, 8)
        text = f"Each trial succeeds with probability {shown(p)}, independently. What is the "
        text += f"probability that the first success comes in trial {k}?"
        wrong: tuple[float, ...] = (p * (1 - p) ** k, (1 - p) ** (k - 1), p**k, 1 - (1 - p) ** k)
        return Solved(text, p * (1 - p) ** (k - 1), "", {"p": p, "k": k}, 3, wrong)
    lead = f"The time until {what} is exponentially distributed with mean {shown(scale)} days."
    if level == 2:
        percent = rng.randint(5, 95)
        text = f"{lead} After how many hours has it happened with a probability of {percent}%?"
        value = -scale * math.log(1 - percent / 100) * 24
        wrong = (
            value / 24,
            -scale * math.log(percent / 100) * 24,
            scale * percent / 100 * 24,
            value / scale,
        )
        return Solved(text, value, "", {"mean": scale, "percent": percent}, 3, wrong)
    more = clean(rng, 1, 60, 1)
    text = f"{lead} It has not happened in the first {shown(t)} days. What is the probability "
    text += f"that it happens within the next {shown(more)} days?"
    value = 1 - math.exp(-more / scale)
    if value > 0.995:
        return _waiting(rng, level)
    wrong = (1 - math.exp(-(t + more) / scale), math.exp(-more / scale), more / scale)
    return Solved(text, value, "", {"mean": scale, "t": t, "more": more}, 3, wrong)


FAMILIES = (
    stem_family("statistics_counting", _counting),
    stem_family("statistics_expectation", _expectation),
    stem_family("statistics_hypergeometric", _hypergeometric),
    stem_family("statistics_waiting_time", _waiting),
)
