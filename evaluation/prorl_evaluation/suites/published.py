"""Loads published results with their origin, protocol and problem set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, assert_never

from pydantic import BaseModel, ConfigDict, model_validator

from prorl_common import derive_seed
from prorl_datasets.benchmarks.catalogue import Metric
from prorl_evaluation.boundary.changes import rung_order
from prorl_evaluation.compare import compare
from prorl_evaluation.stats.intervals import Interval, Resampling, Units, bounded_columns
from prorl_evaluation.suites.suite import CATEGORY_OF, By, Table
from prorl_evaluation.types import OVERALL, EvalResult, EvalSettings, EvaluationError, ProblemResult

RowChoice = Literal["core", "all", "none"]
"""Published rows to show: ``core`` (base model, v1 and v2, each measured by its authors), ``all`` or ``none``."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Origin(_Strict):
    """A source of published numbers; ``protocol`` has the sampling parameters that it states."""

    title: str
    url: str
    measured_by: str
    protocol: dict[Literal["n", "temperature", "top_p", "max_tokens"], float]
    note: str

    @property
    def sampling(self) -> str:
        p = self.protocol
        names = {"n": "n {:g}", "temperature": "temperature {:g}", "top_p": "top-p {:g}"}
        parts = [form.format(p[key]) for key, form in names.items() if key in p]
        if "max_tokens" in p:
            parts.append(f"at most {p['max_tokens']:,.0f} tokens")
        return ", ".join(parts) or "sampling not stated in our source"

    def differences(self, settings: EvalSettings) -> list[str]:
        """Return a line for each published sampling parameter that differs from ``settings``."""
        lines = []
        for key, theirs in self.protocol.items():
            mine = getattr(settings, key)
            if float(mine) != float(theirs):
                lines.append(f"{key} {mine:g} where they had {theirs:g}")
        return lines


class SameSet(_Strict):
    """Whether an origin used the same problems as prorl; ``why`` explains doubts."""

    same: Literal["yes", "assumed", "no"]
    why: str = ""


class PublishedRow(_Strict):
    """One model's published results in percent, from the source ``origin``."""

    label: str
    model: str
    origin: str
    core: bool = False
    values: dict[str, float]
    averages: dict[str, float] = {}
    categories: dict[str, float] = {}


class Published(_Strict):
    """All published results, their sources (``origins``), and whether these used the same problems as prorl."""

    origins: dict[str, Origin]
    sets: dict[str, dict[str, SameSet]]
    rows: list[PublishedRow]

    @model_validator(mode="after")
    def _consistent(self) -> Published:
        for row in self.rows:
            sets = self.sets[row.origin]
            benchmarks = [*row.values, *(["reasoning_gym"] if row.categories else [])]
            if lacking := [name for name in benchmarks if name not in sets]:
                raise ValueError(f"{row.origin}: 'sets' has no entry for {', '.join(lacking)}")
        return self

    def same_set(self, row: PublishedRow, benchmark: str) -> SameSet:
        return self.sets[row.origin][benchmark]


@cache
def published() -> Published:
    import yaml

    file = resources.files("prorl_evaluation.suites") / "published.yaml"
    return Published.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class PublishedCells:
    """A published row as table cells (None: no number); ``marks`` explains doubtful or missing cells."""

    label: str
    origin: str
    cells: tuple[float | None, ...]
    assumed: tuple[bool, ...]
    marks: Mapping[str, str]
    average: float | None = None


def rows_for(columns: Mapping[str, str], table: str, choice: RowChoice) -> list[PublishedCells]:
    """Return the published rows with a number for any of ``columns``, a map from column titles to benchmarks."""
    book = published()
    rows = []
    for row in _chosen(choice):
        cells: list[float | None] = []
        assumed: list[bool] = []
        marks: dict[str, str] = {}
        for head, benchmark in columns.items():
            value, is_assumed = row.values.get(benchmark), False
            if value is not None:
                problem_set = book.same_set(row, benchmark)
                match problem_set.same:
                    case "yes":
                        pass
                    case "assumed":
                        is_assumed, marks[head] = True, problem_set.why
                    case "no":
                        value, marks[head] = None, problem_set.why
                    case _:
                        assert_never(problem_set.same)
            cells.append(value)
            assumed.append(is_assumed)
        if any(c is not None for c in cells):
            whole = all(benchmark in row.values for benchmark in columns.values())
            average = row.averages.get(table) if whole else None
            rows.append(
                PublishedCells(row.label, row.origin, tuple(cells), tuple(assumed), marks, average)
            )
    return rows


def category_rows(categories: list[str], choice: RowChoice) -> list[PublishedCells]:
    """Return the published rows with numbers for reasoning-gym ``categories``."""
    book = published()
    rows = []
    for row in _chosen(choice):
        if row.categories:
            cells = tuple(row.categories.get(c) for c in categories)
            why = book.same_set(row, "reasoning_gym").why
            assumed = tuple(c is not None for c in cells)
            rows.append(PublishedCells(row.label, row.origin, cells, assumed, {"all": why}))
    return rows


def _chosen(choice: RowChoice) -> list[PublishedRow]:
    match choice:
        case "core":
            return [row for row in published().rows if row.core]
        case "all":
            return published().rows
        case "none":
            return []
        case _:
            assert_never(choice)


def value_of(problem: ProblemResult, metric: Metric) -> float:
    """Return a problem's fraction of samples with reward 1, or its mean reward; NaN without verdicts."""
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
    match metric:
        case "mean_of_n":
            return "pass@1"
        case "mean_reward":
            return "reward"
        case _:
            assert_never(metric)


def benchmark_score(result: EvalResult, metric: Metric) -> Interval:
    score = result.overall.metric(result_metric(metric))
    assert score is not None  # every result has pass@1
    return score


def fixed_score(result: EvalResult, metric: Metric) -> Interval | None:
    """Return pass@1 with its interval for fixed problems; None if the metric is the mean reward."""
    return result.overall.fixed_pass_at_k[1] if metric == "mean_of_n" else None


def group_scores(result: EvalResult, metric: Metric, by: By) -> dict[str, Interval]:
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
    scores, s = {}, result.settings
    for name in names:
        units = Units(strata=[str(p.labels.get("family", "")) for p in groups[name]])
        how = Resampling(s.level, s.draws, derive_seed(s.seed, "suite", f"{by} {name}"))
        values = [[value_of(p, metric)] for p in groups[name]]
        scores[name] = bounded_columns(values, units=units, how=how)[0]
    return scores


def average(scores: Sequence[Interval]) -> Interval:
    """Return the unweighted mean of several benchmarks, like the paper's column Avg.

    Intervals are combined as for independent estimates (Zou and Donner 2008, "Construction of confidence limits about
    effect measures", equation 2). NaN if a benchmark has no value. Raises ValueError if ``scores`` is empty.
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
    """Return the difference b - a twice: with its interval for similar problems, and for exactly these problems.

    Both are None if the results cannot be compared.
    """
    try:
        change = compare(a, b).find(OVERALL, result_metric(metric))
    except EvaluationError:
        return None, None
    return (change.interval, change.fixed) if change is not None else (None, None)


def trained_mark(table: Table, group: str) -> str:
    """Return the column title of a group, with a star if training used this difficulty level."""
    trained = table.by == "rung" and group.isdigit() and int(group) in table.trained
    return f"{group}*" if trained else group
