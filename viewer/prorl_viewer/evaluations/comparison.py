"""Returns the curves, claims and solvable sets of an evaluation as JSON pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_evaluation.boundary.boundary import align
from prorl_evaluation.boundary.changes import solvable_changes
from prorl_evaluation.boundary.tables import ladder_tables, suspicion_table
from prorl_evaluation.boundary.types import BoundaryGroup, BoundaryReport
from prorl_evaluation.report import words
from prorl_evaluation.report.data import ReportData
from prorl_evaluation.report.tables import rates_table, setting_facts
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.stats.paired import Change
from prorl_evaluation.tables import TextTable
from prorl_evaluation.types import EvalResult
from prorl_viewer.subject import Json, NotFoundError


def curves(data: ReportData, keys: Sequence[str], group: str) -> Json:
    """Return the curves and claims of one ``group`` (``kind:name``), and a list of all groups."""
    by_name = {name_of(g): g for g in data.groups}
    if group not in by_name:
        raise NotFoundError(
            f"there is no group '{group}'; the groups are {', '.join(list(by_name)[:8])}"
        )
    chosen = by_name[group]
    return {
        "groups": [{"name": n, "kind": g.kind, "problems": g.problems} for n, g in by_name.items()],
        "group": group,
        "problems": chosen.problems,
        "shared": data.boundary is not None,
        "fewest": min(r.settings.n for r in data.results),
        "level": data.results[0].settings.level,
        "lines": [
            line(keys[curve.place], curve.label, curve.points) for curve in data.lines(chosen)
        ],
        "claims": [_claim(chosen, at, data.boundary) for at in range(len(chosen.claims))],
    }


def claims(data: ReportData) -> Json:
    """Return all claims with their tests, the decision rule and explanations."""
    report = data.boundary
    tables = [] if report is None else ladder_tables(report)
    if data.suspicions:
        tables.append(suspicion_table(data.suspicions, data.options.false_positive_rate))
    texts = {
        "headline": words.headline(data.results, data.comparison),
        "lead": words.lead(data),
        "caveats": words.caveats(data),
        "method": words.method(data),
        "commands": words.commands(data),
        "tables": [_table(t) for t in tables],
    }
    if report is None:
        return {**texts, "claims": [], "baseline": data.results[0].label}
    return {
        **texts,
        "baseline": report.labels[0],
        "k": report.k,
        "level": report.level,
        "verdict": words.verdict(report),
        "rule": words.decision_rule(report),
        "meaning": dict(words.MEANING),
        "multiple": _multiple(report),
        "claims": [_claim(g, at, report) for g in report.groups for at in range(len(g.claims))],
        "gains": [
            {
                "label": label,
                "correlation": words.correlation(gain),
                "points": [
                    {"group": p.group, "base": p.base, "gain": p.gain, "problems": p.problems}
                    for p in gain.points
                ],
            }
            for label, gain in data.gains()
        ],
    }


def _multiple(report: BoundaryReport) -> str:
    groups, later = len(report.groups), len(report.labels) - 1
    return (
        f"{groups} {'group' if groups == 1 else 'groups'} by {later} "
        f"{'model' if later == 1 else 'models'} against {report.labels[0]}: {report.hypotheses} candidate claims, "
        f"corrected together (Holm) so that the chance of any false one stays below {report.alpha:g}. The intervals "
        "and single p-values beside them are not corrected: of twenty intervals without a true change, one is "
        "expected to exclude 0. Choosing other models here makes another family of claims."
    )


def _claim(group: BoundaryGroup, at: int, report: BoundaryReport | None) -> Json:
    assert report is not None  # claims come from a report
    claim, changes = group.claims[at], group.changes[at]
    return {
        "group": name_of(group),
        "kind": group.kind,
        "name": group.name,
        "problems": group.problems,
        "checkpoint": claim.checkpoint,
        "regime": claim.regime,
        "reason": claim.reason,
        "p": claim.p,
        "p_corrected": claim.p_corrected,
        "tests": [{"name": t.name, "p": t.p} for t in claim.tests],
        "changes": {
            c.metric: change(c)
            for c in changes
            if c.metric in ("pass@1", f"pass@{report.k}", "reward", "length")
        },
    }


def solvable(results: Sequence[EvalResult]) -> Json:
    """Return the problems that became (un)solvable in each later result. Raises EvaluationError if none are shared."""
    aligned, warnings = align(results)
    base = results[0]
    changes = [
        solvable_changes([(row[0], row[at]) for row in aligned], (base.label, r.label))
        for at, r in enumerate(results[1:], start=1)
    ]
    return {
        "baseline": base.label,
        "problems": len(aligned),
        "n": [r.settings.n for r in results],
        "warnings": warnings,
        "changes": [
            {
                "label": s.after,
                "kept": s.both,
                "never": s.neither,
                "gained": list(s.gained),
                "lost": list(s.lost),
                "gained_shown": list(s.gained_shown),
                "lost_shown": list(s.lost_shown),
                "gained_by_luck": s.gained_by_luck,
                "lost_by_luck": s.lost_by_luck,
                "unjudged": list(s.unjudged),
                "fdr": s.fdr,
            }
            for s in changes
        ],
    }


def settings(results: Sequence[EvalResult]) -> Json:
    return {
        "labels": [r.label for r in results],
        "facts": [{"name": name, "values": list(v)} for name, v in setting_facts(results).items()],
        "rates": _table(rates_table(results)),
    }


def _table(table: TextTable) -> Json:
    return {"title": table.title, "head": list(table.head), "rows": [list(r) for r in table.rows]}


def name_of(group: BoundaryGroup) -> str:
    return f"{group.kind}:{group.name}"


def line(key: str, label: str, points: Mapping[int, Interval]) -> Json:
    rows = [[k, i.value, i.low, i.high, i.count] for k, i in sorted(points.items()) if i.count]
    return {"key": key, "label": label, "points": rows}


def change(c: Change) -> dict[str, Any]:
    return {"before": c.before, "after": c.after, **interval(c.interval)}


def interval(i: Interval) -> dict[str, Any]:
    return {
        "value": i.value,
        "low": i.low,
        "high": i.high,
        "count": i.count,
        "undefined": i.undefined,
    }
