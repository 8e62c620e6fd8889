"""One thing asked on its way to a service and back: what the asking thread and the sending thread share."""

from __future__ import annotations

import json
import queue
import time
from typing import Any, assert_never

from prorl_common.http import Address
from prorl_sandbox.remote.asking import Asked, ProjectRun, Submission, pack_asked
from prorl_sandbox.remote.protocol import longest_line
from prorl_sandbox.run.compiling import COMPILE_LIMITS
from prorl_sandbox.run.conversation import DYING_SECONDS, MOST_STRETCH, SETUP_SECONDS

WAIT_SECONDS = 600.0
"""So long a job waits for a service that has room, and as long again in a service's queue."""
AROUND_SECONDS = SETUP_SECONDS + DYING_SECONDS
"""What making and ending a box may take beside its program."""
_ATTEMPTS = 2  # once more, alone
_LONGEST_TESTS = 32 * 1024 * 1024
_PROJECT_SECONDS = 2 * 3600.0


class Job:
    """The state of one thing asked. ``answers`` holds what came, in order: JSON objects, or an error to raise.

    ``losses`` counts the services that failed under it; ``shunned`` is the address of one whose sandbox failed at
    it; ``alone``: to be sent in a request of its own.
    """

    def __init__(self, asked: Asked) -> None:
        self.data = json.dumps(pack_asked(asked), allow_nan=False).encode()
        self.longest = longest_line(asked.limits.output_kb)
        self.created = time.monotonic()
        self.answers: queue.SimpleQueue[dict[str, Any] | Exception] = queue.SimpleQueue()
        self.done = False
        self.losses = 0
        self.shunned: Address | None = None
        self.alone = False
        self._cases = 1
        self._delivered = self._came = 0
        once = MOST_STRETCH * (asked.limits.wall_seconds + COMPILE_LIMITS.wall_seconds)
        self.longest_run = _ATTEMPTS * (once + AROUND_SECONDS)
        """Seconds that a service may take at worst once it has begun."""
        match asked:
            case Submission(cases=cases):
                self._cases = len(cases)
                self.longest_run *= self._cases
            case ProjectRun():  # two outcomes, and what came of any number of tests
                self.longest = 2 * self.longest + _LONGEST_TESTS
                self.longest_run += _PROJECT_SECONDS
            case _:
                assert_never(asked)

    def begin(self) -> None:
        """Note that a service gets it now, perhaps not the first, and begins anew."""
        self._came = 0

    def deliver(self, answer: dict[str, Any]) -> None:
        """Take in the next answer of the service that has it; what is known already is left out."""
        self._came += 1
        if self.done or self._came <= self._delivered:
            return
        self._delivered = self._came
        self.done = self._delivered == self._cases or "error" in answer
        self.answers.put(answer)

    def fail(self, error: Exception) -> None:
        """End it with an error."""
        if not self.done:
            self.done = True
            self.answers.put(error)
