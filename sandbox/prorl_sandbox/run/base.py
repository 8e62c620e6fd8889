"""What every backend shares: a program becomes boxes' jobs, their messages become an Outcome.

``BoxSandbox`` leaves to a backend only how boxes are made and ended.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from prorl_common import Closing, UserError
from prorl_sandbox.environments.store import STDLIB_ONLY, Environment
from prorl_sandbox.run.cancelling import cancellable
from prorl_sandbox.run.cases import Account
from prorl_sandbox.run.compiling import ArtifactCache, check_call, compile_job, exec_job
from prorl_sandbox.run.conversation import NO_PACKAGES, Box, Job, Packages
from prorl_sandbox.run.files import check_files
from prorl_sandbox.run.plans import (
    Boxes,
    Plan,
    When,
    plan_check,
    plan_compilation,
    plan_job,
    plan_program,
)
from prorl_sandbox.run.projects import Projects
from prorl_sandbox.run.ranges import check_limits
from prorl_sandbox.run.session import BoxSession, SessionBox, session_job
from prorl_sandbox.run.turns import Turns, run_fairly
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import (
    Budget,
    Call,
    Case,
    Check,
    Limits,
    Outcome,
    Program,
    Project,
    ProjectOutcome,
    Stdin,
)

_DEFAULT_LIMITS = Limits()
_CHECKER_FRAME = 16 * 1024 * 1024
_LONGEST_SOURCE = 4 * 1024 * 1024
_BYTE_ORDER_MARK = "\ufeff"


class BoxSandbox(Closing, ABC):
    """Implements ``Sandbox`` over boxes of any kind. Thread-safe if ``_boxes`` is."""

    isolation: str

    def __init__(self, isolation: str, sessions: int) -> None:
        """``sessions``: how many may be open at once."""
        self.isolation = isolation
        self._artifacts = ArtifactCache()
        self._environments = {STDLIB_ONLY.name: STDLIB_ONLY}
        self._most_sessions = sessions
        self._places = threading.BoundedSemaphore(sessions)
        self._sessions: weakref.WeakSet[SessionBox] = weakref.WeakSet()
        self._projects = Projects(self._run_job, self._one_box, self._packages, isolation)

    @abstractmethod
    def _boxes(self, jobs: Sequence[Job], when: When) -> AbstractContextManager[Boxes]:
        """Start a box for each job at once, and see to it that all are gone afterwards.

        ``when``: "free", wait while none is; "alone", wait while any other box of this sandbox
        runs, and none is started before the end; "now", raise NoneFree unless boxes are free and
        nobody waits for one. Raises SandboxError.
        """

    @abstractmethod
    def _are_free(self, count: int) -> bool:
        """Tell whether so many boxes are free and nobody waits for one."""

    @abstractmethod
    def _session_box(self, job: Job) -> AbstractContextManager[Box]:
        """Start a box that takes no run's place; see to it that it is gone afterwards.

        There are at most ``sessions`` of them. Raises SandboxError.
        """

    @abstractmethod
    def _environment(self, name: str) -> Environment:
        """Return an environment that is built where boxes run. Raises UserError with the cure."""

    def check_environment(self, name: str) -> None:
        """Raise UserError, with the cure, unless programs can have this environment here."""
        self._find(name)

    def _find(self, name: str) -> Environment:
        found = self._environments.get(name)
        if found is None:
            found = self._environments[name] = self._environment(name)
        return found

    def _packages(self, environment: str, source: str) -> Packages:
        """Return what a box has that runs ``source``, a program's or its checker's."""
        if environment == STDLIB_ONLY.name:
            return NO_PACKAGES
        found = self._find(environment)
        return Packages(found.name, found.folder, found.preload_for(source))

    @abstractmethod
    def close(self) -> None:
        """Kill every box of this sandbox; runs in other threads raise SandboxError."""

    def open_session(
        self,
        limits: Limits = _DEFAULT_LIMITS,
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> BoxSession:
        """Open a session in a box of its own; see ``Sandbox.open_session``."""
        check_limits(limits)
        check_limits(replace(limits, wall_seconds=total_seconds, cpu_seconds=idle_seconds))
        job = session_job(limits, total_seconds, self._packages(environment, ""))
        box = SessionBox(self._placed(job), self.isolation, idle_seconds, total_seconds)
        self._sessions.add(box)
        return BoxSession(box, limits)

    def run_project(self, project: Project, limits: Limits = _DEFAULT_LIMITS) -> ProjectOutcome:
        """Build, run and test a project; see ``Sandbox.run_project``."""
        check_limits(limits)
        return self._projects.run(project, limits)

    def _run_job(self, job: Job) -> tuple[Outcome, dict[str, Any] | None]:
        """See one job to its end; return its outcome and what its harness said."""
        said: list[dict[str, Any] | None] = []
        plan = plan_job(job, self.isolation, said.append)
        return run_fairly(plan, job.limits, self._boxes), said[-1]

    @contextlib.contextmanager
    def _one_box(self, job: Job) -> Iterator[Box]:
        """Start a box in its turn among those of runs."""
        with self._boxes([job], "free") as made, cancellable(made.boxes):
            yield made.boxes[0]

    @contextlib.contextmanager
    def _placed(self, job: Job) -> Iterator[Box]:
        """Start a session's box if there is a place for one."""
        if not self._places.acquire(blocking=False):
            raise UserError(
                f"{self._most_sessions} sessions are open, the most for this sandbox: close one, or "
                "open the sandbox with more (sessions=...)"
            )
        try:
            with self._session_box(job) as box:
                yield box
        finally:
            self._places.release()

    def _close_sessions(self) -> None:
        """End every session; a message under way in another thread raises SessionEndedError."""
        for box in list(self._sessions):
            box.close("the sandbox was closed")

    def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """Run one program in a fresh box; see ``Sandbox.run``.

        Raises SandboxError when the sandbox fails, UserError for arguments that cannot be sent and
        for a language that is not installed.
        """
        case: Case = Stdin(program.stdin)
        if program.call is not None:
            case = Call(program.call, program.args)
        return next(self.run_cases(program, [case], limits))

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Outcome:
        """Run ``checker`` against the program, each in its own box; see ``Sandbox.run_check``.

        Both share one wall and one processor-time budget; the other limits hold for each. Raises
        SandboxError, and CheckerError (a UserError) when the checker itself is at fault. Arguments
        travel by value: what the submission does to a list is not seen by the checker.
        """
        return next(self.run_cases(program, [Check(checker, entry_point)], limits))

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = _DEFAULT_LIMITS,
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run the cases of one submission, each in a fresh box; see ``Sandbox.run_cases``."""
        check_limits(limits)
        program = replace(program, source=program.source.removeprefix(_BYTE_ORDER_MARK))
        turns = Turns(
            cases,
            Account(budget, limits),
            lambda case, left: self._plan(program, case, left),
            self._boxes,
            self._are_free,
        )
        return turns.outcomes(self.isolation)

    def _plan(self, program: Program, case: Case, limits: Limits) -> Plan | Outcome:
        """Return what a case needs, or its outcome where it is known before it runs."""
        if (refused := too_long(program.source, self.isolation)) is not None:
            return refused
        match case:
            case Stdin(text=stdin):
                program = replace(program, stdin=stdin, call=None, args=())
                return self._plan_program(program, limits)
            case Call(name=name, args=args):
                return self._plan_program(replace(program, call=name, args=args), limits)
            case Check():
                return self._plan_check(program, case, limits)

    def _plan_program(self, program: Program, limits: Limits) -> Plan | Outcome:
        files = check_files(program.files, limits.scratch_mb, "files of a program")
        spec = LANGUAGES.get(program.language)
        if spec.run is None:
            mode = "main" if program.call is None else "serve"
            stdin = program.stdin.encode("utf-8", "replace")
            job = Job(
                mode,
                program.source,
                limits,
                program.call,
                stdin,
                frame_cap=limits.output_kb * 1024,
                packages=self._packages(program.environment, program.source),
                files=files,
            )
            return plan_program(job, program, self.isolation)
        if program.call is not None:
            check_call(program.call, spec)
        if program.environment != STDLIB_ONLY.name:
            raise UserError(f"an environment needs Python: {program.language} has none")
        artifact: bytes | Outcome = program.source.encode("utf-8", "replace")
        if spec.compile:
            artifact = self._compile(program, spec, files)
        if isinstance(artifact, Outcome):
            return artifact
        run = replace(exec_job(program, spec, artifact, limits), files=files)
        return plan_program(run, program, self.isolation)

    def _compile(
        self, program: Program, spec: LanguageSpec, files: Mapping[str, bytes]
    ) -> bytes | Outcome:
        """Return what to execute, or the Outcome of a compilation that failed."""
        known = self._artifacts.get(program)
        if known is not None:
            return known
        job = replace(compile_job(program, spec), files=files)
        plan = plan_compilation(job, program, self.isolation)
        outcome = run_fairly(plan, job.limits, self._boxes)
        if outcome.status != "ok":
            return outcome
        artifact: bytes = outcome.value
        self._artifacts.put(program, artifact)
        return artifact

    def _plan_check(self, program: Program, case: Check, limits: Limits) -> Plan:
        if LANGUAGES.get(program.language).run is not None:
            raise UserError(f"a check needs Python: {program.language} programs run with stdin")
        cap = limits.output_kb * 1024
        stdin = program.stdin.encode("utf-8", "replace")
        own, theirs = (
            self._packages(program.environment, text) for text in (program.source, case.source)
        )
        submission = Job(
            "serve",
            program.source,
            limits,
            case.entry_point,
            stdin,
            frame_cap=cap,
            packages=own,
            files=check_files(program.files, limits.scratch_mb, "files of a program"),
        )
        check = Job("check", case.source, limits, frame_cap=_CHECKER_FRAME, packages=theirs)
        return plan_check(submission, check, self.isolation)


def machine_is_busy() -> bool:
    """Tell whether more threads of this machine want to run than it has processors (the load of the
    last minute)."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def too_long(source: str, isolation: str) -> Outcome | None:
    """Return the outcome of a source beyond all measure, None for every other."""
    if len(source) <= _LONGEST_SOURCE:
        return None
    text = f"the source is longer than {_LONGEST_SOURCE} characters\n"
    return Outcome("compile-error", stderr=text, isolation=isolation)
