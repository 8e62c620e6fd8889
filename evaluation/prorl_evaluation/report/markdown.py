"""Writes a report as Markdown, with third-party text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_common import atomic_write_text
from prorl_common.markup import fence, md, table
from prorl_evaluation.boundary.tables import boundary_tables, suspicion_table
from prorl_evaluation.report.data import BINS, ReportData
from prorl_evaluation.report.tables import example_answers, rates_table, setting_facts
from prorl_evaluation.report.words import (
    caveats,
    commands,
    decision_rule,
    headline,
    headline_metrics,
    in_short,
    lead,
    method,
    nothing_solved,
    verdict,
)
from prorl_evaluation.tables import (
    TextTable,
    bracket,
    comparison_table,
    interval_table,
    result_table,
)


def write_markdown(data: ReportData, out: Path) -> Path:
    atomic_write_text(out, markdown_report(data))
    return out


def markdown_report(data: ReportData) -> str:
    first, *further = headline(data.results, data.comparison)
    parts = [f"# {md(first)}", md(lead(data)), *bullets([*further, *in_short(data)])]
    notes = caveats(data)
    if notes:
        parts += ["**Before you believe it**", *bullets(notes)]
    if not nothing_solved(data.results):
        parts += _solved(data)
    parts += [
        "## Truncation, extraction and infrastructure",
        format_table(rates_table(data.results)),
    ]
    if data.suspicions:
        suspect = suspicion_table(data.suspicions, data.options.false_positive_rate)
        parts += ["## If the verifier is wrong", format_table(suspect)]
    facts = tuple((name, *values) for name, values in setting_facts(data.results).items())
    head = ("", *(r.label for r in data.results))
    parts.append("## Settings and versions")
    parts.append(format_table(TextTable("How each result was obtained", head, facts)))
    parts += ["To make it again:", fence("\n".join(commands(data)))]
    if data.results[0].examples:
        parts += [
            "## Examples",
            "The first sample of the first problems of each domain: chosen by position, not by outcome.",
        ]
    for example, answers in example_answers(data.results):
        parts += [f"### {md(example.domain)} · {md(example.id)}", fence(example.prompt)]
        for label, e in answers:
            reward = "no reward" if e.reward is None else f"reward {e.reward:.2f}"
            outcome = md(f"{reward}, {e.status}, {e.reason}")
            parts += [f"**{md(label)}** · {outcome}", fence(e.response)]
    parts += ["## How these numbers are made", *map(md, method(data))]
    return "\n\n".join(parts) + "\n"


def _solved(data: ReportData) -> list[str]:
    parts = ["## Results by domain", *(format_table(result_table(r)) for r in data.results)]
    if data.comparison is not None:
        metrics = [*headline_metrics(data.results), "length"]
        parts.append(format_table(comparison_table(data.comparison, metrics)))
    parts.append(format_table(interval_table(data.results, data.comparisons)))
    ks = sorted({k for g in data.groups for line in data.lines(g) for k in line.points})
    curves = []
    for group in data.groups:
        for line in data.lines(group):
            cells = [bracket(line.points[k]) if k in line.points else "-" for k in ks]
            curves.append((group.name, line.label, str(group.problems), *cells))
    columns = ("group", "result", "problems", *(f"k = {k}" for k in ks))
    drawn = TextTable("pass@k with intervals over problems", columns, tuple(curves))
    parts += ["## pass@k", format_table(drawn)]
    rates = tuple(
        (group.name, label, *map(str, counts))
        for group in data.groups
        if group.is_coarse
        for label, counts in data.rates(group)
    )
    parts.append("## Success rates of the problems")
    parts.append(
        format_table(TextTable("Problems by success rate c/n", ("group", "result", *BINS), rates))
    )
    if data.boundary is not None:
        report = data.boundary
        parts += ["## Did the boundary move?", *bullets(verdict(report)), md(decision_rule(report))]
        parts += [format_table(t) for t in boundary_tables(report)]
        for s in report.solvable:
            sets = (
                ("gained", s.gained),
                ("gained and shown", s.gained_shown),
                ("lost", s.lost),
                ("lost and shown", s.lost_shown),
                ("without a verdict", s.unjudged),
            )
            parts += bullets(
                [f"{s.after}, {name} ({len(ids)}): {', '.join(ids)}" for name, ids in sets if ids]
            )
    return parts


def format_table(drawn: TextTable) -> str:
    head, *rows = ([md(cell) or " " for cell in row] for row in (drawn.head, *drawn.rows))
    return f"**{md(drawn.title)}**\n\n{table(head, rows)}"


def bullets(lines: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {md(line)}" for line in lines)] if lines else []
