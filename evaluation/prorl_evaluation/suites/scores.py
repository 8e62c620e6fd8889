"""A suite's numbers from saved results: a benchmark, its groups, the paper's average, a difference.

All are fractions with intervals over problems (``prorl_evaluation.stats.bounded_mean``).
Leaves out: turning them into text (``tables``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, assert_never

from prorl_common import derive_seed
from prorl_datasets.benchmarks.catalogue import Metric
from prorl_evaluation.boundary.gain import rung_order
from prorl_evaluation.compare import compare
from prorl_evaluation.stats.bounded_mean import Units, bounded_columns
from prorl_evaluation.stats.intervals import Interval, Resampling
from prorl_evaluation.suites.categories import CATEGORY_OF
from prorl_evaluation.suites.suite import By, Table
from prorl_evaluation.types import OVERALL, EvalResult, EvaluationError, ProblemResult


def value_of(problem: ProblemResult, metric: Metric) -> float:
    """Return the problem's share of full marks or its mean reward; NaN where nothing was scored."""
    if problem.n == 0:
        return math.nan
    match metric:
        case "mean_of_n":
            return problem.c / problem.n
        case "mean_reward":
            return problem.reward_mean
        case _:
            assert_never(metric)


def result_metric(metric: Metric) -> Literal["pass@1", "reward"]:
    """Return what a result calls the benchmark's metric."""
    match metric:
        case "mean_of_n":
            return "pass@1"
        case "mean_reward":
            return "reward"
        case _:
            assert_never(metric)


def benchmark_score(result: EvalResult, metric: Metric) -> Interval:
    """Return the benchmark's number: pass@1 or mean reward over its problems."""
    found = result.overall.metric(result_metric(metric))
    assert found is not None  # every result has pass@1
    return found


def fixed_score(result: EvalResult, metric: Metric) -> Interval | None:
    """Return pass@1 with its interval for these very problems; None for a mean reward."""
    return result.overall.fixed_pass_at_k[1] if metric == "mean_of_n" else None


def group_scores(result: EvalResult, metric: Metric, by: By) -> dict[str, Interval]:
    """Return the benchmark's number for each category, family or rung, in order of appearance (rungs by
    size). Problems without that label are in none."""
    groups: dict[str, list[ProblemResult]] = {}
    for problem in result.problems:
        family = problem.labels.get("family")
        label = CATEGORY_OF.get(str(family)) if by == "category" else problem.labels.get(by)
        if label is not None:
            groups.setdefault(str(label), []).append(problem)
    names = list(groups)
    match by:
        case "category":
            names.sort()
        case "rung":
            names.sort(key=rung_order(names))
        case "family":
            pass
        case _:
            assert_never(by)
    found, s = {}, result.settings
    for name in names:
        units = Units(strata=[str(p.labels.get("family", "")) for p in groups[name]])
        how = Resampling(s.level, s.draws, derive_seed(s.seed, "suite", f"{by} {name}"))
        values = [[value_of(p, metric)] for p in groups[name]]
        found[name] = bounded_columns(values, units=units, how=how)[0]
    return found


def average(scores: Sequence[Interval]) -> Interval:
    """Return the unweighted mean of several benchmarks' numbers, as the paper's Avg column has it.

    The limits are recovered from the benchmarks' own, which are independent: the distances from value to
    limit add in squares (Zou and Donner 2008, "Construction of confidence limits about effect measures",
    equation 2). ``count`` is all problems. NaN where any benchmark has no value; raises ValueError for
    no benchmark.
    """
    if not scores:
        raise ValueError("an average needs at least one benchmark")
    count = sum(s.count for s in scores)
    undefined = sum(s.undefined for s in scores)
    if any(s.count == 0 for s in scores):
        return Interval(math.nan, math.nan, math.nan, 0, count + undefined)
    value = math.fsum(s.value for s in scores) / len(scores)
    down = math.hypot(*(s.value - s.low for s in scores)) / len(scores)
    up = math.hypot(*(s.high - s.value for s in scores)) / len(scores)
    return Interval(value, value - down, value + up, count, undefined)


def difference(
    a: EvalResult, b: EvalResult, metric: Metric
) -> tuple[Interval | None, Interval | None]:
    """Return the paired difference b - a over the problems both have, with the interval for problems like these and
    that for these very problems; None where they share none, or where the latter is not known."""
    try:
        found = compare(a, b).find(OVERALL, result_metric(metric))
    except EvaluationError:
        return None, None
    return (found.interval, found.fixed) if found is not None else (None, None)


def trained_mark(table: Table, group: str) -> str:
    """Return the head of a group's column: rungs that training has carry a star."""
    trained = table.by == "rung" and group.isdigit() and int(group) in table.trained
    return f"{group}*" if trained else group
