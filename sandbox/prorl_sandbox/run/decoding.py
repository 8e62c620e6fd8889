"""Decode messages and values that sandboxed programs send, within limits of size and time."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from prorl_common.frames import FrameError, read_json
from prorl_sandbox.box import columns, objects, wire

_SAME_HASH = 16
_SECONDS = 1.0
_PARTS_BETWEEN_LOOKS = 512
_PLAIN = frozenset({type(None), bool, int, float, str})


def read_message(body: bytes) -> dict[str, Any]:
    """Return the message in a frame's body. Raises FrameError."""
    message = read_json(body)
    if not isinstance(message, dict) or not isinstance(message.get("k"), str):
        raise FrameError("a frame does not contain a message")
    return message


def decode(value: Any) -> Any:
    """Convert tagged JSON to built-in types. Raises FrameError.

    Linked lists and binary trees become ``{"ListNode": values}`` and ``{"TreeNode": values by level}``.
    """
    return _Reader(carry=False).value(value, 0)


def decode_for_box(value: Any, trusted: bool = False) -> tuple[Any, bool]:
    """Decode a value for another sandboxed process. Raises FrameError.

    Returns (value, whether it contains objects to rebuild). Only ``trusted`` senders may send objects of any class.
    """
    reader = _Reader(carry=True, trusted=trusted)
    return reader.value(value, 0), reader.carried


@dataclass(frozen=True, slots=True)
class _Node:
    number: int


class _Reader:
    """Decodes one value within limits of size and CPU time; unless ``carry``, objects become built-in types."""

    def __init__(self, carry: bool, trusted: bool = False) -> None:
        self.carried = False
        self._carry = carry
        self._trusted = trusted
        self._rows: list[dict[str, Any]] | None = None
        self._kinds: list[str] = []
        self._parts = wire.MAX_NODES
        self._next_look = self._parts
        self._deadline = time.thread_time() + _SECONDS

    def _spend(self, parts: int) -> None:
        self._parts -= parts
        if self._parts < 0:
            raise FrameError(f"the value has more than {wire.MAX_NODES} items")
        if self._parts <= self._next_look:
            self._next_look = self._parts - _PARTS_BETWEEN_LOOKS
            if time.thread_time() > self._deadline:
                raise FrameError("the value takes too long to decode")

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if depth > wire.MAX_DEPTH:
            raise FrameError(f"the value is nested deeper than {wire.MAX_DEPTH} levels")
        if kind is list:
            return self._items(value, depth)
        if kind is not dict or value.keys() != {"t", "v"}:
            raise FrameError("the value is not tagged JSON")
        tag, body = value["t"], value["v"]
        if tag in (objects.OBJECT, objects.HELD):
            return self._reference(tag, body)
        if type(tag) is str and type(body) is str:
            return _from_text(tag, body)
        if type(tag) is not str or type(body) is not list:
            raise FrameError("the value is not tagged JSON")
        match tag:
            case "tuple":
                return tuple(self._items(body, depth))
            case "dict":
                return self._dict(body, depth)
            case "set" | "frozenset":
                members = self._table(self._keys(body, depth))
                return set(members) if tag == "set" else frozenset(members)
            case "complex":
                parts = self._items(body, depth)
                if len(parts) != 2 or not all(type(part) is float for part in parts):
                    raise FrameError("a complex number is invalid")
                return complex(*parts)
            case objects.GRAPH if depth == 0:
                return self._graph(body)
            case _ if tag in columns.TAGS:
                return self._columns(tag, self._items(body, depth))
            case _:
                raise FrameError("the value has an unknown tag")

    def _reference(self, tag: str, number: Any) -> Any:
        if type(number) is not int or number < 0 or (tag == objects.HELD and not self._trusted):
            raise FrameError("an object has an invalid number")
        if tag == objects.OBJECT and number >= len(self._kinds):
            raise FrameError("the value refers to an object that was not sent")
        if self._carry:
            self.carried = True
            return (columns.MARK, tag, number)
        if self._rows is None:  # a key
            raise FrameError("an object is used as a dict key or set member")
        return self._plain_node(number, self._rows) if self._rows else _Node(number)

    def _graph(self, body: list[Any]) -> Any:
        if len(body) != 3 or type(body[1]) is not list or type(body[2]) is not list:
            raise FrameError("the objects of the value are malformed")
        value, classes, rows = body
        self._spend(len(classes) + 2 * len(rows))
        for names in classes:
            if type(names) is not list or not names or not all(type(n) is str for n in names):
                raise FrameError("a class of the value's objects is malformed")
            if not self._trusted and objects.FIELDS.get(names[0]) != tuple(names[1:]):
                raise FrameError("an object is neither a ListNode nor a TreeNode")
        for row in rows:
            if type(row) is not list or not row or row[0] not in range(len(classes)):
                raise FrameError("an object is malformed")
            if type(row[0]) is not int or len(row) != len(classes[row[0]]):
                raise FrameError("an object is malformed")
            self._kinds.append(classes[row[0]][0])
        if not self._carry:
            self._rows = []
        read = [self._items(row, 1) for row in rows]
        if self._carry:
            self.carried = True
            return (columns.MARK, objects.GRAPH, (self.value(value, 1), classes, read))
        self._rows = [dict(zip(classes[row[0]], row, strict=True)) for row in read]
        return self.value(value, 1)

    def _plain_node(self, number: int, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
        """Return the values of a linked list, or of a tree level by level, as LeetCode writes them."""
        kind = self._kinds[number]
        tree, children = kind == "TreeNode", objects.FIELDS[kind][1:]
        values: list[Any] = []
        queue: deque[Any] = deque([_Node(number)])
        seen: set[int] = set()
        while queue:
            node = queue.popleft()
            self._spend(1)
            if node is None:
                values += [None] * tree
                continue
            if type(node) is not _Node or node.number in seen or self._kinds[node.number] != kind:
                raise FrameError("the objects are neither a linked list nor a binary tree")
            seen.add(node.number)
            row = rows[node.number]
            if type(row["val"]) not in _PLAIN or (tree and row["val"] is None):
                raise FrameError("a linked list or tree has values that are not plain")
            self._spend(sys.getsizeof(row["val"]) // 32)  # once for each reference to it
            values.append(row["val"])
            queue.extend(row[child] for child in children)
        while tree and values[-1] is None:
            values.pop()
        return {kind: values}

    def _items(self, items: list[Any], depth: int) -> list[Any]:
        self._spend(len(items))
        if _PLAIN.issuperset(map(type, items)):
            return items
        self._spend(len(items))  # counted twice, because each is inspected
        return [self.value(item, depth + 1) for item in items]

    def _dict(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise FrameError("a dict contains an invalid pair")
        keys = self._keys([pair[0] for pair in pairs], depth)
        table = self._table(keys)
        self._spend(len(keys))
        for key, pair in zip(keys, pairs, strict=True):
            table[key] = self.value(pair[1], depth + 1)
        return table

    def _keys(self, keys: list[Any], depth: int) -> list[Any]:
        carry, self._carry = self._carry, False
        decoded = self._items(keys, depth)
        self._carry = carry
        return decoded

    def _table(self, keys: list[Any]) -> dict[Any, Any]:
        table = dict.fromkeys(self._checked(keys))
        if len(table) != len(keys):
            raise FrameError("a dict has equal keys, or a set equal members")
        return table

    def _checked(self, keys: list[Any]) -> Iterator[Any]:
        counts: dict[int, int] = {}
        for key in keys:
            self._spend(1)
            try:
                code = hash(key)
            except TypeError as error:
                raise FrameError("a dict key or set member cannot be hashed") from error
            counts[code] = counts.get(code, 0) + 1
            if counts[code] > _SAME_HASH:
                raise FrameError("too many keys have equal hashes")
            yield key

    def _columns(self, tag: str, parts: list[Any]) -> Any:
        try:
            lists = columns.check(tag, parts)
        except ValueError as error:
            raise FrameError(f"invalid parts of {tag!r}") from error
        self._spend(lists)
        if self._carry:
            self.carried = True
            return (columns.MARK, tag, parts)
        if tag == columns.FRAME:
            self._table(parts[0])
        return columns.as_plain(tag, parts)


def _from_text(tag: str, body: str) -> Any:
    try:
        if tag == "int" and len(body) <= wire.MAX_INT_BITS // 4 + 2:
            return int(body, 16)
        if tag == "bytes":
            return bytes.fromhex(body)
    except ValueError as error:
        raise FrameError(f"invalid content of {tag!r}") from error
    if tag == "float" and body in ("nan", "inf", "-inf"):
        return float(body)
    raise FrameError("the value has an unknown tag")
