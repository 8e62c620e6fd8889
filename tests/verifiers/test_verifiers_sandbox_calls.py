from __future__ import annotations

import copy
import json
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox.types import (
    Budget,
    Call,
    Case,
    Check,
    CheckerError,
    IsolationError,
    Limits,
    Outcome,
    Program,
    SandboxError,
    Stdin,
)
from prorl_verifiers.pool.sandbox_calls import (
    MalformedError,
    Submission,
    WorkerCalls,
    WorkerSandbox,
    pack,
    pack_error,
    pack_outcome,
    read,
    read_answer,
)

ARGS = (None, True, 2**200, 1.5, float("inf"), "é\ud800", [1, (2,)], {1: {2, 3}}, b"x", 2j)
CASES: tuple[Case, ...] = (Stdin("\x00ü"), Call("f", ARGS), Check("check", "f"))
PRINTED = Outcome("ok", stdout="1\n")
GOOD = Submission(Program("print(1)", "in"), CASES, Limits(wall_seconds=3, memory_mb=17))


class FakeSandbox:
    """Give the same outcome for each case and record the requests."""

    isolation = "fake"

    def __init__(self, outcome: Outcome | Exception = PRINTED) -> None:
        self.outcome = outcome
        self.submissions: list[Submission] = []

    def run_cases(
        self, program: Program, cases: Sequence[Case], limits: Limits, budget: Budget | None
    ) -> Generator[Outcome, None, None]:
        self.submissions.append(Submission(program, tuple(cases), limits, budget))
        for _ in cases:
            if isinstance(self.outcome, Exception):
                raise self.outcome
            yield self.outcome


def worker_of(sandbox: FakeSandbox) -> WorkerSandbox:
    """Return the worker's side, connected to the pool's by JSON frames."""
    calls: Callable[..., dict[str, Any]] = WorkerCalls(sandbox)  # type: ignore[arg-type]

    def exchange(frame: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(json.dumps(calls(json.loads(json.dumps(frame)), 9.0)))
        return answer

    return WorkerSandbox(exchange, "fake")


def test_values_of_any_kind_cross_and_come_back() -> None:
    sandbox = FakeSandbox(Outcome("ok", value=ARGS, wall_seconds=0.5))
    budget = Budget(2.0, 9.5)
    outcomes = list(worker_of(sandbox).run_cases(GOOD.program, CASES, GOOD.limits, budget))
    assert outcomes == [sandbox.outcome] * 3
    (asked,) = sandbox.submissions
    assert (asked.program, asked.cases, asked.budget) == (GOOD.program, CASES, budget)
    assert (asked.limits.wall_seconds, asked.limits.memory_mb) == (3, 17)


def test_a_call_cannot_take_more_time_or_memory_than_the_pool_allows() -> None:
    sandbox = FakeSandbox()
    greedy = Limits(wall_seconds=500.0, cpu_seconds=500.0, memory_mb=10**6)
    worker_of(sandbox).run(Program("print(1)"), greedy)
    limits = sandbox.submissions[0].limits
    assert (limits.wall_seconds, limits.cpu_seconds, limits.memory_mb) == (9.0, 9.0, 8192)


@pytest.mark.parametrize(
    "error",
    [CheckerError("no"), IsolationError("no"), UserError("no"), SandboxError("no")],
    ids=lambda error: type(error).__name__,
)
def test_what_the_sandbox_raises_is_raised_in_the_worker(error: Exception) -> None:
    with pytest.raises(type(error), match="no"):
        worker_of(FakeSandbox(error)).run(Program("print(1)"))


def test_a_bug_of_the_sandbox_is_an_outage() -> None:
    with pytest.raises(SandboxError, match="ZeroDivisionError"):
        worker_of(FakeSandbox(ZeroDivisionError("x"))).run(Program("print(1)"))


def test_a_call_for_an_answer_that_is_not_due_is_refused() -> None:
    calls = WorkerCalls(FakeSandbox())  # type: ignore[arg-type]
    for wrong in ({"event": "sandbox"}, {"event": "sandbox", "submission": None}):
        with pytest.raises(ValueError):
            calls(wrong, 9.0)


def spoiled(place: str, value: Any) -> dict[str, Any]:
    """Return a valid submission with one part replaced, named like "program.source"."""
    submission = copy.deepcopy(pack(Submission(Program("x"), (Call("f", (1,)),), Limits())))
    part: Any = submission
    *way, last = place.split(".")
    for name in way:
        part = part[int(name)] if isinstance(part, list) else part[name]
    if value is KeyError:
        del part[last]
    else:
        part[last] = value
    return submission


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (7, "is not a submission"),
        (spoiled("program", KeyError), "is not a submission"),
        (spoiled("program.source", 7), "source: must be str"),
        (spoiled("program.source", KeyError), "is not a program"),
        (spoiled("program.more", 1), "is not a program"),
        (spoiled("program.args", {"t": "tuple", "v": []}), "list"),
        (spoiled("program.args", [{"t": "int", "v": "zz"}]), "its value is invalid"),
        (spoiled("program.args", [{"t": "code", "v": []}]), "its value is invalid"),
        (spoiled("cases", []), "at least one"),
        (spoiled("cases", [{"stdin": {"text": 1}}]), "text: must be str"),
        (spoiled("cases", [{"pickle": {}}]), "is not a case"),
        (spoiled("limits.wall_seconds", "1"), "finite number"),
        (spoiled("limits.wall_seconds", 10**400), "finite number"),
        (spoiled("limits.memory_mb", 1.5), "must be int"),
        (spoiled("limits.memory_mb", True), "must be int"),
        (spoiled("budget", {"cpu_seconds": 1}), "is not a budget"),
    ],
)
def test_a_malformed_submission_is_refused_in_a_line(submission: Any, words: str) -> None:
    with pytest.raises(MalformedError, match=words) as caught:
        read(Submission, submission)
    assert "\n" not in str(caught.value)


OK = pack_outcome(Outcome("ok", stdout="1\n"))


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"outcome": OK | {"wall_seconds": "1"}},
        {"outcome": OK | {"status": "great"}},
        {"outcome": OK | {"reward": 1}},
        {"verdict": 1},
        {"error": "x", "kind": "os"},
        {"error": [1], "kind": "user"},
    ],
)
def test_an_answer_that_is_none_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        read_answer(answer)


def test_a_value_that_takes_too_long_to_read_is_the_programs_own_fault() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    outcome = read_answer({"outcome": OK | {"value": deep}})
    assert (outcome.status, outcome.value) == ("protocol-error", None)


def test_an_error_is_cut_to_a_bounded_length() -> None:
    assert len(pack_error(SandboxError("x" * 10**6))["error"]) == 2000
