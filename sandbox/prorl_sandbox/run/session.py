"""Sessions as the host sees them. ``box.session`` is the code in the sandbox."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from prorl_common.frames import FrameError
from prorl_sandbox.environments import store
from prorl_sandbox.run.case import Judgement
from prorl_sandbox.run.conversation import (
    DYING_SECONDS,
    LAG_SECONDS,
    MOST_STRETCH,
    SETUP_SECONDS,
    Box,
    move,
)
from prorl_sandbox.run.decoding import decode, read_message
from prorl_sandbox.run.plan import LONGEST_SOURCE, Job, Packages
from prorl_sandbox.types import (
    Limits,
    Outcome,
    SandboxError,
    SessionEndedError,
    Status,
    check_limits,
)

MOST_SESSIONS = 16
"""Default maximum of open sessions of a sandbox."""
_LARGEST_VALUE = 16 * 1024 * 1024
_BOX_OUTPUT_KB = 64 * 1024
_OWN_PROCESSES = 1  # the supervisor
_LOOK_SECONDS = 0.1
_MOST_ANSWERS = 8
_REST_SECONDS = 5.0
"""CPU seconds that a session may use between messages."""
_SPARE_FACTOR, _SPARE_SECONDS = 1.5, 1.0
"""The process is killed when a message uses this factor times its CPU limit plus these seconds."""

_Reason = Literal["wall", "cpu", "output"]
_OVERRUNS: dict[_Reason, Judgement] = {
    "wall": ("timeout", "wall"),
    "cpu": ("timeout", "cpu"),
    "output": ("output-limit", None),
}


def session_job(limits: Limits, total_seconds: float, packages: Packages) -> Job:
    whole = replace(
        limits,
        wall_seconds=total_seconds,
        cpu_seconds=total_seconds,
        output_kb=_BOX_OUTPUT_KB,
        processes=limits.processes + _OWN_PROCESSES,
    )
    return Job("session", "", whole, frame_cap=2 * _LARGEST_VALUE + 1024, packages=packages)


class _Printed:
    """A message's output on one stream. It ends at ``mark``, and at most ``cap`` bytes are kept."""

    def __init__(self, cap: int, mark: bytes, before: bytes) -> None:
        self.text = bytearray()
        self.over = self.whole = False
        self.leftover = b""
        self._cap, self._mark = cap, mark
        self._tail = bytearray()
        self.add(before)

    def add(self, data: bytes) -> None:
        if self.whole:
            self.leftover += data
            return
        self._tail += data
        end = self._tail.find(self._mark)
        self.whole = end >= 0
        if self.whole:
            self.leftover = bytes(self._tail[end + len(self._mark) :])
            del self._tail[end:]
            self.end()
        else:
            self._keep(max(0, len(self._tail) - len(self._mark) + 1))

    def end(self) -> None:
        self._keep(len(self._tail))

    def _keep(self, size: int) -> None:
        room = self._cap - len(self.text)
        self.over = self.over or size > room
        self.text += self._tail[: min(size, room)]
        del self._tail[:size]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Result of a message: its output, the answer, the exceeded limit (``reason``) and times in seconds."""

    stdout: str
    stderr: str
    answer: dict[str, Any] | None
    reason: _Reason | None
    wall_seconds: float
    cpu_seconds: float
    waited_seconds: float


class BoxSession:
    """Implements ``Session``. It ends when closed, when idle, and after ``total_seconds``."""

    def __init__(
        self,
        held: AbstractContextManager[Box],
        limits: Limits,
        isolation: str,
        idle_seconds: float,
        total_seconds: float,
    ) -> None:
        """Start the session's process by entering ``held``; exit it when the session ends. Raises SandboxError."""
        self.ended: str | None = None
        self._limits, self._isolation = limits, isolation
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._messages = 0
        self._renewals = 0
        self._cpu_before = 0.0
        self._answers: list[dict[str, Any]] = []
        self._leftover = {"stdout": b"", "stderr": b""}
        self._idle, self._deadline = idle_seconds, time.monotonic() + total_seconds
        self._stack = contextlib.ExitStack()
        self._box = self._stack.enter_context(held)
        try:
            self._await_ready()
        except BaseException:
            self._stack.close()
            raise
        self._used = time.monotonic()
        threading.Thread(target=self._expire, name="prorl-session", daemon=True).start()

    def _await_ready(self) -> None:
        deadline = time.monotonic() + SETUP_SECONDS
        while not self._answers:
            if self._box.finished or time.monotonic() > deadline:
                why = self._box.fault or self._box.text("stderr").strip() or "it said nothing"
                raise SandboxError(f"the session's process did not start: {why}")
            self._move(_LOOK_SECONDS)
        self._answers.clear()
        self._renew(_REST_SECONDS, _REST_SECONDS, resting=True)

    def _move(self, seconds: float) -> None:
        for box, message in move([self._box], seconds):
            if message is not None and len(self._answers) >= _MOST_ANSWERS:
                box.kill("protocol")
            elif message is not None:
                self._answers.append(message)

    def _expire(self) -> None:
        while True:
            due = min(self._deadline, self._used + self._idle)
            if self._over.wait(max(0.0, due - time.monotonic())):
                return
            with self._turn:
                now = time.monotonic()
                if now >= self._deadline:
                    self._end("it reached its maximum duration")
                elif now >= self._used + self._idle:
                    self._end(f"no message came for {self._idle:g} seconds")

    def run(self, source: str, limits: Limits | None = None) -> Outcome:
        limits = limits if limits is not None else self._limits
        check_limits(limits)
        if len(source) > LONGEST_SOURCE:
            text = f"the message is longer than {LONGEST_SOURCE} characters\n"
            return Outcome("compile-error", stderr=text, isolation=self._isolation)
        with self._turn:
            if self.ended is not None:
                raise SessionEndedError(f"the session is over: {self.ended}")
            try:
                return self._run(source, limits)
            except SandboxError:
                self._end("the sandbox failed")
                raise

    def _run(self, source: str, limits: Limits) -> Outcome:
        nonce = secrets.token_hex(16)
        result = self._exchange({"k": "cell", "source": source, "n": nonce}, limits)
        self._messages += 1
        self._used = time.monotonic()
        if self._box.killed_for == "closed":
            self._end("it was closed")
            raise SessionEndedError("the session was closed during a message")
        reply = _read(result.answer, nonce)
        status, limit = self._judge(result, reply)
        is_value = reply is not None and reply["k"] == "value" and status == "ok"
        over = self._box.finished or result.reason is not None
        outcome = Outcome(
            status=status,
            stdout=result.stdout,
            stderr=result.stderr,
            value=reply["v"] if reply is not None and is_value else None,
            exit_code=None if over else _exit_code(result.answer, reply),
            limit=limit,
            wall_seconds=result.wall_seconds,
            cpu_seconds=result.cpu_seconds,
            waited_seconds=result.waited_seconds,
            isolation=self._isolation,
            hint=store.missing_module_hint(result.stderr, self._box.job.packages.environment),
        )
        if over or reply is None or reply["k"] == "exit":
            self._end(f"message {self._messages} ended it: {status}")
        return outcome

    def close(self, why: str = "it was closed") -> None:
        self._box.kill("closed")
        with self._turn:
            self._end(why)

    def _end(self, why: str) -> None:
        if self.ended is None:
            self.ended = why
            self._over.set()
            self._stack.close()

    def _renew(self, cpu: float, most: float, resting: bool) -> None:
        self._box.renew(cpu, most, resting)
        self._renewals += 1

    def _exchange(self, order: dict[str, Any], limits: Limits) -> Exchange:
        """Run one message, and kill the interpreter if it exceeds a limit. Raises SandboxError."""
        box, mark = self._box, secrets.token_bytes(16)
        value_cap = min(limits.output_kb * 1024, _LARGEST_VALUE)
        most = limits.cpu_seconds * _SPARE_FACTOR + _SPARE_SECONDS
        self._renew(limits.cpu_seconds, most, resting=False)
        counted, waited = self._renewals, box.waited
        box.send(order | {"mark": mark, "cap": value_cap})
        printed = {
            name: _Printed(limits.output_kb * 1024, mark, before)
            for name, before in self._leftover.items()
        }
        began = now = time.monotonic()
        wall = min(limits.wall_seconds, max(0.0, self._deadline - began))
        reason: _Reason | None = None
        killed: float | None = None
        while not box.finished:
            self._move(min(_LOOK_SECONDS, wall))
            for name, one in printed.items():
                one.add(box.take(name))
            now = time.monotonic()
            if self._answers and all(one.whole for one in printed.values()):
                break
            if killed is None:
                stretch = min(box.waited - waited, (MOST_STRETCH - 1) * wall)
                if any(one.over for one in printed.values()):
                    reason = "output"
                elif box.over and box.renewals >= counted:
                    reason = "cpu"
                elif now > began + wall + max(0.0, stretch) + LAG_SECONDS:
                    reason = "wall"
                if reason is not None:
                    killed = now
                    box.send({"k": "kill"})
            elif now > killed + DYING_SECONDS / 10:
                box.kill(reason or "closed")
                if now > killed + DYING_SECONDS:
                    raise SandboxError(
                        f"a killed program did not end in {DYING_SECONDS:.0f} seconds"
                    )
        for name, one in printed.items():
            one.add(box.take(name))
            self._leftover[name] = one.leftover
            if not one.whole:
                one.end()
            reason = reason or ("output" if one.over else None)
        answer = self._answers.pop(0) if self._answers else None
        cpu = self._settle(counted)
        return Exchange(
            printed["stdout"].text.decode("utf-8", "replace"),
            printed["stderr"].text.decode("utf-8", "replace"),
            answer,
            reason,
            wall_seconds=now - began,
            cpu_seconds=cpu,
            waited_seconds=max(0.0, box.waited - waited),
        )

    def _settle(self, counted: int) -> float:
        box = self._box
        if not box.finished:
            self._renew(_REST_SECONDS, _REST_SECONDS, resting=True)
        deadline = time.monotonic() + DYING_SECONDS
        while not box.finished and box.renewals < self._renewals:
            if time.monotonic() > deadline:
                raise SandboxError("the session's process did not report its CPU time")
            self._move(_LOOK_SECONDS)
        if box.end is not None:
            return max(0.0, box.end.cpu_seconds - self._cpu_before)
        self._cpu_before += box.spent
        return box.spent

    def _judge_end(self, result: Exchange) -> Judgement:
        """Return the status of a message that ended the session's process. Raises SandboxError."""
        if self._box.fault is not None:
            raise SandboxError(f"the session's process failed: {self._box.fault}")
        if result.reason is not None:
            return _OVERRUNS[result.reason]
        if self._box.end is not None and self._box.end.out_of_memory:
            return "memory", None
        if self._box.over:
            return "timeout", "cpu"
        if self._box.killed_for is not None:
            return "protocol-error", None
        return "runtime-error", None

    def _judge(self, result: Exchange, reply: dict[str, Any] | None) -> Judgement:
        if result.reason is not None:
            return _OVERRUNS[result.reason]
        if self._box.finished and result.answer is None:
            return self._judge_end(result)
        answer = result.answer or {}
        if answer.get("k") == "died":
            code = _exit_code(answer, None)
            if code is None:
                return "runtime-error", None
            return _OF_EXITS.get(code, "runtime-error" if code < 0 else "wrong-exit"), None
        if reply is None:
            return "protocol-error", None
        match reply["k"]:
            case "value":
                return "ok", None
            case "exit":
                return "ok" if reply["code"] == 0 else "wrong-exit", None
            case "compile-error":
                return "compile-error", None
            case _:
                return "memory" if reply["memory"] else "runtime-error", None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_OF_EXITS: dict[int, Status] = {0: "ok", -31: "killed-by-policy"}
"""Status by exit code; negative codes are signals."""
_KINDS = ("value", "raise", "compile-error", "exit")


def _read(answer: dict[str, Any] | None, nonce: str) -> dict[str, Any] | None:
    if answer is None or answer.get("k") != "answer" or not isinstance(answer.get("body"), str):
        return None
    try:
        reply = read_message(answer["body"].encode("ascii", "replace"))
        if reply.get("n") != nonce or reply["k"] not in _KINDS:
            return None
        code = reply.get("code")
        return {
            "k": reply["k"],
            "v": decode(reply.get("v")),
            "memory": reply.get("memory") is True,
            "code": code if type(code) is int and 0 <= code <= 255 else 1,
        }
    except FrameError:
        return None


def _exit_code(answer: dict[str, Any] | None, reply: dict[str, Any] | None) -> int | None:
    if reply is not None:
        return int(reply["code"]) if reply["k"] == "exit" else None
    status = answer.get("status") if answer is not None and answer.get("k") == "died" else None
    if type(status) is not int or not 0 <= status < 1 << 16:
        return None
    return os.waitstatus_to_exitcode(status)
