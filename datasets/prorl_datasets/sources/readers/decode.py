"""Decode one JSON row: UTF-8, an object, integers of any sensible length, each mistake one line.

Leaves out: finding the rows in a file (``readers.lines``, ``readers.array``).
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prorl_datasets.types import DatasetError

_LIMIT = threading.RLock()
DEFAULT_MAX_ROW_BYTES = 64 * 1024 * 1024
MAX_INTEGER_DIGITS = 100_000
"""Digits of the longest integer that is read (Python's own limit is 4,300; APPS has longer ones)."""


OnBroken = Callable[[str, DatasetError, str], None]
"""Is told of a broken row: where it stands, what is wrong, and the beginning of its text."""
BROKEN_SHOWN = 2000
"""Characters of a broken row's text that are handed on."""


@contextmanager
def long_integers() -> Iterator[None]:
    """Let integers of MAX_INTEGER_DIGITS digits be read and written inside the block.

    The limit belongs to the whole interpreter: the block is kept as small as one call, and one
    thread at a time is in it, or the first to leave would take the limit from the others.
    """
    with _LIMIT:
        before = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(MAX_INTEGER_DIGITS)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(before)


class NotUtf8(DatasetError):
    """Bytes that are not UTF-8 text."""


def utf8(data: bytes, where: str) -> str:
    """Return ``data`` as text. Raises NotUtf8 beginning with ``where``."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUtf8(
            f"{where}: not UTF-8 (byte {data[error.start]:#04x} at place {error.start + 1}); "
            "convert the file to UTF-8"
        ) from error


def json_object(text: str, where: str) -> dict[str, Any]:
    """Return the JSON object that ``text`` is. Raises DatasetError beginning with ``where``."""
    try:
        with long_integers():
            row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON ({short(error)})") from error
    return as_object(row, where)


def as_object(row: Any, where: str) -> dict[str, Any]:
    """Return ``row`` when it is an object with columns. Raises DatasetError otherwise."""
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected a JSON object, got {type(row).__name__}")
    return row


def too_large(where: str, limit: int) -> DatasetError:
    """Return the error for a row of more than ``limit`` bytes."""
    size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return DatasetError(
        f"{where}: this row is larger than {size}; is the file damaged, or without line breaks?"
    )


def short(error: BaseException) -> str:
    """Return the first line of an error's text, at most 200 characters."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
