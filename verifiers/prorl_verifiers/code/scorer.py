"""The code verifier: the last block in the task's language against its tests; reward = share passed.

Every test counts, one box a test; nothing expected enters the submission's box. ProRL's budget holds: 5 s
of program time for the whole submission (``limits.total_seconds``), over which it earns nothing, or with
``limits.partial`` the tests passed until then. Program time runs from a program's start; queueing, the
making of boxes, compiling and judging do not count. In mode ``binary`` the reward is 1 when every test
passes, else 0, and the first failure ends the run. A submission that does not compile is a scored 0; a
response without a code block is ``unparsable``; one over the budget is ``timeout`` unless partial.

The submission is never parsed here. ``score_code`` raises what it cannot blame on the submission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prorl_common import ServiceError
from prorl_verifiers.code.compare import same_output, same_value
from prorl_verifiers.code.judges import judge_source
from prorl_verifiers.code.reference import CodeReference, read_reference
from prorl_verifiers.code.tests import CallTest, CheckTest, CodeTest, StdioTest
from prorl_verifiers.extract import last_code_block
from prorl_verifiers.types import MAX_ANSWER, Verdict, VerdictStatus

if TYPE_CHECKING:
    from prorl_sandbox import Limits, Outcome, Sandbox

_SHOWN = 2000
"""Characters of the extracted code that a verdict keeps."""


class JudgeError(ServiceError):
    """A special judge failed: its box, its limits or its answer. Says nothing about the submission."""


@dataclass(slots=True)
class _Tally:
    """What the tests of one submission came to so far; ``used`` is program time in seconds."""

    passed: int = 0
    used: float = 0.0
    over: bool = False
    compiles: bool = True
    failures: list[str] = field(default_factory=list)
    isolation: str = ""


def score_code(text: str, reference: Mapping[str, Any], sandbox: Sandbox) -> Verdict:
    """Run the last code block of ``text`` on every test.

    Raises what the sandbox raises (SandboxError; a UserError for a compiler that is not there) and
    JudgeError.
    """
    task = read_reference(reference)
    source = last_code_block(text, task.language.marks)
    if source is None or not source.strip():
        return Verdict(0.0, "unparsable", f"no closed {task.language.title} code block")
    if len(source) > MAX_ANSWER * 4:
        return Verdict(0.0, "unparsable", "the code is too long", source[:_SHOWN])
    tally = _Tally()
    for number, test in enumerate(task.tests, start=1):
        _run_test(number, test, source, task, sandbox, tally)
        if tally.over or not tally.compiles or (task.binary and tally.failures):
            break
    return _verdict(task, tally, source[:_SHOWN])


def _run_test(
    number: int, test: CodeTest, source: str, task: CodeReference, sandbox: Sandbox, tally: _Tally
) -> None:
    """Run one test within what is left of the budget and write down how it went."""
    left = task.budget.total_seconds - tally.used
    if left <= 0:
        tally.over = True
        return
    limits = task.budget.per_test
    bounded = left <= limits.wall_seconds
    outcome = _run(
        test, source, task, replace(limits, wall_seconds=min(limits.wall_seconds, left)), sandbox
    )
    tally.isolation = outcome.isolation or sandbox.isolation
    if outcome.status == "compile-error":
        tally.compiles = False
        return
    tally.used += outcome.wall_seconds
    if tally.used > task.budget.total_seconds or (bounded and outcome.limit == "wall"):
        tally.over = True
    elif _passes(test, outcome, task, sandbox):
        tally.passed += 1
    else:
        tally.failures.append(f"test {number}: {_failure(outcome)}")


def _run(
    test: CodeTest, source: str, task: CodeReference, limits: Limits, sandbox: Sandbox
) -> Outcome:
    from prorl_sandbox import Program

    match test:
        case StdioTest(stdin=stdin):
            return sandbox.run(Program(source, stdin=stdin, language=task.language.name), limits)
        case CallTest(call=call, args=args):
            return sandbox.run(Program(source, call=call, args=args), limits)
        case CheckTest(source=checker, entry_point=entry_point):
            return sandbox.run_check(Program(source), checker, entry_point, limits)


def _passes(test: CodeTest, outcome: Outcome, task: CodeReference, sandbox: Sandbox) -> bool:
    if outcome.status != "ok":
        return False
    match test:
        case StdioTest():
            if task.judge is not None:
                return judge(task.judge, test, outcome.stdout, sandbox)
            return same_output(test.stdout, outcome.stdout)
        case CallTest(expected=expected, from_json=from_json, wrapped=wrapped):
            same = same_value(expected, outcome.value, from_json)
            return same or (wrapped and same_value(expected[0], outcome.value, from_json))
        case CheckTest():
            return True


def judge(name: str, test: StdioTest, stdout: str, sandbox: Sandbox) -> bool:
    """Ask the installed judge ``name``, in a box of its own, whether ``stdout`` is right.

    Raises JudgeError when it fails or returns anything but True or False, SandboxError, and TaskError
    for an unknown name.
    """
    from prorl_sandbox import Limits, Program

    program = Program(judge_source(name), call="check", args=(test.stdin, stdout, test.stdout))
    outcome = sandbox.run(program, Limits(wall_seconds=20.0, cpu_seconds=10.0, memory_mb=1024))
    if outcome.status != "ok":
        raise JudgeError(f"judge {name!r} failed: {_failure(outcome)}")
    if outcome.value is not True and outcome.value is not False:
        raise JudgeError(f"judge {name!r} returned neither True nor False")
    return outcome.value


def _failure(outcome: Outcome) -> str:
    if outcome.status == "ok":
        return "wrong answer"
    return f"{outcome.status} ({outcome.limit})" if outcome.limit else outcome.status


def _verdict(task: CodeReference, tally: _Tally, source: str) -> Verdict:
    total = len(task.tests)
    reward = tally.passed / total
    reason = f"{tally.passed} of {total} tests passed"
    if task.binary:
        reward = float(tally.passed == total)
    if not tally.compiles:
        reward, reason = 0.0, "the code does not compile"
    elif tally.over:
        reward = reward if task.budget.partial else 0.0
        reason += f"; more than {task.budget.total_seconds:g} s of program time in total"
    elif tally.failures:
        reason += f"; {tally.failures[0]}"
    metrics = {
        "tests": float(total),
        "passed": float(tally.passed if tally.compiles else 0),
        "all_passed": float(tally.passed == total),
    }
    status: VerdictStatus = "timeout" if tally.over and not task.budget.partial else "scored"
    return Verdict(reward, status, reason, source, tally.isolation, metrics)
