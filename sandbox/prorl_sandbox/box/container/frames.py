"""Messages between the host and a container's first process.

A frame is one byte for the kind, a 4-byte big-endian length and a body.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import select
import struct
import time

from prorl_sandbox.box import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ORDER, FILE, JOB, GO = b"o", b"f", b"j", b"g"
INPUT, INPUT_END, TALK, TALK_END, RENEW, KILL = b"i", b"q", b"t", b"z", b"r", b"k"
HELLO, STARTED, OUT, ERR, TAKEN = b"h", b"s", b"1", b"2", b"a"
WATCH, RENEWED, END, CLEAN, FAULT = b"w", b"n", b"e", b"c", b"x"
CHUNK = 65536
WINDOW = 8 * CHUNK
"""Maximum bytes of standard input (or messages) that the host sends before the program has read earlier ones."""
LARGEST = 4 * WINDOW
FOLDERS = ("/scratch", "/compile")
"""Folders that programs may write to. The second is used for compiling."""
PROGRAM_FOLDER = "/box"
_HEAD = struct.Struct(">cI")
TAKEN_BODY = struct.Struct(">cI")


class BrokenStream(Exception):
    """Raised if the other side sends a malformed frame."""


def frame(kind: bytes, body: bytes = b"") -> bytes:
    return _HEAD.pack(kind, len(body)) + body


def chunks(kind: bytes, data: bytes) -> bytes:
    parts = range(0, len(data), CHUNK)
    return b"".join([frame(kind, data[start : start + CHUNK]) for start in parts])


def take(buffer: bytearray) -> tuple[bytes, bytes] | None:
    """Remove the first complete frame of ``buffer``, or return None. Raises BrokenStream."""
    if len(buffer) < _HEAD.size:
        return None
    kind, size = _HEAD.unpack_from(buffer)
    if size > LARGEST:
        raise BrokenStream(f"a frame has {size} bytes, more than the limit of {LARGEST}")
    end = _HEAD.size + size
    if len(buffer) < end:
        return None
    body = bytes(buffer[_HEAD.size : end])
    del buffer[:end]
    return kind, body


class Link:
    """Buffered, non-blocking connection to the host. The process exits when the host disconnects."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = incoming, outgoing
        self._received, self._waiting = bytearray(), bytearray()
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Queue a frame and send as much as possible without blocking."""
        self._waiting += frame(kind, body)
        self.flush()

    def send_json(self, kind: bytes, **facts: Any) -> None:
        self.send(kind, wire.to_json(facts).encode("ascii"))

    def flush(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: os.write(self.outgoing, self._waiting[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            os._exit(0)

    def flush_all(self) -> None:
        poller = select.poll()
        poller.register(self.outgoing, select.POLLOUT)
        while self._waiting:
            poller.poll()
            self.flush()

    def receive(self) -> None:
        try:
            data = os.read(self.incoming, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            os._exit(0)
        if not data:
            os._exit(0)
        self._received += data

    def next(self) -> tuple[bytes, bytes] | None:
        return take(self._received)

    def wait(self, seconds: float) -> tuple[bytes, bytes]:
        """Return the next frame. The process exits if none arrives within ``seconds``."""
        deadline = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self.incoming, select.POLLIN)
        while (received := self.next()) is None:
            if time.monotonic() > deadline:
                os._exit(0)
            if poller.poll(1000):
                self.receive()
        return received


class Inlet:
    """Buffers data for a file descriptor that the program reads."""

    def __init__(self, fd: int, is_socket: bool = False) -> None:
        self.fd = fd
        self.is_socket = is_socket
        self.pending = bytearray()
        self.ending = False
        self.taken = 0

    def write(self) -> None:
        """Write without blocking. After the last byte, close the descriptor if ``ending`` is set."""
        try:
            while self.pending:
                count = os.write(self.fd, self.pending[:CHUNK])
                del self.pending[:count]
                self.taken += count
        except BlockingIOError:
            return
        except OSError:  # the program has closed its end
            self.taken += len(self.pending)
            self.pending.clear()
        if self.ending:
            self.close()

    def close(self) -> None:
        if self.fd >= 0:
            if self.is_socket:
                end = _socket.socket(fileno=self.fd)
                with contextlib.suppress(OSError):  # the other end is gone
                    end.shutdown(_socket.SHUT_WR)
                end.detach()
            os.close(self.fd)
            self.fd = -1
