"""Formats boundary reports, and pass@k corrected for false positives, as text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from prorl_common import derive_seed
from prorl_evaluation.boundary.types import BoundaryGroup, BoundaryReport
from prorl_evaluation.metrics import Suspicion, suspicion
from prorl_evaluation.stats.intervals import Resampling
from prorl_evaluation.stats.paired import Change, units_of
from prorl_evaluation.tables import TextTable, bracket, length_digits, number, signed_bracket
from prorl_evaluation.types import EvalResult, shown_ks


def boundary_tables(report: BoundaryReport) -> list[TextTable]:
    tables = [
        claims_table(report),
        solvable_table(report),
        length_table(report),
        gains_table(report),
        *ladder_tables(report),
    ]
    return [t for t in tables if t.rows]


def claims_table(report: BoundaryReport) -> TextTable:
    rows = []
    for group in report.groups:
        for changes, claim in zip(group.changes, group.claims, strict=True):
            first, last = (_metric(changes, f"pass@{k}") for k in (1, report.k))
            p = claim.p_corrected
            # a p-value below 1e-6 depends on the far tail of t and is not reliable
            p_text = "-" if math.isnan(p) else "< 1e-6" if p < 1e-6 else f"{p:.2g}"
            rows.append(
                (
                    _name(group),
                    claim.checkpoint,
                    signed_bracket(first.interval),
                    signed_bracket(last.interval),
                    claim.regime,
                    p_text,
                    claim.reason,
                )
            )
    title = (
        f"Boundary against {report.labels[0]}: Holm over {report.hypotheses} candidate claims at "
        f"{report.alpha:g}, margin {report.margin:g}"
    )
    head = ("", "checkpoint", "pass@1", f"pass@{report.k}", "claim", "corrected p", "reason")
    return TextTable(title, head, tuple(rows), ("reason", "corrected p", "checkpoint"))


def solvable_table(report: BoundaryReport) -> TextTable:
    rows = tuple(
        (
            s.after,
            str(s.both),
            str(s.neither),
            f"{len(s.gained)} ({s.gained_by_luck:.1f} by luck)",
            str(len(s.gained_shown)),
            f"{len(s.lost)} ({s.lost_by_luck:.1f} by luck)",
            str(len(s.lost_shown)),
            str(len(s.unjudged)),
        )
        for s in report.solvable
    )
    fdr = report.solvable[0].fdr if report.solvable else math.nan
    title = f"Solved at least once, against {report.labels[0]}; shown at a false discovery rate of {fdr:g}"
    head = ("", "both", "neither", "gained", "shown", "lost", "shown", "unjudged")
    return TextTable(title, head, rows)


def length_table(report: BoundaryReport) -> TextTable:
    rows = []
    for group in report.groups:
        for changes, claim in zip(group.changes, group.claims, strict=True):
            c = _metric(changes, "length")
            share = f"{100 * c.interval.value / c.before:+.1f}%" if c.before > 0 else "-"
            digits = length_digits(c.before)
            means = (number(v, digits) for v in (c.before, c.after))
            cells = (*means, signed_bracket(c.interval, digits), share)
            rows.append((_name(group), claim.checkpoint, *cells))
    head = ("", "checkpoint", "before", "after", "change", "relative")
    return TextTable("Generated tokens an answer", head, tuple(rows), ("before", "after"))


def gains_table(report: BoundaryReport) -> TextTable:
    rows = tuple(
        (label, str(gain.correlation.count), signed_bracket(gain.correlation, 2))
        for label, gain in zip(report.labels[1:], report.gains, strict=True)
        if gain.correlation.count
    )
    title = f"Gain of pass@{report.k} against the baseline's pass@{report.k} over groups"
    return TextTable(title, ("", "groups", "rank correlation"), rows)


def ladder_tables(report: BoundaryReport) -> list[TextTable]:
    return [
        TextTable(
            f"{ladder.task}: {ladder.metric} by {ladder.key}",
            (ladder.key, "problems", *report.labels),
            tuple((r.name, str(r.problems), *(bracket(v) for v in r.values)) for r in ladder.rungs),
        )
        for ladder in report.ladders
    ]


def suspicions(results: Sequence[EvalResult], rate: float) -> list[tuple[str, list[Suspicion]]]:
    """Return each result's label and pass@k, corrected for wrong answers that are accepted at the rate ``rate``."""
    ks, rows = shown_ks(results), []
    for r in results:
        s, units = r.settings, units_of(r.problems)
        how = Resampling(s.level, s.draws, derive_seed(s.seed, "false positives"))
        rows.append((r.label, [suspicion(r.problems, k, rate, units, how) for k in ks]))
    return rows


def suspicion_table(estimates: Sequence[tuple[str, Sequence[Suspicion]]], rate: float) -> TextTable:
    rows = tuple(
        (
            label,
            f"pass@{s.k}",
            number(s.observed),
            number(s.unsolvable_reads),
            bracket(s.adjusted),
        )
        for label, values in estimates
        for s in values
    )
    title = f"If the verifier accepts {100 * rate:g}% of wrong answers, independently"
    return TextTable(title, ("", "", "observed", "unsolvable reads", "without them"), rows)


def _metric(changes: Sequence[Change], name: str) -> Change:
    return next(c for c in changes if c.metric == name)


def _name(group: BoundaryGroup) -> str:
    return group.name if group.kind == "overall" else f"{group.kind} {group.name}"
