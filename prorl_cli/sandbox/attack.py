"""``prorl sandbox doctor --attack``: run hostile programs."""

from __future__ import annotations

import os
import platform
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from prorl_common import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prorl_sandbox.attacks.catalogue import AttackResult, Case, Report


def run_attacks(backend: str, chosen: Sequence[str], as_json: bool = False) -> None:
    """Run the chosen cases (``all``, or ids) and print which were contained."""
    from prorl_cli.console import make_progress, print_json, print_table, say, stdout_console
    from prorl_sandbox import open_sandbox
    from prorl_sandbox.attacks.catalogue import load_cases
    from prorl_sandbox.attacks.suite import run_suite

    by_id = {one.id: one for one in load_cases()}
    names = [name.upper() for name in chosen]
    if "ALL" in names:
        names = []
    for name in names:
        if name not in by_id:
            raise UserError(f"no attack case {name!r}: use all, or one of {', '.join(by_id)}")
    cases = [one for one in by_id.values() if not names or one.id in names]
    attacks = [attack for one in cases for attack in one.attacks]
    progress = make_progress()
    report = run_suite(lambda: open_sandbox(backend), attacks, progress)
    if as_json:
        print_json(as_document(backend, cases, report))
    else:
        rows = []
        for one in cases:
            results = _results_of(one, report)
            grades = Counter(r.grade for r in results).most_common()
            counts = " ".join(f"{n}×{grade}" for grade, n in grades)
            rows.append((one.id, one.title, _verdict(one, results), counts))
        head = ("case", "attack", "verdict", "grades")
        print_table(f"attacks on {report.isolation}", head, rows)
        for line in failure_lines(report):
            stdout_console().print(line, markup=False, soft_wrap=True)
    parts = [f"{n} {finding}" for finding, n in Counter(r.finding for r in report.results).items()]
    memory = [f"{value / 1024:.0f}" for value in report.growth["memory_kib"]]
    files = [str(value) for value in report.growth["open_files"]]
    say(
        f"{len(report.results)} programs on {backend}: {', '.join(parts)}; "
        f"memory {' -> '.join(memory)} MiB, open files {' -> '.join(files)}, "
        f"{report.seconds:.0f} s; {'all held' if report.held else 'NOT all held'}"
    )
    if not report.held:
        raise typer.Exit(1)


def as_document(backend: str, cases: list[Case], report: Report) -> dict[str, Any]:
    rows = []
    for case in cases:
        results = _results_of(case, report)
        programs = [
            asdict(result)
            | {
                "attack": result.attack.name,
                "run": result.attack.run,
                "seconds": round(result.seconds, 3),
            }
            for result in results
        ]
        rows.append(
            {
                "case": case.id,
                "title": case.title,
                "held_by": case.held_by,
                "residual": case.residual,
                "by_construction": case.by_construction,
                "verdict": _verdict(case, results),
                "grades": dict(Counter(result.grade for result in results)),
                "programs": programs,
            }
        )
    return {
        "backend": backend,
        "isolation": report.isolation,
        "machine": {
            "processors": os.cpu_count(),
            "kernel": platform.release().split("-")[0],
            "architecture": platform.machine(),
            "python": platform.python_version(),
        },
        "seconds": round(report.seconds, 1),
        "held": report.held,
        "growth": report.growth,
        "broken": list(report.broken),
        "cases": rows,
    }


def _results_of(case: Case, report: Report) -> list[AttackResult]:
    return [result for result in report.results if result.attack.case == case.id]


def _verdict(case: Case, results: list[AttackResult]) -> str:
    if case.by_construction:
        return "by construction"
    if any(result.finding == "BREACH" or result.broken for result in results):
        return "BREACH"
    return "held" if all(result.finding == "held" for result in results) else "unexpected"


def failure_lines(report: Report) -> list[str]:
    """Return a line for each failed check, with control characters escaped."""
    lines = [f"invariant broken: {line}" for line in report.broken]
    for result in report.results:
        if result.finding != "held":
            lines.append(f"{result.finding}: {result.attack.title}: {result.detail}")
        lines += [f"BREACH: {result.attack.title}: {line}" for line in result.broken]
    return ["".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines]
