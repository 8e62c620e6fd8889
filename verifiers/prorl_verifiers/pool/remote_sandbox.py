"""The sandbox for a verifier of others, which lives in a worker: the worker asks, the pool's process runs.

Frames from the worker: {"event": "sandbox", "program", "check": [checker, entry_point] or null, "limits"};
the answer: {"outcome"} or {"error", "user"}. Values travel as the sandbox's own tagged JSON. Nothing that
the worker asks for is believed: it has read model text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_sandbox import Budget, Case, Limits, Outcome, Program, Sandbox

Exchange = Callable[[dict[str, Any]], dict[str, Any]]
"""Sends a frame to the pool's process and returns its answer."""
LONGEST_RUN = 600.0
"""Seconds that one item's programs may run together; waiting for a box and compiling do not count."""


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

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits | None = None,
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run the cases of one submission; see ``Sandbox.run_cases``."""
        from prorl_sandbox import Limits
        from prorl_sandbox.run.cases import one_by_one

        return one_by_one(self, program, cases, limits or Limits(), budget)

    def check_environment(self, name: str) -> None:
        """Do nothing: who asks for an environment that is not there hears it from ``run``."""

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


def run_for_worker(sandbox: Sandbox, call: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Run what a worker asks for, for at most ``seconds``, and return the answer's frame.

    Raises ValueError for what is no call.
    """
    from prorl_sandbox.box import wire

    try:
        program, check, limits = _read_call(call, seconds)
    except Exception as error:  # whatever a hostile frame makes of the reading
        raise ValueError(f"{type(error).__name__}: {error}"[:300]) from error
    try:
        if check is None:
            outcome = sandbox.run(program, limits)
        else:
            outcome = sandbox.run_check(program, *check, limits)
        return {"outcome": {**_by_name(outcome), "value": wire.encode(outcome.value)}}
    except Exception as error:  # noqa: BLE001 - the verifier gets it; the item ends as infra_error
        return {
            "error": f"{type(error).__name__}: {error}"[:500],
            "user": isinstance(error, UserError),
        }


def _read_call(
    call: Mapping[str, Any], seconds: float
) -> tuple[Program, tuple[str, str] | None, Limits]:
    from prorl_sandbox import Limits, Program
    from prorl_sandbox.box import wire

    given, limits, check = call["program"], call["limits"], call["check"]
    most = _by_name(Limits(seconds, seconds, 8192, 65536, 256, 1024))
    if set(limits) != set(most) or not all(
        type(n) in (int, float) and n > 0 for n in limits.values()
    ):
        raise ValueError("limits that are none")
    bounds = Limits(**{name: min(limits[name], most[name]) for name in most})
    texts = [given["source"], given["stdin"], given["language"], *([] if check is None else check)]
    if not all(isinstance(text, str) for text in texts) or len(texts) not in (3, 5):
        raise ValueError("a program that is no text")
    program = Program(**{**given, "args": tuple(wire.decode(given["args"]))})
    return program, None if check is None else (texts[3], texts[4]), bounds


def _by_name(of: Program | Limits | Outcome) -> dict[str, Any]:
    return {field.name: getattr(of, field.name) for field in fields(of)}
