"""Why a response has its reward: it is scored now, as ever, and what the scorer noted on its way is kept."""

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
    """A fresh verdict and what its scorer found, in the order in which it found it."""

    verdict: Verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; where none of it comes to the verdict's outcome, the last is the verdict itself."""
        return self.verdict.explained()

    @property
    def outcome(self) -> Outcome:
        """The verdict's: ``passed`` for full marks, ``failed`` for less, ``neutral`` where there is no reward."""
        return self.verdict.outcome

    def to_json(self) -> dict[str, Any]:
        """Return what ``prorl verify answer --json`` prints, with "outcome" and "findings" (``Finding.to_json``)."""
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
    """Score ``response`` now, in the confined workers that always score, and return why.

    ``pool``: score with it; the other arguments are those of ``verify``, which scores where there is none.
    Raises what ``VerifierPool.score`` does.
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
