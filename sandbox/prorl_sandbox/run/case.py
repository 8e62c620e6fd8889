"""Run one test case and judge it. If the program does not start, an error of the sandbox is raised."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from typing import Any, Literal, assert_never

from prorl_common.frames import FrameError
from prorl_sandbox.environments import store
from prorl_sandbox.run.conversation import MOST_STRETCH, Box, Boxes, BoxLostError, Relay, converse
from prorl_sandbox.run.decoding import decode
from prorl_sandbox.run.plan import CROWDED_CPU, CheckPlan, CompilePlan, Plan, ProgramPlan
from prorl_sandbox.types import CheckerError, LanguageError, Limits, Outcome, SandboxError, Status

Judgement = tuple[Status, Literal["wall", "cpu"] | None]
"""A status and, for a timeout, the exceeded limit."""
_KILLED: dict[str, Judgement] = {
    "wall": ("timeout", "wall"),
    "cpu": ("timeout", "cpu"),
    "output": ("output-limit", None),
    "protocol": ("protocol-error", None),
}


def run_plan(plan: Plan, made: Boxes, isolation: str) -> Outcome:
    """Run a plan in the processes ``made`` and return the result. Raises SandboxError, CheckerError, LanguageError."""
    match plan:
        case ProgramPlan():
            return _run_program(plan, made, isolation)
        case CompilePlan():
            return _run_compiler(plan, made, isolation)
        case CheckPlan():
            return _run_check(plan, made, isolation)


def _run_program(plan: ProgramPlan, made: Boxes, isolation: str) -> Outcome:
    (box,) = made.boxes
    if plan.question is not None:
        box.send(plan.question)
        box.hang_up()
    message, value = _await_answer(made, plan.nonce)
    result = _judge(box, message)
    command = plan.job.command
    if command is not None and not command.answers:
        # The program never sees the channel, so this message is the harness's.
        _require_tools(plan.language, message)
    return _outcome(box, result, isolation, value if result[0] == "ok" else None)


def _run_compiler(plan: CompilePlan, made: Boxes, isolation: str) -> Outcome:
    (box,) = made.boxes
    message, _ = _await_answer(made, "")
    result = _judge(box, message)
    if result[0] == "ok" and message is not None:
        _require_tools(plan.language, message)
        try:
            artifact = decode(message.get("v"))
        except FrameError:
            artifact = None
        if isinstance(artifact, bytes):
            return _outcome(box, result, isolation, artifact)
    hint, limits = "", plan.job.limits
    match result[0]:
        case "timeout":
            seconds = limits.cpu_seconds
            hint = f"compiling took more than {seconds:g} s (limits.compile_seconds allows more)"
        case "memory":
            hint = f"compiling took more than {limits.memory_mb} MiB"
        case "output-limit":
            hint = "the compiler wrote too much"
    return replace(_outcome(box, ("compile-error", None), isolation), hint=hint)


def _await_answer(made: Boxes, nonce: str) -> tuple[dict[str, Any] | None, Any]:
    """Run a program to its end. Returns (its last message, the value in the message); both may be None."""
    (box,) = made.boxes
    ready, answer, value = False, None, None
    for _, message in converse(made, box.job.limits.wall_seconds):
        if message is None:
            continue
        if message["k"] == "ready" and not ready:
            ready = True
            continue
        try:
            if answer is not None:
                raise FrameError("the program sent more than one answer")
            if message["k"] == "value":
                if message.get("n") != nonce:
                    raise FrameError("the program sent an answer without a question")
                value = decode(message.get("v"))
        except FrameError:
            box.kill("protocol")
        else:
            answer = message
    _require_start(box)
    return answer, value


def _require_tools(language: str, message: dict[str, Any] | None) -> None:
    if message is not None and message["k"] == "missing":
        raise LanguageError(f"{language} is not installed in the sandbox: {message['text']}")


def _run_check(plan: CheckPlan, made: Boxes, isolation: str) -> Outcome:
    submission, check = made.boxes
    limits = plan.submission.limits
    relay = Relay(submission, check)
    for box, message in converse(made, limits.wall_seconds):
        if message is None:
            relay.note_end(box)
            continue
        try:
            relay.take(box, message)
        except FrameError:
            box.kill("protocol")
    for box in made.boxes:
        _require_start(box)
    _refuse_broken_check(relay, check)
    result = _judge_check(relay, submission, check, limits)
    outcome, theirs = (_outcome(box, result, isolation) for box in made.boxes)
    ends = [box.end for box in made.boxes if box.end is not None]
    started = max(box.started or 0.0 for box in made.boxes)
    ended = [box.ended for box in made.boxes if box.ended is not None]
    return replace(
        outcome,
        stderr=outcome.stderr + theirs.stderr,
        hint=outcome.hint or theirs.hint,
        wall_seconds=max(ended) - started if ended and started else outcome.wall_seconds,
        waited_seconds=submission.waited + check.waited,
        cpu_seconds=sum(end.cpu_seconds for end in ends),
        peak_mb=max([end.peak_kb for end in ends], default=0) / 1024,
    )


def _refuse_broken_check(relay: Relay, check: Box) -> None:
    """Raise CheckerError if the check broke before the submission answered any call."""
    message = relay.check_message
    if message is None or message["k"] not in ("broken", "compile-error", "exception"):
        return
    if relay.answered:
        return
    text = message.get("text")
    if text is None:
        lines = check.text("stderr").strip().splitlines()
        text = f"it does not load: {lines[-1] if lines else message.get('type')}"
    raise CheckerError(f"the check is broken: {text}")


def _judge_check(relay: Relay, submission: Box, check: Box, limits: Limits) -> Judgement:
    spent = sum(box.end.cpu_seconds for box in (submission, check) if box.end is not None)
    too_much = spent > limits.cpu_seconds
    if relay.passed and check.end is not None and _exit_code(check) == 0:
        return ("timeout", "cpu") if too_much else ("ok", None)
    judgement = _judge(submission, relay.submission_message)
    if relay.cut_off or submission.killed_for in ("wall", "cpu", "output", "protocol"):
        return judgement if judgement[0] != "ok" else ("runtime-error", None)
    if judgement[0] in ("timeout", "memory"):
        return judgement
    check_judgement = _judge(check, relay.check_message)
    if check_judgement[0] not in ("ok", "runtime-error"):
        return check_judgement
    return ("timeout", "cpu") if too_much else ("runtime-error", None)


def _require_start(box: Box) -> None:
    if box.killed_for == "peer":  # we killed it because the other box had ended
        return
    if box.fault is not None:
        raise BoxLostError(f"the sandbox lost a program: {box.fault}")
    if box.started is None and box.end is not None and box.end.out_of_memory:
        return  # the program alone exceeded its memory limit
    if box.started is None:
        last = box.text("stderr").strip().splitlines()[-1:]
        detail = f": {last[0]}" if last else ""
        raise SandboxError(f"the sandbox's process ended before it started the program{detail}")
    if box.killed_for == "closed" and box.end is None:
        raise SandboxError("the sandbox was closed during the run")


def _judge(box: Box, message: dict[str, Any] | None) -> Judgement:
    if box.killed_for in _KILLED:
        return _KILLED[box.killed_for]
    if box.end is None:
        return "runtime-error", None
    if box.end.out_of_memory:
        return "memory", None
    if _seconds(box) - box.waited > box.job.limits.wall_seconds:
        return "timeout", "wall"
    code = os.waitstatus_to_exitcode(box.end.status)
    if box.end.cpu_seconds > box.job.limits.cpu_seconds or code == -signal.SIGXCPU:
        return "timeout", "cpu"
    if code == -signal.SIGSYS:
        return "killed-by-policy", None
    if code < 0:
        return "runtime-error", None
    whole = box.job.mode in ("main", "exec") and box.job.call is None
    if whole and code == 0:
        return "ok", None
    kind = message["k"] if message is not None else None
    if message is not None and kind in ("exception", "raise", "failed"):
        return "memory" if message.get("memory") is True else "runtime-error", None
    if kind == "compile-error":
        return "compile-error", None
    if kind == "unserialisable":
        return "unserialisable", None
    if kind == "too-large":
        return "output-limit", None
    if whole:
        return "wrong-exit", None
    answers = ("artifact", "missing") if box.job.mode == "compile" else ("value",)
    return ("ok" if kind in answers and code == 0 else "runtime-error"), None


def _outcome(box: Box, judgement: Judgement, isolation: str, value: Any = None) -> Outcome:
    status, limit = judgement
    failed = status in ("runtime-error", "wrong-exit")
    return Outcome(
        status=status,
        stdout=box.text("stdout"),
        stderr=box.text("stderr"),
        value=value,
        exit_code=_exit_code(box),
        limit=limit,
        wall_seconds=_seconds(box),
        waited_seconds=box.waited,
        cpu_seconds=box.end.cpu_seconds if box.end is not None else 0.0,
        peak_mb=box.end.peak_kb / 1024 if box.end is not None else 0.0,
        isolation=isolation,
        hint=store.missing_module_hint(box.text("stderr"), box.job.packages.environment)
        if failed
        else "",
    )


def _exit_code(box: Box) -> int | None:
    if box.end is None or box.killed_for is not None:
        return None
    return os.waitstatus_to_exitcode(box.end.status)


def _seconds(box: Box) -> float:
    if box.started is None:
        return 0.0
    return (time.monotonic() if box.ended is None else box.ended) - box.started


def others_may_be_why(outcome: Outcome, limits: Limits) -> bool:
    """Return whether a timeout or a kill may be due to others, so that the case must run again without them."""
    match outcome.limit:
        case None:
            return outcome.status == "runtime-error" and outcome.exit_code == -signal.SIGKILL
        case "cpu":
            ended = outcome.exit_code is not None  # the program ended by itself
            return ended and outcome.cpu_seconds < limits.cpu_seconds * CROWDED_CPU
        case "wall":
            return outcome.waited_seconds >= limits.wall_seconds * (MOST_STRETCH - 1)
        case _:
            assert_never(outcome.limit)
