"""The words of the sandbox as JSON objects and back, read strictly: whatever comes may be hostile.

How a field crosses follows from its declared type; a field of a type that is not listed here cannot
cross, and says so at once. Values of programs travel as the sandbox's own tagged JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, TypeVar, get_args

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.types import (
    STATUSES,
    Call,
    Case,
    Check,
    Outcome,
    Stdin,
    TestResult,
    TestStatus,
)

T = TypeVar("T")
_KNOWN: dict[type, Sequence[tuple[str, _Way]]] = {}
CASES: dict[str, type[Case]] = {"stdin": Stdin, "call": Call, "check": Check}


class MalformedError(ValueError):
    """What came is not what it should be. The message says which part and why."""


class _Way(NamedTuple):
    """How the values of one type cross. ``read`` raises MalformedError."""

    pack: Callable[[Any], Any]
    read: Callable[[Any], Any]


def pack(record: object) -> dict[str, Any]:
    """Return the JSON object of a dataclass of the sandbox's words.

    Raises UserError for arguments of a program that cannot cross.
    """
    return {name: way.pack(getattr(record, name)) for name, way in _ways(type(record))}


def read(kind: type[T], found: object) -> T:
    """Return the dataclass ``kind`` of a JSON object. Raises MalformedError."""
    ways = _ways(kind)
    if not isinstance(found, dict) or set(found) != {name for name, _ in ways}:
        raise MalformedError(f"{_shown(found)} is no {kind.__name__.lower()}")
    values = {}
    for name, way in ways:
        try:
            values[name] = way.read(found[name])
        except MalformedError as error:
            raise MalformedError(f"{name}: {error}") from error
    return kind(**values)


def pack_case(case: Case) -> dict[str, Any]:
    """Return the JSON object of a case: {"stdin" or "call" or "check": its fields}."""
    (name,) = [name for name, kind in CASES.items() if type(case) is kind]
    return {name: pack(case)}


def read_case(found: object) -> Case:
    """Return the case of a JSON object. Raises MalformedError."""
    if not isinstance(found, dict) or len(found) != 1 or not set(found) <= set(CASES):
        raise MalformedError(f"{_shown(found)} is no case: use one of {', '.join(CASES)}")
    ((name, body),) = found.items()
    return read(CASES[name], body)


def pack_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return the JSON object of an outcome.

    A value that a program made so that it came out of its box and goes no further is its own doing.
    """
    try:
        return pack(outcome)
    except UserError:
        return pack(replace(outcome, status="unserialisable", value=None))


def read_outcome(found: object) -> Outcome:
    """Return the outcome of a JSON object. Raises MalformedError.

    A value that takes too long to read is a ``protocol-error``, as where it comes out of its box.
    """
    if isinstance(found, dict) and "value" in found:
        try:
            value = wire.decode(found["value"])
        except (wire.MalformedFrame, RecursionError):
            return read(Outcome, found | {"value": None, "status": "protocol-error"})
        return replace(read(Outcome, found | {"value": None}), value=value)
    return read(Outcome, found)


def _ways(kind: Any) -> Sequence[tuple[str, _Way]]:
    """Return name and way of each field of a dataclass."""
    if kind not in _KNOWN:
        _KNOWN[kind] = [(field.name, _WAYS[str(field.type)]) for field in fields(kind)]
    return _KNOWN[kind]


def _shown(found: object) -> str:
    if isinstance(found, dict):
        names = ", ".join(str(name)[:40] for name in [*found][:12])
        return f"an object of {{{names}}}"
    return f"a value of type {type(found).__name__}"


def _same(value: Any) -> Any:
    return value


def _of(*kinds: type) -> _Way:
    def read(found: Any) -> Any:
        if type(found) not in kinds:
            wanted = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
            raise MalformedError(f"must be {wanted}, not {type(found).__name__}")
        return found

    return _Way(_same, read)


def _read_number(found: Any) -> float:
    try:
        if type(found) in (int, float) and math.isfinite(found):
            return float(found)
    except OverflowError:
        pass
    raise MalformedError("must be a finite number")


def _one_of(*words: str | None) -> _Way:
    def read(found: Any) -> Any:
        if not isinstance(found, str | None) or found not in words:
            raise MalformedError(f"must be one of {', '.join(map(str, words))}")
        return found

    return _Way(_same, read)


def _pack_value(value: Any) -> Any:
    try:
        return wire.encode(value)
    except (wire.Unserialisable, wire.TooLarge, RecursionError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error


def _read_value(found: Any) -> Any:
    try:
        return wire.decode(found)
    except (wire.MalformedFrame, RecursionError) as error:
        raise MalformedError(f"no value: {error}") from error


def _read_tuple(found: Any) -> tuple[Any, ...]:
    value = _read_value(found)
    if type(value) is not list:
        raise MalformedError("must be a list")
    return tuple(value)


def _read_words(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise MalformedError("must be a list of texts")
    return tuple(found)


def _read_tests(found: Any) -> tuple[TestResult, ...]:
    if not isinstance(found, list):
        raise MalformedError("must be a list of tests")
    return tuple(read(TestResult, one) for one in found)


def _read_texts(found: Any) -> Mapping[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise MalformedError("must be an object of texts")
    return found


_WAYS: dict[str, _Way] = {
    "str": _of(str),
    "str | None": _of(str, type(None)),
    "int": _of(int),
    "int | None": _of(int, type(None)),
    "bool": _of(bool),
    "float": _Way(_same, _read_number),
    "Status": _one_of(*STATUSES),
    "Literal['wall', 'cpu'] | None": _one_of("wall", "cpu", None),
    "Any": _Way(_pack_value, _read_value),
    "tuple[Any, ...]": _Way(lambda value: _pack_value(list(value)), _read_tuple),
    "TestStatus": _one_of(*get_args(TestStatus)),
    "Outcome | None": _Way(
        lambda outcome: None if outcome is None else pack_outcome(outcome),
        lambda found: None if found is None else read_outcome(found),
    ),
    "tuple[TestResult, ...]": _Way(lambda tests: [pack(test) for test in tests], _read_tests),
    "tuple[str, ...]": _Way(list, _read_words),
    "Mapping[str, str]": _Way(dict, _read_texts),
}
"""The declared type of a field, as Python spells it, and how it crosses."""
