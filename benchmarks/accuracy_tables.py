"""Figures and tables of ``verifier_accuracy.py``.

A false accept is a wrong answer that a grader accepts, a false reject a right answer that it rejects. Precision is the
share of right answers among accepted ones, recall the share of accepted answers among right ones.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from accuracy_cases import MATH_VERIFY, OURS, Case, Finding, Findings
from tables import markdown


def outcome(case: Case, finding: Finding) -> str:
    """Return "right", "false accept" or "false reject"."""
    if finding.accepted == case.right:
        return "right"
    return "false accept" if finding.accepted else "false reject"


def figures(cases: list[Case], findings: Findings) -> dict[str, Any]:
    """Return counts, precision, recall, and milliseconds (p50, p99)."""
    wrong = Counter(outcome(*pair) for pair in zip(cases, findings, strict=True))
    right = sum(case.right for case in cases)
    accepted = sum(finding.accepted for finding in findings)
    hits = right - wrong["false reject"]
    times = sorted(finding.seconds * 1000 for finding in findings)
    return {
        "cases": len(cases),
        "false_accepts": wrong["false accept"],
        "false_rejects": wrong["false reject"],
        "precision": hits / accepted if accepted else 1.0,
        "recall": hits / right if right else 1.0,
        "no_verdict": sum(bool(finding.note) for finding in findings),
        "p50_ms": times[len(times) // 2],
        "p99_ms": times[min(len(times) - 1, int(len(times) * 0.99))],
    }


def printed(name: str, figure: dict[str, Any]) -> str:
    """Return a line to print while measuring."""
    return (
        f"{name:16} false accepts {figure['false_accepts']:4}  false rejects"
        f" {figure['false_rejects']:4}  precision {figure['precision']:.4f}  recall"
        f" {figure['recall']:.4f}  p50 {figure['p50_ms']:7.2f} ms  p99 {figure['p99_ms']:8.2f} ms"
        f"  no verdict {figure['no_verdict']}"
    )


def counts(cases: list[Case], found: dict[str, Findings]) -> list[str]:
    """Return the table of all graders."""
    right = sum(case.right for case in cases)
    rows, silent = [], []
    for name, findings in found.items():
        one = figures(cases, findings)
        shares = (f"{one['precision']:.4f}", f"{one['recall']:.4f}")
        rows.append((name, one["false_accepts"], one["false_rejects"], *shares))
        if one["no_verdict"]:
            silent.append(f"{name} {one['no_verdict']}")
    head = ("grader", "false accepts", "false rejects", "precision", "recall")
    lines = [
        f"{len(cases)} cases, {right} to accept, {len(cases) - right} to reject.",
        "",
        markdown(head, rows),
    ]
    return [*lines, "", f"Without a verdict: {', '.join(silent)}."] if silent else lines


def faults(cases: list[Case], found: dict[str, Findings]) -> list[str]:
    """Return lines that count this project's errors by family."""
    alone: list[str] = []
    shared: list[str] = []
    rejects: list[str] = []
    for case, ours, other in zip(cases, found[OURS], found[MATH_VERIFY], strict=True):
        kind = outcome(case, ours)
        if kind == "false reject":
            rejects.append(case.family)
        elif kind == "false accept":
            (shared if other.accepted else alone).append(case.family)
    lines = []
    for title, families in (
        ("False accepts of ours alone", alone),
        ("False accepts that math-verify makes too", shared),
        ("False rejects", rejects),
    ):
        if families:
            by = ", ".join(f"{name} {n}" for name, n in Counter(families).items())
            lines += ["", f"{title}, by family: {by}."]
    return lines
