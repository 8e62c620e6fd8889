"""Decodes bytes and JSON to plain values, and formats values for error messages."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from typing import Any

from prorl_datasets.text.words import MARKS
from prorl_datasets.types import DatasetError

MAX_DEPTH = 64
"""Maximum nesting of containers; published sets have at most ten levels."""
_MAX_BITS = 14_000
"""Maximum number of bits of an integer, just under Python's default limit of 4,300 digits."""
_MAX_NAMES = 40
_TOO_DEEP = f"values nested more than {MAX_DEPTH} deep"


def odd_value(value: Any) -> str | None:
    """Return why ``value`` cannot be stored, or None."""
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
    return isinstance(value, Mapping | list | tuple) and odd_value(value) == _TOO_DEEP


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def as_json(value: Any) -> Any:
    """Convert bytes, dates, times, sets and other table values to JSON values.

    Bytes that are not UTF-8 become an object, which text columns reject.
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
    """Return True if a long run of combining marks would slow down Python's parser."""
    return not source.isascii() and MARKS.search(source) is not None


def one_line(text: str, limit: int = 200) -> str:
    """Return ``text`` as one printable line."""
    line = " ".join(text[: 4 * limit].split())[:limit]
    return line.encode("utf-8", "backslashreplace").decode()


def some_names(names: list[str]) -> str:
    shown = ", ".join(one_line(str(name), 60) for name in names[:_MAX_NAMES]) or "none"
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more"


_LIMIT = threading.RLock()
DEFAULT_MAX_ROW_BYTES = 64 * 1024 * 1024
MAX_INTEGER_DIGITS = 100_000
"""Maximum number of digits of an integer (Python's default is 4,300; APPS has longer ones)."""


OnBroken = Callable[[str, DatasetError, str], None]
"""Callback for a broken row: position, error, and the beginning of its text."""
BROKEN_SHOWN = 2000
"""Number of characters of a broken row that are passed on."""


@contextmanager
def long_integers() -> Iterator[None]:
    """Allow integers of MAX_INTEGER_DIGITS digits inside the block.

    Python's limit is global, so other threads wait for the block to end.
    """
    with _LIMIT:
        before = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(MAX_INTEGER_DIGITS)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(before)


class NotUtf8(DatasetError):
    """Raised for bytes that are not UTF-8."""


def utf8(data: bytes, where: str) -> str:
    """Decode UTF-8. Raises NotUtf8 with a message that begins with ``where``."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUtf8(
            f"{where}: not UTF-8 (byte {data[error.start]:#04x} at position {error.start + 1}); "
            "convert the file to UTF-8"
        ) from error


def json_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object. Raises DatasetError with a message that begins with ``where``."""
    try:
        with long_integers():
            row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({short(error)})") from error
    return as_object(row, where)


def as_object(row: Any, where: str) -> dict[str, Any]:
    """Return ``row`` if it is an object. Raises DatasetError."""
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected a JSON object, got {type(row).__name__}")
    return row


def too_large(where: str, limit: int) -> DatasetError:
    size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return DatasetError(
        f"{where}: this row is larger than {size}; is the file damaged, or without line breaks?"
    )


def short(error: BaseException) -> str:
    """Return the first line of an error's text, shortened."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
