"""The environment ``reasoning-gym``: after a wrong answer the model may try again."""

from __future__ import annotations

from prorl_verifiers.environment import EnvironmentSpec
from prorl_verifiers.logic import spec as logic
from prorl_verifiers.types import ChatMessages, Reference, Score, State


def start(reference: Reference) -> tuple[State, ChatMessages]:
    return {"reference": dict(reference), "tries": 0}, ()


def step(state: State, response: str) -> tuple[State, ChatMessages | None]:
    score = logic.score(response, state["reference"])
    state["tries"] += 1
    state |= {"reward": score.reward, "reason": score.reason, "answer": score.extracted}
    if score.reward == 1.0:
        return state, None
    reply = f"Your answer earns {score.reward:.2g} of 1."
    if score.status == "unparsable":
        reply = f"Your answer cannot be read: {score.reason}."
    return state, [{"role": "user", "content": f"{reply} Try again."}]


def score_state(state: State) -> Score:
    tries = {"tries": float(state["tries"])}
    return Score(state["reward"], state["reason"], state["answer"], metrics=tries)


SPEC = EnvironmentSpec(
    name="reasoning-gym",
    start=start,
    step=step,
    score_state=score_state,
    check_reference=logic.check_reference,
    libraries=logic.SPEC.libraries,
    data=logic.SPEC.data,
)
