"""Problems on least-squares lines, covariance and correlation."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.stem.statistics.data import mean, squares
from prorl_datasets.procedural.stem.wording import named


def _line(rng: Random) -> tuple[str, list[float], list[float], float, float]:
    what = rng.choice(
        ("dose and response", "age and price", "height and temperature", "depth and salt content")
    )
    size = rng.randint(4, 6)
    xs = [float(x) for x in sorted(rng.sample(range(1, 21), size))]
    slope, start = rng.choice((-1, 1)) * clean(rng, 0.5, 4, 1), rng.randint(30, 90)
    ys = [round(start + slope * x + clean(rng, -6, 6, 1), 1) for x in xs]
    points = named([f"({shown(x)}, {shown(y)})" for x, y in zip(xs, ys, strict=True)])
    cross = math.fsum((x - mean(xs)) * (y - mean(ys)) for x, y in zip(xs, ys, strict=True))
    return f"For {what} the points (x, y) are {points}.", xs, ys, cross / squares(xs), cross


def _regression(rng: Random, level: int) -> Solved:
    lead, xs, ys, slope, cross = _line(rng)
    if abs(slope) < 0.1:
        return _regression(rng, level)
    start = mean(ys) - slope * mean(xs)
    parameters: dict[str, Any] = {"x": xs, "y": ys, "ask": level}
    if level == 1:
        text = f"{lead} What is the slope of the least-squares line of y on x?"
        wrong: tuple[float, ...] = (
            squares(ys) / cross,
            -slope,
            (ys[-1] - ys[0]) / (xs[-1] - xs[0]),
            cross / squares(ys),
        )
        return Solved(text, slope, "", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} What is the intercept of the least-squares line of y on x?"
        wrong = (mean(ys), ys[0], mean(ys) + slope * mean(xs), slope)
        if abs(start) < 2:
            return _regression(rng, level)
        return Solved(text, start, "", parameters, 3, wrong)
    left = math.fsum((y - start - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    text = f"{lead} What is the residual sum of squares of the least-squares line of y on x?"
    if left < 1:
        return _regression(rng, level)
    wrong = (squares(ys), squares(ys) - left, left / (len(xs) - 2), math.sqrt(left))
    return Solved(text, left, "", parameters, 2, wrong)


def _correlation(rng: Random, level: int) -> Solved:
    lead, xs, ys, slope, cross = _line(rng)
    r, n = cross / math.sqrt(squares(xs) * squares(ys)), len(xs)
    if abs(r) < 0.2:
        return _correlation(rng, level)
    parameters: dict[str, Any] = {"x": xs, "y": ys, "ask": level}
    if level == 1:
        text = f"{lead} What is the sample covariance (divisor n - 1)?"
        wrong = (cross / n, cross, r, -cross / (n - 1))
        return Solved(text, cross / (n - 1), "", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} What is Pearson's correlation coefficient?"
        return Solved(text, r, "", parameters, 3, (-r, r * r, slope, r * (n - 1) / n))
    ranks = [float(sorted(ys).index(y) + 1) for y in ys]
    if len(set(ys)) < n:
        return _correlation(rng, level)
    gaps = sum((i + 1 - rank) ** 2 for i, rank in enumerate(ranks))
    pick = rng.random() < 0.25 and gaps > 0
    rho = 1 - 6 * gaps / (n * (n * n - 1))
    if pick and abs(rho) > 0.05:
        text = f"{lead} What is Spearman's rank correlation?"
        return Solved(text, rho, "", {**parameters, "ask": "rho"}, 3, (r, -rho, 1 - rho, r * r))
    text = f"{lead} What share of the variance of y does the least-squares line on x explain (R "
    text += "squared)?"
    return Solved(text, r * r, "", parameters, 3, (abs(r), 1 - r * r, r**4, abs(slope)))


FAMILIES = (
    stem_family("statistics_regression", _regression),
    stem_family("statistics_correlation", _correlation),
)
