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
    if response == "raise":
        raise RuntimeError("broken")
    if response == "die":
        os._exit(3)
    while response == "hang":
        pass
    odd = {
        "end": (state, None),
        "list": ([], said),
        "set": ({"one": {1}}, said),
        "large": ({"text": "x" * 1_000_001}, said),
        "silent": (state, []),
        "assistant": (state, [{"role": "assistant", "content": "x"}]),
        "shout": (state, [{"role": "user", "content": "x" * 200_001}]),
        "text": (state, "hello"),
        "random": ({"turns": next(COUNT)}, said),
    }
    return odd.get(response, (state, said))


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
