"""Projects: a build, a run and pytest's tests of several files, each in boxes of its own.

What a build leaves comes out of its box as untrusted bytes and is laid into the next one. Tests are
collected in a box without the submission; which there are, and what their code is, is known from there.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, get_args

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run.compiling import COMPILE_LIMITS, LanguageError
from prorl_sandbox.run.conversation import Box, Job, Packages
from prorl_sandbox.run.files import MOST_BYTES, check_files
from prorl_sandbox.run.session import BoxSession, SessionBox, session_job
from prorl_sandbox.spec import BINARY, LANGUAGES, Command
from prorl_sandbox.types import (
    Limits,
    Outcome,
    Project,
    ProjectOutcome,
    SessionEndedError,
    TestResult,
    TestStatus,
)

Message = Mapping[str, Any] | None
_PYTHONS = ("python", "python3")
_COLLECT_LIMITS = Limits(wall_seconds=60.0, cpu_seconds=30.0, output_kb=4096)
_CHANGED_LIMITS = Limits(wall_seconds=5.0, cpu_seconds=5.0, output_kb=4096)
_TEST_PROCESSES = 2  # the interpreter that has collected and the one it was forked from
_BOX_SECONDS = 3600.0
_STATUSES: tuple[str, ...] = get_args(TestStatus)
_MOST_COLLECTED = 256


@dataclass(frozen=True, slots=True)
class _Collected:
    """The tests of one file as they are without the submission: digests of their code by name, those
    of all functions beside them, and the callables that pytest and the tests themselves change."""

    tests: Mapping[str, str]
    code: Mapping[str, str]
    changed: frozenset[str]


class Projects:
    """Runs projects in the boxes of a sandbox. Thread-safe."""

    def __init__(
        self,
        run_job: Callable[[Job], tuple[Outcome, Message]],
        box: Callable[[Job], AbstractContextManager[Box]],
        packages: Callable[[str, str], Packages],
        isolation: str,
    ) -> None:
        """``run_job`` sees one job to its end; ``box`` starts a session's box, waiting for its turn;
        ``packages`` says what an environment has for a source."""
        self._run_job, self._box, self._packages = run_job, box, packages
        self._isolation = isolation
        self._collected: OrderedDict[str, _Collected] = OrderedDict()

    def run(self, project: Project, limits: Limits) -> ProjectOutcome:
        """Build, run and test a project. Raises UserError, SandboxError."""
        files = check_files(project.files, limits.scratch_mb, "files of a project")
        tests = check_files(project.tests, limits.scratch_mb, "tests of a project")
        built = run = None
        if project.build:
            built, found = self._build(project, files)
            if found is None:
                return ProjectOutcome(built)
            files |= found
        if project.run:
            run = self._run(project, files, limits)
        results = tuple(self._test(project, files, tests, limits)) if tests else ()
        return ProjectOutcome(built, run, results)

    def _build(
        self, project: Project, files: Mapping[str, bytes]
    ) -> tuple[Outcome, dict[str, bytes] | None]:
        """Return the outcome of the build command and all files that are then there."""
        spec = LANGUAGES.get(project.language)
        memory_mb = max(COMPILE_LIMITS.memory_mb, spec.least_memory_mb)
        job = Job(
            "build",
            "",
            replace(COMPILE_LIMITS, memory_mb=memory_mb),
            frame_cap=2 * MOST_BYTES + 1024,
            command=_command(project, project.build),
            files=files,
        )
        outcome, message = self._run_job(job)
        _require_tool(project.build, message)
        if outcome.status != "ok" or message is None:
            return outcome, None
        try:
            found = wire.decode(message.get("v"))
            if not isinstance(found, dict):
                raise wire.MalformedFrame("no files")
            return outcome, check_files(found, MOST_BYTES, "what the build has made")
        except (wire.MalformedFrame, UserError) as error:
            text = f"{outcome.stderr}{error}\n"
            return replace(outcome, status="compile-error", stderr=text), None

    def _run(self, project: Project, files: Mapping[str, bytes], limits: Limits) -> Outcome:
        first = str(PurePosixPath(project.run[0]))
        stdin = project.stdin.encode("utf-8", "replace")
        if first in _PYTHONS and LANGUAGES.get(project.language).run is None:
            argv = project.run[1:]
            if not argv or argv[0] not in files:
                raise UserError(f"'run' of a project: {first} needs the name of one of its files")
            source = files[argv[0]].decode("utf-8", "replace")
            packages = self._packages(project.environment_name, source)
            job = Job("main", source, limits, stdin=stdin, packages=packages)
            return self._run_job(replace(job, files=files, argv=argv))[0]
        spec = LANGUAGES.get(project.language)
        limits = replace(limits, memory_mb=max(limits.memory_mb, spec.least_memory_mb))
        job = Job("exec", "", limits, stdin=stdin, files=files, file=BINARY)
        if first in files:  # what was built; it cannot be executed where it lies
            argv = ("{program}", *project.run[1:])
            command = replace(_command(project, argv), tools=())
            job = replace(job, artifact=files[first], command=command)
        else:
            job = replace(job, command=_command(project, project.run))
        outcome, message = self._run_job(job)
        _require_tool(project.run, message)
        return outcome

    def _test(
        self,
        project: Project,
        files: Mapping[str, bytes],
        tests: Mapping[str, bytes],
        limits: Limits,
    ) -> Iterator[TestResult]:
        """Yield a result for every test that there is without the submission."""
        names = [name for name in tests if _holds_tests(name)]
        if not names:
            raise UserError("tests of a project: no file is called test_*.py or *_test.py")
        texts = [*tests.values(), *(text for name, text in files.items() if name.endswith(".py"))]
        source = b"\n".join([b"import pytest", *texts]).decode("utf-8", "replace")
        packages = self._packages(project.environment_name, source)
        collected = self._collect(tests, names, _modules(files), packages)
        for name in names:
            yield from self._test_file(name, collected[name], tests, files, packages, limits)

    def _collect(
        self,
        tests: Mapping[str, bytes],
        names: Sequence[str],
        stubs: Sequence[str],
        packages: Packages,
    ) -> dict[str, _Collected]:
        """Return what tests there are in each file, seen without the submission."""
        facts = [[name, hashlib.sha256(text).hexdigest()] for name, text in sorted(tests.items())]
        key = json.dumps([facts, stubs, packages.folder])
        keys = {name: f"{name} {key}" for name in names}
        found = {name: one for name in names if (one := self._collected.get(keys[name]))}
        missing = [name for name in names if name not in found]
        if missing:
            with self._session(_COLLECT_LIMITS, packages) as session:
                for name in missing:
                    order = {"tests": dict(tests), "file": name, "files": None, "stubs": stubs}
                    fork = session.fork()
                    outcome = fork.ask({"k": "collect"} | order, _COLLECT_LIMITS)
                    fork.close()
                    found[name] = self._collected[keys[name]] = _trusted(name, outcome, packages)
            while len(self._collected) > _MOST_COLLECTED:
                self._collected.popitem(last=False)
        return found

    def _test_file(
        self,
        name: str,
        collected: _Collected,
        tests: Mapping[str, bytes],
        files: Mapping[str, bytes],
        packages: Packages,
        limits: Limits,
    ) -> Iterator[TestResult]:
        """Yield the results of a file's tests. One that ends the box has the rest run in another."""
        order = {"k": "collect", "tests": dict(tests), "file": name, "files": dict(files)}
        left = list(collected.tests)
        while left:
            with self._session(limits, packages) as session:
                outcome = session.ask(order, limits)
                trouble = _trouble_of_collecting(outcome, collected)
                if trouble:
                    yield from (TestResult(test, "error", trouble) for test in left)
                    return
                while left and session.ended is None:
                    test = left.pop(0)
                    yield _run_test(session, test, collected, limits)

    @contextmanager
    def _session(self, limits: Limits, packages: Packages) -> Iterator[BoxSession]:
        roomy = replace(limits, processes=limits.processes + _TEST_PROCESSES)
        held = self._box(session_job(roomy, _BOX_SECONDS, packages))
        box = SessionBox(held, self._isolation, _BOX_SECONDS, _BOX_SECONDS)
        with BoxSession(box, roomy) as session:
            yield session


def _run_test(session: BoxSession, test: str, collected: _Collected, limits: Limits) -> TestResult:
    """Run a test in a fork of the session that has collected it."""
    try:
        with session.fork() as fork:
            order = {"k": "test", "test": test, "digest": collected.tests[test]}
            outcome = fork.ask(order | {"code": dict(collected.code)}, limits)
            if not isinstance(outcome.value, dict) or outcome.status != "ok":
                return TestResult(test, "error", _unusual(outcome))
            status = outcome.value.get("status")
            message = outcome.value.get("message")
            if status not in _STATUSES or not isinstance(message, str):
                return TestResult(test, "error", "its result was made up")
            seen = fork.ask({"k": "changed"}, _CHANGED_LIMITS)
    except SessionEndedError as error:
        return TestResult(test, "error", str(error))
    if seen.status != "ok" or not isinstance(seen.value, list):
        return TestResult(test, "error", f"after its result: {_unusual(seen)}")
    changed = _beyond(seen.value, collected)
    if changed:
        return TestResult(test, "error", changed)
    return TestResult(test, status, message)


def _trusted(name: str, outcome: Outcome, packages: Packages) -> _Collected:
    """Return a collection without the submission; raises UserError when there is none."""
    value = outcome.value
    if outcome.status != "ok" or not isinstance(value, dict):
        why = outcome.stderr.strip().splitlines()[-1:] or [_unusual(outcome)]
        hint = (
            f" (environment {packages.environment} has no pytest)" if "'pytest'" in why[0] else ""
        )
        raise UserError(f"{name} cannot be collected: {why[0]}{hint}")
    if value["broken"] or not value["tests"]:
        lines = str(value["broken"]).strip().splitlines() or ["it holds no test"]
        raise UserError(f"{name} cannot be collected without the submission: {lines[-1]}")
    return _Collected(value["tests"], value["code"], frozenset(value["changed"]))


def _trouble_of_collecting(outcome: Outcome, collected: _Collected) -> str:
    """Return why a file's tests cannot be run with the submission, '' if they can."""
    value = outcome.value
    if outcome.status != "ok" or not isinstance(value, dict):
        return f"when it was collected: {_unusual(outcome)}"
    if value.get("broken"):
        return str(value["broken"])
    changed = value.get("changed")
    return _beyond(changed, collected) if isinstance(changed, list) else "its tests were made up"


def _beyond(changed: Sequence[Any], collected: _Collected) -> str:
    """Return which callables the submission alone has changed, in words; '' for none."""
    found = [str(one) for one in changed if one not in collected.changed]
    return f"the submission has changed {', '.join(found[:5])}" if found else ""


def _unusual(outcome: Outcome) -> str:
    """Return in words how a process ended that gave no result."""
    limit = f" ({outcome.limit} limit)" if outcome.limit else ""
    code = f", exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    last = outcome.stderr.strip().splitlines()[-1:]
    status = "it ended without a result" if outcome.status == "ok" else outcome.status
    return ": ".join([f"{status}{limit}{code}", *last])[:1000]


def _holds_tests(name: str) -> bool:
    stem = PurePosixPath(name)
    return stem.suffix == ".py" and (stem.name.startswith("test_") or stem.stem.endswith("_test"))


def _modules(files: Mapping[str, bytes]) -> list[str]:
    """Return the names of the modules and packages that a submission brings."""
    found = set()
    for name in files:
        path = PurePosixPath(name.removeprefix("src/"))
        if path.suffix == ".py":
            found.add(path.parts[0].removesuffix(".py"))
    return sorted(found)


def _command(project: Project, argv: tuple[str, ...]) -> Command:
    spec = LANGUAGES.get(project.language)
    environment = dict(spec.environment)
    return Command(
        argv,
        (argv[0],),
        "",
        environment,
        spec.folders,
        needed=spec.tools,
        packages=spec.packages,
    )


def _require_tool(argv: tuple[str, ...], message: Message) -> None:
    """Raise LanguageError when a box says that a command is not installed there."""
    if message is not None and message["k"] == "missing":
        raise LanguageError(
            f"{argv[0]!r} is not installed where boxes run, nor a file of the project"
        )
