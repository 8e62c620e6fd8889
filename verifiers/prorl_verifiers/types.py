"""The types that pass between callers, verifiers and the pool."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from prorl_common import UserError
from prorl_verifiers.findings import Finding, Outcome, cut

VerdictStatus = Literal["scored", "unparsable", "timeout", "infra_error"]
Reference: TypeAlias = Mapping[str, Any]
"""The data that a verifier checks against: a JSON object whose keys each verifier defines."""
Metrics: TypeAlias = Mapping[str, float | str]
"""Numbers that a verifier reports with the reward; ``plugin`` is a plug-in's version, a string."""
MAX_ANSWER = 50_000
"""Maximum characters of an extracted answer; a longer one is ``unparsable``."""


class TaskError(UserError):
    """Raised if the task is malformed or its verifier unknown."""


@dataclass(frozen=True, slots=True)
class Task:
    """The name of a verifier and the reference (JSON) it checks against, e.g. ``math`` with {"answer"}."""

    verifier: str
    reference: Reference

    def reference_json(self) -> str:
        """Return the reference as canonical JSON."""
        return json.dumps(self.reference, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


Item: TypeAlias = tuple[str, Task]
"""A response and the task that it answers."""


@dataclass(frozen=True, slots=True)
class TaskPart:
    """One part of a composed task; ``name`` is unique within it."""

    name: str
    task: Task


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a scorer: ``scored`` with a reward in [0, 1], or ``unparsable`` with reward 0.

    ``reason`` is for people; ``extracted`` is the answer.
    """

    reward: float
    reason: str
    extracted: str | None = None
    status: Literal["scored", "unparsable"] = "scored"
    metrics: Metrics = field(default_factory=dict)


def unparsable(reason: str, extracted: str | None = None) -> Score:
    """Return the score 0 of a response without an answer."""
    return Score(0.0, reason, extracted, "unparsable")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of scoring one response. ``reward`` is in [0, 1], or None for ``infra_error``.

    ``findings`` are the scorer's notes, if requested.
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
        """Whether the answer was not judged; such verdicts are masked out."""
        return self.status == "infra_error"

    @property
    def outcome(self) -> Outcome:
        """``passed`` for reward 1, ``failed`` for less, ``neutral`` without a reward."""
        if self.reward is None:
            return "neutral"
        return "passed" if self.reward >= 1.0 else "failed"

    def explained(self) -> tuple[Finding, ...]:
        """Return the findings, and one for the verdict if none of them has its outcome."""
        if any(finding.outcome == self.outcome for finding in self.findings):
            return self.findings
        fields = [("status", str(self.status)), ("reason", cut(self.reason))]
        if self.extracted is not None:
            fields.append(("extracted", cut(self.extracted)))
        return (*self.findings, Finding("verdict", self.outcome, tuple(fields)))


OnDone: TypeAlias = Callable[[int, Verdict], None]
"""Called with an item's index and verdict as soon as the item is scored."""
