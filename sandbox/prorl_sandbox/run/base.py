"""What every backend shares: a program becomes boxes' jobs, their messages become an Outcome.

``BoxSandbox`` leaves to a backend only how boxes are made and ended.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from prorl_common import Closing, UserError
from prorl_sandbox.environments.store import STDLIB_ONLY, Environment
from prorl_sandbox.run.cases import Account
from prorl_sandbox.run.compiling import ArtifactCache, compile_job, exec_job
from prorl_sandbox.run.conversation import NO_PACKAGES, Job, Packages
from prorl_sandbox.run.plans import (
    Boxes,
    Plan,
    When,
    plan_check,
    plan_compilation,
    plan_program,
)
from prorl_sandbox.run.turns import Turns
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import Budget, Call, Case, Check, Limits, Outcome, Program, Stdin

_DEFAULT_LIMITS = Limits()
_CHECKER_FRAME = 16 * 1024 * 1024
_LONGEST_SOURCE = 4 * 1024 * 1024
_BYTE_ORDER_MARK = "\ufeff"
_RANGES: dict[str, tuple[float, float]] = {
    "wall_seconds": (0.0, 86_400.0),
    "cpu_seconds": (0.0, 86_400.0),
    "memory_mb": (16, 1 << 20),
    "output_kb": (1, 1 << 20),
    "processes": (1, 4096),
    "scratch_mb": (1, 1 << 16),
}


class BoxSandbox(Closing, ABC):
    """Implements ``Sandbox`` over boxes of any kind. Thread-safe if ``_boxes`` is."""

    isolation: str

    def __init__(self, isolation: str) -> None:
        self.isolation = isolation
        self._artifacts = ArtifactCache()
        self._environments = {STDLIB_ONLY.name: STDLIB_ONLY}

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

    def _packages(self, program: Program, source: str) -> Packages:
        """Return what a box has that runs ``source``, the program's or its checker's."""
        if program.environment == STDLIB_ONLY.name:
            return NO_PACKAGES
        found = self._find(program.environment)
        return Packages(found.name, found.folder, found.preload_for(source))

    @abstractmethod
    def close(self) -> None:
        """Kill every box of this sandbox; runs in other threads raise SandboxError."""

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
    ) -> Iterator[Outcome]:
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
        if len(program.source) > _LONGEST_SOURCE:
            return self._too_long()
        match case:
            case Stdin(text=stdin):
                program = replace(program, stdin=stdin, call=None, args=())
                return self._plan_program(program, limits)
            case Call(name=name, args=args):
                return self._plan_program(replace(program, call=name, args=args), limits)
            case Check():
                return self._plan_check(program, case, limits)

    def _plan_program(self, program: Program, limits: Limits) -> Plan | Outcome:
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
                packages=self._packages(program, program.source),
            )
            return plan_program(job, program, self.isolation)
        if program.call is not None:
            raise UserError(f"a call needs Python: {program.language} programs run with stdin")
        if program.environment != STDLIB_ONLY.name:
            raise UserError(f"an environment needs Python: {program.language} has none")
        artifact: bytes | Outcome = program.source.encode("utf-8", "replace")
        if spec.compile:
            artifact = self._compile(program, spec)
        if isinstance(artifact, Outcome):
            return artifact
        return plan_program(exec_job(program, spec, artifact, limits), program, self.isolation)

    def _too_long(self) -> Outcome:
        text = f"the source is longer than {_LONGEST_SOURCE} characters\n"
        return Outcome("compile-error", stderr=text, isolation=self.isolation)

    def _compile(self, program: Program, spec: LanguageSpec) -> bytes | Outcome:
        """Return what to execute, or the Outcome of a compilation that failed."""
        known = self._artifacts.get(program)
        if known is not None:
            return known
        plan = plan_compilation(compile_job(program, spec), program, self.isolation)
        with self._boxes(plan.jobs, "free") as made:
            outcome = plan.run(made)
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
        own, theirs = (self._packages(program, text) for text in (program.source, case.source))
        submission = Job(
            "serve",
            program.source,
            limits,
            case.entry_point,
            stdin,
            frame_cap=cap,
            packages=own,
        )
        check = Job("check", case.source, limits, frame_cap=_CHECKER_FRAME, packages=theirs)
        return plan_check(submission, check, self.isolation)


def machine_is_busy() -> bool:
    """Tell whether more threads of this machine want to run than it has processors (the load of the
    last minute)."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def check_limits(limits: Limits) -> None:
    """Raise UserError for a limit that is no number in its range."""
    for name, (low, high) in _RANGES.items():
        value = getattr(limits, name)
        kinds = (int, float) if name.endswith("_seconds") else (int,)
        number = type(value) in kinds and math.isfinite(value)
        if not number or value <= 0 or not low <= value <= high:
            least = f"from {low:g}" if low else "above 0 and up"
            whole = "" if float in kinds else "a whole number "
            raise UserError(f"limit {name} must be {whole}{least} to {high:,.0f}, not {value}")
