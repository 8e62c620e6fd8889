"""Encode values and messages that enter or leave the sandbox, without pickle.

Sandboxed processes send tagged JSON, the host sends marshal data. A frame is a 4-byte big-endian length and a body.

Supported are None, bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, Counter, defaultdict,
OrderedDict, and the types in ``columns`` and ``objects``.
"""

from __future__ import annotations

import builtins
import sys
from _json import encode_basestring_ascii
from marshal import dumps, loads
from os import read, write
from struct import pack as pack_struct
from struct import unpack as unpack_struct

from prorl_sandbox.box import columns, objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Bound before any program runs, so that a program that changes builtins or shared modules affects only its own output.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

MAX_DEPTH = 100
MAX_NODES = 1_000_000
_MARSHAL_VERSION = 2
_SMALL_INT = 1 << 62
MAX_INT_BITS = 332_193  # 100,000 decimal digits
_name_of = vars(type)["__name__"].__get__
_DICTS = ("Counter", "defaultdict", "OrderedDict")
_SEQUENCES = ((tuple, "tuple"), (set, "set"), (frozenset, "frozenset"))


class Unserialisable(Exception):
    """Raised if a value has an unsupported type, or is too large or nested too deeply."""


class TooLarge(Exception):
    """Raised if a value contains an integer with too many digits."""


class _Budget:
    """Limits one value to ``MAX_NODES`` items in total, and numbers its objects."""

    def __init__(self, trusted: bool) -> None:
        self.parts = MAX_NODES
        self.trusted = trusted
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}


def encode(value: Any, trusted: bool = False) -> Any:
    """Return ``value`` as tagged JSON. Raises Unserialisable, TooLarge.

    ``trusted`` also allows objects of classes that the caller defines.
    """
    budget = _Budget(trusted)
    encoded = _encode(value, 0, budget)
    rows: list[Any] = []
    classes: dict[tuple[str, ...], int] = {}
    while len(rows) < len(budget.objects):
        one = budget.objects[len(rows)]
        kind = _name_of(type(one))
        names = list(vars(one)) if trusted else objects.FIELDS[kind]
        number = classes.setdefault((kind, *names), len(classes))
        rows.append([number, *[_encode(getattr(one, name, None), 1, budget) for name in names]])
    return {"t": objects.GRAPH, "v": [encoded, list(map(list, classes)), rows]} if rows else encoded


def _object(value: Any, kind: Any, budget: _Budget) -> Any:
    if kind is objects.Remote:
        return {"t": objects.HELD, "v": object.__getattribute__(value, "_number")}
    if budget.trusted:
        ours = getattr(kind, "__module__", "") in ("program", objects.__name__)
        by_value = ours and kind.__new__ is object.__new__ and hasattr(value, "__dict__")
    else:
        fields = objects.FIELDS.get(_name_of(kind), ())
        by_value = fields != () and all(hasattr(value, field) for field in fields)
    if not by_value:
        return None
    if id(value) not in budget.numbers:
        budget.numbers[id(value)] = len(budget.objects)
        budget.objects.append(value)
    return {"t": objects.OBJECT, "v": budget.numbers[id(value)]}


def _encode(value: Any, depth: int, budget: _Budget) -> Any:
    budget.parts -= 1
    if depth > MAX_DEPTH:
        raise Unserialisable(f"the value is nested deeper than {MAX_DEPTH} levels")
    if budget.parts < 0:
        raise Unserialisable(f"the value has more than {MAX_NODES} items")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        if value.bit_length() > MAX_INT_BITS:
            raise TooLarge("the value contains an integer of more than 100,000 digits")
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
    for sequence, name in _SEQUENCES:
        if kind is sequence:  # a table look-up could run a metaclass's own hash
            return {"t": name, "v": [_encode(item, depth + 1, budget) for item in value]}
    module = sys.modules.get("collections")  # None: the value is none of its types
    if kind is dict or (module and any(kind is getattr(module, name, None) for name in _DICTS)):
        pairs = [
            [_encode(k, depth + 1, budget), _encode(v, depth + 1, budget)]
            for k, v in dict.items(value)
        ]
        return {"t": "dict", "v": pairs}
    reference = _object(value, kind, budget)
    if reference is not None:
        return reference
    try:
        tagged = columns.plain_or_tagged(value)
    except columns.Refused as error:
        raise Unserialisable(str(error)) from error
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - raised by the value, or by a module that imitates numpy
        tagged = None
    if tagged is None:
        name = _name_of(kind)  # safe even if a metaclass overrides it
        raise Unserialisable(f"a value of type {name:.100} is not supported")
    tag, parts = tagged
    plain = _encode(parts, depth, budget)
    return {"t": tag, "v": plain} if tag else plain


def to_json(value: Any) -> str:
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
    return frame(to_json(message).encode("ascii"))


def pack_for_box(message: dict[str, Any]) -> bytes:
    """Encode a message of built-in types for a sandboxed process."""
    return frame(dumps(message, _MARSHAL_VERSION))


def frame(body: bytes) -> bytes:
    return pack_struct(">I", len(body)) + body


def read_frame(fd: int) -> Any:
    """Wait for the host's next message and return it, or None if the connection was closed."""
    head = _read_exactly(fd, 4)
    if head is None:
        return None
    (size,) = unpack_struct(">I", head)
    body = _read_exactly(fd, size)
    if body is None:
        raise EOFError("the connection was closed in the middle of a message")
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
    view = memoryview(data)
    while view:
        view = view[write(fd, view) :]
