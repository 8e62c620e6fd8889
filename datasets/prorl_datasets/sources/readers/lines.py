"""Reads JSON Lines files, and files with one JSON array, in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from prorl_datasets.sources.readers.decode import (
    BROKEN_SHOWN,
    OnBroken,
    as_object,
    json_object,
    long_integers,
    short,
    too_large,
    utf8,
)
from prorl_datasets.types import DatasetError

BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, decompressing .gz and .zst. Raises DatasetError."""
    try:
        if path.suffix == ".zst":
            import pyarrow

            return cast(BinaryIO, pyarrow.input_stream(str(path), compression="zstd"))
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        return path.open("rb")
    except FileNotFoundError as error:
        raise DatasetError(f"no such file: {path}") from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be opened ({error.strerror})") from error


def read_block(file: BinaryIO, path: Path, progress: str) -> bytes:
    """Return at most BLOCK bytes, or b"" at the end. ``progress`` is part of error messages. Raises DatasetError."""
    try:
        return cast(io.BufferedReader, file).read1(BLOCK)
    except EOFError as error:
        raise DatasetError(
            f"{path}: the gzip file is cut off; {progress}; download it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError(
            f"{path}: the gzip file is damaged ({short(error)}); {progress}; download it again"
        ) from error
    except OSError as error:
        cure = "; download it again" if path.suffix == ".zst" else ""
        raise DatasetError(f"{path}: cannot be read ({short(error)}); {progress}{cure}") from error


def iter_lines(path: Path, max_row_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) of a plain or compressed file, counting from 1. Raises DatasetError."""
    number, pending, size = 1, [], 0
    with open_bytes(path) as file:
        progress = "no line is complete"
        while block := read_block(file, path, progress):
            if number == 1 and not size and block.startswith(_BOM):
                block = block[len(_BOM) :]
            first, *remaining = block.split(b"\n")
            pending.append(first)
            size += len(first)
            if size > max_row_bytes:
                raise too_large(f"{path}:{number}", max_row_bytes)
            for following in remaining:
                yield number, b"".join(pending)
                number, pending, size = number + 1, [following], len(following)
            if remaining:
                progress = f"line {number - 1} is the last complete one"
    if size:
        yield number, b"".join(pending)


def jsonl_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:line", object) for each nonblank line. Raises DatasetError."""
    for number, line in iter_lines(path, max_row_bytes):
        if line.strip():
            where = f"{path}:{number}"
            try:
                row = json_object(utf8(line, where), where)
            except DatasetError as error:
                if on_broken is None:
                    raise
                on_broken(where, error, line[:BROKEN_SHOWN].decode("utf-8", "replace"))
                continue
            yield where, row


_SPACE = " \t\r\n"
_NEAR_END = 16
"""A JSON error this close to the end of the text read so far (in characters) may be due to an incomplete value."""


def json_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:row", object) from one JSON array, or from JSON Lines. Raises DatasetError."""
    with open_bytes(path) as file:
        array = _Array(path, file, max_row_bytes)
        first = array.peek()
        if first == "[":
            yield from array.rows(on_broken)
            return
    if first != "{":
        start = "nothing" if first == "" else repr(first)
        raise DatasetError(f"{path}: expected one JSON array of objects, found {start}")
    # accept JSON Lines: the first line is a complete object and another line follows
    lines = (line for _, line in iter_lines(path, max_row_bytes) if line.strip())
    try:
        with long_integers():
            is_object = isinstance(json.loads(next(lines)), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object or next(lines, None) is None:
        raise DatasetError(
            f"{path}: expected one JSON array of objects, found a single object; "
            "write the rows as an array or as JSON lines"
        )
    yield from jsonl_rows(path, max_row_bytes, on_broken)


class _Array:
    def __init__(self, path: Path, file: BinaryIO, max_row_bytes: int) -> None:
        self._path, self._file, self._limit = path, file, max_row_bytes
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at, self._row, self._ended = "", 0, 0, False
        self._json = json.JSONDecoder()

    def peek(self) -> str:
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._read_more(BLOCK):
                return ""

    def rows(self, on_broken: OnBroken | None) -> Iterator[tuple[str, dict[str, Any]]]:
        self._at += 1
        while self.peek() != "]":
            self._row += 1
            where = f"{self._path}:{self._row}"
            element = self._element(where)
            try:
                row = as_object(element, where)
            except DatasetError as error:
                if on_broken is None:
                    raise
                on_broken(where, error, repr(element)[:BROKEN_SHOWN])
            else:
                yield where, row
            self._separator(where)
        self._at += 1
        if self.peek():
            raise DatasetError(f"{self._path}: more text follows the array")

    def _separator(self, where: str) -> None:
        mark = self.peek()
        if not mark:
            raise self._cut_off()
        if mark not in ",]":
            raise DatasetError(
                f"{where}: not valid JSON (expected , or ] after the row, found {mark!r})"
            )
        if mark == ",":
            self._at += 1
            if self.peek() == "]":
                raise DatasetError(f"{where}: not valid JSON (a comma before the closing ])")

    def _element(self, where: str) -> Any:
        if not self.peek():
            raise self._cut_off()
        while True:
            try:
                with long_integers():
                    value, self._at = self._json.raw_decode(self._text, self._at)
                return value
            except RecursionError as error:
                raise DatasetError(f"{where}: not valid JSON (nested too deep)") from error
            except ValueError as error:
                failure = error
                if not self._may_go_on(error):
                    raise DatasetError(f"{where}: not valid JSON ({_message(error)})") from error
            if len(self._text) - self._at > self._limit:
                raise too_large(where, self._limit)
            if not self._read_more(max(BLOCK, len(self._text) - self._at)):
                raise self._at_end(failure, where)

    def _may_go_on(self, error: ValueError) -> bool:
        if not isinstance(error, json.JSONDecodeError):
            return False
        unfinished = error.msg.startswith("Unterminated string")
        return unfinished or error.pos >= len(self._text) - _NEAR_END

    def _read_more(self, size: int) -> bool:
        if self._ended:
            return False
        size = min(size, self._limit + BLOCK)
        parts, got = [self._text[self._at :]], 0
        while got < size and not self._ended:
            block = read_block(
                self._file, self._path, f"it breaks off at row {self._row} or soon after"
            )
            got += len(block)
            self._ended = not block
            try:
                parts.append(self._decode.decode(block, final=self._ended))
            except UnicodeDecodeError as error:
                raise DatasetError(
                    f"{self._path}: not UTF-8 (at or soon after row {self._row}); "
                    "convert the file to UTF-8"
                ) from error
        self._text, self._at = "".join(parts), 0
        return got > 0 or bool(parts[-1])

    def _at_end(self, failure: ValueError, where: str) -> DatasetError:
        place = getattr(failure, "pos", 0)
        open_text = isinstance(failure, json.JSONDecodeError) and failure.msg.startswith("Untermin")
        if open_text or place >= len(self._text.rstrip()):
            return self._cut_off()
        return DatasetError(f"{where}: not valid JSON ({_message(failure)})")

    def _cut_off(self) -> DatasetError:
        return DatasetError(
            f"{self._path}:{max(self._row, 1)}: the file ends inside this row or after it, "
            "before the array is closed; download it again"
        )


def _message(error: ValueError) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else short(error)
