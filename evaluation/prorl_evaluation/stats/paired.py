"""Computes paired changes between results: intervals and one-sided p-values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import derive_seed
from prorl_evaluation.metrics import pass_at_k_table
from prorl_evaluation.stats.distributions import t_quantile, t_tail, unexpanded_tail
from prorl_evaluation.stats.intervals import (
    SAME,
    Drawn,
    Interval,
    Resampling,
    Units,
    cluster_codes,
    expanded_columns,
    paired_columns,
)
from prorl_evaluation.types import EvalSettings, EvaluationError, ProblemResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Pair = tuple[ProblemResult, ProblemResult]


@dataclass(frozen=True, slots=True)
class Change:
    """One metric in one group before and after, with the interval of the paired difference.

    ``metric`` is ``pass@K``, ``reward`` or ``length`` (tokens per answer). ``p_up`` and ``p_down`` are the uncorrected
    one-sided p-values of "did not rise" and "did not fall".
    """

    metric: str
    before: float
    after: float
    interval: Interval
    p_up: float
    p_down: float


def same_problem(p: ProblemResult, q: ProblemResult) -> bool:
    return (p.id, p.prompt_sha256, p.task_sha256) == (q.id, q.prompt_sha256, q.task_sha256)


def one_sided(drawn: Drawn, column: int, null: float = 0.0) -> tuple[float, float]:
    """Return the p-values of "the mean is at most ``null``" and "the mean is at least ``null``".

    Each is the larger p-value of two tests: Student's t test with the standard deviation of the draws, and the share of
    draws beyond ``null``, corrected like the tails of ``paired_columns``. NaN unless there are more clusters than
    strata.
    """
    import numpy as np

    clusters, strata = int(drawn.clusters[column]), int(drawn.strata[column])
    df = clusters - strata
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
    below, above = (float((drawn.draws[:, column] * s <= null * s).mean()) for s in (1, -1))
    return (
        max(t_tail(t, df), _from_draws(below, clusters, strata)),
        max(t_tail(-t, df), _from_draws(above, clusters, strata)),
    )


def _from_draws(share: float, clusters: int, strata: int) -> float:
    return share if share in (0.0, 1.0) else unexpanded_tail(share, clusters, strata)


def changes(
    comparisons: Sequence[Sequence[Pair]], ks: Sequence[int], units: Units, how: Resampling
) -> list[tuple[list[Change], Drawn]]:
    """Return, for each comparison, the changes of pass@k, mean reward and length, and their bootstrap draws.

    Comparisons must have the same problems in the same order. The columns of the draws are ``ks``, then the reward.
    """
    import numpy as np

    sides = [
        [outcome_table([p[place] for p in pairs], ks) for place in (0, 1)] for pairs in comparisons
    ]
    differences = [after - before for before, after in sides]
    intervals, drawn = paired_columns(np.hstack(differences), units, how)
    lengths = length_changes(comparisons, units, how)
    width, result = len(ks) + 1, []
    for i, (before, after) in enumerate(sides):
        columns = slice(i * width, (i + 1) * width)
        part = drawn.columns(columns)
        rows = []
        for j, interval in enumerate(intervals[columns]):
            used = ~np.isnan(differences[i][:, j])
            x, y = (float(v[used, j].mean()) if used.any() else math.nan for v in (before, after))
            name = f"pass@{ks[j]}" if j < len(ks) else "reward"
            rows.append(Change(name, x, y, interval, *one_sided(part, j)))
        result.append(([*rows, lengths[i]], part))
    return result


def outcome_table(problems: Sequence[ProblemResult], ks: Sequence[int]) -> Floats:
    """Return pass@k for each of ``ks`` and the mean reward, shape [N, len(ks) + 1]."""
    import numpy as np

    rewards = np.array([[p.reward_mean] for p in problems], dtype=np.float64)
    return np.hstack([pass_at_k_table(problems, ks), rewards])


def length_changes(
    comparisons: Sequence[Sequence[Pair]], units: Units, how: Resampling
) -> list[Change]:
    """Return each comparison's change of tokens per answer, with p-values of Student's t test."""
    import numpy as np

    sides = np.array([[(p.length, q.length) for p, q in pairs] for pairs in comparisons])
    differences = (sides[:, :, 1] - sides[:, :, 0]).T
    intervals = expanded_columns(differences, units, how)
    result = []
    for i, interval in enumerate(intervals):
        if interval.count == 0:
            result.append(Change("length", math.nan, math.nan, interval, math.nan, math.nan))
            continue
        before, after = (float(v) for v in sides[i][~np.isnan(differences[:, i])].mean(axis=0))
        row_units = units.of(
            [r for r, value in enumerate(differences[:, i]) if not math.isnan(value)]
        )
        _, strata = cluster_codes(interval.count, row_units.clusters, row_units.strata)
        df, tests = len(strata) - len(set(strata)), (math.nan, math.nan)
        if df >= 1 and not interval.degenerate:
            # the width of the interval gives the standard error
            half = (interval.high - interval.low) / 2.0
            t = interval.value / half * t_quantile((1.0 - how.level) / 2.0, df)
            tests = t_tail(t, df), t_tail(-t, df)
        result.append(Change("length", before, after, interval, *tests))
    return result


def units_of(problems: Sequence[ProblemResult], cluster: str = "problem") -> Units:
    """Return the bootstrap units of the problems, with domains as strata.

    With ``cluster`` "task", problems with the same label ``family`` (or else ``benchmark``) form a cluster. Raises
    EvaluationError for an unknown ``cluster``.
    """
    check_cluster(cluster)
    strata = [p.domain for p in problems]
    if cluster == "problem":
        return Units(None, strata)
    names: list[Hashable] = [(p.domain, task_of(p) or p.id) for p in problems]
    return Units(names, strata)


def group_units(problems: Sequence[ProblemResult], cluster: str) -> Units:
    """Return the result of ``units_of``, but single problems if the group has only one task."""
    check_cluster(cluster)
    tasks = {(p.domain, task_of(p)) for p in problems}
    return units_of(problems, cluster if len(tasks) > 1 else "problem")


def group_resampling(settings: EvalSettings, kind: str, name: str) -> Resampling:
    """Return the confidence level, draws and seed for the changes in a group."""
    seed = derive_seed(settings.seed, "changes", kind, name)
    return Resampling(settings.level, settings.draws, seed)


def check_cluster(cluster: str) -> None:
    if cluster not in ("problem", "task"):
        raise EvaluationError(f"comparison.cluster is '{cluster}': use problem or task")


def task_of(p: ProblemResult) -> str:
    return str(p.labels.get("family", "") or p.labels.get("benchmark", ""))
