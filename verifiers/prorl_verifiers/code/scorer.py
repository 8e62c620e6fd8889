"""The code verifier, whose reward is the fraction of tests that the last code block passes.

Each test runs in its own sandbox, which never contains the expected result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from prorl_common import ServiceError
from prorl_verifiers.code.compare import first_difference, same_output, same_value
from prorl_verifiers.code.reference import (
    CallTest,
    CheckTest,
    CodeReference,
    CodeTest,
    StdioTest,
    read_reference,
)
from prorl_verifiers.extract import last_code_block
from prorl_verifiers.findings import listening, note, written
from prorl_verifiers.types import MAX_ANSWER, Verdict, VerdictStatus

if TYPE_CHECKING:
    from prorl_sandbox import Case, Outcome, Sandbox


WALL_SECONDS_A_SECOND = 2.0
"""Limit of wall seconds per second of the CPU budget."""
_LONGEST_CODE = 2000
"""Maximum characters of code in a verdict."""


class JudgeError(ServiceError):
    """Raised if a judge fails, even on the expected output."""


def score_code(text: str, reference: Mapping[str, Any], sandbox: Sandbox) -> Verdict:
    """Run the last code block of ``text`` on every test.

    Without a code block the verdict is ``unparsable``; code that does not compile gets 0. All tests together may run
    for ``limits.total_seconds`` of CPU time and twice that wall time. Beyond that the verdict is ``timeout`` or, with
    ``limits.partial``, partial credit. Raises JudgeError, SandboxError, or UserError for a missing compiler.
    """
    from prorl_sandbox import Budget, Program

    task = read_reference(reference)
    source = last_code_block(text, task.language.marks, task.names)
    if source is None or not source.strip():
        return Verdict(0.0, "unparsable", f"no closed {task.language.title} code block")
    if len(source) > MAX_ANSWER * 4:
        return Verdict(0.0, "unparsable", "the code is too long", source[:_LONGEST_CODE])
    explaining = listening()
    if explaining:
        at = text.rfind(source)
        fields = {"found in": f"the last {task.language.title} block", "code": source}
        note("answer", None, fields, span=(at, at + len(source)) if at >= 0 else None)
    submission = Program(
        source,
        environment=task.environment,
        language=task.language.name,
        prelude=task.prelude,
    )
    total_seconds = task.limits.total_seconds
    budget = Budget(total_seconds, total_seconds * WALL_SECONDS_A_SECOND)
    cases = [_case(test) for test in task.tests]
    passed, over, compiles, isolation = 0, False, True, ""
    failures: list[str] = []
    outcomes = sandbox.run_cases(submission, cases, task.limits.per_test, budget)
    with contextlib.closing(outcomes):
        for number, (test, outcome) in enumerate(zip(task.tests, outcomes, strict=True), start=1):
            isolation = outcome.isolation or sandbox.isolation
            compiles, over = outcome.status != "compile-error", outcome.over_budget
            right = compiles and not over and _passes(test, outcome, task, sandbox)
            if explaining:
                note_test(number, right, test, outcome, task.judge)
            if not compiles or over:
                break
            if right:
                passed += 1
            else:
                failures.append(f"test {number}: {_failure(outcome)}")
                if task.binary:
                    break
    total = len(task.tests)
    if explaining and number < total:
        note(f"{total - number} of {total} tests were not run")
    reward = float(passed == total) if task.binary else passed / total
    reason = f"{passed} of {total} tests passed"
    if not compiles:
        why = f": {outcome.hint}" if outcome.hint else ""
        reward, reason = 0.0, f"the code does not compile{why}"
    elif over:
        reward = reward if task.limits.partial else 0.0
        clock = f"processor time, or {total_seconds * WALL_SECONDS_A_SECOND:g} s by the clock,"
        reason += f"; more than {total_seconds:g} s of {clock} in total"
    elif failures:
        reason += f"; {failures[0]}"
    metrics = {
        "tests": float(total),
        "passed": float(passed if compiles else 0),
        "all_passed": float(passed == total),
    }
    status: VerdictStatus = "timeout" if over and not task.limits.partial else "scored"
    return Verdict(reward, status, reason, source[:_LONGEST_CODE], isolation, metrics)


def _case(test: CodeTest) -> Case:
    from prorl_sandbox import Call, Check, Stdin

    match test:
        case StdioTest(stdin=stdin):
            return Stdin(stdin)
        case CallTest(call=call, args=args, kwargs=kwargs, then=then, in_place=in_place):
            return Call(call, args, kwargs, then, in_place)
        case CheckTest(source=checker, entry_point=entry_point):
            return Check(checker, entry_point)


def _passes(test: CodeTest, outcome: Outcome, task: CodeReference, sandbox: Sandbox) -> bool:
    if outcome.status != "ok":
        return False
    match test:
        case StdioTest():
            if task.judge is not None:
                return judge_accepts(task.judge, test, outcome.stdout, sandbox)
            return same_output(test.stdout, outcome.stdout)
        case CallTest(expected=expected, from_json=from_json, wrapped=wrapped):
            same = same_value(expected, outcome.value, from_json)
            return same or (wrapped and same_value(expected[0], outcome.value, from_json))
        case CheckTest():
            return True


def judge_accepts(name: str, test: StdioTest, stdout: str, sandbox: Sandbox) -> bool:
    """Return whether the judge called ``name`` accepts ``stdout``. The judge runs in its own sandbox.

    Raises JudgeError if the judge fails on ``stdout`` and on the expected output, or SandboxError.
    """
    verdict, _ = _ask_judge(name, test, stdout, sandbox)
    if verdict is None:
        expected, failure = _ask_judge(name, test, test.stdout, sandbox)
        if expected is None:
            raise JudgeError(f"judge {name!r} {failure}")
    return verdict is True


def _ask_judge(
    name: str, test: StdioTest, stdout: str, sandbox: Sandbox
) -> tuple[bool | None, str]:
    from prorl_sandbox import Limits, Program

    source = Path(__file__).with_name("judges.py").read_text(encoding="utf-8")
    program = Program(source, call=name, args=(test.stdin, stdout, test.stdout))
    outcome = sandbox.run(program, Limits(wall_seconds=20.0, cpu_seconds=10.0, memory_mb=1024))
    if outcome.status != "ok":
        return None, f"failed: {_failure(outcome)}"
    if outcome.value is not True and outcome.value is not False:
        return None, "returned neither True nor False"
    return outcome.value, ""


def _failure(outcome: Outcome) -> str:
    if outcome.status == "ok":
        return "wrong answer"
    why = outcome.limit or outcome.hint
    return f"{outcome.status} ({why})" if why else outcome.status


def note_test(
    number: int, passed: bool, test: CodeTest, outcome: Outcome, judge: str | None
) -> None:
    seconds = (
        f"{outcome.wall_seconds:.3f} s by the clock, {outcome.cpu_seconds:.3f} s of processor time"
    )
    run: dict[str, object] = {
        "status": outcome.status,
        "why": outcome.limit or outcome.hint or None,
        "budget": "the budget of all tests is used up" if outcome.over_budget else None,
        "time": seconds,
        "standard error": outcome.stderr or None,
    }
    note(f"test {number}", passed, {**_comparison(test, outcome, judge), **run})


def _comparison(test: CodeTest, outcome: Outcome, judge: str | None) -> Mapping[str, object]:
    ended = outcome.status == "ok"
    match test:
        case StdioTest(stdin=stdin, stdout=stdout):
            rule = "line by line, without white space at their ends"
            return {
                "input": stdin,
                "expected": stdout,
                "got": outcome.stdout,
                "compared": rule if judge is None else f"by the judge {judge}",
                "differs first in": None if judge else first_difference(stdout, outcome.stdout),
            }
        case CallTest(call=call, args=args, kwargs=kwargs, expected=expected, from_json=from_json):
            inputs = [written(arg, repr) for arg in args]
            inputs += [f"{name}={written(arg, repr)}" for name, arg in kwargs.items()]
            methods = [
                f".{name}({', '.join(written(arg, repr) for arg in args)})"
                for name, args in test.then or ()
            ]
            return {
                "input": f"{call}({', '.join(inputs)})" + "; ".join(methods),
                "expected": written(expected, repr),
                "got": written(outcome.value, repr) if ended else None,
                "printed": outcome.stdout or None,
                "compared": "as JSON values, by type" if from_json else "with Python's ==",
            }
        case CheckTest(source=source):
            return {"check": source, "printed": outcome.stdout or None}
    assert_never(test)
