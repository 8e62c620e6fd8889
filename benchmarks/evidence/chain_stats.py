"""The statistics of docs/evidence/boundary-study.md, as stated there before the runs.

An item's value is its pass@k in one run. Values of an arm are an array [seeds, items]. Leaves out: reading
the data and showing the numbers (``chain_report``), and how often a claim would be wrong (``chain_power``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from chain_study import EVAL_SAMPLES, OUTSIDE_SAMPLES, K
from numpy.typing import NDArray
from small_stats import item_variance

from prorl_evaluation import pass_at_k
from prorl_evaluation.stats.distributions import t_quantile

Floats = NDArray[np.float64]
Groups = Mapping[str, Mapping[str, Any]]
"""Group ``family/rung`` -> {"correct": right answers of each item}."""
GAIN_MARGIN, LOSS_MARGIN = 0.01, 0.05
"""Of pass@1 outside the base's boundary, and of pass@128 where the base was good."""
FLOOR = 1e-4
"""Least mean pass@1 of a seed in a logarithm: far below GAIN_MARGIN, so that it decides no claim."""
GOOD = 0.9
"""The base was good where its pass@128 is at least so."""
PRIMARY_LEVEL, LEVEL = 0.975, 0.95
"""Of intervals: of the two primary claims, together 95 %, and of all others."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a difference of means with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Place:
    """One held-out item: its group and its place there."""

    group: str
    index: int


def outside(base: Groups) -> list[Place]:
    """Return the items outside the base's boundary: 0 right of OUTSIDE_SAMPLES."""
    return [place for place, correct in _counts(base) if correct == 0]


def good(base: Groups) -> list[Place]:
    """Return the items on which the base was good: pass@K of at least GOOD."""
    return [p for p, correct in _counts(base) if pass_at_k(OUTSIDE_SAMPLES, correct, K) >= GOOD]


def _counts(groups: Groups) -> list[tuple[Place, int]]:
    return [
        (Place(name, i), correct)
        for name, group in groups.items()
        for i, correct in enumerate(group["correct"])
    ]


def values(runs: Sequence[Groups], places: Sequence[Place], k: int) -> Floats:
    """Return pass@k of every place in every run, [runs, places], of EVAL_SAMPLES samples each."""
    return np.array(
        [
            [pass_at_k(EVAL_SAMPLES, run[p.group]["correct"][p.index], k) for p in places]
            for run in runs
        ]
    )


def typical(runs: Floats, groups: Sequence[str], level: float) -> Estimate:
    """Return the geometric mean over seeds of the mean over items, with its interval over seeds and items.

    On logarithms, since seeds that learn at all differ by factors: t with n - 1 degrees and the variance
    s2 / n + v / m**2, where s2 is the variance of the seeds' logarithms, m the mean and v the variance that
    drawing items again within their ``groups`` gives it. A seed counts as FLOOR at least.
    """
    return _exp(_mean_log(runs, groups), len(runs) - 1, level)


def ratio(a: Floats, b: Floats, groups: Sequence[str], level: float) -> Estimate:
    """Return how many times ``a``'s typical value is ``b``'s; items are the same and drawn again together."""
    logs = [_seed_logs(x) for x in (a, b)]
    value = float(logs[0].mean() - logs[1].mean())
    between = sum(float(x.var(ddof=1)) / len(x) for x in logs)
    relative = [x.mean(axis=0) / max(float(x.mean()), FLOOR) for x in (a, b)]
    variance = between + item_variance(relative[0] - relative[1], groups)
    return _exp((value, variance), len(a) + len(b) - 2, level)


def _mean_log(runs: Floats, groups: Sequence[str]) -> tuple[float, float]:
    """Return the mean of the seeds' logarithms and its variance."""
    logs = _seed_logs(runs)
    items = runs.mean(axis=0) / max(float(runs.mean()), FLOOR)
    return float(logs.mean()), float(logs.var(ddof=1)) / len(logs) + item_variance(items, groups)


def _seed_logs(runs: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(runs.mean(axis=1), FLOOR))
    return logs


def _exp(found: tuple[float, float], degrees: int, level: float) -> Estimate:
    value, variance = found
    half = t_quantile((1 - level) / 2, degrees) * math.sqrt(variance)
    return Estimate(math.exp(value), math.exp(value - half), math.exp(value + half))


def difference(a: Floats, b: Floats, groups: Sequence[str], level: float) -> Estimate:
    """Return mean(a) - mean(b) with its interval over seeds and items; ``b`` may be a base, [1, items].

    t with as many degrees as the two sides have seeds beyond their first, and the variance
    s2_a / n_a + s2_b / n_b + v: s2 is a side's own variance between seeds (a base has none), v the
    variance that drawing items again within their ``groups`` gives the difference.
    """
    sides = [x.mean(axis=1) for x in (a, b) if len(x) > 1]
    between = sum(float(means.var(ddof=1)) / len(means) for means in sides)
    gap = a.mean(axis=0) - b.mean(axis=0)
    degrees = sum(len(means) - 1 for means in sides)
    half = t_quantile((1 - level) / 2, degrees) * math.sqrt(between + item_variance(gap, groups))
    value = float(gap.mean())
    return Estimate(value, value - half, value + half)


def gained(found: Estimate) -> str:
    """Return whether the boundary moved: ``yes``, ``no`` or ``undecided``, by GAIN_MARGIN."""
    if found.low > GAIN_MARGIN:
        return "yes"
    return "no" if found.high < GAIN_MARGIN else "undecided"


def kept(found: Estimate) -> str:
    """Return whether pass@K was ``kept`` where the base was good, ``lost``, or ``undecided``, by LOSS_MARGIN."""
    if found.high < -LOSS_MARGIN:
        return "lost"
    return "kept" if found.low > -LOSS_MARGIN else "undecided"
