"""Limit the number of connections to a service, and how long each may be idle."""

from __future__ import annotations

import ipaddress
import os
import resource
import time
from enum import Enum
from typing import Any

import h11
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from prorl_common.serving.options import ConnectionLimits
from prorl_common.serving.requests import busy, refused

ACCEPTED_AT_ONCE = 16
"""Maximum number of connections accepted in one turn of the event loop."""
SPARE_FILES = 6 * ACCEPTED_AT_ONCE
"""Number of file descriptors kept free for new connections and the service's files."""
OTHER_FILES = 1024
"""File descriptors to request from the system in addition to one per connection."""
PROGRESS_BYTES = 256 * 1024
"""The time limit of an answer restarts whenever the peer has read this many bytes."""


class Phase(Enum):
    """What a connection waits for. The values are field names of ConnectionLimits."""

    IDLE = "idle"  # the next request
    HEADER = "header"  # the rest of a request's header
    BODY = "body"  # the rest of a request's body
    WORK = "work"  # the service
    ANSWER = "answer"  # the peer to read its answer
    LEFTOVER = "leftover"  # the rest of a body that was answered early


class ConnectionGuard:
    """Creates a service's connections and enforces their limits, in one event loop.

    A peer may keep the service waiting on a quarter of all connections. When all are in use, the peer with the most
    waiting connections loses the oldest of them.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._files = _raise_open_files(limits.most + OTHER_FILES)
        self._connections: set[GuardedConnection] = set()
        self._waiting: dict[str, dict[GuardedConnection, None]] = {}
        self.sweep()

    def protocol(self, **options: Any) -> GuardedConnection:
        return GuardedConnection(self, **options)

    def sweep(self) -> None:
        """Close connections whose time limit has passed. Must be called about once a second."""
        now = time.monotonic()
        for connection in list(self._connections):
            connection.update()
            if now >= connection.deadline and not connection.progresses():
                connection.abort()
        other_files = len(os.listdir("/proc/self/fd")) - len(self._connections)
        self.most = max(4, min(self.limits.most, self._files - other_files - SPARE_FILES))
        # All connections accepted in one turn count as waiting, however soon their requests arrive.
        self.peer_most = max(2 * ACCEPTED_AT_ONCE, self.most // 4)

    def add(self, connection: GuardedConnection) -> bool:
        """Add a new connection and close another if necessary. Returns False if the service has too many."""
        from_peer = self._waiting.get(connection.peer, {})
        if connection.peer and len(from_peer) >= self.peer_most:
            next(iter(from_peer)).abort()
        if len(self._connections) >= self.most:
            waiting = max(self._waiting.values(), key=len, default=None)
            if not waiting:
                return False
            next(iter(waiting)).abort()
        self._connections.add(connection)
        self.update_waiting(connection)
        return True

    def remove(self, connection: GuardedConnection) -> None:
        self._connections.discard(connection)
        waiting = self._waiting.get(connection.peer, {})
        waiting.pop(connection, None)
        if not waiting:
            self._waiting.pop(connection.peer, None)

    def update_waiting(self, connection: GuardedConnection) -> None:
        """Record whether the connection may be closed to make room for others."""
        if connection in self._connections:
            self.remove(connection)
            self._connections.add(connection)
            if connection.phase not in (Phase.BODY, Phase.WORK):
                self._waiting.setdefault(connection.peer, {})[connection] = None

    def admits(self, connection: GuardedConnection, method: str) -> bool:
        """Return whether to accept a request after reading its header. GET and HEAD requests are always accepted."""
        if method in ("GET", "HEAD") and connection.phase is not Phase.BODY:
            return True
        bodies = [other for other in self._connections if other.phase is Phase.BODY]
        working = sum(other.phase is Phase.WORK for other in self._connections)
        from_peer = sum(other.peer == connection.peer for other in bodies) if connection.peer else 0
        return from_peer <= self.peer_most and len(bodies) + working <= self.most * 3 // 4


class GuardedConnection(H11Protocol):
    """A uvicorn connection with a time limit for each phase."""

    def __init__(self, guard: ConnectionGuard, **options: Any) -> None:
        super().__init__(**options)
        self._guard = guard
        self._service, self.app = self.app, self._answer
        self._unsent = 0
        self.peer = ""
        self._enter(Phase.HEADER)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.peer = _peer(self.client)
        if not self._guard.add(self):
            response = _no_room()
            lines = [b"%s: %s\r\n" % header for header in response.raw_headers]
            head = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
            transport.write(head + b"".join(lines) + b"\r\n" + response.body)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # garbage after an answer: there is no second answer
            self.abort()
        if (
            self.cycle is not None
            and self.conn.their_state is h11.DONE
            and self.conn.trailing_data[0]
        ):
            self.cycle.keep_alive = False  # ignore requests sent before the first was answered
        self.update()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.update()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.update()

    def update(self) -> None:
        """Determine the current phase. A new phase restarts the time limit."""
        phase = self._current_phase()
        if phase is not self.phase:
            self._enter(phase)
            self._unsent = self.transport.get_write_buffer_size()
            self._guard.update_waiting(self)

    def progresses(self) -> bool:
        """Return whether the peer has read more of a long answer, and if so restart the time limit."""
        unsent = self.transport.get_write_buffer_size()
        if self.phase is not Phase.ANSWER or unsent > self._unsent - PROGRESS_BYTES:
            return False
        self._unsent = unsent
        self._enter(Phase.ANSWER)
        return True

    def abort(self) -> None:
        """Close the connection immediately. Unsent data is lost."""
        self._guard.remove(self)
        self.transport.abort()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted = self._guard.admits(self, scope["method"])
        await (self._service if admitted else _no_room())(scope, receive, send)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        seconds: float = getattr(self._guard.limits, phase.value)
        self.deadline = time.monotonic() + seconds

    def _current_phase(self) -> Phase:
        if self.cycle is None:
            return Phase.HEADER
        if not self.cycle.response_complete:
            if self.flow.write_paused or self.transport.is_closing():
                return Phase.ANSWER
            return Phase.BODY if self.cycle.more_body else Phase.WORK
        if self.transport.get_write_buffer_size():
            return Phase.ANSWER
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.LEFTOVER
        return Phase.HEADER if self.conn.trailing_data[0] else Phase.IDLE


def _no_room() -> Response:
    return refused(busy("too many connections", 1.0))


def _peer(client: tuple[str, int] | None) -> str:
    if client is None:
        return ""
    address = ipaddress.ip_address(client[0])
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or int(address) >> 64)
    return str(address)


def _raise_open_files(limit: int) -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return limit
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(soft, allowed)
