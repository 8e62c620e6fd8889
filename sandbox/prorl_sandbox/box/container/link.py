"""Init's ends of streams: frames from and to the host, bytes into a box; nothing unbounded.

Ends the container when the host is gone: init is the first process, so all others end with it.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import select
import time

from prorl_sandbox.box import wire
from prorl_sandbox.box.container import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Link:
    """Two non-blocking descriptors, ``incoming`` and ``outgoing``, and what waits on them."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = incoming, outgoing
        self._received, self._waiting = bytearray(), bytearray()
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)

    @property
    def waiting(self) -> int:
        """How many bytes are still to be sent."""
        return len(self._waiting)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Queue a frame and send what goes without waiting."""
        self._waiting += frames.frame(kind, body)
        self.flush()

    def tell(self, kind: bytes, **facts: Any) -> None:
        """Queue a frame with a JSON body."""
        self.send(kind, wire.to_json(facts).encode("ascii"))

    def flush(self) -> None:
        """Send what goes without waiting."""
        try:
            while self._waiting:
                del self._waiting[: os.write(self.outgoing, self._waiting[: frames.CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            os._exit(0)

    def flush_all(self) -> None:
        """Wait until all is sent."""
        poller = select.poll()
        poller.register(self.outgoing, select.POLLOUT)
        while self._waiting:
            poller.poll()
            self.flush()

    def receive(self) -> None:
        """Take in what has come; end the container when the host has hung up."""
        try:
            data = os.read(self.incoming, frames.CHUNK)
        except BlockingIOError:
            return
        except OSError:
            os._exit(0)
        if not data:
            os._exit(0)
        self._received += data

    def next(self) -> tuple[bytes, bytes] | None:
        """Take the next whole frame, None if there is none."""
        return frames.take(self._received)

    def wait(self, seconds: float) -> tuple[bytes, bytes]:
        """Wait for the next frame; end the container when none comes for so long."""
        deadline = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self.incoming, select.POLLIN)
        while (found := self.next()) is None:
            if time.monotonic() > deadline:
                os._exit(0)
            if poller.poll(1000):
                self.receive()
        return found


class Inlet:
    """Bytes on their way into a box: written as it takes them, dropped once it is closed."""

    def __init__(self, fd: int, is_socket: bool = False) -> None:
        self.fd = fd
        self.is_socket = is_socket
        self.pending = bytearray()
        self.ending = False
        self.taken = 0

    def write(self) -> None:
        """Write what goes; close after the last byte of an ended one."""
        try:
            while self.pending:
                count = os.write(self.fd, self.pending[: frames.CHUNK])
                del self.pending[:count]
                self.taken += count
        except BlockingIOError:
            return
        except OSError:  # the program does not listen any more
            self.taken += len(self.pending)
            self.pending.clear()
        if self.ending:
            self.close()

    def close(self) -> None:
        """Let go of the descriptor; a socket is also told that nothing more comes."""
        if self.fd >= 0:
            if self.is_socket:
                end = _socket.socket(fileno=self.fd)
                with contextlib.suppress(OSError):  # the other end is gone
                    end.shutdown(_socket.SHUT_WR)
                end.detach()
            os.close(self.fd)
            self.fd = -1
