"""Give every journaled sample a verdict; needs no model.

Infra errors are written down but count as missing when the journal is opened again, so the next call
retries them. Leaves out: retries within a call (the pool's) and every scoring rule (the verifiers').
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from prorl_evaluation.journal import EvalJournal, Problem, verdict_record
from prorl_verifiers import Task, Verdict


class Scorer(Protocol):
    """What scores: ``prorl_verifiers.VerifierPool`` or anything with the same method."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return a verdict for each (response, task), in order."""
        ...


def grade(items: Iterable[tuple[Problem, int]], journal: EvalJournal, scorer: Scorer) -> int:
    """Score those of ``items`` (problem, sample index) that are sampled and have no verdict.

    Writes the verdicts and returns how many were new.
    """
    work: list[tuple[str, Problem]] = []
    for problem, index in items:
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        if key in journal.samples and (key, problem.task_sha256) not in journal.verdicts:
            work.append((key, problem))
    if not work:
        return 0
    pairs = [(journal.samples[key].text, problem.task) for key, problem in work]
    verdicts = scorer.score(pairs)
    journal.add_verdicts(
        [
            verdict_record(key, problem.task_sha256, verdict)
            for (key, problem), verdict in zip(work, verdicts, strict=True)
        ]
    )
    return len(work)
