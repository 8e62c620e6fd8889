"""Validates tasks before responses are scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_common import UnknownNameError, UserError
from prorl_common.frames import read_json
from prorl_verifiers.parts import MODES, parts_of, tasks_in, without_modes
from prorl_verifiers.spec import VERIFIERS, VerifierSpec
from prorl_verifiers.types import Reference, Task, TaskError, check_turn, without_turn


def no_isolation() -> str | None:
    """Return why programs cannot be isolated on this machine and how to fix it, or None if they can."""
    from prorl_sandbox import no_isolation

    return no_isolation()


def default_backend() -> str:
    from prorl_sandbox import default_backend

    return default_backend()


def task_of(value: Any) -> Task:
    """Create a task from {"verifier", "reference"}, given as an object or as JSON. Raises TaskError."""
    if isinstance(value, str):
        try:
            value = read_json(value.encode(), nan=True)
        except ValueError as error:
            raise TaskError(f"the task is {error}") from error
    if not isinstance(value, Mapping) or not {"verifier", "reference"} <= set(value):
        raise TaskError(
            'the task must be an object {"verifier": ..., "reference": ...} or its JSON'
        )
    return load_task(str(value["verifier"]), value["reference"])


def load_task(verifier: str, reference: Reference | str) -> Task:
    """Create a task and check it. ``reference`` is an object or its JSON string.

    Raises TaskError for an unknown verifier or mode or a malformed reference, or PluginError if a plug-in fails.
    """
    try:
        spec = VERIFIERS.get(verifier)
    except UnknownNameError as error:
        raise TaskError(str(error)) from error
    if isinstance(reference, str):
        try:
            reference = read_json(reference.encode(), nan=True)
        except ValueError as error:
            raise TaskError(f"{verifier}: the reference is {error}") from error
    if not isinstance(reference, Mapping):
        raise TaskError(f"{verifier}: the reference must be a JSON object")
    try:
        if spec.modes and "mode" in reference:
            check_mode(spec, reference["mode"])
        if spec.is_environment:
            spec.check_reference(without_turn(check_turn(reference)))
        elif spec.compose is None:
            spec.check_reference(reference)
        else:
            _check_composed(spec, reference)
    except (TaskError, ValueError) as error:
        raise TaskError(f"{verifier}: {error}") from error
    try:
        json.dumps(reference)
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskError(f"{verifier}: the reference is not JSON ({error})") from error
    return Task(verifier, reference)


def _check_composed(spec: VerifierSpec, reference: Reference) -> None:
    spec.check_reference(without_modes(reference))
    modes = reference.get(MODES, {})
    if not isinstance(modes, Mapping):
        raise TaskError(f"{MODES!r} must be an object that maps verifiers to modes")
    try:
        check_modes(modes)
    except UnknownNameError as error:
        raise TaskError(f"{MODES!r}: {error}") from error
    names: set[str] = set()
    for part in parts_of(Task(spec.name, reference)):
        try:
            if VERIFIERS.get(part.task.verifier).compose is not None:
                raise TaskError(
                    f"{part.task.verifier} is a composed verifier, which cannot be a part: list its parts instead"
                )
            if VERIFIERS.get(part.task.verifier).is_environment:
                raise TaskError(f"{part.task.verifier} is an environment, which cannot be a part")
            load_task(part.task.verifier, part.task.reference)
        except (UnknownNameError, TaskError) as error:
            raise TaskError(f"part {part.name!r}: {error}") from error
        if part.name in names:
            raise TaskError(f"two parts are called {part.name!r}: give each its own 'name'")
        names.add(part.name)
    if not names:
        raise TaskError("the task has no parts")


def part_records(tasks: Iterable[Task]) -> list[dict[str, str]]:
    """Return the name, source and version of each plug-in that scores these tasks."""
    names, needed = set(), {}
    for task in tasks:
        names.add(task.verifier)
        for one in tasks_in(task):
            names.add(one.verifier)
            for record in VERIFIERS.get(one.verifier).needs_of(one.reference).parts:
                needed[record["group"], record["name"]] = dict(record)
    return [*VERIFIERS.records(names), *(needed[key] for key in sorted(needed))]


def renewed_records(
    recorded: Iterable[Mapping[str, str]], tasks: Iterable[Task]
) -> list[dict[str, str]]:
    """Return ``recorded`` with the current versions of all plug-ins that score tasks."""
    from prorl_sandbox import LANGUAGES

    current = part_records(tasks)
    renewed = {VERIFIERS.group, LANGUAGES.group, *(record["group"] for record in current)}
    return [*current, *(dict(record) for record in recorded if record["group"] not in renewed)]


def check_mode(spec: VerifierSpec, mode: Any) -> None:
    """Raise TaskError for an unknown mode."""
    if mode not in spec.modes:
        options = " or ".join(spec.modes) or "none"
        raise TaskError(f"unknown mode {mode!r} of {spec.name}: use {options}")


def check_modes(modes: Mapping[str, str]) -> None:
    """Raise UserError for an unknown verifier or mode."""
    for verifier, mode in modes.items():
        check_mode(VERIFIERS.get(verifier), mode)


def parse_modes(pairs: str | Sequence[str]) -> dict[str, str]:
    """Parse ``math=either,logic=reference``, or a list of such pairs. Raises UserError."""
    modes = {}
    for pair in pairs.split(",") if isinstance(pairs, str) else pairs:
        if not pair.strip():
            continue
        verifier, equals, mode = pair.partition("=")
        if not equals:
            raise UserError(f"mode {pair.strip()!r}: write VERIFIER=MODE, like math=either")
        modes[verifier.strip()] = mode.strip()
    check_modes(modes)
    return modes


def with_mode(task: Task, modes: Mapping[str, str]) -> Task:
    """Return the task with its mode in ``modes``, which maps verifiers to modes. Raises TaskError.

    Modes in the reference take precedence. A composed task gets the modes of its parts.
    """
    added: dict[str, Any] = {}
    if task.verifier in modes and "mode" not in task.reference:
        added["mode"] = modes[task.verifier]
    open_parts = {p.task.verifier for p in parts_of(task) if "mode" not in p.task.reference}
    if of_parts := {name: modes[name] for name in sorted(open_parts & modes.keys())}:
        added[MODES] = {**task.reference.get(MODES, {}), **of_parts}
    return load_task(task.verifier, {**task.reference, **added}) if added else task
