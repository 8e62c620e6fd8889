"""The columns of a published file, from a few of its bytes: a Parquet footer, or the first row of a text.

Leaves out: whether they are the right ones (``examining``).
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prorl_datasets.types import DatasetError

Read = Callable[[int, int], bytes]
"""(start, length) -> bytes of a file, fewer at its end."""
FIRST, MOST = 256 * 1024, 64 * 1024 * 1024
"""Bytes of a text that are read at first, and at most, to find a whole row."""


def columns_of(name: str, size: int, read: Read) -> list[str]:
    """Return the names of a file's columns. Raises DatasetError, beginning with the file's name."""
    if name.endswith(".parquet"):
        return _parquet_columns(name, size, read)
    from prorl_datasets.sources.readers import iter_rows

    length = FIRST
    with tempfile.TemporaryDirectory(prefix="prorl-peek-") as folder:
        path = Path(folder) / Path(name).name
        while True:
            path.write_bytes(read(0, min(length, size)))
            try:
                for _, row in iter_rows(path):
                    return list(row)
                raise DatasetError(f"{path}: it has no row")
            except DatasetError as error:  # the row may go on behind what was read
                if length >= min(size, MOST):
                    raise DatasetError(str(error).replace(str(path), name)) from error
            length *= 8


def _parquet_columns(name: str, size: int, read: Read) -> list[str]:
    import pyarrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(pyarrow.PythonFile(_Remote(size, read), mode="r"))
    except pyarrow.ArrowException as error:
        first = str(error).splitlines()[0][:200]
        raise DatasetError(f"{name}: not a readable Parquet file ({first})") from error
    return [str(column) for column in schema.names]


class _Remote(io.RawIOBase):
    """A file that is read in parts."""

    def __init__(self, size: int, read: Read) -> None:
        self._size, self._read, self._at = size, read, 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """Every part of it."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` from the place on; return how many bytes that were."""
        view = memoryview(buffer)
        data = self._read(self._at, min(len(view), self._size - self._at))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
