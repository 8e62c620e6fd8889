"""The test and the intervals of docs/evidence/three-thousand-steps.md, as stated there before the runs.

An item's value is its pass@k; an arm's value in a seed is the mean over tasks of the mean over items.
Leaves out: reading the data and showing the numbers (``small_report``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_arms import EVAL_SAMPLES

from prorl_evaluation import Interval, bootstrap_ci, pass_at_k

Floats = NDArray[np.float64]
Groups = Mapping[str, Mapping[str, Any]]
"""Group (a task, or a ladder's level) -> {"correct": right answers of each item}."""
DRAWS = 10_000
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Test:
    """A difference of two arms: its size, standard error, p value, and the interval over items."""

    difference: float
    standard_error: float
    p: float
    degrees: int
    interval: Interval


def item_values(groups: Groups, names: Sequence[str], k: int) -> tuple[Floats, list[str]]:
    """Return each item's pass@k over the groups ``names``, and the group each item is of."""
    values: list[float] = []
    strata: list[str] = []
    for name in names:
        for correct in groups[name]["correct"]:
            values.append(pass_at_k(EVAL_SAMPLES, correct, k))
            strata.append(name)
    return np.array(values), strata


def arm_interval(seeds: Sequence[Groups], names: Sequence[str], k: int) -> Interval:
    """Return pass@k over seeds and items with its interval: items are drawn again whole, all seeds of one
    together, within their group."""
    made = [item_values(groups, names, k) for groups in seeds]
    values = np.concatenate([v for v, _ in made])
    strata = [s for _, group in made for s in group]
    clusters = [i for v, _ in made for i in range(len(v))]
    return bootstrap_ci(values, clusters, strata, draws=DRAWS, seed=0)


def pooled_variance(arms: Sequence[Sequence[Groups]], names: Sequence[str], k: int) -> float:
    """Return the variance between seeds of an arm's value, pooled over the arms (len - 1 degrees each)."""
    squares, degrees = 0.0, 0
    for seeds in arms:
        means = np.array([item_values(groups, names, k)[0].mean() for groups in seeds])
        squares += float(((means - means.mean()) ** 2).sum())
        degrees += len(means) - 1
    return squares / max(degrees, 1)


def compare_arms(
    a: Sequence[Groups], b: Sequence[Groups], names: Sequence[str], k: int, seeds: tuple[float, int]
) -> Test:
    """Return the test of ``a`` - ``b``; ``seeds`` is (pooled variance between seeds, its degrees).

    t = mean difference / sqrt(s2 / n_a + s2 / n_b + v), where v is the bootstrap variance over items of the
    difference of the items' means over seeds. A base is one sequence of one group set: it has no
    variance between seeds, and its term is left out.
    """
    first = np.mean([item_values(g, names, k)[0] for g in a], axis=0)
    second = np.mean([item_values(g, names, k)[0] for g in b], axis=0)
    strata = item_values(a[0], names, k)[1]
    gap = first - second
    interval = bootstrap_ci(gap, strata=strata, draws=DRAWS, seed=0)
    variance, degrees = seeds
    total = sum(variance / len(x) for x in (a, b) if len(x) > 1) + item_variance(gap, strata)
    error = math.sqrt(total)
    p = 1.0 if error == 0 else two_sided(float(gap.mean()) / error, degrees)
    return Test(float(gap.mean()), error, p, degrees, interval)


def item_variance(gap: Floats, strata: Sequence[str]) -> float:
    """Return the variance of the mean over items, drawn with replacement within their group (exact)."""
    total = 0.0
    for name in dict.fromkeys(strata):
        part = gap[[i for i, s in enumerate(strata) if s == name]]
        total += len(part) * float(part.var())
    return total / len(gap) ** 2


def two_sided(t: float, degrees: int) -> float:
    """Return P(|T| >= |t|) for Student's t with an even number of degrees of freedom.

    Source: Abramowitz and Stegun 26.7.4. Raises ValueError for an odd number.
    """
    if degrees < 2 or degrees % 2:
        raise ValueError(f"degrees of freedom must be even and at least 2, not {degrees}")
    theta = math.atan(abs(t) / math.sqrt(degrees))
    cos2, term, total = math.cos(theta) ** 2, 1.0, 1.0
    for j in range(1, degrees // 2):
        term *= cos2 * (2 * j - 1) / (2 * j)
        total += term
    return max(0.0, 1.0 - math.sin(theta) * total)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p values adjusted after Holm (1979): a family is kept at ALPHA as a whole."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, worst = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = worst
    return adjusted
