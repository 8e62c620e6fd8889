"""Reads files of responses to score, and converts verdicts to rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError, read_jsonl
from prorl_verifiers.tasks import task_of
from prorl_verifiers.types import Task, TaskError, Verdict


@dataclass(frozen=True, slots=True)
class FileItem:
    """A line of a file: {"id", "task": {"verifier", "reference"}, "response", "expected_reward"?}."""

    id: str | int
    response: str
    task: Task
    expected: float | None = None

    def expects(self, verdict: Verdict) -> bool:
        """Return whether the reward equals ``expected`` within 1e-9, or ``expected`` is None."""
        if self.expected is None:
            return True
        return verdict.reward is not None and abs(verdict.reward - self.expected) <= 1e-9


def read_items(path: Path, on_bad: Callable[[UserError], None] | None = None) -> list[FileItem]:
    """Read a .jsonl or .jsonl.gz file.

    An invalid line raises UserError or, if ``on_bad`` is given, is skipped after ``on_bad(error)``.
    """
    items = []
    for number, row in read_jsonl(path, on_bad):
        try:
            for key in ("id", "task", "response"):
                if key not in row:
                    raise TaskError(f"the line has no {key!r}")
            item_id, response, task = read_item(row)
            if item_id is None:
                raise TaskError("'id' must be a string or an integer")
            expected = row.get("expected_reward")
            is_number = isinstance(expected, int | float) and not isinstance(expected, bool)
            if expected is not None and not (is_number and 0 <= expected <= 1):
                raise TaskError("'expected_reward' must be a number from 0 to 1")
            reward = None if expected is None else float(expected)
            items.append(FileItem(item_id, response, task, reward))
        except UserError as error:
            bad = TaskError(f"{path}:{number}: {error}")
            if on_bad is None:
                raise bad from error
            on_bad(bad)
    return items


def read_item(row: Any) -> tuple[str | int | None, str, Task]:
    """Parse a JSON object into (id or None, response, task). Raises TaskError."""
    if not isinstance(row, dict):
        raise TaskError("an item must be an object")
    item_id = row.get("id")
    if item_id is not None and (not isinstance(item_id, str | int) or isinstance(item_id, bool)):
        raise TaskError("'id' must be a string or an integer")
    if not isinstance(row.get("response"), str):
        raise TaskError("'response' must be a string")
    if not isinstance(row.get("task"), dict):
        raise TaskError("'task' must be an object with 'verifier' and 'reference'")
    return item_id, row["response"], task_of(row["task"])


def verdict_row(item_id: str | int | None, verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {} if item_id is None else {"id": item_id}
    return row | {
        "reward": verdict.reward,
        "status": verdict.status,
        "reason": verdict.reason,
        "extracted": verdict.extracted,
        "metrics": dict(verdict.metrics),
        "seconds": round(verdict.seconds, 6),
        **({} if verdict.turn is None else {"turn": verdict.turn.to_json()}),
    }


def explained_row(verdict: Verdict) -> dict[str, Any]:
    """Convert a verdict with its findings to a row, as in ``prorl verify answer --explain --json``."""
    return verdict_row(None, verdict) | {
        "isolation": verdict.isolation,
        "outcome": verdict.outcome,
        "findings": [finding.to_json() for finding in verdict.explained()],
    }


def as_test_case(
    item_id: str | int, task: Task, response: str, reward: float | None = None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": item_id,
        "task": {"verifier": task.verifier, "reference": dict(task.reference)},
        "response": response,
    }
    return row if reward is None else row | {"expected_reward": reward}
