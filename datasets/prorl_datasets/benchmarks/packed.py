"""Read LiveCodeBench's packed private tests without unpickling anything.

The text is base64 of zlib of a pickle. ``pickletools.genops`` names its opcodes and runs none; only
the opcodes that write one text are allowed, so nothing can be imported, built or called. One other
shape is known: SandboxFusion's copy packs {"input_output": text}. Leaves out: what the text says.
"""

from __future__ import annotations

import base64
import binascii
import pickletools
import zlib

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""The most that one row's tests may unpack to; a longer stream is refused as soon as it is."""

MAX_OPCODES = 32
"""One text takes five opcodes, a pair nine; FRAME and PROTO may repeat. More are refused unread."""

_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_SILENT = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT")
_PAIR = ("EMPTY_DICT", "text", "text", "SETITEM", "STOP")
_PAIR_KEY = "input_output"


class PackedError(ValueError):
    """The packed text is damaged, too large, or holds an opcode that is not allowed."""


def unpack_text(packed: str, limit: int = MAX_UNPACKED_BYTES) -> str:
    """Return the one text in ``packed``. Raises PackedError (one line); ``limit`` is in bytes."""
    try:
        squeezed = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise PackedError(f"not base64 ({error})") from error
    machine = zlib.decompressobj()
    try:
        data = machine.decompress(squeezed, limit + 1)
    except zlib.error as error:
        raise PackedError(f"not a zlib stream ({error})") from error
    if len(data) > limit:
        raise PackedError(f"unpacks to more than {limit:,} bytes")
    if not machine.eof or machine.unused_data:
        raise PackedError("the zlib stream is cut off or followed by other bytes")
    return pickled_text(data)


def pickled_text(data: bytes) -> str:
    """Return the text that a pickle of one text holds, read by opcode. Raises PackedError."""
    seen: list[str] = []
    texts: list[str] = []
    last = 0
    try:
        for number, (opcode, argument, position) in enumerate(pickletools.genops(data)):
            last = position if position is not None else last
            if number >= MAX_OPCODES:
                raise PackedError(
                    f"a pickle of more than {MAX_OPCODES} opcodes holds no single text"
                )
            if opcode.name in _SILENT:
                continue
            if opcode.name in _TEXTS:
                texts.append(str(argument))
                seen.append("text")
            elif opcode.name == "STOP" or opcode.name in _PAIR:
                seen.append(opcode.name)
            else:
                raise PackedError(f"pickle opcode {opcode.name} is not allowed")
    except PackedError:
        raise
    except (ValueError, UnicodeDecodeError) as error:
        raise PackedError(f"not a whole pickle ({error})") from error
    if last != len(data) - 1:
        raise PackedError("bytes follow the pickle's end")
    if seen == ["text", "STOP"]:
        return texts[0]
    if tuple(seen) == _PAIR and texts[0] == _PAIR_KEY:
        return texts[1]
    raise PackedError(f"the pickle holds no single text (opcodes {' '.join(seen[:8])})")
