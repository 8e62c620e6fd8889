"""Sessions on a service: a request that stays open as long as the session, and one more for each message.

The service ends a session when its client is gone, and a client whose service is gone knows that the
session is over.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

from prorl_common import UserError
from prorl_common.http import Connection, TransientError
from prorl_sandbox.remote import codec
from prorl_sandbox.remote.asking import read_answer, read_outcome
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.exchange import RefusedError, json_objects
from prorl_sandbox.remote.job import AROUND_SECONDS, WAIT_SECONDS
from prorl_sandbox.remote.protocol import PROTOCOL, longest_line
from prorl_sandbox.run.conversation import MOST_STRETCH
from prorl_sandbox.run.ranges import check_limits
from prorl_sandbox.types import Limits, Outcome, SandboxError, SessionEndedError

_LONGEST_WORD = 65_536


class Link:
    """The open request of a session and of its forks. ``ended``: why they are over, None while they live.

    ``connect`` makes a connection to the service. Thread-safe.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self.ended: str | None = None
        self._connect = connect
        self._held = connect()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []

    def open(
        self, limits: Limits, environment: str, idle_seconds: float, total_seconds: float
    ) -> str:
        """Open the session and return its name. Raises what opening one raises, RefusedError."""
        asked = {
            "protocol": PROTOCOL,
            "limits": codec.pack(limits),
            "environment": environment,
            "idle_seconds": idle_seconds,
            "total_seconds": total_seconds,
        }
        seconds = total_seconds + AROUND_SECONDS
        said = json_objects(self._held, "/session", asked, _LONGEST_WORD, seconds)
        try:
            found = _first(said)
            name = found.get("session")
            if not isinstance(name, str):
                read_answer(found)  # the error that it is
                raise MalformedError("no session")
        except BaseException as error:
            self._held.close()
            if isinstance(error, TransientError | MalformedError):
                raise SandboxError(f"a sandbox service opened no session: {error}") from error
            raise
        threading.Thread(
            target=self._watch, args=(said,), name="remote-session", daemon=True
        ).start()
        return name

    def _watch(self, said: Iterator[dict[str, Any]]) -> None:
        """Wait for the session's end."""
        why = "its sandbox service ended it"
        try:
            for found in said:
                if isinstance(word := found.get("ended"), str):
                    why = word[:300]
        except (TransientError, MalformedError) as error:
            why = f"its sandbox service is lost: {error}"
        self.end(why)
        self._held.close()

    def ask(self, path: str, asked: dict[str, Any], longest: int, seconds: float) -> dict[str, Any]:
        """Return what the service says to a message.

        Raises SandboxError where the service is lost during it, which ends the session; SessionEndedError.
        """
        if self.ended is not None:
            raise SessionEndedError(f"the session is over: {self.ended}")
        with self._lock:
            connection = self._idle.pop() if self._idle else self._connect()
        whole = False
        try:
            said = json_objects(connection, path, asked, longest, seconds)
            found = _first(said)
            if next(said, None) is not None:
                raise MalformedError("a second answer")
            whole = True
        except RefusedError as refused:
            whole = True
            raise self._refused(refused) from refused
        except (TransientError, MalformedError) as error:
            if self.ended == _CLOSED:
                raise SessionEndedError("the session was closed during a message") from error
            self.end(f"its sandbox service is lost: {error}")
            raise SandboxError(f"a sandbox service was lost during a message: {error}") from error
        finally:
            with self._lock:
                if whole and self.ended is None:
                    self._idle.append(connection)
                else:
                    connection.close()
        return found

    def _refused(self, refused: RefusedError) -> Exception:
        if refused.reply.status in (413, 422):
            return UserError(f"the sandbox service refuses a message: {refused.reply.message()}")
        self.end(f"its sandbox service refuses it: {refused}")
        return SessionEndedError(f"the session is over: {self.ended}")

    def tell(self, path: str, asked: dict[str, Any]) -> None:
        """Tell the service something that needs no answer; where it is lost, it has ended by itself."""
        with contextlib.suppress(TransientError), contextlib.closing(self._connect()) as connection:
            connection.post(path, asked)

    def end(self, why: str) -> None:
        """Take note of the end and let go of every connection: the service closes what is still open."""
        with self._lock:
            self.ended = self.ended or why
            self._held.cut()
            for connection in self._idle:
                connection.close()
            self._idle.clear()


_CLOSED = "it was closed"


class RemoteSession:
    """Implements ``Session``. ``name`` is its name at the service; ``opener``: it is no fork."""

    def __init__(self, link: Link, name: str, limits: Limits, opener: bool = True) -> None:
        self._link, self._name, self._limits, self._opener = link, name, limits, opener
        self._ended: str | None = None

    @property
    def ended(self) -> str | None:
        """Why it is over, in words; None while it takes messages."""
        return self._ended or self._link.ended

    def run(self, source: str, limits: Limits | None = None) -> Outcome:
        """Run one message; see ``Session.run``."""
        if limits is not None:
            check_limits(limits)
        own = limits or self._limits
        asked = {"source": source, "limits": None if limits is None else codec.pack(limits)}
        seconds = WAIT_SECONDS + AROUND_SECONDS + MOST_STRETCH * own.wall_seconds
        found = self._ask("/session/run", asked, longest_line(own.output_kb), seconds)
        try:
            outcome = read_outcome(found)
        except MalformedError as error:
            raise SandboxError(f"a sandbox service sent no outcome: {error}") from error
        return replace(outcome, isolation=f"remote:{outcome.isolation}")

    def fork(self) -> RemoteSession:
        """Return a second session that starts with this one's state; see ``Session.fork``."""
        found = self._ask("/session/fork", {}, _LONGEST_WORD, WAIT_SECONDS + AROUND_SECONDS)
        if isinstance(name := found.get("session"), str):
            return RemoteSession(self._link, name, self._limits, opener=False)
        try:
            read_answer(found)  # the error that it is
        except MalformedError as error:
            raise SandboxError(f"a sandbox service forked no session: {error}") from error
        raise SandboxError("a sandbox service forked no session")

    def _ask(
        self, path: str, asked: dict[str, Any], longest: int, seconds: float
    ) -> dict[str, Any]:
        if self._ended is not None:
            raise SessionEndedError(f"the session is over: {self._ended}")
        found = self._link.ask(path, {"session": self._name, **asked}, longest, seconds)
        ended = found.pop("ended", None)
        if isinstance(ended, str):
            self._ended = self._ended or ended[:300]
        return found

    def close(self) -> None:
        """Kill it and all that it has started; the opened one also its forks."""
        if self._opener:
            self._link.end(_CLOSED)
        elif self.ended is None:
            self._ended = _CLOSED
            self._link.tell("/session/close", {"session": self._name})

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()


def _first(said: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Return the first object. Raises MalformedError where there is none."""
    found = next(said, None)
    if found is None:
        raise MalformedError("no answer")
    return found
