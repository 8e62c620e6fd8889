"""The code verifier: the last Python block against its tests, in the sandbox; reward = share of tests passed.

Every test of the list counts, one box a test. Nothing expected enters the submission's box. Limits:
each test gets the sandbox's limits, and all tests together ``total_seconds`` (30 unless the reference's
``limits`` says otherwise) of box wall time; tests beyond that budget count as failed. ProRL's own rule (0
for more than 5 s in total) is ``{"total_seconds": 5, "zero_over_total": true}``. A submission that does not
compile is a scored 0; a response without a code block is ``unparsable``.

Leaves out: retries and verdicts (``pool``); other languages than Python. The submission is never parsed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from prorl_verifiers.code_compare import same_output, same_value
from prorl_verifiers.code_tests import CallTest, CheckTest, CodeTest, StdioTest, read_tests
from prorl_verifiers.extract import last_code_block
from prorl_verifiers.score import MAX_ANSWER, Score, unparsable
from prorl_verifiers.types import TaskError

if TYPE_CHECKING:
    from prorl_sandbox import Limits, Outcome, Sandbox

DEFAULT_TOTAL_SECONDS = 30.0
_OWN_LIMITS = ("total_seconds", "zero_over_total")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one test and of all tests together (seconds of box wall time)."""

    per_test: Limits
    total_seconds: float = DEFAULT_TOTAL_SECONDS
    zero_over_total: bool = False


def read_budget(reference: Mapping[str, Any]) -> Budget:
    """Return the limits of a code reference. Raises TaskError for unknown or non-positive ones."""
    from prorl_sandbox import Limits

    given = reference.get("limits") or {}
    if not isinstance(given, Mapping):
        raise TaskError("'limits' must be an object")
    known = {field.name for field in fields(Limits)}
    for name, value in given.items():
        if name not in known and name not in _OWN_LIMITS:
            raise TaskError(
                f"unknown limit {name!r}: use {', '.join(sorted(known) + list(_OWN_LIMITS))}"
            )
        number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if name != "zero_over_total" and not number:
            raise TaskError(f"limit {name!r} must be a number above 0")
    per_test = replace(Limits(), **{name: given[name] for name in known & given.keys()})
    total = float(given.get("total_seconds", DEFAULT_TOTAL_SECONDS))
    return Budget(per_test, total, bool(given.get("zero_over_total", False)))


def score_code(text: str, reference: Mapping[str, Any], sandbox: Sandbox) -> Score:
    """Run the last code block of ``text`` on every test. Raises what the sandbox raises."""
    tests = read_tests(reference)
    budget = read_budget(reference)
    source = last_code_block(text)
    if source is None or not source.strip():
        return unparsable("no closed Python code block")
    if len(source) > MAX_ANSWER * 4:
        return unparsable("the code is too long", source)
    passed, used, over = 0, 0.0, False
    failures: list[str] = []
    for number, test in enumerate(tests, start=1):
        left = budget.total_seconds - used
        if left <= 0:
            over = True
            failures.append(
                f"test {number}: not run, the total of {budget.total_seconds:g} s is used up"
            )
            break
        limits = replace(budget.per_test, wall_seconds=min(budget.per_test.wall_seconds, left))
        outcome = _run(test, source, limits, sandbox)
        used += outcome.wall_seconds
        if outcome.status == "compile-error":
            return _score(0, tests, ["the code does not compile"], source)
        if _passes(test, outcome):
            passed += 1
        else:
            failures.append(f"test {number}: {_failure(outcome)}")
    over = over or used > budget.total_seconds
    if over and budget.zero_over_total:
        return _score(0, tests, [f"more than {budget.total_seconds:g} s in total"], source)
    return _score(passed, tests, failures, source)


def _run(test: CodeTest, source: str, limits: Limits, sandbox: Sandbox) -> Outcome:
    from prorl_sandbox import Program

    match test:
        case StdioTest(stdin=stdin):
            return sandbox.run(Program(source, stdin=stdin), limits)
        case CallTest(call=call, args=args):
            return sandbox.run(Program(source, call=call, args=args), limits)
        case CheckTest(source=checker, entry_point=entry_point):
            return sandbox.run_check(Program(source), checker, entry_point, limits)


def _passes(test: CodeTest, outcome: Outcome) -> bool:
    if outcome.status != "ok":
        return False
    match test:
        case StdioTest(stdout=stdout):
            return same_output(stdout, outcome.stdout)
        case CallTest(expected=expected, from_json=from_json):
            return same_value(expected, outcome.value, from_json)
        case CheckTest():
            return True


def _failure(outcome: Outcome) -> str:
    if outcome.status == "ok":
        return "wrong answer"
    return f"{outcome.status} ({outcome.limit})" if outcome.limit else outcome.status


def _score(passed: int, tests: list[CodeTest], failures: list[str], source: str) -> Score:
    total = len(tests)
    metrics = {
        "tests": float(total),
        "passed": float(passed),
        "all_passed": float(passed == total),
    }
    reason = f"{passed} of {total} tests passed"
    if failures:
        reason += f"; {failures[0]}"
    return Score(passed / total, reason, source, metrics=metrics)
