"""From what a box did to an Outcome: the order in which the statuses take precedence.

A box that never started its program is a fault of the sandbox and raises; everything after the
start is the program's own doing. Compares nothing with anything expected.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any, Literal

from prorl_common import UserError
from prorl_sandbox.environments import missing
from prorl_sandbox.run.conversation import Box, BoxLostError
from prorl_sandbox.types import Outcome, SandboxError, Status

Judgement = tuple[Status, Literal["wall", "cpu"] | None]
Message = Mapping[str, Any]

_KILLED: dict[str, Judgement] = {
    "wall": ("timeout", "wall"),
    "cpu": ("timeout", "cpu"),
    "output": ("output-limit", None),
    "protocol": ("protocol-error", None),
}


class CheckerError(UserError):
    """The trusted test source does not compile, defines no ``check`` or asks the impossible."""


def require_start(box: Box) -> None:
    """Raise SandboxError when the box failed before its program ran, BoxLostError when nobody can say."""
    if box.killed_for == "peer":  # ended early by us, because the box it talks to had ended
        return
    if box.fault is not None:
        raise BoxLostError(f"the sandbox lost a box: {box.fault}")
    if box.started is None and box.end is not None and box.end["oom"]:
        return  # the program alone, its source or its binary, was more than its memory
    if box.started is None:
        last = box.text("stderr").strip().splitlines()[-1:]
        detail = f": {last[0]}" if last else ""
        raise SandboxError(f"a box of the sandbox ended before its program started{detail}")
    if box.killed_for == "closed" and box.end is None:
        raise SandboxError("the sandbox was closed during the run")


def exit_code(box: Box) -> int | None:
    """Return the program's exit code, negative for a signal; None: killed with its box."""
    if box.end is None or box.killed_for is not None:
        return None
    return os.waitstatus_to_exitcode(box.end["status"])


def judge(box: Box, message: Message | None) -> Judgement:
    """Return status and limit of one box, given the last message of its harness."""
    if box.killed_for in _KILLED:
        return _KILLED[box.killed_for]
    if box.end is None:
        return "runtime-error", None
    if box.end["oom"]:
        return "memory", None
    if _seconds(box) - box.waited > box.job.limits.wall_seconds:
        return "timeout", "wall"
    code = os.waitstatus_to_exitcode(box.end["status"])
    if box.end["cpu"] > box.job.limits.cpu_seconds or code == -signal.SIGXCPU:
        return "timeout", "cpu"
    if code == -signal.SIGSYS:
        return "killed-by-policy", None
    if code < 0:
        return "runtime-error", None
    whole = box.job.mode in ("main", "exec") and box.job.call is None
    if whole and code == 0:
        return "ok", None
    kind = message["k"] if message is not None else None
    if message is not None and kind in ("exception", "raise", "failed"):
        return "memory" if message.get("memory") is True else "runtime-error", None
    if kind == "compile-error":
        return "compile-error", None
    if kind == "unserialisable":
        return "unserialisable", None
    if kind == "too-large":
        return "output-limit", None
    if whole:
        return "wrong-exit", None
    answers = ("artifact", "missing") if box.job.mode in ("compile", "build") else ("value",)
    return ("ok" if kind in answers and code == 0 else "runtime-error"), None


def _seconds(box: Box) -> float:
    """Return how long the program ran, until now if it still does."""
    if box.started is None:
        return 0.0
    return (time.monotonic() if box.ended is None else box.ended) - box.started


def outcome(box: Box, judgement: Judgement, isolation: str, value: Any = None) -> Outcome:
    """Return the Outcome of a single box."""
    return Outcome(
        status=judgement[0],
        stdout=box.text("stdout"),
        stderr=box.text("stderr"),
        value=value,
        exit_code=exit_code(box),
        limit=judgement[1],
        wall_seconds=_seconds(box),
        waited_seconds=box.waited,
        cpu_seconds=box.end["cpu"] if box.end is not None else 0.0,
        peak_mb=box.end["peak_kb"] / 1024 if box.end is not None else 0.0,
        isolation=isolation,
        hint=missing.hint(box.text("stderr"), box.job.packages.environment)
        if judgement[0] in ("runtime-error", "wrong-exit")
        else "",
    )
