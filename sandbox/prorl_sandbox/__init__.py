"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.capabilities import Capabilities, open_sandbox, probe
from prorl_sandbox.compiling import LanguageError
from prorl_sandbox.local import LocalSandbox
from prorl_sandbox.types import (
    LANGUAGES,
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
    "LANGUAGES",
    "STATUSES",
    "Capabilities",
    "CheckerError",
    "IsolationError",
    "LanguageError",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Program",
    "Sandbox",
    "SandboxError",
    "open_sandbox",
    "probe",
]
