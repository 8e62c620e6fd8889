"""Writes the outcome of a suite as Markdown and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from prorl_common import atomic_write_text
from prorl_common.markup import md
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.suites.published import (
    PublishedCells,
    RowChoice,
    average,
    benchmark_score,
    category_rows,
    difference,
    fixed_score,
    group_scores,
    published,
    rows_for,
    trained_mark,
)
from prorl_evaluation.suites.runner import SuiteResult
from prorl_evaluation.suites.suite import CATEGORIES, Table
from prorl_evaluation.tables import TextTable

ABSENT = "-"
ASSUMED = "~"
BOTH = "[ ] holds for problems like these, { } for new samples of these very problems"
CUT_SHOWN = 0.05
"""Minimum fraction of truncated answers for which a note is shown."""


@dataclass(slots=True)
class SuiteTable:
    table: TextTable
    before: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)


def suite_tables(result: SuiteResult, choice: RowChoice = "core") -> list[SuiteTable]:
    return [
        _by_group(result, table, choice)
        if table.by is not None
        else _by_column(result, table, choice)
        for table in result.suite.shown_tables(list(result.names))
    ]


def percent(interval: Interval | None, sign: str = "", fixed: Interval | None = None) -> str:
    """Return the value and its intervals in percent; ``fixed`` is shown in braces."""
    if interval is None or interval.count == 0:
        return ABSENT
    value, low, high = (100 * v for v in (interval.value, interval.low, interval.high))
    span = "no spread" if interval.degenerate else f"{low:{sign}.1f}, {high:{sign}.1f}"
    text = f"{value:{sign}.2f}\n[{span}]"
    if fixed is not None and fixed.count:
        text += f"\n{{{100 * fixed.low:{sign}.1f}, {100 * fixed.high:{sign}.1f}}}"
    return text


def _by_column(result: SuiteResult, table: Table, choice: RowChoice) -> SuiteTable:
    columns = {c.head: c.benchmark for c in table.columns if c.benchmark in result.names}
    names = list(columns.values())
    metrics = {name: result.suite.metric(name) for name in names}
    whole = table.average and len(columns) == len(table.columns)
    printed = rows_for(columns, table.title, choice)
    rows = [_published_row(row, whole) for row in printed]
    for model in result.models:
        scores = [
            benchmark_score(r, metrics[n]) if (r := model.results.get(n)) else None for n in names
        ]
        fixed = [fixed_score(r, metrics[n]) if (r := model.results.get(n)) else None for n in names]
        cells = [percent(score, fixed=f) for score, f in zip(scores, fixed, strict=True)]
        if whole:
            defined = [score for score in scores if score is not None]
            narrow = [score for score in fixed if score is not None]
            both = average(narrow) if len(narrow) == len(scores) else None
            cells.append(
                percent(average(defined), fixed=both) if len(defined) == len(scores) else ABSENT
            )
        rows.append((model.label, *cells))
    if len(result.models) > 1:
        first, last = result.models[0], result.models[-1]
        cells = []
        for name in names:
            a, b = first.results.get(name), last.results.get(name)
            change, same = difference(a, b, metrics[name]) if a and b else (None, None)
            cells.append(percent(change, "+", same))
        label = f"{last.label} minus {first.label}"
        rows.append((label, *cells, *([ABSENT] if whole else [])))
    head = ("", *columns, *(["Avg"] if whole else []))
    drawn = SuiteTable(TextTable(table.title, head, tuple(rows)))
    drawn.before = _comparability(result, printed)
    drawn.below = _below(result, columns, printed)
    if any("{" in cell for row in rows for cell in row[1:]):
        drawn.below.append(BOTH)
    return drawn


def _published_row(row: PublishedCells, with_average: bool) -> tuple[str, ...]:
    cells = [
        ABSENT if value is None else f"{value:.2f}{ASSUMED if assumed else ''}"
        for value, assumed in zip(row.cells, row.assumed, strict=True)
    ]
    if with_average:
        cells.append(ABSENT if row.average is None else f"{row.average:.2f}")
    return (f"{row.label} ({row.origin})", *cells)


def _by_group(result: SuiteResult, table: Table, choice: RowChoice) -> SuiteTable:
    name, by = table.benchmark, table.by
    assert name is not None and by is not None  # a table with ``by`` has one benchmark
    metric = result.suite.metric(name)
    scores = {
        model.label: group_scores(outcome, metric, by)
        for model in result.models
        if (outcome := model.results.get(name)) is not None
    }
    groups = list(dict.fromkeys(g for groups in scores.values() for g in groups))
    printed: list[PublishedCells] = []
    match by:
        case "category":
            groups = sorted(groups) or [c for c in CATEGORIES if c != "probability"]
            printed = category_rows(groups, choice)
        case "family" | "rung":
            pass
        case _:
            assert_never(by)
    rows = [_published_row(row, False) for row in printed]
    for model in result.models:
        mine = scores.get(model.label, {})
        rows.append((model.label, *(percent(mine.get(g)) for g in groups)))
    head = ("", *(trained_mark(table, g) for g in groups))
    drawn = SuiteTable(TextTable(table.title, head, tuple(rows)))
    drawn.before = _comparability(result, printed)
    drawn.below = _below(result, {name: name}, printed)
    if any(h.endswith("*") for h in head):
        drawn.below.append("* this size is in the training data of our recipes")
    return drawn


def _comparability(result: SuiteResult, printed: Sequence[PublishedCells]) -> list[str]:
    lines = []
    for key in dict.fromkeys(row.origin for row in printed):
        origin = published().origins[key]
        lines.append(
            f"({key}) {origin.title}; measured by {origin.measured_by}; {origin.sampling}; {origin.note}"
        )
        wrong = origin.differences(result.settings)
        if result.partial:
            wrong.append("a part of the problems where they had all")
        if wrong:
            lines.append(f"your sampling is not that of ({key}): {', '.join(wrong)}")
    if printed:
        lines.append(
            "prompts, answer checks and their time limits are ours: equal sampling alone does not make the "
            "numbers comparable"
        )
    return lines


def _below(
    result: SuiteResult, columns: dict[str, str], printed: Sequence[PublishedCells]
) -> list[str]:
    lines: dict[str, None] = {}
    for row in printed:
        by_column = len(row.cells) == len(columns)  # otherwise a cell is a group
        cells = dict(zip(columns, row.cells, strict=True)) if by_column else {}
        for head, why in row.marks.items():
            mark = ABSENT if cells.get(head, 0.0) is None else ASSUMED
            lines[f"{mark} {head} ({row.origin}): {why}"] = None
    names = set(columns.values())
    for failure in result.failures:
        if failure.benchmark in names:
            who = f" ({failure.model})" if failure.model else ""
            lines[f"{ABSENT} {failure.benchmark}{who}: {failure.reason}"] = None
    for model in result.models:
        for name in columns.values():
            if (outcome := model.results.get(name)) is None:
                continue
            group, who = outcome.overall, f"{model.label}, {name}"
            if group.truncation_rate >= CUT_SHOWN:
                share = f"{100 * group.truncation_rate:.0f}%"
                limit = outcome.settings.max_tokens
                lines[f"{who}: {share} of the answers were cut at {limit} tokens"] = None
            if group.infra_errors:
                line = (
                    f"{who}: {group.infra_errors} of {group.sampled} answers have no verdict (the "
                    "checker failed) and do not count; the same command tries them again"
                )
                lines[line] = None
    return list(lines)


def markdown(tables: Sequence[SuiteTable]) -> str:
    pages = []
    for drawn in tables:
        table = drawn.table
        lines = [f"### {md(table.title)}", "", *(f"- {md(line)}" for line in drawn.before)]
        if drawn.before:
            lines.append("")
        lines.append("| " + " | ".join(md(h) for h in table.head) + " |")
        lines.append("|---" + "|---:" * (len(table.head) - 1) + "|")
        for label, *cells in table.rows:
            # cells hold only our own numbers, signs and marks, so they need no escaping
            texts = [c.replace("\n", " ").replace(ASSUMED, f"\\{ASSUMED}") for c in cells]
            lines.append("| " + " | ".join([md(label), *texts]) + " |")
        if drawn.below:
            lines += ["", *(f"- {md(line.removeprefix('- '))}" for line in drawn.below)]
        pages.append("\n".join(lines) + "\n")
    return "\n".join(pages)


def suite_json(result: SuiteResult) -> dict[str, Any]:
    """Return the outcome as JSON; only published numbers are in percent."""
    s = result.settings
    book = published()
    rows = [r for r in book.rows if set(r.values) & set(result.names)]
    models = []
    for model in result.models:
        benchmarks: dict[str, Any] = {}
        for name, outcome in model.results.items():
            metric, group = result.suite.metric(name), outcome.overall
            fixed = fixed_score(outcome, metric)
            kinds = [t.by for t in result.suite.tables if t.benchmark == name and t.by is not None]
            benchmarks[name] = {
                "metric": metric,
                **_interval(benchmark_score(outcome, metric)),
                "these_very_problems": _interval(fixed) if fixed is not None else None,
                "problems": group.problems,
                "infra_errors": group.infra_errors,
                "truncation_rate": _finite(group.truncation_rate),
                "groups": {
                    by: {g: _interval(i) for g, i in group_scores(outcome, metric, by).items()}
                    for by in kinds
                },
                "folder": str(model.folders[name]),
            }
        models.append({"label": model.label, "benchmarks": benchmarks})
    return {
        "suite": result.suite.name,
        "benchmarks": list(result.names),
        "settings": {
            "n": s.n,
            "temperature": s.temperature,
            "top_p": s.top_p,
            "max_tokens": s.max_tokens,
            "turns": s.turns,
            "seed": s.seed,
            "limit": result.limit,
            "backend": s.backend,
            "extra": dict(s.extra),
        },
        "partial": result.partial,
        "models": models,
        "failures": [
            {"benchmark": f.benchmark, "model": f.model, "reason": f.reason, "service": f.service}
            for f in result.failures
        ],
        "notes": list(result.notes),
        "shared_with_training": {name: list(ids) for name, ids in result.shared.items()},
        "published": [r.model_dump() for r in rows],
        "origins": {o: book.origins[o].model_dump() for o in sorted({r.origin for r in rows})},
    }


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "value": _finite(interval.value),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "scored_problems": interval.count,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def save_suite(result: SuiteResult, root: Path, choice: RowChoice = "core") -> Path:
    """Write the outcome to ``root`` as JSON and Markdown; return the path of the Markdown file."""
    s = result.settings
    names = ("n", "temperature", "top_p", "max_tokens", "seed")
    sampling = {name: getattr(s, name) for name in names} | s.turn_limit
    key = [sampling, list(result.names), result.partial, [m.label for m in result.models]]
    # added only if present, so that older file names stay valid
    if result.limit is not None:
        key.append({"limit": result.limit})
    if s.backend != "transformers" or s.extra:
        key.append({"backend": s.backend, "extra": dict(s.extra)})
    stem = root / f"suite-{result.suite.name}-{digest(key)[:8]}"
    text = json.dumps(suite_json(result), indent=1, ensure_ascii=False) + "\n"
    atomic_write_text(stem.with_suffix(".json"), text)
    page = stem.with_suffix(".md")
    atomic_write_text(page, markdown(suite_tables(result, choice)))
    return page
