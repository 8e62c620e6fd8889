"""Defines EnvironmentSpec, a verifier that may answer a response with messages, so that the conversation goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from prorl_common import PluginError
from prorl_verifiers.spec import VERIFIERS, Result, VerifierSpec
from prorl_verifiers.types import (
    TURN,
    ChatMessages,
    Reference,
    Score,
    State,
    Task,
    Turn,
    Verdict,
    without_turn,
)

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec(VerifierSpec):
    """An environment: a verifier whose conversation may have several turns. It has ``step`` or ``step_in_sandbox``.

    Each turn may run in another worker, so the state, a JSON object, must hold everything.
    An exception is an ``infra_error`` of the rollout, never a reward of 0. Raises PluginError.
    """

    is_environment: ClassVar[bool] = True
    start: Callable[[Reference], tuple[State, ChatMessages]]
    """Returns the first state and the first messages. ``prorl data build`` stores those as the prompt; if there are
    none, the data has its own prompt.
    """
    step: Callable[[State, str], tuple[State, ChatMessages | None]] | None = None
    """Takes (state, response) and returns the new state and the messages that answer, or None to end. Equal arguments
    must give equal results: a seed belongs in the state.
    """
    step_in_sandbox: Callable[[State, str, Sandbox], tuple[State, ChatMessages | None]] | None = (
        None
    )
    """Like ``step``, with an open sandbox that runs programs."""
    score_state: Callable[[State], float | bool | Score | Verdict]
    """Returns the reward of a final state, also of one in which a limit ended the conversation."""
    calls_service: bool = False
    """Whether its functions call a service. They then run in a thread of prorl's own process, since workers have no
    network: let them limit their own time, raise ServiceError for an outage, and never run or unpickle a response.
    """
    score: Callable[[str, Reference], Result] | None = field(init=False, default=None)
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = field(
        init=False, default=None
    )
    compose: None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if (self.step is None) == (self.step_in_sandbox is None):
            raise PluginError(
                f"environment {self.name!r} needs step=FUNCTION or step_in_sandbox=FUNCTION (just one of them)"
            )
        if self.step is not None:
            object.__setattr__(self, "score", self._take_turn)
        else:
            object.__setattr__(self, "score_in_sandbox", self._take_turn)
        VerifierSpec.__post_init__(self)

    def _take_turn(
        self, response: str, reference: Reference, sandbox: Sandbox | None = None
    ) -> Result:
        turn = reference.get(TURN, {})
        state = turn.get("state")
        if state is None:
            state, _ = self.start(without_turn(reference))
        if self.step is not None:
            state, messages = self.step(state, response)
        else:
            assert self.step_in_sandbox is not None and sandbox is not None
            state, messages = self.step_in_sandbox(state, response, sandbox)
        if messages is None or turn.get("last"):
            return self.score_state(state)
        return Turn(state, messages)


def opening_of(task: Task) -> str:
    """Return the text of an environment's first messages; empty if it has none or the verifier is no environment."""
    spec = VERIFIERS.get(task.verifier)
    messages = spec.start(task.reference)[1] if isinstance(spec, EnvironmentSpec) else ()
    return "\n".join(message["content"] for message in messages)
