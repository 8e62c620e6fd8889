"""The boundary part of the page: claims, solvable sets, gain against base, lengths, ladders.

Leaves out: how the numbers are made (``boundary``) and the text tables they share (``boundary.tables``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from prorl_evaluation.boundary.tables import length_table
from prorl_evaluation.boundary.types import (
    BoundaryGroup,
    BoundaryReport,
    Change,
    Claim,
    Ladder,
    SolvableChanges,
)
from prorl_evaluation.report.data import ReportData
from prorl_evaluation.report.figures import gain_panel, ladder_panel
from prorl_evaluation.report.svg import strip
from prorl_evaluation.report.tables import folded, legend, panels, strip_ends, table, text_table
from prorl_evaluation.report.text import (
    number,
    p_value,
    signed,
    signed_range,
    text,
    with_range,
)
from prorl_evaluation.report.words import decision_rule, verdict
from prorl_evaluation.tables import TextTable

FOLD_ABOVE = 12
"""More tasks than this are folded away until opened."""
MOST_IDS = 500
"""Ids shown of one set; the JSON has all of them."""
SYMBOLS = {"sustained": "▲", "plateau": "▬", "diminish": "▼", "undecided": "?"}


def boundary_sections(data: ReportData) -> str:
    """Return the sections on the boundary; nothing without a boundary report."""
    report = data.boundary
    if report is None:
        return ""
    said = "".join(f"<li>{text(line)}</li>" for line in verdict(report))
    return "".join(
        [
            f"<section><h2>Did the boundary move?</h2><ul class='verdict'>{said}</ul>",
            _claims(report),
            f"<p class='caption'>{text(decision_rule(report))}</p></section>",
            _solvable(report),
            _gains(data, report),
            _lengths(report),
            _ladders(data, report),
        ]
    )


def chip(regime: str) -> str:
    """Return a regime's word with a symbol, so that colour is not its only mark."""
    return f"<span class='chip {text(regime)}'>{SYMBOLS.get(regime, '')} {text(regime)}</span>"


def _claims(report: BoundaryReport) -> str:
    coarse, fine = by_size(report.groups)
    caption = f"Claims against {report.labels[0]}"
    shown = _claims_table(report, coarse, caption)
    if not fine:
        return shown
    kinds = kinds_of(fine)
    inside = _claims_table(report, fine, f"{caption}, by {kinds}")
    return shown + folded(f"Claims by {kinds} ({len(fine)})", inside, len(fine) <= FOLD_ABOVE)


def by_size(
    groups: Sequence[BoundaryGroup],
) -> tuple[list[BoundaryGroup], list[BoundaryGroup]]:
    """Return overall and domains, and benchmarks and tasks."""
    coarse = [g for g in groups if g.kind in ("overall", "domain")]
    return coarse, [g for g in groups if g.kind in ("benchmark", "task")]


def kinds_of(groups: Sequence[BoundaryGroup]) -> str:
    """Return what the groups are: benchmark, task or both."""
    return " and ".join(dict.fromkeys(str(g.kind) for g in groups))


def _claims_table(report: BoundaryReport, groups: Sequence[BoundaryGroup], caption: str) -> str:
    k = f"pass@{report.k}"
    changes_of_k = (c for g in report.groups for own in g.changes for c in own if c.metric == k)
    ends = strip_ends(c.interval for c in changes_of_k)
    rows = []
    for group in groups:
        for place, (changes, claim) in enumerate(zip(group.changes, group.claims, strict=True)):
            cells = _group_head(group) if place == 0 else ""
            first = " class='first'" if place == 0 else ""
            rows.append(f"<tr{first}>{cells}{_claim_cells(changes, claim, k, ends)}</tr>")
    head = (
        "group",
        "checkpoint",
        "claim",
        "corrected p",
        "pass@1",
        k,
        f"change of {k}",
        "decided by",
    )
    return table(caption, head, rows)


def _group_head(group: BoundaryGroup) -> str:
    kind = "" if group.kind == "overall" else f"{group.kind}, "
    problems = f"{group.problems} problem{'' if group.problems == 1 else 's'}"
    return (
        f"<th scope='rowgroup' rowspan='{len(group.claims)}'>{text(group.name)}"
        f"<small>{text(kind)}{problems}</small></th>"
    )


def _claim_cells(changes: Sequence[Change], claim: Claim, k: str, ends: tuple[float, float]) -> str:
    one, last = (next(c for c in changes if c.metric == name) for name in ("pass@1", k))
    i = last.interval
    tests = "; ".join(f"{t.name}: p {p_value(t.p)}" for t in claim.tests)
    cells = [
        f"<td class='name'>{text(claim.checkpoint)}</td><td>{chip(claim.regime)}</td>",
        f"<td class='number'>{text(p_value(claim.p_corrected))}</td>",
        f"<td class='number'>{_before_after(one)}</td><td class='number'>{_before_after(last)}</td>",
        f"<td class='number'>{signed_range(i)}{strip((i.low, i.value, i.high), ends)}</td>",
        f"<td class='why'>{text(claim.reason)}<small>{text(tests)}</small></td>",
    ]
    return "".join(cells)


def _before_after(change: Change) -> str:
    return f"{number(change.before)} → {number(change.after)}"


def _solvable(report: BoundaryReport) -> str:
    parts = ["<section><h2>Problems gained and lost</h2>", _solvable_table(report.solvable)]
    parts.append(
        "<p class='caption'>Gained: no success before, at least one after; lost: the reverse. A problem of "
        "rate 1/n is missed in a third of the cases, so beside each raw count stands how many one expects "
        "if no rate had changed. Shown: those that Fisher's exact test tells apart at a false discovery "
        f"rate of {100 * report.solvable[0].fdr:g}%.</p>"
    )
    for s in report.solvable:
        sets = (
            ("gained and shown", s.gained_shown),
            ("gained, not shown", [i for i in s.gained if i not in {*s.gained_shown}]),
            ("lost and shown", s.lost_shown),
            ("lost, not shown", [i for i in s.lost if i not in {*s.lost_shown}]),
            ("without a verdict on one side", s.unjudged),
        )
        inside = "".join(_ids(name, ids) for name, ids in sets if ids)
        if inside:
            parts.append(folded(f"Problem ids, {s.before} to {s.after}", inside))
    return "".join([*parts, "</section>"])


def _solvable_table(found: Sequence[SolvableChanges]) -> str:
    rows = []
    for s in found:
        gained = (len(s.gained), f"{s.gained_by_luck:.1f}", len(s.gained_shown))
        lost = (len(s.lost), f"{s.lost_by_luck:.1f}", len(s.lost_shown))
        cells = (s.both, s.neither, *gained, *lost, len(s.unjudged))
        numbers = "".join(f"<td class='number'>{text(c)}</td>" for c in cells)
        rows.append(f"<tr><th scope='row'>{text(s.after)}</th>{numbers}</tr>")
    head = (
        *("checkpoint", "solved in both", "in neither", "gained", "by luck", "gained, shown"),
        *("lost", "by luck", "lost, shown", "no verdict"),
    )
    return table(f"Problems solved at least once, against {found[0].before}", head, rows)


def _ids(name: str, ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_IDS} more (see the JSON)" if len(ids) > MOST_IDS else ""
    shown = " ".join(f"<code>{text(i)}</code>" for i in ids[:MOST_IDS])
    return f"<h3>{text(name)} ({len(ids)})</h3><p class='ids'>{shown}{text(more)}</p>"


def _gains(data: ReportData, report: BoundaryReport) -> str:
    figures, lines = [], []
    for place, label, gain in zip(data.places()[1:], report.labels[1:], report.gains, strict=True):
        if sum(math.isfinite(p.base + p.gain) for p in gain.points) < 2:
            continue
        figures.append((label, gain_panel(gain, place, label)))
        c = gain.correlation
        said = (
            f"rank correlation {signed(c.value, 2)} [{signed(c.low, 2)}, {signed(c.high, 2)}] over "
            f"{c.count} groups"
            if c.count
            else "too few groups, or no spread, for a correlation"
        )
        lines.append(f"<li>{text(label)}: {text(said)}</li>")
    if not figures:
        return ""
    return (
        f"<section><h2>Gain against base pass@{report.k}</h2><ul>{''.join(lines)}</ul>{panels(figures)}"
        "<p class='caption'>A point a group (its name when pointed at; its numbers are in the claims). "
        "Dashed: all that can be gained. Part of a negative correlation is arithmetic: nothing rises above "
        "1, and noise in the base enters the gain with a minus sign.</p></section>"
    )


def _lengths(report: BoundaryReport) -> str:
    coarse, fine = (
        length_table(dataclasses.replace(report, groups=tuple(groups)))
        for groups in by_size(report.groups)
    )
    parts = ["<section><h2>Length of the answers</h2>", text_table(_minus(coarse))]
    if fine.rows:
        parts.append(
            folded(f"Length by {kinds_of(by_size(report.groups)[1])}", text_table(_minus(fine)))
        )
    return "".join([*parts, "</section>"])


def _minus(shown: TextTable) -> TextTable:
    """Return the table with a minus sign where a number is below 0."""
    rows = tuple((*row[:2], *(c.replace("-", "−") for c in row[2:])) for row in shown.rows)
    return dataclasses.replace(shown, rows=rows)


def _ladders(data: ReportData, report: BoundaryReport) -> str:
    if not report.ladders:
        return ""
    lines = list(zip(data.places(), report.labels, strict=True))
    figures = [
        (f"{ladder.task}: {_metric(ladder)} by {ladder.key}", ladder_panel(ladder, lines))
        for ladder in report.ladders
        if ladder.metric != "reward"
    ]
    tasks = len({ladder.task for ladder in report.ladders})
    shown = panels(figures)
    if tasks > FOLD_ABOVE:
        shown = folded(f"Ladders of {tasks} tasks", shown)
    tables = "".join(_ladder_table(ladder, report.labels) for ladder in report.ladders)
    return (
        "<section><h2>Ladders of difficulty</h2>"
        "<p class='caption'>One task at rising difficulty. Rungs harder than those trained on show "
        "whether what was learnt carries over; the results do not say which were trained on.</p>"
        f"{legend(lines)}{shown}{folded('Numbers of the ladders', tables)}</section>"
    )


def _metric(ladder: Ladder) -> str:
    return "mean reward" if ladder.metric == "reward" else ladder.metric


def _ladder_table(ladder: Ladder, labels: Sequence[str]) -> str:
    rows = [
        f"<tr><th scope='row'>{text(r.name)}</th><td class='number'>{r.problems}</td>"
        + "".join(f"<td class='number'>{with_range(v)}</td>" for v in r.values)
        + "</tr>"
        for r in ladder.rungs
    ]
    caption = f"{ladder.task}: {_metric(ladder)} by {ladder.key}"
    return table(caption, (ladder.key, "problems", *labels), rows)
