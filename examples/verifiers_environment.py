"""Tasksets of verifiers (``verifiers.v1``, checked with 0.4) as environments. Name yours in the last line.

    prorl verify file answers.jsonl --plugin examples/verifiers_environment.py

``prorl data build``, ``prorl train`` and ``prorl eval`` use it in the same way. Tools run in prorl's confined workers, so
they have no network, no files and no threads. Tasks that need these, or a judge model, are refused with the reason.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from prorl_common import UserError
from prorl_verifiers import DataShape, EnvironmentSpec, TaskError
from prorl_verifiers.environments.calls import ToolCall, with_tools
from prorl_verifiers.environments.sessions import Session, Sessions
from prorl_verifiers.types import ChatMessages, Reference, Score


def environment_from_verifiers(
    taskset: str, name: str = "verifiers", *, largest: float = 1.0, **config: Any
) -> EnvironmentSpec:
    """Return an environment that plays tasks of an installed taskset with this id and these fields of its config.

    A task's reference is {"data": the fields of its TaskData}. Rewards, which may be at most 1, are divided by
    ``largest``.
    """
    load = functools.cache(lambda: load_taskset(taskset, config))

    def check(reference: Reference) -> None:
        reasons = list(unmet_needs(load(), task_of(load(), reference)))
        if reasons:
            raise TaskError(f"tasks of {taskset} cannot be played here: {'; '.join(reasons)}")

    def open_session(reference: Reference) -> tuple[Session, ChatMessages]:
        session = Conversation(load(), reference, largest)
        return session, session.prompt()

    sessions = Sessions(open_session, most=64)
    return EnvironmentSpec(
        name=name,
        start=sessions.start,
        step=sessions.step,
        score_state=sessions.score,
        check_reference=check,
        libraries=("verifiers.v1",),
        data=DataShape(columns=("data",), json_columns=("data",)),
    )


def load_taskset(taskset: str, config: dict[str, Any]) -> Any:
    try:
        vf = importlib.import_module("verifiers.v1")
        kind = vf.environment_class(taskset)
        found = vf.load_taskset(vf.taskset_config_type(taskset)(id=taskset, **config))
    except (ImportError, ValueError) as error:
        raise UserError(f"the taskset {taskset} cannot be loaded: {error}") from error
    if kind is not vf.SingleAgentEnv:
        raise UserError(
            f"{taskset} has an environment of its own, {kind.__name__}: only tasksets for one agent work"
        )
    return found


def task_of(taskset: Any, reference: Reference) -> Any:
    kind = taskset.task_type()
    return kind(kind.data_type().model_validate(reference.get("data")), taskset.config.task)


def toolsets_of(taskset: Any, task: Any) -> list[Any]:
    shared = type(taskset).toolsets(taskset.config)
    return [*shared, *type(task).toolsets(task.config)]


def unmet_needs(taskset: Any, task: Any) -> Iterator[str]:
    """Yield what a task needs and this adapter does not have."""
    vf = importlib.import_module("verifiers.v1")
    if task.NEEDS_CONTAINER or task.data.image is not None:
        yield "they need a container"
    if task.data.prompt is None:
        yield "a simulated user begins"
    elif any(not isinstance(message["content"], str) for message in first_messages(task.data)):
        yield "their prompts are not only text"
    if task.config.judges:
        yield "a judge model scores them"
    for name in ("setup", "finalize"):
        if getattr(type(task), name) is not getattr(vf.Task, name):
            yield f"{name} uses the agent's runtime"
    for hook in [*task.hooks("metric"), *task.hooks("reward")]:
        runtime = inspect.signature(hook).parameters.get("runtime")
        if runtime is not None and runtime.default is inspect.Parameter.empty:
            yield f"{hook.__name__} uses the agent's runtime"
    for hook in task.hooks("stop"):
        if list(inspect.signature(hook).parameters) != ["trace"]:
            yield f"{hook.__name__} does not stop by the trace alone"
    if any(hasattr(getattr(type(task), name), "intercept") for name in dir(type(task))):
        yield "they rewrite messages"
    for toolset in toolsets_of(taskset, task):
        if toolset.config.url or toolset.config.runtime.type != "subprocess":
            yield f"the tools {toolset.server_name} run elsewhere"


def first_messages(data: Any) -> list[dict[str, Any]]:
    prompt = data.prompt
    if isinstance(prompt, str):
        messages = [{"role": "user", "content": prompt}]
    else:
        messages = [{"role": one.role, "content": one.content} for one in prompt]
    system = (
        [] if data.system_prompt is None else [{"role": "system", "content": data.system_prompt}]
    )
    return system + messages


class Conversation(Session):
    def __init__(self, taskset: Any, reference: Reference, largest: float) -> None:
        self._vf = vf = importlib.import_module("verifiers.v1")
        self._task = task = task_of(taskset, reference)
        self._largest = largest
        state = importlib.import_module("verifiers.v1.state").state_cls(type(task))()
        about = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
        agent = vf.AgentInfo(config=vf.AgentConfig())
        self._trace = vf.Trace(task=about, agent=agent, state=state)
        kinds = {
            "system": vf.SystemMessage,
            "user": vf.UserMessage,
            "assistant": vf.AssistantMessage,
        }
        for message in first_messages(task.data):
            self._add(kinds[message["role"]](content=message["content"]))
        self._tools = asyncio.run(self._open(toolsets_of(taskset, task)))
        self.tools = list(self._tools)

    async def _open(self, toolsets: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        async def state() -> Any:
            return self._trace.state

        tools: dict[str, tuple[Any, Any]] = {}
        for toolset in toolsets:
            toolset._pull_state = state  # by default it asks the framework's server
            await toolset.setup()
            await toolset.setup_task(self._task.data)
            server = importlib.import_module("mcp.server.mcpserver").MCPServer("tools")
            toolset.register(server)
            prefix = f"{toolset.server_name}_" if toolset.server_name else ""
            tools |= {prefix + tool.name: (server, tool) for tool in await server.list_tools()}
        return tools

    def prompt(self) -> list[dict[str, str]]:
        tools = [
            {"name": name, "description": tool.description, "parameters": tool.input_schema}
            for name, (_, tool) in self._tools.items()
        ]
        return with_tools(first_messages(self._task.data), tools)

    def call(self, call: ToolCall) -> str:
        server, tool = self._tools[call.name]
        try:
            result = asyncio.run(server.call_tool(tool.name, dict(call.arguments)))
        except Exception as error:
            if is_confined(error):
                raise
            return str(error)  # verifiers shows it to the model too
        return "\n".join(part.text for part in result.content if part.type == "text")

    def add(self, text: str, calls: Sequence[ToolCall], answers: Sequence[str]) -> bool:
        ids = [f"call_{len(self._trace.nodes)}_{index}" for index in range(len(calls))]
        made = [
            self._vf.ToolCall(id=one, name=call.name, arguments=json.dumps(dict(call.arguments)))
            for one, call in zip(ids, calls, strict=True)
        ]
        self._add(self._vf.AssistantMessage(content=text, tool_calls=made or None), sampled=True)
        for one, call, answer in zip(ids, calls, answers, strict=True):
            self._add(self._vf.ToolMessage(tool_call_id=one, content=answer, name=call.name))
        for hook in self._task.hooks("stop"):
            if asyncio.run(hook(trace=self._trace)):
                self._trace.stop(hook.__name__)
        if not calls:
            self._trace.stop("agent_completed")
        return bool(self._trace.is_completed)

    def score(self) -> Score:
        self._trace.stop("max_turns")  # unless it has already stopped
        asyncio.run(self._task.score(self._trace))
        rewards = {name: reward.value for name, reward in self._trace.rewards.items()}
        reward = sum(rewards.values()) / self._largest
        return Score(reward, "verifiers' reward", metrics={**self._trace.metrics, **rewards})

    def _add(self, message: Any, sampled: bool = False) -> None:
        nodes = self._trace.nodes
        parent = len(nodes) - 1 if nodes else None
        nodes.append(self._vf.MessageNode(parent=parent, message=message, sampled=sampled))


def is_confined(error: BaseException | None) -> bool:
    """Return whether a tool failed because workers have no network, no files of their own and no threads."""
    while error is not None:
        if isinstance(error, PermissionError | socket.gaierror) or "start new thread" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


SPEC = environment_from_verifiers("my_taskset")
