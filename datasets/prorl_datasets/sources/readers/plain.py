"""Values of a row that no later step could carry: nested too deep, endless integers, broken Unicode.

JSON and Parquet may hold all of them; printing, comparing or writing them would end a build. The walk
does not recurse. Leaves out: what a column should hold (the adapters).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, time
from typing import Any

from prorl_datasets.text.words import MARKS

MAX_DEPTH = 64
"""Containers inside each other; the published sets have at most ten."""
_MAX_BITS = 14_000
"""Bits of an integer: just under the 4,300 digits that any Python reads and writes."""
_SHOWN = 40
_TOO_DEEP = f"values nested more than {MAX_DEPTH} deep"


def odd_value(value: Any) -> str | None:
    """Return what makes ``value`` unusable, in a few words, or None. Other types are let through."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        for member in level:
            if isinstance(member, str):
                if not member.isascii():
                    try:
                        member.encode()
                    except UnicodeEncodeError:
                        return "text that is not valid Unicode (half a surrogate pair)"
            elif isinstance(member, int):
                if member.bit_length() > _MAX_BITS:
                    return "an integer of more than 4,200 digits"
            elif isinstance(member, Mapping):
                following += member.keys()
                following += member.values()
            elif isinstance(member, list | tuple):
                following += member
        if not following:
            return None
        level = following
    return _TOO_DEEP


def is_too_deep(value: Any) -> bool:
    """Whether containers stand more than MAX_DEPTH deep in each other."""
    return isinstance(value, Mapping | list | tuple) and odd_value(value) == _TOO_DEEP


def is_nan(value: Any) -> bool:
    """Whether a value is the float that is no number."""
    return isinstance(value, float) and math.isnan(value)


def as_json(value: Any) -> Any:
    """Return what stands in JSON for a value that tables hold and JSON does not.

    Decimals and spans of time are their text, dates and times ISO 8601, bytes their UTF-8 text; bytes that are none
    are an object with their hexadecimal digits, which no text column takes.
    """
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"bytes": value[:1000].hex()}
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def slow_name(source: str) -> bool:
    """Whether ``source`` holds a run of combining marks: Python's parser would normalise it as a name,
    in time quadratic in its length.
    """
    return not source.isascii() and MARKS.search(source) is not None


def one_line(text: str, limit: int = 200) -> str:
    """Return ``text`` in one line of at most ``limit`` characters that any terminal can be given."""
    whole = " ".join(text[: 4 * limit].split())[:limit]
    return whole.encode("utf-8", "backslashreplace").decode()


def some_names(names: list[str]) -> str:
    """Return column names for a message, the first ones where there are very many."""
    shown = ", ".join(one_line(str(name), 60) for name in names[:_SHOWN]) or "none"
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
