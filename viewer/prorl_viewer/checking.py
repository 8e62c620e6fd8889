"""Scores stored responses again, and converts rollouts to test cases."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_common import Closing, UserError
from prorl_verifiers import (
    Task,
    VerifierPool,
    WorkerOptions,
    as_test_case,
    explained_row,
    load_task,
    score_conversations,
)
from prorl_verifiers.replay import agrees
from prorl_viewer.rollouts.prompts import messages_of
from prorl_viewer.subject import Json, Private, private


class Checker(Closing):
    """Scores responses with explanations, in a worker pool that starts on first use; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: VerifierPool | None = None

    def explained(self, responses: Sequence[str], task: Task) -> Json:
        """Return the verdict of ``responses`` with an explanation; only environments have several responses.

        Raises IsolationError if code cannot be isolated.
        """
        with self._lock:
            if self._pool is None:
                self._pool = VerifierPool(1, worker_options=WorkerOptions(prestart=False))
            score = functools.partial(self._pool.score, explain=True)
            ((verdict, _),) = score_conversations(score, [(responses, task)])
        explanation = explained_row(verdict)
        plain = ("reward", "status", "seconds", "outcome", "isolation")
        return {
            **{name: explanation[name] for name in plain},
            "reason": private(explanation["reason"]),
            "extracted": private(explanation["extracted"]),
            "metrics": shown_metrics(explanation["metrics"]),
            "findings": [_finding(one) for one in explanation["findings"]],
        }

    def check(self, row: Mapping[str, Any]) -> Json:
        """Score a recorded response again, and compare the rewards; "same" is null if a reward is missing.

        Raises TaskError or IsolationError.
        """
        responses = _responses(row) or [row["response"] or ""]
        now = self.explained(responses, load_task(row["verifier"], row["reference"]))
        same = agrees(row, now["reward"])
        recorded = {name: row[name] for name in ("reward", "status")}
        return {"same": same, "stored": {**recorded, "reason": private(row["reason"])}, "now": now}

    def close(self) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None


def _responses(row: Mapping[str, Any]) -> list[str]:
    return [text for role, text in messages_of(row["turns"] or "[]") if role == "assistant"]


def test_case(row: Mapping[str, Any]) -> str:
    """Return a line for ``prorl verify file`` that expects the recorded reward. Raises UserError."""
    if len(_responses(row)) > 1:
        raise UserError(
            "a conversation has several responses, but a test case has one: prorl verify replay scores it again"
        )
    try:
        reference = json.loads(row["reference"])
    except (ValueError, TypeError, RecursionError):
        reference = None
    if not isinstance(reference, dict):
        raise UserError(
            "no test case can be made, because this rollout's reference is not a JSON object"
        )
    name = f"{row['sample_id']}#{row['step']}.{row['sample_index']}"
    task = Task(row["verifier"], reference)
    case = as_test_case(name, task, row["response"] or "", row["reward"])
    return json.dumps(case, ensure_ascii=False)


def shown_metrics(metrics: Mapping[str, Any]) -> Json:
    """Return a verdict's metrics, in which all values except numbers are private."""
    result: dict[str, Json] = {}
    for name, value in metrics.items():
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            result[name] = value
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            result[name] = Private(text)
    return result


def _finding(one: Mapping[str, Any]) -> Json:
    return {
        "title": one["title"],
        "outcome": one["outcome"],
        "fields": [[label, Private(text)] for label, text in one["fields"]],
        "span": one["span"],
        "parts": [_finding(part) for part in one["parts"]],
    }
