"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.capabilities import Capabilities, open_sandbox, probe
from prorl_sandbox.local import LocalSandbox
from prorl_sandbox.types import (
    STATUSES,
    IsolationError,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxError,
)
from prorl_sandbox.verdict import CheckerError

__all__ = [
    "STATUSES",
    "Capabilities",
    "CheckerError",
    "IsolationError",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Program",
    "Sandbox",
    "SandboxError",
    "open_sandbox",
    "probe",
]
