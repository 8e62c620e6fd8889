"""Explains a reward by scoring the response again and keeping the scorer's notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prorl_verifiers.findings import Finding, Outcome
from prorl_verifiers.pool.pool import VerifierPool, verify
from prorl_verifiers.rows import verdict_row
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Explanation:
    verdict: Verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.verdict.explained()

    @property
    def outcome(self) -> Outcome:
        return self.verdict.outcome

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``prorl verify answer --json`` prints."""
        return verdict_row(None, self.verdict) | {
            "isolation": self.verdict.isolation,
            "outcome": self.outcome,
            "findings": [finding.to_json() for finding in self.findings],
        }


def explain(
    response: str,
    task: Task,
    *,
    pool: VerifierPool | None = None,
    sandbox: Sandbox | str | None = None,
    allow_weak: bool = False,
    timeout_seconds: float = 10.0,
    modes: Mapping[str, str] | None = None,
) -> Explanation:
    """Score ``response``, and return the verdict with the scorer's notes.

    Scores with ``pool`` if it is given, else with ``verify`` and the other arguments. Raises like
    ``VerifierPool.score``.
    """
    if pool is not None:
        return Explanation(pool.score([(response, task)], explain=True)[0])
    verdict = verify(
        response,
        task,
        sandbox=sandbox,
        allow_weak=allow_weak,
        timeout_seconds=timeout_seconds,
        modes=modes,
        explain=True,
    )
    return Explanation(verdict)
