"""The labelled cases of the math and STEM verifiers, and the graders' findings on them.

Cases come from tests/data/verifier_pairs (written for this project) and from unit tests of public graders under
PRORL_TEST_DATA. Every grader sees the same response and the same gold answer.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.process import GraderProcess

from prorl_verifiers import TaskError, VerifierPool, load_task

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "data" / "verifier_pairs"
SECONDS = 5.0
SHORT = 60
"""Maximum characters of a text that is an answer alone; it is put in a box."""
OURS, EITHER, MATH_VERIFY = "prorl", "prorl (either)", "math-verify"
FOREIGN = {
    "graders": ("foreign_pairs_even.jsonl.gz",),
    "extractors": (
        "math_verify_tests_even.jsonl.gz",
        "lighteval_extractive_match_tests_even.jsonl.gz",
    ),
    "trainers": ("grader_unit_cases_sample.jsonl.gz", "open_instruct_verifier_cases.jsonl.gz"),
}
"""Part of the page -> files of unit tests of other projects' graders; SOURCES.md beside them names the projects."""


@dataclass(frozen=True)
class Case:
    """One labelled response."""

    id: str
    family: str
    verifier: str
    reference: dict[str, Any]
    response: str
    right: bool
    why: str = ""

    @property
    def gold(self) -> str:
        """The gold answer as one string, for graders that accept only a string."""
        answer = self.reference["answer"]
        return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)

    @property
    def letters(self) -> str:
        """The letters of the options if the gold answer is one of them, else ""."""
        letters = "ABCDEFGHIJ"[: len(self.reference.get("choices") or [])]
        return letters if self.gold in letters and self.gold else ""


@dataclass(frozen=True)
class Finding:
    """A grader's finding on a case; ``note`` says why there is no verdict."""

    accepted: bool
    seconds: float
    note: str = ""


Findings = list[Finding]


def pairs(split: str) -> list[Case]:
    """Return the labelled pairs of ``dev`` or ``heldout``."""
    found = []
    for line in (PAIRS / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.append(
            Case(
                row["id"],
                row["family"],
                row["verifier"],
                row["reference"],
                row["response"],
                row["label"] == 1,
                row["why"],
            )
        )
    return found


def foreign_cases(data: Path, part: str) -> list[Case]:
    """Return the cases of one part of FOREIGN: unit tests of other projects' graders."""
    found = []
    for name in FOREIGN[part]:
        with gzip.open(data / "verifier" / name, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                row = json.loads(line)
                if (case := _foreign(row)) is not None:
                    source = row["source"].split("@")[0].split()[0].split("/")[-1]
                    found.append(Case(f"{source}:{number}", source, *case))
    return found


def _foreign(row: dict[str, Any]) -> tuple[str, dict[str, Any], str, bool] | None:
    """Return (verifier, reference, response, expected), or None if the test is not about an answer."""
    if "response" in row:
        return row["verifier"], row["reference"], row["response"], row["expected"]
    if "pred" not in row:
        case = _public(row)
        return None if case is None else ("math", {"answer": case[0]}, case[1], case[2])
    gold, response = row["gold"].strip("$"), row["pred"]
    if "NativeLetters" in row["match_types"]:
        return "stem", {"answer": gold, "choices": list("pqrs")}, response, bool(row["expected"])
    if len(response) <= SHORT and r"\boxed" not in response:
        response = rf"\boxed{{{response.strip('$')}}}"
    return "math", {"answer": gold}, response, bool(row["expected"])


def _public(row: dict[str, Any]) -> tuple[str, str, bool] | None:
    """Return (gold, response, expected), or None if the test is not about an answer."""
    function, args = row.get("function"), row.get("args") or []
    if function == "gsm8k_reward_fn":
        asked = row["kwargs"]
        return str(asked["answer"]), asked["completions"], row["expected"] == 1.0
    if function in ("grade_answer_mathd", "grade_answer_sympy") and all(args):
        return args[1], f"\\boxed{{{args[0]}}}", bool(row["expected"])
    if function in ("grade_answer_verl", "verify") and len(args) == 2 and all(args):
        return args[1], args[0], bool(row["expected"])
    if row["test"].startswith("TestGSM8KVerifier"):
        return row["label"], row["prediction"].replace("\\\\", "\\"), row["expected_score"] == 1.0
    return None


def ours(cases: Sequence[Case], mode: str = "decided") -> Findings:
    """Return the findings of this project's verifiers, with one worker."""
    found = []
    with VerifierPool(1, timeout_seconds=SECONDS, modes={"math": mode}) as pool:
        for warm in cases[:1]:
            pool.score([(r"\boxed{\frac{x+1}{\sqrt{2}}}", load_task("math", {"answer": "x"}))])
            pool.score([(warm.response, load_task(warm.verifier, warm.reference))])
        for case in cases:
            try:
                task = load_task(case.verifier, case.reference)
            except TaskError as error:
                found.append(Finding(False, 0.0, f"TaskError: {error}"))
                continue
            started = time.perf_counter()
            verdict = pool.score([(case.response, task)])[0]
            seconds = time.perf_counter() - started
            note = "" if verdict.status in ("scored", "unparsable") else verdict.status
            found.append(Finding(verdict.reward == 1.0, seconds, note))
    return found


def math_verify_alone(cases: Sequence[Case]) -> Findings:
    """Return the findings of math-verify alone."""
    found = []
    with GraderProcess("graders.math_verify_alone", (), SECONDS) as grader:
        for case in cases:
            graded = grader.grade(case.gold, case.response, letters=case.letters)
            found.append(Finding(graded.accepted, graded.seconds, "timeout" if graded.note else ""))
    return found


def measured(cases: Sequence[Case]) -> Iterator[tuple[str, Findings]]:
    """Yield each grader's findings, this project's first."""
    yield OURS, ours(cases)
    yield MATH_VERIFY, math_verify_alone(cases)
    if all(case.verifier == "math" for case in cases):
        yield EITHER, ours(cases, "either")
