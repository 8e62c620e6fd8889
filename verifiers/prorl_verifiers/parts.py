"""The parts of composed tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.types import Reference, Task, TaskError, TaskPart

MODES = "modes"
"""Key of a composed reference: {verifier: mode} for parts without a mode."""


def without_modes(reference: Reference) -> Reference:
    return {key: value for key, value in reference.items() if key != MODES}


def parts_of(task: Task) -> Sequence[TaskPart]:
    """Return the parts of a composed task, including their modes, or () for other tasks. Raises TaskError."""
    compose = VERIFIERS.get(task.verifier).compose
    if compose is None:
        return ()
    modes = task.reference.get(MODES) or {}
    try:
        parts = []
        for part in compose.parts(without_modes(task.reference)):
            inner = part.task
            mode = modes.get(inner.verifier)
            if mode is not None and "mode" not in inner.reference:
                inner = replace(inner, reference={**inner.reference, "mode": mode})
            parts.append(replace(part, task=inner))
        return parts
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # mistakes of a plug-in
        raise TaskError(
            f"the parts of the {task.verifier} task cannot be made: {type(error).__name__}: {error}"
        ) from error


def tasks_in(task: Task) -> Sequence[Task]:
    """Return the tasks of a task's parts, or the task itself if it has no parts. Raises TaskError."""
    if VERIFIERS.get(task.verifier).compose is None:
        return (task,)
    return [part.task for part in parts_of(task)]


def runs_programs(task: Task) -> bool:
    """Return whether scoring this task runs the response as a program. Raises UnknownNameError, TaskError."""
    return any(VERIFIERS.get(one.verifier).score_in_sandbox is not None for one in tasks_in(task))
