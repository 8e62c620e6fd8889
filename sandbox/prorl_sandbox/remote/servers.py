"""What a client knows of one sandbox service: whether it answers, how strong and how busy it is.

Not thread-safe: ``Dispatcher`` holds its lock around every use.
"""

from __future__ import annotations

import logging
import math
from typing import Literal

from prorl_common.http import Address, Connection, RetryPolicy
from prorl_sandbox.remote.protocol import SILENCE_SECONDS, Hello

JOBS_A_SLOT = 16
"""So many jobs for each of its slots a client leaves with a service at most; the rest waits here, for any."""
_POLICY = RetryPolicy(first=0.25, longest=2.0, longest_asked=60.0)
_OTHERS_SECONDS = 2.0
"""How long a service's word of what others have sent it counts."""
_LOG = logging.getLogger(__name__)

Trouble = Literal["lost", "refused"]
"""``lost`` may pass by itself; ``refused`` (a wrong token, another protocol, weak walls) is somebody's to mend."""


class Server:
    """One service. Times are of ``time.monotonic``."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.hello: Hello | None = None
        self.trouble: Trouble | None = None
        self.reason = "it has not answered yet"
        self.outstanding = 0
        self.failing_since = math.inf
        self.tried = -math.inf
        """When the last try to reach it ended."""
        self.blocked_until = 0.0
        """It is left alone until then: it asked for it, or a try has just failed."""
        self.probing = False
        self._failures = 0
        self._foreign = 0
        self._idle: list[Connection] = []

    @property
    def up(self) -> bool:
        """Whether jobs may go to it."""
        return self.hello is not None and self.trouble is None

    @property
    def slots(self) -> int:
        """How many programs it runs at once."""
        return max(1, self.hello.slots) if self.hello is not None else 1

    @property
    def most(self) -> int:
        """How many jobs it may have from here at once."""
        queue = self.hello.queue if self.hello is not None else 1
        return min(JOBS_A_SLOT * self.slots, max(1, queue))

    @property
    def room(self) -> int:
        """How many more jobs it may get from here."""
        return self.most - self.outstanding

    @property
    def hungry(self) -> bool:
        """Whether it has so little to do that a job should not wait for others to go with it."""
        return self.outstanding < 2 * self.slots

    def load(self, now: float) -> float:
        """Return the jobs for each slot, ours and what is known of others'."""
        others = self._foreign if now < self.tried + _OTHERS_SECONDS else 0
        return (self.outstanding + others) / self.slots

    def answered(self, hello: Hello, ours: int, now: float) -> None:
        """Take in the state that it sent; ``ours`` of its jobs are from here."""
        if self._failures and self.hello is not None:
            _LOG.warning("the sandbox service %s is back", self.address)
        self.hello, self.tried = hello, now
        self._foreign = max(0, hello.queued + hello.slots - hello.free - ours)
        self.trouble, self.reason = None, ""
        self._failures, self.failing_since = 0, math.inf

    def failed(self, trouble: Trouble, reason: str, now: float, wait: float | None = None) -> None:
        """Take note of a try that failed; it is tried again later."""
        if self.up:
            _LOG.warning("the sandbox service %s is %s: %s", self.address, trouble, reason)
        self.failing_since = min(self.failing_since, now)
        self._failures += 1
        self.trouble, self.reason, self.tried = trouble, reason, now
        self.blocked_until = now + _POLICY.wait(self._failures, wait)

    def busy(self, reason: str, wait: float | None, now: float) -> None:
        """Take note that it takes no jobs for now."""
        self.tried, self.reason = now, reason
        self.blocked_until = now + _POLICY.wait(1, wait)

    def connection(self, token: str, client: str) -> Connection:
        """Return a connection that no other thread uses; it is given back or closed."""
        return self._idle.pop() if self._idle else self.new_connection(token, client)

    def new_connection(self, token: str, client: str) -> Connection:
        """Return one more connection."""
        named = {"X-Client-Id": client}
        return Connection(self.address, token or None, SILENCE_SECONDS, named)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        self._idle.append(connection)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop().close()
