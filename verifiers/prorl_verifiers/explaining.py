"""Why a response has its reward: it is scored now, as ever, and what the scorer noted on its way is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prorl_verifiers.findings import Finding, Outcome
from prorl_verifiers.pool.core import WorkerOptions
from prorl_verifiers.pool.verifier_pool import VerifierPool
from prorl_verifiers.rows import verdict_row
from prorl_verifiers.types import Task, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fresh verdict and what its scorer found, in the order in which it found it."""

    verdict: Verdict
    findings: tuple[Finding, ...]

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

    ``pool``: score with it; the other arguments, as in ``verify``, are for a pool of one worker that lives for this call
    only. Raises what ``VerifierPool.score`` does.
    """
    if pool is not None:
        verdict = pool.score([(response, task)], explain=True)[0]
        return Explanation(verdict, verdict.explained())
    with VerifierPool(
        1,
        sandbox,
        allow_weak=allow_weak,
        timeout_seconds=timeout_seconds,
        modes=modes,
        worker_options=WorkerOptions(prestart=False),
    ) as own:
        return explain(response, task, pool=own)
