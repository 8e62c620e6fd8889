"""What is asked of a sandbox elsewhere, and what it answers: JSON objects, one codec for all who ask.

A submission is {"program", "cases", "limits", "budget"}, a project's run {"project", "limits"}. The answers of
a submission come in order, one a case: {"outcome": ...}; a project's one is {"project": ...}. An error is
{"error": text, "kind": ...}, and the last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from prorl_common import Closing, UserError
from prorl_sandbox.remote import codec
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.run.compiling import LanguageError
from prorl_sandbox.run.judging import CheckerError
from prorl_sandbox.types import (
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
    SessionEndedError,
    Stdin,
    ToolSandbox,
)

_DEFAULT_LIMITS = Limits()
_LONGEST_ERROR = 2000
_ERRORS: dict[str, type[Exception]] = {
    "check": CheckerError,
    "language": LanguageError,
    "isolation": IsolationError,
    "session": SessionEndedError,
    "user": UserError,
    "sandbox": SandboxError,
}
"""What a sandbox raises, by the name under which it crosses; a class stands before what it is derived from."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A program, its cases, the limits of each and the budget of all; see ``Sandbox.run_cases``."""

    program: Program
    cases: tuple[Case, ...]
    limits: Limits
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class ProjectRun:
    """A project and its limits; see ``ToolSandbox.run_project``."""

    project: Project
    limits: Limits


Asked = Submission | ProjectRun


def pack_asked(asked: Asked) -> dict[str, Any]:
    """Return the JSON object of what is asked. Raises UserError for arguments that cannot cross."""
    limits = codec.pack(asked.limits)
    match asked:
        case Submission(program=program, cases=cases, budget=budget):
            return {
                "program": codec.pack(program),
                "cases": [codec.pack_case(case) for case in cases],
                "limits": limits,
                "budget": None if budget is None else codec.pack(budget),
            }
        case ProjectRun(project=project):
            return {"project": codec.pack(project), "limits": limits}
        case _:
            assert_never(asked)


def read_asked(found: object) -> Asked:
    """Return what a JSON object asks for. Raises MalformedError."""
    if isinstance(found, dict) and set(found) == {"project", "limits"}:
        return ProjectRun(
            codec.read(Project, found["project"]), codec.read(Limits, found["limits"])
        )
    return read_submission(found)


def read_submission(found: object) -> Submission:
    """Return the submission of a JSON object. Raises MalformedError."""
    if not isinstance(found, dict) or set(found) != {"program", "cases", "limits", "budget"}:
        raise MalformedError("a submission is an object of program, cases, limits and budget")
    cases, budget = found["cases"], found["budget"]
    if not isinstance(cases, list) or not cases:
        raise MalformedError("cases: must be a list of at least one")
    return Submission(
        codec.read(Program, found["program"]),
        tuple(codec.read_case(case) for case in cases),
        codec.read(Limits, found["limits"]),
        None if budget is None else codec.read(Budget, budget),
    )


def answers(sandbox: ToolSandbox, asked: Asked) -> Iterator[dict[str, Any]]:
    """Do what is asked and yield the answers; see ``answers_of_cases``."""
    match asked:
        case Submission():
            yield from answers_of_cases(sandbox, asked)
        case ProjectRun(project=project, limits=limits):
            try:
                yield {"project": codec.pack(sandbox.run_project(project, limits))}
            except tuple(_ERRORS.values()) as error:
                yield pack_error(error)
        case _:
            assert_never(asked)


def answers_of_cases(sandbox: Sandbox, submission: Submission) -> Iterator[dict[str, Any]]:
    """Run a submission and yield its answers; what the sandbox raises on purpose is the last of them.

    Every other exception is a bug and is raised.
    """
    parts = (submission.program, submission.cases, submission.limits, submission.budget)
    try:
        for outcome in sandbox.run_cases(*parts):
            yield {"outcome": codec.pack_outcome(outcome)}
    except tuple(_ERRORS.values()) as error:
        yield pack_error(error)


def pack_error(error: Exception) -> dict[str, Any]:
    """Return the answer that an error makes; what is not the user's to mend is the sandbox's fault."""
    kinds = [kind for kind, of in _ERRORS.items() if isinstance(error, of)]
    text = str(error) if kinds else f"{type(error).__name__}: {error}"
    return {"error": text[:_LONGEST_ERROR], "kind": kinds[0] if kinds else "sandbox"}


def read_answer(found: dict[str, Any]) -> Outcome | ProjectOutcome:
    """Return what an answer holds. Raises the error that it is, or MalformedError."""
    if set(found) == {"outcome"}:
        return codec.read_outcome(found["outcome"])
    if set(found) == {"project"}:
        return codec.read(ProjectOutcome, found["project"])
    text, kind = found.get("error"), found.get("kind")
    if set(found) != {"error", "kind"} or not isinstance(text, str) or kind not in _ERRORS:
        raise MalformedError("an answer is an outcome, or an error and its kind")
    raise _ERRORS[kind](text[:_LONGEST_ERROR])


def read_outcome(found: dict[str, Any]) -> Outcome:
    """Return the outcome of a case's answer. Raises the error that it is, or MalformedError."""
    outcome = read_answer(found)
    if not isinstance(outcome, Outcome):
        raise MalformedError("a project's outcome where a program's is due")
    return outcome


class AskingSandbox(Closing, ABC):
    """Implements ``Sandbox`` over one that is elsewhere: to run programs is to ask for a submission."""

    isolation: str

    @abstractmethod
    def _ask(self, submission: Submission) -> Generator[Outcome, None, None]:
        """Yield the outcomes of a submission, in order. Raises what a sandbox raises."""

    def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """Run one program in a fresh box; see ``Sandbox.run``."""
        case: Case = Stdin(program.stdin)
        if program.call is not None:
            case = Call(program.call, program.args)
        bare = replace(program, stdin="", call=None, args=())
        return next(self.run_cases(bare, [case], limits))

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Outcome:
        """Run a test against a submission; see ``Sandbox.run_check``."""
        return next(self.run_cases(program, [Check(checker, entry_point)], limits))

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = _DEFAULT_LIMITS,
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run the cases of one submission; see ``Sandbox.run_cases``."""
        if not cases:
            nothing: tuple[Outcome, ...] = ()
            return (outcome for outcome in nothing)
        return self._ask(Submission(program, tuple(cases), limits, budget))
