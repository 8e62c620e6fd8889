"""The sandbox for a verifier of others, which lives in a worker: the worker asks, the pool's process runs.

Frames from the worker: {"event": "sandbox", "program", "check": [checker, entry_point] or null, "limits"};
the answer: {"outcome"} or {"error", "user"}. Values travel as the sandbox's own tagged JSON. Nothing that
the worker asks for is believed: it has read model text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from prorl_common import ServiceError, UserError

if TYPE_CHECKING:
    from prorl_sandbox import Limits, Outcome, Program, Sandbox

Exchange = Callable[[dict[str, Any]], dict[str, Any]]
"""Sends a frame to the pool's process and returns its answer."""
LONGEST_RUN = 600.0
"""Seconds that one item's programs may take together, and the most that one of them may ask for."""


class RemoteSandbox:
    """Implements ``Sandbox`` inside a worker. ``close`` does nothing: the pool keeps the sandbox."""

    def __init__(self, exchange: Exchange, isolation: str) -> None:
        self._exchange = exchange
        self.isolation = isolation

    def run(self, program: Program, limits: Limits | None = None) -> Outcome:
        """Run a program; see ``Sandbox.run``."""
        return self._ask(program, None, limits)

    def run_check(
        self, program: Program, checker: str, entry_point: str, limits: Limits | None = None
    ) -> Outcome:
        """Run a test against a submission; see ``Sandbox.run_check``."""
        return self._ask(program, [checker, entry_point], limits)

    def close(self) -> None:
        """Do nothing."""

    def _ask(self, program: Program, check: list[str] | None, limits: Limits | None) -> Outcome:
        from prorl_sandbox import Limits, Outcome, SandboxError
        from prorl_sandbox.box import wire

        answer = self._exchange(
            {
                "event": "sandbox",
                "program": {**_by_name(program), "args": wire.encode(list(program.args))},
                "check": check,
                "limits": _by_name(limits or Limits()),
            }
        )
        if "outcome" in answer:
            found = answer["outcome"]
            return Outcome(**{**found, "value": wire.decode(found["value"])})
        raise (UserError if answer["user"] else SandboxError)(answer["error"])


def run_for_worker(call: Mapping[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    """Run what a worker asks for and return the answer's frame. Raises ValueError for what is no call."""
    from prorl_sandbox import Limits, Program
    from prorl_sandbox.box import wire

    given, limits, check = call.get("program"), call.get("limits"), call.get("check")
    wanted = {field.name for field in fields(Limits)}
    if not isinstance(given, dict) or not isinstance(limits, dict) or set(limits) != wanted:
        raise ValueError("no program, or other limits")
    if not all(type(value) in (int, float) and value > 0 for value in limits.values()):
        raise ValueError("limits that are no numbers")
    bounds = Limits(**limits)
    bounds = replace(
        bounds,
        wall_seconds=min(bounds.wall_seconds, LONGEST_RUN),
        cpu_seconds=min(bounds.cpu_seconds, LONGEST_RUN),
    )
    texts = [given.get("source"), given.get("stdin"), given.get("language"), *(check or ())]
    if not all(isinstance(text, str) for text in texts) or len(texts) not in (3, 5):
        raise ValueError("a program that is no text")
    try:
        program = Program(**{**given, "args": tuple(wire.decode(given.get("args")))})
    except (TypeError, wire.MalformedFrame) as error:
        raise ValueError(str(error)) from error
    try:
        if check is None:
            outcome = sandbox.run(program, bounds)
        else:
            checker, entry_point = check
            outcome = sandbox.run_check(program, checker, entry_point, bounds)
    except (ServiceError, UserError) as error:
        return {"error": str(error), "user": isinstance(error, UserError)}
    return {"outcome": {**_by_name(outcome), "value": wire.encode(outcome.value)}}


def _by_name(of: Program | Limits | Outcome) -> dict[str, Any]:
    return {field.name: getattr(of, field.name) for field in fields(of)}
