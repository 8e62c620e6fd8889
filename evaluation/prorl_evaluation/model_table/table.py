"""The numbers of a table of models: pass@1 and pass@K by group, paired differences, which of them are claimed.

Every model is compared with the baseline on the problems that all models share. The tests of the whole table (models x
groups x pass@1 and pass@K, each two-sided) are corrected together after Holm, so that the chance of any false claim in
it is at most ``alpha``; benchmarks/table_claims.py measures it. What a change means (fell, sharpened only, sustained)
is said by ``boundary``. Leaves out: drawing (``shown``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from prorl_common import derive_seed
from prorl_evaluation.boundary.boundary import Members, align, claim_k, named_groups
from prorl_evaluation.boundary.types import Kind
from prorl_evaluation.compare import MIN_PROBLEMS
from prorl_evaluation.metrics.passk import near_n_warning, pass_at_k_table
from prorl_evaluation.stats.bounded_mean import Drawn, bounded_columns, paired_columns
from prorl_evaluation.stats.distributions import holm
from prorl_evaluation.stats.fixed_set import fixed_change, fixed_interval
from prorl_evaluation.stats.intervals import Interval, Resampling
from prorl_evaluation.stats.paired import group_resampling, group_units, one_sided
from prorl_evaluation.types import OVERALL, EvalResult, EvaluationError, ProblemResult, finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE_FORMAT = 1
By = Literal["auto", "overall", "domain", "benchmark", "task"]
BY: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Value:
    """One model's metric in one group: ``population`` is the interval for problems like these, ``fixed`` the one for
    these very problems sampled again."""

    model: str
    group: str
    metric: str
    population: Interval
    fixed: Interval


@dataclass(frozen=True, slots=True)
class TableDifference:
    """One model minus the baseline: ``p`` is two-sided, ``p_corrected`` after Holm over the whole table; both are NaN
    where nothing is tested (fewer than MIN_PROBLEMS problems)."""

    model: str
    group: str
    metric: str
    population: Interval
    fixed: Interval
    p: float
    p_corrected: float = math.nan

    def claim(self, alpha: float) -> Literal["higher", "lower", ""]:
        """Return what is claimed at ``alpha``, or nothing."""
        if math.isnan(self.p_corrected) or self.p_corrected > alpha:
            return ""
        return "higher" if self.population.value > 0 else "lower"


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A column: all problems, or those of one domain, benchmark or task."""

    kind: Kind
    name: str
    problems: int


@dataclass(frozen=True, slots=True)
class ModelTable:
    """``labels`` has the baseline first; ``tests`` is how many differences were corrected for."""

    labels: tuple[str, ...]
    k: int
    alpha: float
    level: float
    cluster: str
    tests: int
    groups: tuple[TableGroup, ...]
    values: tuple[Value, ...]
    differences: tuple[TableDifference, ...]
    notes: tuple[str, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """pass@1, and pass@K where K is larger."""
        return tuple(f"pass@{k}" for k in sorted({1, self.k}))

    def value(self, model: str, group: str, metric: str) -> Value:
        """Return one cell."""
        key = (model, group, metric)
        return next(v for v in self.values if (v.model, v.group, v.metric) == key)

    def difference(self, model: str, group: str, metric: str) -> TableDifference | None:
        """Return a cell's difference to the baseline; None for the baseline itself."""
        key = (model, group, metric)
        hits = (d for d in self.differences if (d.model, d.group, d.metric) == key)
        return next(hits, None)

    @property
    def claimed(self) -> list[TableDifference]:
        """The differences that are claimed."""
        return [d for d in self.differences if d.claim(self.alpha)]

    def to_json(self) -> dict[str, Any]:
        """Return the table as a JSON object; NaN becomes null."""
        value = finite(dataclasses.asdict(self))
        assert isinstance(value, dict)
        for row, difference in zip(value["differences"], self.differences, strict=True):
            row["claim"] = difference.claim(self.alpha)
        return {"format": TABLE_FORMAT, "baseline": self.labels[0], **value}


def model_table(
    results: Sequence[EvalResult],
    *,
    k: int | None = None,
    alpha: float = 0.05,
    by: By = "auto",
    cluster: str = "problem",
    notes: Sequence[str] = (),
) -> ModelTable:
    """Return the table of ``results``, the baseline first; level, draws and seed are the baseline's.

    ``by`` chooses the columns beside all problems: ``auto`` takes benchmarks where there are several, else domains.
    Raises EvaluationError where no problem is shared, for a k that a result cannot estimate, and for an unknown ``by``.
    """
    aligned, lines = align(results)
    top = claim_k(results, k)
    ks = sorted({1, top})
    settings = results[0].settings
    values: list[Value] = []
    differences: list[TableDifference] = []
    columns = _columns([row[0] for row in aligned], by)
    for group in columns:
        own = [aligned[i] for i in group.places]
        sides = [[row[j] for row in own] for j in range(len(results))]
        tables = [pass_at_k_table(side, ks) for side in sides]
        values += _values(results, group.name, ks, sides, tables, cluster)
        how = group_resampling(settings, group.kind, group.name)
        found, drawn = _paired(tables, sides[0], cluster, how)
        p = iter(two_sided(drawn))
        for j, r in enumerate(results[1:], start=1):
            pairs = [(row[0], row[j]) for row in own]
            for place, each in enumerate(ks):
                interval = found[(j - 1) * len(ks) + place]
                fixed = fixed_change(pairs, each, settings.level)
                differences.append(
                    TableDifference(r.label, group.name, f"pass@{each}", interval, fixed, next(p))
                )
    corrected = holm([d.p for d in differences])
    near = [near_n_warning(r.settings.n, top) for r in results]
    return ModelTable(
        labels=tuple(r.label for r in results),
        k=top,
        alpha=alpha,
        level=settings.level,
        cluster=cluster,
        tests=sum(not math.isnan(p) for p in corrected),
        groups=tuple(TableGroup(g.kind, g.name, len(g.places)) for g in columns),
        values=tuple(values),
        differences=tuple(
            dataclasses.replace(d, p_corrected=p)
            for d, p in zip(differences, corrected, strict=True)
        ),
        notes=tuple(dict.fromkeys([*notes, *lines, *filter(None, near), *_twins(results)])),
    )


def two_sided(drawn: Drawn) -> list[float]:
    """Return the p-value of "no change" of each column; NaN with fewer than MIN_PROBLEMS values."""
    found = []
    for j, count in enumerate(drawn.counts):
        up, down = one_sided(drawn, j)
        tested = count >= MIN_PROBLEMS and not math.isnan(up)
        found.append(min(1.0, 2.0 * up, 2.0 * down) if tested else math.nan)
    return found


def _columns(problems: Sequence[ProblemResult], by: By) -> list[Members]:
    if by not in BY:
        raise EvaluationError(f"--by is '{by}': use {', '.join(BY)}")
    every = Members("overall", OVERALL, tuple(range(len(problems))))
    kinds: dict[str, list[Members]] = {}
    for group in named_groups(problems):
        kinds.setdefault(group.kind, []).append(group)
    if by == "auto":
        several = [k for k in ("benchmark", "domain") if len(kinds.get(k, ())) > 1]
        by = "benchmark" if "benchmark" in several else "domain"
    chosen = [] if by == "overall" else kinds.get(by, [])
    own = [g for g in chosen if g.places != every.places]
    # a column is found by its name
    return [
        every,
        *(
            dataclasses.replace(g, name=f"{g.kind} {OVERALL}") if g.name == OVERALL else g
            for g in own
        ),
    ]


def _values(
    results: Sequence[EvalResult],
    group: str,
    ks: Sequence[int],
    sides: Sequence[Sequence[ProblemResult]],
    tables: Sequence[NDArray[Any]],
    cluster: str,
) -> list[Value]:
    import numpy as np

    s = results[0].settings
    how = Resampling(s.level, s.draws, derive_seed(s.seed, "bootstrap", group))
    units = group_units(sides[0], cluster)
    points = iter(bounded_columns(np.hstack(list(tables)), (0.0, 1.0), units, how))
    return [
        Value(r.label, group, f"pass@{k}", next(points), fixed_interval(side, k, s.level))
        for r, side in zip(results, sides, strict=True)
        for k in ks
    ]


def _paired(
    tables: Sequence[NDArray[Any]], problems: Sequence[ProblemResult], cluster: str, how: Resampling
) -> tuple[list[Interval], Drawn]:
    """Return interval and draws of each later table minus the first, a column a model and k."""
    import numpy as np

    changes = np.hstack([table - tables[0] for table in tables[1:]])
    return paired_columns(changes, group_units(problems, cluster), how)


def _twins(results: Sequence[EvalResult]) -> list[str]:
    """Return a line for models that have the same weights."""
    same: dict[str, list[str]] = {}
    for r in results:
        same.setdefault(r.model_digest, []).append(r.label)
    return [f"of the same weights: {', '.join(who)}" for who in same.values() if len(who) > 1]
