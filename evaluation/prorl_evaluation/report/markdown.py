"""The report as Markdown: the same tables as the page, figures left out; every foreign text is escaped.

Leaves out: the numbers (``report.data``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_common import atomic_write_text
from prorl_evaluation.boundary.tables import boundary_tables, posterior_table, suspicion_table
from prorl_evaluation.boundary.types import SolvableChanges
from prorl_evaluation.compare import Comparison
from prorl_evaluation.report.data import ReportData
from prorl_evaluation.report.figures import BINS
from prorl_evaluation.report.tables import rates_table, setting_facts
from prorl_evaluation.report.text import fence, md
from prorl_evaluation.report.words import (
    caveats,
    commands,
    decision_rule,
    headline,
    headline_metrics,
    in_short,
    lead,
    method,
    verdict,
)
from prorl_evaluation.tables import TextTable, bracket, comparison_table, result_table
from prorl_evaluation.types import EvalResult


def write_markdown(data: ReportData, out: Path) -> Path:
    """Write the report's Markdown to ``out`` and return it. Raises UserError when it cannot be written."""
    atomic_write_text(out, markdown_report(data))
    return out


def markdown_report(data: ReportData) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    first, *rest = headline(data.results, data.comparison)
    parts = [f"# {md(first)}", md(lead(data)), *bullets([*rest, *in_short(data)])]
    notes = caveats(data)
    if notes:
        parts += ["**Before you believe it**", *bullets(notes)]
    parts += ["## Results by domain", *(shown(result_table(r)) for r in data.results)]
    parts += [shown(t) for t in _comparisons(data)]
    parts += [
        "## pass@k",
        shown(_curves(data)),
        "## Success rates of the problems",
        shown(_rates(data)),
    ]
    parts += _boundary(data)
    parts += ["## Truncation, extraction and infrastructure", shown(rates_table(data.results))]
    parts += _extras(data)
    parts += ["## Settings and versions", shown(_settings(data.results))]
    parts += ["To make it again:", fence("\n".join(commands(data)))]
    parts += _examples(data)
    parts += ["## How these numbers are made", *map(md, method(data))]
    return "\n\n".join(parts) + "\n"


def shown(table: TextTable) -> str:
    """Return a table with its title above it in bold."""
    rows = [table.head, *table.rows]
    lines = ["| " + " | ".join(md(cell) or " " for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(table.head))
    return "\n".join([f"**{md(table.title)}**", "", *lines])


def bullets(lines: Sequence[str]) -> list[str]:
    """Return one block of bullets, or nothing."""
    return ["\n".join(f"- {md(line)}" for line in lines)] if lines else []


def _comparisons(data: ReportData) -> list[TextTable]:
    found: Sequence[Comparison] = [data.comparison] if data.comparison is not None else []
    metrics = [*headline_metrics(data.results), "length"]
    return [comparison_table(c, metrics) for c in found]


def _curves(data: ReportData) -> TextTable:
    """Return pass@k of every group and result at every k."""
    rows = []
    ks = sorted({k for g in data.groups for line in data.lines(g) for k in line.points})
    for group in data.groups:
        for line in data.lines(group):
            cells = [bracket(line.points[k]) if k in line.points else "-" for k in ks]
            rows.append((group.name, line.label, str(group.problems), *cells))
    head = ("group", "result", "problems", *(f"k = {k}" for k in ks))
    return TextTable("pass@k with intervals over problems", head, tuple(rows))


def _rates(data: ReportData) -> TextTable:
    rows = tuple(
        (group.name, label, *map(str, counts))
        for group in data.groups
        if group.kind in ("overall", "domain")
        for _, label, counts in data.rates(group)
    )
    head = ("group", "result", *BINS)
    return TextTable("Problems by success rate c/n", head, rows)


def _boundary(data: ReportData) -> list[str]:
    report = data.boundary
    if report is None:
        return []
    parts = ["## Did the boundary move?", *bullets(verdict(report)), md(decision_rule(report))]
    parts += [shown(t) for t in boundary_tables(report)]
    for s in report.solvable:
        parts += bullets(_ids(s))
    return parts


def _ids(s: SolvableChanges) -> list[str]:
    sets = (
        ("gained", s.gained),
        ("gained and shown", s.gained_shown),
        ("lost", s.lost),
        ("lost and shown", s.lost_shown),
        ("without a verdict", s.unjudged),
    )
    return [f"{s.after}, {name} ({len(ids)}): {', '.join(ids)}" for name, ids in sets if ids]


def _extras(data: ReportData) -> list[str]:
    parts = []
    if data.suspicions:
        found = suspicion_table(data.suspicions, data.options.false_positive_rate)
        parts += ["## If the verifier is wrong", shown(found)]
    if data.posteriors:
        parts += ["## Posterior pass@k", shown(posterior_table(data.posteriors))]
    return parts


def _settings(results: Sequence[EvalResult]) -> TextTable:
    rows = tuple((name, *values) for name, values in setting_facts(results).items())
    return TextTable("How each result was obtained", ("", *(r.label for r in results)), rows)


def _examples(data: ReportData) -> list[str]:
    if not data.results[0].examples:
        return []
    parts = [
        "## Examples",
        "The first sample of the first problems of each domain: chosen by place, not by outcome.",
    ]
    for example in data.results[0].examples:
        parts += [f"### {md(example.domain)} · {md(example.id)}", fence(example.prompt)]
        for r in data.results:
            for e in (e for e in r.examples if e.id == example.id):
                reward = "no reward" if e.reward is None else f"reward {e.reward:.2f}"
                parts += [
                    f"**{md(r.label)}** · {md(f'{reward}, {e.status}, {e.reason}')}",
                    fence(e.response),
                ]
    return parts
