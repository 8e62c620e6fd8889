"""Length-prefixed JSON frames on pipes, the only thing that passes between pool and worker.

A frame is a 4-byte big-endian length and that many bytes of ASCII JSON (an object).
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import Any

MAX_FRAME = 256 * 1024 * 1024
"""Bytes; a longer frame is refused on both sides."""

_HEADER = struct.Struct(">I")
_ENCODER = json.JSONEncoder(separators=(",", ":"))  # ASCII; json.dumps would make one a call
_READ = 1 << 16
_READ_LARGE = 1 << 20
_WRITE = 1 << 16


class FrameError(Exception):
    """The other side closed the pipe or sent something that is not a frame."""


class FrameTimeout(Exception):
    """The deadline passed before a whole frame went through."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return ``message`` as one frame. Lone surrogates survive, as JSON escapes.

    Raises FrameError for a message that is too long; what JSON cannot hold raises as ``json`` does.
    """
    body = _ENCODER.encode(message).encode("ascii")
    if len(body) > MAX_FRAME:
        raise FrameError(f"a frame of {len(body)} bytes is longer than {MAX_FRAME}")
    return _HEADER.pack(len(body)) + body


def send(handle: int, message: Mapping[str, Any], deadline: float | None = None) -> None:
    """Write one frame to a file descriptor; ``deadline`` is in ``time.monotonic`` seconds.

    With a deadline the descriptor must be non-blocking. Raises FrameError, FrameTimeout.
    """
    write(handle, encode(message), deadline)


def write(handle: int, data: bytes, deadline: float | None = None) -> None:
    """Write encoded frames; see ``send``."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(handle, view[:_WRITE]) :]
        except BlockingIOError:
            _wait(handle, select.POLLOUT, deadline)
        except BrokenPipeError as error:
            raise FrameError("the other side closed the pipe") from error


class Reader:
    """Reads frames from one file descriptor; keeps what came beyond the end of a frame.

    With deadlines the descriptor must be non-blocking. Not thread-safe.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._buffer = bytearray()

    @property
    def waiting(self) -> bool:
        """Whether bytes have been read that belong to a frame not yet received."""
        return bool(self._buffer)

    def receive(self, deadline: float | None = None, limit: int = MAX_FRAME) -> dict[str, Any]:
        """Return the next frame, of at most ``limit`` bytes. Raises FrameError, FrameTimeout."""
        self._fill(_HEADER.size, deadline)
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > limit:
            raise FrameError(f"a frame of {length} bytes is longer than {limit}")
        end = _HEADER.size + length
        self._fill(end, deadline)
        body = bytes(self._buffer[_HEADER.size : end])
        del self._buffer[:end]
        try:
            message = json.loads(body.decode("ascii"))
        except (ValueError, RecursionError) as error:
            raise FrameError(f"not a JSON frame: {error}") from error
        if not isinstance(message, dict):
            raise FrameError("a frame must hold a JSON object")
        return message

    def _fill(self, count: int, deadline: float | None) -> None:
        """Read until the buffer holds ``count`` bytes."""
        while len(self._buffer) < count:
            if deadline is not None:
                _wait(self._handle, select.POLLIN, deadline)
            missing = count - len(self._buffer)
            try:
                part = os.read(self._handle, _READ if missing < _READ else _READ_LARGE)
            except BlockingIOError:
                continue
            if not part:
                raise FrameError("the other side closed the pipe")
            self._buffer += part


def _wait(handle: int, event: int, deadline: float | None) -> None:
    if deadline is None:
        return
    left = deadline - time.monotonic()
    poller = select.poll()
    poller.register(handle, event)
    if left <= 0 or not poller.poll(left * 1000):
        raise FrameTimeout
