"""Frames between the host and a container's init, both ways over one stream.

A frame is one byte of kind, four bytes of length (big-endian) and a body. What a program reads or
writes is an opaque body here.

Host to init: ORDER (marshal: what the next run is), FILE (bytes of the program's file), JOB (bytes
for the box), GO, INPUT and TALK (bytes of standard input and channel), INPUT_END, TALK_END, RENEW
(marshal: new limits of processor time, counted from then on), KILL.
Init to host: HELLO, STARTED, the bytes of OUT, ERR and TALK, TAKEN (room for more input), WATCH
(how long the run was kept waiting, whether it is over its processor limit), RENEWED, END, CLEAN,
FAULT. The bodies of HELLO, WATCH, RENEWED, END and CLEAN are JSON.
"""

from __future__ import annotations

import struct

ORDER, FILE, JOB, GO = b"o", b"f", b"j", b"g"
INPUT, INPUT_END, TALK, TALK_END, RENEW, KILL = b"i", b"q", b"t", b"z", b"r", b"k"
HELLO, STARTED, OUT, ERR, TAKEN = b"h", b"s", b"1", b"2", b"a"
WATCH, RENEWED, END, CLEAN, FAULT = b"w", b"n", b"e", b"c", b"x"
CHUNK = 65536
WINDOW = 8 * CHUNK
"""Bytes of INPUT, and of TALK, that may be under way to a box before it has taken them."""
LARGEST = 4 * WINDOW
FOLDERS = ("/scratch", "/compile")
"""Folders that programs may write below; the second one is the compilers'."""
PROGRAM_FOLDER = "/box"
_HEAD = struct.Struct(">cI")
TAKEN_BODY = struct.Struct(">cI")


class BrokenStream(Exception):
    """The other side sent what is no frame."""


def frame(kind: bytes, body: bytes = b"") -> bytes:
    """Return one frame; ``body`` is at most LARGEST bytes."""
    return _HEAD.pack(kind, len(body)) + body


def chunks(kind: bytes, data: bytes) -> bytes:
    """Return ``data`` as frames of at most CHUNK bytes; no frame for no data."""
    parts = range(0, len(data), CHUNK)
    return b"".join([frame(kind, data[start : start + CHUNK]) for start in parts])


def take(buffer: bytearray) -> tuple[bytes, bytes] | None:
    """Take a whole frame off the front of ``buffer``, None if there is none. Raises BrokenStream."""
    if len(buffer) < _HEAD.size:
        return None
    kind, size = _HEAD.unpack_from(buffer)
    if size > LARGEST:
        raise BrokenStream(f"a frame of {size} bytes")
    end = _HEAD.size + size
    if len(buffer) < end:
        return None
    body = bytes(buffer[_HEAD.size : end])
    del buffer[:end]
    return kind, body
