"""The environment ``repair-code``: the model sees its program's first failed test and corrects the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prorl_verifiers.code import spec as code
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.environment import EnvironmentSpec
from prorl_verifiers.environments.tools import answer_calls, python_session
from prorl_verifiers.findings import Finding, noting
from prorl_verifiers.types import ChatMessages, Reference, Score, State

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

PROMPT = """{question}
Write the final code in triple backticks. If a test fails, you see how and may correct the code.
To try code first: <tool_call>{{"name": "python", "arguments": {{"code": "print(1)"}}}}</tool_call>"""
_SHOWN = ("input", "status", "why", "got", "standard error")
"""Fields of a failed test that the model sees. The expected output is hidden, so that programs cannot print it."""


def start(reference: Reference) -> tuple[State, ChatMessages]:
    untested = {"reward": 0.0, "reason": "no program was tested"}
    return {"reference": dict(reference), "calls": [], "score": untested}, ()


def step(state: State, response: str, sandbox: Sandbox) -> tuple[State, ChatMessages | None]:
    tools = {"python": lambda arguments: python_session(state["calls"], arguments, sandbox)}
    messages = answer_calls(response, tools)
    if messages:
        return state, messages
    with noting() as findings:
        verdict = code.score_in_sandbox(response, state["reference"], sandbox)
    state["score"] = {"reward": verdict.reward, "reason": verdict.reason}
    if verdict.reward == 1.0:
        return state, None
    lines = [verdict.reason, *_first_failure(findings), "Correct the code."]
    return state, [{"role": "user", "content": "\n".join(lines)}]


def _first_failure(findings: list[Finding]) -> list[str]:
    for finding in findings:
        if finding.title.startswith("test ") and finding.outcome == "failed":
            return [f"{name}: {value[:500]}" for name, value in finding.fields if name in _SHOWN]
    return []


def score_state(state: State) -> Score:
    return Score(state["score"]["reward"], state["score"]["reason"])


SPEC = EnvironmentSpec(
    name="repair-code",
    start=start,
    step_in_sandbox=step,
    score_state=score_state,
    needs=code.needs,
    check_reference=code.check_reference,
    data=DataShape(
        prompt=PROMPT,
        columns=code.SPEC.data.columns,
        optional_columns=code.SPEC.data.optional_columns,
        json_columns=code.SPEC.data.json_columns,
        answer=code.no_answer,
        write=code.fenced,
    ),
)
