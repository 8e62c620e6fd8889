"""Defines EnvironmentSpec, a verifier for multi-turn conversations."""

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
    """A verifier for conversations with several turns. Needs ``step`` or ``step_in_sandbox``, else raises PluginError.

    Turns may run in different workers, so the state must hold everything that later turns need. If a function raises,
    the rollout is an ``infra_error``.
    """

    is_environment: ClassVar[bool] = True
    start: Callable[[Reference], tuple[State, ChatMessages]]
    """Returns the first state and the first messages, or no messages if the data contains the prompt."""
    step: Callable[[State, str], tuple[State, ChatMessages | None]] | None = None
    """Takes (state, response). Returns the new state and the reply messages, or None for no reply, which ends the
    conversation. It must be deterministic; keep a random seed in the state.
    """
    step_in_sandbox: Callable[[State, str, Sandbox], tuple[State, ChatMessages | None]] | None = (
        None
    )
    """Like ``step``, with an open sandbox as a third argument."""
    score_state: Callable[[State], float | bool | Score | Verdict]
    """Returns the reward of the last state, even if a limit on turns or tokens ended the conversation."""
    calls_service: bool = False
    """Whether the functions call a service. They then run in prorl's own process, because workers have no network. They
    must limit their own time, raise ServiceError for an outage, and never execute or unpickle a response.
    """
    score: Callable[[str, Reference], Result] | None = field(init=False, default=None)
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = field(
        init=False, default=None
    )
    compose: None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if (self.step is None) == (self.step_in_sandbox is None):
            raise PluginError(
                f"environment {self.name!r} needs exactly one of step=FUNCTION and step_in_sandbox=FUNCTION"
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
    """Return the text of an environment's first messages, or "" for other verifiers."""
    spec = VERIFIERS.get(task.verifier)
    messages = spec.start(task.reference)[1] if isinstance(spec, EnvironmentSpec) else ()
    return "\n".join(message["content"] for message in messages)
