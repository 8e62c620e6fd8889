"""Give every journaled sample a verdict; needs no model.

Infra errors are written down but count as missing when the journal is opened again, so the next call
retries them. A sample that a server refused is one, too: it has no reward and is in no estimate. Leaves out:
retries within a call (the pool's) and every scoring rule (the verifiers').
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from prorl_evaluation.sampling.journal import EvalJournal, Problem, verdict_record
from prorl_verifiers import Task, Verdict

Item = tuple[Problem, int]


class Scorer(Protocol):
    """What scores: ``prorl_verifiers.VerifierPool`` or anything with the same method."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return a verdict for each (response, task), in order."""
        ...


def ungraded(items: Iterable[Item], journal: EvalJournal) -> Iterator[Item]:
    """Yield those of ``items`` (problem, sample index) that are sampled and have no verdict."""
    for problem, index in items:
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        if key in journal.samples and (key, problem.task_sha256) not in journal.verdicts:
            yield problem, index


def grade(items: Iterable[Item], journal: EvalJournal, scorer: Scorer) -> int:
    """Score those of ``items`` that :func:`ungraded` names; write the verdicts, return how many were new.

    No item may occur twice.
    """
    work = [
        (journal.keys.key(problem.id, problem.prompt_sha256, index), problem)
        for problem, index in ungraded(items, journal)
    ]
    if not work:
        return 0
    samples = [journal.samples[key] for key, _ in work]
    answers = [(s.text, p.task) for s, (_, p) in zip(samples, work, strict=True) if not s.refused]
    scored = iter(scorer.score(answers) if answers else [])
    records = []
    for (key, problem), sample in zip(work, samples, strict=True):
        refusal = Verdict(None, "infra_error", f"the server refused it: {sample.note}")
        verdict = refusal if sample.refused else next(scored)
        records.append(verdict_record(key, problem.task_sha256, verdict))
    journal.add_verdicts(records)
    return len(work)
