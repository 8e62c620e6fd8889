"""The host between two boxes: a trusted check on one side, the submission on the other.

One question at a time; every value is decoded and checked here before it goes on. Nothing is
compared: the check's own assertions decide.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from prorl_sandbox.box import wire
from prorl_sandbox.run import judging
from prorl_sandbox.run.conversation import Box
from prorl_sandbox.types import Limits, Outcome

_MOST_KINDS = 20


class Relay:
    """Listener of a check run: passes calls one way and answers the other."""

    def __init__(self, submission: Box, check: Box) -> None:
        self._submission = submission
        self._check = check
        self._ready: list[Box] = []
        self._asked = self._answered = False
        self._nonce = ""
        self._passed = False
        self._submission_message: dict[str, Any] | None = None
        self._check_message: dict[str, Any] | None = None
        self._dead = False

    def frame(self, box: Box, message: dict[str, Any]) -> None:
        """Pass a message on, or note it as the end of the run."""
        if message["k"] == "ready":
            if box in self._ready:
                raise wire.MalformedFrame("ready once more")
            self._ready.append(box)
        elif box is self._check:
            self._from_check(message)
        else:
            self._from_submission(message)

    def _from_check(self, message: dict[str, Any]) -> None:
        if message["k"] == "call" and not self._asked:
            self._asked = True
            args, odd_args = wire.decode_for_box(message["args"])
            kwargs, odd_kwargs = wire.decode_for_box(message["kwargs"])
            self._nonce = secrets.token_hex(16)
            question = {
                "k": "call",
                "name": message["name"],
                "args": args,
                "kwargs": kwargs,
                "n": self._nonce,
                "revive": odd_args or odd_kwargs,
                "opaque": True,
            }
            self._submission.send(question)
        else:
            self._check_message = message
            self._passed = message["k"] == "passed"
            self._submission.hang_up()

    def _from_submission(self, message: dict[str, Any]) -> None:
        kind = message["k"]
        if kind in ("value", "raise", "opaque"):
            if not self._asked or message.get("n") != self._nonce:
                raise wire.MalformedFrame("an answer without a question")
            self._asked, self._answered = False, True
            self._submission_message = message
            self._check.send(self._answer(message))
        else:
            self._submission_message = message
            self._dead = True
            self._check.kill("peer")
            self._submission.hang_up()

    @staticmethod
    def _answer(message: dict[str, Any]) -> dict[str, Any]:
        if message["k"] == "value":
            value, odd = wire.decode_for_box(message.get("v"))
            return {"k": "value", "v": value, "revive": odd}
        if message["k"] == "opaque":
            return {"k": "opaque", "truth": message.get("truth") is True}
        kinds = message.get("kinds")
        names = [str(kind)[:100] for kind in kinds[:_MOST_KINDS]] if isinstance(kinds, list) else []
        return {"k": "raise", "type": str(message.get("type"))[:100], "kinds": names}

    def ended(self, box: Box) -> None:
        """When one box has ended the other has nothing left to do."""
        if box is self._submission:
            if self._check_message is None and not self._check.finished:
                self._dead = True
                self._check.kill("peer")
        elif self._check_message is None and not self._dead and not self._submission.finished:
            self._submission.kill("peer")

    def outcome(self, limits: Limits, isolation: str) -> Outcome:
        """Return the Outcome of the run; raises CheckerError when the check itself is broken."""
        self._refuse_broken_check()
        box = self._submission
        result = self._judge(limits)
        whole = judging.outcome(box, result, isolation)
        theirs = judging.outcome(self._check, result, isolation)
        peers = [b.end for b in (self._submission, self._check) if b.end is not None]
        started = max(self._submission.started or 0.0, self._check.started or 0.0)
        ended = [b.ended for b in (self._submission, self._check) if b.ended is not None]
        return replace(
            whole,
            stderr=whole.stderr + theirs.stderr,
            hint=whole.hint or theirs.hint,
            wall_seconds=max(ended) - started if ended and started else whole.wall_seconds,
            waited_seconds=self._submission.waited + self._check.waited,
            cpu_seconds=sum(end["cpu"] for end in peers),
            peak_mb=max([end["peak_kb"] for end in peers], default=0) / 1024,
        )

    def _refuse_broken_check(self) -> None:
        """Raise CheckerError for a check that is at fault by itself.

        Once it has had an answer of the submission, what it cannot send may be made of that answer:
        then the test has failed.
        """
        message = self._check_message
        if message is None or message["k"] not in ("broken", "compile-error", "exception"):
            return
        if self._answered:
            return
        text = message.get("text")
        if text is None:
            lines = self._check.text("stderr").strip().splitlines()
            text = f"it does not load: {lines[-1] if lines else message.get('type')}"
        raise judging.CheckerError(f"the check is broken: {text}")

    def _judge(self, limits: Limits) -> judging.Judgement:
        spent = sum(b.end["cpu"] for b in (self._submission, self._check) if b.end is not None)
        if self._passed and self._check.end is not None and judging.exit_code(self._check) == 0:
            return ("timeout", "cpu") if spent > limits.cpu_seconds else ("ok", None)
        own = judging.judge(self._submission, self._submission_message)
        if self._dead or self._submission.killed_for in ("wall", "cpu", "output", "protocol"):
            return own if own[0] != "ok" else ("runtime-error", None)
        if own[0] in ("timeout", "memory"):
            return own
        theirs = judging.judge(self._check, self._check_message)
        if theirs[0] != "ok" and theirs[0] != "runtime-error":
            return theirs
        return ("timeout", "cpu") if spent > limits.cpu_seconds else ("runtime-error", None)
