"""How often the verifiers are wrong, beside other graders; writes docs/reference/verifier-accuracy.md.

    python benchmarks/verifier_accuracy.py [--only math,stem,public,code,logic,instruction]
                                           [--docs FILE] [--json FILE]

Math and STEM: labelled pairs (dev and heldout) and public graders' unit tests, for ours, math-verify alone
and re-enacted peers, all in one run: false accepts, false rejects, precision, recall, milliseconds. Code,
logic and instruction: their own measurements (accuracy_*.py). The document holds counts only, so that it
is the same on any machine; times are printed and go into the JSON. A part that is not measured keeps its
section of the document as it stands. Leaves out throughput (``verifiers.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import accuracy_cases
import accuracy_tables
from accuracy_cases import Case, Findings

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "reference" / "verifier-accuracy.md"
PARTS = ("math", "stem", "public", "code", "logic", "instruction")


def measure_pairs(verifier: str, report: dict[str, Any]) -> list[str]:
    """Measure one verifier on dev and heldout; return the section."""
    lines: list[str] = []
    for split in ("dev", "heldout"):
        cases = [case for case in accuracy_cases.pairs(split) if case.verifier == verifier]
        found = _measure(f"{verifier} {split}", cases, report)
        table = accuracy_tables.counts(cases, found, peers=verifier == "math")
        lines += [f"### {split}", "", *table, ""]
        lines += accuracy_tables.goals(cases, found, show_text=split == "dev")
    return lines


def measure_public(data: Path, report: dict[str, Any]) -> list[str]:
    """Measure everyone on the public graders' unit tests; return the section."""
    cases = accuracy_cases.public_cases(data)
    found = _measure("public unit tests", cases, report)
    table = accuracy_tables.counts(cases, found, peers=False)
    goals = accuracy_tables.goals(cases, found, show_text=False)[:1]
    return [*table, "", *goals, "", *accuracy_tables.disagreements(cases, found)]


def _measure(name: str, cases: list[Case], report: dict[str, Any]) -> dict[str, Findings]:
    print(f"\n{name}: {len(cases)} cases", flush=True)
    found: dict[str, Findings] = {}
    for grader, findings in accuracy_cases.measured(cases):
        found[grader] = findings
        figures = accuracy_tables.figures(cases, findings)
        report.setdefault(name, {})[grader] = figures
        print(accuracy_tables.printed(grader, figures), flush=True)
    for goal in accuracy_tables.goals(cases, found, show_text=False):
        if goal:
            print(goal)
    return found


def section(part: str, data: Path | None, report: dict[str, Any]) -> list[str] | None:
    """Return the lines of one part, or None when it cannot be measured here."""
    if part in ("math", "stem"):
        return measure_pairs(part, report)
    if data is None:
        print(f"{part}: left out, PRORL_TEST_DATA is not set", file=sys.stderr)
        return None
    if part == "public":
        return measure_public(data, report)
    print(f"\n{part}", flush=True)
    measure: Callable[[Path], list[str]] = import_module(f"accuracy_{part}").measure
    found = [str(line) for line in measure(data)]
    print("\n".join(found))
    return found


def write(path: Path, found: dict[str, list[str]], data: Path) -> None:
    """Write the document with the new sections and the old ones of all other parts."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(accuracy_tables.document(found, data, before), encoding="utf-8")
    print(f"wrote {path}")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure, by comma")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the document to write")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    parts = options.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}: use {', '.join(PARTS)}")
    value = os.environ.get("PRORL_TEST_DATA")
    data = Path(value) if value else None
    report: dict[str, Any] = {"math-verify": metadata.version("math-verify")}
    for part in parts:
        found = section(part, data, report)
        if found is not None and data is not None:
            write(options.docs, {part: found}, data)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
