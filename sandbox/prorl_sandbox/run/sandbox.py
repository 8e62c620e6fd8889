"""Base class of all sandboxes."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal

from prorl_common import Closing, UserError
from prorl_sandbox.environments.store import STDLIB_ONLY, Environment
from prorl_sandbox.run.case import others_may_be_why, run_plan
from prorl_sandbox.run.compiling import ArtifactCache, plan_compilation, plan_compiled
from prorl_sandbox.run.conversation import (
    Box,
    Boxes,
    BoxLostError,
)
from prorl_sandbox.run.places import NoneFree, When
from prorl_sandbox.run.plan import (
    LONGEST_SOURCE,
    NO_PACKAGES,
    Job,
    Packages,
    Plan,
    plan_check,
    plan_python,
)
from prorl_sandbox.run.session import BoxSession, session_job
from prorl_sandbox.spec import LANGUAGES, LanguageSpec, check_call
from prorl_sandbox.types import (
    Budget,
    Call,
    Case,
    Check,
    Limits,
    Outcome,
    Program,
    Stdin,
    check_limits,
)

_DEFAULT_LIMITS = Limits()
_BYTE_ORDER_MARK = "\ufeff"
_MOST_AHEAD = 8
_SOON_SECONDS = 0.5


class BoxSandbox(Closing, ABC):
    """Base class that implements ``Sandbox`` and sessions. Subclasses start the processes."""

    isolation: str

    def __init__(self, isolation: str, sessions: int) -> None:
        self.isolation = isolation
        self._artifacts = ArtifactCache()
        self._environments = {STDLIB_ONLY.name: STDLIB_ONLY}
        self._most_sessions = sessions
        self._places = threading.BoundedSemaphore(sessions)
        self._sessions: weakref.WeakSet[BoxSession] = weakref.WeakSet()

    @abstractmethod
    def _boxes(self, jobs: Sequence[Job], when: When) -> AbstractContextManager[Boxes]:
        """Start one process per job; stop all at the end of the ``with`` block. Raises NoneFree, SandboxError."""

    @abstractmethod
    def _are_free(self, count: int) -> bool: ...

    @abstractmethod
    def _session_box(self, job: Job) -> AbstractContextManager[Box]:
        """Start a process for a session; stop it at the end of the ``with`` block. Raises SandboxError."""

    @abstractmethod
    def _environment(self, name: str) -> Environment:
        """Return an environment. Raises UserError with the fix if it is not available."""

    @abstractmethod
    def close(self) -> None:
        """Kill all programs. Calls in other threads raise SandboxError."""

    def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """See ``Sandbox.run``. Raises UserError if an argument is unsupported or the language is not installed."""
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
        """See ``Sandbox.run_check``. Raises CheckerError for a broken checker.

        The checker and the program share the wall and CPU limits. Arguments are copied.
        """
        return next(self.run_cases(program, [Check(checker, entry_point)], limits))

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = _DEFAULT_LIMITS,
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        check_limits(limits)
        program = replace(program, source=program.source.removeprefix(_BYTE_ORDER_MARK))
        return _Turns(self, program, cases, Account(budget, limits)).outcomes()

    def _plan(self, program: Program, case: Case, limits: Limits) -> Plan | Outcome:
        if len(program.source) > LONGEST_SOURCE:
            text = f"the source is longer than {LONGEST_SOURCE} characters\n"
            return Outcome("compile-error", stderr=text, isolation=self.isolation)
        spec = LANGUAGES.get(program.language)
        match case:
            case Check():
                if spec.run is not None:
                    raise UserError(
                        f"a check can only test Python: test {program.language} programs with stdin and stdout"
                    )
                packages_of_program, packages_of_check = (
                    self._packages(program.environment, source)
                    for source in (program.source, case.source)
                )
                return plan_check(program, case, limits, packages_of_program, packages_of_check)
            case Stdin(text=stdin):
                program = replace(program, stdin=stdin, call=None, args=())
            case Call(name=name, args=args):
                program = replace(program, call=name, args=args)
        if spec.run is None:
            packages = self._packages(program.environment, program.source)
            call = case if isinstance(case, Call) else None
            return plan_python(program, limits, packages, call)
        if isinstance(case, Call) and case != Call(case.name, case.args):
            raise UserError(
                "keyword arguments, method calls and in-place calls are supported only for Python"
            )
        if program.call is not None:
            check_call(program.call, spec)
        if program.environment != STDLIB_ONLY.name:
            raise UserError(
                f"environments of packages are available only for Python, not for {program.language}"
            )
        artifact = self._artifact(program, spec, limits)
        if isinstance(artifact, Outcome):
            return artifact
        return plan_compiled(program, spec, artifact, limits)

    def _artifact(self, program: Program, spec: LanguageSpec, limits: Limits) -> bytes | Outcome:
        if not spec.compile:
            return program.source.encode("utf-8", "replace")
        artifact = self._artifacts.get(program)
        if artifact is None:
            plan = plan_compilation(program, spec, limits)
            outcome = self._run_fairly(plan, plan.job.limits)
            if outcome.status != "ok":
                return outcome
            artifact = outcome.value
            assert artifact is not None
            self._artifacts.put(program, artifact)
        return artifact

    def _packages(self, name: str, source: str) -> Packages:
        if name == STDLIB_ONLY.name:
            return NO_PACKAGES
        self.check_environment(name)
        environment = self._environments[name]
        return Packages(environment.name, environment.folder, environment.preload_for(source))

    def check_environment(self, name: str) -> None:
        if name not in self._environments:
            self._environments[name] = self._environment(name)

    def _run_fairly(self, plan: Plan, limits: Limits, when: When = "free") -> Outcome:
        """Run a plan. Repeat it alone if other programs may have caused a timeout. Raises SandboxError."""
        try:
            with self._boxes(plan.jobs, when) as made:
                outcome = self._run(plan, made)
        except BoxLostError:
            if when == "alone":
                raise
            return self._run_fairly(plan, limits, "alone")
        if when == "free" and others_may_be_why(outcome, limits):
            return self._run_fairly(plan, limits, "alone")
        return outcome

    def _run(self, plan: Plan, made: Boxes) -> Outcome:
        return run_plan(plan, made, self.isolation)

    def open_session(
        self,
        limits: Limits = _DEFAULT_LIMITS,
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> BoxSession:
        check_limits(limits)
        check_limits(replace(limits, wall_seconds=total_seconds, cpu_seconds=idle_seconds))
        job = session_job(limits, total_seconds, self._packages(environment, ""))
        held = self._placed(job)
        session = BoxSession(held, limits, self.isolation, idle_seconds, total_seconds)
        self._sessions.add(session)
        return session

    @contextlib.contextmanager
    def _placed(self, job: Job) -> Iterator[Box]:
        if not self._places.acquire(blocking=False):
            raise UserError(
                f"{self._most_sessions} sessions are open, the maximum of this sandbox: close one, or "
                "open the sandbox with more (sessions=...)"
            )
        try:
            with self._session_box(job) as box:
                yield box
        finally:
            self._places.release()

    def _close_sessions(self) -> None:
        for session in list(self._sessions):
            session.close("the sandbox was closed")


def machine_is_busy() -> bool:
    return os.getloadavg()[0] > (os.cpu_count() or 1)


class Account:
    """The remaining time budget of a submission. Waiting does not count."""

    def __init__(self, budget: Budget | None, limits: Limits) -> None:
        self._limits = limits
        self._cpu = budget.cpu_seconds if budget is not None else float("inf")
        self._wall = budget.wall_seconds if budget is not None else float("inf")

    @property
    def spent(self) -> bool:
        return self._cpu <= 0 or self._wall <= 0

    def limits(self) -> Limits:
        return replace(
            self._limits,
            cpu_seconds=min(self._limits.cpu_seconds, self._cpu),
            wall_seconds=min(self._limits.wall_seconds, self._wall),
        )

    def covers(self, outcome: Outcome) -> bool:
        wall = outcome.wall_seconds - outcome.waited_seconds
        return outcome.cpu_seconds <= self._cpu and wall <= self._wall

    def charge(self, outcome: Outcome) -> Outcome:
        """Deduct a case's time from the budget. Returns the outcome, with ``over_budget`` if the budget is used up."""
        if outcome.status == "compile-error":
            return outcome
        cut_short = (outcome.limit == "cpu" and self._cpu <= self._limits.cpu_seconds) or (
            outcome.limit == "wall" and self._wall <= self._limits.wall_seconds
        )
        self._cpu -= outcome.cpu_seconds
        self._wall -= outcome.wall_seconds - outcome.waited_seconds
        if not cut_short and self._cpu >= 0 and self._wall >= 0:
            return outcome
        limit = outcome.limit or ("cpu" if self._cpu < 0 else "wall")
        if limit == "cpu":
            self._cpu = 0.0
        else:
            self._wall = 0.0
        return replace(outcome, status="timeout", limit=limit, over_budget=True)

    def nothing_left(self, isolation: str) -> Outcome:
        """Return the outcome of a case that is not run because the budget is used up."""
        limit: Literal["wall", "cpu"] = "cpu" if self._cpu <= 0 else "wall"
        return Outcome("timeout", limit=limit, isolation=isolation, over_budget=True)


@dataclass(slots=True)
class _Ahead:
    """A test case that was started early. With a NoneFree error as ``result`` (no process was free), it is run again."""

    limits: Limits
    result: Outcome | Exception | None = None


class _Turns:
    """Runs the cases of a submission and yields outcomes in order. After a fast case, threads start others early."""

    def __init__(
        self, sandbox: BoxSandbox, program: Program, cases: Sequence[Case], account: Account
    ) -> None:
        self._sandbox = sandbox
        self._program = program
        self._cases = cases
        self._account = account
        self._changed = threading.Condition()
        self._turn = 0
        self._next = 0  # the first case that has not been started
        self._ahead: dict[int, _Ahead] = {}
        self._helpers: list[threading.Thread] = []
        self._running: list[Box] = []
        self._over = False

    def outcomes(self) -> Generator[Outcome, None, None]:
        soon = False
        try:
            for number, case in enumerate(self._cases):
                if self._account.spent:
                    self._end_helpers()
                    yield self._account.nothing_left(self._sandbox.isolation)
                    continue
                self._turn = number
                if soon:
                    self._get_help()
                outcome = self._take_turn(case, self._account.limits())
                soon = outcome.wall_seconds < _SOON_SECONDS
                with self._changed:
                    outcome = self._account.charge(outcome)
                yield outcome
        finally:
            self._end_helpers()

    def _take_turn(self, case: Case, left: Limits) -> Outcome:
        when: When = "free"
        with self._changed:
            self._next = max(self._next, self._turn + 1)
            ahead = self._ahead.pop(self._turn, None)
            if ahead is not None:
                self._changed.wait_for(lambda: ahead.result is not None)
        if ahead is not None and not isinstance(ahead.result, NoneFree):
            assert ahead.result is not None
            if isinstance(ahead.result, BoxLostError):
                when = "alone"
            elif isinstance(ahead.result, Exception):
                raise ahead.result
            elif others_may_be_why(ahead.result, ahead.limits):
                when = "alone"
            elif ahead.limits == left or self._account.covers(ahead.result):
                return ahead.result
            # It was started with a larger budget, but only the budget left now counts.
        plan = self._sandbox._plan(self._program, case, left)
        if isinstance(plan, Outcome):
            return plan
        return self._sandbox._run_fairly(plan, left, when)

    def _get_help(self) -> None:
        self._helpers = [one for one in self._helpers if one.is_alive()]
        needs_box = self._turn not in self._ahead
        more = self._turn + 1 + len(self._ahead) < len(self._cases)
        if more and self._sandbox._are_free(1 + needs_box):
            helper = threading.Thread(target=self._help, daemon=True)
            self._helpers.append(helper)
            helper.start()

    def _help(self) -> None:
        while True:
            with self._changed:
                number = max(self._next, self._turn + 1)
                near = number < min(len(self._cases), self._turn + 1 + _MOST_AHEAD)
                if not near or self._over or self._account.spent:
                    return
                self._next = number + 1
                ahead = self._ahead[number] = _Ahead(self._account.limits())
            try:
                result: Outcome | Exception = self._run_ahead(number, ahead.limits)
            except Exception as error:  # noqa: BLE001 - raised at its turn
                result = error
            with self._changed:
                ahead.result = result
                self._changed.notify_all()
            if isinstance(result, Exception):
                return

    def _run_ahead(self, number: int, limits: Limits) -> Outcome:
        plan = self._sandbox._plan(self._program, self._cases[number], limits)
        if isinstance(plan, Outcome):
            return plan
        with self._sandbox._boxes(plan.jobs, "now") as made:
            with self._changed:
                if self._over:
                    raise NoneFree
                self._running += made.boxes
            try:
                return self._sandbox._run(plan, made)
            finally:
                with self._changed:
                    self._running = [box for box in self._running if box not in made.boxes]

    def _end_helpers(self) -> None:
        with self._changed:
            self._over = True
            for box in self._running:
                box.kill("closed")
        while self._helpers:
            self._helpers.pop().join()
