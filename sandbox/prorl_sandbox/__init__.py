"""Run each untrusted program under limits in a *box* of isolated processes, and report how the program ended."""

from typing import TYPE_CHECKING

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
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
    from prorl_sandbox.spec import LANGUAGES, LanguageSpec, Trial, find_language
    from prorl_sandbox.types import (
        STATUSES,
        Budget,
        Call,
        Case,
        Check,
        CheckerError,
        IsolationError,
        LanguageError,
        Limits,
        Outcome,
        Program,
        Sandbox,
        SandboxError,
        Session,
        SessionEndedError,
        Stdin,
        ToolSandbox,
        check_limits,
    )
else:
    __getattr__, __dir__ = load_on_use(__name__, __file__)

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
    "IsolationError",
    "LanguageError",
    "LanguageSpec",
    "Limits",
    "LocalSandbox",
    "Outcome",
    "Program",
    "Sandbox",
    "SandboxError",
    "Session",
    "SessionEndedError",
    "Stdin",
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
