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
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prorl_common import ServiceError
from prorl_verifiers.code.compare import same_output, same_value
from prorl_verifiers.code.judges import judge_source
from prorl_verifiers.code.reference import CodeReference, read_reference
from prorl_verifiers.code.tests import CallTest, CheckTest, CodeTest, StdioTest
from prorl_verifiers.extract import last_code_block
from prorl_verifiers.types import MAX_ANSWER, Verdict, VerdictStatus

if TYPE_CHECKING:
    from prorl_sandbox import Outcome, Sandbox

_SHOWN = 2000
"""Characters of the extracted code that a verdict keeps."""


class JudgeError(ServiceError):
    """A special judge failed: its box, its limits or its answer. Says nothing about the submission."""


def score_code(text: str, reference: Mapping[str, Any], sandbox: Sandbox) -> Verdict:
    """Run the last code block of ``text`` on every test.

    Raises what the sandbox raises (SandboxError; a UserError for a compiler that is not there) and
    JudgeError.
    """
    from prorl_sandbox import Program

    task = read_reference(reference)
    source = last_code_block(text, task.language.marks)
    if source is None or not source.strip():
        return Verdict(0.0, "unparsable", f"no closed {task.language.title} code block")
    if len(source) > MAX_ANSWER * 4:
        return Verdict(0.0, "unparsable", "the code is too long", source[:_SHOWN])
    passed, used, over, compiles, isolation = 0, 0.0, False, True, ""
    failures: list[str] = []
    total_seconds, per_test = task.budget.total_seconds, task.budget.per_test
    for number, test in enumerate(task.tests, start=1):
        left = total_seconds - used
        if left <= 0:
            over = True
            break
        limits = replace(per_test, wall_seconds=min(per_test.wall_seconds, left))
        match test:
            case StdioTest(stdin=stdin):
                program = Program(source, stdin=stdin, language=task.language.name)
                outcome = sandbox.run(program, limits)
            case CallTest(call=call, args=args):
                outcome = sandbox.run(Program(source, call=call, args=args), limits)
            case CheckTest(source=checker, entry_point=entry_point):
                outcome = sandbox.run_check(Program(source), checker, entry_point, limits)
        isolation = outcome.isolation or sandbox.isolation
        if outcome.status == "compile-error":
            compiles = False
            break
        used += outcome.wall_seconds
        cut_short = left <= per_test.wall_seconds and outcome.limit == "wall"
        if used > total_seconds or cut_short:
            over = True
            break
        if _passes(test, outcome, task, sandbox):
            passed += 1
        else:
            failures.append(f"test {number}: {_failure(outcome)}")
            if task.binary:
                break
    total = len(task.tests)
    reward = float(passed == total) if task.binary else passed / total
    reason = f"{passed} of {total} tests passed"
    if not compiles:
        reward, reason = 0.0, "the code does not compile"
    elif over:
        reward = reward if task.budget.partial else 0.0
        reason += f"; more than {total_seconds:g} s of program time in total"
    elif failures:
        reason += f"; {failures[0]}"
    metrics = {
        "tests": float(total),
        "passed": float(passed if compiles else 0),
        "all_passed": float(passed == total),
    }
    status: VerdictStatus = "timeout" if over and not task.budget.partial else "scored"
    return Verdict(reward, status, reason, source[:_SHOWN], isolation, metrics)


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
