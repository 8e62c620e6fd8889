"""The gold check: does a sample's own verifier give its gold response full marks?

An infrastructure error is retried by the pool; one that stays raises, it never drops an item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from prorl_common import ServiceError
from prorl_verifiers import Task, Verdict

FULL_MARKS = 1.0 - 1e-9
TRIES = 3


class Scorer(Protocol):
    """What scores (response, task) pairs, in order: a VerifierPool."""

    def score(self, items: list[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict an item."""
        ...


@dataclass(frozen=True, slots=True)
class GoldResult:
    """``accepted`` when the reward was 1; otherwise ``reason`` is a category and ``detail`` the
    verifier's. ``judged``: a model said so, which verifies nothing.
    """

    accepted: bool
    reason: str = ""
    detail: str = ""
    isolation: str = ""
    judged: bool = False

    @classmethod
    def of(cls, verdict: Verdict) -> GoldResult:
        """Return what a verdict on a gold response says. Raises ServiceError where it is none."""
        if verdict.is_infra_error or verdict.reward is None:
            raise ServiceError(
                f"the gold check could not run: {verdict.reason}; "
                "finished parts are kept, run the same command to go on"
            )
        if verdict.reward >= FULL_MARKS:
            return cls(True, isolation=verdict.isolation, judged=verdict.judge is not None)
        is_scored = verdict.status in ("scored", "judged")
        kind = "gold response not accepted" if is_scored else f"gold {verdict.status}"
        detail = f"reward {verdict.reward:.3g}: {verdict.reason}"
        return cls(False, kind, detail, verdict.isolation)


@contextmanager
def open_scorer(workers: int) -> Iterator[Scorer]:
    """Yield a VerifierPool of ``workers`` processes, closed at the end of the block."""
    from prorl_verifiers import VerifierPool

    with VerifierPool(workers=workers) as pool:
        yield pool


def check_gold(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[GoldResult]:
    """Score gold responses; one that timed out is tried TRIES times more, alone: the machine may
    have been busy, and what is kept must not depend on that.

    Raises ServiceError when a verifier or the sandbox failed even after the pool's own retry.
    """
    verdicts = scorer.score(list(items)) if items else []
    for place, verdict in enumerate(verdicts):
        for _ in range(TRIES if verdict.status == "timeout" else 0):
            verdicts[place] = scorer.score([items[place]])[0]
            if verdicts[place].status != "timeout":
                break
    return [GoldResult.of(verdict) for verdict in verdicts]
