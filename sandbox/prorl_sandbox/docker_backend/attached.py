"""The attached stream of a container: docker's multiplexed frames off the wire, ours out of them.

Non-blocking; holds at most a socket buffer's worth beyond whole frames. What comes on the
container's standard error is kept, at most a few kilobytes, to say why it did not come up.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import threading
from typing import Any

from prorl_sandbox.box.container import frames

_CHUNK = 1 << 18
_MUX = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_LONGEST_COMPLAINT = 4096
_LARGEST_MUX = 1 << 24


class Demultiplexer:
    """Takes docker's frames (8 bytes of head: stream and length) apart as bytes come in."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self._head = bytearray()
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> None:
        """Sort ``data`` into ``output`` and ``errors``. Raises BrokenStream."""
        view = memoryview(data)
        while view:
            if not self._left:
                wanted = _MUX.size - len(self._head)
                self._head += view[:wanted]
                view = view[wanted:]
                if len(self._head) < _MUX.size:
                    return
                self._stream, self._left = _MUX.unpack(self._head)
                self._head.clear()
                if self._stream not in (_STDOUT, _STDERR) or self._left > _LARGEST_MUX:
                    raise frames.BrokenStream("not a multiplexed stream")
                continue
            part = view[: self._left]
            view = view[self._left :]
            self._left -= len(part)
            if self._stream == _STDOUT:
                self.output += part
            elif len(self.errors) < _LONGEST_COMPLAINT:
                self.errors += part


class Attached:
    """A socket that the SDK gave us. One thread pumps; ``send`` may come from any."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle  # keeps the SDK's response, and with it the socket, alive
        self._socket: socket.socket = getattr(handle, "_sock", handle)
        self._socket.setblocking(False)
        self.fd = self._socket.fileno()
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self._input = Demultiplexer()
        self.ended = False

    @property
    def mask(self) -> int:
        """What to poll for."""
        return select.POLLIN | (select.POLLOUT if self._waiting else 0)

    def send(self, data: bytes) -> None:
        """Queue bytes and send what goes without waiting."""
        with self._lock:
            self._waiting += data
            self._flush()

    def pump(self) -> None:
        """Send and receive what goes without waiting."""
        with self._lock:
            self._flush()
        try:
            while not self.ended:
                data = self._socket.recv(_CHUNK)
                self.ended = not data
                self._input.feed(data)
                if len(data) < _CHUNK and not isinstance(self._socket, ssl.SSLSocket):
                    return
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except (OSError, frames.BrokenStream):
            self.ended = True

    def _flush(self) -> None:
        try:
            while self._waiting and not self.ended:
                del self._waiting[: self._socket.send(self._waiting[:_CHUNK])]
        except (BlockingIOError, ssl.SSLWantWriteError):
            return
        except OSError:
            self._waiting.clear()  # the reading side sees the end and says so

    def next(self) -> tuple[bytes, bytes] | None:
        """Take the next whole frame of init's, None if there is none."""
        try:
            return frames.take(self._input.output)
        except frames.BrokenStream:
            self.ended = True
            return None

    def complaint(self) -> str:
        """Return the last line that the container wrote to its standard error."""
        lines = self._input.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    @staticmethod
    def facts(body: bytes) -> dict[str, Any]:
        """Return the JSON object of a frame's body; an empty one when it is none."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def hang_up(self) -> None:
        """Close the stream: init sees the end of its input and ends the container."""
        self.ended = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Free the descriptor. Nobody may be polling it any more."""
        self.hang_up()
        response = getattr(self._handle, "_response", None)  # where the SDK keeps it
        (response or self._handle).close()
        self._handle.close()
        self._socket.close()
