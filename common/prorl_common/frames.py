"""Send and read JSON as length-prefixed frames: a 4-byte big-endian length and a body. Input is untrusted."""

from __future__ import annotations

import json
import math
import os
import re
import select
import struct
import time
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

HEADER = struct.Struct(">I")
MAX_FRAME = 256 * 1024 * 1024
"""Maximum size of a frame in bytes."""
MAX_DEPTH = 310
"""Maximum nesting of lists and objects: 100 levels of a sandbox value, each encoded as three, and a margin."""
MAX_DIGITS = 4300
"""Maximum digits of an integer, as in Python."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))  # ASCII; json.dumps would create one per call
_READ = 1 << 16
_READ_LARGE = 1 << 20
_WRITE = 1 << 16
_CONTAINERS, _BYTES_A_CONTAINER = 1_000_000, 32
_QUOTES, _BYTES_A_QUOTE = 2_000_000, 8
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""Matches a whole JSON string without backtracking."""
_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class FrameError(ValueError):
    """Raised if data is not a valid frame, or not JSON within the limits."""


class FrameTooLong(FrameError):
    """Raised if a frame has more bytes than allowed."""


class FrameTimeout(Exception):
    """Raised if the deadline passes before a whole frame is transferred."""


def take_frame(buffer: bytearray, limit: int) -> bytes | None:
    """Remove the first frame from ``buffer``; return its body, or None if the frame is incomplete.

    Raises FrameTooLong if its body has more than ``limit`` bytes.
    """
    if len(buffer) < HEADER.size:
        return None
    (size,) = HEADER.unpack_from(buffer)
    if size > limit:
        raise FrameTooLong(f"a frame of {size} bytes is longer than the limit of {limit}")
    end = HEADER.size + size
    if len(buffer) < end:
        return None
    body = bytes(buffer[HEADER.size : end])
    del buffer[:end]
    return body


def holds_frame(buffer: bytearray) -> bool:
    header = HEADER.size
    return len(buffer) >= header and len(buffer) >= header + HEADER.unpack_from(buffer)[0]


def read_json(data: bytes, nan: bool = False) -> Any:
    """Parse untrusted UTF-8 JSON. Raises FrameError for invalid JSON or values beyond the limits.

    Limits: nesting of MAX_DEPTH, about a million lists and objects, integers of MAX_DIGITS digits, finite floats,
    unique keys. NaN and infinities are rejected unless ``nan``. Memory use is at most 64 MiB plus 32 times the size of
    ``data``.
    """
    try:
        _check_nesting(data)
        return (_WITH_NAN if nan else _STRICT).decode(data.decode())
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not valid JSON ({str(error)[:200]})") from error


def _check_nesting(data: bytes) -> None:
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    # A string that ends in a backslash hides one of its two quotes, so this may be half the true count.
    quotes = data.count(b'"') - data.count(b'\\"')
    if quotes > _QUOTES + len(data) // _BYTES_A_QUOTE:
        raise FrameError("the JSON contains too many strings")
    brackets = _STRING.sub(b"", data).translate(None, _NOT_BRACKETS)
    containers = brackets.count(b"[") + brackets.count(b"{")
    if containers > _CONTAINERS + len(data) // _BYTES_A_CONTAINER:
        raise FrameError(f"the JSON contains too many lists and objects ({containers})")
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        raise FrameError(f"lists and objects are nested deeper than {MAX_DEPTH} levels")


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise FrameError(f"an integer has {len(text)} digits, more than {MAX_DIGITS}")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise FrameError("a number is beyond the range of a float")
    return value


def _refuse(constant: str) -> float:
    raise FrameError(f"{constant} is not JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise FrameError("an object has the same key twice")
    return value


def _decoder(constant: Callable[[str], float]) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_int=_integer,
        parse_float=_number,
        parse_constant=constant,
        object_pairs_hook=_unique_keys,
    )


_STRICT, _WITH_NAN = _decoder(_refuse), _decoder(float)


def encode(message: Mapping[str, Any]) -> bytes:
    """Return ``message`` as a frame with an ASCII JSON body. Raises FrameError if it is too long."""
    return frame(_ENCODER.encode(message).encode("ascii"))


def frame(body: bytes) -> bytes:
    """Return ``body`` as one frame. Raises FrameError if it is too long."""
    if len(body) > MAX_FRAME:
        raise FrameError(f"a frame of {len(body)} bytes is longer than the limit of {MAX_FRAME}")
    return HEADER.pack(len(body)) + body


def send(handle: int, message: Mapping[str, Any], deadline: float | None = None) -> None:
    """Write ``message`` as a frame to the file descriptor ``handle``. Raises FrameError, FrameTimeout.

    A ``deadline`` (in ``time.monotonic`` seconds) requires a non-blocking descriptor.
    """
    write(handle, encode(message), deadline)


def write(handle: int, data: bytes, deadline: float | None = None) -> None:
    """Write encoded frames; see :func:`send`."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(handle, view[:_WRITE]) :]
        except BlockingIOError:
            _wait(handle, select.POLLOUT, deadline)
        except BrokenPipeError as error:
            raise FrameError("the pipe was closed by the other process") from error


class Reader:
    """Reads framed JSON objects from a file descriptor, non-blocking if there are deadlines. Not thread-safe."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._buffer = bytearray()

    @property
    def waiting(self) -> bool:
        """Whether part of the next frame has already been received."""
        if self._buffer:
            return True
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        return any(event & select.POLLIN for _, event in poller.poll(0))

    def receive(self, deadline: float | None = None, limit: int = MAX_FRAME) -> dict[str, Any]:
        """Return the object in the next frame. Raises FrameError, FrameTimeout."""
        message = read_json(
            self.receive_body(deadline, limit), nan=True
        )  # a task's reference may hold NaN
        if not isinstance(message, dict):
            raise FrameError("a frame must contain a JSON object")
        return message

    def receive_body(self, deadline: float | None = None, limit: int = MAX_FRAME) -> bytes:
        """Return the next frame's body, of at most ``limit`` bytes. Raises FrameError, FrameTimeout."""
        while (body := take_frame(self._buffer, limit)) is None:
            self._read(deadline)
        return body

    def _read(self, deadline: float | None) -> None:
        if deadline is not None:
            _wait(self._handle, select.POLLIN, deadline)
        try:
            part = os.read(self._handle, _READ if len(self._buffer) < _READ else _READ_LARGE)
        except BlockingIOError:
            return
        if not part:
            raise FrameError("the pipe was closed by the other process")
        self._buffer += part


def _wait(handle: int, event: int, deadline: float | None) -> None:
    if deadline is None:
        return
    left = deadline - time.monotonic()
    poller = select.poll()
    poller.register(handle, event)
    if left <= 0 or not poller.poll(left * 1000):
        raise FrameTimeout
