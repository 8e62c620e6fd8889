"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.types import (
    STATUSES,
    IsolationError,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxError,
)

__all__ = [
    "STATUSES",
    "IsolationError",
    "Limits",
    "Outcome",
    "Program",
    "Sandbox",
    "SandboxError",
]
