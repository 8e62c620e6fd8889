"""Problems on centre, spread and percentiles of data.

Sample variances divide by n - 1; every question says which variance it means.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.stem.wording import listed, named, plural
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

THINGS = (
    ("heights of seedlings in cm", 5, 60),
    ("waiting times in minutes", 1, 45),
    ("test scores", 20, 100),
    ("monthly rainfall totals in mm", 5, 90),
    ("reaction times in hundredths of a second", 15, 60),
    ("masses of eggs in g", 40, 75),
)


def _data(rng: Random, size: int, places: int) -> tuple[str, list[float]]:
    name, low, high = rng.choice(THINGS)
    values = [clean(rng, low, high, places) for _ in range(size)]
    while len(set(values)) < 3:
        values = [clean(rng, low, high, places) for _ in range(size)]
    return name, values


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def squares(values: list[float]) -> float:
    centre = mean(values)
    return math.fsum((x - centre) ** 2 for x in values)


def median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _mean(rng: Random, level: int) -> Solved:
    name, values = _data(rng, rng.randint(5, 8), 1)
    value = mean(values)
    parameters: dict[str, Any] = {"values": sorted(values), "ask": level}
    if level == 1:
        text = f"These are {name}: {listed(values)}. What is their mean?"
        wrong: tuple[float, ...] = (
            median(values),
            (max(values) + min(values)) / 2,
            value * len(values) / (len(values) - 1),
        )
        return Solved(text, value, "", parameters, 3, wrong)
    if level == 2:
        total = round(mean(values), 2)
        hidden = values[-1]
        text = f"The mean of {len(values)} {name} is {shown(total)}. All but one are "
        text += f"{listed(values[:-1])}. What is the missing value?"
        value = total * len(values) - math.fsum(values[:-1])
        if abs(value) < 1:
            return _mean(rng, level)
        wrong = (total, mean(values[:-1]), 2 * total - mean(values[:-1]), hidden + total)
        return Solved(text, value, "", {**parameters, "mean": total}, 2, wrong)
    size, bad = rng.randint(12, 60), clean(rng, 1, 30, 1)
    centre, old = clean(rng, 40, 70, 2), clean(rng, 30, 80, 1)
    new = round(old + rng.choice((-1, 1)) * bad, 1)
    extra, more = rng.randint(5, 40), clean(rng, 20, 90, 1)
    text = WORDINGS.one(
        "mean",
        size=size,
        name=name,
        centre=shown(centre),
        old=shown(old),
        new=shown(new),
        extra=extra,
        more=shown(more),
    )
    value = (size * centre - old + new + extra * more) / (size + extra)
    wrong = ((centre + more) / 2, (size * centre + extra * more) / (size + extra),
             (size * centre - old + new) / size, (size * centre + old - new + extra * more) / (size + extra))  # fmt: skip
    parameters = {"n": [size, extra], "means": [centre, more], "old": old, "new": new}
    return Solved(text, value, "", parameters, 4, wrong)


def _median(rng: Random, level: int) -> Solved:
    size = (2 * rng.randint(3, 5) + 1, 2 * rng.randint(3, 6), 2 * rng.randint(4, 6) + 1)[level - 1]
    name, values = _data(rng, size, 1)
    parameters: dict[str, Any] = {"values": sorted(values), "ask": level}
    ordered = sorted(values)
    if level < 3:
        text = f"These are {name}: {listed(values)}. What is their median?"
        wrong: tuple[float, ...] = (
            mean(values),
            values[size // 2],
            ordered[size // 2 - 1],
            ordered[size // 2 + 1],
        )
        return Solved(text, median(values), "", parameters, 3, wrong, True)
    low, high = median(ordered[: size // 2]), median(ordered[size // 2 + 1 :])
    if high - low < 0.5:
        return _median(rng, level)
    text = WORDINGS.one("median", name=name, values=listed(values))
    wrong = (max(values) - min(values), high, (high - low) / 2, median(values))
    return Solved(text, round(high - low, 4), "", parameters, 3, wrong, True)


def _spread(rng: Random, level: int) -> Solved:
    name, values = _data(rng, rng.randint(4, 5 + level), 0 if level == 1 else 1)
    n, total = len(values), squares(values)
    parameters: dict[str, Any] = {"values": sorted(values), "ask": level}
    text = f"These are {name}: {listed(values)}. "
    if level == 1:
        text += "What is the sample variance (divisor n - 1)?"
        wrong: tuple[float, ...] = (
            total / n,
            math.sqrt(total / (n - 1)),
            total,
            math.sqrt(total / n),
        )
        return Solved(text, total / (n - 1), "", parameters, 3, wrong)
    if level == 2:
        text += "What is the sample standard deviation (divisor n - 1)?"
        wrong = (
            math.sqrt(total / n),
            total / (n - 1),
            math.sqrt(total),
            (max(values) - min(values)) / 2,
        )
        return Solved(text, math.sqrt(total / (n - 1)), "", parameters, 3, wrong)
    if mean(values) < 1:
        return _spread(rng, level)
    text += "What is the coefficient of variation (sample standard deviation over mean, divisor "
    text += "n - 1)?"
    value = 100 * math.sqrt(total / (n - 1)) / mean(values)
    wrong = (
        100 * math.sqrt(total / n) / mean(values),
        1e4 / value,
        100 * total / (n - 1) / mean(values),
    )
    return Solved(text, value, "%", parameters, 3, wrong)


WEIGHED = (
    ("mines", "tonne", "ore grade in %"),
    ("batches", "tonne", "sugar content in %"),
    ("plots", "hectare", "yield in t/ha"),
    ("tanks", "litre", "salt content in g/L"),
)
"""(objects, their weight, their value)."""


def _weighted_mean(rng: Random, level: int) -> Solved:
    context = rng.choice(WEIGHED)
    size = rng.randint(3, 3 + level)
    weights = [rng.randint(1, 12) for _ in range(size)]
    values = [clean(rng, 2, 30, 1) for _ in range(size)]
    pairs = [f"{shown(v)} ({plural(w, context[1])})" for v, w in zip(values, weights, strict=True)]
    total = math.fsum(v * w for v, w in zip(values, weights, strict=True))
    value = total / sum(weights)
    lead = f"For {size} {context[0]} the {context[2]} is {named(pairs)}."
    parameters: dict[str, Any] = {
        "pairs": sorted(map(list, zip(values, weights, strict=True))),
        "ask": level,
    }
    if level == 1:
        text = f"{lead} What is the mean weighted by {context[1]}s?"
        wrong: tuple[float, ...] = (
            mean(values),
            total / size,
            median(values),
            total / (sum(weights) + size),
        )
        return Solved(text, value, "", parameters, 3, wrong)
    extra = rng.randint(2, 15)
    if level == 2:
        goal = round(value + clean(rng, 0.2, 1.5, 1), 1)
        text = f"{lead} One more with {extra} {context[1]}s is to bring the weighted mean to "
        text += f"{shown(goal)}. Which value must it have?"
        need = (goal * (sum(weights) + extra) - total) / extra
        wrong = (goal, 2 * goal - value, goal * (size + 1) - math.fsum(values))
        return Solved(text, need, "", {**parameters, "goal": goal, "extra": extra}, 3, wrong)
    spread = math.fsum(w * (v - value) ** 2 for v, w in zip(values, weights, strict=True)) / sum(
        weights
    )
    text = f"{lead} What is the weighted standard deviation: the root of the weighted mean of the "
    text += "squared deviations from the weighted mean?"
    wrong = (spread, math.sqrt(squares(values) / size), math.sqrt(squares(values) / (size - 1)))
    return Solved(text, math.sqrt(spread), "", parameters, 3, wrong)


def _z_score(rng: Random, level: int) -> Solved:
    what = pick(rng, "an entrance test", "a blood value", "the length of bolts", "a reading test")
    mu, sd = clean(rng, 30, 200, 1), clean(rng, 2, 25, 1)
    x = round(mu + rng.choice((-1, 1)) * sd * clean(rng, 0.3, 2.8, 2), 1)
    if level == 1:
        text = f"For {what} the mean is {shown(mu)} and the standard deviation {shown(sd)}. What "
        text += f"is the z-score of {shown(x)}?"
        wrong: tuple[float, ...] = ((mu - x) / sd, (x - mu) / sd**2, x - mu, (x - mu) / mu)
        return Solved(text, (x - mu) / sd, "", {"mu": mu, "sd": sd, "x": x}, 3, wrong)
    z = rng.choice((-1, 1)) * clean(rng, 0.3, 2.8, 2)
    if level == 2:
        text = f"For {what} the mean is {shown(mu)}. A value of {shown(round(mu + sd * z, 1))} "
        text += f"has the z-score {shown(z)}. What is the variance?"
        dev = (round(mu + sd * z, 1) - mu) / z
        return Solved(text, dev**2, "", {"mu": mu, "z": z, "x": round(mu + sd * z, 1)}, 2,
                      (dev, dev**2 * z * z, dev / z, math.sqrt(abs(dev))))  # fmt: skip
    mu2, sd2 = clean(rng, 30, 200, 1), clean(rng, 2, 25, 1)
    test = rng.choice(("An entrance test", "A reading test", "A fitness test", "A driving test"))
    text = WORDINGS.one(
        "z score", test=test, mu=shown(mu), sd=shown(sd), mu2=shown(mu2), sd2=shown(sd2), x=shown(x)
    )
    value = mu2 + sd2 * (x - mu) / sd
    if value < 1:
        return _z_score(rng, level)
    wrong = (x + mu2 - mu, x * mu2 / mu, mu2 - sd2 * (x - mu) / sd, mu2 + (x - mu))
    return Solved(text, value, "", {"mu": [mu, mu2], "sd": [sd, sd2], "x": x}, 3, wrong)


def inclusive(ordered: list[float], percent: int) -> float:
    """Return the percentile, interpolated at place 1 + (n - 1) percent/100."""
    last = len(ordered) - 1
    below, fraction_part = divmod(last * percent, 100)
    step = ordered[min(below + 1, last)] - ordered[below]
    return ordered[below] + step * fraction_part / 100


def _percentile(rng: Random, level: int) -> Solved:
    size = rng.choice((9, 11, 13)) if level == 1 else rng.randint(8, 14)
    name, values = _data(rng, size, 1)
    ordered, p = sorted(values), 5 * rng.randint(2, 18)
    lead = f"These are {name}: {listed(values)}. "
    if level == 1:
        p = 10 * rng.randint(1, 9)
        rank = math.ceil(size * p / 100)
        text = f"{lead}Use the nearest-rank rule (the value at place n p/100 in order, rounded "
        text += f"up). What is the {p}th percentile?"
        near = tuple(value for value in ordered if value != ordered[rank - 1])
        parameters: dict[str, Any] = {"values": ordered, "p": p, "ask": 1}
        return Solved(text, ordered[rank - 1], "", parameters, 3, near, True)
    rule = "Use linear interpolation: in order, place 1 + (n - 1) p/100. What is the "
    if level == 2:
        value = inclusive(ordered, p)
        if value < 1:
            return _percentile(rng, level)
        place = (size - 1) * p // 100
        near = (ordered[place], ordered[min(place + 1, size - 1)], median(values))
        parameters = {"values": ordered, "p": p, "ask": 2}
        return Solved(f"{lead}{rule}{p}th percentile?", value, "", parameters, 3, near)
    low, high = sorted(rng.sample(range(5, 96, 5), 2))
    value = inclusive(ordered, high) - inclusive(ordered, low)
    if value < 0.5:
        return _percentile(rng, level)
    text = f"{lead}{rule}difference of the {high}th and the {low}th percentile?"
    wrong = (
        inclusive(ordered, high),
        inclusive(ordered, low),
        max(values) - min(values),
        value / 2,
    )
    return Solved(text, value, "", {"values": ordered, "p": [low, high], "ask": 3}, 3, wrong)


FAMILIES = (
    stem_family("statistics_mean", _mean),
    stem_family("statistics_median", _median),
    stem_family("statistics_spread", _spread),
    stem_family("statistics_weighted_mean", _weighted_mean),
    stem_family("statistics_z_score", _z_score),
    stem_family("statistics_percentile", _percentile),
)
