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


def goals(cases: list[Case], found: dict[str, Findings], *, show_text: bool) -> list[str]:
    """Return the goals (met or missed) and this project's errors, with their texts or by family."""
    mine, theirs = figures(cases, found[OURS]), figures(cases, found[MATH_VERIFY])
    alone: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    rejects: list[tuple[str, str]] = []
    for case, ours, other in zip(cases, found[OURS], found[MATH_VERIFY], strict=True):
        kind = outcome(case, ours)
        if kind == "false reject":
            rejects.append(_line(case, ours))
        elif kind == "false accept":
            (shared if other.accepted else alone).append(_line(case, ours))
    first = "met" if mine["false_rejects"] <= theirs["false_rejects"] / 2 else "missed"
    against = f"{mine['false_rejects']} against {theirs['false_rejects']}"
    second = "missed" if alone else "met"
    lines = [f"Goal 1 {first} ({against}), goal 2 {second} ({len(alone)})."]
    for title, rows in (
        ("False accepts of ours alone", alone),
        ("False accepts that math-verify makes too", shared),
        ("False rejects", rejects),
    ):
        lines += _listed(title, rows, show_text)
    return [*lines, ""]


def _line(case: Case, finding: Finding) -> tuple[str, str]:
    answer = " ".join(case.response.split())
    note = f" ({finding.note})" if finding.note else ""
    return case.family, f"`{case.id}`: gold ``{case.gold}``, response ``{answer}``{note}"


def _listed(title: str, rows: list[tuple[str, str]], show_text: bool) -> list[str]:
    if not rows:
        return []
    if show_text:
        return ["", f"{title}:", "", *(f"- {text}" for _, text in rows)]
    by = Counter(family for family, _ in rows)
    return ["", f"{title}, by family: {', '.join(f'{name} {n}' for name, n in by.items())}."]
