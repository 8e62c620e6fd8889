"""Length-prefixed JSON frames on pipes, the only thing that passes between pool and worker.

A frame is a 4-byte big-endian length and that many bytes of ASCII JSON (an object). Leaves out: processes
(``worker_client``) and what the objects mean (``worker``).
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


class FrameError(Exception):
    """The other side closed the pipe or sent something that is not a frame."""


class FrameTimeout(Exception):
    """The deadline passed before a whole frame went through."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return ``message`` as one frame. Lone surrogates survive, as JSON escapes."""
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    if len(body) > MAX_FRAME:
        raise FrameError(f"a frame of {len(body)} bytes is longer than {MAX_FRAME}")
    return _HEADER.pack(len(body)) + body


def send(handle: int, message: Mapping[str, Any], deadline: float | None = None) -> None:
    """Write one frame to a file descriptor; ``deadline`` is in ``time.monotonic`` seconds.

    With a deadline the descriptor must be non-blocking. Raises FrameError, FrameTimeout.
    """
    view = memoryview(encode(message))
    while view:
        _wait(handle, select.POLLOUT, deadline)
        try:
            view = view[os.write(handle, view[: 1 << 16]) :]
        except BlockingIOError:
            continue
        except BrokenPipeError as error:
            raise FrameError("the other side closed the pipe") from error


def receive(handle: int, deadline: float | None = None, limit: int = MAX_FRAME) -> dict[str, Any]:
    """Read one frame of at most ``limit`` bytes. Raises FrameError, FrameTimeout."""
    (length,) = _HEADER.unpack(_read(handle, _HEADER.size, deadline))
    if length > limit:
        raise FrameError(f"a frame of {length} bytes is longer than {limit}")
    try:
        message = json.loads(_read(handle, length, deadline))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not a JSON frame: {error}") from error
    if not isinstance(message, dict):
        raise FrameError("a frame must hold a JSON object")
    return message


def _read(handle: int, count: int, deadline: float | None) -> bytes:
    parts = []
    while count:
        _wait(handle, select.POLLIN, deadline)
        try:
            part = os.read(handle, min(count, 1 << 20))
        except BlockingIOError:
            continue
        if not part:
            raise FrameError("the other side closed the pipe")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _wait(handle: int, event: int, deadline: float | None) -> None:
    if deadline is None:
        return
    left = deadline - time.monotonic()
    poller = select.poll()
    poller.register(handle, event)
    if left <= 0 or not poller.poll(left * 1000):
        raise FrameTimeout
