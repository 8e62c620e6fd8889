"""Turn (response, task) into a verdict that a program decided and anyone can check again."""

from prorl_verifiers.types import VERIFIER_NAMES, Task, TaskError, Verdict, VerdictStatus

__all__ = ["VERIFIER_NAMES", "Task", "TaskError", "Verdict", "VerdictStatus"]
