"""The requests of a service that have no answer yet: how many, what they hold, and their end when it drains."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator

LINGER = 0.5
BODIES_AT_ONCE = 8
BODY_BYTES = 512 * 1024 * 1024
"""All requests without an answer may together hold so many times the largest body, or so many bytes."""


class Traffic:
    """Counts requests and the bytes they hold. Lives in one event loop."""

    def __init__(self, max_body: int) -> None:
        self.draining = False
        self.in_flight = 0
        self.held_bytes = 0
        self.most_bytes = max(BODIES_AT_ONCE * max_body, BODY_BYTES)
        self.seen = 0.0

    @contextlib.contextmanager
    def counted(self) -> Iterator[Held]:
        """Count one request as in flight, and what it holds."""
        self.in_flight += 1
        self.seen = time.monotonic()
        held = Held(self)
        try:
            yield held
        finally:
            held.release()
            self.in_flight -= 1

    async def drain(self, seconds: float, give_up: Callable[[], None]) -> bool:
        """Take no more requests and wait for the answers; True when all were given in time.

        ``give_up`` ends what is left after ``seconds``. Then the service goes on refusing until no request
        came for LINGER seconds: whoever got the last answers may come back with the next request.
        """
        self.draining = True
        await self._until(lambda: not self.in_flight, seconds)
        clean = not self.in_flight
        give_up()
        self.seen = time.monotonic()
        await self._until(self._quiet, 10 * LINGER)
        return clean

    def _quiet(self) -> bool:
        return not self.in_flight and time.monotonic() - self.seen > LINGER

    async def _until(self, true: Callable[[], bool], seconds: float) -> None:
        limit = time.monotonic() + seconds
        while not true() and time.monotonic() < limit:
            await asyncio.sleep(0.02)


class Held:
    """What one request holds of the service's memory, from its first byte to its answer."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self.bytes = 0

    def add(self, count: int) -> None:
        """Book ``count`` bytes more."""
        self.bytes += count
        self._traffic.held_bytes += count

    def release(self) -> None:
        """Give all of them back."""
        self.add(-self.bytes)
