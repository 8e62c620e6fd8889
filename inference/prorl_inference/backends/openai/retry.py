"""Whether a server answers, how long it is waited for, and how fast it may be asked.

Shared by the threads of one generator. Leaves out: HTTP (``client``).
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from prorl_common import ServiceError, format_seconds
from prorl_inference.backends.openai.client import Transient

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
LONGEST_ASKED = 86400.0
"""Seconds; a server that asks for more is asked again after a day."""
BUSY_SECONDS = 60.0
"""A server that takes no requests for so long is spoken of."""
GONE_AFTER = 3
"""Failures without an answer between them that make a server count as gone."""


class StoppedError(Exception):
    """The call that a thread works for has ended."""


class Patience:
    """Counts failures since the last answer; says once that the server is gone and once that it is back."""

    def __init__(
        self,
        where: str,
        seconds: float,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where, self._seconds, self._tell, self._clock = where, seconds, tell, clock
        self._changed = threading.Condition()
        self._failing_since: float | None = None
        self._streak = 0
        self._told = False
        self._gone_since = self._busy_since = 0.0
        self._busy_told = False
        self._said: set[str] = set()
        self._stopped = False
        self.last_answer = 0.0
        self.retries = 0

    def answered(self) -> None:
        """Take note that the server answered, if only with a refusal."""
        with self._changed:
            self.last_answer = self._clock()
            told, self._told = self._told, False
            self._failing_since, self._streak = None, 0
            self._busy_since, self._busy_told = 0.0, False
            if told:
                took = format_seconds(self.last_answer - self._gone_since)
                self._tell(f"{self._where} is back after {took}: sampling goes on")
                self._changed.notify_all()

    def failed(self, failure: Transient) -> None:
        """Take note of a failure. Raises ServiceError once there was no sign of life for too long, and
        StoppedError after :meth:`stop`: what breaks then was broken off here."""
        with self._changed:
            if self._stopped:
                raise StoppedError
            now = self._clock()
            self.retries += 1
            if failure.alive:
                self._busy(now, failure)
                return
            self._streak += 1
            if self._failing_since is None:
                self._failing_since = now
            if not self._told:
                self._gone_since = self._failing_since
            lasted = now - self._failing_since
            if lasted >= self._seconds:
                raise ServiceError(
                    f"{self._where} has not answered for {format_seconds(lasted)} ({failure}): "
                    "what was sampled is kept; once it answers, give the same command again"
                )
            if not self._told and self._streak >= GONE_AFTER:
                self._told = True
                rest = format_seconds(self._seconds - lasted)
                self._tell(
                    f"{self._where} does not answer ({failure}): waiting for it, {rest} at most; "
                    "what was sampled is kept"
                )

    def _busy(self, now: float, failure: Transient) -> None:
        """The server lives but takes nothing: its patience begins anew. Says so once where that lasts."""
        self._failing_since, self._streak = None, 0
        self._busy_since = self._busy_since or now
        until = now + (failure.wait or 0.0)
        if not self._busy_told and until - self._busy_since > BUSY_SECONDS:
            self._busy_told = True
            self._tell(
                f"{self._where} answers, but takes no requests for now ({failure}): waiting as it asks; "
                "what was sampled is kept"
            )

    def say_once(self, line: str) -> None:
        """Tell a line, the first time only."""
        with self._changed:
            if line not in self._said:
                self._said.add(line)
                self._tell(line)

    def wait(self, seconds: float, asked: bool = False) -> None:
        """Sleep, but no longer than until the server is back; all of it where the server ``asked`` for it.

        Raises StoppedError after :meth:`stop`.
        """
        with self._changed:
            if asked:
                self._changed.wait_for(lambda: self._stopped, seconds)
            elif not self._stopped:
                self._changed.wait(min(seconds, self._left()))
            if self._stopped:
                raise StoppedError

    def _left(self) -> float:
        if self._failing_since is None:
            return LONGEST_WAIT * 20
        return max(0.05, self._failing_since + self._seconds - self._clock())

    def stop(self) -> None:
        """Wake every waiting thread and end it."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def start(self) -> None:
        """Begin a new call after a stopped one."""
        with self._changed:
            self._stopped = False
            self._failing_since, self._streak, self._told = None, 0, False
            self._busy_since, self._busy_told = 0.0, False


def backoff(failures: int, asked: float | None) -> float:
    """Return the seconds to wait after so many failures of one request.

    0.5 s doubled each time up to 30 s, or what the server asked for where that is more; both with up to a
    quarter more by chance, so that many threads do not come back at once.
    """
    base = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
    return max(base, min(asked or 0.0, LONGEST_ASKED)) * (1.0 + 0.25 * random.random())


class Rate:
    """A token bucket: ``per_minute`` units a minute, at most a second's worth (or one) saved up.

    A take may exceed what is there; the next then waits until the debt is paid. None: no limit.
    """

    def __init__(
        self, per_minute: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = None if per_minute is None else per_minute / 60.0
        self._clock = clock
        self._most = max(1.0, self._per_second or 0.0)
        self._have, self._at = self._most, clock()
        self._lock = threading.Lock()

    def take(self, units: float) -> float:
        """Take ``units`` and return 0, or take nothing and return the seconds to wait before asking again."""
        if self._per_second is None:
            return 0.0
        with self._lock:
            now = self._clock()
            self._have = min(self._most, self._have + (now - self._at) * self._per_second)
            self._at = now
            need = min(units, self._most)
            if self._have + 1e-9 < need:
                return (need - self._have) / self._per_second
            self._have -= units
            return 0.0

    def correct(self, units: float) -> None:
        """Take ``units`` more (or give back, where negative): what a finished request really used."""
        if self._per_second is not None:
            with self._lock:
                self._have = min(self._most, self._have - units)
