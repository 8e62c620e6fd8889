"""What an audit found, as JSON and as plain lines; leaks first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from prorl_verifiers.audit.search import GroupReport, Trial

MOST_LEAKS = 10
"""Leaks of one group that are written out; the number of all stands beside them."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The groups in the order of severity: leaks by their excess, then faults, then the rest."""

    groups: Sequence[GroupReport]
    seconds: float

    @property
    def leaks(self) -> list[GroupReport]:
        """The groups on which an ignorant answer earned more than chance."""
        return [group for group in self.groups if group.leaks]

    @property
    def faults(self) -> int:
        """How many verdicts should not have been."""
        return sum(len(group.faults) for group in self.groups)


def make_report(groups: Sequence[GroupReport], seconds: float) -> AuditReport:
    """Return the report, the groups with the worst leaks first, then those with the most faults."""

    def severity(group: GroupReport) -> tuple[float, int, str]:
        worst = group.leaks[0].excess if group.leaks else 0.0
        return (-worst, -len(group.faults), group.name)

    return AuditReport(sorted(groups, key=severity), seconds)


def as_document(report: AuditReport, settings: dict[str, Any]) -> dict[str, Any]:
    """Return everything in JSON's own types."""
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
    }


def trial_document(trial: Trial) -> dict[str, Any]:
    """Return one probe's result as JSON."""
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
    """Return ``LEAK``, ``fault``, ``above chance`` (more than chance, but it may be luck) or ``ok``."""
    if group.leaks:
        return "LEAK"
    if group.faults:
        return "fault"
    return "above chance" if group.best is not None and group.best.excess > 0.05 else "ok"


def cells(group: GroupReport) -> tuple[str, ...]:
    """Return the texts of a table row: verdict, group, items, chance, earned, excess, best answer."""
    best = group.leaks[0] if group.leaks else group.best
    facts = ("–", "–", "–")
    if best is not None:
        facts = (f"{best.earned:.3f}", f"{best.excess:+.3f}", best.probe)
    chance = group.chance if best is None else best.chance
    return (verdict_of(group), group.name, str(group.items), f"{chance:.3f}", *facts)


COLUMNS = ("verdict", "group", "items", "chance", "earned", "excess", "best ignorant answer")


def plain_lines(report: AuditReport) -> list[str]:
    """Return one line a group, tabs between cells, and one a fault."""
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(printable(cell) for cell in cells(group)) for group in report.groups]
    return lines + fault_lines(report)


def fault_lines(report: AuditReport) -> list[str]:
    """Return one line a fault, at most five a group."""
    lines = []
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
    """Return the one line that ends an audit."""
    verdicts = sum(group.verdicts for group in report.groups)
    return (
        f"{len(report.groups)} groups, {verdicts} responses in {report.seconds:.0f} s: "
        f"{len(report.leaks)} with leaks, {report.faults} faults"
    )


def printable(text: str) -> str:
    """Return a text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
