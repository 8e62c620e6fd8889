"""Rewards in the rollout processes: a pool of their own, or the run's reward services by turns.

A service that does not answer is left for the next one; only when none answers, for several rounds, is
there no verdict, and then the verdict says so (``infra_error``): it is never a reward. Leaves out: starting
services (``services``) and what the loop does without verdicts (``collector``).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prorl_common import ServiceError
from prorl_training.engine.openrlhf.spec import Spec
from prorl_training.rollout.types import Scorer
from prorl_verifiers import Task, Verdict
from prorl_verifiers.adapters.common import ScorerOptions, open_scorer, score_with_retries
from prorl_verifiers.serve.client import RemoteVerifier

Row = tuple[str, str, Mapping[str, Any]]
"""Response, verifier, reference."""
ROUNDS = 5
"""Times that every service is asked, after 1, 2, 4 and 8 seconds."""
RETRIES = 1
"""Further tries at items without a verdict, as the adapters do."""


class ReplicaScorer:
    """Asks one scorer after the other, beginning with another one each time. Thread-safe.

    Raises ServiceError when none answers in any round.
    """

    def __init__(
        self, scorers: Sequence[Scorer], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._scorers = list(scorers)
        self._turn = itertools.count()
        self._sleep = sleep

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict an item, in order."""
        first, trouble = next(self._turn), ""
        for attempt in range(ROUNDS):
            if attempt:
                self._sleep(2.0 ** (attempt - 1))
            for place in range(len(self._scorers)):
                scorer = self._scorers[(first + place) % len(self._scorers)]
                try:
                    return scorer.score(items)
                except ServiceError as error:
                    trouble = str(error)
        raise ServiceError(
            f"none of {len(self._scorers)} reward services answered in {ROUNDS} rounds ({trouble})"
        )

    def close(self) -> None:
        """Nothing is held between calls."""


def open_reward_scorer(spec: Spec) -> Any:
    """Return the scorer that the run's config and launch ask for."""
    if spec.services:
        return ReplicaScorer([RemoteVerifier(url, retries=0) for url in spec.services])
    reward = spec.config().reward
    return open_scorer(
        ScorerOptions(
            workers=reward.workers,
            backend=reward.backend,
            allow_weak=reward.allow_weak,
            timeout=reward.timeout_seconds,
            judged=reward.judge is not None,
        )
    )


def score_rows(scorer: Any, rows: Sequence[Row]) -> list[Verdict]:
    """Return one verdict a row; where the service failed after retries, an infra error for each row.

    Raises TaskError for a malformed task.
    """
    items = [(text, Task(verifier, dict(reference))) for text, verifier, reference in rows]
    try:
        return score_with_retries(scorer, items, RETRIES)
    except ServiceError as error:
        return [Verdict(None, "infra_error", str(error))] * len(items)
