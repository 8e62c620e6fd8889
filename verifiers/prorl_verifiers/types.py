"""The words of the verifiers: Task and response in, Score inside a worker, Verdict out.

Holds no scoring. A wrong answer is reward 0; a broken verifier or sandbox is ``infra_error`` and has no
reward at all; a malformed task is a TaskError when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from prorl_common import UserError
from prorl_verifiers.findings import Finding, Outcome, cut

VerdictStatus = Literal["scored", "unparsable", "timeout", "infra_error"]
Reference: TypeAlias = Mapping[str, Any]
"""What a verifier checks against, a JSON object; its keys are the verifier's own."""
Metrics: TypeAlias = Mapping[str, float | str]
"""Numbers that a verifier reports beside the reward; ``plugin`` is the version of a plug-in, as text."""
MAX_ANSWER = 50_000
"""Characters; a longer extracted answer is unparsable (the cap of verifiers' MathRubric)."""


class TaskError(UserError):
    """The task itself is malformed: unknown verifier, missing gold, empty test list, unknown id."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to check against: a verifier's name and a reference that is JSON and never pickled.

    Shapes of ours: ``math`` {"answer"} · ``stem`` {"answer", "choices"?, "unit"?, "tolerance"?} ·
    ``code`` {"tests": [...], "language"?, "entry_point"?, "limits"?, "judge"?} ·
    ``logic`` {"dataset", "entry"} · ``instruction`` {"instruction_id_list", "kwargs"} ·
    ``composite`` {"parts": [{"verifier", "reference", "weight"?, "name"?}, ...], "gate"?, "modes"?}.
    """

    verifier: str
    reference: Reference

    def reference_json(self) -> str:
        """Return the reference as canonical JSON (sorted keys, no spaces)."""
        return json.dumps(self.reference, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class TaskPart:
    """One of the tasks that a composed task consists of; ``name`` is its own within that task."""

    name: str
    task: Task


@dataclass(frozen=True, slots=True)
class Score:
    """A scorer's finding: ``scored`` with a reward in [0, 1], or ``unparsable`` with reward 0.

    ``reason`` is one line for people; ``extracted`` the answer that was judged.
    """

    reward: float
    reason: str
    extracted: str | None = None
    status: Literal["scored", "unparsable"] = "scored"
    metrics: Metrics = field(default_factory=dict)


def unparsable(reason: str, extracted: str | None = None) -> Score:
    """Return the verdict of a response that holds no answer: reward 0."""
    return Score(0.0, reason, extracted, "unparsable")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier found. ``reward`` is in [0, 1], or None when status is ``infra_error``.

    ``findings``: what the scorer noted on its way, where it was asked to explain (``prorl_verifiers.explain``).
    """

    reward: float | None
    status: VerdictStatus
    reason: str
    extracted: str | None = None
    isolation: str = ""
    metrics: Metrics = field(default_factory=dict)
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()

    @property
    def is_infra_error(self) -> bool:
        """True when the verdict says nothing about the answer and must be masked out of its group."""
        return self.status == "infra_error"

    @property
    def outcome(self) -> Outcome:
        """``passed`` for full marks, ``failed`` for less, ``neutral`` where there is no reward."""
        if self.reward is None:
            return "neutral"
        return "passed" if self.reward >= 1.0 else "failed"

    def explained(self) -> tuple[Finding, ...]:
        """Return the findings, and what the verdict itself says where none of them comes to its outcome."""
        if any(finding.outcome == self.outcome for finding in self.findings):
            return self.findings
        fields = [("status", str(self.status)), ("reason", cut(self.reason))]
        if self.extracted is not None:
            fields.append(("extracted", cut(self.extracted)))
        return (*self.findings, Finding("verdict", self.outcome, tuple(fields)))
