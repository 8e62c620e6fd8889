"""The environment ``tool-arithmetic``: arithmetic problems to solve with a calculator tool."""

from __future__ import annotations

from typing import Any

from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.environment import EnvironmentSpec
from prorl_verifiers.environments.tools import answer_calls, calculator
from prorl_verifiers.math import spec as math
from prorl_verifiers.types import ChatMessages, Reference, Score, State

PROMPT = """{question}
You may use a calculator: <tool_call>{{"name": "calculator", "arguments": {{"expression": "2 * (3 + 4)"}}}}</tool_call>
Its result is the next message. Then give the final answer within \\boxed{{}}."""


def start(reference: Reference) -> tuple[State, ChatMessages]:
    return {"reference": dict(reference), "response": "", "calls": 0, "failed_calls": 0}, ()


def step(state: State, response: str) -> tuple[State, ChatMessages | None]:
    messages = answer_calls(response, {"calculator": calculator})
    state["response"] = response
    state["calls"] += len(messages)
    state["failed_calls"] += sum(m["content"].startswith("error: ") for m in messages)
    return state, messages or None


def score_state(state: State) -> Score:
    score = math.score(state["response"], state["reference"])
    calls: dict[str, Any] = {name: float(state[name]) for name in ("calls", "failed_calls")}
    return Score(score.reward, score.reason, score.extracted, score.status, calls)


SPEC = EnvironmentSpec(
    name="tool-arithmetic",
    start=start,
    step=step,
    score_state=score_state,
    check_reference=math.check_reference,
    data=DataShape(
        example={"answer": "2"},
        prompt=PROMPT,
        tidy=math.answer_as_text,
        write=math.boxed,
        gold_response=math.boxed_gold,
    ),
)
