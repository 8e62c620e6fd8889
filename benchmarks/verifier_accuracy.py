"""Measure how often the math and STEM verifiers are wrong, compared with math-verify.

    python benchmarks/verifier_accuracy.py [--only graders,math,...] [--docs FILE] [--json FILE]

All graders score the unit tests of other projects' graders and our labelled pairs (dev and heldout) in one run. The results are
false accepts, false rejects, precision, recall and milliseconds. docs/reference/verifier-accuracy.md is written with
counts only, so that it is the same on any machine.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import accuracy_cases
import accuracy_tables
from accuracy_cases import Case, Findings
from tables import put, save

DOCS = Path(__file__).resolve().parents[1] / "docs" / "reference" / "verifier-accuracy.md"
PARTS = (*accuracy_cases.FOREIGN, "math", "stem")


def measure_pairs(verifier: str, report: dict[str, Any]) -> list[str]:
    """Measure one verifier on dev and heldout; return the section, which shows heldout."""
    for split in ("dev", "heldout"):
        cases = [case for case in accuracy_cases.pairs(split) if case.verifier == verifier]
        found = _measure(f"{verifier} {split}", cases, report)
    return [*accuracy_tables.counts(cases, found), *accuracy_tables.faults(cases, found)]


def _measure(name: str, cases: list[Case], report: dict[str, Any]) -> dict[str, Findings]:
    print(f"\n{name}: {len(cases)} cases", flush=True)
    found: dict[str, Findings] = {}
    for grader, findings in accuracy_cases.measured(cases):
        found[grader] = findings
        figures = accuracy_tables.figures(cases, findings)
        report.setdefault(name, {})[grader] = figures
        print(accuracy_tables.printed(grader, figures), flush=True)
    return found


def section(part: str, data: Path | None, report: dict[str, Any]) -> list[str] | None:
    """Return the lines of one part, or None if its data is missing."""
    if part not in accuracy_cases.FOREIGN:
        return measure_pairs(part, report)
    if data is None:
        print(f"{part}: left out, PRORL_TEST_DATA is not set", file=sys.stderr)
        return None
    cases = accuracy_cases.foreign_cases(data, part)
    return accuracy_tables.counts(cases, _measure(part, cases, report))


def main() -> None:
    """Measure and print; write the page and JSON if requested."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure, by comma")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the page to fill")
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
        if found is not None:
            text = "\n".join(found).strip()
            put(options.docs, part, re.sub(r"\n{3,}", "\n\n", text))
    save(options.json, report)


if __name__ == "__main__":
    main()
