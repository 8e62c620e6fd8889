"""Bodies of requests into (response, task) items, verdicts into bodies of answers.

``POST /verify``: {"items": [{"id"?, "task": {"verifier", "reference"}, "response"}, ...]} or one such
item. ``POST /openrlhf``: {"query": [...], "prompts": [...], "labels": [...]}, what OpenRLHF 0.11.2 sends.
Every item is checked before one is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError
from prorl_common.serving.refusal import Refusal
from prorl_verifiers.adapters.openrlhf import extra_logs, rollout_item
from prorl_verifiers.extract import OPEN_THINK, strict_json
from prorl_verifiers.rows import read_item, verdict_row
from prorl_verifiers.tasks import with_mode
from prorl_verifiers.types import Task, TaskError, Verdict

ItemId = str | int | None


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of one request, with the ids to give back (None: the item had none)."""

    ids: list[ItemId]
    items: list[tuple[str, Task]]


def read_verify(body: bytes, modes: Mapping[str, str], think_open: bool = False) -> Batch:
    """Return the items of a ``/verify`` body. Raises Refusal 400 (not JSON) or 422 (which item, why).

    ``modes``: verifier -> mode of tasks that name none.
    """
    found = _json_object(body)
    rows = found.get("items") if "items" in found else [found]
    if not isinstance(rows, list):
        raise Refusal(422, "'items' must be a list")
    batch = Batch([], [])
    for index, row in enumerate(rows):
        try:
            item_id, text, task = read_item(row)
            task = with_mode(task, modes)
        except UserError as error:
            raise Refusal(422, f"item {index}: {error}", index=index) from error
        batch.ids.append(item_id)
        batch.items.append((OPEN_THINK + text if think_open else text, task))
    return batch


def read_openrlhf(body: bytes, modes: Mapping[str, str]) -> Batch:
    """Return the items of an ``/openrlhf`` body. Raises Refusal 400 or 422."""
    found = _json_object(body)
    columns = [found.get(name) for name in ("query", "prompts", "labels")]
    if not all(isinstance(column, list) for column in columns):
        raise Refusal(422, "'query', 'prompts' and 'labels' must be lists")
    queries, prompts, labels = ([*column] for column in columns if column is not None)
    if not len(queries) == len(prompts) == len(labels):
        raise Refusal(422, "'query', 'prompts' and 'labels' must be of the same length")
    batch = Batch([], [])
    for index, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
        try:
            if not isinstance(query, str) or not isinstance(prompt, str):
                raise TaskError("query and prompt must be text")
            text, task = rollout_item(query, prompt, label)
            batch.items.append((text, with_mode(task, modes)))
        except UserError as error:
            raise Refusal(422, f"item {index}: {error}", index=index) from error
        batch.ids.append(None)
    return batch


def verify_reply(batch: Batch, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return {"verdicts": [row of ``prorl verify file`` with the isolation, ...]}, in order."""
    return {
        "verdicts": [
            verdict_row(item_id, verdict) | {"isolation": verdict.isolation}
            for item_id, verdict in zip(batch.ids, verdicts, strict=True)
        ]
    }


def openrlhf_reply(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return {"rewards", "scores", "extra_logs": lists of numbers}; every verdict has a reward."""
    rewards = [float(verdict.reward) for verdict in verdicts if verdict.reward is not None]
    return {"rewards": rewards, "scores": rewards, "extra_logs": extra_logs(verdicts)}


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = strict_json(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the body is not valid JSON ({error})") from error
    if not isinstance(found, dict):
        raise Refusal(400, "the body must be a JSON object")
    return found
