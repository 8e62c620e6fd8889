"""The gold check, asked for again: a row's verifier run on its gold response, now and here, and what it found."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from typing import Any

from prorl_common import UserError
from prorl_datasets.building.gold import FULL_MARKS
from prorl_verifiers import VerifierPool, WorkerOptions, explain, load_task
from prorl_verifiers.findings import Finding
from prorl_viewer.datasets.row import gold_response
from prorl_viewer.subject import Json, Private


class GoldChecker:
    """Scores gold responses with one worker, which starts when it is first asked and ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: VerifierPool | None = None

    def check(
        self, row: Mapping[str, Any], reference: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> Json:
        """Return the verdict on a row's gold. Raises UserError where it has none, or nothing can be run here."""
        gold = gold_response(row["verifier"], reference, metadata)
        if gold is None:
            raise UserError(
                f"{row['id']} has no gold response, and its verifier makes none of the reference"
            )
        task = load_task(row["verifier"], reference)
        found = explain(gold, task, pool=self._opened())
        verdict = found.verdict
        return {
            "accepted": None if verdict.reward is None else verdict.reward >= FULL_MARKS,
            "reward": verdict.reward,
            "status": verdict.status,
            "reason": Private(verdict.reason),
            "extracted": None if verdict.extracted is None else Private(verdict.extracted),
            "findings": [_finding(one) for one in found.findings],
            "isolation": verdict.isolation,
            "seconds": round(verdict.seconds, 3),
        }

    def _opened(self) -> VerifierPool:
        with self._lock:
            if self._pool is None:
                self._pool = VerifierPool(1, worker_options=WorkerOptions(prestart=False))
                atexit.register(self._pool.close)
            return self._pool


def _finding(one: Finding) -> Json:
    return {
        "title": one.title,
        "outcome": one.outcome,
        "fields": [[label, Private(text)] for label, text in one.fields],
        "span": one.span,
        "parts": [_finding(part) for part in one.parts],
    }
