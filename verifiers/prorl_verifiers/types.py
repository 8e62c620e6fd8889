"""The types that pass between callers, verifiers and the pool."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from prorl_common import UserError, nearest
from prorl_verifiers.findings import Finding, Outcome, cut

VerdictStatus = Literal["scored", "unparsable", "timeout", "infra_error", "unfinished"]
Reference: TypeAlias = Mapping[str, Any]
"""The data that a response is checked against. Each verifier defines its keys."""
Metrics: TypeAlias = Mapping[str, float | str]
"""Numbers that a verifier reports with the reward. Only ``plugin``, a plug-in's version, is a string."""
State: TypeAlias = dict[str, Any]
"""The state of a conversation with an environment, as a JSON object."""
ChatMessages: TypeAlias = Sequence[Mapping[str, str]]
"""Messages {"role", "content"} of an environment. The role is ``user`` or ``tool``."""
TURN = "turn"
"""Reserved key of an environment's reference: {"state"?: state of the conversation, "last"?: whether to end it}."""
MAX_STATE = 1_000_000
"""Maximum characters of a state as JSON."""
MAX_MESSAGES = 200_000
"""Maximum characters of the messages of one turn."""
MAX_ANSWER = 50_000
"""Maximum characters of an extracted answer; a longer one is ``unparsable``."""


class TaskError(UserError):
    """Raised if a task is malformed or its verifier is unknown."""


@dataclass(frozen=True, slots=True)
class Task:
    """A verifier's name, and the reference that responses are checked against, such as {"answer": "5"}."""

    verifier: str
    reference: Reference

    def reference_json(self) -> str:
        """Return the reference as canonical JSON."""
        return json.dumps(self.reference, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


Item: TypeAlias = tuple[str, Task]
"""A response and the task that it answers."""


@dataclass(frozen=True, slots=True)
class TaskPart:
    """A part of a composed task, with a unique name."""

    name: str
    task: Task


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a scorer: ``scored`` with a reward in [0, 1], or ``unparsable`` with reward 0.

    ``reason``: an explanation for people.
    ``extracted``: the answer in the response.
    """

    reward: float
    reason: str
    extracted: str | None = None
    status: Literal["scored", "unparsable"] = "scored"
    metrics: Metrics = field(default_factory=dict)


def unparsable(reason: str, extracted: str | None = None) -> Score:
    """Return a score of 0 for a response without an answer."""
    return Score(0.0, reason, extracted, "unparsable")


@dataclass(frozen=True, slots=True)
class Turn:
    """An environment's reply to a response: the new state and the messages that continue the conversation."""

    state: State
    messages: ChatMessages

    def check(self) -> Turn:
        """Return ``self``. Raises TypeError or ValueError if it is malformed or too large."""
        if not isinstance(self.state, dict):
            raise TypeError("a state must be a JSON object")
        if len(json.dumps(self.state, ensure_ascii=False)) > MAX_STATE:
            raise ValueError(f"a state may have at most {MAX_STATE} characters")
        if not isinstance(self.messages, list | tuple) or not self.messages:
            raise TypeError("a turn needs a list of messages, or None to end the conversation")
        for message in self.messages:
            role, content = message.get("role"), message.get("content")
            if role not in ("user", "tool") or not isinstance(content, str):
                raise ValueError("a message needs the role user or tool, and a string as content")
        if sum(len(message["content"]) for message in self.messages) > MAX_MESSAGES:
            raise ValueError(f"the messages of a turn may have at most {MAX_MESSAGES} characters")
        return self

    def to_json(self) -> dict[str, Any]:
        return {"state": self.state, "messages": [dict(message) for message in self.messages]}

    @classmethod
    def from_json(cls, value: Any) -> Turn:
        """Parse the output of ``to_json``. Raises ValueError, KeyError, TypeError or AttributeError."""
        messages = [{"role": m["role"], "content": m["content"]} for m in value["messages"]]
        return cls(value["state"], messages).check()


def check_turn(reference: Reference) -> Reference:
    """Return the reference. Raises TaskError if its "turn", the state of a conversation, is malformed."""
    turn = reference.get(TURN, {})
    values = {"state": dict, "last": bool}
    is_valid = isinstance(turn, Mapping) and all(
        name in values and isinstance(value, values[name]) for name, value in turn.items()
    )
    if not is_valid:
        raise TaskError(f'{TURN!r} must be {{"state": the state, "last": true or false}}')
    return reference


def without_turn(reference: Reference) -> Reference:
    return {key: value for key, value in reference.items() if key != TURN}


def next_task(task: Task, state: State | None, last: bool) -> Task:
    """Return ``task`` prepared for the next response of a conversation.

    ``state``: the conversation's state, or None before the first response.
    ``last``: whether the response ends the conversation.
    """
    turn: dict[str, Any] = {} if state is None else {"state": state}
    turn |= {"last": True} if last else {}
    return Task(task.verifier, {**task.reference, TURN: turn}) if turn else task


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of scoring a response. ``reward`` is in [0, 1], or None for ``infra_error`` and ``unfinished``.

    ``findings``: the scorer's notes, if they were requested.
    ``turn``: an environment's reply, if the conversation continues; the status is then ``unfinished``.
    """

    reward: float | None
    status: VerdictStatus
    reason: str
    extracted: str | None = None
    isolation: str = ""
    metrics: Metrics = field(default_factory=dict)
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    turn: Turn | None = None

    @property
    def is_infra_error(self) -> bool:
        """Whether the response could not be scored. Training excludes such verdicts."""
        return self.status == "infra_error"

    @property
    def outcome(self) -> Outcome:
        """``passed`` for reward 1, ``failed`` for a lower one, ``neutral`` without a reward."""
        if self.reward is None:
            return "neutral"
        return "passed" if self.reward >= 1.0 else "failed"

    def explained(self) -> tuple[Finding, ...]:
        """Return the findings, and one for the verdict if none of them has the verdict's outcome."""
        if any(finding.outcome == self.outcome for finding in self.findings):
            return self.findings
        fields = [("status", str(self.status)), ("reason", cut(self.reason))]
        if self.extracted is not None:
            fields.append(("extracted", cut(self.extracted)))
        return (*self.findings, Finding("verdict", self.outcome, tuple(fields)))


OnDone: TypeAlias = Callable[[int, Verdict], None]
"""Called with an item's index and verdict when the item is scored."""


def check_keys(reference: Reference, *keys: str, what: str = "the reference") -> None:
    """Raise TaskError for a key that is not in ``keys``."""
    for key in reference:
        if key not in keys:
            options = ", ".join(keys)
            raise TaskError(
                f"unknown key {key!r} in {what}{nearest(str(key), keys)}: use {options}"
            )


def gold_text(reference: Reference) -> str:
    """Return the gold answer as a string. Raises TaskError."""
    answer = reference.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise TaskError("the reference needs 'answer', a string or a number")
    if isinstance(answer, float) and not math.isfinite(answer):
        raise TaskError("the gold answer is not a finite number")
    if not str(answer).strip():
        raise TaskError("the gold answer is empty")
    return str(answer)
