"""Paired changes between two results on the same problems: intervals and one-sided p-values.

Leaves out: corrections for the number of tests (``claims``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from prorl_evaluation.bootstrap import cluster_codes, expanded_columns
from prorl_evaluation.boundary_types import Change
from prorl_evaluation.bounded_mean import Drawn, Units, paired_columns
from prorl_evaluation.distributions import t_tail
from prorl_evaluation.estimators import pass_at_k_table
from prorl_evaluation.intervals import SAME, Interval, Resampling
from prorl_evaluation.types import EvaluationError, ProblemResult

Pair = tuple[ProblemResult, ProblemResult]


def same_problem(p: ProblemResult, q: ProblemResult) -> bool:
    """Whether both results asked the same prompt and judged by the same task."""
    return (p.id, p.prompt_sha256, p.task_sha256) == (q.id, q.prompt_sha256, q.task_sha256)


def one_sided(drawn: Drawn, column: int, null: float = 0.0) -> tuple[float, float]:
    """Return the p-values of "the mean is at most ``null``" and of "it is at least ``null``".

    Student's t of (mean - null) over the spread of the draws, with clusters - strata degrees of freedom.
    NaN with fewer than two clusters in a stratum on average, or nothing defined.
    """
    import numpy as np

    df = drawn.clusters - drawn.strata
    if df < 1 or drawn.counts[column] == 0:
        return math.nan, math.nan
    spread = float(np.std(drawn.draws[:, column]))
    distance = float(drawn.values[column]) - null
    if spread < SAME:
        return (
            (math.nan, math.nan)
            if abs(distance) < SAME
            else (float(distance < 0), float(distance > 0))
        )
    t = distance / spread
    return t_tail(t, df), t_tail(-t, df)


def changes(
    pairs: Sequence[Pair], ks: Sequence[int], units: Units, how: Resampling
) -> tuple[list[Change], Drawn]:
    """Return the changes of pass@k for each of ``ks``, of the mean reward and of the length.

    All but the length share ``Drawn``, whose columns are in the order of ``ks``, then the reward. Means
    before and after are over the pairs where both are defined.
    """
    import numpy as np

    names = [*(f"pass@{k}" for k in ks), "reward"]
    sides = []
    for place in (0, 1):
        own = [pair[place] for pair in pairs]
        rewards = np.array([[p.reward_mean] for p in own], dtype=np.float64)
        sides.append(np.hstack([pass_at_k_table(own, ks), rewards]))
    intervals, drawn = paired_columns(sides[1] - sides[0], units, how)
    defined = ~np.isnan(sides[1] - sides[0])
    found = []
    for j, (name, interval) in enumerate(zip(names, intervals, strict=True)):
        before, after = (
            float(side[defined[:, j], j].mean()) if interval.count else math.nan for side in sides
        )
        found.append(Change(name, before, after, interval, *one_sided(drawn, j)))
    return [*found, length_change(pairs, units, how)], drawn


def length_change(pairs: Sequence[Pair], units: Units, how: Resampling) -> Change:
    """Return the change of the mean number of generated tokens an answer, every problem weighing the same.

    The interval is the expanded percentile bootstrap's, the p-values are of Student's t.
    """
    import numpy as np

    values = np.array([[_length(p), _length(q)] for p, q in pairs], dtype=np.float64)
    values = np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)
    difference = values[:, 1:] - values[:, :1]
    interval = expanded_columns(difference, units.clusters, units.strata, how)[0]
    if interval.count == 0:
        return Change("length", math.nan, math.nan, interval, math.nan, math.nan)
    before, after = (float(v) for v in np.nanmean(values, axis=0))
    return Change("length", before, after, interval, *_t_of(interval, len(pairs), units, how))


def _t_of(interval: Interval, rows: int, units: Units, how: Resampling) -> tuple[float, float]:
    """Return one-sided p-values, the standard error taken from the interval's width."""
    from prorl_evaluation.distributions import t_quantile

    _, strata = cluster_codes(rows, units.clusters, units.strata)
    df = len(strata) - len(set(strata))
    if df < 1 or interval.degenerate:
        return math.nan, math.nan
    half = (interval.high - interval.low) / 2.0
    t = interval.value / half * t_quantile((1.0 - how.level) / 2.0, df)
    return t_tail(t, df), t_tail(-t, df)


def _length(p: ProblemResult) -> float:
    return p.tokens / p.sampled if p.sampled else math.nan


def units_of(
    problems: Sequence[ProblemResult], cluster: str = "problem", stratified: bool = True
) -> Units:
    """Return the units of problems: strata are domains (where ``stratified``), clusters are problems, or
    the problems of one ``task`` (label ``family``, else benchmark, else the problem itself).

    Raises EvaluationError for another ``cluster``.
    """
    check_cluster(cluster)
    strata = [p.domain for p in problems] if stratified else None
    if cluster == "problem":
        return Units(None, strata)
    names: list[Hashable] = [(p.domain, task_of(p) or p.id) for p in problems]
    return Units(names, strata)


def check_cluster(cluster: str) -> None:
    """Raise EvaluationError unless ``cluster`` is problem or task."""
    if cluster not in ("problem", "task"):
        raise EvaluationError(f"--cluster is '{cluster}': use problem or task")


def task_of(p: ProblemResult) -> str:
    """Return the task that a problem belongs to: its family, else its benchmark, else nothing."""
    return str(p.labels.get("family", "") or p.labels.get("benchmark", ""))
