"""Collects the content of a report."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from prorl_common import derive_seed
from prorl_evaluation.boundary.boundary import BoundaryOptions, boundary_report, members_of
from prorl_evaluation.boundary.tables import suspicions
from prorl_evaluation.boundary.types import (
    BoundaryGroup,
    BoundaryReport,
    Curve,
    GainAgainstBase,
)
from prorl_evaluation.compare import Comparison, baseline_place, compare
from prorl_evaluation.metrics import Suspicion, pass_at_k_table
from prorl_evaluation.stats.intervals import Interval, Resampling, bounded_columns
from prorl_evaluation.types import EvalResult, EvaluationError, ProblemResult

BINS = ("0", *(f"{i / 10:g}–{(i + 1) / 10:g}" for i in range(10)), "1")
"""Bins of the success rate c/n: exactly 0, ten bins of width 0.1, and exactly 1."""


@dataclass(frozen=True, slots=True)
class Line:
    place: int
    label: str
    points: Mapping[int, Interval]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report.

    ``baseline_first`` makes the first result the baseline instead of the checkpoint from before RL.
    """

    boundary: BoundaryOptions = field(default_factory=BoundaryOptions)
    baseline_first: bool = False
    false_positive_rate: float = 0.0
    command: str = ""


@dataclass(frozen=True, slots=True)
class ReportData:
    """The content of a report.

    ``base`` is the index of the baseline in ``results``; ``boundary`` has the claims about later results.
    """

    name: str
    results: tuple[EvalResult, ...]
    base: int
    comparison: Comparison | None
    boundary: BoundaryReport | None
    groups: tuple[BoundaryGroup, ...]
    suspicions: tuple[tuple[str, list[Suspicion]], ...]
    decisions: tuple[Mapping[str, Any], ...]
    options: ReportOptions

    @property
    def comparisons(self) -> list[Comparison]:
        return [] if self.comparison is None else [self.comparison]

    def lines(self, group: BoundaryGroup) -> list[Line]:
        lines = []
        if group.is_coarse:
            for place, result in enumerate(self.results[: self.base]):
                outcome = result.group(group.name)
                if outcome is not None:
                    lines.append(Line(place, result.label, outcome.pass_at_k))
        curves = enumerate(group.curves, start=self.base)
        return lines + [Line(place, c.label, c.points) for place, c in curves]

    def rates(self, group: BoundaryGroup) -> list[tuple[str, list[int]]]:
        """Return each result's label, and how many problems have a success rate in each of BINS."""
        return [
            (
                r.label,
                rate_counts(
                    [p for p in r.problems if group.kind == "overall" or p.domain == group.name]
                ),
            )
            for r in self.results
        ]

    def gains(self) -> list[tuple[str, GainAgainstBase]]:
        """Return (label, gain against base pass@k) of each later result, if at least two groups have a gain."""
        if self.boundary is None:
            return []
        gains = zip(self.boundary.labels[1:], self.boundary.gains, strict=True)
        return [g for g in gains if sum(math.isfinite(p.base + p.gain) for p in g[1].points) > 1]


def report_data(
    results: Sequence[EvalResult],
    run_dir: Path | None,
    options: ReportOptions | None = None,
    boundary: BoundaryReport | None = None,
) -> ReportData:
    """Collect a report on ``results`` and on the decisions logged in ``run_dir``.

    ``boundary`` is computed if None. Raises EvaluationError if there are no results or a log is damaged, and like
    ``boundary_report``.
    """
    if not results:
        raise EvaluationError("a report needs at least one result: run prorl eval pass-at-k first")
    options = options or ReportOptions()
    base = 0 if options.baseline_first else baseline_place([r.label for r in results])
    later = results[base:]
    comparison = None
    if len(later) > 1:
        comparison = compare(later[0], later[-1], cluster=options.boundary.cluster)
        boundary = boundary or boundary_report(later, options.boundary)
    rate = options.false_positive_rate
    return ReportData(
        name=run_dir.name if run_dir is not None else results[-1].label,
        results=tuple(results),
        base=base,
        comparison=comparison,
        boundary=boundary,
        groups=boundary.groups if boundary is not None else single_groups(later[0]),
        suspicions=tuple(suspicions(results, rate)) if rate > 0 else (),
        decisions=tuple(read_rows(run_dir / "decisions.jsonl") if run_dir else ()),
        options=options,
    )


def rate_counts(problems: Sequence[ProblemResult]) -> list[int]:
    counts = [0] * len(BINS)
    for p in problems:
        if p.n:
            inner = 1 + min(9, 10 * p.c // p.n)
            counts[0 if p.c == 0 else len(BINS) - 1 if p.c == p.n else inner] += 1
    return counts


def single_groups(result: EvalResult) -> tuple[BoundaryGroup, ...]:
    groups, s = [], result.settings
    ks = list(result.overall.pass_at_k)
    for members in members_of(result.problems):
        match members.kind:
            case "overall" | "domain":
                outcome = result.group(members.name)
                assert outcome is not None
                points = outcome.pass_at_k
            case "benchmark" | "task":
                columns = pass_at_k_table([result.problems[i] for i in members.places], ks)
                seed = derive_seed(s.seed, "report", members.kind, members.name)
                how = Resampling(s.level, s.draws, seed)
                intervals = bounded_columns(columns, (0.0, 1.0), None, how)
                points = dict(zip(ks, intervals, strict=True))
            case _:
                assert_never(members.kind)
        curves = (Curve(result.label, points),)
        groups.append(
            BoundaryGroup(members.kind, members.name, len(members.places), curves, (), ())
        )
    return tuple(groups)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a JSON-lines file, [] if it is missing. Raises EvaluationError for invalid lines."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    rows = []
    for place, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise EvaluationError(f"{path}:{place}: not valid JSON ({error})") from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}:{place}: expected a JSON object")
        rows.append(row)
    return rows
