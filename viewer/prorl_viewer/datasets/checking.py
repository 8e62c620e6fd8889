"""The gold check, asked for again: a row's verifier run on its gold response, now and here."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING, Any

from prorl_common import UserError
from prorl_datasets.building.gold import FULL_MARKS
from prorl_verifiers import load_task
from prorl_viewer.datasets.row import gold_response
from prorl_viewer.subject import Json, Private

if TYPE_CHECKING:
    from prorl_verifiers import VerifierPool


class GoldChecker:
    """Scores gold responses with one worker, which starts when it is first asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: VerifierPool | None = None

    def check(
        self, row: dict[str, Any], reference: dict[str, Any], metadata: dict[str, Any]
    ) -> Json:
        """Return the verdict on a row's gold. Raises UserError where it has none, or nothing can be run here."""
        gold = gold_response(row["verifier"], reference, metadata)
        if gold is None:
            raise UserError(
                f"{row['id']} has no gold response, and its verifier makes none of the reference"
            )
        verdict = self._opened().score([(gold, load_task(row["verifier"], reference))])[0]
        accepted = None if verdict.reward is None else verdict.reward >= FULL_MARKS
        return {
            "accepted": accepted,
            "reward": verdict.reward,
            "status": verdict.status,
            "reason": Private(verdict.reason),
            "extracted": None if verdict.extracted is None else Private(verdict.extracted),
            "isolation": verdict.isolation,
            "seconds": round(verdict.seconds, 3),
        }

    def _opened(self) -> VerifierPool:
        from prorl_verifiers import VerifierPool

        with self._lock:
            if self._pool is None:
                self._pool = VerifierPool(workers=1)
                atexit.register(self._pool.close)
            return self._pool
