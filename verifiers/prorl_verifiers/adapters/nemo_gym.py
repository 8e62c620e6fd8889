"""Uses resource servers of NeMo-Gym (tested with 0.7) as environments.

A server has one route per tool and scores at ``/verify``, or is a subclass of ``GymnasiumServer``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_common import ServiceError, UserError
from prorl_common.http import (
    NOT_THE_REQUEST,
    Address,
    Connection,
    Reply,
    TransientError,
    parse_address,
)
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.environment import EnvironmentSpec
from prorl_verifiers.environments.calls import ToolCall, with_tools
from prorl_verifiers.environments.sessions import Session, Sessions
from prorl_verifiers.types import ChatMessages, Reference, Score, TaskError, Verdict


def environment_from_nemo_gym(
    url: str, name: str = "nemo-gym", *, largest: float = 1.0, timeout_seconds: float = 60.0
) -> EnvironmentSpec:
    """Return an environment that forwards responses to a running server. Raises UserError for an invalid address.

    A task's reference is {"row": a row of the server's dataset}. Rewards are divided by ``largest``, the server's
    highest reward.
    """
    address = parse_address(url, "the resource server's address", "http://HOST:PORT")

    def check(reference: Reference) -> None:
        read_prompt(reference.get("row"))

    def open_session(reference: Reference) -> tuple[Session, ChatMessages]:
        row = reference["row"]
        if has_steps(address, timeout_seconds):
            game = _Game(address, row, largest, timeout_seconds)
            return game, [*read_prompt(row), *game.reset()]
        return _Tools(address, row, largest, timeout_seconds), read_prompt(row)

    sessions = Sessions(open_session, most=1024)
    return EnvironmentSpec(
        name=name,
        start=sessions.start,
        step=sessions.step,
        score_state=sessions.score,
        calls_service=True,
        check_reference=check,
        data=DataShape(columns=("row",), json_columns=("row",)),
    )


@functools.cache
def has_steps(server: Address, timeout_seconds: float) -> bool:
    """Return whether a server is a subclass of ``GymnasiumServer``. Raises ServiceError."""
    with Connection(server, None, timeout_seconds) as connection:
        return "/step" in connection.get("/openapi.json").object().get("paths", {})


def read_prompt(row: Any) -> list[dict[str, str]]:
    """Return the messages of a dataset row, with its tools in the system prompt. Raises TaskError."""
    params = row.get("responses_create_params") if isinstance(row, Mapping) else None
    if not isinstance(params, Mapping) or "input" not in params:
        raise TaskError("the reference needs 'row', an object with 'responses_create_params'")
    items = params["input"]
    system = params.get("instructions")
    messages = [{"role": "system", "content": system}] if system else []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        content = item.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content)
        if item.get("type", "message") != "message" or not isinstance(content, str):
            raise TaskError("the 'input' of 'row' must be a string or a list of text messages")
        role = "system" if item["role"] == "developer" else item["role"]
        messages.append({"role": role, "content": content})
    return with_tools(messages, params.get("tools") or [])


class _Tools(Session):
    def __init__(
        self, server: Address, row: Mapping[str, Any], largest: float, timeout: float
    ) -> None:
        self._server, self._row, self._largest, self._timeout = server, row, largest, timeout
        self._params = row["responses_create_params"]
        self.tools = [tool["name"] for tool in self._params.get("tools") or []]
        self._cookie = ""
        self._output: list[dict[str, Any]] = []

    def messages(self, text: str, calls: Sequence[ToolCall]) -> list[dict[str, str]] | None:
        if not self._cookie:
            self._post("/seed_session", self._row)
        return super().messages(text, calls)

    def call(self, call: ToolCall) -> str:
        reply = self._post(f"/{call.name}", call.arguments, of_model=True)
        return reply.body.decode(errors="replace")

    def add(self, text: str, calls: Sequence[ToolCall], answers: Sequence[str]) -> bool:
        part = {"type": "output_text", "text": text, "annotations": []}
        count = len(self._output)
        message = {"id": f"msg_{count}", "status": "completed", "content": [part]}
        self._output.append({"type": "message", "role": "assistant", **message})
        ids = [f"call_{count}_{index}" for index in range(len(calls))]
        for one, call in zip(ids, calls, strict=True):
            made = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
            self._output.append({"type": "function_call", "call_id": one, **made})
        for one, answer in zip(ids, answers, strict=False):
            self._output.append({"type": "function_call_output", "call_id": one, "output": answer})
        return not calls

    def score(self) -> Score | Verdict:
        result = self._post("/verify", self._with_response(self._output)).object()
        if result.get("mask_sample") is True:
            reason = result.get("failure_reason") or result.get("failure_kind")
            return Verdict(None, "infra_error", f"{self._server} could not judge it: {reason}")
        return Score(float(result["reward"]) / self._largest, "NeMo-Gym's reward")

    def _with_response(self, output: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        response = {"id": "resp_prorl", "created_at": 0.0, "model": "policy", "object": "response"}
        response |= {"parallel_tool_calls": True, "tool_choice": "auto", "output": list(output)}
        return {**self._row, "response": {**response, "tools": self._params.get("tools") or []}}

    def _post(self, path: str, body: Mapping[str, Any], of_model: bool = False) -> Reply:
        """Post ``body`` and return the reply. Raises ServiceError for an outage, and UserError for a refused request.

        If ``of_model`` is set, a refusal is returned, because the model wrote the request.
        """
        try:
            cookie = {"Cookie": self._cookie}
            with Connection(self._server, None, self._timeout, cookie) as connection:
                reply = connection.post(path, body)
            trouble = reply.trouble()
            if trouble is not None and not (of_model and reply.status not in NOT_THE_REQUEST):
                raise trouble
        except TransientError as error:
            raise ServiceError(f"{self._server}{path}: {error}") from error
        if reply.status >= 400 and not of_model:
            raise UserError(f"{self._server}{path} refused the task: {reply.line()}")
        self._cookie = (reply.header("Set-Cookie") or self._cookie).partition(";")[0]
        return reply


class _Game(_Tools):
    _reward = 0.0

    def reset(self) -> list[dict[str, str]]:
        """Start the session. Return a list with the server's first message, if there is one."""
        observation = self._post("/reset", self._row).object().get("observation")
        return [{"role": "user", "content": observation}] if observation else []

    def messages(self, text: str, calls: Sequence[ToolCall]) -> list[dict[str, str]] | None:
        count = len(self._output)
        self.add(text, calls, [])
        result = self._post("/step", self._with_response(self._output[count:])).object()
        self._reward += float(result.get("reward") or 0.0)
        if result.get("terminated") or result.get("truncated"):
            return None
        outputs = (result.get("info") or {}).get("tool_outputs", [])
        messages = [{"role": "tool", "content": str(output["output"])} for output in outputs]
        if result.get("observation"):
            messages.append({"role": "user", "content": result["observation"]})
        if not messages:
            raise ServiceError(
                f"{self._server} returned neither an observation nor tool outputs for a step"
            )
        return messages

    def score(self) -> Score:
        return Score(self._reward / self._largest, "NeMo-Gym's reward")
