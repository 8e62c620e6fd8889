"""Environments that break their promises, one fault per response."""

import itertools
import os
from typing import Any

from prorl_verifiers import EnvironmentSpec, Score

COUNT = itertools.count()


def start(reference: Any) -> Any:
    return {"turns": 0, "odd": reference.get("odd")}, [{"role": "user", "content": "hello"}]


def step(state: dict[str, Any], response: str) -> Any:
    said: list[Any] = [{"role": "user", "content": f"turn {state['turns']}"}]
    state["turns"] += 1
    match response:
        case "end":
            return state, None
        case "raise":
            raise RuntimeError("broken")
        case "die":
            os._exit(3)
        case "hang":
            while True:
                pass
        case "list":
            return [], said
        case "set":
            return {"one": {1}}, said
        case "large":
            return {"text": "x" * 1_000_001}, said
        case "silent":
            return state, []
        case "assistant":
            return state, [{"role": "assistant", "content": "x"}]
        case "shout":
            return state, [{"role": "user", "content": "x" * 200_001}]
        case "text":
            return state, "hello"
        case "random":
            return {"turns": next(COUNT)}, said
    return state, said


def score(state: dict[str, Any]) -> Score:
    return Score(1.0 if state["turns"] < 3 else 0.5, f"{state['turns']} turns")


def step_with_programs(state: dict[str, Any], response: str, sandbox: Any) -> Any:
    from prorl_sandbox import Program

    if response == "raise":
        raise RuntimeError("broken")
    outcome = sandbox.run(Program(response))
    return {"turns": state["turns"] + 1}, [{"role": "tool", "content": outcome.stdout}]


TURNS = EnvironmentSpec(name="turns", start=start, step=step, score_state=score)
PROGRAMS = EnvironmentSpec(
    name="programs", start=start, step_in_sandbox=step_with_programs, score_state=score
)
