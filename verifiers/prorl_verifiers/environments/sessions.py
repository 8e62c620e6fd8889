"""Base classes of environments with live sessions, which are rebuilt by replaying a conversation's responses."""

from __future__ import annotations

import contextlib
import hashlib
import json
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from prorl_common import ServiceError
from prorl_verifiers.environments.calls import ToolCall, read_calls
from prorl_verifiers.types import ChatMessages, Reference, Score, State, Verdict


class Session(ABC):
    tools: Collection[str] = ()

    @abstractmethod
    def call(self, call: ToolCall) -> str:
        """Return the result of a tool call."""

    @abstractmethod
    def add(self, text: str, calls: Sequence[ToolCall], answers: Sequence[str]) -> bool:
        """Append a response, its tool calls and their results. Return whether the conversation ends."""

    @abstractmethod
    def score(self) -> Score | Verdict: ...

    def messages(self, text: str, calls: Sequence[ToolCall]) -> list[dict[str, str]] | None:
        answers = [call.fault_among(self.tools) or self.call(call) for call in calls]
        ends = self.add(text, calls, answers)
        return None if ends else [{"role": "tool", "content": answer} for answer in answers]


@dataclass(slots=True)
class Sessions:
    """An environment built from sessions. Its state is {"reference", "turns": [[response, messages], ...]}.

    ``open_session`` returns a new session and its first messages. The sessions of the newest ``most`` states stay open.
    """

    open_session: Callable[[Reference], tuple[Session, ChatMessages]]
    most: int
    live: OrderedDict[str, list[Session]] = field(default_factory=OrderedDict)
    """Open sessions by the hash of their state."""

    def start(self, reference: Reference) -> tuple[State, ChatMessages]:
        session, messages = self.open_session(reference)
        return self._keep({"reference": dict(reference), "turns": []}, session), messages

    def step(self, state: State, response: str) -> tuple[State, ChatMessages | None]:
        session = self._session(state)
        messages = session.messages(*read_calls(response))
        turns = [*state["turns"], [response, messages]]
        return self._keep({**state, "turns": turns}, session), messages

    def score(self, state: State) -> Score | Verdict:
        return self._session(state).score()

    def _keep(self, state: State, session: Session) -> State:
        self.live.setdefault(_key(state), []).append(session)
        while len(self.live) > self.most:
            self.live.popitem(last=False)
        return state

    def _session(self, state: State) -> Session:
        with contextlib.suppress(KeyError, IndexError):
            return self.live[_key(state)].pop()
        session, _ = self.open_session(state["reference"])
        for response, messages in state["turns"]:
            if session.messages(*read_calls(response)) != messages:
                raise ServiceError(
                    "a conversation cannot be replayed: the environment returned other messages for the same responses; "
                    "make its tools deterministic"
                )
        return session


def _key(state: State) -> str:
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()
