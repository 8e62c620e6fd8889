"""Parses tool calls in the format of Qwen and Hermes: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prorl_common.frames import FrameError, read_json

_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_HOW = """You can call these tools. Each line is a tool, with the JSON schema of its arguments:
{tools}
To call a tool, write one line:
<tool_call>{{"name": "the tool's name", "arguments": {{"name": "value"}}}}</tool_call>
Its result comes in the next message. A message without a call is your final answer."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model. ``fault`` says why it is malformed, or is ""."""

    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""

    def fault_among(self, tools: Collection[str]) -> str:
        """Return an error message for the model if the call is malformed or not for one of ``tools``, else ""."""
        if self.fault or self.name in tools:
            return self.fault
        return f"unknown tool {self.name!r:.80}: the tools are {', '.join(tools) or 'none'}"


def read_calls(response: str) -> tuple[str, list[ToolCall]]:
    """Return a response's text without its tool calls, and the calls in order."""
    calls = [_read_call(match.group(1)) for match in _CALL.finditer(response)]
    return _CALL.sub("", response).strip(), calls


def _read_call(text: str) -> ToolCall:
    try:
        value = read_json(text.encode("utf-8", "replace"))
    except FrameError as error:
        return ToolCall(fault=f"the call is {error}")
    name = value.get("name") if isinstance(value, dict) else None
    arguments = value.get("arguments", {}) if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return ToolCall(fault='a call must be an object {"name": a text, "arguments": an object}')
    return ToolCall(name, arguments)


def with_tools(
    messages: Sequence[Mapping[str, str]], tools: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return ``messages`` with one system prompt that also lists ``tools`` ({"name", "description", "parameters"})."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    if tools:
        lines = [json.dumps(tool, ensure_ascii=False) for tool in tools]
        system.append(_HOW.format(tools="\n".join(lines)))
    first = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    return first + [dict(message) for message in messages if message["role"] != "system"]
