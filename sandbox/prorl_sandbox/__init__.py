"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.base import check_limits
from prorl_sandbox.batch import Answer, AsyncSandbox, Request, run_async, run_batch
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
    "Answer",
    "AsyncSandbox",
    "Capabilities",
    "CheckerError",
    "IsolationError",
    "LanguageError",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Program",
    "Request",
    "Sandbox",
    "SandboxError",
    "check_limits",
    "open_sandbox",
    "probe",
    "run_async",
    "run_batch",
]
