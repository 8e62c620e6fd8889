"""What a verifier pays for right answers that were made wrong (``audit.mutations``).

Only right answers that earn everything are spoilt. A spoilt one is paid for when it earns more than its mutation allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prorl_verifiers.audit.items import Group, Item, Mutation, plain
from prorl_verifiers.audit.mutations import right_answer, text_mutations
from prorl_verifiers.audit.search import Scorer
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.types import Task


@dataclass(slots=True)
class MutationResult:
    """One mutation on one group: how many answers it spoilt, how many of those were paid, an example of them.

    ``total``: the rewards of all of them together; ``most``: the largest of a paid one.
    """

    mutation: str
    kind: str
    tried: int = 0
    paid: int = 0
    total: float = 0.0
    most: float = 0.0
    example: str = ""


@dataclass(slots=True)
class SpoiltReport:
    """One group: ``right`` of ``items`` right answers earned everything and were spoilt."""

    name: str
    verifier: str
    items: int
    right: int = 0
    no_verdict: int = 0
    results: list[MutationResult] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many spoilt answers were scored."""
        return sum(result.tried for result in self.results)

    @property
    def paid(self) -> int:
        """How many of them earned what only a right answer may."""
        return sum(result.paid for result in self.results)

    @property
    def leaks(self) -> list[MutationResult]:
        """The mutations that were paid, the most often paid first."""
        return sorted((r for r in self.results if r.paid), key=lambda r: (-r.paid, r.mutation))


def spoil_group(pool: Scorer, group: Group) -> SpoiltReport:
    """Spoil the right answers of a group in every way and return what was paid."""
    report = SpoiltReport(group.name, group.verifier, len(group.items))
    spoilt = _accepted(pool, group)
    report.right = len(spoilt)
    spec = VERIFIERS.get(group.verifier)
    mutations = text_mutations() if spec.mutations is None else spec.mutations()
    asked: list[tuple[MutationResult, Mutation, str]] = []
    pairs: list[tuple[str, Task]] = []
    for mutation in mutations:
        result = MutationResult(mutation.name, mutation.kind)
        for item, right in spoilt:
            answer = _spoilt(mutation, right, item, group)
            if answer is not None:
                asked.append((result, mutation, answer))
                pairs.append((spec.write(answer, item.task.reference), item.task))
                result.tried += 1
        if result.tried:
            report.results.append(result)
    for (result, mutation, answer), verdict in zip(asked, pool.score(pairs), strict=True):
        if verdict.reward is None:
            report.no_verdict += 1
            continue
        result.total += verdict.reward
        if verdict.reward > mutation.allowed:
            result.paid += 1
            if verdict.reward > result.most:
                result.most, result.example = verdict.reward, answer[:200]
    return report


def _accepted(pool: Scorer, group: Group) -> Sequence[tuple[Item, str]]:
    """Return the items with a right answer that earns 1, and that answer."""
    spec = VERIFIERS.get(group.verifier)
    known = [(item, right) for item in group.items if (right := right_answer(item))]
    verdicts = pool.score(
        [(spec.write(right, item.task.reference), item.task) for item, right in known]
    )
    return [
        pair
        for pair, v in zip(known, verdicts, strict=True)
        if v.reward is not None and v.reward >= 1.0
    ]


def _spoilt(mutation: Mutation, right: str, item: Item, group: Group) -> str | None:
    spec = VERIFIERS.get(item.task.verifier)
    if mutation.kind in spec.may_be_right(item.task.reference):
        return None
    answer = mutation.spoil(right, item, group)
    return None if answer is None or plain(answer) == plain(right) else answer
