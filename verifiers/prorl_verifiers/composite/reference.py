"""Reads the reference of a composite task.

It is {"parts": [{"verifier", "reference", "weight"?, "name"?}, ...], "gate"?}. A part's name is its verifier's where
none is given. ``gate``: true (every part must have full marks), a list of names (those must), or {name: the least
reward that part must have}.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import nearest
from prorl_verifiers.references import known_keys
from prorl_verifiers.types import Reference, Task, TaskError, TaskPart

MAX_PARTS = 64
"""Parts of one task; each is an item of its own in the pool."""
FULL_MARKS = 1.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Composite:
    """A reference as read: its parts, their weights in the same order, the least reward of each gated part."""

    parts: Sequence[TaskPart]
    weights: Sequence[float]
    gate: Mapping[str, float]


def read(reference: Reference) -> Composite:
    """Return the reference, read. Raises TaskError (one line); the parts' own references are not looked at."""
    known_keys(reference, "parts", "gate", "modes")
    given = reference.get("parts")
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_PARTS:
        raise TaskError(f"'parts' must be a list of 1 to {MAX_PARTS} parts")
    parts, weights = [], []
    for number, part in enumerate(given, start=1):
        try:
            parts.append(_part(part))
            weight = part.get("weight")  # None where a table has no value
            weights.append(1.0 if weight is None else _number(weight, "weight"))
        except TaskError as error:
            raise TaskError(f"part {number}: {error}") from error
    if not any(weights):
        raise TaskError("the weights are all 0: give one part a weight above 0")
    return Composite(parts, weights, _gate(reference.get("gate"), [part.name for part in parts]))


def _part(value: Any) -> TaskPart:
    if not isinstance(value, Mapping):
        raise TaskError('it must be an object {"verifier", "reference", "weight"?, "name"?}')
    known_keys(value, "verifier", "reference", "weight", "name")
    verifier, reference = value.get("verifier"), value.get("reference")
    if not isinstance(verifier, str):
        raise TaskError("it needs a 'verifier', the name of one")
    if not isinstance(reference, Mapping):
        raise TaskError("it needs a 'reference', an object")
    name = value.get("name")
    if name is None:
        name = verifier
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise TaskError(f"its name {name!r} must be letters, digits, - and _, 64 at most")
    return TaskPart(name, Task(verifier, reference))


def _number(value: Any, what: str) -> float:
    """Return a number that is finite and not negative. Raises TaskError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TaskError(f"its {what} {value!r} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise TaskError(f"its {what} {number!r} must be a finite number, 0 or more")
    return number


def _gate(value: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the least reward of each gated part. Raises TaskError."""
    if value is None or isinstance(value, bool):
        return dict.fromkeys(names, FULL_MARKS) if value else {}
    if not isinstance(value, list | dict) or not value:
        raise TaskError(
            "'gate' must be true, a list of names of parts, or an object: name -> least reward"
        )
    for name in value:
        if name not in names:
            raise TaskError(
                f"the gate names no part: {name!r}{nearest(str(name), names)}; parts: {', '.join(names)}"
            )
    least = value if isinstance(value, dict) else dict.fromkeys(value, FULL_MARKS)
    gate = {}
    for name, given in least.items():
        try:
            gate[name] = _number(given, "least reward")
        except TaskError as error:
            raise TaskError(f"gate {name!r}: {error}") from error
        if not 0 < gate[name] <= FULL_MARKS:
            raise TaskError(f"gate {name!r}: its least reward must be above 0 and at most 1")
    return gate
