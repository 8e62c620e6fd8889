"""Parses request bodies into (response, task) items, and converts verdicts to answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError
from prorl_common.frames import FrameError, read_json
from prorl_common.serving.requests import Refusal
from prorl_verifiers.adapters.common import completion_text
from prorl_verifiers.adapters.openrlhf import extra_logs, rollout_item
from prorl_verifiers.extract import OPEN_THINK
from prorl_verifiers.remote_pool import scoring_parts
from prorl_verifiers.rows import read_item, verdict_row
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import check_modes, task_of, with_mode
from prorl_verifiers.types import Item, TaskError, Verdict

ItemId = str | int | None


@dataclass(frozen=True, slots=True)
class RequestItems:
    """The items of a request. ``nemo_gym``: the whole body of a request from NeMo-Gym, which has one item."""

    ids: list[ItemId]
    items: list[Item]
    nemo_gym: dict[str, Any] | None = None


def read_verify(body: bytes, modes: Mapping[str, str], think_open: bool = False) -> RequestItems:
    """Parse the body of ``/verify``: {"items": [{"id"?, "task", "response"}, ...]}, one item, or NeMo-Gym's request.

    The body may set "modes", "think_open" and "parts", the client's plug-ins, which must match the server's. Raises
    Refusal with status 400 (not JSON), 412 (other versions or plug-ins) or 422 (invalid item).
    """
    request = _json_object(body)
    if "responses_create_params" in request:
        return read_nemo_gym(request, modes, think_open)
    rows = request.get("items") if "items" in request else [request]
    if not isinstance(rows, list):
        raise Refusal(422, "'items' must be a list")
    modes = request.get("modes", modes)
    if not isinstance(modes, Mapping):
        raise Refusal(422, "'modes' must be an object that maps verifiers to modes")
    try:
        check_modes(modes)
    except UserError as error:
        raise Refusal(422, str(error)) from error
    think_open = request.get("think_open", think_open)
    if not isinstance(think_open, bool):
        raise Refusal(422, "'think_open' must be true or false")
    parts = _read_parts(request.get("parts", []))
    parsed = RequestItems([], [])
    for index, row in enumerate(rows):
        try:
            item_id, text, task = read_item(row)
            task = with_mode(task, modes)
        except UserError as error:
            raise Refusal(422, f"item {index}: {error}", index=index) from error
        parsed.ids.append(item_id)
        parsed.items.append((OPEN_THINK + text if think_open else text, task))
    if parts:
        clients = {(part["group"], part["name"]): part for part in parts}
        records = scoring_parts([task for _, task in parsed.items])
        servers = {(part["group"], part["name"]): part for part in records}
        for key in sorted(servers.keys() | clients.keys()):
            if servers.get(key) != clients.get(key):
                raise Refusal(412, _other_part(clients.get(key), servers.get(key)))
    return parsed


def read_nemo_gym(
    request: dict[str, Any], modes: Mapping[str, str], think_open: bool
) -> RequestItems:
    """Parse the request of NeMo-Gym 0.7 to ``/verify``: a dataset row and the model's ``response``.

    The row needs ``verifier`` and ``reference``, or ``task`` with both.
    """
    response = request.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise Refusal(422, "'response' must be a response object with a list 'output'")
    text = completion_text([item for item in output if item.get("type") == "message"])
    try:
        task = with_mode(task_of(request.get("task", request)), modes)
    except UserError as error:
        raise Refusal(422, str(error)) from error
    return RequestItems([None], [(OPEN_THINK + text if think_open else text, task)], request)


def _read_parts(parts: Any) -> list[dict[str, str]]:
    keys = {"group", "name", "source", "version"}
    is_list = isinstance(parts, list) and all(
        isinstance(part, dict)
        and set(part) == keys
        and all(isinstance(text, str) for text in part.values())
        for part in parts
    )
    if not is_list:
        raise Refusal(422, "'parts' must be a list of objects {group, name, source, version}")
    for part in parts:
        if part["group"] == VERIFIERS.group and part["name"] not in VERIFIERS.names():
            raise Refusal(412, _other_part(part, None))
    return list(parts)


def _other_part(client: Mapping[str, str] | None, server: Mapping[str, str] | None) -> str:
    def origin(part: Mapping[str, str] | None) -> str:
        return "without it" if part is None else f"{part['source']} {part['version'][:19]}"

    name = (client or server or {})["name"]
    return (
        f"{name!r} is not the same here: the client has {origin(client)}, the server {origin(server)}; start the "
        "server with the client's version of prorl and its --plugin files"
    )


def read_openrlhf(body: bytes, modes: Mapping[str, str]) -> RequestItems:
    """Parse OpenRLHF 0.11.2's body {"query": [...], "prompts": [...], "labels": [...]}. Raises Refusal."""
    request = _json_object(body)
    columns = [request.get(name) for name in ("query", "prompts", "labels")]
    if not all(isinstance(column, list) for column in columns):
        raise Refusal(422, "'query', 'prompts' and 'labels' must be lists")
    queries, prompts, labels = ([*column] for column in columns if column is not None)
    if not len(queries) == len(prompts) == len(labels):
        raise Refusal(422, "'query', 'prompts' and 'labels' must be of the same length")
    parsed = RequestItems([], [])
    for index, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
        try:
            if not isinstance(query, str) or not isinstance(prompt, str):
                raise TaskError("query and prompt must be strings")
            text, task = rollout_item(query, prompt, label)
            parsed.items.append((text, with_mode(task, modes)))
        except UserError as error:
            raise Refusal(422, f"item {index}: {error}", index=index) from error
        parsed.ids.append(None)
    return parsed


def verify_reply(parsed: RequestItems, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "verdicts": [
            verdict_row(item_id, verdict) | {"isolation": verdict.isolation}
            for item_id, verdict in zip(parsed.ids, verdicts, strict=True)
        ]
    }


def session_reply(body: bytes) -> dict[str, Any]:
    """Return the answer to NeMo-Gym's ``/seed_session``, with the request's session id if it has one."""
    request = _json_object(body)
    return {key: request[key] for key in ("resources_session_id",) if key in request}


def nemo_gym_reply(request: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {**request, "reward": verdict.reward, "verdict": verdict_row(None, verdict)}


def openrlhf_reply(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    rewards = [float(verdict.reward) for verdict in verdicts if verdict.reward is not None]
    return {"rewards": rewards, "scores": rewards, "extra_logs": extra_logs(verdicts)}


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = read_json(body)
    except FrameError as error:
        raise Refusal(400, f"the body is {error}") from error
    if not isinstance(value, dict):
        raise Refusal(400, "the body must be a JSON object")
    return value
