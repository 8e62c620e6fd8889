"""Values and frames as they cross the fence. Never pickle.

Out of a box comes tagged JSON, decoded by the host with limits on size, depth, parts and key
collisions. Into a box, from the trusted host, goes marshal, which keeps types and needs no import.
Known values: None, bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, of
exactly these types; a subclass is refused, except collections' Counter, defaultdict and
OrderedDict, which cross as dict; and what ``columns`` knows of numpy and pandas. A frame is a 4-byte big-endian length and a body. Compares
nothing.

Start-up time is part of every run, so the box's half uses only modules that cost nothing to import.
"""

from __future__ import annotations

import builtins
import sys
import time
from _json import encode_basestring_ascii
from marshal import dumps, loads
from os import read, write
from struct import pack as pack_struct
from struct import unpack as unpack_struct

from prorl_sandbox.box import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Bound before any program runs: what it makes of builtins and of modules that it shares with us changes
# nothing but its own output.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

MAX_DEPTH = 100
MAX_NODES = 1_000_000
MAX_FRAME = 64 * 1024 * 1024
_MARSHAL_VERSION = 2
_SMALL_INT = 1 << 62
_MAX_INT_BITS = 332_193  # 100,000 decimal digits
_SAME_HASH = 16
_DECODE_SECONDS = 2.0
_KEYS_BETWEEN_LOOKS = 512
_DICTS = ("Counter", "defaultdict", "OrderedDict")
_SEQUENCES: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}


class Unserialisable(Exception):
    """The value has a type, depth or size that does not cross."""


class TooLarge(Exception):
    """The value holds an integer of more digits than may cross."""


class MalformedFrame(Exception):
    """Bytes from the box are not a frame, or its value breaks a limit."""


def encode(value: Any) -> Any:
    """Return ``value`` as tagged JSON; raises Unserialisable, TooLarge."""
    return _encode(value, 0, [MAX_NODES])


def _encode(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth > MAX_DEPTH:
        raise Unserialisable(f"nested deeper than {MAX_DEPTH}")
    if budget[0] < 0:
        raise Unserialisable(f"more than {MAX_NODES} parts")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        if value.bit_length() > _MAX_INT_BITS:
            raise TooLarge("an integer of more than 100,000 digits")
        small = -_SMALL_INT < value < _SMALL_INT
        return value if small else {"t": "int", "v": format(value, "x")}
    if kind is float:
        finite = value - value == 0
        return value if finite else {"t": "float", "v": repr(value)}
    if kind is complex:
        parts = [_encode(value.real, depth, budget), _encode(value.imag, depth, budget)]
        return {"t": "complex", "v": parts}
    if kind is bytes:
        return {"t": "bytes", "v": value.hex()}
    if kind is list:
        return [_encode(item, depth + 1, budget) for item in value]
    if kind in _SEQUENCES:
        return {"t": _SEQUENCES[kind], "v": [_encode(i, depth + 1, budget) for i in value]}
    module = sys.modules.get("collections")  # not loaded: the program cannot have made one of its
    if kind is dict or (module and any(kind is getattr(module, name, None) for name in _DICTS)):
        pairs = [
            [_encode(k, depth + 1, budget), _encode(v, depth + 1, budget)]
            for k, v in dict.items(value)
        ]
        return {"t": "dict", "v": pairs}
    try:
        found = columns.plain_or_tagged(value)
    except columns.Refused as error:
        raise Unserialisable(str(error)) from error
    if found is None:
        raise Unserialisable(f"a value of type {kind.__name__} cannot leave the box")
    tag, parts = found
    plain = _encode(parts, depth, budget)
    return {"t": tag, "v": plain} if tag else plain


def decode(value: Any) -> Any:
    """Return the Python value of tagged JSON; raises MalformedFrame.

    Also for a value made to take long: keys chosen to collide in a table cost quadratic time. What
    ``columns`` knows comes as builtin types.
    """
    return _decode(value, 0, _Budget())


def decode_for_box(value: Any) -> tuple[Any, bool]:
    """Return what another box is to get, which may have to ``revive`` it, and whether it has to;
    raises MalformedFrame."""
    budget = _Budget(carry=True)
    return _decode(value, 0, budget), budget.carried


class _Budget:
    """What one value may still cost: parts, and processor seconds of this thread."""

    def __init__(self, carry: bool = False) -> None:
        self.carry = carry
        self.carried = False
        self.nodes = MAX_NODES
        self._deadline = time.thread_time() + _DECODE_SECONDS

    def check_time(self, number: int) -> None:
        """Raise MalformedFrame when the time is used up; looks at the clock now and then."""
        if number % _KEYS_BETWEEN_LOOKS == 0 and time.thread_time() > self._deadline:
            raise MalformedFrame("value takes too long to read")


def _decode(value: Any, depth: int, budget: _Budget) -> Any:
    budget.nodes -= 1
    if depth > MAX_DEPTH or budget.nodes < 0:
        raise MalformedFrame("value too deep or too large")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_decode(item, depth + 1, budget) for item in value]
    if not isinstance(value, dict) or set(value) != {"t", "v"}:
        raise MalformedFrame("unknown shape")
    tag, body = value["t"], value["v"]
    if type(tag) is not str:
        raise MalformedFrame("bad tag")
    if isinstance(body, str):
        try:
            if tag == "int" and len(body) <= _MAX_INT_BITS // 4 + 2:
                return int(body, 16)
            if tag == "bytes":
                return bytes.fromhex(body)
        except ValueError as error:
            raise MalformedFrame(f"bad body of {tag!r}") from error
        if tag == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        raise MalformedFrame(f"unknown tag {tag!r}")
    if not isinstance(body, list):
        raise MalformedFrame(f"bad body of {tag!r}")
    if tag == "dict":
        return _decode_dict(body, depth, budget)
    if tag in columns.TAGS:
        return _decode_columns(tag, body, depth, budget)
    if tag == "tuple":
        return tuple([_decode(item, depth + 1, budget) for item in body])
    items = _decode_keys(body, depth, budget)
    if tag == "complex":
        if len(items) != 2 or not all(type(item) is float for item in items):
            raise MalformedFrame("bad complex number")
        return complex(items[0], items[1])
    if tag not in ("set", "frozenset"):
        raise MalformedFrame(f"unknown tag {tag!r}")
    members = dict.fromkeys(_checked_keys(items, budget))
    if len(members) != len(items):
        raise MalformedFrame("equal members in a set")
    return set(members) if tag == "set" else frozenset(members)


def _decode_columns(tag: str, body: list[Any], depth: int, budget: _Budget) -> Any:
    parts = [_decode(part, depth + 1, budget) for part in body]
    try:
        columns.check(tag, parts)
        if budget.carry:
            budget.carried = True
            return (columns.MARK, tag, parts)
        if tag == columns.FRAME and len(dict.fromkeys(_checked_keys(parts[0], budget))) < len(
            parts[0]
        ):
            raise MalformedFrame("equal names of columns")
        return columns.as_plain(tag, parts)
    except (ValueError, TypeError, IndexError) as error:
        raise MalformedFrame(f"bad parts of {tag!r}") from error


def _decode_dict(body: list[Any], depth: int, budget: _Budget) -> dict[Any, Any]:
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in body):
        raise MalformedFrame("bad pair in a dict")
    keys = _decode_keys([pair[0] for pair in body], depth, budget)
    result = dict.fromkeys(_checked_keys(keys, budget))
    if len(result) != len(keys):
        raise MalformedFrame("equal keys in a dict")
    for number, (key, pair) in enumerate(zip(keys, body, strict=True)):
        budget.check_time(number)
        result[key] = _decode(pair[1], depth + 1, budget)
    return result


def _decode_keys(keys: list[Any], depth: int, budget: _Budget) -> list[Any]:
    """Return keys and members as builtin values, also where others are carried: they are equal to those,
    and can be hashed here."""
    carry, budget.carry = budget.carry, False
    found = [_decode(key, depth + 1, budget) for key in keys]
    budget.carry = carry
    return found


def _checked_keys(keys: list[Any], budget: _Budget) -> Iterator[Any]:
    """Yield the keys. Refuses unhashable ones, many with one hash, and ones that take too long."""
    counts: dict[int, int] = {}
    for number, key in enumerate(keys):
        budget.check_time(number)
        try:
            code = hash(key)
        except TypeError as error:
            raise MalformedFrame("unhashable key") from error
        counts[code] = counts.get(code, 0) + 1
        if counts[code] > _SAME_HASH:
            raise MalformedFrame("too many keys with one hash")
        yield key


def _parse_int(text: str) -> int:
    if len(text) > 20:
        raise MalformedFrame("untagged big integer")
    return int(text)


def _refuse_constant(text: str) -> float:
    raise MalformedFrame(f"bare {text}")


def to_json(value: Any) -> str:
    """Return JSON text of encoded values and messages, in ASCII."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ",".join([to_json(item) for item in value]) + "]"
    pairs = [f"{encode_basestring_ascii(key)}:{to_json(item)}" for key, item in value.items()]
    return "{" + ",".join(pairs) + "}"


def pack(message: dict[str, Any]) -> bytes:
    """Return a frame from a box to the host: a message whose values are encoded already."""
    return frame(to_json(message).encode("ascii"))


def pack_for_box(message: dict[str, Any]) -> bytes:
    """Return a frame from the host to a box: a message with plain values of the known types."""
    return frame(dumps(message, _MARSHAL_VERSION))


def frame(body: bytes) -> bytes:
    """Return a frame with this body."""
    return pack_struct(">I", len(body)) + body


def unpack(body: bytes) -> dict[str, Any]:
    """Return the message of a box's frame; raises MalformedFrame. The host's side."""
    import json

    try:
        message = json.loads(body, parse_int=_parse_int, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedFrame("not JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("k"), str):
        raise MalformedFrame("not a message")
    return message


def split_frame(buffer: bytearray, cap: int) -> dict[str, Any] | None:
    """Take one whole message off the front of ``buffer``, None if there is none yet.

    Raises MalformedFrame; OverflowError when the frame announces more than ``cap`` bytes.
    """
    if len(buffer) < 4:
        return None
    (size,) = unpack_struct(">I", buffer[:4])
    if size > cap:
        raise OverflowError(f"frame of {size} bytes")
    if len(buffer) < 4 + size:
        return None
    body = bytes(buffer[4 : 4 + size])
    del buffer[: 4 + size]
    return unpack(body)


def holds_frame(buffer: bytearray) -> bool:
    """Tell whether a whole frame, or the announcement of one too long, begins ``buffer``."""
    if len(buffer) < 4:
        return False
    (size,) = unpack_struct(">I", buffer[:4])
    return bool(len(buffer) >= 4 + size or size > MAX_FRAME)


def read_frame(fd: int) -> Any:
    """Block for one message of the host; None at the end of the stream. The box's side."""
    head = _read_exactly(fd, 4)
    if head is None:
        return None
    (size,) = unpack_struct(">I", head)
    body = _read_exactly(fd, size)
    if body is None:
        raise MalformedFrame("stream ended inside a frame")
    return loads(body)


def _read_exactly(fd: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        chunk = read(fd, min(size - len(parts), 1 << 20))
        if not chunk:
            return None
        parts += chunk
    return bytes(parts)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, blocking. The box's side."""
    view = memoryview(data)
    while view:
        view = view[write(fd, view) :]
