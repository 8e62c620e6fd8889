"""A recorded reward checked again by the verifier of today, and explained; a rollout as a test case."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from prorl_common import Closing
from prorl_verifiers import VerifierPool, WorkerOptions, explain, load_task
from prorl_viewer.subject import Json, Private

SAME = 1e-9
"""Rewards that differ by no more are the same."""


class Checker(Closing):
    """Scores rollouts again, in a pool of one worker that is opened when the first one comes; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: VerifierPool | None = None

    def check(self, row: Mapping[str, Any]) -> Json:
        """Return the verdict of now with its findings, and whether the reward is the recorded one.

        "same" is null where either has no reward. Raises TaskError for a task that today's verifier does not take,
        IsolationError where code cannot be isolated here.
        """
        task = load_task(row["verifier"], row["reference"])
        with self._lock:
            if self._pool is None:
                self._pool = VerifierPool(1, worker_options=WorkerOptions(prestart=False))
            found = explain(row["response"] or "", task, pool=self._pool)
        now, stored = found.verdict, row["reward"]
        same = None
        if now.reward is not None and stored is not None and row["status"] != "infra_error":
            by_model = (row["status"] == "judged", now.status == "judged")
            same = abs(now.reward - stored) <= SAME and by_model[0] == by_model[1]
        shown = found.to_json()
        return {
            "same": same,
            "stored": {
                "reward": stored,
                "status": row["status"],
                "reason": _private(row["reason"]),
            },
            "now": {
                **{
                    name: shown[name]
                    for name in ("reward", "status", "seconds", "judge", "outcome")
                },
                "isolation": shown["isolation"],
                "reason": _private(shown["reason"]),
                "extracted": _private(shown["extracted"]),
                "metrics": shown_metrics(shown["metrics"]),
                "findings": [_finding(one) for one in shown["findings"]],
            },
        }

    def close(self) -> None:
        """End the pool's worker."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None


def test_case(row: Mapping[str, Any]) -> str:
    """Return a line that ``prorl verify file`` reads, with the recorded verdict as "expected"."""
    try:
        reference = json.loads(row["reference"])
    except (ValueError, TypeError, RecursionError):
        reference = row["reference"]  # as it is; prorl verify says what is wrong with it
    case = {
        "id": f"{row['sample_id']}#{row['step']}.{row['sample_index']}",
        "task": {"verifier": row["verifier"], "reference": reference},
        "response": row["response"] or "",
        "expected": {"reward": row["reward"], "status": row["status"]},
    }
    return json.dumps(case, ensure_ascii=False)


def _private(text: Any) -> Private | None:
    return None if text is None else Private(str(text))


def shown_metrics(metrics: Mapping[str, Any]) -> Json:
    """Return a verdict's metrics: numbers as they are, words as texts that a share-safe page leaves out."""
    return {k: Private(v) if isinstance(v, str) else v for k, v in metrics.items()}


def _finding(one: Mapping[str, Any]) -> Json:
    return {
        "title": one["title"],
        "outcome": one["outcome"],
        "fields": [[label, Private(text)] for label, text in one["fields"]],
        "span": one["span"],
        "parts": [_finding(part) for part in one["parts"]],
    }
