"""Compares a submission's results with the expected ones, outside the sandbox."""

from __future__ import annotations

import json
import math
from itertools import zip_longest
from typing import Any

FLOAT_TOLERANCE = 1e-6
MAX_DEPTH = 100
MAX_NODES = 1_000_000
_LONGEST_KEY_BITS = 4_096


def same_output(expected: str, got: str) -> bool:
    """Return whether two outputs are equal, ignoring white space at line ends and blank lines at the end."""
    return _lines(expected) == _lines(got)


def first_difference(expected: str, got: str) -> str | None:
    pairs = zip_longest(_lines(expected), _lines(got))
    for number, (gold, line) in enumerate(pairs, start=1):
        if gold is None:
            return f"line {number} is one too many: {line}"
        if line is None:
            return f"line {number} is missing: {gold}"
        if gold != line:
            return f"line {number}: expected {gold}, got {line}"
    return None


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def same_value(expected: Any, got: Any, from_json: bool = False) -> bool:
    """Return whether ``got`` equals ``expected``. Both consist of built-in types. A bool never equals a number.

    If ``expected`` is ``from_json``, a tuple equals a list, ``2`` equals ``2.0``, and floats may differ by ``1e-6 *
    max(1, |expected|)``. A linked list or tree equals the list of its values.
    """
    if from_json:
        return _Comparison().same(expected, got, 0)
    values = _node_values(got)
    if values is not None and type(expected) is list:
        got = values
    try:
        return bool(expected == got) and not _bool_for_number(expected, got)
    except RecursionError:
        return False


def _bool_for_number(gold: Any, got: Any) -> bool:
    if isinstance(gold, list | tuple):
        return any(_bool_for_number(a, b) for a, b in zip(gold, got, strict=True))
    if isinstance(gold, dict):
        return _bool_for_number(set(gold), set(got)) or any(
            _bool_for_number(value, got[key]) for key, value in gold.items()
        )
    if isinstance(gold, set | frozenset):
        return sum(type(x) is bool for x in got) > sum(type(x) is bool for x in gold)
    return type(got) is bool and type(gold) is not bool


NODES = ("ListNode", "TreeNode")


def _node_values(value: Any) -> list[Any] | None:
    if type(value) is not dict or len(value) != 1:
        return None
    ((kind, values),) = value.items()
    if kind not in NODES or type(values) is not list:
        return None
    end = len(values)
    while kind == "TreeNode" and end and values[end - 1] is None:
        end -= 1
    return values[:end]


class _Comparison:
    def __init__(self) -> None:
        self._left = MAX_NODES

    def same(self, gold: Any, got: Any, depth: int) -> bool:
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            return False
        kind = type(gold)
        if kind is dict and (values := _node_values(gold)) is not None:
            if got is None:
                return not values
            if type(got) is dict and got.keys() == gold.keys():
                return self._sequence(values, _node_values(got), depth)
            return False
        if type(got) is dict and (values := _node_values(got)) is not None:
            got = values if kind is list or values else None
        if kind is list:
            return self._sequence(gold, got, depth)
        if kind is dict:
            return self._mapping(gold, got, depth)
        if kind is float:
            return _same_float(gold, got)
        return type(got) is kind and bool(got == gold)

    def _sequence(self, gold: Any, got: Any, depth: int) -> bool:
        if type(got) not in (list, tuple) or len(got) != len(gold):
            return False
        return all(self.same(a, b, depth + 1) for a, b in zip(gold, got, strict=True))

    def _mapping(self, gold: dict[str, Any], got: Any, depth: int) -> bool:
        if type(got) is not dict or len(got) != len(gold):
            return False
        got = {_json_key(key): value for key, value in got.items()}
        if got.keys() != gold.keys():
            return False
        return all(self.same(value, got[key], depth + 1) for key, value in gold.items())


def _json_key(key: Any) -> Any:
    if type(key) is int and key.bit_length() > _LONGEST_KEY_BITS:
        return key
    return json.dumps(key) if type(key) in (bool, int, float, type(None)) else key


def _same_float(gold: float, got: Any) -> bool:
    if type(got) is int:
        return gold.is_integer() and got == int(gold)
    if type(got) is not float:
        return False
    if math.isnan(gold) or math.isnan(got):
        return math.isnan(gold) and math.isnan(got)
    if math.isinf(gold) or math.isinf(got):
        return gold == got
    return abs(gold - got) <= FLOAT_TOLERANCE * max(1.0, abs(gold))
