"""``prorl sandbox run`` of a folder: a project, with its build, its run and a result for each test."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_cli.console import print_json, stdout_console
from prorl_cli.sandbox.opening import opened
from prorl_cli.sandbox.outcome import plain, show_outcome, visible
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_sandbox import Limits, TestResult

_SKIPPED = (".git", "__pycache__", ".venv", "node_modules")
_TESTS = "tests"


def run_project(
    folder: Path,
    *,
    build: str | None,
    command: str | None,
    stdin: str,
    language: str,
    environment: str | None,
    limits: Limits,
    backend: str,
    allow_weak: bool,
    as_json: bool,
) -> None:
    """Run a folder's files in boxes and print what came of them. Raises UserError."""
    from prorl_sandbox import Project

    files, tests = _read_folder(folder)
    project = Project(
        files,
        build=tuple(shlex.split(build or "")),
        run=tuple(shlex.split(command or "")),
        stdin=stdin,
        tests=tests,
        language=language,
        environment=environment,
    )
    if not (project.build or project.run or tests):
        raise UserError(f"{folder} holds no tests: say what to do with --build or --command")
    with opened(backend, allow_weak) as sandbox:
        outcome = sandbox.run_project(project, limits)
    steps = (("build", outcome.build), ("run", outcome.run))
    if as_json:
        shown = {
            name: asdict(step) | {"value": plain(step.value)} if step is not None else None
            for name, step in steps
        }
        print_json(shown | {"tests": [asdict(one) for one in outcome.tests]})
        return
    for name, step in steps:
        if step is not None:
            show_outcome(step, f"{name}: ")
    _show_tests(outcome.tests)


def _show_tests(tests: tuple[TestResult, ...]) -> None:
    console = stdout_console()
    for one in tests:
        console.print(f"{one.status:8}{visible(one.name)}", markup=False, soft_wrap=True)
        if one.message and one.status != "skipped":
            text = visible(one.message).rstrip().replace("\n", "\n    ")
            console.print(f"    {text}", markup=False, soft_wrap=True)
    if tests:
        counts = Counter(one.status for one in tests)
        console.print(", ".join(f"{count} {status}" for status, count in counts.items()))


def _read_folder(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a folder by relative name: the submission's, and those of the tests."""
    files: dict[str, str] = {}
    tests: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part in _SKIPPED for part in parts) or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {path} as text: {error}") from error
        (tests if _is_test(parts) else files)["/".join(parts)] = text
    return files, tests


def _is_test(parts: tuple[str, ...]) -> bool:
    name = parts[-1]
    called = name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
    return called or name == "conftest.py" or _TESTS in parts[:-1]
