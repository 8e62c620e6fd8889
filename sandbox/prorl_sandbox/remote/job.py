"""One submission on its way to a service and back: what the asking thread and the sending thread share."""

from __future__ import annotations

import json
import queue
import time
from typing import Any

from prorl_common.http import Address
from prorl_sandbox.remote.protocol import longest_line
from prorl_sandbox.remote.submission import Submission, pack_submission
from prorl_sandbox.run.compiling import COMPILE_LIMITS
from prorl_sandbox.run.conversation import DYING_SECONDS, MOST_STRETCH, SETUP_SECONDS

WAIT_SECONDS = 600.0
"""So long a job waits for a service that has room, and as long again in a service's queue."""
_ATTEMPTS = 2  # once more, alone


class Job:
    """The state of one submission. ``answers`` holds what came, in order: JSON objects, or an error to raise.

    ``losses`` counts the services that failed under it; ``shunned`` is the address of one whose sandbox failed at
    it; ``alone``: to be sent in a request of its own.
    """

    def __init__(self, submission: Submission) -> None:
        self.data = json.dumps(pack_submission(submission), allow_nan=False).encode()
        self.longest = longest_line(submission.limits.output_kb)
        self.created = time.monotonic()
        self.answers: queue.SimpleQueue[dict[str, Any] | Exception] = queue.SimpleQueue()
        self.done = False
        self.losses = 0
        self.shunned: Address | None = None
        self.alone = False
        self._cases = len(submission.cases)
        self._delivered = self._came = 0
        once = MOST_STRETCH * (submission.limits.wall_seconds + COMPILE_LIMITS.wall_seconds)
        around = SETUP_SECONDS + DYING_SECONDS
        self.longest_run = self._cases * _ATTEMPTS * (once + around)
        """Seconds that a service may take at worst once it has begun."""

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
