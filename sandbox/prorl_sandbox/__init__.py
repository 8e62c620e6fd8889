"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.capabilities import Capabilities, open_sandbox, probe
from prorl_sandbox.local.sandbox import LocalSandbox
from prorl_sandbox.run.compiling import LanguageError
from prorl_sandbox.run.judging import CheckerError
from prorl_sandbox.run.ranges import check_limits
from prorl_sandbox.spec import LANGUAGES, LanguageSpec, find_language
from prorl_sandbox.types import (
    STATUSES,
    Budget,
    Call,
    Case,
    Check,
    IsolationError,
    Limits,
    Outcome,
    Program,
    Project,
    ProjectOutcome,
    Sandbox,
    SandboxError,
    Session,
    SessionEndedError,
    Stdin,
    TestResult,
    ToolSandbox,
)

__all__ = [
    "LANGUAGES",
    "STATUSES",
    "Budget",
    "Call",
    "Capabilities",
    "Case",
    "Check",
    "CheckerError",
    "IsolationError",
    "LanguageError",
    "LanguageSpec",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Program",
    "Project",
    "ProjectOutcome",
    "Sandbox",
    "SandboxError",
    "Session",
    "SessionEndedError",
    "Stdin",
    "TestResult",
    "ToolSandbox",
    "check_limits",
    "find_language",
    "open_sandbox",
    "probe",
]
