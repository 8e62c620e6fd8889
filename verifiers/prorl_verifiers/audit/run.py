"""The audit from end to end: whose tasks are attacked, and what came of it.

``run_audit`` sends two families of answers to groups of tasks: answers that solve nothing (``search``) and right
answers made wrong (``spoilt``). Leaves out: whether right answers are accepted (the accuracy measurements) and
attacks on the sandbox (its own attack suite).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from prorl_common import Progress, UserError
from prorl_verifiers.audit.items import AuditRequest, Group
from prorl_verifiers.audit.report import AuditReport, make_report
from prorl_verifiers.audit.search import GroupReport, GroupSearch, Scorer, Settings
from prorl_verifiers.audit.spoilt import SpoiltReport, spoil_group
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import with_mode


def audit_groups(verifiers: Sequence[str], request: AuditRequest) -> Iterator[Group]:
    """Yield the groups that the named verifiers bring; without names, of all that bring some.

    Raises UserError for an unknown verifier and for a named one that brings no tasks.
    """
    found = [VERIFIERS.get(name) for name in verifiers or VERIFIERS.names()]
    for spec in found:
        if spec.audit_groups is None and verifiers:
            raise UserError(
                f"the verifier {spec.name!r} brings no tasks to audit: give some with --file ITEMS.jsonl"
            )
    return (group for spec in found if spec.audit_groups for group in spec.audit_groups(request))


def with_modes(groups: Iterable[Group], modes: Mapping[str, str]) -> Iterator[Group]:
    """Yield the groups with the mode of their verifier written into tasks that carry none.

    Raises TaskError for a mode that the verifier does not have.
    """
    for group in groups:
        items = [replace(item, task=with_mode(item.task, modes)) for item in group.items]
        yield replace(group, items=items) if modes else group


def run_audit(
    pool: Scorer, groups: Iterable[Group], settings: Settings, progress: Progress, total: int | None
) -> AuditReport:
    """Search every group with ``pool`` and return the sorted report. ``total`` is for the bar alone."""
    started = time.monotonic()
    reports: list[GroupReport] = []
    spoilt: list[SpoiltReport] = []
    progress.start("audit", total)
    for group in groups:
        if "ignorant" in settings.families:
            found = GroupSearch(pool, group, settings).run()
            reports.append(found)
            if found.leaks:
                worst = found.leaks[0]
                progress.message(f"leak: {group.name}: {worst.probe!r} earns {worst.earned:.3f}")
        if "spoilt" in settings.families and not group.wordless:
            made_wrong = spoil_group(pool, group)
            spoilt.append(made_wrong)
            if made_wrong.paid:
                count = f"{made_wrong.paid} of {made_wrong.tried}"
                progress.message(f"leak: {group.name}: {count} spoilt answers are paid")
        progress.advance(1, group=group.name)
    progress.finish()
    return make_report(reports, spoilt, time.monotonic() - started)
