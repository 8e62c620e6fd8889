"""Run an untrusted program under limits and say what happened."""

from prorl_sandbox.capabilities import (
    BACKENDS,
    Capabilities,
    check_backend,
    default_backend,
    no_isolation,
    open_sandbox,
    probe,
)
from prorl_sandbox.local.sandbox import LocalSandbox
from prorl_sandbox.run.compiling import LanguageError
from prorl_sandbox.run.judging import CheckerError
from prorl_sandbox.run.ranges import check_limits
from prorl_sandbox.spec import LANGUAGES, Harness, LanguageSpec, Trial, find_language
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
    "BACKENDS",
    "LANGUAGES",
    "STATUSES",
    "Budget",
    "Call",
    "Capabilities",
    "Case",
    "Check",
    "CheckerError",
    "Harness",
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
    "Trial",
    "check_backend",
    "check_limits",
    "default_backend",
    "find_language",
    "no_isolation",
    "open_sandbox",
    "probe",
]
