"""Runs the audit of a verifier and writes the report as tables or JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from prorl_common import Progress, UserError
from prorl_verifiers.audit.search import GroupReport, GroupSearch, Scorer, Settings, Trial
from prorl_verifiers.audit.spoilt import SpoiltReport, spoil_group
from prorl_verifiers.audit_shape import AuditRequest, Group
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import with_mode

MOST_LEAKS = 10
"""Maximum number of leaks listed per group."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The results of all groups, with the worst group first."""

    groups: Sequence[GroupReport]
    spoilt: Sequence[SpoiltReport]
    seconds: float

    @property
    def leaks(self) -> list[GroupReport]:
        """Groups in which a probe earned significantly more than chance."""
        return [group for group in self.groups if group.leaks]

    @property
    def paid(self) -> list[SpoiltReport]:
        """Groups in which an answer that was made wrong earned a reward."""
        return [group for group in self.spoilt if group.paid]

    @property
    def faults(self) -> int:
        """Number of missing, invalid, slow or contradictory verdicts."""
        faults = sum(len(group.faults) for group in self.groups)
        return faults + sum(group.no_verdict for group in self.spoilt)


def as_document(report: AuditReport, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "settings": settings,
        "seconds": round(report.seconds, 1),
        "leaks": len(report.leaks),
        "faults": report.faults,
        "verdicts": sum(group.verdicts for group in report.groups),
        "groups": [
            {
                "name": group.name,
                "verifier": group.verifier,
                "items": group.items,
                "chance": round(group.chance, 4),
                "probes": group.tried,
                "verdicts": group.verdicts,
                "slowest_seconds": round(group.slowest, 3),
                "best": None if group.best is None else trial_document(group.best),
                "leaks": len(group.leaks),
                "worst_leaks": [trial_document(trial) for trial in group.leaks[:MOST_LEAKS]],
                "faults": [asdict(fault) for fault in group.faults],
            }
            for group in report.groups
        ],
        "spoilt": [spoilt_document(group) for group in report.spoilt],
    }


def spoilt_document(group: SpoiltReport) -> dict[str, Any]:
    return {
        "name": group.name,
        "verifier": group.verifier,
        "items": group.items,
        "right": group.right,
        "tried": group.tried,
        "paid": group.paid,
        "no_verdict": group.no_verdict,
        "mutations": [asdict(result) for result in group.results],
    }


def trial_document(trial: Trial) -> dict[str, Any]:
    return {
        "probe": trial.probe,
        "example": trial.example,
        "earned": round(trial.earned, 4),
        "chance": round(trial.chance, 4),
        "excess": round(trial.excess, 4),
        "luck": float(f"{trial.luck:.3g}"),
        "leak": trial.is_leak,
    }


def verdict_of(group: GroupReport) -> str:
    """Return "LEAK", "fault", "above chance" (not significant) or "ok"."""
    if group.leaks:
        return "LEAK"
    if group.faults:
        return "fault"
    return "above chance" if group.best is not None and group.best.excess > 0.05 else "ok"


def cells(group: GroupReport) -> tuple[str, ...]:
    best = group.leaks[0] if group.leaks else group.best
    facts = ("–", "–", "–")
    if best is not None:
        facts = (f"{best.earned:.3f}", f"{best.excess:+.3f}", best.probe)
    chance = group.chance if best is None else best.chance
    return (verdict_of(group), group.name, str(group.items), f"{chance:.3f}", *facts)


def spoilt_verdict(group: SpoiltReport) -> str:
    """Return "LEAK", "fault" (a verdict is missing), "none" (no answer was spoilt) or "ok"."""
    if group.paid:
        return "LEAK"
    if group.no_verdict:
        return "fault"
    return "ok" if group.tried else "none"


def spoilt_cells(group: SpoiltReport) -> tuple[str, ...]:
    leaks = [f"{leak.mutation!r} {leak.paid}/{leak.tried}" for leak in group.leaks[:MOST_LEAKS]]
    worst = ", ".join(leaks) or "–"
    right = f"{group.right}/{group.items}"
    return (spoilt_verdict(group), group.name, right, str(group.tried), str(group.paid), worst)


SPOILT_COLUMNS = ("verdict", "group", "right", "spoilt", "paid", "paid mutations")
COLUMNS = ("verdict", "group", "items", "chance", "earned", "excess", "best ignorant answer")


def plain_lines(report: AuditReport) -> list[str]:
    lines = []
    if report.groups:
        lines.append("\t".join(COLUMNS))
        lines += ["\t".join(map(printable, cells(group))) for group in report.groups]
    if report.spoilt:
        lines.append("\t".join(SPOILT_COLUMNS))
        lines += ["\t".join(map(printable, spoilt_cells(group))) for group in report.spoilt]
    return lines + fault_lines(report)


def fault_lines(report: AuditReport) -> list[str]:
    lines: list[str] = []
    for spoilt in report.spoilt:
        if spoilt.no_verdict:
            lines.append(
                printable(f"no verdict: {spoilt.name}: {spoilt.no_verdict} spoilt answers")
            )
    for group in report.groups:
        for fault in group.faults[:5]:
            lines.append(
                printable(
                    f"{fault.kind}: {group.name}: {fault.item}: {fault.probe}: {fault.detail}"
                )
            )
        if len(group.faults) > 5:
            lines.append(f"{group.name}: {len(group.faults) - 5} more faults")
    return lines


def summary(report: AuditReport) -> str:
    parts = []
    if report.groups:
        verdicts = sum(group.verdicts for group in report.groups)
        parts.append(
            f"{len(report.groups)} groups, {verdicts} ignorant responses: {len(report.leaks)} groups with leaks"
        )
    if report.spoilt:
        tried, paid = (
            sum(counts) for counts in zip(*((g.tried, g.paid) for g in report.spoilt), strict=True)
        )
        parts.append(
            f"{len(report.spoilt)} groups, {tried} spoilt answers: {paid} paid in {len(report.paid)} groups"
        )
    return f"{'; '.join(parts)}; {report.faults} faults; {report.seconds:.0f} s"


def printable(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def audit_groups(verifiers: Sequence[str], request: AuditRequest) -> Iterator[Group]:
    specs = [VERIFIERS.get(name) for name in verifiers or VERIFIERS.names()]
    for spec in specs:
        if spec.audit.groups is None and verifiers:
            raise UserError(
                f"the verifier {spec.name!r} has no tasks to audit: give some with --file ITEMS.jsonl"
            )
    return (group for spec in specs if spec.audit.groups for group in spec.audit.groups(request))


def with_modes(groups: Iterable[Group], modes: Mapping[str, str]) -> Iterator[Group]:
    for group in groups:
        items = [replace(item, task=with_mode(item.task, modes)) for item in group.items]
        yield replace(group, items=items) if modes else group


def run_audit(
    pool: Scorer, groups: Iterable[Group], settings: Settings, progress: Progress, total: int | None
) -> AuditReport:
    """Audit every group. ``total``, the number of groups, is for the progress bar."""
    started = time.monotonic()
    reports: list[GroupReport] = []
    spoilt: list[SpoiltReport] = []
    progress.start("audit", total)
    for group in groups:
        if "ignorant" in settings.families:
            report = GroupSearch(pool, group, settings).run()
            reports.append(report)
            if report.leaks:
                worst = report.leaks[0]
                progress.message(f"leak: {group.name}: {worst.probe!r} earns {worst.earned:.3f}")
        if "spoilt" in settings.families and not group.wordless:
            spoilt_report = spoil_group(pool, group)
            spoilt.append(spoilt_report)
            if spoilt_report.paid:
                count = f"{spoilt_report.paid} of {spoilt_report.tried}"
                progress.message(f"leak: {group.name}: {count} spoilt answers are paid")
        progress.advance(1, group=group.name)
    progress.finish()

    def severity(report: GroupReport) -> tuple[float, int, str]:
        worst = report.leaks[0].excess if report.leaks else 0.0
        return (-worst, -len(report.faults), report.name)

    reports.sort(key=severity)
    spoilt.sort(key=lambda report: (-report.paid, -report.no_verdict, report.name))
    return AuditReport(reports, spoilt, time.monotonic() - started)
