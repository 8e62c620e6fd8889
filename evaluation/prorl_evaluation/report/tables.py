"""The report's tables as rows, for the page and for Markdown."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_common import format_seconds
from prorl_evaluation.boundary.tables import length_table
from prorl_evaluation.boundary.types import BoundaryGroup, BoundaryReport, SolvableChanges
from prorl_evaluation.compare import Comparison, Difference
from prorl_evaluation.report.text import percent
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.tables import TextTable, bracket, length_digits
from prorl_evaluation.types import EvalResult, Example


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of a group: an interval a result (None: it has none) and the paired difference."""

    metric: str
    values: list[Interval | None]
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class GroupRows:
    """A group's metrics; ``chance`` is NaN where the dataset does not state it."""

    name: str
    problems: int
    chance: float
    rows: list[MetricRow]


def group_rows(
    results: Sequence[EvalResult], metrics: Sequence[str], comparison: Comparison | None
) -> list[GroupRows]:
    """Return the main table: overall and each domain, every metric of every result."""
    blocks = []
    for name in group_names(results):
        groups = [r.group(name) for r in results]
        known = [g for g in groups if g is not None]
        rows = []
        for metric in metrics:
            values = [None if g is None else g.metric(metric) for g in groups]
            found = comparison.find(name, metric) if comparison is not None else None
            if found is not None and found.interval.count == 0:
                found = None
            rows.append(MetricRow(metric, values, found))
        chance = next((g.chance for g in known if math.isfinite(g.chance)), math.nan)
        problems = max((g.problems for g in known), default=0)
        blocks.append(GroupRows(name, problems, chance, rows))
    return blocks


def shown_intervals(blocks: Sequence[GroupRows]) -> list[Interval]:
    """Return the intervals of all differences of the main table."""
    return [row.difference.interval for b in blocks for row in b.rows if row.difference is not None]


def group_names(results: Sequence[EvalResult]) -> list[str]:
    """Return overall and the domains, or overall alone where there is one domain."""
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    return names[:1] if len(names) == 2 else names


def by_size(groups: Sequence[BoundaryGroup]) -> tuple[list[BoundaryGroup], list[BoundaryGroup]]:
    """Return overall and domains, and benchmarks and tasks."""
    return [g for g in groups if g.is_coarse], [g for g in groups if not g.is_coarse]


def kinds_of(groups: Sequence[BoundaryGroup]) -> str:
    """Return what the groups are: benchmark, task or both."""
    return " and ".join(dict.fromkeys(str(g.kind) for g in groups))


def changes_of(report: BoundaryReport, metric: str) -> list[Interval]:
    """Return the intervals of a metric's changes in every group."""
    return [
        c.interval for g in report.groups for own in g.changes for c in own if c.metric == metric
    ]


def of_regime(groups: Sequence[BoundaryGroup], regime: str) -> list[BoundaryGroup]:
    """Return the groups whose last checkpoint shows ``regime``."""
    return [g for g in groups if g.claims[-1].regime == regime]


def blocks(rows: Sequence[Sequence[str]]) -> list[tuple[str, list[Sequence[str]]]]:
    """Return the rows in blocks of the same first cell."""
    return [(name, list(own)) for name, own in itertools.groupby(rows, key=lambda row: row[0])]


def length_tables(report: BoundaryReport) -> list[TextTable]:
    """Return the lengths of overall and domains, then of benchmarks and tasks, with minus signs."""
    tables = []
    for groups in by_size(report.groups):
        table = length_table(dataclasses.replace(report, groups=tuple(groups)))
        rows = tuple((*row[:2], *(c.replace("-", "−") for c in row[2:])) for row in table.rows)
        tables.append(dataclasses.replace(table, rows=rows))
    return tables


def sets_table(report: BoundaryReport) -> TextTable:
    """Return how many problems each later result gained and lost, beside what luck alone would give."""
    rows = []
    for s in report.solvable:
        gained = (len(s.gained), f"{s.gained_by_luck:.1f}", len(s.gained_shown))
        lost = (len(s.lost), f"{s.lost_by_luck:.1f}", len(s.lost_shown))
        counts = (s.both, s.neither, *gained, *lost, len(s.unjudged))
        rows.append((s.after, *map(str, counts)))
    head = (
        *("checkpoint", "solved in both", "in neither", "gained", "by luck", "gained, shown"),
        *("lost", "by luck", "lost, shown", "no verdict"),
    )
    title = f"Problems solved at least once, against {report.labels[0]}"
    return TextTable(title, head, tuple(rows))


def id_sets(s: SolvableChanges) -> list[tuple[str, Sequence[str]]]:
    """Return the names of the sets of problems that changed, with their ids; empty ones are left out."""
    shown = {*s.gained_shown, *s.lost_shown}
    sets: tuple[tuple[str, Sequence[str]], ...] = (
        ("gained and shown", s.gained_shown),
        ("gained, not shown", [i for i in s.gained if i not in shown]),
        ("lost and shown", s.lost_shown),
        ("lost, not shown", [i for i in s.lost if i not in shown]),
        ("without a verdict on one side", s.unjudged),
    )
    return [(name, ids) for name, ids in sets if ids]


def rates_table(results: Sequence[EvalResult]) -> TextTable:
    """Return what went wrong while sampling and scoring, by group and result; zeros are shown."""
    rows = []
    for name in group_names(results):
        for r in results:
            g = r.group(name)
            if g is None:
                continue
            shares = (g.truncation_rate, g.unparsable_rate, g.timeout_rate)
            length = bracket(g.length, length_digits(g.length.value))
            bad = f"{percent(g.infra_share)} ({g.infra_errors:,})"
            rows.append((name, r.label, f"{g.sampled:,}", *map(percent, shares), bad, length))
    head = (
        *("group", "result", "samples", "cut at token limit", "no answer extracted"),
        *("verifier timeout", "infra error (left out)", "tokens an answer"),
    )
    return TextTable(
        "Shares of the samples, zeros too; infra errors also as a count", head, tuple(rows)
    )


def setting_facts(results: Sequence[EvalResult]) -> dict[str, list[str]]:
    """Return how each result was obtained."""
    facts: dict[str, list[str]] = {
        "model": [r.model_id for r in results],
        "weights (sha256)": [r.model_digest for r in results],
        "dataset": [r.settings.dataset.get("path", "–") for r in results],
        "dataset manifest (sha256)": [
            r.settings.dataset.get("manifest_sha256", "") or "–" for r in results
        ],
        "split": [r.settings.dataset.get("split", "–") for r in results],
        "problems": [str(len(r.problems)) for r in results],
        "protocol": [r.settings.protocol or "–" for r in results],
        "backend": [f"{r.settings.backend}, {r.settings.batches} batches" for r in results],
        "samples a problem (n)": [str(r.settings.n) for r in results],
        "largest k asked for": [str(r.settings.k) for r in results],
        "temperature": [str(r.settings.temperature) for r in results],
        "top-p": [str(r.settings.top_p) for r in results],
        "token limit": [str(r.settings.max_tokens) for r in results],
        "more request fields": [
            ", ".join(f"{k}={v}" for k, v in r.settings.extra.items()) or "–" for r in results
        ],
        "seed": [str(r.settings.seed) for r in results],
        "isolation of verifiers": [", ".join(r.isolation) or "–" for r in results],
        "generated tokens": [f"{r.tokens:,}" for r in results],
        "sampling time": [format_seconds(r.sampling_seconds) for r in results],
        "evaluated": [r.created for r in results],
    }
    for name in dict.fromkeys(v for r in results for v in r.versions):
        facts[name] = [r.versions.get(name, "–") for r in results]
    return facts


def example_answers(
    results: Sequence[EvalResult],
) -> list[tuple[Example, list[tuple[str, Example]]]]:
    """Return the first result's examples, each with (label, every result's first answer to it)."""
    return [
        (e, [(r.label, own) for r in results for own in r.examples if own.id == e.id])
        for e in results[0].examples
    ]
